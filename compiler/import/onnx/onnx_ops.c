/* Arithmetic ONNX operations, the table of all, and the helpers they share. */
#include "compiler/import/onnx/onnx_ops.h"

#include <stdarg.h>
#include <string.h>

#include "compiler/import/import.h"
#include "runtime/base/num.h"

/* ---- helpers ---- */

hd_status hd_onnx_bad(struct hd_importer *m, const struct hd_onnx_node *n, hd_status code,
                      const char *fmt, ...) {
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return hd_fail(m->ctx, code, "node '%s' (%s): %s", n->name, n->op, text);
}

int hd_onnx_in(const struct hd_importer *m, const struct hd_onnx_node *n, size_t i) {
    return i < n->n_in && n->in[i][0] ? hd_scope_find(m, n->in[i]) : -1;
}

const struct hd_tensor *hd_onnx_tensor(const struct hd_importer *m, const struct hd_onnx_node *n,
                                       size_t i) {
    int t = hd_onnx_in(m, n, i);
    return t < 0 ? NULL : &m->g->tensors[t];
}

const struct hd_onnx_attr *hd_onnx_attr(const struct hd_onnx_node *n, const char *name) {
    for (size_t i = 0; i < n->n_attrs; i++)
        if (!strcmp(n->attrs[i].name, name)) return &n->attrs[i];
    return NULL;
}

int64_t hd_onnx_int(const struct hd_onnx_node *n, const char *name, int64_t def) {
    const struct hd_onnx_attr *a = hd_onnx_attr(n, name);
    return a && a->has_i ? a->i : def;
}

float hd_onnx_float(const struct hd_onnx_node *n, const char *name, float def) {
    const struct hd_onnx_attr *a = hd_onnx_attr(n, name);
    return a && a->has_f ? a->f : def;
}

hd_status hd_onnx_int_list(struct hd_importer *m, const struct hd_onnx_node *n, const char *name,
                           int i, int64_t *out, int max, int *out_n) {
    const struct hd_onnx_attr *a = hd_onnx_attr(n, name);
    const struct hd_tensor *t = i >= 0 ? hd_onnx_tensor(m, n, (size_t)i) : NULL;
    const void *data = NULL;
    *out_n = -1;
    if (!a && !t) return HD_OK;
    if (!a) TRY(hd_onnx_value(m, hd_onnx_in(m, n, (size_t)i), &data));
    if (t) t = hd_onnx_tensor(m, n, (size_t)i);
    if (!a && (!data || t->rank > 1 || (t->dtype != HD_I64 && t->dtype != HD_I32)))
        return hd_onnx_bad(m, n, data ? HD_INVALID : HD_UNSUPPORTED,
                           "%s (input %d, '%s') must be a constant list of integers", name, i,
                           t->name);
    int64_t count = a ? (int64_t)a->n_ints : hd_tensor_elems(t);
    if (count > max)
        return hd_onnx_bad(m, n, HD_UNSUPPORTED, "%s has %lld values, at most %d", name,
                           (long long)count, max);
    for (int64_t k = 0; k < count; k++)
        out[k] = a                    ? a->ints[k]
                 : t->dtype == HD_I64 ? ((const int64_t *)data)[k]
                                      : ((const int32_t *)data)[k];
    *out_n = (int)count;
    return HD_OK;
}

hd_status hd_onnx_axis(struct hd_importer *m, const struct hd_onnx_node *n, int64_t axis,
                       int64_t rank, int64_t *out) {
    if (axis < -rank || axis >= rank)
        return hd_onnx_bad(m, n, HD_INVALID, "axis %lld, allowed %lld..%lld", (long long)axis,
                           (long long)-rank, (long long)rank - 1);
    *out = axis < 0 ? axis + rank : axis;
    return HD_OK;
}

int hd_onnx_out(const struct hd_importer *m, const struct hd_onnx_node *n, size_t i) {
    return i < n->n_out && n->out[i][0] ? hd_scope_find(m, n->out[i]) : -1;
}

const char *hd_onnx_string(const struct hd_onnx_node *n, const char *name, const char *def) {
    const struct hd_onnx_attr *a = hd_onnx_attr(n, name);
    return a && a->has_s ? a->s : def;
}

int hd_onnx_const(struct hd_importer *m, const struct hd_onnx_node *n, const char *suffix,
                  hd_dtype t, int rank, const int64_t *dim, const void *data) {
    return hd_graph_const(m->g, hd_sprintf(m->arena, "%s.%s", n->name, suffix), t, rank, dim, data);
}

