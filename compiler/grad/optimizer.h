/* Optimisers, schedules and random numbers as graph: a step of training is a graph like any other.
 *
 *   rate = hd_schedule(&b, &options, step);                 // f32 scalar
 *   hd_optimizer_update(&b, &options, w, dw, state, rate, step, out);
 *
 * step: an f32 scalar, 0 in the first step. State tensors have the weights' shape and start at 0.
 */
#ifndef HD_GRAD_OPTIMIZER_H
#define HD_GRAD_OPTIMIZER_H

#include "compiler/grad/build.h"

enum hd_optimizer {
#define OPTIMIZER(name, ...) HD_OPTIMIZER_##name,
#include "compiler/grad/optimizer.def"
    HD_OPTIMIZERS
};

enum { HD_OPTIMIZER_STATE = 2 };

struct hd_optimizer_info {
    const char *name;
    int n_state;
    double rate, momentum, decay2, epsilon; /* defaults of struct hd_optimizer_options */
};
extern const struct hd_optimizer_info hd_optimizers[HD_OPTIMIZERS];
int hd_optimizer_by_name(const char *name); /* -1 = unknown */

enum hd_schedule_kind {
    HD_SCHEDULE_constant,
    HD_SCHEDULE_step,        /* rate * factor^floor(step / every) */
    HD_SCHEDULE_exponential, /* rate * factor^(step / every) */
    HD_SCHEDULE_power,       /* rate * (1 + step / every)^-factor */
    HD_SCHEDULE_polynomial,  /* rate * (1 - step / steps)^factor */
    HD_SCHEDULE_cosine,      /* rate * (1 + cos(pi step / steps)) / 2 */
    HD_SCHEDULES
};
extern const char *const hd_schedules[HD_SCHEDULES];

struct hd_optimizer_options {
    enum hd_optimizer kind;
    double rate, momentum, decay2, epsilon; /* momentum: of the gradient; decay2: of its square */
    double weight_decay; /* adamw, lamb: of the weights by the rate; else added to the gradient */
    double clip_value;   /* gradients go to -v .. v; 0 = not */
    double clip_norm;    /* all gradients together get this norm at most; 0 = not */
    enum hd_schedule_kind schedule;
    double every, factor, steps,
        warm_up; /* in steps; warm_up: the rate grows linearly until then */
};

/* The options of a kind with its defaults. */
struct hd_optimizer_options hd_optimizer_default(enum hd_optimizer kind);
int hd_schedule(struct hd_back *b, const struct hd_optimizer_options *o, int step);
/* Clips the n gradients in place. */
void hd_clip_gradients(struct hd_back *b, const struct hd_optimizer_options *o, int n, int *g);
/* New weights; state[i] becomes the new state. -1 after an error. */
int hd_optimizer_update(struct hd_back *b, const struct hd_optimizer_options *o, int w, int g,
                        int state[HD_OPTIMIZER_STATE], int rate, int step);

/* Uniform in [0, 1) in steps of 2^-24, of this shape: a hash of seed, stream, step and place. The
 * same on every device, since integers make it. */
int hd_random_uniform(struct hd_back *b, const struct hd_tensor *like, uint32_t seed,
                      uint32_t stream, int step);
/* x / keep where a random number is below keep, else 0. */
int hd_dropout(struct hd_back *b, int x, double keep, uint32_t seed, uint32_t stream, int step);
/* The hash alone. */
uint32_t hd_random_hash(uint32_t v);

#endif
