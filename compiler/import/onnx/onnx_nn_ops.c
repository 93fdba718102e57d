/* ONNX layers: convolution, matrix products, pools, normalisation, recurrent networks. Nothing here
 * needs to know shapes: auto_pad and global windows are resolved when inference knows them. */
#include <string.h>

#include "compiler/import/onnx/onnx_ops.h"

/* Operands of n, up to 8. */
static int emit(struct hd_importer *m, const struct hd_onnx_node *n, enum hd_ir_op op) {
    int in[8];
    for (size_t i = 0; i < 8; i++) in[i] = hd_onnx_in(m, n, i);
    return hd_onnx_emit(m, n, op, (int)n->n_in, in);
}

/* ---- windows ---- */

static void window(struct hd_importer *m, const struct hd_onnx_node *n, int node) {
    static const char *const names[] = {"kernel_shape", "strides", "dilations", NULL};
    const char *mode = hd_onnx_string(n, "auto_pad", "NOTSET");
    hd_onnx_copy_attrs(m, n, node, names);
    if (!mode[0] || !strcmp(mode, "NOTSET"))
        hd_onnx_copy_attrs(m, n, node, (const char *const[]){"pads", NULL});
    else if (strcmp(mode, "VALID"))
        hd_attr_set_string(m->g, node, "auto_pad", mode);
}

hd_status hd_onnx_conv_attrs(struct hd_importer *m, const struct hd_onnx_node *n, int node) {
    const struct hd_tensor *w = &m->g->tensors[m->g->nodes[node].in[1]];
    if (!hd_onnx_attr(n, "kernel_shape") && w->known && w->rank > 2)
        hd_attr_set_ints(m->g, node, "kernel_shape", w->rank - 2, w->dim + 2);
    window(m, n, node);
    hd_attr_set_int(m->g, node, "group", hd_onnx_int(n, "group", 1));
    return hd_onnx_done(m, node);
}

hd_status import_Conv(struct hd_importer *m, const struct hd_onnx_node *n) {
    return hd_onnx_conv_attrs(m, n, emit(m, n, HD_IR_conv));
}

hd_status import_ConvInteger(struct hd_importer *m, const struct hd_onnx_node *n) {
    return hd_onnx_conv_attrs(m, n, emit(m, n, HD_IR_convinteger));
}

hd_status import_DeformConv(struct hd_importer *m, const struct hd_onnx_node *n) {
    int id = emit(m, n, HD_IR_deformconv);
    hd_onnx_copy_attrs(m, n, id, (const char *const[]){"offset_group", NULL});
    return hd_onnx_conv_attrs(m, n, id);
}

hd_status import_ConvTranspose(struct hd_importer *m, const struct hd_onnx_node *n) {
    static const char *const names[] = {"output_padding", "output_shape", NULL};
    int id = emit(m, n, HD_IR_convtranspose);
    hd_onnx_copy_attrs(m, n, id, names);
    return hd_onnx_conv_attrs(m, n, id);
}

static hd_status pool(struct hd_importer *m, const struct hd_onnx_node *n, enum hd_ir_op op) {
    static const char *const names[] = {"ceil_mode", "count_include_pad", "storage_order", "p",
                                        NULL};
    int id = emit(m, n, op);
    window(m, n, id);
    hd_onnx_copy_attrs(m, n, id, names);
    return hd_onnx_done(m, id);
}

static hd_status global_pool(struct hd_importer *m, const struct hd_onnx_node *n,
                             enum hd_ir_op op) {
    int id = emit(m, n, op);
    hd_attr_set_int(m->g, id, "global", 1);
    hd_onnx_copy_attrs(m, n, id, (const char *const[]){"p", NULL});
    return hd_onnx_done(m, id);
}

