/* Steps of networks of the zoo, and their weights. */
#ifndef HD_TEST_UNIT_TRAIN_STEPS_H
#define HD_TEST_UNIT_TRAIN_STEPS_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/train/layers.h"
#include "runtime/train/train.h"
#include "test/rng.h"

enum { BATCH = 4, PIXELS = 64, LARGEST = 49 * 10 };

static inline void want_ok(hd_ctx *ctx, hd_status s) {
    if (s != HD_OK) fail_msg("%s", hd_message(ctx));
}

static inline struct hd_train_options options(const char *device, const char *optimizer) {
    struct hd_train_options o = {.device = device, .threads = 1};
    o.optimizer = hd_optimizer_default((enum hd_optimizer)hd_optimizer_by_name(optimizer));
    return o;
}

static inline void random_samples(struct rng *r, int size, float *x, int classes, int64_t *k) {
    for (int i = 0; i < BATCH * size; i++) x[i] = (float)(rng_next(r) % 17);
    for (int i = 0; i < BATCH; i++) k[i] = rng_next(r) % classes;
}

static inline void random_batch(struct rng *r, float *x, int64_t *k) {
    random_samples(r, PIXELS, x, 10, k);
}

/* The weights of a network of the zoo after some steps. */
static inline hd_graph *trained(hd_ctx *ctx, const char *name, const struct hd_train_options *o,
                                int steps) {
    hd_graph *g = NULL;
    hd_trainer *t = NULL;
    struct rng r = {7};
    float x[BATCH * LARGEST];
    int64_t k[BATCH];
    struct hd_train_result out;
    want_ok(ctx, hd_zoo_build(ctx, name, BATCH, 3, &g));
    want_ok(ctx, hd_trainer_open(ctx, g, o, &t));
    int size = (int)hd_tensor_elems(&g->tensors[g->inputs[0]]) / BATCH;
    int classes = (int)g->tensors[g->outputs[0]].dim[1];
    assert_in_range(size, 1, LARGEST);
    for (int i = 0; i < steps; i++) {
        random_samples(&r, size, x, classes, k);
        want_ok(ctx, hd_trainer_step(ctx, t, x, k, &out));
    }
    want_ok(ctx, hd_trainer_weights(ctx, t, g));
    hd_trainer_close(t);
    return g;
}

/* Weights that differ by more than `bound` of the largest. Where all are below 1e-4 that counts: a
 * bias in front of batch norm moves by rounding alone. */
static inline void compare(const char *what, const hd_graph *a, const hd_graph *b, double bound) {
    for (size_t t = 0; t < a->n_tensors; t++) {
        const struct hd_tensor *x = &a->tensors[t], *y = &b->tensors[t];
        if (!x->data || x->dtype != HD_F32) continue;
        const float *p = x->data, *q = y->data;
        double most = 0, size = 1e-4;
        for (int64_t i = 0; i < hd_tensor_elems(x); i++) {
            most = fmax(most, fabs((double)p[i] - (double)q[i]));
            size = fmax(size, fabs((double)p[i]));
        }
        if (!(most <= bound * size))
            fail_msg("%s: %s differs by %g of %g", what, x->name, most, size);
    }
}

#endif
