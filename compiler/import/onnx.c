/* ONNX ModelProto -> graph as written. Nodes one by one in file order, which ONNX requires to be a
 * topological one; what an op becomes is in onnx_ops.c. */
#include "compiler/import/onnx.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compiler/compiler.h"
#include "compiler/import/import.h"
#include "compiler/import/tensor_pb.h"

struct value_info {
    const char *name;
    int elem_type, rank;
    bool has_shape;
    int64_t dim[HD_MAX_RANK + 1]; /* -1 = a name or nothing */
};

static char *text(hd_arena *a, const struct hd_pb_field *f) {
    return hd_strndup(a, f->wire == HD_PB_BYTES ? (const char *)f->data : "",
                      f->wire == HD_PB_BYTES ? f->bytes : 0);
}

static bool is_message(const struct hd_pb_field *f, uint32_t number) {
    return f->number == number && f->wire == HD_PB_BYTES;
}

/* ---- values: name, type, shape ---- */

static hd_status parse_dim(const struct hd_pb_field *f, struct value_info *v) {
    struct hd_pb r = hd_pb_open(f->data, f->bytes);
    struct hd_pb_field d;
    int64_t value = -1;
    while (hd_pb_next(&r, &d))
        if (d.number == 1 && d.wire == HD_PB_VARINT) value = (int64_t)d.value;
    if (v->rank <= HD_MAX_RANK) v->dim[v->rank] = value;
    v->rank++;
    return r.bad ? HD_INVALID : HD_OK;
}

/* TypeProto -> tensor_type -> shape -> dim: three fixed levels. */
static hd_status parse_type(struct hd_slice type, struct value_info *v) {
    struct hd_pb r = hd_pb_open(type.data, type.bytes);
    struct hd_pb_field f, t, d;
    while (hd_pb_next(&r, &f)) {
        if (!is_message(&f, 1)) continue;
        struct hd_pb rt = hd_pb_open(f.data, f.bytes);
        while (hd_pb_next(&rt, &t)) {
            if (t.number == 1 && t.wire == HD_PB_VARINT)
                v->elem_type = t.value < 1000 ? (int)t.value : -1;
            if (!is_message(&t, 2)) continue;
            struct hd_pb rs = hd_pb_open(t.data, t.bytes);
            v->has_shape = true;
            while (hd_pb_next(&rs, &d))
                if (is_message(&d, 1)) TRY(parse_dim(&d, v));
            if (rs.bad) return HD_INVALID;
        }
        if (rt.bad) return HD_INVALID;
    }
    return r.bad ? HD_INVALID : HD_OK;
}

static hd_status parse_value(struct hd_importer *m, const struct hd_pb_field *field,
                             struct value_info *v) {
    struct hd_pb r = hd_pb_open(field->data, field->bytes);
    struct hd_pb_field f;
    struct hd_slice type = {0};
    *v = (struct value_info){.name = ""};
    while (hd_pb_next(&r, &f)) {
        if (is_message(&f, 1)) v->name = text(m->arena, &f);
        if (is_message(&f, 2)) type = (struct hd_slice){f.data, f.bytes};
    }
    if (r.bad || parse_type(type, v) != HD_OK)
        return hd_fail(m->ctx, HD_INVALID, "graph input or output '%s': damaged description",
                       v->name);
    return HD_OK;
}

/* A graph input that is no initializer. A dimension without a number becomes 1 when it is the
 * first. */
static hd_status add_input(struct hd_importer *m, struct value_info *v) {
    int t = hd_dtype_from_onnx(v->elem_type);
    if (t < 0)
        return hd_fail(m->ctx, HD_UNSUPPORTED,
                       "graph input '%s': ONNX data type %d, allowed 1..7 and 9..13", v->name,
                       v->elem_type);
    if (!v->has_shape)
        return hd_fail(m->ctx, HD_UNSUPPORTED,
                       "graph input '%s' has no shape; export with a fixed shape", v->name);
    if (v->rank > HD_MAX_RANK)
        return hd_fail(m->ctx, HD_UNSUPPORTED, "graph input '%s': rank %d, at most %d", v->name,
                       v->rank, HD_MAX_RANK);
    if (v->rank && v->dim[0] == -1) v->dim[0] = 1; /* the batch */
    for (int i = 1; i < v->rank; i++)
        if (v->dim[i] == -1)
            return hd_fail(m->ctx, HD_UNSUPPORTED,
                           "graph input '%s': dimension %d has no number; only the first (the "
                           "batch, taken as 1) "
                           "may be open; export with a fixed shape",
                           v->name, i);
    TRY(hd_shape_check(m->ctx, v->name, (hd_dtype)t, v->rank, v->dim));
    if (hd_tensor_by_name(m->g, v->name) >= 0)
        return hd_fail(m->ctx, HD_INVALID, "graph input '%s' appears twice", v->name);
    hd_graph_input(m->g, hd_graph_tensor(m->g, v->name, (hd_dtype)t, v->rank, v->dim));
    return HD_OK;
}

