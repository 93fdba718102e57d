/* Messages of onnx.proto -> structs. No recursion: graphs in attributes stay bytes until the
 * operation that has them is imported. */
#include <string.h>

#include "compiler/import/onnx/onnx.h"

char *hd_onnx_text(hd_arena *a, const struct hd_pb_field *f) {
    return hd_strndup(a, f->wire == HD_PB_BYTES ? (const char *)f->data : "",
                      f->wire == HD_PB_BYTES ? f->bytes : 0);
}

bool hd_onnx_is_message(const struct hd_pb_field *f, uint32_t number) {
    return f->number == number && f->wire == HD_PB_BYTES;
}

static struct hd_slice slice(const struct hd_pb_field *f) {
    return (struct hd_slice){f->data, f->bytes};
}

/* ---- values: name, type, shape ---- */

static hd_status parse_dim(hd_arena *a, const struct hd_pb_field *f, struct hd_onnx_value *v) {
    struct hd_pb r = hd_pb_open(f->data, f->bytes);
    struct hd_pb_field d;
    int64_t value = -1;
    const char *param = "";
    while (hd_pb_next(&r, &d)) {
        if (d.number == 1 && d.wire == HD_PB_VARINT) value = (int64_t)d.value;
        if (hd_onnx_is_message(&d, 2)) param = hd_onnx_text(a, &d);
    }
    if (v->rank < HD_MAX_RANK) v->dim[v->rank] = value, v->param[v->rank] = param;
    v->rank++;
    return r.bad ? HD_INVALID : HD_OK;
}

/* TypeProto -> tensor_type -> shape -> dim: three fixed levels. */
static hd_status parse_type(hd_arena *a, struct hd_slice type, struct hd_onnx_value *v) {
    struct hd_pb r = hd_pb_open(type.data, type.bytes);
    struct hd_pb_field f, t, d;
    while (hd_pb_next(&r, &f)) {
        if (!hd_onnx_is_message(&f, 1)) continue;
        struct hd_pb rt = hd_pb_open(f.data, f.bytes);
        while (hd_pb_next(&rt, &t)) {
            if (t.number == 1 && t.wire == HD_PB_VARINT)
                v->elem_type = t.value < 1000 ? (int)t.value : -1;
            if (!hd_onnx_is_message(&t, 2)) continue;
            struct hd_pb rs = hd_pb_open(t.data, t.bytes);
            v->has_shape = true;
            while (hd_pb_next(&rs, &d))
                if (hd_onnx_is_message(&d, 1)) TRY(parse_dim(a, &d, v));
            if (rs.bad) return HD_INVALID;
        }
        if (rt.bad) return HD_INVALID;
    }
    return r.bad ? HD_INVALID : HD_OK;
}

static hd_status parse_value(struct hd_importer *m, const struct hd_pb_field *field,
                             struct hd_onnx_value *v) {
    struct hd_pb r = hd_pb_open(field->data, field->bytes);
    struct hd_pb_field f;
    struct hd_slice type = {0};
    *v = (struct hd_onnx_value){.name = ""};
    while (hd_pb_next(&r, &f)) {
        if (hd_onnx_is_message(&f, 1)) v->name = hd_onnx_text(m->arena, &f);
        if (hd_onnx_is_message(&f, 2)) type = slice(&f);
    }
    if (r.bad || parse_type(m->arena, type, v) != HD_OK)
        return hd_fail(m->ctx, HD_INVALID, "graph input or output '%s': damaged description",
                       v->name);
    return HD_OK;
}

/* ---- nodes ---- */

static hd_status parse_lists(struct hd_importer *m, const struct hd_pb_field *field,
                             struct hd_onnx_attr *a) {
    struct hd_pb_field f;
    size_t ni = 0, nf = 0;
    if (!a->n_ints && !a->n_floats) return HD_OK;
    uint64_t *bits = hd_new_array(m->arena, uint64_t, a->n_ints + a->n_floats);
    a->ints = hd_new_array(m->arena, int64_t, a->n_ints + 1);
    a->floats = hd_new_array(m->arena, float, a->n_floats + 1);
    struct hd_pb r = hd_pb_open(field->data, field->bytes);
    while (hd_pb_next(&r, &f)) {
        if (f.number == 8) hd_pb_numbers(&f, HD_PB_VARINT, bits, a->n_ints, &ni);
        if (f.number == 7) hd_pb_numbers(&f, HD_PB_FIXED32, bits + a->n_ints, a->n_floats, &nf);
    }
    for (size_t i = 0; i < a->n_ints; i++) a->ints[i] = (int64_t)bits[i];
    for (size_t i = 0; i < a->n_floats; i++) a->floats[i] = hd_pb_f32(bits[a->n_ints + i]);
    return HD_OK;
}

static const struct hd_onnx_attr *find_attr(const struct hd_onnx_attr *a, size_t n,
                                            const char *name) {
    for (size_t i = 0; i < n; i++)
        if (!strcmp(a[i].name, name)) return &a[i];
    return NULL;
}

