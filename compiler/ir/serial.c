/* Binary form of a graph: the GRAPH section of a model.
 *
 *   graph   u32 version, name, u32 specialised, tensors, nodes, inputs, outputs; a list is a u32
 *           count and its items
 *   tensor  name, u32 dtype, u32 rank, u64 dim[rank], u32 flags (1 constant, 2 shape unknown);
 *           of constants u64 bytes, zeros up to a multiple of 8 from the beginning, data
 *   node    name, u32 op name (as text), u32 dead, ids in, ids out, attributes
 *
 * Ids survive: dead nodes keep their place (without operands), and constants that nothing reads
 * lose their data only. Operations are stored by name, so rows of ops.def may move. */
#include <stdlib.h>
#include <string.h>

#include "compiler/ir/ir.h"
#include "runtime/base/io.h"
#include "runtime/base/num.h"

enum { SERIAL_VERSION = 4, MIN_ITEM_BYTES = 4, DATA_ALIGN = 8 };

/* ---- write
 * --------------------------------------------------------------------------------------- */

static void put_ids(struct hd_buf *b, size_t n, const int *ids) {
    hd_buf_u32(b, (uint32_t)n);
    for (size_t i = 0; i < n; i++) hd_buf_u32(b, (uint32_t)ids[i]);
}

static void put_tensor(struct hd_buf *b, const hd_graph *g, int id) {
    const struct hd_tensor *t = &g->tensors[id];
    bool value = t->data && (hd_graph_users(g, id, NULL, 0) > 0 || hd_graph_is_output(g, id));
    hd_buf_str(b, t->name);
    hd_buf_u32(b, (uint32_t)t->dtype);
    hd_buf_u32(b, (uint32_t)t->rank);
    for (int i = 0; i < t->rank; i++) {
        hd_buf_u64(b, (uint64_t)t->dim[i]);
        hd_buf_u32(b, (uint32_t)t->axis[i]);
    }
    hd_buf_u32(b, value ? 1 : !t->known ? 2 : t->initial ? 3 : 0);
    if (value || t->initial) {
        static const char zeros[DATA_ALIGN];
        hd_buf_u64(b, hd_tensor_bytes(t));
        hd_buf_put(b, zeros, (DATA_ALIGN - b->n % DATA_ALIGN) % DATA_ALIGN);
        hd_buf_put(b, value ? t->data : t->initial, hd_tensor_bytes(t));
    }
}

static void put_graph(struct hd_buf *b, const hd_graph *g);

static void put_attr(struct hd_buf *b, const struct hd_attr *a) {
    uint32_t bits;
    hd_buf_str(b, a->name);
    hd_buf_u32(b, (uint32_t)a->kind);
    switch (a->kind) {
    case HD_ATTR_INT:
        hd_buf_u64(b, (uint64_t)a->i);
        break;
    case HD_ATTR_FLOAT:
        memcpy(&bits, &a->f, 4);
        hd_buf_u32(b, bits);
        break;
    case HD_ATTR_STRING:
        hd_buf_str(b, a->s);
        break;
    case HD_ATTR_INTS:
        hd_buf_u32(b, (uint32_t)a->n);
        for (int i = 0; i < a->n; i++) hd_buf_u64(b, (uint64_t)a->ints[i]);
        break;
    case HD_ATTR_FLOATS:
        hd_buf_u32(b, (uint32_t)a->n);
        hd_buf_put(b, a->floats, sizeof *a->floats * (size_t)a->n);
        break;
    case HD_ATTR_GRAPH:
        put_graph(b, a->graph);
    }
}

static void put_node(struct hd_buf *b, const struct hd_node *n) {
    hd_buf_str(b, n->name);
    hd_buf_str(b, hd_ir_ops[n->op].name);
    hd_buf_u32(b, n->dead);
    put_ids(b, n->dead ? 0 : (size_t)n->n_in, n->in);
    put_ids(b, n->dead ? 0 : (size_t)n->n_out, n->out);
    put_ids(b, n->dead ? 0 : (size_t)n->n_after, n->after);
    hd_buf_u32(b, n->dead ? 0 : (uint32_t)n->n_attrs);
    for (int i = 0; !n->dead && i < n->n_attrs; i++) put_attr(b, &n->attrs[i]);
}

static void put_graph(struct hd_buf *b, const hd_graph *g) {
    hd_buf_u32(b, SERIAL_VERSION);
    hd_buf_str(b, g->name);
    hd_buf_u32(b, g->specialised);
    hd_buf_u32(b, (uint32_t)g->n_axes);
    for (size_t i = 0; i < g->n_axes; i++) {
        hd_buf_str(b, g->axes[i].name);
        hd_buf_u64(b, (uint64_t)g->axes[i].length);
    }
    hd_buf_u32(b, (uint32_t)g->n_tensors);
    for (size_t i = 0; i < g->n_tensors; i++) put_tensor(b, g, (int)i);
    hd_buf_u32(b, (uint32_t)g->n_nodes);
    for (size_t i = 0; i < g->n_nodes; i++) put_node(b, &g->nodes[i]);
    put_ids(b, g->n_inputs, g->inputs);
    put_ids(b, g->n_outputs, g->outputs);
}

