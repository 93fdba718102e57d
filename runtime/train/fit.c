/* The loop of training: see fit.h. */
#include "runtime/train/fit.h"

#include <string.h>
#include <time.h>

struct loop {
    const struct hd_fit *f;
    struct hd_fit_event e;
    float *last;
    double *mean, *sum, start;
    int64_t from, in_epoch; /* steps of the epoch that were taken in this run */
    bool stop;
};

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void count(struct loop *l, int64_t step, int64_t epoch) {
    struct hd_fit_event *e = &l->e;
    if (step % epoch == 0) l->in_epoch = 0;
    if (!l->in_epoch++) memset(l->sum, 0, sizeof *l->sum * (size_t)e->n);
    for (int i = 0; i < e->n; i++) {
        l->sum[i] += (double)l->last[i];
        l->mean[i] = l->sum[i] / (double)l->in_epoch;
    }
    e->step = step + 1, e->epoch = step / epoch + 1, e->epoch_ends = (step + 1) % epoch == 0;
    e->seconds = now() - l->start;
    e->left = e->seconds * (double)(l->f->steps - e->step) / (double)(e->step - l->from);
}

static hd_status turns(hd_ctx *ctx, hd_trainer *t, struct loop *l, hd_prefetch *p) {
    int64_t epoch = l->f->epoch > 0 ? l->f->epoch : l->f->steps;
    for (int64_t step = l->from; step < l->f->steps && !l->stop; step++) {
        TRY(hd_trainer_run(ctx, t, hd_prefetch_next(p), l->last));
        count(l, step, epoch);
        for (int i = 0; i < l->f->n_calls; i++)
            TRY(l->f->call[i].call(ctx, l->f->call[i].user, &l->e));
    }
    return HD_OK;
}

hd_status hd_fit(hd_ctx *ctx, hd_trainer *t, const struct hd_fit *f) {
    hd_arena *a = hd_arena_create();
    size_t n = (size_t)hd_trainer_n_results(t);
    struct loop l = {.f = f, .from = hd_trainer_steps(t), .start = now()};
    l.last = hd_new_array(a, float, n);
    l.mean = hd_new_array(a, double, n);
    l.sum = hd_new_array(a, double, n);
    l.e = (struct hd_fit_event){.t = t,
                                .steps = f->steps,
                                .step_results = l.last,
                                .results = l.mean,
                                .n = (int)n,
                                .stop = &l.stop};
    hd_prefetch *p = NULL;
    hd_status s = hd_prefetch_open(ctx, &f->source, l.from, &p);
    if (s == HD_OK) s = turns(ctx, t, &l, p);
    hd_prefetch_close(p);
    hd_arena_destroy(a);
    return s;
}
