/* Building blocks of the StableHLO reader. */
#include <stdarg.h>
#include <string.h>

#include "compiler/import/stablehlo/stablehlo.h"
#include "runtime/base/small.h"

hd_status hd_shlo_bad(struct hd_shlo *m, hd_status code, const char *fmt, ...) {
    va_list ap;
    char text[400];
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return hd_fail(m->ctx, code, "line %d (%s): %s", m->op ? m->op->line : 0,
                   m->op ? m->op->name : "function", text);
}

bool hd_shlo_is_float(hd_dtype t) {
    return t == HD_F32 || t == HD_F64 || t == HD_F16 || t == HD_BF16;
}

/* ---- values ---- */

void hd_shlo_bind(struct hd_shlo *m, const char *name, const struct hd_shlo_value *v) {
    struct hd_shlo_value *to = hd_push(m->arena, m->scope->values, m->scope->n, m->scope->cap);
    *to = *v;
    to->name = name;
}

const struct hd_shlo_value *hd_shlo_find(const struct hd_shlo_scope *scope, const char *name) {
    size_t n = strlen(name);
    if (n > 2 && !strcmp(name + n - 2, "#0")) n -= 2;
    for (const struct hd_shlo_scope *s = scope; s; s = s->up)
        for (size_t i = s->n; i-- > 0;)
            if (!strncmp(s->values[i].name, name, n) && !s->values[i].name[n]) return &s->values[i];
    return NULL;
}

hd_status hd_shlo_operand(struct hd_shlo *m, size_t i, struct hd_shlo_value *out) {
    if (i >= m->op->n_operands)
        return hd_shlo_bad(m, HD_INVALID, "%zu operands, want more", m->op->n_operands);
    const struct hd_shlo_value *v = hd_shlo_find(m->scope, m->op->operands[i]);
    if (!v) return hd_shlo_bad(m, HD_INVALID, "nothing gives %s a value", m->op->operands[i]);
    *out = *v;
    enum hd_shlo_part part = m->part[i > 0];
    if (!v->type.complex || part == HD_SHLO_WHOLE) return HD_OK;
    if (part == HD_SHLO_IMAG) out->tensor = v->imag;
    out->type.complex = false;
    return HD_OK;
}

hd_status hd_shlo_in(struct hd_shlo *m, size_t i, int *out) {
    struct hd_shlo_value v;
    TRY(hd_shlo_operand(m, i, &v));
    if (v.type.complex) return hd_shlo_bad(m, HD_UNSUPPORTED, "complex operand %zu", i);
    *out = v.tensor;
    return v.type.quantised ? hd_shlo_dequantize(m, &v.type, v.tensor, out) : HD_OK;
}

hd_status hd_shlo_result_type(struct hd_shlo *m, size_t i, struct hd_shlo_type *out) {
    const struct hd_mlir_op *op = m->op;
    bool arrow = op->n_result_types > 0;
    size_t n = arrow ? op->n_result_types : op->n_types;
    if (!n) return hd_shlo_bad(m, HD_INVALID, "it has no type");
    size_t k = arrow || n == (size_t)op->n_results ? i : n - 1;
    if (k >= n) return hd_shlo_bad(m, HD_INVALID, "%zu types of results", n);
    return hd_shlo_type(m, arrow ? op->result_types[k] : op->types[k], out);
}

/* "%a,%b": a name each; else "%a", "%a#1", .. */
static const char *result_name(struct hd_shlo *m, size_t i) {
    const char *p = m->op->result;
    if (!p) return "";
    if (!strchr(p, ',')) return i ? hd_sprintf(m->arena, "%s#%zu", p, i) : p;
    for (; i && strchr(p, ','); i--) p = strchr(p, ',') + 1;
    return hd_strndup(m->arena, p, strcspn(p, ","));
}

hd_status hd_shlo_out_stored(struct hd_shlo *m, size_t i, int tensor,
                             const struct hd_shlo_type *type) {
    struct hd_shlo_value v = {.tensor = tensor};
    if (type && type->quantised) v.type = *type;
    return hd_shlo_out_value(m, i, &v);
}

hd_status hd_shlo_out_value(struct hd_shlo *m, size_t i, const struct hd_shlo_value *v) {
    if (m->capture)
        m->capture[i] = v->tensor;
    else
        hd_shlo_bind(m, result_name(m, i), v);
    return HD_OK;
}

/* Numbers of 4 and 2 bits lie in bytes: what is above them is cut off. */
static hd_status cut_bits(struct hd_shlo *m, const char *type, int *x) {
    int up = strstr(type, "i4>") ? 16 : strstr(type, "i2>") ? 64 : 0, factor;
    hd_dtype t = m->g->tensors[*x].dtype;
    if (!up || (t != HD_I8 && t != HD_U8)) return HD_OK;
    TRY(hd_shlo_scalar(m, up, *x, &factor));
    TRY(hd_shlo_binary(m, HD_IR_mul, *x, factor, x));
    return hd_shlo_binary(m, HD_IR_div, *x, factor, x);
}