/* The attribute of the call, or its default, that one in the body of a function stands for; false:
 * it is left out. */
static bool refer(const struct hd_importer *m, const char *name, struct hd_onnx_attr *a) {
    const struct hd_onnx_call *c = m->call;
    const struct hd_onnx_attr *of = c ? find_attr(c->node->attrs, c->node->n_attrs, name) : NULL;
    if (c && !of) of = find_attr(c->function->defaults, c->function->n_defaults, name);
    if (!of) return false;
    const char *own = a->name;
    *a = *of;
    a->name = own;
    return true;
}

/* *out_there: it has a value. */
static hd_status parse_attr(struct hd_importer *m, const struct hd_pb_field *field,
                            struct hd_onnx_attr *a, bool *out_there) {
    const char *of = "";
    struct hd_pb r = hd_pb_open(field->data, field->bytes);
    struct hd_pb_field f;
    size_t cap_strings = 0;
    bool ok = true;
    a->name = "";
    while (hd_pb_next(&r, &f)) {
        if (hd_onnx_is_message(&f, 1)) a->name = hd_onnx_text(m->arena, &f);
        if (f.number == 2) a->f = hd_pb_f32(f.value), a->has_f = true;
        if (f.number == 3) a->i = (int64_t)f.value, a->has_i = true;
        if (hd_onnx_is_message(&f, 4)) a->s = hd_onnx_text(m->arena, &f), a->has_s = true;
        if (hd_onnx_is_message(&f, 5)) a->t = slice(&f), a->has_t = true;
        if (hd_onnx_is_message(&f, 6)) a->g = slice(&f), a->has_g = true;
        if (f.number == 7) ok = ok && hd_pb_numbers(&f, HD_PB_FIXED32, NULL, 0, &a->n_floats);
        if (f.number == 8) ok = ok && hd_pb_numbers(&f, HD_PB_VARINT, NULL, 0, &a->n_ints);
        if (hd_onnx_is_message(&f, 9))
            *hd_push(m->arena, a->strings, a->n_strings, cap_strings) = hd_onnx_text(m->arena, &f);
        if (hd_onnx_is_message(&f, 21)) of = hd_onnx_text(m->arena, &f);
    }
    if (r.bad || !ok) return hd_fail(m->ctx, HD_INVALID, "attribute '%s' is damaged", a->name);
    *out_there = !of[0] || refer(m, of, a);
    if (of[0]) return HD_OK;
    return parse_lists(m, field, a);
}

static hd_status parse_node(struct hd_importer *m, const struct hd_pb_field *field, size_t position,
                            struct hd_onnx_node *n) {
    struct hd_pb r = hd_pb_open(field->data, field->bytes);
    struct hd_pb_field f;
    size_t cap_in = 0, cap_out = 0, cap_attrs = 0;
    bool there = true;
    *n = (struct hd_onnx_node){.name = "", .op = "", .domain = "", .overload = ""};
    while (hd_pb_next(&r, &f)) {
        if (hd_onnx_is_message(&f, 1))
            *hd_push(m->arena, n->in, n->n_in, cap_in) = hd_onnx_text(m->arena, &f);
        if (hd_onnx_is_message(&f, 2))
            *hd_push(m->arena, n->out, n->n_out, cap_out) = hd_onnx_text(m->arena, &f);
        if (hd_onnx_is_message(&f, 3)) n->name = hd_onnx_text(m->arena, &f);
        if (hd_onnx_is_message(&f, 4)) n->op = hd_onnx_text(m->arena, &f);
        if (hd_onnx_is_message(&f, 7)) n->domain = hd_onnx_text(m->arena, &f);
        if (hd_onnx_is_message(&f, 8)) n->overload = hd_onnx_text(m->arena, &f);
        if (!hd_onnx_is_message(&f, 5)) continue;
        struct hd_onnx_attr *a = hd_push(m->arena, n->attrs, n->n_attrs, cap_attrs);
        TRY(hd_note(m->ctx, parse_attr(m, &f, a, &there), "in node %zu", position));
        n->n_attrs -= !there;
    }
    if (r.bad) return hd_fail(m->ctx, HD_INVALID, "node %zu ('%s'): %s", position, n->name, r.bad);
    if (!n->op[0])
        return hd_fail(m->ctx, HD_INVALID, "node %zu ('%s') has no op", position, n->name);
    if (n->n_in > HD_MAX_OPERANDS || n->n_out > HD_MAX_OPERANDS)
        return hd_fail(m->ctx, HD_UNSUPPORTED,
                       "node %zu ('%s'): %zu inputs, %zu outputs, at most %d", position, n->name,
                       n->n_in, n->n_out, HD_MAX_OPERANDS);
    if (!n->name[0]) n->name = hd_sprintf(m->arena, "%s_%zu", n->op, position);
    return HD_OK;
}

