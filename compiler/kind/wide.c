/* Convolutions and dense layers of int16 operands or results, on a machine of bytes.
 *
 * A tensor of int16 is two planes of bytes, x = 256 * high + low, high signed and low not; both are
 * 0 where x is 0. MX makes a sum of each plane of an operand. VX joins them in binary32 and splits
 * the result, in passes of vx.map:
 *
 *   join     s = f32(f32(low + bias) + f32(high * 256))    = f32(acc): both terms are exact
 *   scale    y = rint(min(f32(s * scale), hi)), int32
 *   high     rint((2y - 255) / 512), never a tie           = floor(y / 256), clamped
 *   low      clamp(y - 256 * high, 0, 255)                  saturates with the high byte
 *
 * needs: no zero points, lo a multiple of 256, sums of the low bytes with the bias up to 2^24
 */
#include <stdlib.h>

#include "compiler/kind/matmul.h"
#include "runtime/base/element.h"
#include "runtime/base/num.h"

enum { STEP = 256, MOST_LOW = 255, PASSES = 4 };

void hd_lower_set_pass(struct hd_lowerer *w, enum hd_pass pass) {
    static const float a[PASSES] = {1, 0, 1.0f / STEP, 1}, b[] = {STEP, 0, 0.5f / STEP, -STEP};
    bool from = hd_lower_tensor(w, w->l->in[0])->wide, to = hd_lower_tensor(w, w->l->out)->wide;
    bool join = pass == HD_PASS_JOIN, scale = pass == HD_PASS_SCALE, low = pass == HD_PASS_LOW;
    int hi = w->l->y.hi, clips = scale && to && (hi & MOST_LOW) != MOST_LOW;
    hd_lower_set(w, HD_F_vx_a_kind, scale && from ? HD_V_vx_kind_am_f32 : HD_V_vx_kind_am_int32);
    int b_kind = low ? HD_V_vx_kind_xm_int8 : HD_V_vx_kind_zero;
    hd_lower_set(w, HD_F_vx_b_kind, join ? HD_V_vx_kind_am_int32 : b_kind);
    hd_lower_set(w, HD_F_vx_alu, clips ? HD_V_vx_alu_min : scale ? HD_V_vx_alu_a : HD_V_vx_alu_add);
    hd_lower_set(w, HD_F_vx_use_bias, join || (scale && !from));
    hd_lower_set(w, HD_F_vx_scale_pm, scale);
    hd_lower_set(w, HD_F_vx_a_scale, hd_lower_f32_bits(a[pass]));
    hd_lower_set(w, HD_F_vx_b_scale, hd_lower_f32_bits(clips ? 1 : b[pass]));
    hd_lower_set(w, HD_F_vx_b_imm, clips ? hi : pass == HD_PASS_HIGH ? -MOST_LOW : 0);
    if (join || (scale && to))
        hd_lower_set(w, HD_F_vx_d_kind, join ? HD_V_vx_dest_am_f32 : HD_V_vx_dest_am_int32);
    else if (scale)
        hd_lower_set_requant(w);
    else
        hd_lower_set(w, HD_F_vx_lo, low ? 0 : w->l->y.lo / STEP),
            hd_lower_set(w, HD_F_vx_hi, low ? MOST_LOW : (hi + STEP * 128) / STEP - 128);
}

/* ---- the kind ---- */

/* Sums of the low bytes, with the bias, are exact in binary32. */
static bool sums_are_exact(const hd_graph *g, const struct hd_node *n) {
    const struct hd_tensor *w = &g->tensors[n->in[1]];
    const int32_t *bias = g->tensors[n->in[2]].data;
    int64_t per = hd_tensor_elems(w) / w->dim[0];
    for (int64_t c = 0; c < w->dim[0]; c++) {
        int64_t sum = 0;
        for (int64_t i = c * per; i < (c + 1) * per; i++)
            sum += llabs(hd_k_i64(w->data, w->dtype, i));
        if (MOST_LOW * sum + llabs((int64_t)bias[c]) > 1 << 24) return false;
    }
    return true;
}

static const char *refuses(const struct hd_lowering *lo, int node, const char **out_hint) {
    const hd_graph *g = lo->g;
    const struct hd_node *n = &g->nodes[node];
    bool from = g->tensors[n->in[0]].dtype == HD_I16, to = g->tensors[n->out[0]].dtype == HD_I16;
    const char *why = hd_lacks_functions(lo, out_hint);
    if (why || (why = hd_matmul_refuses(lo, node, out_hint))) return why;
    if ((from && hd_attr_int(n, "x_zp", 0)) || (to && hd_attr_int(n, "y_zp", 0))) {
        *out_hint = "quantise with the zero point 0 (heddle quantize --mixed)";
        return "an int16 tensor has a zero point";
    }
    if (to && hd_attr_int(n, "lo", 0) % STEP) {
        *out_hint = "clip to 0, or at the result's smallest value";
        return "an int16 result is clipped from below, not at a multiple of 256";
    }
    if (from && !sums_are_exact(g, n)) {
        *out_hint = "leave its operand int8";
        return "bias and sums of int16 need more than 24 bits";
    }
    return NULL;
}

/* Two words of sums for each pixel. */
static void choose_chunks(const struct hd_lowering *lo, struct hd_tiling *lt) {
    hd_choose_weight_chunks(lo, lt);
    lt->nb = (int)hd_min(lt->nb, hd_half_am(lo->m) / 2);
    lt->chunk_outer = lt->wave = false;
}

static int64_t most_pixels(const struct hd_lowering *lo, const struct hd_tiling *lt,
                           struct hd_refusal *out_why) {
    return hd_weight_pixels(lo, lt, out_why) / 2;
}

static int64_t pixel_cycles(const struct hd_layer *l) {
    return 2 * hd_matmul_pixel_cycles(l);
}

static int64_t vector_ops(const struct hd_lowering *lo, const struct hd_layer *l) {
    return PASSES * hd_vectors_once(lo, l);
}

const struct hd_kind hd_kind_wide = {
    .name = "wide",
    .operations = "mx.gemm vx.map",
    .expression = "sum over p, q, c of w[m,p,q,c] * x[i*sy + p*dy - pt, j*sx + q*dx - pl, c]",
    .memories = "XM WM -> AM, AM PM -> AM XM",
    .weights = true,
    .refuses = refuses,
    .wish_of = hd_matmul_wish,
    .flat = hd_matmul_flat,
    .make = hd_matmul_make,
    .pixel_cycles = pixel_cycles,
    .vector_ops = vector_ops,
    .choose_chunks = choose_chunks,
    .most_pixels = most_pixels,
    .lower = hd_lower_matmul,
};