hd_status hd_onnx_const_like(struct hd_importer *m, const struct hd_onnx_node *n,
                             const char *suffix, double v, int like, int *out) {
    struct hd_tensor x = m->g->tensors[like];
    if (!x.known)
        return hd_onnx_bad(m, n, HD_UNSUPPORTED,
                           "the type of '%s' depends on the values of the run; give some with "
                           "--inputs",
                           x.name);
    float f = (float)v;
    int wide = hd_onnx_const(m, n, suffix, HD_F32, 0, NULL, &f);
    *out = wide;
    if (x.dtype == HD_F32) return HD_OK;
    int id = hd_onnx_emit_inner(m, n, HD_IR_cast, suffix, 1, &wide, out);
    hd_attr_set_string(m->g, id, "to", hd_dtype_name(x.dtype));
    return hd_onnx_done(m, id);
}

int hd_onnx_ints_in(struct hd_importer *m, const struct hd_onnx_node *n, size_t i,
                    const char *name) {
    const struct hd_onnx_attr *a = hd_onnx_attr(n, name);
    int t = hd_onnx_in(m, n, i);
    if (t >= 0 || !a) return t;
    return hd_onnx_const(m, n, name, HD_I64, 1, (int64_t[]){(int64_t)a->n_ints}, a->ints);
}

static const char *joined(hd_arena *arena, const struct hd_onnx_attr *a) {
    const char *s = a->strings[0];
    for (size_t i = 1; i < a->n_strings; i++) s = hd_sprintf(arena, "%s,%s", s, a->strings[i]);
    return s;
}

void hd_onnx_copy_attrs(struct hd_importer *m, const struct hd_onnx_node *n, int node,
                        const char *const *names) {
    for (size_t i = 0; i < n->n_attrs; i++) {
        const struct hd_onnx_attr *a = &n->attrs[i];
        bool wanted = !names;
        for (size_t k = 0; names && names[k]; k++) wanted = wanted || !strcmp(names[k], a->name);
        if (!wanted || a->n_ints > INT32_MAX || a->n_floats > INT32_MAX) continue;
        if (a->has_i) hd_attr_set_int(m->g, node, a->name, a->i);
        if (a->has_f) hd_attr_set_float(m->g, node, a->name, a->f);
        if (a->has_s) hd_attr_set_string(m->g, node, a->name, a->s);
        if (a->n_ints) hd_attr_set_ints(m->g, node, a->name, (int)a->n_ints, a->ints);
        if (a->n_floats) hd_attr_set_floats(m->g, node, a->name, (int)a->n_floats, a->floats);
        if (a->n_strings) hd_attr_set_string(m->g, node, a->name, joined(m->arena, a));
    }
}

int hd_onnx_emit(struct hd_importer *m, const struct hd_onnx_node *n, enum hd_ir_op op, int n_in,
                 const int *in) {
    int n_out = (int)hd_min((int64_t)n->n_out, hd_ir_ops[op].max_out);
    int *out = hd_new_array(m->arena, int, (size_t)n_out + 1);
    for (int i = 0; i < n_out; i++) out[i] = hd_onnx_out(m, n, (size_t)i);
    while (n_out > 1 && out[n_out - 1] < 0) n_out--;
    if (n_out == 1 && out[0] < 0) /* all that is wanted are outputs that the operation lacks */
        out[0] = hd_graph_tensor(m->g, n->name, HD_F32, 0, NULL);
    while (n_in > hd_ir_ops[op].min_in && in[n_in - 1] < 0) n_in--;
    return hd_graph_node(m->g, op, n->name, n_in, in, n_out, out);
}

int hd_onnx_emit_inner(struct hd_importer *m, const struct hd_onnx_node *n, enum hd_ir_op op,
                       const char *suffix, int n_in, const int *in, int *out_tensor) {
    const char *name = hd_sprintf(m->arena, "%s.%s", n->name, suffix);
    int out = hd_graph_tensor(m->g, name, HD_F32, 0, NULL);
    while (n_in > hd_ir_ops[op].min_in && in[n_in - 1] < 0) n_in--;
    int id = hd_graph_node(m->g, op, name, n_in, in, 1, &out);
    *out_tensor = out; /* which may be one of in */
    return id;
}

hd_status hd_onnx_done(struct hd_importer *m, int node) {
    TRY(hd_graph_infer_node(m->ctx, m->g, node));
    const struct hd_node *nd = &m->g->nodes[node];
    for (int i = 0; m->run && i < nd->n_out; i++)
        if (nd->out[i] >= 0 && !m->g->tensors[nd->out[i]].known) return hd_onnx_resolve(m, node);
    return hd_import_done(m->ctx, m->g, node);
}

/* ---- table ---- */

