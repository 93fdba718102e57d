/* TFLite products of matrices, softmax, norms and images. */
#include <math.h>
#include <string.h>

#include "compiler/import/tflite/tflite_fixed.h"
#include "compiler/import/tflite/tflite_nn.h"
#include "compiler/import/tflite/tflite_ops.h"

/* x [..] as rows of what a row of w has. */
static hd_status as_rows(struct hd_tfl *m, int x, int64_t inner, int *out) {
    const struct hd_tensor t = m->g->tensors[x];
    int64_t n = hd_tensor_elems(&t);
    *out = x;
    if (!t.known || inner < 1 || n % inner)
        return hd_tfl_bad(m, t.known ? HD_INVALID : HD_UNSUPPORTED,
                          "%lld values are no rows of %lld", (long long)n, (long long)inner);
    if (t.rank == 2 && t.dim[1] == inner) return HD_OK;
    return hd_tfl_reshape(m, x, 2, (int64_t[]){n / inner, inner}, out);
}

static hd_status product(struct hd_tfl *m, int x, int *out) {
    struct hd_tfl_tensor *t = hd_tfl_in(m, 0), *w = hd_tfl_in(m, 1);
    int in[3] = {x, -1, -1}, scale = -1, bias = -1;
    if (hd_tfl_hybrid(t, w)) TRY(hd_tfl_rounded_rows(m, x, 1, (int64_t[]){1}, &in[0], &scale));
    TRY(hd_tfl_weights(m, 1, 2, NULL, 0, &in[1]));
    TRY(hd_tfl_bias(m, 2, t, w, scale >= 0 ? &bias : &in[2]));
    int id = hd_tfl_node(m, HD_IR_gemm, in[2] >= 0 ? 3 : 2, in, out);
    hd_attr_set_int(m->g, id, "transB", 1);
    TRY(hd_tfl_done(m, id));
    if (scale >= 0) TRY(hd_tfl_binary(m, HD_IR_mul, *out, scale, out));
    return bias >= 0 ? hd_tfl_binary(m, HD_IR_add, *out, bias, out) : HD_OK;
}

/* The same in fixed point; rows, and a shape of more dimensions behind it. */
static hd_status fixed_product(struct hd_tfl *m, int64_t activation) {
    struct hd_tfl_tensor *x = hd_tfl_in(m, 0), *w = hd_tfl_in(m, 1);
    struct hd_tfl_sums s = {.x = x,
                            .w = w,
                            .bias = hd_tfl_in(m, 2),
                            .n = w->dim[0],
                            .activation = activation,
                            .rounds = hd_tfl_rounds_of(x, false)};
    int raw[2], id, y;
    TRY(hd_tfl_raw(m, x, &raw[0]));
    TRY(hd_tfl_raw(m, w, &raw[1]));
    struct hd_tensor shape = m->g->tensors[raw[0]];
    TRY(as_rows(m, raw[0], w->dim[1], &raw[0]));
    TRY(hd_tfl_transpose(m, raw[1], 2, (int64_t[]){1, 0}, &raw[1]));
    TRY(hd_tfl_integer_product(m, HD_IR_matmulinteger, HD_IR_matmul, raw[0], raw[1], &s, &id, &y));
    TRY(hd_tfl_done(m, id));
    if (hd_tfl_option(m, 2, 1, 0) && shape.rank != 2 && shape.rank > 0) {
        shape.dim[shape.rank - 1] = w->dim[0];
        TRY(hd_tfl_reshape(m, y, shape.rank, shape.dim, &y));
    }
    return hd_tfl_scaled(m, &s, y);
}

hd_status hd_tfl_fully_connected(struct hd_tfl *m) {
    int x, y;
    TRY(hd_tfl_want(m, 1, 2));
    if (hd_tfl_option(m, 1, 1, 0))
        return hd_tfl_bad(m, HD_UNSUPPORTED, "weights in shuffled order");
    struct hd_tfl_tensor *w = hd_tfl_in(m, 1);
    int64_t fused = hd_tfl_option(m, 0, 1, 0);
    if (hd_tfl_in(m, 0) && hd_tfl_is_fixed(m, hd_tfl_in(m, 0), w, fused))
        return fixed_product(m, fused);
    TRY(hd_tfl_real(m, hd_tfl_in(m, 0), &x));
    struct hd_tensor shape = m->g->tensors[x];
    TRY(as_rows(m, x, w->dim[1], &x));
    TRY(product(m, x, &y));
    TRY(hd_tfl_activate(m, y, hd_tfl_option(m, 0, 1, 0), &y));
    if (hd_tfl_option(m, 2, 1, 0) && shape.rank != 2 && shape.rank > 0) {
        shape.dim[shape.rank - 1] = w->dim[0];
        TRY(hd_tfl_reshape(m, y, shape.rank, shape.dim, &y));
    }
    return hd_tfl_set_real(m, hd_tfl_out(m, 0), y);
}

static hd_status adjoint(struct hd_tfl *m, int x, int *out) {
    int rank = m->g->tensors[x].rank;
    int64_t perm[HD_MAX_RANK];
    *out = x;
    if (rank < 2) return hd_tfl_bad(m, HD_INVALID, "an operand of rank %d", rank);
    for (int i = 0; i < rank; i++) perm[i] = i;
    perm[rank - 1] = rank - 2;
    perm[rank - 2] = rank - 1;
    return hd_tfl_transpose(m, x, rank, perm, out);
}