/* The numbers that a float of 8 bits and less has. */
static hd_status round_small(struct hd_shlo *m, int small, int *x) {
    static const hd_dtype type[] = {
        [HD_SMALL_E4M3FN] = HD_F8E4M3FN, [HD_SMALL_E4M3FNUZ] = HD_F8E4M3FNUZ,
        [HD_SMALL_E5M2] = HD_F8E5M2,     [HD_SMALL_E5M2FNUZ] = HD_F8E5M2FNUZ,
        [HD_SMALL_E2M1] = HD_F4E2M1,     [HD_SMALL_E8M0] = HD_F8E8M0};
    if (small >= (int)(sizeof type / sizeof *type))
        return hd_shlo_bad(m, HD_UNSUPPORTED, "results of a float type of StableHLO alone");
    int id = hd_shlo_node(m, HD_IR_cast, 1, x, x);
    hd_attr_set_string(m->g, id, "to", hd_dtype_name(type[small]));
    TRY(hd_shlo_done(m, id));
    return hd_shlo_cast(m, *x, HD_F32, x);
}

hd_status hd_shlo_out(struct hd_shlo *m, size_t i, int tensor) {
    struct hd_shlo_type t;
    const struct hd_mlir_op *op = m->op;
    const char *text = op->n_result_types ? op->result_types[0] : op->n_types ? op->types[0] : "";
    if (!strstr(text, "!quant")) {
        if (tensor >= 0) TRY(cut_bits(m, text, &tensor));
        if (strstr(text, "f8E") || strstr(text, "f6E") || strstr(text, "f4E")) {
            TRY(hd_shlo_result_type(m, i, &t));
            if (t.small) TRY(round_small(m, t.small - 1, &tensor));
        }
        return hd_shlo_out_stored(m, i, tensor, NULL);
    }
    TRY(hd_shlo_result_type(m, i, &t));
    if (t.quantised && t.dtype == HD_I32 && hd_shlo_is_float(m->g->tensors[tensor].dtype))
        return hd_shlo_out_stored(m, i, tensor, NULL); /* exact sums, which stay floats */
    if (t.quantised && hd_shlo_is_float(m->g->tensors[tensor].dtype))
        TRY(hd_shlo_quantize(m, &t, tensor, &tensor));
    return hd_shlo_out_stored(m, i, tensor, &t);
}

struct hd_tensor hd_shlo_shape(const struct hd_shlo *m, int tensor) {
    return m->g->tensors[tensor];
}

/* ---- nodes ---- */

static const char *node_name(struct hd_shlo *m) {
    const char *r = m->op && m->op->result ? m->op->result + 1 : "v";
    return hd_sprintf(m->arena, "v%.*s", (int)strcspn(r, ",#"), r);
}

int hd_shlo_node(struct hd_shlo *m, enum hd_ir_op op, int n_in, const int *in, int *out) {
    const char *name = node_name(m);
    int y = hd_graph_tensor(m->g, name, HD_F32, 0, NULL);
    int id = hd_graph_node(m->g, op, name, n_in, in, 1, &y);
    *out = y;
    return id;
}

hd_status hd_shlo_done(struct hd_shlo *m, int node) {
    return hd_import_done(m->ctx, m->g, node);
}

hd_status hd_shlo_emit(struct hd_shlo *m, enum hd_ir_op op, int n_in, const int *in, int *out) {
    return hd_shlo_done(m, hd_shlo_node(m, op, n_in, in, out));
}

hd_status hd_shlo_binary(struct hd_shlo *m, enum hd_ir_op op, int a, int b, int *out) {
    return hd_shlo_emit(m, op, 2, (int[]){a, b}, out);
}

hd_status hd_shlo_cast(struct hd_shlo *m, int x, hd_dtype to, int *out) {
    *out = x;
    if (m->g->tensors[x].dtype == to) return HD_OK;
    int id = hd_shlo_node(m, HD_IR_cast, 1, &x, out);
    hd_attr_set_string(m->g, id, "to", hd_dtype_name(to));
    return hd_shlo_done(m, id);
}

hd_status hd_shlo_reshape(struct hd_shlo *m, int x, int rank, const int64_t *dim, int *out) {
    int id = hd_shlo_node(m, HD_IR_reshape, 1, &x, out);
    hd_attr_set_ints(m->g, id, "shape", rank, dim);
    return hd_shlo_done(m, id);
}

hd_status hd_shlo_transpose(struct hd_shlo *m, int x, int rank, const int64_t *perm, int *out) {
    bool same = true;
    for (int i = 0; i < rank; i++) same = same && perm[i] == i;
    *out = x;
    if (same) return HD_OK;
    int id = hd_shlo_node(m, HD_IR_transpose, 1, &x, out);
    hd_attr_set_ints(m->g, id, "perm", rank, perm);
    return hd_shlo_done(m, id);
}

