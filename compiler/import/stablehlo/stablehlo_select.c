/* StableHLO select_and_scatter, what the backward pass of a pooling layer is: each window of the
 * operand chooses one of its values, and the source is added there. */
#include <string.h>

#include "compiler/import/stablehlo/stablehlo.h"

enum { PLACES_MAX = 1 << 12 };

struct windows {
    int rank;
    int64_t size[HD_MAX_RANK], stride[HD_MAX_RANK], pads[2 * HD_MAX_RANK];
    int64_t padded[HD_MAX_RANK], dim[HD_MAX_RANK], places; /* dim: how many windows */
};

static hd_status get_windows(struct hd_shlo *m, const struct hd_tensor *x,
                             const struct hd_tensor *source, struct windows *w) {
    w->rank = x->rank, w->places = 1;
    TRY(hd_shlo_list(m, "window_dimensions", w->rank, 1, w->size));
    TRY(hd_shlo_list(m, "window_strides", w->rank, 1, w->stride));
    TRY(hd_shlo_list(m, "padding", 2 * w->rank, 0, w->pads));
    if (source->rank != w->rank) return hd_shlo_bad(m, HD_INVALID, "its source");
    for (int d = 0; d < w->rank; d++) {
        int64_t low = w->pads[2 * d], high = w->pads[2 * d + 1];
        if (w->size[d] < 1 || w->size[d] > PLACES_MAX || w->stride[d] < 1 ||
            w->stride[d] > INT16_MAX || low < 0 || high < 0 || low > INT16_MAX || high > INT16_MAX)
            return hd_shlo_bad(m, HD_UNSUPPORTED, "window %d", d);
        w->padded[d] = x->dim[d] + low + high;
        w->dim[d] = (w->padded[d] - w->size[d]) / w->stride[d] + 1;
        w->places *= w->size[d];
        if (w->padded[d] < w->size[d] || w->dim[d] != source->dim[d] || w->places > PLACES_MAX)
            return hd_shlo_bad(m, HD_INVALID, "windows that do not fit its source");
    }
    return HD_OK;
}

/* Where place `at` of a window begins in the padded operand. */
static void origin(const struct windows *w, int64_t at, int64_t *out) {
    for (int d = w->rank - 1; d >= 0; at /= w->size[d], d--) out[d] = at % w->size[d];
}

/* Which windows have this place inside the operand, not in its padding. */
static int inside(struct hd_shlo *m, const struct windows *w, const int64_t *from) {
    int64_t n = 1;
    for (int d = 0; d < w->rank; d++) n *= w->dim[d];
    uint8_t *v = hd_new_array(m->arena, uint8_t, (size_t)n + 1);
    for (int64_t i = 0; i < n; i++) {
        bool yes = true;
        for (int64_t d = w->rank - 1, rest = i; d >= 0; rest /= w->dim[d], d--) {
            int64_t place = rest % w->dim[d] * w->stride[d] + from[d];
            yes = yes && place >= w->pads[2 * d] && place < w->padded[d] - w->pads[2 * d + 1];
        }
        v[i] = yes;
    }
    return hd_graph_const(m->g, "inside", HD_BOOL, w->rank, w->dim, v);
}

/* Place `at` of all windows, and the index of the chosen place so far; -1: none. */
static hd_status choose(struct hd_shlo *m, const struct windows *w, int x, int64_t at, int *best,
                        int *which) {
    int64_t from[HD_MAX_RANK], to[HD_MAX_RANK];
    int value, keep, none, take, here;
    origin(w, at, from);
    for (int d = 0; d < w->rank; d++) to[d] = from[d] + (w->dim[d] - 1) * w->stride[d] + 1;
    TRY(hd_shlo_slice(m, x, w->rank, from, to, w->stride, &value));
    take = inside(m, w, from);
    if (at) {
        TRY(hd_shlo_combine(m, &m->op->regions[0], (int[]){*best, value}, 2, &keep, 1));
        TRY(hd_shlo_scalar(m, 0, *which, &none));
        TRY(hd_shlo_binary(m, HD_IR_greaterorequal, *which, none, &none)); /* one was chosen */
        TRY(hd_shlo_binary(m, HD_IR_and, keep, none, &keep));
        TRY(hd_shlo_emit(m, HD_IR_not, 1, &keep, &keep));
        TRY(hd_shlo_binary(m, HD_IR_and, keep, take, &take));
    } else {
        int32_t minus = -1;
        *which = hd_graph_const(m->g, "c", HD_I32, 0, NULL, &minus);
        *best = value;
    }
    int32_t index = (int32_t)at;
    here = hd_graph_const(m->g, "c", HD_I32, 0, NULL, &index);
    TRY(hd_shlo_emit(m, HD_IR_where, 3, (int[]){take, value, *best}, best));
    return hd_shlo_emit(m, HD_IR_where, 3, (int[]){take, here, *which}, which);
}

/* What place `at` of the windows adds to the operand. */
static hd_status share(struct hd_shlo *m, const struct windows *w, int source, int which,
                       int64_t at, int *out) {
    int64_t from[HD_MAX_RANK], high[HD_MAX_RANK], gap[HD_MAX_RANK];
    int32_t index = (int32_t)at;
    int here = hd_graph_const(m->g, "c", HD_I32, 0, NULL, &index), zero, y;
    origin(w, at, from);
    for (int d = 0; d < w->rank; d++) {
        gap[d] = w->stride[d] - 1;
        high[d] = w->padded[d] - from[d] - ((w->dim[d] - 1) * w->stride[d] + 1);
        from[d] -= w->pads[2 * d], high[d] -= w->pads[2 * d + 1];
    }
    TRY(hd_shlo_scalar(m, 0, source, &zero));
    TRY(hd_shlo_binary(m, HD_IR_equal, which, here, &here));
    TRY(hd_shlo_emit(m, HD_IR_where, 3, (int[]){here, source, zero}, &y));
    return hd_shlo_padded(m, y, zero, from, high, gap, out);
}

hd_status hd_shlo_op_select_and_scatter(struct hd_shlo *m) {
    struct windows w;
    int x, source, init, best, which, y, sum, zero;
    TRY(hd_shlo_in(m, 0, &x));
    TRY(hd_shlo_in(m, 1, &source));
    TRY(hd_shlo_in(m, 2, &init));
    const struct hd_tensor t = hd_shlo_shape(m, x), s = hd_shlo_shape(m, source);
    if (m->op->n_regions != 2 || hd_shlo_body_op(m->op) != HD_IR_add)
        return hd_shlo_bad(m, HD_UNSUPPORTED, "a second body that is no sum");
    TRY(get_windows(m, &t, &s, &w));
    int64_t low[HD_MAX_RANK], high[HD_MAX_RANK], gap[HD_MAX_RANK] = {0};
    for (int d = 0; d < w.rank; d++) low[d] = w.pads[2 * d], high[d] = w.pads[2 * d + 1];
    TRY(hd_shlo_scalar(m, 0, x, &zero));
    TRY(hd_shlo_padded(m, x, zero, low, high, gap, &x));
    for (int64_t at = 0; at < w.places; at++) TRY(choose(m, &w, x, at, &best, &which));
    sum = init;
    for (int64_t at = 0; at < w.places; at++) {
        TRY(share(m, &w, source, which, at, &y));
        TRY(hd_shlo_binary(m, HD_IR_add, sum, y, &sum));
    }
    return hd_shlo_out(m, 0, sum);
}