hd_status hd_tfl_batch_matmul(struct hd_tfl *m) {
    int in[2], y;
    for (uint32_t i = 0; i < 2; i++) {
        if (!hd_tfl_in(m, i)) return hd_tfl_bad(m, HD_INVALID, "operand %u is left out", i);
        TRY(hd_tfl_real(m, hd_tfl_in(m, i), &in[i]));
        if (hd_tfl_option(m, (int)i, 1, 0)) TRY(adjoint(m, in[i], &in[i]));
    }
    TRY(hd_tfl_emit(m, HD_IR_matmul, 2, in, &y));
    return hd_tfl_set_real(m, hd_tfl_out(m, 0), y);
}

/* ---- rows ---- */

static hd_status along_last(struct hd_tfl *m, enum hd_ir_op op, int x, int *out) {
    int id = hd_tfl_node(m, op, 1, &x, out);
    hd_attr_set_int(m->g, id, "axis", -1);
    return hd_tfl_done(m, id);
}

hd_status hd_tfl_softmax(struct hd_tfl *m) {
    float beta = hd_fb_float(&m->fb, &m->op->options, 0, 0);
    int x;
    TRY(hd_tfl_real(m, hd_tfl_in(m, 0), &x));
    if (beta != 1) TRY(hd_tfl_binary(m, HD_IR_mul, x, hd_tfl_float_const(m, beta), &x));
    TRY(along_last(m, HD_IR_softmax, x, &x));
    return hd_tfl_set_real(m, hd_tfl_out(m, 0), x);
}

hd_status hd_tfl_log_softmax(struct hd_tfl *m) {
    int x;
    TRY(hd_tfl_real(m, hd_tfl_in(m, 0), &x));
    TRY(along_last(m, HD_IR_logsoftmax, x, &x));
    return hd_tfl_set_real(m, hd_tfl_out(m, 0), x);
}

hd_status hd_tfl_l2_normalization(struct hd_tfl *m) {
    int x, sum, root;
    TRY(hd_tfl_real(m, hd_tfl_in(m, 0), &x));
    int in[2] = {x, hd_tfl_ints(m, 1, (int64_t[]){-1})};
    TRY(hd_tfl_emit(m, HD_IR_reducesumsquare, 2, in, &sum));
    TRY(hd_tfl_emit(m, HD_IR_sqrt, 1, &sum, &root));
    TRY(hd_tfl_binary(m, HD_IR_max, root, hd_tfl_float_const(m, 1e-6f), &root));
    TRY(hd_tfl_binary(m, HD_IR_div, x, root, &x));
    return hd_tfl_set_real(m, hd_tfl_out(m, 0), x);
}

/* alpha is that of one term; IR's is divided by the size. */
hd_status hd_tfl_lrn(struct hd_tfl *m) {
    int64_t radius = hd_tfl_option(m, 0, 4, 0), size = 2 * radius + 1;
    int x, id;
    TRY(hd_tfl_want(m, 0, 4));
    if (radius < 0 || radius > 1 << 16)
        return hd_tfl_bad(m, HD_INVALID, "radius %lld", (long long)radius);
    TRY(hd_tfl_real(m, hd_tfl_in(m, 0), &x));
    TRY(hd_tfl_channels_first(m, x, &x));
    id = hd_tfl_node(m, HD_IR_lrn, 1, &x, &x);
    hd_attr_set_int(m->g, id, "size", size);
    hd_attr_set_float(m->g, id, "bias", hd_fb_float(&m->fb, &m->op->options, 1, 0));
    hd_attr_set_float(m->g, id, "alpha", hd_fb_float(&m->fb, &m->op->options, 2, 0) * (float)size);
    hd_attr_set_float(m->g, id, "beta", hd_fb_float(&m->fb, &m->op->options, 3, 0));
    TRY(hd_tfl_done(m, id));
    TRY(hd_tfl_channels_last(m, x, &x));
    return hd_tfl_set_real(m, hd_tfl_out(m, 0), x);
}

/* ---- images ---- */

hd_status hd_tfl_resize(struct hd_tfl *m) {
    bool linear = m->op->code == 23;
    bool corners = hd_tfl_option(m, linear ? 2 : 0, 1, 0) != 0,
         half = hd_tfl_option(m, linear ? 3 : 1, 1, 0) != 0;
    int64_t size[2], all[4];
    int x, n, id;
    TRY(hd_tfl_want(m, 0, 4));
    TRY(hd_tfl_int_list(m, 1, size, 2, &n));
    if (n != 2) return hd_tfl_bad(m, HD_INVALID, "%d sizes, want 2", n);
    TRY(hd_tfl_real(m, hd_tfl_in(m, 0), &x));
    TRY(hd_tfl_channels_first(m, x, &x));
    memcpy(all, m->g->tensors[x].dim, 2 * sizeof *all);
    memcpy(all + 2, size, sizeof size);
    id = hd_tfl_node(m, HD_IR_resize, 4, (int[]){x, -1, -1, hd_tfl_ints(m, 4, all)}, &x);
    hd_attr_set_string(m->g, id, "mode", linear ? "linear" : "nearest");
    hd_attr_set_string(m->g, id, "coordinate_transformation_mode",
                       corners ? "align_corners"
                       : half  ? "half_pixel"
                               : "asymmetric");
    if (!linear) /* with half pixels TFLite adds them and rounds down, which is to round up halves
                  */
        hd_attr_set_string(m->g, id, "nearest_mode",
                           corners || half ? "round_prefer_ceil" : "floor");
    TRY(hd_tfl_done(m, id));
    TRY(hd_tfl_channels_last(m, x, &x));
    return hd_tfl_set_real(m, hd_tfl_out(m, 0), x);
}
