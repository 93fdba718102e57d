/* Transposed convolutions as ordinary ones.
 *
 * out[i*s + k*d - p] += in[i] * w[k] says for output y which taps meet it: those with k*d = y + p
 * modulo s. So all outputs with the same remainder f of y by s are one plain convolution with
 * stride 1, over the taps of that remainder, and s * s of them (one for each pixel of a block of s
 * x s outputs) are the whole. No product with a zero is computed, and nothing is put between the
 * inputs.
 *
 *   stride 2, kernel 3, pad 1:   y even: tap 1 of in[y/2]      y odd: taps 2 and 0 of in[(y-1)/2],
 *                                                                     in[(y+1)/2]
 *
 * Where stride and dilation have a common divisor some pixels of a block meet no tap: they read one
 * tap of zeros. The zero point folds into the bias of each pixel by the taps that it has.
 */
#include <string.h>

#include "compiler/kind/matmul.h"
#include "runtime/base/num.h"

/* Taps that meet output f of a block, in the order of the inputs that they read. */
struct axis {
    int n;         /* 0: none */
    int at, step;  /* input of the first, from the input that the block stands at; to the next */
    int tap, less; /* index of the first, and how much less the next one's is */
};

static struct axis axis_taps(const struct hd_transposed *u, int f) {
    struct axis a = {.step = 1};
    for (int k = u->k - 1; k >= 0; k--) {
        int at = f + u->p - k * u->d;
        if (at % u->s) continue;
        at /= u->s;
        if (a.n == 0) a.at = at, a.tap = k;
        if (a.n == 1) a.step = at - a.at, a.less = a.tap - k;
        a.n++;
    }
    return a;
}

/* Inputs that a block reads: [*from, *to]. */
static void block_span(const struct hd_transposed *u, int *from, int *to) {
    *from = INT32_MAX, *to = INT32_MIN;
    for (int f = 0; f < u->s; f++) {
        struct axis a = axis_taps(u, f);
        if (!a.n) continue;
        *from = (int)hd_min(*from, a.at);
        *to = (int)hd_max(*to, a.at + (a.n - 1) * a.step);
    }
}

/* needs: up. gives: uy, ux, window of a block, taps. */
void hd_transposed_window(struct hd_layer *l) {
    const struct hd_transposed *up = hd_packed_of(l)->up;
    int from[2], to[2], met[2] = {0};
    for (int i = 0; i < 2; i++) {
        block_span(&up[i], &from[i], &to[i]);
        for (int f = 0; f < up[i].s; f++) met[i] += axis_taps(&up[i], f).n > 0;
    }
    l->uy = up[0].s, l->ux = up[1].s;
    l->kh = to[0] - from[0] + 1, l->kw = to[1] - from[1] + 1;
    l->pt = -from[0], l->pl = -from[1];
    l->sy = l->sx = l->dy = l->dx = 1;
    l->taps = up[0].k * up[1].k + (met[0] * met[1] < l->uy * l->ux);
    l->pm_words = l->uy * l->ux;
}

int hd_layer_subs(const struct hd_layer *l) {
    return l->uy * l->ux;
}

struct hd_sub hd_layer_sub(const struct hd_layer *l, int i) {
    const struct hd_transposed *up = hd_packed_of(l)->up;
    if (l->uy * l->ux == 1 && !up[0].k)
        return (struct hd_sub){0, 0, l->kh, l->kw, l->dy, l->dx, 0, 0, 0};
    struct hd_sub s = {.y = i / l->ux, .x = i % l->ux};
    struct axis v = axis_taps(&up[0], s.y), h = axis_taps(&up[1], s.x);
    if (!v.n || !h.n) { /* the tap of zeros, of any input */
        s.kh = s.kw = s.dy = s.dx = 1, s.tap = l->taps / l->planes - 1;
        return s;
    }
    s.kh = v.n, s.dy = v.step, s.row = v.at + l->pt;
    s.kw = h.n, s.dx = h.step, s.col = h.at + l->pl;
    for (int k = 0; k < i; k++)
        s.tap += axis_taps(&up[0], k / l->ux).n * axis_taps(&up[1], k % l->ux).n;
    return s;
}

uint32_t hd_transposed_pack(struct hd_lowering *lo, const struct hd_layer *l, const int8_t *row,
                            int oc, int i, int plane) {
    const struct hd_transposed *up = hd_packed_of(l)->up;
    int k = (int)lo->m->k, group_in = lo->tensors[l->in[0]].c / l->groups;
    int lead = hd_group_lane(lo, l, oc);
    struct hd_sub s = hd_layer_sub(l, i);
    struct axis v = axis_taps(&up[0], s.y), h = axis_taps(&up[1], s.x);
    uint32_t sum = 0;
    for (int ty = 0; ty < v.n; ty++)
        for (int tx = 0; tx < h.n; tx++)
            for (int ic = 0; ic < group_in; ic++) {
                int ky = v.tap - ty * v.less, kx = h.tap - tx * h.less;
                int8_t value = row[(ic * up[0].k + ky) * up[1].k + kx];
                if (!value) continue; /* perhaps of a word that the tile does not read */
                int word = (s.tap + ty * h.n + tx) * l->cw + (lead + ic) / k;
                *hd_packed_byte(lo, l, oc, plane, word, (lead + ic) % k) = (uint8_t)value;
                sum += (uint32_t)(int32_t)value;
            }
    return sum;
}
