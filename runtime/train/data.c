/* Samples and batches: see data.h. */
#include "runtime/train/data.h"

#include <string.h>

#include "compiler/grad/optimizer.h"

/* A permutation of 0..n-1 (Fisher and Yates) by hashes of the key. */
static void permute(int64_t *order, int64_t n, uint32_t key) {
    for (int64_t i = 0; i < n; i++) order[i] = i;
    for (int64_t i = n - 1; i > 0; i--) {
        int64_t k = hd_random_hash(key + (uint32_t)i) % (uint32_t)(i + 1), v = order[i];
        order[i] = order[k];
        order[k] = v;
    }
}

static struct hd_samples picked(hd_arena *a, const struct hd_samples *all, const int64_t *order,
                                int64_t n) {
    struct hd_samples s = *all;
    float *x = hd_new_array(a, float, (size_t)(n * all->size) + 1);
    int64_t *classes = hd_new_array(a, int64_t, (size_t)n + 1);
    for (int64_t i = 0; i < n; i++) {
        memcpy(x + i * all->size, all->x + order[i] * all->size, (size_t)all->size * sizeof *x);
        classes[i] = all->classes[order[i]];
    }
    s.n = n, s.x = x, s.classes = classes;
    return s;
}

void hd_samples_split(hd_arena *a, const struct hd_samples *all, int64_t held_out, uint32_t seed,
                      struct hd_samples *out_train, struct hd_samples *out_test) {
    int64_t *order = hd_new_array(a, int64_t, (size_t)all->n + 1);
    permute(order, all->n, hd_random_hash(seed));
    *out_test = picked(a, all, order, held_out);
    *out_train = picked(a, all, order + held_out, all->n - held_out);
}

int64_t hd_batches_n(const struct hd_batches *b) {
    return b->s->n / b->batch;
}

/* Row by row, from dy rows below and dx pixels to the right. */
static void shifted(const struct hd_samples *s, const float *from, float *to, int64_t dy,
                    int64_t dx) {
    int64_t plane = s->height * s->width;
    for (int64_t i = 0; i < s->size; i++) {
        int64_t y = i % plane / s->width + dy, x = i % s->width + dx;
        bool inside = y >= 0 && y < s->height && x >= 0 && x < s->width;
        to[i] = inside ? from[i + dy * s->width + dx] : 0;
    }
}

void hd_batches_get(struct hd_batches *b, int64_t epoch, int64_t i, float *x, int64_t *classes) {
    const struct hd_samples *s = b->s;
    uint32_t key = hd_random_hash(b->seed + hd_random_hash((uint32_t)epoch + 1));
    uint32_t sides = (uint32_t)(2 * b->shift + 1);
    permute(b->order, s->n, key);
    for (int64_t k = 0; k < b->batch; k++) {
        int64_t at = b->order[i * b->batch + k];
        const float *from = s->x + at * s->size;
        uint32_t move = hd_random_hash(key ^ hd_random_hash((uint32_t)(i * b->batch + k)));
        int64_t dy = move % sides, dx = move / sides % sides;
        classes[k] = s->classes[at];
        if (b->shift && s->height)
            shifted(s, from, x + k * s->size, dy - b->shift, dx - b->shift);
        else
            memcpy(x + k * s->size, from, (size_t)s->size * sizeof *x);
    }
}

void hd_batches_step(void *b, int64_t step, void *const *in) {
    int64_t n = hd_batches_n(b);
    hd_batches_get(b, step / n, step % n, in[0], in[1]);
}
