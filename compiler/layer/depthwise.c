/* Depthwise convolutions on VX: windows of vx.dw, and larger ones as sums of parts.
 *
 * needs: geometry of the layer
 * gives: kind DEPTHWISE, PM words with bias, scale and taps in the image
 * destroys: nothing
 *
 * vx.dw takes at most DW_ROWS x DW_COLS taps. A larger window is cut into parts of such a size:
 * each but the last leaves its sum in AM as an integer (below 2^24, so binary32 on the way holds
 * it), and the next one goes on from there. Where taps are dx columns apart, every dx-th column is
 * an operation of its own, whose windows slide over every dx-th column of the input. A 7x7 window
 * is 21 vectors for each one of the result, where MX would take 49. Each plane of weights of 9 bits
 * (planes.c) is parts of its own.
 *
 * A window of one column slides down: what is said of columns here are its rows.
 */
#include "compiler/layer/layer.h"
#include "runtime/base/num.h"

enum { DW_ROWS = 4, DW_COLS = 3 }; /* isa.def, vx.dw */

struct hd_dw_side hd_dw_along(const struct hd_layer *l) {
    return l->down ? (struct hd_dw_side){l->kh, l->sy, l->dy}
                   : (struct hd_dw_side){l->kw, l->sx, l->dx};
}

struct hd_dw_side hd_dw_across(const struct hd_layer *l) {
    return l->down ? (struct hd_dw_side){l->kw, l->sx, l->dx}
                   : (struct hd_dw_side){l->kh, l->sy, l->dy};
}

/* Columns of part i of those side by side: kw of them, `step` apart. Those of a wide window with
 * stride are a stride apart, so that each input column is read for the taps that need it only.
 * Returns how many parts there are. */
static int columns(const struct hd_layer *l, int i, struct hd_dw_part *q) {
    const struct hd_dw_side a = hd_dw_along(l);
    int n = 0;
    q->step = a.k > DW_COLS ? a.s : 1;
    for (int first = 0; first < hd_min(q->step, a.k); first++) {
        int taps = (int)hd_ceil_div(a.k - first, q->step);
        int parts = (int)hd_ceil_div(taps, DW_COLS), k = i - n;
        n += parts;
        if (k < 0 || k >= parts) continue;
        q->col = first + taps * k / parts * q->step;
        q->kw = taps * (k + 1) / parts - taps * k / parts;
    }
    return n;
}

static int rows(const struct hd_layer *l) {
    return (int)hd_ceil_div(hd_dw_across(l).k, DW_ROWS);
}

int hd_layer_dw_parts(const struct hd_layer *l) {
    struct hd_dw_part q;
    return l->planes * rows(l) * columns(l, 0, &q);
}

struct hd_dw_part hd_layer_dw_part(const struct hd_layer *l, int i) {
    struct hd_dw_part q = {0};
    int down = rows(l), across = columns(l, 0, &q), kh = hd_dw_across(l).k;
    for (int k = 0; k <= i; k++) {
        int y = k / across % down;
        if (k) q.pm += (int)hd_ceil_div(q.kh * q.kw, HD_DW_TAPS_PER_WORD);
        columns(l, k % across, &q);
        q.plane = k / across / down;
        q.row = kh * y / down, q.kh = kh * (y + 1) / down - q.row;
    }
    return q;
}

int64_t hd_dw_vectors(const struct hd_layer *l, int rows, int cols) {
    const struct hd_dw_side a = hd_dw_along(l);
    int parts = hd_layer_dw_parts(l), pixels = l->down ? rows : cols;
    int phases = (int)hd_min(a.d, pixels);
    int64_t sum = 0;
    for (int i = 0; i < parts; i++) {
        struct hd_dw_part q = hd_layer_dw_part(l, i);
        sum += (int64_t)q.kh * ((pixels - phases) * (a.s / q.step) + phases * q.kw);
    }
    return sum * (l->down ? cols : rows);
}

int64_t hd_dw_pixel_vectors(const struct hd_layer *l) {
    struct hd_dw_part q;
    int64_t parts = columns(l, 0, &q); /* and q, before it is read */
    return l->planes * hd_dw_across(l).k * parts * (hd_dw_along(l).s / q.step);
}
