/* Quantising and dequantising where the IR's operations do not reach: scales for blocks, floats of
 * a byte and less, results below a byte, scales that are not float32. */
#include <string.h>

#include "compiler/import/onnx/build.h"
#include "compiler/import/onnx/onnx_quant.h"
#include "cpu_ref/kernels.h"

/* A scale or zero point so that it broadcasts to x: as it is, along the axis, or each value for the
 * block of elements that it stands for. */
static int spread(struct hd_onnx_build *b, const char *suffix, int v, const struct hd_tensor *x) {
    if (b->s != HD_OK) return -1;
    const struct hd_tensor t = b->m->g->tensors[v];
    int64_t axis = 0, dim[HD_MAX_RANK], block = hd_onnx_int(b->n, "block_size", 0);
    if (hd_tensor_elems(&t) == 1 && t.rank <= 1) return hd_build_reshape(b, suffix, v, 0, dim);
    b->s = hd_onnx_axis(b->m, b->n, hd_onnx_int(b->n, "axis", 1), x->rank, &axis);
    if (b->s != HD_OK) return -1;
    if (!block && t.rank == 1) {
        for (int d = 0; d < x->rank; d++) dim[d] = d == axis ? t.dim[0] : 1;
        return hd_build_reshape(b, suffix, v, x->rank, dim);
    }
    bool fits = block > 0 && t.rank == x->rank;
    for (int d = 0; fits && d < x->rank; d++)
        fits = t.dim[d] == (d == axis ? (x->dim[d] + block - 1) / block : x->dim[d]);
    if (!fits) {
        b->s =
            hd_onnx_bad(b->m, b->n, HD_INVALID,
                        "%lld scales or zero points do not fit axis %lld of '%s' in blocks of "
                        "%lld",
                        (long long)hd_tensor_elems(&t), (long long)axis, x->name, (long long)block);
        return -1;
    }
    int64_t n = x->dim[axis], *at = hd_new_array(b->m->arena, int64_t, (size_t)n + 1);
    for (int64_t i = 0; i < n; i++) at[i] = i / block;
    int in[2] = {v, hd_onnx_const(b->m, b->n, "block", HD_I64, 1, &n, at)}, y;
    int id = hd_onnx_emit_inner(b->m, b->n, HD_IR_gather, suffix, 2, in, &y);
    hd_attr_set_int(b->m->g, id, "axis", axis);
    b->s = hd_onnx_done(b->m, id);
    return y;
}

/* Integers below a byte as bytes of the same values: constants at once. */
int hd_onnx_whole_bytes(struct hd_onnx_build *b, const char *suffix, int v) {
    if (b->s != HD_OK || v < 0) return v;
    const struct hd_tensor t = b->m->g->tensors[v];
    bool is_signed = t.dtype == HD_I4 || t.dtype == HD_I2;
    if (!is_signed && t.dtype != HD_U4 && t.dtype != HD_U2) return v;
    hd_dtype wide = is_signed ? HD_I8 : HD_U8;
    if (!t.data) return hd_build_cast(b, suffix, v, wide);
    return hd_onnx_const(b->m, b->n, suffix, wide, t.rank, t.dim, t.data);
}

/* y = cast(clip(round(x / scale) + zero)); floats of a byte: cast(x / scale). */
hd_status hd_onnx_quantize_wide(struct hd_importer *m, const struct hd_onnx_node *n, hd_dtype t) {
    struct hd_onnx_build b = {m, n, HD_OK};
    const struct hd_tensor x = *hd_onnx_tensor(m, n, 0);
    int bits = hd_dtype_bits(t), zero = hd_onnx_in(m, n, 2);
    bool is_signed = t == HD_I8 || t == HD_I16 || t == HD_I4 || t == HD_I2;
    double lo = is_signed ? -(double)(1 << (bits - 1)) : 0, hi = lo + (double)(1 << bits) - 1;
    int scale = spread(&b, "scale", hd_build_f32(&b, "scale_f32", hd_onnx_in(m, n, 1)), &x);
    int y =
        hd_build_two(&b, HD_IR_div, "steps", hd_build_f32(&b, "x_f32", hd_onnx_in(m, n, 0)), scale);
    if (!hd_k_is_float(t)) {
        y = hd_build(&b, HD_IR_round, "rounded", 1, &y);
        if (zero >= 0)
            y = hd_build_two(&b, HD_IR_add, "shifted", y,
                             spread(&b, "zero", hd_build_f32(&b, "zero_f32", zero), &x));
        y = hd_build(&b, HD_IR_clip, "clipped", 3,
                     (int[]){y, hd_build_scalar(&b, "lo", HD_F32, lo),
                             hd_build_scalar(&b, "hi", HD_F32, hi)});
    }
    TRY(b.s);
    int id = hd_onnx_emit(m, n, HD_IR_cast, 1, &y);
    hd_attr_set_string(m->g, id, "to", hd_dtype_name(t));
    hd_onnx_copy_attrs(m, n, id, (const char *const[]){"saturate", NULL});
    return hd_onnx_done(m, id);
}

/* y = (x - zero) * scale in f32. */
hd_status hd_onnx_dequantize_wide(struct hd_importer *m, const struct hd_onnx_node *n, hd_dtype t) {
    struct hd_onnx_build b = {m, n, HD_OK};
    const struct hd_tensor x = *hd_onnx_tensor(m, n, 0);
    int zero = hd_onnx_in(m, n, 2);
    int y = hd_build_cast(&b, "x_f32", hd_onnx_in(m, n, 0), HD_F32);
    if (zero >= 0 && !hd_k_is_float(x.dtype))
        y = hd_build_two(&b, HD_IR_sub, "shifted", y,
                         spread(&b, "zero", hd_build_f32(&b, "zero_f32", zero), &x));
    int scale = spread(&b, "scale", hd_build_f32(&b, "scale_f32", hd_onnx_in(m, n, 1)), &x);
    y = hd_build_two(&b, HD_IR_mul, "scaled", y, scale);
    return hd_build_end(&b, 0, hd_build_cast(&b, "typed", y, t));
}
