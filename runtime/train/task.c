/* Tasks: see task.h. */
#include "runtime/train/task.h"

#include <math.h>
#include <string.h>

#include "runtime/train/eval.h"

enum { HELD_OUT = 1 << 30, SCORED = 8 }; /* the first step, and the steps, that are for the score */

#define TASK(name, ...)                                                                            \
    int hd_build_##name(struct hd_layers *, int64_t, int *);                                       \
    void hd_make_##name(struct hd_dice *, int64_t, void *const *);                                 \
    double hd_score_##name(int64_t, const void *const *, const void *const *);
#define GAME(name, ...) hd_status hd_##name(hd_ctx *, const struct hd_task_options *, double *);
#include "runtime/train/task.def"

static const struct hd_task_row tasks[] = {
#define TASK(name, quick, batch, steps, rate, least, want, result, doc)                            \
    {#name, doc,   quick, result,          want,           least,                                  \
     batch, steps, rate,  hd_build_##name, hd_make_##name, hd_score_##name,                        \
     NULL},
#define GAME(game, fast, at_least, bar, what, about)                                               \
    {.name = #game,                                                                                \
     .doc = about,                                                                                 \
     .quick = fast,                                                                                \
     .result = what,                                                                               \
     .want = bar,                                                                                  \
     .least = at_least,                                                                            \
     .play = hd_##game},
#include "runtime/train/task.def"
};

const struct hd_task_row *hd_task(int i) {
    return i >= 0 && i < (int)(sizeof tasks / sizeof *tasks) ? &tasks[i] : NULL;
}

const struct hd_task_row *hd_task_by_name(const char *name) {
    for (int i = 0; hd_task(i); i++)
        if (!strcmp(tasks[i].name, name)) return &tasks[i];
    return NULL;
}

bool hd_task_reached(const struct hd_task_row *task, double score) {
    return task->least ? score >= task->want : score <= task->want;
}

/* ---- numbers -------------------------------------------------------------------------------- */

static uint32_t roll(struct hd_dice *d) {
    return hd_random_hash(d->key ^ hd_random_hash(d->n++));
}

uint32_t hd_dice_below(struct hd_dice *d, uint32_t n) {
    return (uint32_t)((uint64_t)roll(d) * n >> 32);
}

float hd_dice_normal(struct hd_dice *d) {
    double u = ((double)roll(d) + 1) / 4294967296.0, v = (double)roll(d) / 4294967296.0;
    return (float)(sqrt(-2 * log(u)) * cos(6.283185307179586 * v));
}

struct made { /* user of the source */
    const struct hd_task_row *task;
    uint32_t seed;
};

static void make_step(void *user, int64_t step, void *const *in) {
    const struct made *m = user;
    struct hd_dice d = {.key = hd_random_hash(m->seed + hd_random_hash((uint32_t)step + 1))};
    m->task->make(&d, m->task->batch, in);
}

/* ---- training ------------------------------------------------------------------------------- */

struct run {
    const struct hd_task_row *task;
    struct hd_train_options o;
    struct made made;
    hd_arena *a;
    hd_graph *g, *runs; /* of a shard, with the loss alone; of a batch, as it runs */
    hd_trainer *t;
    hd_eval *e;
};

static hd_status build(hd_ctx *ctx, const struct hd_task_row *task, int64_t batch, uint32_t seed,
                       bool training, hd_graph **out) {
    struct hd_layers l;
    int y[HD_TASK_RESULTS];
    hd_layers_init(&l, ctx, task->name, seed);
    l.training = training;
    int n = task->build(&l, batch, y);
    return hd_layers_finish_all(&l, training ? 1 : n, y, out);
}

static hd_status train(hd_ctx *ctx, struct run *r, const struct hd_task_options *o) {
    size_t bytes[HD_TASK_INPUTS];
    int n = hd_trainer_n_inputs(r->t);
    for (int i = 0; i < n; i++) bytes[i] = hd_trainer_input_bytes(r->t, i);
    struct hd_fit f = {.source = {make_step, &r->made, n, bytes}, .steps = r->task->steps};
    if (o->call) f.call[f.n_calls++] = (struct hd_fit_call){o->call, o->user};
    return hd_fit(ctx, r->t, &f);
}

static hd_status score(hd_ctx *ctx, struct run *r, double *out) {
    void *in[HD_TASK_INPUTS], *y[HD_TASK_RESULTS];
    for (size_t i = 0; i < r->runs->n_inputs; i++)
        in[i] = hd_alloc(r->a, hd_tensor_bytes(&r->runs->tensors[r->runs->inputs[i]]) + 1);
    for (size_t i = 0; i < r->runs->n_outputs; i++)
        y[i] = hd_alloc(r->a, hd_tensor_bytes(&r->runs->tensors[r->runs->outputs[i]]) + 1);
    double sum = 0;
    for (int i = 0; i < SCORED; i++) {
        make_step(&r->made, HELD_OUT + i, in);
        TRY(hd_eval_run(ctx, r->e, (const void *const *)in, y));
        sum += r->task->score(r->task->batch, (const void *const *)in, (const void *const *)y);
    }
    *out = sum / SCORED;
    return HD_OK;
}

static hd_status run(hd_ctx *ctx, struct run *r, const struct hd_task_options *o, double *out) {
    const struct hd_task_row *t = r->task;
    int64_t shards = o->train.shards > 1 ? o->train.shards : 1;
    TRY(build(ctx, t, t->batch / shards, o->seed, true, &r->g));
    TRY(build(ctx, t, t->batch, o->seed, false, &r->runs));
    TRY(hd_trainer_open(ctx, r->g, &r->o, &r->t));
    TRY(train(ctx, r, o));
    TRY(hd_eval_open(ctx, r->runs, &r->o, r->t, &r->e));
    return score(ctx, r, out);
}

hd_status hd_task_run(hd_ctx *ctx, const struct hd_task_row *task, const struct hd_task_options *o,
                      double *out_score) {
    if (task->play) return task->play(ctx, o, out_score);
    struct run r = {.task = task, .o = o->train, .made = {task, o->seed}, .a = hd_arena_create()};
    r.o.optimizer = hd_optimizer_default(HD_OPTIMIZER_adam);
    r.o.optimizer.rate = task->rate, r.o.optimizer.clip_norm = 1;
    r.o.optimizer.schedule = HD_SCHEDULE_cosine, r.o.optimizer.steps = (double)task->steps;
    hd_status s = run(ctx, &r, o, out_score);
    hd_eval_close(r.e);
    hd_trainer_close(r.t);
    if (r.g) hd_graph_destroy(r.g);
    if (r.runs) hd_graph_destroy(r.runs);
    hd_arena_destroy(r.a);
    return s;
}
