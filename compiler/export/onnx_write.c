/* Graph -> ONNX: the inverse of compiler/import for what a graph can hold after it. */
#include <string.h>

#include "compiler/export/export.h"
#include "compiler/export/open.h"
#include "compiler/export/proto.h"

enum {
    OPSET = 17,
    ATTR_FLOAT = 1,
    ATTR_INT,
    ATTR_STRING,
    ATTR_TENSOR,
    ATTR_FLOATS = 6,
    ATTR_INTS,
    ATTR_STRINGS
};

struct writer {
    hd_ctx *ctx;
    const hd_graph *g, *other; /* other: for other sizes; NULL = all dimensions are closed */
    int opset;
    struct hd_buf nodes, consts; /* fields of GraphProto */
    bool *written;               /* per tensor: is among consts */
    hd_arena *arena;
};

static const struct {
    enum hd_ir_op op;
    const char *name;
} names[] = {
#define ONNX_SAME(name, min_in, max_in, op) {HD_IR_##op, #name},
#include "compiler/import/onnx/onnx_ops.def"
#define EXPORT(op, name) {HD_IR_##op, #name},
#include "compiler/export/onnx_names.def"
};

#define DOMAIN "heddle" /* of what ONNX has not */

static const char *onnx_name(enum hd_ir_op op) {
    const char *name = NULL; /* of several the last: older names come first */
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].op == op) name = names[i].name;
    return name;
}

static bool is_reduction(enum hd_ir_op op) {
    return op >= HD_IR_reducesum && op <= HD_IR_reducesumsquare;
}

static const struct hd_tensor *operand(const struct writer *w, const struct hd_node *n, int i) {
    return i < n->n_in && n->in[i] >= 0 ? &w->g->tensors[n->in[i]] : NULL;
}

/* Dilations that say nothing: average pools have had them since opset 19 only. */
static bool plain_dilations(const struct hd_node *n) {
    const struct hd_attr *a = hd_attr_get(n, "dilations");
    for (int i = 0; a && i < a->n; i++)
        if (a->ints[i] != 1) return false;
    return true;
}

/* The first opset from 17 on that has node n as it is. */
static int opset_of(const struct writer *w, const struct hd_node *n) {
    static const struct {
        enum hd_ir_op op;
        int opset;
    } newer[] = {
#define NEWER(op, opset) {HD_IR_##op, opset},
#include "compiler/export/onnx_names.def"
    };
    for (size_t i = 0; i < sizeof newer / sizeof *newer; i++)
        if (newer[i].op == n->op) return newer[i].opset;
    const struct hd_tensor *axes = operand(w, n, 1), *zero = operand(w, n, 2);
    if (is_reduction(n->op) && n->op != HD_IR_reducesum && axes && !axes->data) return 18;
    if (n->op == HD_IR_pad && operand(w, n, 3)) return 18;
    if (n->op == HD_IR_resize && (hd_attr_get(n, "antialias") || hd_attr_get(n, "axes") ||
                                  hd_attr_get(n, "keep_aspect_ratio_policy")))
        return 18;
    if (n->op == HD_IR_avgpool && !plain_dilations(n)) return 19;
    bool quantiser = n->op == HD_IR_quantize || n->op == HD_IR_dequantize;
    if (quantiser && zero && (zero->dtype == HD_I16 || zero->dtype == HD_U16)) return 21;
    return OPSET;
}

/* ---- attributes ---- */

static void end_attr(struct hd_buf *node, struct hd_buf *a, const char *name, int type) {
    hd_proto_str(a, 1, name);
    hd_proto_int(a, 20, type);
    hd_proto_message(node, 5, a);
}

static void put_int(struct hd_buf *node, const char *name, int64_t v) {
    struct hd_buf a = {0};
    hd_proto_int(&a, 3, v);
    end_attr(node, &a, name, ATTR_INT);
}

static void put_ints(struct hd_buf *node, const char *name, const int64_t *v, int64_t n) {
    struct hd_buf a = {0};
    for (int64_t i = 0; i < n; i++) hd_proto_int(&a, 8, v[i]);
    end_attr(node, &a, name, ATTR_INTS);
}

/* "Sigmoid,Tanh" as a list. */
static void put_strings(struct hd_buf *node, const char *name, const char *list) {
    struct hd_buf a = {0};
    for (const char *p = list; *p; p += *p == ',') {
        size_t n = strcspn(p, ",");
        hd_proto_bytes(&a, 9, p, n);
        p += n;
    }
    end_attr(node, &a, name, ATTR_STRINGS);
}