static hd_status add_initializer(struct hd_importer *m, const struct hd_pb_field *f) {
    struct hd_tensor_pb t;
    TRY(hd_note(m->ctx,
                hd_tensor_pb_parse(m->ctx, NULL, f->data, f->bytes, m->borrow, m->g->arena, &t),
                "while reading the initializers"));
    if (!t.name[0] || hd_tensor_by_name(m->g, t.name) >= 0)
        return hd_fail(m->ctx, HD_INVALID, "initializer '%s': the name is empty or appears twice",
                       t.name);
    int id = hd_graph_tensor(m->g, t.name, t.dtype, t.rank, t.dim);
    m->g->tensors[id].data = t.data;
    return HD_OK;
}

/* ---- nodes ---- */

static hd_status parse_attr(struct hd_importer *m, const struct hd_pb_field *field,
                            struct hd_onnx_attr *a) {
    struct hd_pb r = hd_pb_open(field->data, field->bytes);
    struct hd_pb_field f;
    bool ok = true;
    size_t cap_strings = 0;
    a->name = "";
    while (hd_pb_next(&r, &f)) {
        if (is_message(&f, 1)) a->name = text(m->arena, &f);
        if (f.number == 2) a->f = hd_pb_f32(f.value), a->has_f = true;
        if (f.number == 3) a->i = (int64_t)f.value, a->has_i = true;
        if (is_message(&f, 4)) a->s = text(m->arena, &f), a->has_s = true;
        if (is_message(&f, 5)) a->t = (struct hd_slice){f.data, f.bytes}, a->has_t = true;
        if (f.number == 7) ok = ok && hd_pb_numbers(&f, HD_PB_FIXED32, NULL, 0, &a->n_floats);
        if (f.number == 8) ok = ok && hd_pb_numbers(&f, HD_PB_VARINT, NULL, 0, &a->n_ints);
        if (is_message(&f, 9))
            *hd_push(m->arena, a->strings, a->n_strings, cap_strings) = text(m->arena, &f);
    }
    if (r.bad || !ok) return hd_fail(m->ctx, HD_INVALID, "attribute '%s' is damaged", a->name);
    if (!a->n_ints && !a->n_floats) return HD_OK;
    uint64_t *bits = hd_new_array(m->arena, uint64_t, a->n_ints + a->n_floats);
    a->ints = hd_new_array(m->arena, int64_t, a->n_ints + 1);
    a->floats = hd_new_array(m->arena, float, a->n_floats + 1);
    size_t ni = 0, nf = 0;
    r = hd_pb_open(field->data, field->bytes);
    while (hd_pb_next(&r, &f)) {
        if (f.number == 8) hd_pb_numbers(&f, HD_PB_VARINT, bits, a->n_ints, &ni);
        if (f.number == 7) hd_pb_numbers(&f, HD_PB_FIXED32, bits + a->n_ints, a->n_floats, &nf);
    }
    for (size_t i = 0; i < a->n_ints; i++) a->ints[i] = (int64_t)bits[i];
    for (size_t i = 0; i < a->n_floats; i++) a->floats[i] = hd_pb_f32(bits[a->n_ints + i]);
    return HD_OK;
}

static hd_status parse_node(struct hd_importer *m, const struct hd_pb_field *field, size_t position,
                            struct hd_onnx_node *n) {
    struct hd_pb r = hd_pb_open(field->data, field->bytes);
    struct hd_pb_field f;
    size_t cap_in = 0, cap_out = 0, cap_attrs = 0;
    *n = (struct hd_onnx_node){.name = "", .op = "", .domain = ""};
    while (hd_pb_next(&r, &f)) {
        if (is_message(&f, 1)) *hd_push(m->arena, n->in, n->n_in, cap_in) = text(m->arena, &f);
        if (is_message(&f, 2)) *hd_push(m->arena, n->out, n->n_out, cap_out) = text(m->arena, &f);
        if (is_message(&f, 3)) n->name = text(m->arena, &f);
        if (is_message(&f, 4)) n->op = text(m->arena, &f);
        if (is_message(&f, 7)) n->domain = text(m->arena, &f);
        if (is_message(&f, 5))
            TRY(hd_note(m->ctx,
                        parse_attr(m, &f, hd_push(m->arena, n->attrs, n->n_attrs, cap_attrs)),
                        "in node %zu", position));
    }
    if (r.bad) return hd_fail(m->ctx, HD_INVALID, "node %zu ('%s'): %s", position, n->name, r.bad);
    if (!n->op[0])
        return hd_fail(m->ctx, HD_INVALID, "node %zu ('%s') has no op", position, n->name);
    if (!n->name[0]) n->name = hd_sprintf(m->arena, "%s_%zu", n->op, position);
    return HD_OK;
}

