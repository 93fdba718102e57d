/* Building blocks of the TFLite reader: operands, results, and small nodes. */
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "compiler/import/tflite/tflite.h"
#include "cpu_ref/golden.h"

hd_status hd_tfl_bad(struct hd_tfl *m, hd_status code, const char *fmt, ...) {
    va_list ap;
    char text[400];
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return hd_fail(m->ctx, code, "%s '%s': %s", m->op->name, m->op->node, text);
}

struct hd_tfl_tensor *hd_tfl_in(struct hd_tfl *m, uint32_t i) {
    return i < m->op->n_in && m->op->in[i] >= 0 ? &m->at->tensors[m->op->in[i]] : NULL;
}

struct hd_tfl_tensor *hd_tfl_out(struct hd_tfl *m, uint32_t i) {
    return i < m->op->n_out && m->op->out[i] >= 0 ? &m->at->tensors[m->op->out[i]] : NULL;
}

const struct hd_tensor *hd_tfl_shape(struct hd_tfl *m, const struct hd_tfl_tensor *t) {
    return &m->g->tensors[t->raw >= 0 ? t->raw : t->real];
}

bool hd_tfl_quantised(const struct hd_tfl_tensor *t) {
    return t->n_scales && (t->type == HD_TFL_U8 || t->type == HD_TFL_I8 || t->type == HD_TFL_I4 ||
                           t->type == HD_TFL_I16);
}

bool hd_tfl_same_scale(const struct hd_tfl_tensor *a, const struct hd_tfl_tensor *b) {
    if (!hd_tfl_quantised(a) && !hd_tfl_quantised(b)) return true;
    return a->n_scales == 1 && b->n_scales == 1 && a->scale[0] == b->scale[0] &&
           a->zero[0] == b->zero[0];
}

int64_t hd_tfl_option(struct hd_tfl *m, int field, int bytes, int64_t def) {
    return hd_fb_int(&m->fb, &m->op->options, field, bytes, def);
}

/* ---- nodes ---- */

int hd_tfl_node(struct hd_tfl *m, enum hd_ir_op op, int n_in, const int *in, int *out) {
    int y = hd_graph_tensor(m->g, m->op->node, HD_F32, 0, NULL);
    int id = hd_graph_node(m->g, op, m->op->node, n_in, in, 1, &y);
    *out = y;
    return id;
}

hd_status hd_tfl_done(struct hd_tfl *m, int node) {
    return hd_import_done(m->ctx, m->g, node);
}

hd_status hd_tfl_emit(struct hd_tfl *m, enum hd_ir_op op, int n_in, const int *in, int *out) {
    return hd_tfl_done(m, hd_tfl_node(m, op, n_in, in, out));
}

int hd_tfl_const(struct hd_tfl *m, hd_dtype t, int rank, const int64_t *dim, const void *data) {
    return hd_graph_const(m->g, hd_sprintf(m->arena, "%s.c", m->op->node), t, rank, dim, data);
}

int hd_tfl_ints(struct hd_tfl *m, int n, const int64_t *v) {
    return hd_tfl_const(m, HD_I64, 1, (int64_t[]){n}, v);
}

int hd_tfl_float_const(struct hd_tfl *m, float v) {
    return hd_tfl_const(m, HD_F32, 0, NULL, &v);
}

hd_status hd_tfl_transpose(struct hd_tfl *m, int x, int rank, const int64_t *perm, int *out) {
    int id = hd_tfl_node(m, HD_IR_transpose, 1, &x, out);
    hd_attr_set_ints(m->g, id, "perm", rank, perm);
    return hd_tfl_done(m, id);
}

hd_status hd_tfl_reshape(struct hd_tfl *m, int x, int rank, const int64_t *dim, int *out) {
    int id = hd_tfl_node(m, HD_IR_reshape, 1, &x, out);
    hd_attr_set_ints(m->g, id, "shape", rank, dim);
    return hd_tfl_done(m, id);
}

hd_status hd_tfl_cast_to(struct hd_tfl *m, int x, hd_dtype to, int *out) {
    *out = x;
    if (m->g->tensors[x].dtype == to) return HD_OK;
    int id = hd_tfl_node(m, HD_IR_cast, 1, &x, out);
    hd_attr_set_string(m->g, id, "to", hd_dtype_name(to));
    return hd_tfl_done(m, id);
}

hd_status hd_tfl_binary(struct hd_tfl *m, enum hd_ir_op op, int a, int b, int *out) {
    return hd_tfl_emit(m, op, 2, (int[]){a, b}, out);
}

hd_status hd_tfl_clip(struct hd_tfl *m, int x, float lo, float hi, int *out) {
    int in[3] = {x, hd_tfl_float_const(m, lo), hd_tfl_float_const(m, hi)};
    return hd_tfl_emit(m, HD_IR_clip, 3, in, out);
}

