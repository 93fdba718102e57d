/* One work, run by what cpu has for it and under schedules, each result against golden's. */
#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "compiler/session/session.h"
#include "compiler/tune/trial_int.h"
#include "cpu_ref/cpu_tuned.h"
#include "runtime/base/num.h"
#include "runtime/base/plugin.h"

double hd_trial_now(int threads) {
    struct timespec t;
    clock_gettime(threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static hd_status run_golden(struct hd_trial *t) {
    hd_session *s = NULL;
    TRY(hd_session_open(t->c->ctx, t->m, "golden", NULL, &s));
    hd_status r = hd_session_run(t->c->ctx, s, (const void *const[]){t->x}, (void *[]){t->want});
    hd_session_close(s);
    const float *want = t->want;
    for (size_t i = 0; i < t->n_y && !t->w.bytes; i++)
        t->largest = fmax(t->largest, fabs((double)want[i]));
    return r;
}

static bool is_right(const struct hd_trial *t) {
    const float *y = t->y, *want = t->want;
    if (t->w.bytes) return !memcmp(t->y, t->want, t->n_y);
    for (size_t i = 0; i < t->n_y; i++) {
        double d = fabs((double)y[i] - (double)want[i]);
        if (!(d <= t->bound.relative * fabs((double)want[i]) + t->bound.of_largest * t->largest))
            return false;
    }
    return true;
}

/* ---- open, close ---------------------------------------------------------------------------- */

static hd_status open_jit(struct hd_trial *t) {
    void *lib = hd_plugin_open("libhd_jit.so", HD_PLUGIN_LOCAL);
    const struct hd_jit_api *api = lib ? dlsym(lib, HD_JIT_ENTRY) : NULL;
    if (api && api->version == HD_JIT_API) t->engine = api->open();
    if (!t->engine)
        return hd_fail(t->c->ctx, HD_UNSUPPORTED,
                       "device cpu has no LLVM plugin here (libhd_jit.so); run 'scripts/deps.sh' "
                       "and make again");
    t->jit = api;
    return HD_OK;
}

hd_status hd_trial_open(struct hd_cmd *c, const struct hd_tunable *w, int threads,
                        struct hd_trial **out) {
    struct hd_trial *t = calloc(1, sizeof *t);
    if (!t) return hd_fail(c->ctx, HD_NOMEM, "no memory for a trial");
    *t = (struct hd_trial){.c = c, .a = hd_arena_create(), .w = *w, .threads = threads};
    hd_status s = open_jit(t);
    if (s == HD_OK) s = hd_trial_graph(t);
    if (s == HD_OK) s = run_golden(t);
    if (s == HD_OK)
        *out = t;
    else
        hd_trial_close(t);
    return s;
}

void hd_trial_close(struct hd_trial *t) {
    if (!t) return;
    if (t->m) hd_model_destroy(t->m);
    if (t->g) hd_graph_destroy(t->g);
    if (t->engine) t->jit->close(t->engine);
    hd_arena_destroy(t->a);
    free(t);
}

const char *hd_trial_key(const struct hd_trial *t) {
    return hd_cpu_device_key(t->a, t->jit, t->engine, t->threads);
}

int hd_trial_lanes(const struct hd_trial *t) {
    return t->jit->lanes(t->engine);
}

/* ---- measuring ------------------------------------------------------------------------------ */

hd_status hd_trial_other(struct hd_trial *t, double *out_seconds, const char **out_how) {
    struct hd_device_options o = {.machine = t->m->machine, .threads = t->threads, .timed = true};
    hd_session *s = NULL;
    hd_status r = HD_OK;
    double start = hd_trial_now(t->threads);
    TRY(hd_session_open(t->c->ctx, t->m, "cpu", &o, &s));
    for (int i = 0; i < HD_TRIAL_MOST && r == HD_OK; i++) {
        r = hd_session_run(t->c->ctx, s, (const void *const[]){t->x}, (void *[]){t->y});
        if (i + 1 >= HD_TRIAL_LEAST && hd_trial_now(t->threads) - start > 2 * HD_TRIAL_LONG) break;
    }
    const struct hd_exec_step *step;
    int n = r == HD_OK ? hd_session_steps(s, &step) : 0;
    double sum = 0;
    for (int i = 0; i < n; i++) {
        if (!step[i].node) continue; /* a change of layout, which the neighbours may not need */
        sum += step[i].seconds;
        if (step[i].n_nodes) *out_how = hd_strdup(t->a, step[i].how);
    }
    hd_session_close(s);
    if (r == HD_OK && !is_right(t))
        return hd_fail(t->c->ctx, HD_INVALID,
                       "device cpu differs from golden beyond its bounds; please report it");
    *out_seconds = sum;
    return r;
}

hd_status hd_trial_schedule(struct hd_trial *t, const char *schedule, double *out_seconds) {
    struct hd_cpu_kernel *k = NULL;
    struct hd_cpu_constants c = {t->ordered, t->w.bias || t->w.bytes ? t->bias : NULL, t->scale};
    *out_seconds = 0;
    hd_status s = hd_cpu_kernel_create(t->c->ctx, t->jit, t->engine, &t->w, schedule, &c, &k);
    if (s != HD_OK) { /* it does not fit */
        hd_clear(t->c->ctx);
        return s == HD_NOMEM ? s : HD_OK;
    }
    double best = 0, all = 0;
    for (int i = 0; i < HD_TRIAL_MOST && (i < HD_TRIAL_LEAST || all < HD_TRIAL_LONG); i++) {
        double start = hd_trial_now(t->threads);
        hd_cpu_kernel_run(k, t->laid, t->w.bytes ? t->laid_y : t->y, t->threads);
        double took = hd_trial_now(t->threads) - start;
        all += took;
        if (i == 0 || took < best) best = took;
        if (i == 0 && t->w.bytes) hd_trial_turn_result(t);
        if (i == 0 && !is_right(t)) {
            best = 0;
            break;
        }
    }
    hd_cpu_kernel_destroy(k);
    *out_seconds = best;
    return HD_OK;
}