static void put_attr(struct hd_buf *node, const struct hd_attr *v) {
    struct hd_buf a = {0};
    switch (v->kind) {
    case HD_ATTR_INT:
        put_int(node, v->name, v->i);
        break;
    case HD_ATTR_INTS:
        put_ints(node, v->name, v->ints, v->n);
        break;
    case HD_ATTR_FLOAT:
        hd_proto_float(&a, 2, v->f);
        end_attr(node, &a, v->name, ATTR_FLOAT);
        break;
    case HD_ATTR_FLOATS:
        for (int i = 0; i < v->n; i++) hd_proto_float(&a, 7, v->floats[i]);
        end_attr(node, &a, v->name, ATTR_FLOATS);
        break;
    case HD_ATTR_STRING:
        hd_proto_str(&a, 4, v->s);
        end_attr(node, &a, v->name, ATTR_STRING);
        break;
    case HD_ATTR_GRAPH: /* refused before */
        break;
    }
}

/* Attributes that ONNX spells in another way, or not at all. True: done with it. */
static bool special_attr(struct hd_buf *node, const struct hd_node *n, const struct hd_attr *v) {
    if (!strcmp(v->name, "to")) {
        bool is_cast = n->op == HD_IR_cast;
        put_int(node, is_cast ? "to" : "dtype", hd_dtype_to_onnx((hd_dtype)hd_dtype_by_name(v->s)));
        return true;
    }
    if (!strcmp(v->name, "activations")) {
        put_strings(node, v->name, v->s);
        return true;
    }
    return (n->op == HD_IR_reshape && !strcmp(v->name, "shape")) ||
           (n->op == HD_IR_avgpool && !strcmp(v->name, "dilations") && plain_dilations(n));
}

/* ---- nodes ---- */

static void put_const(struct writer *w, int t) {
    if (w->written[t]) return;
    w->written[t] = true;
    hd_proto_tensor(&w->consts, 5, &w->g->tensors[t], w->g->tensors[t].name);
}

static void put_operand(struct writer *w, struct hd_buf *node, int t) {
    hd_proto_str(node, 1, t < 0 ? "" : w->g->tensors[t].name);
    if (t >= 0 && w->g->tensors[t].data) put_const(w, t);
}

/* Operands that are attributes in ONNX, and the reverse. Sets how many operands are left. */
static hd_status special_operands(struct writer *w, const struct hd_node *n, struct hd_buf *node,
                                  int *n_in) {
    const struct hd_tensor *b = operand(w, n, 1), *c = operand(w, n, 2);
    if (n->op == HD_IR_reshape && n->n_in == 1) {
        const struct hd_attr *shape = hd_attr_get(n, "shape");
        int64_t any[HD_MAX_RANK];
        struct hd_tensor t = {.dtype = HD_I64, .rank = 1, .dim = {shape->n}, .data = shape->ints};
        if (w->other && hd_open_reshape(w->g, w->other, (int)(n - w->g->nodes), any)) t.data = any;
        const char *name = hd_sprintf(w->arena, "%s/shape", n->name);
        hd_proto_str(node, 1, w->g->tensors[n->in[0]].name);
        hd_proto_str(node, 1, name);
        hd_proto_tensor(&w->consts, 5, &t, name);
        if (w->g->tensors[n->in[0]].data) put_const(w, n->in[0]);
        *n_in = 0;
    }
    if (is_reduction(n->op) && n->op != HD_IR_reducesum && b && w->opset < 18) {
        put_ints(node, "axes", b->data, hd_tensor_elems(b));
        *n_in = 1;
    }
    if (n->op == HD_IR_dequantize && c && c->dtype == HD_I32) *n_in = 2; /* it is zero */
    if (n->op == HD_IR_split && !b && w->opset >= 18) put_int(node, "num_outputs", n->n_out);
    if (n->op == HD_IR_fill) {
        if (!b->data)
            return hd_fail(w->ctx, HD_UNSUPPORTED, "node '%s' (fill): its value is not constant",
                           n->name);
        struct hd_buf a = {0};
        struct hd_tensor one = *b;
        one.rank = 1, one.dim[0] = 1;
        hd_proto_tensor(&a, 5, &one, NULL);
        end_attr(node, &a, "value", ATTR_TENSOR);
        *n_in = 1;
    }
    return HD_OK;
}