/* Names are taken before anything is generated, so that generated names never shadow the file's. */
static hd_status declare_outputs(struct hd_importer *m, const struct hd_onnx_node *n) {
    for (size_t i = 0; i < n->n_out; i++) {
        if (!n->out[i][0]) continue;
        if (hd_tensor_by_name(m->g, n->out[i]) >= 0)
            return hd_fail(m->ctx, HD_INVALID,
                           "node '%s' (%s): output '%s' is already an input, a constant or another "
                           "node's output",
                           n->name, n->op, n->out[i]);
        hd_graph_tensor(m->g, n->out[i], HD_F32, 0, NULL);
    }
    return HD_OK;
}

/* Every input must be there by now: the file lists nodes in topological order. */
static hd_status check_inputs(struct hd_importer *m, const struct hd_onnx_node *n) {
    for (size_t i = 0; i < n->n_in; i++) {
        int t = n->in[i][0] ? hd_tensor_by_name(m->g, n->in[i]) : -1;
        if (n->in[i][0] && t < 0)
            return hd_fail(m->ctx, HD_INVALID,
                           "node '%s' (%s): input %zu ('%s') is no graph input, no initializer and "
                           "no node's output",
                           n->name, n->op, i, n->in[i]);
        if (t >= 0 && !m->g->tensors[t].known && m->g->tensors[t].producer < 0)
            return hd_fail(
                m->ctx, HD_INVALID,
                "node '%s' (%s): input %zu ('%s') is not computed by an earlier node: the nodes "
                "form a cycle or are out of order, or it is an optional output that is not "
                "supported",
                n->name, n->op, i, n->in[i]);
    }
    return HD_OK;
}

static hd_status add_outputs(struct hd_importer *m, const struct value_info *v, size_t n) {
    for (size_t i = 0; i < n; i++) {
        int t = hd_tensor_by_name(m->g, v[i].name);
        if (t < 0 || (!m->g->tensors[t].known && m->g->tensors[t].producer < 0))
            return hd_fail(m->ctx, HD_INVALID, "graph output '%s' is produced by nothing",
                           v[i].name);
        if (v[i].elem_type && m->g->tensors[t].known &&
            hd_dtype_from_onnx(v[i].elem_type) != (int)m->g->tensors[t].dtype)
            return hd_fail(m->ctx, HD_INVALID,
                           "graph output '%s': declared as ONNX data type %d, but it is %s",
                           v[i].name, v[i].elem_type, hd_dtype_name(m->g->tensors[t].dtype));
        hd_graph_output(m->g, t);
    }
    return HD_OK;
}

static hd_status import_graph(struct hd_importer *m, struct hd_slice graph) {
    struct hd_onnx_node *nodes = NULL;
    struct value_info *outs = NULL;
    size_t n_nodes = 0, cap_nodes = 0, n_outs = 0, cap_outs = 0;
    struct hd_pb_field f;
    struct hd_pb r = hd_pb_open(graph.data, graph.bytes);
    while (hd_pb_next(&r, &f)) { /* initializers first: an input of the same name is a default */
        if (is_message(&f, 5)) TRY(add_initializer(m, &f));
        if (is_message(&f, 15))
            return hd_fail(m->ctx, HD_UNSUPPORTED,
                           "the graph has sparse initializers; store them dense");
        if (is_message(&f, 2)) m->g->name = text(m->g->arena, &f);
    }
    if (r.bad) return hd_fail(m->ctx, HD_INVALID, "damaged graph: %s", r.bad);
    r = hd_pb_open(graph.data, graph.bytes);
    while (hd_pb_next(&r, &f)) {
        if (is_message(&f, 1)) {
            struct hd_onnx_node *n = hd_push(m->arena, nodes, n_nodes, cap_nodes);
            TRY(parse_node(m, &f, n_nodes - 1, n));
        }
        if (is_message(&f, 12)) TRY(parse_value(m, &f, hd_push(m->arena, outs, n_outs, cap_outs)));
        if (!is_message(&f, 11)) continue;
        struct value_info v;
        TRY(parse_value(m, &f, &v));
        int known = hd_tensor_by_name(m->g, v.name);
        if (known < 0 || !m->g->tensors[known].data) TRY(add_input(m, &v));
    }
    if (!n_outs) return hd_fail(m->ctx, HD_INVALID, "the graph has no outputs");
    for (size_t i = 0; i < n_nodes; i++) TRY(declare_outputs(m, &nodes[i]));
    for (size_t i = 0; i < n_nodes; i++) {
        TRY(check_inputs(m, &nodes[i]));
        TRY(hd_onnx_import_node(m, &nodes[i]));
    }
    return add_outputs(m, outs, n_outs);
}