int hd_shlo_ints(struct hd_shlo *m, int n, const int64_t *v) {
    return hd_graph_const(m->g, hd_sprintf(m->arena, "%s.c", node_name(m)), HD_I64, 1,
                          (int64_t[]){n}, v);
}

hd_status hd_shlo_slice(struct hd_shlo *m, int x, int rank, const int64_t *from, const int64_t *to,
                        const int64_t *step, int *out) {
    int64_t axes[HD_MAX_RANK];
    *out = x;
    if (!rank) return HD_OK;
    for (int i = 0; i < rank; i++) axes[i] = i;
    int in[5] = {x, hd_shlo_ints(m, rank, from), hd_shlo_ints(m, rank, to),
                 hd_shlo_ints(m, rank, axes), hd_shlo_ints(m, rank, step)};
    return hd_shlo_emit(m, HD_IR_slice, 5, in, out);
}

hd_status hd_shlo_scalar(struct hd_shlo *m, double v, int like, int *out) {
    int wide = hd_graph_const(m->g, "c", HD_F64, 0, NULL, &v);
    return hd_shlo_cast(m, wide, m->g->tensors[like].dtype, out);
}

/* ---- scales ---- */

static hd_status scale_operands(struct hd_shlo *m, const struct hd_shlo_type *t, int in[3]) {
    int64_t n = t->n_scales;
    in[1] = hd_graph_const(m->g, "scale", HD_F32, n > 1, &n, t->scale);
    int wide = hd_graph_const(m->g, "zero", HD_I32, n > 1, &n, t->zero);
    return hd_shlo_cast(m, wide, t->dtype, &in[2]);
}

hd_status hd_shlo_dequantize(struct hd_shlo *m, const struct hd_shlo_type *t, int x, int *out) {
    int in[3] = {x};
    TRY(scale_operands(m, t, in));
    int id = hd_shlo_node(m, HD_IR_dequantize, 3, in, out);
    if (t->n_scales > 1) hd_attr_set_int(m->g, id, "axis", t->axis);
    return hd_shlo_done(m, id);
}

hd_status hd_shlo_quantize(struct hd_shlo *m, const struct hd_shlo_type *t, int x, int *out) {
    int in[3] = {x};
    if (t->dtype == HD_I32) /* sums, which no quantize makes */
        return hd_shlo_bad(m, HD_UNSUPPORTED, "a quantised result of i32");
    TRY(scale_operands(m, t, in));
    int id = hd_shlo_node(m, HD_IR_quantize, 3, in, out);
    if (t->n_scales > 1) hd_attr_set_int(m->g, id, "axis", t->axis);
    return hd_shlo_done(m, id);
}

/* ---- attributes ---- */

hd_status hd_shlo_list(struct hd_shlo *m, const char *name, int n, int64_t def, int64_t *out) {
    const char *text = hd_mlir_attr(m->op, name);
    int64_t v[4 * HD_MAX_RANK];
    int got = hd_mlir_ints(text, v, 4 * HD_MAX_RANK);
    bool splat = got == 1 && n != 1 && text && !strncmp(text, "dense<", 6);
    if (text && got != n && !splat)
        return hd_shlo_bad(m, HD_INVALID, "%s has %d values, want %d", name, got, n);
    for (int i = 0; i < n; i++) out[i] = !text ? def : v[splat ? 0 : i];
    return HD_OK;
}

int hd_shlo_member(const char *text, const char *name, int64_t *out) {
    size_t k = strlen(name);
    for (const char *p = text; p && (p = strstr(p, name)); p += k) {
        bool begins = p == text || strchr("<, \n\t", p[-1]);
        const char *q = p + k + strspn(p + k, " =");
        if (!begins || q == p + k) continue;
        size_t len = *q == '[' ? strcspn(q, "]") : strcspn(q, ",>");
        char list[200];
        if (len >= sizeof list) return -1;
        memcpy(list, q, len);
        list[len] = 0;
        return hd_mlir_ints(list, out, HD_MAX_RANK);
    }
    return 0;
}

int64_t hd_shlo_int(struct hd_shlo *m, const char *name, int64_t def) {
    int64_t v;
    return hd_mlir_ints(hd_mlir_attr(m->op, name), &v, 1) ? v : def;
}

hd_status hd_shlo_known_ints(struct hd_shlo *m, size_t i, int64_t *out, int max, int *n) {
    int x;
    TRY(hd_shlo_in(m, i, &x));
    if (m->g->tensors[x].data) TRY(hd_shlo_cast(m, x, HD_I64, &x));
    const struct hd_tensor *t = &m->g->tensors[x];
    if (!t->data || t->dtype != HD_I64)
        return hd_shlo_bad(m, HD_UNSUPPORTED,
                           "operand %zu must be known; its value depends on the "
                           "run",
                           i);
    if (hd_tensor_elems(t) > max) return hd_shlo_bad(m, HD_INVALID, "operand %zu is too long", i);
    *n = (int)hd_tensor_elems(t);
    memcpy(out, t->data, (size_t)*n * sizeof *out);
    return HD_OK;
}