/* One of the nodes as which an operation is written that ONNX lacks; b NULL: of one operand; y
 * NULL: its result has a name of its own, which is returned. */
static const char *put_part(struct writer *w, const struct hd_node *n, const char *op,
                            const char *a, const char *b, const char *y) {
    struct hd_buf node = {0};
    const char *name = hd_sprintf(w->arena, "%s/%s", n->name, op);
    if (!y) y = name;
    hd_proto_str(&node, 1, a);
    if (b) hd_proto_str(&node, 1, b);
    hd_proto_str(&node, 2, y);
    hd_proto_str(&node, 3, name);
    hd_proto_str(&node, 4, op);
    hd_proto_message(&w->nodes, 1, &node);
    return y;
}

static const char *put_vector(struct writer *w, const struct hd_node *n, const char *what,
                              hd_dtype type, const void *data) {
    struct hd_tensor t = {.dtype = type, .rank = 1, .dim = {1}, .data = data};
    const char *name = hd_sprintf(w->arena, "%s/%s", n->name, what);
    hd_proto_tensor(&w->consts, 5, &t, name);
    return name;
}

/* x / sqrt(mean of x^2 + epsilon) * scale over the last dimension, which opset 17 has no name for.
 */
static void put_rms(struct writer *w, const struct hd_node *n) {
    const struct hd_graph *g = w->g;
    const char *x = g->tensors[n->in[0]].name;
    float two = 2, epsilon = hd_attr_float(n, "epsilon", 1e-5f);
    int64_t last = g->tensors[n->in[0]].rank - 1;
    struct hd_buf mean = {0};
    const char *square = put_part(w, n, "Pow", x, put_vector(w, n, "two", HD_F32, &two), NULL);
    const char *of = hd_sprintf(w->arena, "%s/ReduceMean", n->name);
    hd_proto_str(&mean, 1, square);
    if (w->opset >= 18) hd_proto_str(&mean, 1, put_vector(w, n, "last", HD_I64, &last));
    hd_proto_str(&mean, 2, of);
    hd_proto_str(&mean, 3, of);
    hd_proto_str(&mean, 4, "ReduceMean");
    if (w->opset < 18) put_ints(&mean, "axes", &last, 1);
    hd_proto_message(&w->nodes, 1, &mean);
    const char *sum =
        put_part(w, n, "Add", of, put_vector(w, n, "epsilon", HD_F32, &epsilon), NULL);
    const char *root = put_part(w, n, "Sqrt", sum, NULL, NULL);
    const char *ratio = put_part(w, n, "Div", x, root, NULL);
    put_part(w, n, "Mul", ratio, g->tensors[n->in[1]].name, g->tensors[n->out[0]].name);
    for (int i = 0; i < 2; i++)
        if (g->tensors[n->in[i]].data) put_const(w, n->in[i]);
}

static hd_status put_node(struct writer *w, int id) {
    const struct hd_node *n = &w->g->nodes[id];
    struct hd_buf node = {0};
    const char *name = onnx_name(n->op);
    int n_in = n->n_in;
    if (n->op == HD_IR_layernorm && !hd_attr_int(n, "centred", 1)) {
        put_rms(w, n);
        return HD_OK;
    }
    if (!name)
        return hd_fail(
            w->ctx, HD_UNSUPPORTED,
            "node '%s' (%s): cannot be written as ONNX; allowed are operations that ONNX "
            "has, without control flow",
            n->name, hd_ir_ops[n->op].name);
    hd_status s = special_operands(w, n, &node, &n_in);
    for (int i = 0; i < n_in; i++) put_operand(w, &node, n->in[i]);
    for (int i = 0; i < n->n_out; i++)
        hd_proto_str(&node, 2, n->out[i] < 0 ? "" : w->g->tensors[n->out[i]].name);
    hd_proto_str(&node, 3, n->name);
    hd_proto_str(&node, 4, name);
    if (n->op == HD_IR_expression) hd_proto_str(&node, 7, DOMAIN);
    for (int i = 0; i < n->n_attrs; i++)
        if (!special_attr(&node, n, &n->attrs[i])) put_attr(&node, &n->attrs[i]);
    hd_proto_message(&w->nodes, 1, &node);
    return s;
}

/* ---- model ---- */

