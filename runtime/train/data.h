/* Samples and batches: split by a seed, shuffled for each epoch, images moved by a few pixels. */
#ifndef HD_TRAIN_DATA_H
#define HD_TRAIN_DATA_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/arena.h"
#include "runtime/base/status.h"

struct hd_samples { /* n samples of size floats, with a class each */
    int64_t n, size;
    int64_t height, width; /* of the last two dimensions; 0 = samples are no images */
    const float *x;
    const int64_t *classes;
};

/* Two sets by a permutation that the seed gives: held_out samples go to *out_test. */
void hd_samples_split(hd_arena *a, const struct hd_samples *all, int64_t held_out, uint32_t seed,
                      struct hd_samples *out_train, struct hd_samples *out_test);

struct hd_batches {
    const struct hd_samples *s;
    int64_t batch;
    int64_t shift; /* images move by up to so many pixels along each axis, zeros move in */
    uint32_t seed;
    int64_t *order; /* room for s->n */
};
/* Batches of an epoch: those that are full. */
int64_t hd_batches_n(const struct hd_batches *b);
/* Batch i of an epoch, the same whenever it is asked for: x [batch, size], classes [batch]. */
void hd_batches_get(struct hd_batches *b, int64_t epoch, int64_t i, float *x, int64_t *classes);
/* The same for step epoch * n + i: get of struct hd_source, whose user is b. */
void hd_batches_step(void *b, int64_t step, void *const *in);

#endif