/* Bytes are pooled by the operation that the machine has, which has no indices. */
static enum hd_ir_op max_op(const struct hd_importer *m, const struct hd_onnx_node *n) {
    const struct hd_tensor *x = hd_onnx_tensor(m, n, 0);
    bool byte = x->known && (x->dtype == HD_I8 || x->dtype == HD_U8);
    return byte && hd_onnx_out(m, n, 1) < 0 ? HD_IR_qmaxpool : HD_IR_maxpool;
}

hd_status import_MaxPool(struct hd_importer *m, const struct hd_onnx_node *n) {
    return pool(m, n, max_op(m, n));
}
hd_status import_AveragePool(struct hd_importer *m, const struct hd_onnx_node *n) {
    return pool(m, n, HD_IR_avgpool);
}
hd_status import_LpPool(struct hd_importer *m, const struct hd_onnx_node *n) {
    return pool(m, n, HD_IR_lppool);
}
hd_status import_GlobalMaxPool(struct hd_importer *m, const struct hd_onnx_node *n) {
    return global_pool(m, n, max_op(m, n));
}
hd_status import_GlobalAveragePool(struct hd_importer *m, const struct hd_onnx_node *n) {
    return global_pool(m, n, HD_IR_avgpool);
}
hd_status import_GlobalLpPool(struct hd_importer *m, const struct hd_onnx_node *n) {
    return global_pool(m, n, HD_IR_lppool);
}

/* ---- products, normalisation ---- */

hd_status import_Gemm(struct hd_importer *m, const struct hd_onnx_node *n) {
    int id = emit(m, n, HD_IR_gemm);
    hd_attr_set_float(m->g, id, "alpha", hd_onnx_float(n, "alpha", 1));
    hd_attr_set_float(m->g, id, "beta", hd_onnx_float(n, "beta", 1));
    hd_attr_set_int(m->g, id, "transA", hd_onnx_int(n, "transA", 0) != 0);
    hd_attr_set_int(m->g, id, "transB", hd_onnx_int(n, "transB", 0) != 0);
    return hd_onnx_done(m, id);
}

/* momentum * old + (1 - momentum) * now, to output i when that is wanted. */
static hd_status running(struct hd_importer *m, const struct hd_onnx_node *n, size_t i, int old,
                         int now) {
    float momentum = hd_onnx_float(n, "momentum", 0.9f);
    int y = hd_onnx_out(m, n, i), old_part[2] = {old}, now_part[2] = {now}, sum[2];
    const char *name = hd_sprintf(m->arena, "running%zu", i);
    if (y < 0) return HD_OK;
    TRY(hd_onnx_const_like(m, n, "momentum", (double)momentum, old, &old_part[1]));
    TRY(hd_onnx_const_like(m, n, "rest", 1 - (double)momentum, now, &now_part[1]));
    TRY(hd_onnx_done(m, hd_onnx_emit_inner(m, n, HD_IR_mul, hd_sprintf(m->arena, "%s.old", name), 2,
                                           old_part, &sum[0])));
    TRY(hd_onnx_done(m, hd_onnx_emit_inner(m, n, HD_IR_mul, hd_sprintf(m->arena, "%s.now", name), 2,
                                           now_part, &sum[1])));
    return hd_onnx_done(m,
                        hd_graph_node(m->g, HD_IR_add, hd_sprintf(m->arena, "%s.%s", n->name, name),
                                      2, sum, 1, &y));
}