static const struct {
    const char *domain, *name;
    size_t min_in, max_in;
    hd_status (*import)(struct hd_importer *m, const struct hd_onnx_node *n); /* NULL: `same` */
    enum hd_ir_op same;
    bool any; /* operands may have unknown shapes */
} table[] = {
#define ONNX_OP(name, min_in, max_in, doc)                                                         \
    {"", #name, min_in, max_in, import_##name, HD_IR_OPS, false},
#define ONNX_ANY(name, min_in, max_in, doc)                                                        \
    {"", #name, min_in, max_in, import_##name, HD_IR_OPS, true},
#define ONNX_MS(name, min_in, max_in, doc)                                                         \
    {"com.microsoft", #name, min_in, max_in, import_ms_##name, HD_IR_OPS, false},
#define ONNX_TRAINING(name, min_in, max_in, doc)                                                   \
    {"ai.onnx.preview.training", #name, min_in, max_in, import_training_##name, HD_IR_OPS, false},
#define ONNX_QONNX(name, min_in, max_in, doc)                                                      \
    {"qonnx", #name, min_in, max_in, import_qonnx_##name, HD_IR_OPS, false},
#define ONNX_SAME(name, min_in, max_in, op) {"", #name, min_in, max_in, NULL, HD_IR_##op, true},
#define ONNX_HEDDLE(name, min_in, max_in, op)                                                      \
    {"heddle", #name, min_in, max_in, NULL, HD_IR_##op, true},
#include "compiler/import/onnx/onnx_ops.def"
};

static hd_status import_same(struct hd_importer *m, const struct hd_onnx_node *n,
                             enum hd_ir_op op) {
    int *in = hd_new_array(m->arena, int, n->n_in + 1);
    for (size_t i = 0; i < n->n_in; i++) in[i] = hd_onnx_in(m, n, i);
    int id = hd_onnx_emit(m, n, op, (int)n->n_in, in);
    hd_onnx_copy_attrs(m, n, id, NULL);
    return hd_onnx_done(m, id);
}

static hd_status want_shapes(struct hd_importer *m, const struct hd_onnx_node *n) {
    for (size_t i = 0; i < n->n_in; i++) {
        const struct hd_tensor *t = hd_onnx_tensor(m, n, i);
        if (t && !t->known)
            return hd_onnx_bad(
                m, n, HD_UNSUPPORTED,
                "the shape of input %zu ('%s') depends on the values of the run; give "
                "some with --inputs (quantize: --calibrate)",
                i, t->name);
    }
    return HD_OK;
}

static bool nobody_wants(const struct hd_onnx_node *n) {
    for (size_t i = 0; i < n->n_out; i++)
        if (n->out[i][0]) return false;
    return true;
}

/* As the table has it: that of ONNX, and those which QONNX had over the years. */
static const char *domain_of(const struct hd_onnx_node *n) {
    static const char *const qonnx[] = {"qonnx.custom_op.general", "onnx.brevitas",
                                        "finn.custom_op.general"};
    for (size_t i = 0; i < sizeof qonnx / sizeof *qonnx; i++)
        if (!strcmp(n->domain, qonnx[i])) return "qonnx";
    return !strcmp(n->domain, "ai.onnx") ? "" : n->domain;
}

hd_status hd_onnx_import_node(struct hd_importer *m, const struct hd_onnx_node *n) {
    const char *domain = domain_of(n);
    const struct hd_onnx_function *f = hd_onnx_function(m, n);
    if (f) return hd_onnx_call_function(m, n, f);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (strcmp(table[i].name, n->op) || strcmp(table[i].domain, domain)) continue;
        if (n->n_in < table[i].min_in || n->n_in > table[i].max_in)
            return hd_onnx_bad(m, n, HD_INVALID, "%zu inputs, allowed %zu..%zu", n->n_in,
                               table[i].min_in, table[i].max_in);
        for (size_t k = 0; k < table[i].min_in; k++)
            if (!n->in[k][0])
                return hd_onnx_bad(m, n, HD_INVALID, "input %zu is left out, but required", k);
        if (!n->n_out) return hd_onnx_bad(m, n, HD_INVALID, "it has no output");
        if (nobody_wants(n)) return HD_OK;
        if (!table[i].import) return import_same(m, n, table[i].same);
        if (!table[i].any) TRY(want_shapes(m, n));
        return table[i].import(m, n);
    }
    const char *opset = "no opset";
    for (size_t i = 0; i < m->model->n_opsets; i++)
        if (!strcmp(m->model->opsets[i].domain, domain))
            opset = hd_sprintf(m->arena, "opset %lld", (long long)m->model->opsets[i].version);
    return hd_onnx_bad(m, n, HD_UNSUPPORTED,
                       "operation %s of domain '%s' (%s) is not supported; 'heddle ops' "
                       "lists those that are",
                       n->op, domain[0] ? domain : "ai.onnx", opset);
}