hd_status hd_graph_save(hd_ctx *ctx, const hd_graph *g, void **out, size_t *out_bytes) {
    struct hd_buf b = {0};
    (void)ctx;
    put_graph(&b, g);
    *out = b.data;
    *out_bytes = b.n;
    return HD_OK;
}

/* ---- read
 * ---------------------------------------------------------------------------------------- */

struct reader {
    hd_ctx *ctx;
    struct hd_cursor c;
    hd_graph *g;
    int depth; /* of nested graphs */
};

static hd_status bad(struct reader *r, const char *what) {
    return hd_fail(r->ctx, HD_INVALID,
                   "graph section: %s at byte %zu of %zu; compile the model again", what, r->c.at,
                   r->c.n);
}

static hd_status get_tensor(struct reader *r) {
    int64_t dim[HD_MAX_RANK] = {0};
    const char *name = hd_cursor_str(&r->c, r->g->arena);
    uint32_t dtype = hd_cursor_u32(&r->c), rank = hd_cursor_u32(&r->c);
    if (r->c.bad || dtype >= HD_DTYPES || rank > HD_MAX_RANK) return bad(r, "bad tensor");
    int axis[HD_MAX_RANK] = {0};
    for (uint32_t i = 0; i < rank; i++) {
        dim[i] = (int64_t)hd_cursor_u64(&r->c);
        axis[i] = (int)hd_cursor_u32(&r->c); /* checked by verify */
    }
    TRY(hd_shape_check(r->ctx, name, (hd_dtype)dtype, (int)rank, dim));
    int id = hd_graph_tensor(r->g, name, (hd_dtype)dtype, (int)rank, dim);
    if (strcmp(r->g->tensors[id].name, name) != 0) return bad(r, "two tensors of one name");
    uint32_t kind = hd_cursor_u32(&r->c);
    if (r->c.bad || kind > 3) return bad(r, "bad tensor");
    memcpy(r->g->tensors[id].axis, axis, sizeof axis);
    r->g->tensors[id].known = kind != 2;
    if (kind == 0 || kind == 2) return HD_OK;
    size_t want = hd_tensor_bytes(&r->g->tensors[id]);
    if (hd_cursor_u64(&r->c) != want) return bad(r, "constant of the wrong size");
    hd_cursor_take(&r->c, (DATA_ALIGN - r->c.at % DATA_ALIGN) % DATA_ALIGN);
    const void *data = hd_cursor_take(&r->c, want), *copy = data;
    if (!data) return bad(r, "constant cut short");
    if ((uintptr_t)data % DATA_ALIGN) {
        char *own = hd_alloc(r->g->arena, want + 1);
        if (want) memcpy(own, data, want);
        copy = own;
    }
    *(kind == 1 ? &r->g->tensors[id].data : &r->g->tensors[id].initial) = copy;
    return HD_OK;
}

/* A list of ids below `limit`; -1 is allowed where `absent` says so. */
static hd_status get_ids(struct reader *r, size_t limit, bool absent, int **out, int *out_n) {
    int n = hd_cursor_count(&r->c, MIN_ITEM_BYTES);
    if (r->c.bad) return bad(r, "bad list");
    *out = hd_new_array(r->g->arena, int, (size_t)n + 1);
    *out_n = n;
    for (int i = 0; i < n; i++) {
        uint32_t id = hd_cursor_u32(&r->c);
        if (id >= limit && !(absent && id == UINT32_MAX)) return bad(r, "id out of range");
        (*out)[i] = (int)id;
    }
    return HD_OK;
}

static hd_status get_graph(struct reader *r);

static hd_status get_subgraph(struct reader *r, int node, const char *name) {
    hd_graph *outer = r->g;
    if (r->depth == HD_MAX_NESTING) return bad(r, "graphs nested too deep");
    r->g = hd_graph_create();
    hd_attr_set_graph(outer, node, name, r->g);
    r->depth++;
    hd_status s = get_graph(r);
    r->depth--;
    r->g = outer;
    return s;
}

static hd_status get_attr(struct reader *r, int node) {
    const char *name = hd_cursor_str(&r->c, r->g->arena);
    uint32_t kind = hd_cursor_u32(&r->c), bits;
    int n;
    float f;
    switch (kind) {
    case HD_ATTR_INT:
        hd_attr_set_int(r->g, node, name, (int64_t)hd_cursor_u64(&r->c));
        break;
    case HD_ATTR_FLOAT:
        bits = hd_cursor_u32(&r->c);
        memcpy(&f, &bits, 4);
        hd_attr_set_float(r->g, node, name, f);
        break;
    case HD_ATTR_STRING:
        hd_attr_set_string(r->g, node, name, hd_cursor_str(&r->c, r->g->arena));
        break;
    case HD_ATTR_INTS: {
        n = hd_cursor_count(&r->c, 8);
        int64_t *v = hd_new_array(r->g->arena, int64_t, (size_t)n + 1);
        for (int i = 0; i < n; i++) v[i] = (int64_t)hd_cursor_u64(&r->c);
        hd_attr_set_ints(r->g, node, name, n, v);
        break;
    }
    case HD_ATTR_FLOATS: {
        n = hd_cursor_count(&r->c, 4);
        float *v = hd_new_array(r->g->arena, float, (size_t)n + 1);
        const void *data = hd_cursor_take(&r->c, (uint64_t)n * 4);
        if (data) memcpy(v, data, (size_t)n * 4);
        hd_attr_set_floats(r->g, node, name, n, v);
        break;
    }
    case HD_ATTR_GRAPH:
        TRY(get_subgraph(r, node, name));
        break;
    default:
        return bad(r, "bad attribute");
    }
    return r->c.bad ? bad(r, "attribute cut short") : HD_OK;
}

