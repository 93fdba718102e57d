/* A sliding window over any number of dimensions as runs along the last one. Private to cpu_ref. */
#ifndef HD_CPU_REF_K_SPANS_H
#define HD_CPU_REF_K_SPANS_H

#include "compiler/ir/window.h"
#include "runtime/base/arena.h"

struct hd_span { /* big[big + i * stride] meets small[small + i], 0 <= i < n: all inside the image
                  */
    int64_t small, big, n;
};

/* `big` is the image that the window slides over, `small` has one value per position: input and
 * output of a convolution, output and input of a transposed one. Tap t, counted row-major over the
 * kernel, owns span[first[t]] .. span[first[t + 1] - 1]. */
struct hd_spans {
    int64_t n_taps, stride, n_small, n_big; /* stride: of the last dimension; values of one plane */
    int64_t *first;
    struct hd_span *span;
};

void hd_spans_make(const struct hd_window_nd *v, bool transposed, hd_arena *a,
                   struct hd_spans *out);

/* Steps a row-major index over dims [0, n); false after the last one (at is zero again). */
bool hd_next_index(int64_t *at, const int64_t *dim, int n);

#endif