hd_status hd_tfl_channels_first(struct hd_tfl *m, int x, int *out) {
    int rank = m->g->tensors[x].rank;
    int64_t perm[HD_MAX_RANK] = {0, rank - 1};
    if (rank < 3) return hd_tfl_bad(m, HD_UNSUPPORTED, "rank %d, want 3 or more", rank);
    for (int i = 2; i < rank; i++) perm[i] = i - 1;
    return hd_tfl_transpose(m, x, rank, perm, out);
}

hd_status hd_tfl_channels_last(struct hd_tfl *m, int x, int *out) {
    int rank = m->g->tensors[x].rank;
    int64_t perm[HD_MAX_RANK] = {0};
    for (int i = 1; i < rank; i++) perm[i] = i + 1;
    perm[rank - 1] = 1;
    return hd_tfl_transpose(m, x, rank, perm, out);
}

/* ---- operands ---- */

/* Two values of 4 bits to a byte, the lower first. */
static const void *unpacked(struct hd_tfl *m, const struct hd_tfl_tensor *t, int64_t n) {
    int8_t *v = hd_new_array(m->arena, int8_t, (size_t)n + 1);
    for (int64_t i = 0; i < n; i++)
        v[i] =
            (int8_t)((int8_t)(uint8_t)(i % 2 ? t->data[i / 2] & 0xf0 : t->data[i / 2] << 4) / 16);
    return v;
}

static hd_status constant(struct hd_tfl *m, struct hd_tfl_tensor *t) {
    struct hd_tensor like = {.dtype = (hd_dtype)t->ir, .rank = t->rank, .known = true};
    memcpy(like.dim, t->dim, sizeof like.dim);
    int64_t n = hd_tensor_elems(&like);
    size_t want = t->type == HD_TFL_I4 ? (size_t)(n + 1) / 2 : hd_tensor_bytes(&like);
    if (t->sparse)
        return hd_tfl_bad(m, HD_UNSUPPORTED, "constant '%s' is sparse; convert without sparsity",
                          t->name);
    if (t->bytes != want)
        return hd_tfl_bad(m, HD_INVALID, "constant '%s' has %zu bytes of data, its shape wants %zu",
                          t->name, t->bytes, want);
    const void *data = t->type == HD_TFL_I4 ? unpacked(m, t, n) : t->data;
    bool borrow =
        m->from->path && data == t->data && (uintptr_t)data % hd_dtype_bytes(like.dtype) == 0;
    t->raw = hd_graph_tensor(m->g, t->name, like.dtype, t->rank, t->dim);
    m->g->tensors[t->raw].data = borrow ? data : hd_dup(m->g->arena, data, hd_tensor_bytes(&like));
    return HD_OK;
}

static hd_status value(struct hd_tfl *m, struct hd_tfl_tensor *t) {
    if (t->raw >= 0 || t->real >= 0) return HD_OK;
    if (t->variable) return hd_tfl_state_read(m, hd_tfl_variable(m, t), t, &t->raw);
    if (t->ir < 0)
        return hd_tfl_bad(m, HD_UNSUPPORTED, "tensor '%s' has type %d of the schema", t->name,
                          t->type);
    bool empty = false;
    for (int i = 0; i < t->rank; i++) empty = empty || t->dim[i] == 0;
    static const uint8_t nothing;
    if (empty && !t->data) t->data = &nothing;
    if (!t->data)
        return hd_tfl_bad(m, HD_INVALID, "tensor '%s' is no constant and no earlier result",
                          t->name);
    return constant(m, t);
}

hd_status hd_tfl_dequantize(struct hd_tfl *m, const struct hd_tfl_tensor *t, int x, int axis,
                            int *out) {
    hd_dtype type = m->g->tensors[x].dtype;
    int64_t n = t->n_scales;
    int32_t *zero = hd_new_array(m->arena, int32_t, (size_t)n + 1);
    for (int64_t i = 0; i < n; i++) zero[i] = (int32_t)t->zero[i];
    int scale = hd_tfl_const(m, HD_F32, n > 1, &n, t->scale), z, id;
    int wide = hd_tfl_const(m, HD_I32, n > 1, &n, zero);
    TRY(hd_tfl_cast_to(m, wide, type, &z));
    if (m->g->tensors[z].producer >= 0) TRY(hd_fold_node(m->ctx, m->g, m->g->tensors[z].producer));
    id = hd_tfl_node(m, HD_IR_dequantize, 3, (int[]){x, scale, z}, out);
    if (n > 1) hd_attr_set_int(m->g, id, "axis", axis);
    return hd_tfl_done(m, id);
}