/* ---- graphs ---- */

hd_status hd_onnx_parse_graph(struct hd_importer *m, struct hd_slice graph,
                              struct hd_onnx_graph *out) {
    struct hd_pb_field f;
    struct hd_pb r = hd_pb_open(graph.data, graph.bytes);
    size_t cap_nodes = 0, cap_inputs = 0, cap_outputs = 0, cap_initializers = 0;
    *out = (struct hd_onnx_graph){.name = "graph"};
    while (hd_pb_next(&r, &f)) {
        if (hd_onnx_is_message(&f, 1)) {
            struct hd_onnx_node *n = hd_push(m->arena, out->nodes, out->n_nodes, cap_nodes);
            TRY(parse_node(m, &f, out->n_nodes - 1, n));
        }
        if (hd_onnx_is_message(&f, 2)) out->name = hd_onnx_text(m->arena, &f);
        if (hd_onnx_is_message(&f, 5))
            *hd_push(m->arena, out->initializers, out->n_initializers, cap_initializers) =
                slice(&f);
        if (hd_onnx_is_message(&f, 11))
            TRY(parse_value(m, &f, hd_push(m->arena, out->inputs, out->n_inputs, cap_inputs)));
        if (hd_onnx_is_message(&f, 12))
            TRY(parse_value(m, &f, hd_push(m->arena, out->outputs, out->n_outputs, cap_outputs)));
        if (hd_onnx_is_message(&f, 15))
            return hd_fail(m->ctx, HD_UNSUPPORTED,
                           "the graph has sparse initializers; store them dense");
    }
    if (r.bad) return hd_fail(m->ctx, HD_INVALID, "damaged graph: %s", r.bad);
    return HD_OK;
}

/* ---- functions ---- */

static void parse_version(struct hd_importer *m, const struct hd_pb_field *field, int64_t *out) {
    struct hd_pb r = hd_pb_open(field->data, field->bytes);
    struct hd_pb_field f;
    const char *domain = "";
    int64_t version = 0;
    while (hd_pb_next(&r, &f)) {
        if (hd_onnx_is_message(&f, 1)) domain = hd_onnx_text(m->arena, &f);
        if (f.number == 2 && f.wire == HD_PB_VARINT) version = (int64_t)f.value;
    }
    if (!domain[0] || !strcmp(domain, "ai.onnx")) *out = version;
}

hd_status hd_onnx_parse_function(struct hd_importer *m, struct hd_slice function,
                                 struct hd_onnx_function *out) {
    struct hd_pb r = hd_pb_open(function.data, function.bytes);
    struct hd_pb_field f;
    size_t cap_in = 0, cap_out = 0, cap_defaults = 0;
    bool there;
    *out = (struct hd_onnx_function){.name = "", .domain = "", .overload = "", .bytes = function};
    while (hd_pb_next(&r, &f)) {
        if (hd_onnx_is_message(&f, 1)) out->name = hd_onnx_text(m->arena, &f);
        if (hd_onnx_is_message(&f, 4))
            *hd_push(m->arena, out->in, out->n_in, cap_in) = hd_onnx_text(m->arena, &f);
        if (hd_onnx_is_message(&f, 5))
            *hd_push(m->arena, out->out, out->n_out, cap_out) = hd_onnx_text(m->arena, &f);
        if (hd_onnx_is_message(&f, 9)) parse_version(m, &f, &out->opset);
        if (hd_onnx_is_message(&f, 10)) out->domain = hd_onnx_text(m->arena, &f);
        if (hd_onnx_is_message(&f, 11))
            TRY(parse_attr(m, &f, hd_push(m->arena, out->defaults, out->n_defaults, cap_defaults),
                           &there));
        if (hd_onnx_is_message(&f, 13)) out->overload = hd_onnx_text(m->arena, &f);
    }
    if (r.bad) return hd_fail(m->ctx, HD_INVALID, "function '%s' is damaged: %s", out->name, r.bad);
    return HD_OK;
}

hd_status hd_onnx_parse_body(struct hd_importer *m, const struct hd_onnx_function *fn,
                             struct hd_onnx_graph *out) {
    struct hd_pb r = hd_pb_open(fn->bytes.data, fn->bytes.bytes);
    struct hd_pb_field f;
    size_t cap = 0;
    *out = (struct hd_onnx_graph){.name = fn->name, .n_outputs = fn->n_out};
    while (hd_pb_next(&r, &f)) {
        if (!hd_onnx_is_message(&f, 7)) continue;
        struct hd_onnx_node *n = hd_push(m->arena, out->nodes, out->n_nodes, cap);
        TRY(parse_node(m, &f, out->n_nodes - 1, n));
    }
    out->outputs = hd_new_array(m->arena, struct hd_onnx_value, fn->n_out + 1);
    for (size_t i = 0; i < fn->n_out; i++) out->outputs[i].name = fn->out[i];
    return HD_OK;
}
