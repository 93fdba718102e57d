/* ONNX reductions, softmax and its kin, losses. */
#include <string.h>

#include "compiler/import/onnx/onnx_ops.h"

/* ---- reductions ---- */

static hd_status reduce(struct hd_importer *m, const struct hd_onnx_node *n, enum hd_ir_op op) {
    static const char *const attrs[] = {"keepdims", "noop_with_empty_axes", NULL};
    int in[2] = {hd_onnx_in(m, n, 0), hd_onnx_ints_in(m, n, 1, "axes")};
    int id = hd_onnx_emit(m, n, op, 2, in);
    hd_onnx_copy_attrs(m, n, id, attrs);
    return hd_onnx_done(m, id);
}

#define REDUCE(onnx, op)                                                                           \
    hd_status import_##onnx(struct hd_importer *m, const struct hd_onnx_node *n) {                 \
        return reduce(m, n, HD_IR_##op);                                                           \
    }
REDUCE(ReduceSum, reducesum)
REDUCE(ReduceMean, reducemean)
REDUCE(ReduceMax, reducemax)
REDUCE(ReduceMin, reducemin)
REDUCE(ReduceProd, reduceprod)
REDUCE(ReduceL1, reducel1)
REDUCE(ReduceL2, reducel2)
REDUCE(ReduceLogSum, reducelogsum)
REDUCE(ReduceLogSumExp, reducelogsumexp)
REDUCE(ReduceSumSquare, reducesumsquare)

/* k is an attribute below opset 10. */
hd_status import_TopK(struct hd_importer *m, const struct hd_onnx_node *n) {
    static const char *const attrs[] = {"axis", "largest", "sorted", NULL};
    int in[2] = {hd_onnx_in(m, n, 0), hd_onnx_in(m, n, 1)};
    int64_t k = hd_onnx_int(n, "k", -1);
    if (in[1] < 0) in[1] = hd_onnx_const(m, n, "k", HD_I64, 0, NULL, &k);
    int id = hd_onnx_emit(m, n, HD_IR_topk, 2, in);
    hd_onnx_copy_attrs(m, n, id, attrs);
    return hd_onnx_done(m, id);
}

/* ---- softmax ---- */

/* op over all dimensions of x from `axis` on, as if they were one. */
static hd_status soft_flat(struct hd_importer *m, const struct hd_onnx_node *n, enum hd_ir_op op,
                           int x, int64_t axis) {
    const struct hd_tensor t = m->g->tensors[x];
    int64_t dim[2] = {1, 1};
    int flat = -1, in[2] = {-1, -1};
    int id =
        hd_onnx_emit_inner(m, n, t.known ? HD_IR_reshape : HD_IR_flatten, "flat", 1, &x, &flat);
    for (int d = 0; t.known && d < t.rank; d++) dim[d >= axis] *= t.dim[d];
    if (t.known)
        hd_attr_set_ints(m->g, id, "shape", 2, dim);
    else
        hd_attr_set_int(m->g, id, "axis", axis);
    TRY(hd_onnx_done(m, id));
    id = hd_onnx_emit_inner(m, n, op, "soft", 1, &flat, &in[0]);
    hd_attr_set_int(m->g, id, "axis", 1);
    TRY(hd_onnx_done(m, id));
    if (!t.known)
        TRY(hd_onnx_done(m, hd_onnx_emit_inner(m, n, HD_IR_shape, "shape", 1, &x, &in[1])));
    id = hd_onnx_emit(m, n, HD_IR_reshape, 2, in);
    if (t.known) hd_attr_set_ints(m->g, id, "shape", t.rank, t.dim);
    return hd_onnx_done(m, id);
}

/* Along `axis`; below opset 13 over all dimensions from axis on. */
static hd_status soft(struct hd_importer *m, const struct hd_onnx_node *n, enum hd_ir_op op) {
    int x = hd_onnx_in(m, n, 0);
    int64_t axis = hd_onnx_int(n, "axis", m->opset < 13 ? 1 : -1), tail = 0;
    const struct hd_tensor *t = &m->g->tensors[x];
    if (t->known) {
        TRY(hd_onnx_axis(m, n, axis, t->rank, &axis));
        tail = 1;
        for (int64_t d = axis + 1; d < t->rank; d++) tail *= t->dim[d];
    }
    if (m->opset < 13 && axis != -1 && tail != 1) return soft_flat(m, n, op, x, axis);
    int id = hd_onnx_emit(m, n, op, 1, &x);
    hd_attr_set_int(m->g, id, "axis", axis);
    return hd_onnx_done(m, id);
}

hd_status import_Softmax(struct hd_importer *m, const struct hd_onnx_node *n) {
    return soft(m, n, HD_IR_softmax);
}
hd_status import_LogSoftmax(struct hd_importer *m, const struct hd_onnx_node *n) {
    return soft(m, n, HD_IR_logsoftmax);
}
hd_status import_Hardmax(struct hd_importer *m, const struct hd_onnx_node *n) {
    return soft(m, n, HD_IR_hardmax);
}

/* scores, labels, weights? -> loss, log probabilities? */
hd_status import_SoftmaxCrossEntropyLoss(struct hd_importer *m, const struct hd_onnx_node *n) {
    int in[3] = {hd_onnx_in(m, n, 0), hd_onnx_in(m, n, 1), hd_onnx_in(m, n, 2)};
    int loss = hd_onnx_out(m, n, 0), log_prob = hd_onnx_out(m, n, 1);
    const char *name = hd_sprintf(m->arena, "%s.log_prob", n->name);
    if (log_prob < 0) log_prob = hd_graph_tensor(m->g, name, HD_F32, 0, NULL);
    m->g->tensors[log_prob].known = false;
    int id = hd_graph_node(m->g, HD_IR_logsoftmax, name, 1, in, 1, &log_prob);
    hd_attr_set_int(m->g, id, "axis", 1);
    TRY(hd_onnx_done(m, id));
    in[0] = log_prob;
    id = hd_graph_node(m->g, HD_IR_nllloss, n->name, in[2] < 0 ? 2 : 3, in, 1, &loss);
    hd_onnx_copy_attrs(m, n, id, NULL);
    return hd_onnx_done(m, id);
}