/* By mean and variance of the batch itself; the outputs behind y are the running ones. */
static hd_status batch_statistics(struct hd_importer *m, const struct hd_onnx_node *n, int in[5]) {
    struct hd_tensor x = m->g->tensors[in[0]];
    int64_t axes[HD_MAX_RANK] = {0}, channels[1] = {x.rank > 1 ? x.dim[1] : 1};
    int mean, squares[2], centred[2], var, shape[2];
    if (!x.known || x.rank < 2)
        return hd_onnx_bad(m, n, HD_UNSUPPORTED, "training_mode=1 of an input of open shape");
    for (int d = 2; d < x.rank; d++) axes[d - 1] = d;
    int over = hd_onnx_const(m, n, "axes", HD_I64, 1, (int64_t[]){x.rank - 1}, axes);
    int reduced[2] = {in[0], over};
    TRY(hd_onnx_done(m, hd_onnx_emit_inner(m, n, HD_IR_reducemean, "mean", 2, reduced, &mean)));
    centred[0] = in[0], centred[1] = mean;
    TRY(hd_onnx_done(m, hd_onnx_emit_inner(m, n, HD_IR_sub, "centred", 2, centred, &squares[0])));
    squares[1] = squares[0];
    TRY(hd_onnx_done(m, hd_onnx_emit_inner(m, n, HD_IR_mul, "squares", 2, squares, &reduced[0])));
    TRY(hd_onnx_done(m, hd_onnx_emit_inner(m, n, HD_IR_reducemean, "var", 2, reduced, &var)));
    shape[1] = hd_onnx_const(m, n, "shape", HD_I64, 1, (int64_t[]){1}, channels);
    for (int i = 0; i < 2; i++) {
        shape[0] = i ? var : mean;
        int old = in[3 + i];
        TRY(hd_onnx_done(m, hd_onnx_emit_inner(m, n, HD_IR_reshape, i ? "var1" : "mean1", 2, shape,
                                               &in[3 + i])));
        TRY(running(m, n, 1 + (size_t)i, old, in[3 + i]));
    }
    return HD_OK;
}

hd_status import_BatchNormalization(struct hd_importer *m, const struct hd_onnx_node *n) {
    int in[5];
    if (!hd_onnx_int(n, "spatial", 1))
        return hd_onnx_bad(m, n, HD_UNSUPPORTED, "spatial=0; export with spatial=1");
    for (size_t i = 0; i < 5; i++) in[i] = hd_onnx_in(m, n, i);
    if (hd_onnx_int(n, "training_mode", 0)) TRY(batch_statistics(m, n, in));
    int id = hd_onnx_emit(m, n, HD_IR_batchnorm, 5, in);
    hd_attr_set_float(m->g, id, "epsilon", hd_onnx_float(n, "epsilon", 1e-5f));
    return hd_onnx_done(m, id);
}

hd_status import_MeanVarianceNormalization(struct hd_importer *m, const struct hd_onnx_node *n) {
    const struct hd_onnx_attr *a = hd_onnx_attr(n, "axes");
    int64_t axes[HD_MAX_RANK] = {0, 2, 3};
    int count = 3;
    if (a) TRY(hd_onnx_int_list(m, n, "axes", -1, axes, HD_MAX_RANK, &count));
    int id = emit(m, n, HD_IR_mvn);
    hd_attr_set_ints(m->g, id, "axes", count, axes);
    return hd_onnx_done(m, id);
}

/* ---- recurrent networks ---- */

static hd_status recur(struct hd_importer *m, const struct hd_onnx_node *n, enum hd_ir_op op) {
    const struct hd_onnx_attr *a = hd_onnx_attr(n, "activations");
    int id = emit(m, n, op);
    hd_onnx_copy_attrs(m, n, id, NULL);
    if (a && a->n_strings) { /* a list of strings becomes one, with commas */
        char *list = hd_strdup(m->arena, a->strings[0]);
        for (size_t i = 1; i < a->n_strings; i++)
            list = hd_sprintf(m->arena, "%s,%s", list, a->strings[i]);
        hd_attr_set_string(m->g, id, "activations", list);
    }
    return hd_onnx_done(m, id);
}

hd_status import_LSTM(struct hd_importer *m, const struct hd_onnx_node *n) {
    return recur(m, n, HD_IR_lstm);
}
hd_status import_GRU(struct hd_importer *m, const struct hd_onnx_node *n) {
    return recur(m, n, HD_IR_gru);
}
hd_status import_RNN(struct hd_importer *m, const struct hd_onnx_node *n) {
    return recur(m, n, HD_IR_rnn);
}