hd_status hd_tfl_quantize(struct hd_tfl *m, const struct hd_tfl_tensor *t, int x, int *out) {
    if (t->n_scales != 1)
        return hd_tfl_bad(m, HD_UNSUPPORTED, "result '%s' has %u scales, want 1", t->name,
                          t->n_scales);
    int32_t zero = (int32_t)t->zero[0];
    int scale = hd_tfl_const(m, HD_F32, 0, NULL, t->scale), z;
    int wide = hd_tfl_const(m, HD_I32, 0, NULL, &zero);
    TRY(hd_tfl_cast_to(m, wide, (hd_dtype)t->ir, &z));
    return hd_tfl_emit(m, HD_IR_quantize, 3, (int[]){x, scale, z}, out);
}

hd_status hd_tfl_raw(struct hd_tfl *m, struct hd_tfl_tensor *t, int *out) {
    TRY(value(m, t));
    if (t->raw < 0) TRY(hd_tfl_quantize(m, t, t->real, &t->raw));
    *out = t->raw;
    return HD_OK;
}

hd_status hd_tfl_real(struct hd_tfl *m, struct hd_tfl_tensor *t, int *out) {
    TRY(value(m, t));
    if (t->real < 0 && hd_tfl_quantised(t))
        TRY(hd_tfl_dequantize(m, t, t->raw, t->axis, &t->real));
    else if (t->real < 0)
        t->real = t->raw;
    *out = t->real;
    return HD_OK;
}

/* ---- results ---- */

void hd_tfl_set_raw(struct hd_tfl *m, struct hd_tfl_tensor *t, int v) {
    (void)m;
    if (!t) return;
    t->raw = v;
    t->real = -1;
}

hd_status hd_tfl_set_real(struct hd_tfl *m, struct hd_tfl_tensor *t, int v) {
    if (!t) return HD_OK;
    t->real = -1;
    t->raw = v;
    return hd_tfl_quantised(t) ? hd_tfl_quantize(m, t, v, &t->raw) : HD_OK;
}

hd_status hd_tfl_activate(struct hd_tfl *m, int x, int64_t activation, int *out) {
    enum { NONE, RELU, RELU_N1_TO_1, RELU6, TANH };
    *out = x;
    switch (activation) {
    case NONE:
        return HD_OK;
    case RELU:
        return hd_tfl_emit(m, HD_IR_relu, 1, &x, out);
    case RELU_N1_TO_1:
        return hd_tfl_clip(m, x, -1, 1, out);
    case RELU6:
        return hd_tfl_clip(m, x, 0, 6, out);
    case TANH:
        return hd_tfl_emit(m, HD_IR_tanh, 1, &x, out);
    default:
        return hd_tfl_bad(m, HD_UNSUPPORTED, "fused activation %lld", (long long)activation);
    }
}

hd_status hd_tfl_set_activated(struct hd_tfl *m, struct hd_tfl_tensor *t, int v,
                               int64_t activation) {
    TRY(hd_tfl_activate(m, v, activation, &v));
    return hd_tfl_set_real(m, t, v);
}

/* ---- lists ---- */

hd_status hd_tfl_int_list(struct hd_tfl *m, uint32_t i, int64_t *out, int max, int *n) {
    struct hd_tfl_tensor *t = hd_tfl_in(m, i);
    int x;
    if (!t) return hd_tfl_bad(m, HD_INVALID, "operand %u is left out", i);
    TRY(hd_tfl_raw(m, t, &x));
    const struct hd_tensor *v = &m->g->tensors[x];
    if (!v->data || (v->dtype != HD_I32 && v->dtype != HD_I64))
        return hd_tfl_bad(m, HD_UNSUPPORTED,
                          "operand %u ('%s') must be constant integers; its value depends on the "
                          "run",
                          i, t->name);
    if (hd_tensor_elems(v) > max)
        return hd_tfl_bad(m, HD_INVALID, "operand %u ('%s') has %lld values, at most %d", i,
                          t->name, (long long)hd_tensor_elems(v), max);
    *n = (int)hd_tensor_elems(v);
    for (int k = 0; k < *n; k++)
        out[k] = v->dtype == HD_I32 ? ((const int32_t *)v->data)[k] : ((const int64_t *)v->data)[k];
    return HD_OK;
}

hd_status hd_tfl_axis(struct hd_tfl *m, int64_t axis, int rank, int64_t *out) {
    if (axis < -rank || axis >= rank)
        return hd_tfl_bad(m, HD_INVALID, "axis %lld, allowed %d..%d", (long long)axis, -rank,
                          rank - 1);
    *out = axis < 0 ? axis + rank : axis;
    return HD_OK;
}
