/* Window geometry -> runs of values. */
#include "cpu_ref/k_spans.h"

#include <string.h>

#include "runtime/base/num.h"

bool hd_next_index(int64_t *at, const int64_t *dim, int n) {
    while (n-- > 0) {
        if (++at[n] < dim[n]) return true;
        at[n] = 0;
    }
    return false;
}

static int64_t product(const int64_t *dim, int n) {
    int64_t p = 1;
    for (int i = 0; i < n; i++) p *= dim[i];
    return p;
}

/* Positions o of the last dimension for which o * stride + shift lies in 0 .. size - 1. */
static void clip_run(int64_t shift, int64_t stride, int64_t size, int64_t positions, int64_t *first,
                     int64_t *n) {
    int64_t from = shift >= 0 ? 0 : hd_ceil_div(-shift, stride);
    int64_t to = shift >= size ? 0 : hd_min((size - 1 - shift) / stride + 1, positions);
    *first = from;
    *n = hd_max(to - from, 0);
}

void hd_spans_make(const struct hd_window_nd *v, bool transposed, hd_arena *a,
                   struct hd_spans *out) {
    const int64_t *big = transposed ? v->out : v->in, *small = transposed ? v->in : v->out;
    int l = v->sp - 1;
    int64_t tap[HD_MAX_SPATIAL] = {0}, row[HD_MAX_SPATIAL] = {0}, t = 0;
    size_t n_spans = 0, cap = 0;
    struct hd_spans s = {.n_taps = product(v->kernel, v->sp),
                         .stride = v->stride[l],
                         .n_small = product(small, v->sp),
                         .n_big = product(big, v->sp)};
    s.first = hd_new_array(a, int64_t, (size_t)s.n_taps + 1);
    do {
        s.first[t++] = (int64_t)n_spans;
        int64_t first, n, small_row = 0;
        clip_run(tap[l] * v->dilation[l] - v->before[l], v->stride[l], big[l], small[l], &first,
                 &n);
        if (s.n_small == 0 || n == 0) continue;
        do {
            int64_t big_row = 0, small_at = small_row++ * small[l] + first;
            bool inside = true;
            for (int i = 0; i < l; i++) {
                int64_t at = row[i] * v->stride[i] + tap[i] * v->dilation[i] - v->before[i];
                inside = inside && at >= 0 && at < big[i];
                big_row = big_row * big[i] + at;
            }
            if (!inside) continue;
            int64_t big_at =
                big_row * big[l] + first * v->stride[l] + tap[l] * v->dilation[l] - v->before[l];
            struct hd_span *last = (int64_t)n_spans > s.first[t - 1] ? &s.span[n_spans - 1] : NULL;
            if (last && s.stride == 1 && last->small + last->n == small_at &&
                last->big + last->n == big_at)
                last->n += n;
            else
                *hd_push(a, s.span, n_spans, cap) = (struct hd_span){small_at, big_at, n};
        } while (hd_next_index(row, small, l));
    } while (hd_next_index(tap, v->kernel, v->sp));
    s.first[t] = (int64_t)n_spans;
    *out = s;
}