static hd_status get_node(struct reader *r) {
    const char *name = hd_cursor_str(&r->c, r->g->arena),
               *op_name = hd_cursor_str(&r->c, r->g->arena);
    bool dead = hd_cursor_u32(&r->c) != 0;
    int op = hd_ir_op_by_name(op_name), *in, *out, *after, n_in, n_out, n_after;
    if (r->c.bad || op < 0) return bad(r, "unknown operation");
    TRY(get_ids(r, r->g->n_tensors, true, &in, &n_in));
    TRY(get_ids(r, r->g->n_tensors, true, &out, &n_out));
    TRY(get_ids(r, UINT32_MAX, false, &after, &n_after)); /* checked by verify */
    int id = hd_graph_node(r->g, (enum hd_ir_op)op, name, n_in, in, n_out, out);
    for (int i = 0; i < n_after; i++) hd_graph_after(r->g, id, after[i]);
    if (dead) hd_graph_kill(r->g, id);
    int n = hd_cursor_count(&r->c, MIN_ITEM_BYTES);
    for (int i = 0; i < n; i++) TRY(get_attr(r, id));
    return r->c.bad ? bad(r, "node cut short") : HD_OK;
}

static hd_status get_graph(struct reader *r) {
    int *ids, n;
    if (hd_cursor_u32(&r->c) != SERIAL_VERSION) return bad(r, "another version");
    r->g->name = hd_cursor_str(&r->c, r->g->arena);
    r->g->specialised = hd_cursor_u32(&r->c) != 0;
    n = hd_cursor_count(&r->c, MIN_ITEM_BYTES);
    for (int i = 0; i < n; i++) {
        const char *axis = hd_cursor_str(&r->c, r->g->arena);
        int64_t length = (int64_t)hd_cursor_u64(&r->c);
        if (r->c.bad || hd_graph_axis(r->g, axis, length) != i) return bad(r, "bad axis");
    }
    n = hd_cursor_count(&r->c, MIN_ITEM_BYTES);
    for (int i = 0; i < n; i++) TRY(get_tensor(r));
    n = hd_cursor_count(&r->c, MIN_ITEM_BYTES);
    for (int i = 0; i < n; i++) TRY(get_node(r));
    TRY(get_ids(r, r->g->n_tensors, false, &ids, &n));
    for (int i = 0; i < n; i++) hd_graph_input(r->g, ids[i]);
    TRY(get_ids(r, r->g->n_tensors, false, &ids, &n));
    for (int i = 0; i < n; i++) hd_graph_output(r->g, ids[i]);
    return r->c.bad ? bad(r, "cut short") : HD_OK;
}

hd_status hd_graph_load(hd_ctx *ctx, const void *data, size_t bytes, hd_graph **out) {
    struct reader r = {ctx, {.data = data, .n = bytes}, hd_graph_create(), 0};
    hd_status s = get_graph(&r);
    if (s == HD_OK && r.c.at != r.c.n) s = bad(&r, "bytes behind the end");
    if (s == HD_OK) s = hd_graph_verify(ctx, r.g);
    if (s == HD_OK)
        *out = r.g;
    else
        hd_graph_destroy(r.g);
    return s;
}

void hd_graph_copy_open(const hd_graph *g, hd_graph *to) {
    if (!g->n_open) return;
    size_t n = (size_t)g->n_open;
    const char **name = hd_new_array(to->arena, const char *, n);
    for (size_t i = 0; i < n; i++)
        if (g->open_name && g->open_name[i]) name[i] = hd_strdup(to->arena, g->open_name[i]);
    to->open = hd_dup(to->arena, g->open, n * sizeof *g->open);
    to->open_name = name, to->n_open = g->n_open;
}

hd_status hd_graph_copy(hd_ctx *ctx, const hd_graph *g, hd_graph **out) {
    void *data = NULL;
    size_t bytes = 0;
    TRY(hd_graph_save(ctx, g, &data, &bytes));
    hd_status s = hd_graph_load(ctx, data, bytes, out);
    if (s != HD_OK) {
        free(data);
        return s;
    }
    hd_arena_own((*out)->arena, data);
    hd_graph_copy_open(g, *out);
    return HD_OK;
}
