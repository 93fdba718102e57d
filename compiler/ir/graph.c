/* The graph itself: build, edit, look up, order. Shapes are in infer.c, checks in verify.c. */
#include "compiler/ir/ir.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/num.h"

const struct hd_ir_op_info hd_ir_ops[HD_IR_OPS] = {
#define OP(name, min_in, max_in, max_out, doc)                                                     \
    [HD_IR_##name] = {#name, doc, min_in, max_in, max_out},
#include "compiler/ir/ops.def"
};

int hd_ir_op_by_name(const char *name) {
    for (int i = 0; i < HD_IR_OPS; i++)
        if (!strcmp(hd_ir_ops[i].name, name)) return i;
    return -1;
}

hd_graph *hd_graph_create(void) {
    hd_arena *a = hd_arena_create();
    hd_graph *g = hd_new(a, hd_graph);
    g->arena = a;
    g->name = "graph";
    return g;
}

void hd_graph_destroy(hd_graph *g) {
    if (!g) return;
    for (size_t i = 0; i < g->n_subgraphs; i++) hd_graph_destroy(g->subgraphs[i]);
    if (g->file_free) g->file_free(g->file);
    hd_arena_destroy(g->arena); /* g itself lies in it */
}

/* ---- names: open addressing, id + 1 per slot, names are never removed ---- */

static const char *name_of(const hd_graph *g, const struct hd_names *index, int id) {
    return index == &g->tensor_names ? g->tensors[id].name : g->nodes[id].name;
}

static size_t name_slot(const hd_graph *g, const struct hd_names *index, const char *name) {
    size_t i = hd_hash(HD_HASH_INIT, name, strlen(name)) & (index->cap - 1);
    while (index->slot[i] && strcmp(name_of(g, index, index->slot[i] - 1), name))
        i = (i + 1) & (index->cap - 1);
    return i;
}

static int name_find(const hd_graph *g, const struct hd_names *index, const char *name) {
    return index->cap ? index->slot[name_slot(g, index, name)] - 1 : -1;
}

static void name_insert(hd_graph *g, struct hd_names *index, const char *name, int id) {
    if ((index->n + 1) * 2 > index->cap) {
        struct hd_names old = *index;
        index->cap = old.cap ? old.cap * 2 : 64;
        index->slot = hd_new_array(g->arena, int, index->cap);
        for (size_t i = 0; i < old.cap; i++)
            if (old.slot[i])
                index->slot[name_slot(g, index, name_of(g, index, old.slot[i] - 1))] = old.slot[i];
    }
    index->slot[name_slot(g, index, name)] = id + 1;
    index->n++;
}

/* A copy of `name`, made unique by a number when it is taken. */
static const char *name_unique(hd_graph *g, const struct hd_names *index, const char *name) {
    if (name_find(g, index, name) < 0) return hd_strdup(g->arena, name);
    for (size_t i = index->n;; i++) {
        const char *s = hd_sprintf(g->arena, "%s_%zu", name, i);
        if (name_find(g, index, s) < 0) return s;
    }
}

int hd_tensor_by_name(const hd_graph *g, const char *name) {
    return name_find(g, &g->tensor_names, name);
}

int hd_node_by_name(const hd_graph *g, const char *name) {
    return name_find(g, &g->node_names, name);
}

int hd_graph_tensor(hd_graph *g, const char *name, hd_dtype t, int rank, const int64_t *dim) {
    HD_ASSERT(rank >= 0 && rank <= HD_MAX_RANK);
    name = name_unique(g, &g->tensor_names, name);
    struct hd_tensor *x = hd_push(g->arena, g->tensors, g->n_tensors, g->cap_tensors);
    *x = (struct hd_tensor){
        .name = name, .dtype = t, .rank = rank, .known = dim != NULL, .producer = -1};
    for (int i = 0; dim && i < rank; i++) x->dim[i] = dim[i];
    int id = (int)g->n_tensors - 1;
    name_insert(g, &g->tensor_names, name, id);
    return id;
}

int hd_graph_const(hd_graph *g, const char *name, hd_dtype t, int rank, const int64_t *dim,
                   const void *data) {
    static const int64_t none[1] = {0};
    int id = hd_graph_tensor(g, name, t, rank, dim ? dim : none);
    g->tensors[id].data = hd_dup(g->arena, data, hd_tensor_bytes(&g->tensors[id]));
    return id;
}

int hd_graph_const_f32(hd_graph *g, const char *name, int n, const float *v) {
    return hd_graph_const(g, name, HD_F32, 1, (int64_t[]){n}, v);
}

int hd_graph_const_i32(hd_graph *g, const char *name, int n, const int32_t *v) {
    return hd_graph_const(g, name, HD_I32, 1, (int64_t[]){n}, v);
}

int hd_graph_node(hd_graph *g, enum hd_ir_op op, const char *name, int n_in, const int *in,
                  int n_out, const int *out) {
    name = name_unique(g, &g->node_names, name && name[0] ? name : hd_ir_ops[op].name);
    struct hd_node *n = hd_push(g->arena, g->nodes, g->n_nodes, g->cap_nodes);
    int id = (int)g->n_nodes - 1;
    *n = (struct hd_node){.name = name, .op = op, .n_in = n_in, .n_out = n_out, .source = -1};
    n->in = hd_dup(g->arena, in, (size_t)n_in * sizeof *in);
    n->out = hd_dup(g->arena, out, (size_t)n_out * sizeof *out);
    for (int i = 0; i < n_out; i++)
        if (out[i] >= 0) g->tensors[out[i]].producer = id;
    name_insert(g, &g->node_names, name, id);
    return id;
}

int hd_graph_variable(hd_graph *g, const char *name, hd_dtype t, int rank, const int64_t *dim,
                      const void *initial) {
    static const int64_t none[1] = {0};
    int id = hd_graph_tensor(g, name, t, rank, dim ? dim : none);
    size_t bytes = hd_tensor_bytes(&g->tensors[id]);
    char *copy = hd_alloc(g->arena, bytes + 1);
    if (bytes) memcpy(copy, initial, bytes);
    g->tensors[id].initial = copy;
    return id;
}

void hd_graph_after(hd_graph *g, int node, int before) {
    struct hd_node *n = &g->nodes[node];
    int *more = hd_new_array(g->arena, int, (size_t)n->n_after + 1);
    if (n->n_after) memcpy(more, n->after, (size_t)n->n_after * sizeof *more);
    more[n->n_after++] = before;
    n->after = more;
}

void hd_graph_input(hd_graph *g, int tensor) {
    *hd_push(g->arena, g->inputs, g->n_inputs, g->cap_inputs) = tensor;
}

void hd_graph_output(hd_graph *g, int tensor) {
    *hd_push(g->arena, g->outputs, g->n_outputs, g->cap_outputs) = tensor;
}

/* ---- attributes ---- */

const struct hd_attr *hd_attr_get(const struct hd_node *n, const char *name) {
    for (int i = 0; i < n->n_attrs; i++)
        if (!strcmp(n->attrs[i].name, name)) return &n->attrs[i];
    return NULL;
}

static struct hd_attr *attr_set(hd_graph *g, int node, const char *name, enum hd_attr_kind kind) {
    struct hd_node *n = &g->nodes[node];
    struct hd_attr *a = NULL;
    for (int i = 0; i < n->n_attrs; i++)
        if (!strcmp(n->attrs[i].name, name)) a = &n->attrs[i];
    if (!a) {
        struct hd_attr *more = hd_new_array(g->arena, struct hd_attr, (size_t)n->n_attrs + 1);
        if (n->n_attrs) memcpy(more, n->attrs, (size_t)n->n_attrs * sizeof *more);
        n->attrs = more;
        a = &more[n->n_attrs++];
        a->name = hd_strdup(g->arena, name);
    }
    *a = (struct hd_attr){.name = a->name, .kind = kind};
    return a;
}

void hd_attr_remove(hd_graph *g, int node, const char *name) {
    struct hd_node *n = &g->nodes[node];
    for (int i = 0; i < n->n_attrs; i++)
        if (!strcmp(n->attrs[i].name, name)) {
            memmove(&n->attrs[i], &n->attrs[i + 1],
                    (size_t)(n->n_attrs - 1 - i) * sizeof *n->attrs);
            n->n_attrs--;
            return;
        }
}

void hd_attr_set_int(hd_graph *g, int node, const char *name, int64_t v) {
    attr_set(g, node, name, HD_ATTR_INT)->i = v;
}

void hd_attr_set_float(hd_graph *g, int node, const char *name, float v) {
    attr_set(g, node, name, HD_ATTR_FLOAT)->f = v;
}

void hd_attr_set_ints(hd_graph *g, int node, const char *name, int n, const int64_t *v) {
    struct hd_attr *a = attr_set(g, node, name, HD_ATTR_INTS);
    a->n = n;
    a->ints = hd_dup(g->arena, v, (size_t)n * sizeof *v);
}

void hd_attr_set_floats(hd_graph *g, int node, const char *name, int n, const float *v) {
    struct hd_attr *a = attr_set(g, node, name, HD_ATTR_FLOATS);
    a->n = n;
    a->floats = hd_dup(g->arena, v, (size_t)n * sizeof *v);
}

void hd_attr_set_string(hd_graph *g, int node, const char *name, const char *v) {
    attr_set(g, node, name, HD_ATTR_STRING)->s = hd_strdup(g->arena, v);
}

void hd_attr_set_graph(hd_graph *g, int node, const char *name, hd_graph *v) {
    attr_set(g, node, name, HD_ATTR_GRAPH)->graph = v;
    *hd_push(g->arena, g->subgraphs, g->n_subgraphs, g->cap_subgraphs) = v;
}

int64_t hd_attr_int(const struct hd_node *n, const char *name, int64_t def) {
    const struct hd_attr *a = hd_attr_get(n, name);
    return a && a->kind == HD_ATTR_INT ? a->i : def;
}

float hd_attr_float(const struct hd_node *n, const char *name, float def) {
    const struct hd_attr *a = hd_attr_get(n, name);
    return a && a->kind == HD_ATTR_FLOAT ? a->f : def;
}

const char *hd_attr_string(const struct hd_node *n, const char *name, const char *def) {
    const struct hd_attr *a = hd_attr_get(n, name);
    return a && a->kind == HD_ATTR_STRING ? a->s : def;
}

hd_graph *hd_attr_graph(const struct hd_node *n, const char *name) {
    const struct hd_attr *a = hd_attr_get(n, name);
    return a && a->kind == HD_ATTR_GRAPH ? a->graph : NULL;
}

int hd_attr_ints(const struct hd_node *n, const char *name, int64_t *out, int max, int64_t def) {
    const struct hd_attr *a = hd_attr_get(n, name);
    int found = a && a->kind == HD_ATTR_INTS ? a->n : 0;
    for (int i = 0; i < max; i++) out[i] = i < found ? a->ints[i] : def;
    return found;
}

/* ---- questions ---- */

const char *hd_shape_text(const struct hd_tensor *t, char out[HD_SHAPE_TEXT]) {
    if (!t->known) return strcpy(out, "unknown");
    int n = snprintf(out, HD_SHAPE_TEXT, "%s[", hd_dtype_name(t->dtype));
    for (int i = 0; i < t->rank; i++)
        n += snprintf(out + n, HD_SHAPE_TEXT - (size_t)n, "%s%lld", i ? "," : "",
                      (long long)t->dim[i]);
    return strcat(out, "]");
}

int64_t hd_tensor_elems(const struct hd_tensor *t) {
    int64_t n = 1;
    for (int i = 0; i < t->rank; i++) n *= t->dim[i];
    return n;
}

size_t hd_tensor_bytes(const struct hd_tensor *t) {
    return (size_t)hd_tensor_elems(t) * hd_dtype_bytes(t->dtype);
}

size_t hd_graph_users(const hd_graph *g, int tensor, int *out, size_t max) {
    size_t n = 0;
    for (size_t i = 0; i < g->n_nodes; i++) {
        const struct hd_node *nd = &g->nodes[i];
        for (int k = 0; !nd->dead && k < nd->n_in; k++) {
            if (nd->in[k] != tensor) continue;
            if (n < max) out[n] = (int)i;
            n++;
            break;
        }
    }
    return n;
}

int *hd_graph_all_users(const hd_graph *g, int tensor, hd_arena *a, size_t *out_n) {
    *out_n = hd_graph_users(g, tensor, NULL, 0);
    int *users = hd_new_array(a, int, *out_n + 1);
    hd_graph_users(g, tensor, users, *out_n);
    return users;
}

int hd_graph_unshaped(const hd_graph *g, int t) {
    for (int maker; (maker = g->tensors[t].producer) >= 0; t = g->nodes[maker].in[0])
        if (g->nodes[maker].op != HD_IR_reshape) break;
    return t;
}

bool hd_is_pair(enum hd_ir_op op) {
#define QPAIR(name, ...) || op == HD_IR_##name
    return false
#include "compiler/ir/qpair.def"
        ;
}

bool hd_same_shape(const struct hd_tensor *a, const struct hd_tensor *b) {
    return a->rank == b->rank && !memcmp(a->dim, b->dim, (size_t)a->rank * sizeof *a->dim);
}

double hd_pixels_left(const hd_graph *g, int x, int y) {
    const struct hd_tensor *a = &g->tensors[x], *b = &g->tensors[y];
    if (a->rank != b->rank || a->rank < 3 || !a->dim[1] || !b->dim[1]) return 1;
    double before = (double)hd_tensor_elems(a) / (double)a->dim[1],
           after = (double)hd_tensor_elems(b) / (double)b->dim[1];
    return after < before ? after / before : 1;
}

int hd_graph_only_user(const hd_graph *g, int tensor) {
    int user[2];
    return !hd_graph_is_output(g, tensor) && hd_graph_users(g, tensor, user, 2) == 1 ? user[0] : -1;
}

bool hd_graph_is_output(const hd_graph *g, int tensor) {
    for (size_t i = 0; i < g->n_outputs; i++)
        if (g->outputs[i] == tensor) return true;
    return false;
}

bool hd_graph_is_input(const hd_graph *g, int tensor) {
    for (size_t i = 0; i < g->n_inputs; i++)
        if (g->inputs[i] == tensor) return true;
    return false;
}

size_t hd_graph_n_states(const hd_graph *g) {
    size_t n = 0;
    while (n < g->n_inputs && g->tensors[g->inputs[g->n_inputs - n - 1]].initial) n++;
    for (size_t i = 1; i <= n; i++) {
        const struct hd_tensor *x = &g->tensors[g->inputs[g->n_inputs - i]];
        if (i > g->n_outputs) return 0;
        const struct hd_tensor *y = &g->tensors[g->outputs[g->n_outputs - i]];
        bool alike = x->known && y->known && x->dtype == y->dtype && x->rank == y->rank;
        for (int d = 0; alike && d < x->rank; d++) alike = x->dim[d] == y->dim[d];
        if (!alike) return 0;
    }
    return n;
}

int hd_graph_state_before(const hd_graph *g, int tensor) {
    for (size_t i = 1, n = hd_graph_n_states(g); i <= n; i++)
        if (g->outputs[g->n_outputs - i] == tensor) return g->inputs[g->n_inputs - i];
    return -1;
}

/* Depth first, without recursion: a node follows the nodes it reads and those it runs after. */
size_t hd_graph_order(const hd_graph *g, int *out) {
    enum { NEW, OPEN, DONE };
    size_t n = 0, depth = 0;
    unsigned char *state = calloc(g->n_nodes + 1, 1);
    int *stack = calloc(g->n_nodes + 1, sizeof *stack),
        *next = calloc(g->n_nodes + 1, sizeof *next);
    HD_ASSERT(state && stack && next);
    bool cyclic = false;
    for (size_t i = 0; i < g->n_nodes && !cyclic; i++) {
        if (g->nodes[i].dead || state[i] != NEW) continue;
        stack[depth++] = (int)i;
        state[i] = OPEN;
        while (depth && !cyclic) {
            int id = stack[depth - 1];
            const struct hd_node *nd = &g->nodes[id];
            if (next[id] == nd->n_in + nd->n_after) {
                state[id] = DONE;
                out[n++] = id;
                depth--;
                continue;
            }
            int at = next[id]++, t = at < nd->n_in ? nd->in[at] : -1;
            int p = at >= nd->n_in ? nd->after[at - nd->n_in] : t < 0 ? -1 : g->tensors[t].producer;
            if (p < 0 || state[p] == DONE || g->nodes[p].dead) continue;
            cyclic = state[p] == OPEN;
            state[p] = OPEN;
            if (!cyclic) stack[depth++] = p;
        }
    }
    free(state);
    free(stack);
    free(next);
    return n;
}

void hd_graph_arrange(hd_graph *g, const int *order, size_t n) {
    size_t all = g->n_nodes, at = n;
    int *to = malloc((all + 1) * sizeof *to);
    struct hd_node *nodes = hd_dup(g->arena, g->nodes, all * sizeof *nodes);
    HD_ASSERT(to);
    for (size_t i = 0; i < all; i++) to[i] = -1;
    for (size_t i = 0; i < n; i++) to[order[i]] = (int)i;
    for (size_t i = 0; i < all; i++)
        if (to[i] < 0) to[i] = (int)at++;
    for (size_t i = 0; i < all; i++) {
        struct hd_node *to_node = &nodes[to[i]];
        *to_node = g->nodes[i];
        for (int k = 0; k < to_node->n_after; k++) to_node->after[k] = to[to_node->after[k]];
    }
    for (size_t t = 0; t < g->n_tensors; t++)
        if (g->tensors[t].producer >= 0) g->tensors[t].producer = to[g->tensors[t].producer];
    for (size_t i = 0; i < g->node_names.cap; i++)
        if (g->node_names.slot[i]) g->node_names.slot[i] = to[g->node_names.slot[i] - 1] + 1;
    g->nodes = nodes;
    g->cap_nodes = all;
    free(to);
}

/* ---- edits ---- */

void hd_graph_replace(hd_graph *g, int old_tensor, int new_tensor) {
    for (size_t i = 0; i < g->n_nodes; i++)
        for (int k = 0; k < g->nodes[i].n_in; k++)
            if (g->nodes[i].in[k] == old_tensor) g->nodes[i].in[k] = new_tensor;
    for (size_t i = 0; i < g->n_outputs; i++)
        if (g->outputs[i] == old_tensor) g->outputs[i] = new_tensor;
}

void hd_graph_kill(hd_graph *g, int node) {
    struct hd_node *n = &g->nodes[node];
    n->dead = true;
    for (int i = 0; i < n->n_out; i++)
        if (n->out[i] >= 0 && g->tensors[n->out[i]].producer == node)
            g->tensors[n->out[i]].producer = -1;
}

static void swap_names(const hd_graph *g, struct hd_names *index, const char **a, const char **b) {
    int *slot_a = &index->slot[name_slot(g, index, *a)];
    int *slot_b = &index->slot[name_slot(g, index, *b)];
    const char *name = *a;
    int id = *slot_a;
    *a = *b, *b = name;
    *slot_a = *slot_b, *slot_b = id;
}

void hd_graph_swap_names(hd_graph *g, int node_a, int node_b) {
    swap_names(g, &g->node_names, &g->nodes[node_a].name, &g->nodes[node_b].name);
}

void hd_graph_swap_tensor_names(hd_graph *g, int tensor_a, int tensor_b) {
    swap_names(g, &g->tensor_names, &g->tensors[tensor_a].name, &g->tensors[tensor_b].name);
}

/* Pairs of an input position and a tap that meet an output position, along dimension d. */
static int64_t transposed_pairs(const struct hd_node *n, const struct hd_tensor *x,
                                const struct hd_tensor *w, const struct hd_tensor *y, int d) {
    int64_t stride[HD_MAX_RANK], dilation[HD_MAX_RANK], pads[2 * HD_MAX_RANK], pairs = 0;
    int sp = x->rank - 2;
    hd_attr_ints(n, "strides", stride, sp, 1);
    hd_attr_ints(n, "dilations", dilation, sp, 1);
    hd_attr_ints(n, "pads", pads, 2 * sp, 0);
    for (int64_t k = 0; k < w->dim[d + 2]; k++) { /* 0 <= i * stride + at < y */
        int64_t at = k * dilation[d] - pads[d], s = stride[d];
        int64_t first = at < 0 ? (-at + s - 1) / s : 0,
                end = at >= y->dim[d + 2] ? 0 : (y->dim[d + 2] - 1 - at) / s + 1;
        if (end > x->dim[d + 2]) end = x->dim[d + 2];
        pairs += end > first ? end - first : 0;
    }
    return pairs;
}

static int64_t transposed_macs(const hd_graph *g, const struct hd_node *n) {
    const struct hd_tensor *x = &g->tensors[n->in[0]], *w = &g->tensors[n->in[1]];
    int64_t macs = x->dim[0] * w->dim[0] * w->dim[1];
    for (int d = 0; d < x->rank - 2; d++)
        macs *= transposed_pairs(n, x, w, &g->tensors[n->out[0]], d);
    return macs;
}

int64_t hd_node_macs(const hd_graph *g, const struct hd_node *n) {
    if (n->out[0] < 0) return 0;
    const struct hd_tensor *y = &g->tensors[n->out[0]],
                           *w = n->n_in > 1 ? &g->tensors[n->in[1]] : NULL;
    int64_t per_output = 0;
    switch (n->op) {
    case HD_IR_conv:
    case HD_IR_qconv:
    case HD_IR_convinteger:
        per_output = w->dim[0] ? hd_tensor_elems(w) / w->dim[0] : 0;
        break;
    case HD_IR_qconvtranspose:
        return hd_attr_int(n, "macs", transposed_macs(g, n));
    case HD_IR_qgemm:
        per_output = w->dim[1];
        break;
    case HD_IR_gemm:
        per_output = w->dim[hd_attr_int(n, "transB", 0) ? 1 : 0];
        break;
    case HD_IR_matmul:
    case HD_IR_qmatmul:
    case HD_IR_matmulinteger:
        per_output = w->rank ? w->dim[w->rank > 1 ? w->rank - 2 : 0] : 0;
        break;
    case HD_IR_lstm:
    case HD_IR_gru:
    case HD_IR_rnn:
    case HD_IR_qlstm: /* w [D,G*H,I], r [D,G*H,H] */
    case HD_IR_qgru:
    case HD_IR_qrnn: {
        const struct hd_tensor *r = &g->tensors[n->in[2]];
        per_output = r->dim[2] ? r->dim[1] / r->dim[2] * (w->dim[2] + r->dim[2]) : 0;
        break;
    }
    default:
        return 0;
    }
    return hd_attr_int(n, "macs",
                       hd_tensor_elems(y) * per_output); /* weights may be zeros of a pass */
}
