/* Optimisers as graph: see optimizer.h. */
#include "compiler/grad/optimizer.h"

#include <math.h>
#include <string.h>

const struct hd_optimizer_info hd_optimizers[HD_OPTIMIZERS] = {
#define OPTIMIZER(name, n, rate, momentum, decay2, epsilon)                                        \
    {#name, n, rate, momentum, decay2, epsilon},
#include "compiler/grad/optimizer.def"
};

const char *const hd_schedules[HD_SCHEDULES] = {"constant", "step",       "exponential",
                                                "power",    "polynomial", "cosine"};

int hd_optimizer_by_name(const char *name) {
    for (int i = 0; i < HD_OPTIMIZERS; i++)
        if (!strcmp(hd_optimizers[i].name, name)) return i;
    return -1;
}

struct hd_optimizer_options hd_optimizer_default(enum hd_optimizer kind) {
    const struct hd_optimizer_info *i = &hd_optimizers[kind];
    return (struct hd_optimizer_options){.kind = kind,
                                         .rate = i->rate,
                                         .momentum = i->momentum,
                                         .decay2 = i->decay2,
                                         .epsilon = i->epsilon,
                                         .every = 1,
                                         .factor = 1,
                                         .steps = 1};
}

static int num(struct hd_back *b, double v) {
    return hd_b_number(b, HD_F32, v);
}

static int times(struct hd_back *b, int x, double v) {
    return hd_b(b, mul, x, num(b, v));
}

static int plus(struct hd_back *b, int x, double v) {
    return hd_b(b, add, x, num(b, v));
}

/* a d + (1 - d) x: the mean that forgets */
static int mean(struct hd_back *b, int a, int x, double d) {
    return hd_b(b, add, times(b, a, d), times(b, x, 1 - d));
}

static int square(struct hd_back *b, int x) {
    return hd_b(b, mul, x, x);
}

/* ---- schedules ------------------------------------------------------------------------------ */

int hd_schedule(struct hd_back *b, const struct hd_optimizer_options *o, int step) {
    const double pi = 3.14159265358979323846;
    int part = times(b, step, 1 / o->every), done = times(b, step, 1 / o->steps), f = num(b, 1);
    done = hd_b(b, min, done, num(b, 1));
    if (o->schedule == HD_SCHEDULE_step)
        f = hd_b(b, pow, num(b, o->factor), hd_b(b, floor, part));
    else if (o->schedule == HD_SCHEDULE_exponential)
        f = hd_b(b, pow, num(b, o->factor), part);
    else if (o->schedule == HD_SCHEDULE_power)
        f = hd_b(b, pow, plus(b, part, 1), num(b, -o->factor));
    else if (o->schedule == HD_SCHEDULE_polynomial)
        f = hd_b(b, pow, hd_b(b, sub, num(b, 1), done), num(b, o->factor));
    else if (o->schedule == HD_SCHEDULE_cosine)
        f = times(b, plus(b, hd_b(b, cos, times(b, done, pi)), 1), 0.5);
    if (o->warm_up > 0)
        f = hd_b(b, mul, f, hd_b(b, min, times(b, plus(b, step, 1), 1 / o->warm_up), num(b, 1)));
    return times(b, f, o->rate);
}

void hd_clip_gradients(struct hd_back *b, const struct hd_optimizer_options *o, int n, int *g) {
    for (int i = 0; i < n && o->clip_value > 0; i++)
        g[i] = hd_b(b, clip, g[i], num(b, -o->clip_value), num(b, o->clip_value));
    if (!(o->clip_norm > 0) || !n) return;
    int sum = -1;
    for (int i = 0; i < n; i++) {
        int s = hd_b_reduce(b, HD_IR_reducesumsquare, g[i], 0, NULL, false);
        sum = sum < 0 ? s : hd_b(b, add, sum, s);
    }
    int norm = hd_b(b, max, hd_b(b, sqrt, sum), num(b, o->clip_norm));
    int factor = hd_b(b, div, num(b, o->clip_norm), norm);
    for (int i = 0; i < n; i++) g[i] = hd_b(b, mul, g[i], factor);
}

/* ---- updates -------------------------------------------------------------------------------- */

struct update {
    struct hd_back *b;
    const struct hd_optimizer_options *o;
    int w, g, *state, rate, step;
};

/* w - rate d */
static int down(const struct update *u, int d) {
    return hd_b(u->b, sub, u->w, hd_b(u->b, mul, d, u->rate));
}

static int update_sgd(const struct update *u) {
    return down(u, u->g);
}

static int update_momentum(const struct update *u) {
    u->state[0] = hd_b(u->b, add, times(u->b, u->state[0], u->o->momentum), u->g);
    return down(u, u->state[0]);
}

static int update_nesterov(const struct update *u) {
    update_momentum(u);
    return down(u, hd_b(u->b, add, u->g, times(u->b, u->state[0], u->o->momentum)));
}

/* g / (sqrt(s) + epsilon) */
static int scaled(const struct update *u, int g, int s) {
    return hd_b(u->b, div, g, plus(u->b, hd_b(u->b, sqrt, s), u->o->epsilon));
}

static int update_rmsprop(const struct update *u) {
    u->state[0] = mean(u->b, u->state[0], square(u->b, u->g), u->o->decay2);
    return down(u, scaled(u, u->g, u->state[0]));
}

static int update_adagrad(const struct update *u) {
    u->state[0] = hd_b(u->b, add, u->state[0], square(u->b, u->g));
    return down(u, scaled(u, u->g, u->state[0]));
}

/* State: mean of squares of gradients, and of the steps that were taken. */
static int update_adadelta(const struct update *u) {
    struct hd_back *b = u->b;
    u->state[0] = mean(b, u->state[0], square(b, u->g), u->o->decay2);
    int top = hd_b(b, sqrt, plus(b, u->state[1], u->o->epsilon));
    int under = hd_b(b, sqrt, plus(b, u->state[0], u->o->epsilon));
    int d = hd_b(b, mul, u->g, hd_b(b, div, top, under));
    u->state[1] = mean(b, u->state[1], square(b, d), u->o->decay2);
    return down(u, d);
}

/* 1 - decay^(step + 1): what a mean that began at 0 has seen. */
static int seen(const struct update *u, double decay) {
    struct hd_back *b = u->b;
    int p = hd_b(b, pow, num(b, decay), plus(b, u->step, 1));
    return hd_b(b, sub, num(b, 1), p);
}

/* Means of the gradient and of its square, both corrected: the direction of Adam. */
static int adam_direction(const struct update *u) {
    struct hd_back *b = u->b;
    u->state[0] = mean(b, u->state[0], u->g, u->o->momentum);
    u->state[1] = mean(b, u->state[1], square(b, u->g), u->o->decay2);
    int m = hd_b(b, div, u->state[0], seen(u, u->o->momentum));
    return scaled(u, m, hd_b(b, div, u->state[1], seen(u, u->o->decay2)));
}

static int update_adam(const struct update *u) {
    return down(u, adam_direction(u));
}

static int with_decay(const struct update *u, int d) {
    if (!(u->o->weight_decay > 0)) return d;
    return hd_b(u->b, add, d, times(u->b, u->w, u->o->weight_decay));
}

static int update_adamw(const struct update *u) {
    return down(u, with_decay(u, adam_direction(u)));
}

/* The step of a tensor has the length of the tensor, by the rate; 1 where one of them is 0. */
static int update_lamb(const struct update *u) {
    struct hd_back *b = u->b;
    int d = with_decay(u, adam_direction(u));
    int own = hd_b_reduce(b, HD_IR_reducel2, u->w, 0, NULL, false);
    int way = hd_b_reduce(b, HD_IR_reducel2, d, 0, NULL, false);
    int zero = hd_b(b, or, hd_b(b, equal, own, num(b, 0)), hd_b(b, equal, way, num(b, 0)));
    int safe = hd_b(b, where, zero, num(b, 1), way);
    int trust = hd_b(b, where, zero, num(b, 1), hd_b(b, div, own, safe));
    return down(u, hd_b(b, mul, d, trust));
}

static int (*const updates[HD_OPTIMIZERS])(const struct update *) = {
#define OPTIMIZER(name, ...) update_##name,
#include "compiler/grad/optimizer.def"
};

int hd_optimizer_update(struct hd_back *b, const struct hd_optimizer_options *o, int w, int g,
                        int state[HD_OPTIMIZER_STATE], int rate, int step) {
    struct update u = {.b = b, .o = o, .w = w, .g = g, .state = state, .rate = rate, .step = step};
    bool own = o->kind == HD_OPTIMIZER_adamw || o->kind == HD_OPTIMIZER_lamb;
    if (o->weight_decay > 0 && !own) u.g = hd_b(b, add, g, times(b, w, o->weight_decay));
    return b->status == HD_OK ? updates[o->kind](&u) : -1;
}

/* ---- random numbers ------------------------------------------------------------------------- */

/* Chris Wellons' lowbias32: every bit of the result depends on every bit of v. */
enum { SHIFT_A = 16, SHIFT_B = 15 };
#define FACTOR_A UINT32_C(0x7feb352d)
#define FACTOR_B UINT32_C(0x846ca68b)

uint32_t hd_random_hash(uint32_t v) {
    v = (v ^ v >> SHIFT_A) * FACTOR_A;
    v = (v ^ v >> SHIFT_B) * FACTOR_B;
    return v ^ v >> SHIFT_A;
}

static int u32(struct hd_back *b, uint32_t v) {
    return b->status == HD_OK ? hd_graph_const(b->g, "u32", HD_U32, 0, NULL, &v) : -1;
}

static int shifted_in(struct hd_back *b, int v, uint32_t by) {
    int node = hd_b_start(b, HD_IR_bitshift, 2, (int[]){v, u32(b, by)}, 1);
    hd_b_string(b, node, "direction", "RIGHT");
    return hd_b(b, bitwisexor, v, hd_b_end(b, node));
}

static int hashed(struct hd_back *b, int v) {
    v = hd_b(b, mul, shifted_in(b, v, SHIFT_A), u32(b, FACTOR_A));
    v = hd_b(b, mul, shifted_in(b, v, SHIFT_B), u32(b, FACTOR_B));
    return shifted_in(b, v, SHIFT_A);
}

int hd_random_uniform(struct hd_back *b, const struct hd_tensor *like, uint32_t seed,
                      uint32_t stream, int step) {
    int64_t n = hd_tensor_elems(like);
    uint32_t *place = hd_new_array(b->arena, uint32_t, (size_t)n + 1);
    for (int64_t i = 0; i < n; i++) place[i] = hd_random_hash((uint32_t)i + hd_random_hash(stream));
    if (b->status != HD_OK) return -1;
    int at = hd_graph_const(b->g, "places", HD_U32, like->rank, like->dim, place);
    int now = hashed(b, hd_b(b, add, hd_b_cast(b, step, HD_U32), u32(b, hd_random_hash(seed))));
    int bits = hashed(b, hd_b(b, bitwisexor, at, now));
    int node = hd_b_start(b, HD_IR_bitshift, 2, (int[]){bits, u32(b, 8)}, 1);
    hd_b_string(b, node, "direction", "RIGHT");
    return times(b, hd_b_cast(b, hd_b_end(b, node), HD_F32), 1.0 / (1 << 24));
}

int hd_dropout(struct hd_back *b, int x, double keep, uint32_t seed, uint32_t stream, int step) {
    struct hd_tensor t = hd_b_shape(b, x);
    int u = hd_random_uniform(b, &t, seed, stream, step);
    return hd_b(b, where, hd_b(b, less, u, num(b, keep)), times(b, x, 1 / keep), num(b, 0));
}
