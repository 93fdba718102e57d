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
 */
#include <string.h>

#include "compiler/tile/layer.h"
#include "runtime/base/num.h"

enum { DW_ROWS = 4, DW_COLS = 3, TAPS_PER_WORD = 8 }; /* isa.def, vx.dw */
enum { TAPS_MAX = (1 << 24) / (128 * 255) };          /* sums stay below 2^24 */
enum { BEGIN = 20 }; /* cycles from the end of one operation of VX to the results, docs/hw.md */

/* Columns of part i of those side by side: kw of them, `step` apart. Those of a wide window with
 * stride are a stride apart, so that each input column is read for the taps that need it only.
 * Returns how many parts there are. */
static int columns(const struct hd_layer *l, int i, struct hd_dw_part *q) {
    int n = 0;
    q->step = l->kw > DW_COLS ? l->sx : 1;
    for (int first = 0; first < hd_min(q->step, l->kw); first++) {
        int taps = (int)hd_ceil_div(l->kw - first, q->step);
        int parts = (int)hd_ceil_div(taps, DW_COLS), k = i - n;
        n += parts;
        if (k < 0 || k >= parts) continue;
        q->col = first + taps * k / parts * q->step;
        q->kw = taps * (k + 1) / parts - taps * k / parts;
    }
    return n;
}

static int rows(const struct hd_layer *l) {
    return (int)hd_ceil_div(l->kh, DW_ROWS);
}

int hd_layer_dw_parts(const struct hd_layer *l) {
    struct hd_dw_part q;
    return l->planes * rows(l) * columns(l, 0, &q);
}

struct hd_dw_part hd_layer_dw_part(const struct hd_layer *l, int i) {
    struct hd_dw_part q = {0};
    int down = rows(l), across = columns(l, 0, &q);
    for (int k = 0; k <= i; k++) {
        int y = k / across % down;
        if (k) q.pm += (int)hd_ceil_div(q.kh * q.kw, TAPS_PER_WORD);
        columns(l, k % across, &q);
        q.plane = k / across / down;
        q.row = l->kh * y / down, q.kh = l->kh * (y + 1) / down - q.row;
    }
    return q;
}

int64_t hd_dw_row_vectors(const struct hd_layer *l, int pixels) {
    int parts = hd_layer_dw_parts(l), phases = (int)hd_min(l->dx, pixels);
    int64_t sum = 0;
    for (int i = 0; i < parts; i++) {
        struct hd_dw_part q = hd_layer_dw_part(l, i);
        sum += (int64_t)q.kh * ((pixels - phases) * (l->sx / q.step) + phases * q.kw);
    }
    return sum;
}

int64_t hd_dw_pixel_vectors(const struct hd_layer *l) {
    struct hd_dw_part q;
    int64_t parts = columns(l, 0, &q); /* and q, before it is read */
    return l->planes * l->kh * parts * (l->sx / q.step);
}

/* PM words of an output tile: bias and scale, then the taps of each part. */
static int pm_words(const struct hd_layer *l) {
    struct hd_dw_part last = hd_layer_dw_part(l, hd_layer_dw_parts(l) - 1);
    return 1 + last.pm + (int)hd_ceil_div(last.kh * last.kw, TAPS_PER_WORD);
}

/* needs: the words that it would be for MX. Windows of one part, or of parts that PM has room for,
 * whose sums binary32 holds and that take less time than the same as a grouped convolution on MX,
 * whose words for a tap are nearly all zeros. */
bool hd_takes_windows(const struct hd_lowering *lo, const struct hd_layer *l) {
    const struct hd_mtensor *x = &lo->tensors[l->in[0]];
    bool dilated = l->dx > 1;
    if (l->up[0].k || l->groups != x->c || l->oc != x->c || x->c <= 1 || l->sx > 3) return false;
    if (dilated && (l->sx > 1 || l->kw == 1 || (int64_t)l->dx * x->cp / lo->m->n > INT16_MAX))
        return false;
    int parts = hd_layer_dw_parts(l);
    if (parts == 1 && !dilated) return true;
    if (pm_words(l) > (int)hd_pm_words(lo->m) / 4 || l->planes * l->kh * l->kw > TAPS_MAX)
        return false;
    int64_t words = (int64_t)l->nts * l->red / (l->ppw > 1 ? hd_layer_phases(l) : 1);
    int64_t loads = (int64_t)l->nts * l->red * hd_wm_word_bytes(lo->m) / hd_axi_bytes(lo->m);
    int64_t mx = hd_max((int64_t)x->n * l->oh * l->ow * words, loads);
    int64_t vx = (int64_t)x->n * l->oh * l->nts * hd_dw_row_vectors(l, l->ow);
    vx += BEGIN * hd_min(l->oh, l->nts) * hd_min(l->dx, l->ow) * parts;
    return vx < mx;
}

/* PM words of vx.dw per vector of channels: bias and scale, then 8 taps of all lanes a word. Of the
 * last word the image has what taps there are, in whole AXI words. */
void hd_pack_windows(struct hd_lowering *lo, struct hd_layer *l, const int8_t *w,
                     const int32_t *bias, const float *scale, int64_t n_scale) {
    int n = (int)lo->m->n, parts = hd_layer_dw_parts(l);
    struct hd_dw_part last = hd_layer_dw_part(l, parts - 1);
    l->kind = HD_LAYER_DEPTHWISE;
    l->a_imm = -l->pad_value;
    l->nts = (int)hd_ceil_div(l->oc, n);
    l->pm_words = pm_words(l);
    int absent = (TAPS_PER_WORD * (l->pm_words - 1 - last.pm) - last.kh * last.kw) * n;
    l->pm_cut = absent / (int)hd_axi_bytes(lo->m);
    size_t bytes = hd_layer_pm_bytes(l, lo->m);
    l->p_offset = hd_params_reserve(lo, (size_t)l->nts * bytes);
    for (int c = 0; c < l->oc; c++) {
        uint8_t *p = lo->params + l->p_offset + (size_t)(c / n) * bytes;
        memcpy(p + c % n * 8, &bias[c], 4);
        memcpy(p + c % n * 8 + 4, &scale[n_scale == 1 ? 0 : c], 4);
        for (int i = 0; i < parts; i++) {
            struct hd_dw_part q = hd_layer_dw_part(l, i);
            uint8_t *to = p + (1 + q.pm) * TAPS_PER_WORD * n + c % n;
            for (int t = 0; t < q.kh * q.kw; t++) {
                int ky = q.row + t / q.kw, kx = q.col + t % q.kw * q.step;
                to[t * n] = (uint8_t)w[((q.plane * l->oc + c) * l->kh + ky) * l->kw + kx];
            }
        }
    }
}
