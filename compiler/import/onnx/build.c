/* Building what one ONNX operation becomes when that is several of the IR's. */
#include "compiler/import/onnx/build.h"

#include "cpu_ref/kernels.h"

/* A node, its attributes still to be set; *out is its result. */
static int begin(struct hd_onnx_build *b, enum hd_ir_op op, const char *suffix, int n_in,
                 const int *in, int *out) {
    *out = -1;
    return b->s == HD_OK ? hd_onnx_emit_inner(b->m, b->n, op, suffix, n_in, in, out) : -1;
}

static int finish(struct hd_onnx_build *b, int node, int out) {
    if (b->s != HD_OK) return -1;
    b->s = hd_onnx_done(b->m, node);
    return b->s == HD_OK ? out : -1;
}

int hd_build(struct hd_onnx_build *b, enum hd_ir_op op, const char *suffix, int n_in,
             const int *in) {
    int y, id = begin(b, op, suffix, n_in, in, &y);
    return finish(b, id, y);
}

int hd_build_two(struct hd_onnx_build *b, enum hd_ir_op op, const char *suffix, int x, int y) {
    return hd_build(b, op, suffix, 2, (int[]){x, y});
}

int hd_build_cast(struct hd_onnx_build *b, const char *suffix, int x, hd_dtype t) {
    if (b->s != HD_OK || b->m->g->tensors[x].dtype == t) return x;
    int y, id = begin(b, HD_IR_cast, suffix, 1, &x, &y);
    hd_attr_set_string(b->m->g, id, "to", hd_dtype_name(t));
    return finish(b, id, y);
}

int hd_build_reshape(struct hd_onnx_build *b, const char *suffix, int x, int rank,
                     const int64_t *dim) {
    int y, id = begin(b, HD_IR_reshape, suffix, 1, &x, &y);
    if (id >= 0) hd_attr_set_ints(b->m->g, id, "shape", rank, dim);
    return finish(b, id, y);
}

int hd_build_transpose(struct hd_onnx_build *b, const char *suffix, int x, int rank,
                       const int64_t *perm) {
    int y, id = begin(b, HD_IR_transpose, suffix, 1, &x, &y);
    if (id >= 0) hd_attr_set_ints(b->m->g, id, "perm", rank, perm);
    return finish(b, id, y);
}

static int one_int(struct hd_onnx_build *b, const char *suffix, int64_t v) {
    return hd_onnx_const(b->m, b->n, suffix, HD_I64, 1, (int64_t[]){1}, &v);
}

int hd_build_slice(struct hd_onnx_build *b, const char *suffix, int x, int64_t axis, int64_t from,
                   int64_t to, int64_t step) {
    if (b->s != HD_OK) return -1;
    return hd_build(b, HD_IR_slice, suffix, 5,
                    (int[]){x, one_int(b, "from", from), one_int(b, "to", to),
                            one_int(b, "axis", axis), one_int(b, "step", step)});
}

int hd_build_concat(struct hd_onnx_build *b, const char *suffix, int64_t axis, int n,
                    const int *in) {
    int y, id = begin(b, HD_IR_concat, suffix, n, in, &y);
    if (id >= 0) hd_attr_set_int(b->m->g, id, "axis", axis);
    return finish(b, id, y);
}

int hd_build_scalar(struct hd_onnx_build *b, const char *suffix, hd_dtype t, double v) {
    uint64_t data = 0;
    hd_k_put_f64(&data, t, 0, v);
    return hd_onnx_const(b->m, b->n, suffix, t, 0, NULL, &data);
}

int hd_build_f32(struct hd_onnx_build *b, const char *suffix, int x) {
    if (b->s != HD_OK || x < 0) return x;
    const struct hd_tensor t = b->m->g->tensors[x];
    if (!t.data || t.dtype == HD_F32) return hd_build_cast(b, suffix, x, HD_F32);
    int64_t n = hd_tensor_elems(&t);
    float *v = hd_new_array(b->m->arena, float, (size_t)n + 1);
    for (int64_t i = 0; i < n; i++) v[i] = (float)hd_k_f64(t.data, t.dtype, i);
    return hd_onnx_const(b->m, b->n, suffix, HD_F32, t.rank, t.dim, v);
}

hd_status hd_build_end(struct hd_onnx_build *b, size_t i, int value) {
    int y = b->s == HD_OK ? hd_onnx_out(b->m, b->n, i) : -1;
    if (y < 0) return b->s;
    const char *name = i ? hd_sprintf(b->m->arena, "%s.%zu", b->n->name, i) : b->n->name;
    return b->s =
               hd_onnx_done(b->m, hd_graph_node(b->m->g, HD_IR_identity, name, 1, &value, 1, &y));
}