/* The name in the file of size d of a graph input (its number), or of what has the sizes of a
 * tensor in both graphs; NULL: it has none, or may have several. */
static const char *size_name(const struct writer *w, int input, int tensor, int d) {
    const hd_graph *g = w->g, *o = w->other;
    const char *found = NULL;
    for (int k = 0; k < g->n_open && g->open_name; k++) {
        int of = g->open[k] / HD_MAX_RANK, x = g->inputs[of], at = g->open[k] % HD_MAX_RANK;
        const char *name = g->open_name[k];
        if (input >= 0 && of == input && at == d) return name;
        if (input >= 0 || g->tensors[x].dim[at] != g->tensors[tensor].dim[d] ||
            o->tensors[x].dim[at] != o->tensors[tensor].dim[d])
            continue;
        if (!name || (found && strcmp(found, name))) return NULL;
        found = name;
    }
    return found;
}

static void put_value(struct writer *w, struct hd_buf *graph, int field, int input, int tensor) {
    const struct hd_tensor *t = &w->g->tensors[tensor];
    const char *sizes[HD_MAX_RANK] = {0};
    for (int d = 0; d < t->rank && w->other; d++) sizes[d] = size_name(w, input, tensor, d);
    hd_proto_value(graph, field, t, w->other ? &w->other->tensors[tensor] : NULL, sizes);
}

static void put_model(struct writer *w, struct hd_buf *out) {
    static const int ir_version[] = {8, 8, 9, 9, 10}; /* of opset 17, 18, .. */
    struct hd_buf graph = {0}, opset = {0};
    const hd_graph *g = w->g;
    for (size_t i = 0; i < g->n_outputs; i++)
        if (g->tensors[g->outputs[i]].data) put_const(w, g->outputs[i]);
    hd_buf_put(&graph, w->nodes.data, w->nodes.n);
    hd_proto_str(&graph, 2, g->name && g->name[0] ? g->name : "network");
    if (w->consts.n) hd_buf_put(&graph, w->consts.data, w->consts.n);
    for (size_t i = 0; i < g->n_inputs; i++) put_value(w, &graph, 11, (int)i, g->inputs[i]);
    for (size_t i = 0; i < g->n_outputs; i++) put_value(w, &graph, 12, -1, g->outputs[i]);
    hd_proto_int(out, 1, ir_version[w->opset - OPSET]);
    hd_proto_str(out, 2, "heddle");
    hd_proto_message(out, 7, &graph);
    hd_proto_str(&opset, 1, "");
    hd_proto_int(&opset, 2, w->opset);
    hd_proto_message(out, 8, &opset);
    bool custom = false;
    for (size_t i = 0; i < g->n_nodes; i++)
        custom = custom || (!g->nodes[i].dead && g->nodes[i].op == HD_IR_expression);
    if (!custom) return;
    struct hd_buf ours = {0};
    hd_proto_str(&ours, 1, DOMAIN);
    hd_proto_int(&ours, 2, 1);
    hd_proto_message(out, 8, &ours);
}

hd_status hd_export_onnx(hd_ctx *ctx, const hd_graph *g, const char *path) {
    return hd_export_onnx_open(ctx, g, NULL, path);
}

hd_status hd_export_onnx_open(hd_ctx *ctx, const hd_graph *g, const hd_graph *other,
                              const char *path) {
    struct writer w = {
        .ctx = ctx, .g = g, .other = other, .opset = OPSET, .arena = hd_arena_create()};
    struct hd_buf file = {0};
    int *order = hd_new_array(w.arena, int, g->n_nodes + 1);
    w.written = hd_new_array(w.arena, bool, g->n_tensors + 1);
    size_t n = hd_graph_order(g, order);
    hd_status s = HD_OK;
    for (size_t i = 0; i < n; i++) {
        int opset = opset_of(&w, &g->nodes[order[i]]);
        w.opset = opset > w.opset ? opset : w.opset;
    }
    for (size_t i = 0; i < n && s == HD_OK; i++) s = put_node(&w, order[i]);
    if (s == HD_OK) {
        put_model(&w, &file);
        s = hd_file_write(ctx, path, file.data, file.n);
    }
    hd_buf_free(&w.nodes);
    hd_buf_free(&w.consts);
    hd_buf_free(&file);
    hd_arena_destroy(w.arena);
    return hd_note(ctx, s, "while writing %s", path);
}