/* ---- model ---- */

static void parse_opset(struct hd_importer *m, const struct hd_pb_field *field) {
    struct hd_pb r = hd_pb_open(field->data, field->bytes);
    struct hd_pb_field f;
    char *domain = "";
    int64_t version = 0;
    while (hd_pb_next(&r, &f)) {
        if (is_message(&f, 1)) domain = text(m->arena, &f);
        if (f.number == 2 && f.wire == HD_PB_VARINT) version = (int64_t)f.value;
    }
    if (!domain[0] || !strcmp(domain, "ai.onnx")) m->opset = version;
}

static hd_status import_model(struct hd_importer *m, const void *data, size_t bytes) {
    struct hd_pb r = hd_pb_open(data, bytes);
    struct hd_pb_field f;
    struct hd_slice graph = {0};
    int64_t ir_version = 0;
    while (hd_pb_next(&r, &f)) {
        if (f.number == 1 && f.wire == HD_PB_VARINT) ir_version = (int64_t)f.value;
        if (is_message(&f, 7)) graph = (struct hd_slice){f.data, f.bytes};
        if (is_message(&f, 8)) parse_opset(m, &f);
    }
    if (r.bad && !graph.data)
        return hd_fail(m->ctx, HD_INVALID, "not an ONNX model, or cut short: %s", r.bad);
    if (r.bad) return hd_fail(m->ctx, HD_INVALID, "damaged after the graph: %s", r.bad);
    if (!graph.data || ir_version < 1)
        return hd_fail(m->ctx, HD_INVALID, "not an ONNX model: it holds no %s",
                       graph.data ? "IR version" : "graph");
    if (m->opset < HD_ONNX_OPSET_MIN || m->opset > HD_ONNX_OPSET_MAX)
        return hd_fail(m->ctx, HD_UNSUPPORTED,
                       "opset %lld, allowed %d..%d; convert with onnx.version_converter",
                       (long long)m->opset, HD_ONNX_OPSET_MIN, HD_ONNX_OPSET_MAX);
    TRY(import_graph(m, graph));
    return hd_graph_verify(m->ctx, m->g);
}

static hd_status import_into(hd_ctx *ctx, hd_graph *g, const void *data, size_t bytes,
                             bool borrow) {
    struct hd_importer m = {.ctx = ctx, .g = g, .arena = hd_arena_create(), .borrow = borrow};
    hd_status s = import_model(&m, data, bytes);
    hd_arena_destroy(m.arena);
    return s;
}

hd_status hd_import_onnx_memory(hd_ctx *ctx, const void *data, size_t bytes, const char *name,
                                hd_graph **out) {
    hd_graph *g = hd_graph_create();
    hd_status s = import_into(ctx, g, data, bytes, false);
    if (s == HD_OK)
        *out = g;
    else
        hd_graph_destroy(g);
    return hd_note(ctx, s, "while importing %s", name);
}

struct mapping {
    void *data;
    size_t bytes;
};

static void unmap(void *file) {
    struct mapping *m = file;
    munmap(m->data, m->bytes);
    free(m);
}

static hd_status map_file(hd_ctx *ctx, const char *path, struct mapping *out) {
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return hd_fail(ctx, HD_IO, "%s: %s", path, strerror(errno));
    hd_status s = HD_OK;
    if (fstat(fd, &st) || !S_ISREG(st.st_mode))
        s = hd_fail(ctx, HD_IO, "%s: not a regular file", path);
    else if (st.st_size == 0)
        s = hd_fail(ctx, HD_INVALID, "%s: the file is empty", path);
    else {
        out->bytes = (size_t)st.st_size;
        out->data = mmap(NULL, out->bytes, PROT_READ, MAP_PRIVATE, fd, 0);
        if (out->data == MAP_FAILED)
            s = hd_fail(ctx, HD_IO, "%s: cannot be mapped: %s", path, strerror(errno));
    }
    close(fd);
    return s;
}

hd_status hd_import_onnx(hd_ctx *ctx, const char *path, hd_graph **out) {
    struct mapping map, *keep = malloc(sizeof *keep);
    HD_ASSERT(keep != NULL);
    hd_status s = map_file(ctx, path, &map);
    if (s != HD_OK) {
        free(keep);
        return s;
    }
    *keep = map;
    hd_graph *g = hd_graph_create();
    g->file = keep;
    g->file_free = unmap;
    s = import_into(ctx, g, map.data, map.bytes, true);
    if (s == HD_OK)
        *out = g;
    else
        hd_graph_destroy(g);
    return hd_note(ctx, s, "while importing %s", path);
}
