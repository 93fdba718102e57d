/* Bytes that the port cannot avoid: constants once, inputs and outputs of the network, and what
 * does not fit on chip under any order of the work.
 *
 * A byte is counted at the first node that needs it, behind movement of data. An element counts as
 * one byte, which it has on the machine; those of float inputs and outputs have the rest at the
 * node that turns them to integers, or back.
 */
#include "compiler/roofline/roofline.h"
#include "runtime/base/num.h"

struct traffic {
    const hd_graph *g;
    const struct hd_machine *m;
    hd_arena *arena;
    struct hd_bounds *bounds;
    int *first_user, *user; /* per tensor, its range in user: the nodes that read it */
    int64_t *left;          /* per tensor: bytes not yet counted */
    int *seen, stamp;       /* per tensor: in the walk of that number */
};

bool hd_roofline_moves(const struct hd_node *n) {
    switch (n->op) {
    case HD_IR_identity:
    case HD_IR_reshape:
    case HD_IR_squeeze:
    case HD_IR_unsqueeze:
    case HD_IR_flatten:
    case HD_IR_transpose:
    case HD_IR_concat:
    case HD_IR_split:
    case HD_IR_slice:
    case HD_IR_expand:
    case HD_IR_tile:
    case HD_IR_pad:
    case HD_IR_depthtospace:
    case HD_IR_spacetodepth:
    case HD_IR_gather:
    case HD_IR_quantize:
    case HD_IR_dequantize:
        return true;
    default:
        return hd_attr_int(n, "moves", 0) != 0;
    }
}

/* The machine computes it. */
static bool works(const struct traffic *t, int node) {
    const struct hd_node *n = &t->g->nodes[node];
    return !n->dead && hd_ir_ops[n->op].name[0] == 'q' && !hd_roofline_moves(n);
}

static void find_users(struct traffic *t) {
    const hd_graph *g = t->g;
    t->first_user = hd_new_array(t->arena, int, g->n_tensors + 2);
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < g->n_nodes; i++) {
            const struct hd_node *n = &g->nodes[i];
            for (int k = 0; !n->dead && k < n->n_in; k++)
                if (n->in[k] >= 0 && !pass)
                    t->first_user[n->in[k] + 2]++;
                else if (n->in[k] >= 0)
                    t->user[t->first_user[n->in[k] + 1]++] = (int)i;
        }
        for (size_t i = 2; !pass && i < g->n_tensors + 2; i++)
            t->first_user[i] += t->first_user[i - 1];
        if (!pass)
            t->user = hd_new_array(t->arena, int, (size_t)t->first_user[g->n_tensors + 1] + 1);
    }
}

/* Bytes of constants that no node before has counted. */
static int64_t take_constants(struct traffic *t, const struct hd_node *n) {
    int64_t bytes = 0;
    if (n->op == HD_IR_qresize) return 0; /* its tables are where the operations go */
    for (int k = 0; k < n->n_in; k++) {
        if (n->in[k] < 0 || !t->g->tensors[n->in[k]].data || t->left[n->in[k]] < 0) continue;
        const struct hd_tensor *c = &t->g->tensors[n->in[k]];
        bool byte = c->dtype == HD_I16; /* weights of 9 bits */
        bytes += byte ? hd_tensor_elems(c) : (int64_t)hd_tensor_bytes(c);
        t->left[n->in[k]] = -1;
    }
    return bytes;
}

/* Bytes of network inputs behind a tensor, `most` of them at most, that are not yet counted. */
static int64_t take_inputs(struct traffic *t, int tensor, int64_t most) {
    const hd_graph *g = t->g;
    if (tensor < 0 || g->tensors[tensor].data || t->seen[tensor] == t->stamp) return 0;
    t->seen[tensor] = t->stamp;
    int maker = g->tensors[tensor].producer;
    int64_t sum = 0;
    if (maker < 0) {
        sum = hd_min(most, t->left[tensor]);
        t->left[tensor] -= sum;
        return sum;
    }
    const struct hd_node *n = &g->nodes[maker];
    if (!hd_roofline_moves(n)) return 0;
    for (int k = 0; k < n->n_in && sum < most; k++)
        if (k == 0 || n->op == HD_IR_concat) sum += take_inputs(t, n->in[k], most - sum);
    return sum;
}

/* The nodes that make a network output, behind movement, store it. */
static void give_outputs(struct traffic *t, int tensor, int64_t most) {
    const hd_graph *g = t->g;
    int maker = tensor < 0 ? -1 : g->tensors[tensor].producer;
    if (maker < 0 || t->seen[tensor] == t->stamp) return;
    t->seen[tensor] = t->stamp;
    const struct hd_node *n = &g->nodes[maker];
    int64_t bytes =
        hd_min(most, g->tensors[tensor].known ? hd_tensor_elems(&g->tensors[tensor]) : 0);
    if (works(t, maker)) {
        bytes = hd_min(bytes, t->left[tensor]);
        t->left[tensor] -= bytes;
        t->bounds[maker].write_bytes += bytes;
        return;
    }
    if (n->op == HD_IR_dequantize)
        t->bounds[maker].write_bytes +=
            bytes * ((int64_t)hd_dtype_bytes(g->tensors[tensor].dtype) - 1);
    for (int k = 0; hd_roofline_moves(n) && k < n->n_in; k++)
        if (k == 0 || n->op == HD_IR_concat) give_outputs(t, n->in[k], bytes);
}

/* What lies behind a tensor, behind movement: `reach` of those that work, and whether `wanted` is
 * among all that follow when work is walked through, too. */
static bool leads_to(struct traffic *t, int tensor, int wanted, bool through, int *reach, int *n,
                     int most) {
    const hd_graph *g = t->g;
    if (tensor < 0 || t->seen[tensor] == t->stamp) return false;
    t->seen[tensor] = t->stamp;
    for (int u = t->first_user[tensor]; u < t->first_user[tensor + 1]; u++) {
        int node = t->user[u];
        const struct hd_node *user = &g->nodes[node];
        if (node == wanted) return true;
        if (works(t, node) && reach && *n < most) reach[(*n)++] = node;
        if (!through && !hd_roofline_moves(user)) continue;
        for (int o = 0; o < user->n_out; o++)
            if (leads_to(t, user->out[o], wanted, through, reach, n, most)) return true;
    }
    return false;
}

static int64_t weights_of(const struct traffic *t, int node) {
    const struct hd_node *n = &t->g->nodes[node];
    int w = n->n_in > 1 && n->op != HD_IR_qresize ? n->in[1] : -1;
    return w >= 0 && t->g->tensors[w].data ? hd_tensor_elems(&t->g->tensors[w]) : 0;
}

/* A reader that another reader waits for, though the first needs all of the tensor: a mean whose
 * result the second is multiplied by, say. -1 = none, and rows can pass from maker to readers. */
static int waiting_reader(struct traffic *t, const int *readers, int n) {
    for (int i = 0; i < n; i++) {
        const struct hd_node *r = &t->g->nodes[readers[i]];
        if (r->op != HD_IR_qmean) continue;
        for (int k = 0; k < n; k++) {
            t->stamp++;
            if (k != i && leads_to(t, r->out[0], readers[k], true, NULL, NULL, 0))
                return readers[k];
        }
    }
    return -1;
}

/* A result larger than XM: it passes in parts, each with the weights of maker and reader once, or
 * what XM does not hold goes through DRAM; whichever is less. */
static void count_spill(struct traffic *t, int maker, int tensor) {
    enum { READERS = 16 };
    int readers[READERS], n = 0;
    int64_t bytes = hd_tensor_elems(&t->g->tensors[tensor]), xm = t->m->xm_bytes;
    if (bytes <= xm) return;
    t->stamp++;
    leads_to(t, tensor, -1, false, readers, &n, READERS);
    if (!n) return;
    int last = waiting_reader(t, readers, n);
    int64_t more = 0;
    for (int i = 0; i < n && last < 0; i++) more = hd_max(more, weights_of(t, readers[i]));
    int64_t over = hd_max(0, weights_of(t, maker) + more - (int64_t)t->m->wm_bytes);
    int64_t again = (hd_ceil_div(bytes, xm) - 1) * over;
    if (last < 0 && again <= 2 * (bytes - xm)) {
        t->bounds[readers[0]].read_bytes += again;
        return;
    }
    t->bounds[maker].write_bytes += bytes - xm;
    t->bounds[last < 0 ? readers[0] : last].read_bytes += bytes - xm;
}

static void count_node(struct traffic *t, int node) {
    const hd_graph *g = t->g;
    const struct hd_node *n = &g->nodes[node];
    struct hd_bounds *b = &t->bounds[node];
    if (n->op == HD_IR_quantize && !n->dead && n->in[0] >= 0 && hd_graph_is_input(g, n->in[0]))
        b->read_bytes += hd_tensor_elems(&g->tensors[n->in[0]]) *
                         ((int64_t)hd_dtype_bytes(g->tensors[n->in[0]].dtype) - 1);
    if (!works(t, node)) return;
    b->read_bytes += take_constants(t, n);
    for (int k = 0; k < n->n_in; k++) {
        t->stamp++;
        if (n->in[k] >= 0 && g->tensors[n->in[k]].known)
            b->read_bytes += take_inputs(t, n->in[k], hd_tensor_elems(&g->tensors[n->in[k]]));
    }
    for (int o = 0; o < n->n_out; o++)
        if (n->out[o] >= 0 && g->tensors[n->out[o]].known) count_spill(t, node, n->out[o]);
}

void hd_roofline_traffic(const hd_graph *g, const struct hd_machine *m, struct hd_bounds *bounds) {
    hd_arena *a = hd_arena_create();
    struct traffic t = {.g = g, .m = m, .arena = a, .bounds = bounds};
    t.left = hd_new_array(a, int64_t, g->n_tensors + 1);
    t.seen = hd_new_array(a, int, g->n_tensors + 1);
    int *order = hd_new_array(a, int, g->n_nodes + 1);
    for (size_t i = 0; i < g->n_tensors; i++)
        t.left[i] = g->tensors[i].known ? hd_tensor_elems(&g->tensors[i]) : 0;
    find_users(&t);
    size_t n = hd_graph_order(g, order);
    for (size_t i = 0; i < n; i++) count_node(&t, order[i]);
    for (size_t i = 0; i < g->n_outputs; i++) {
        const struct hd_tensor *y = &g->tensors[g->outputs[i]];
        t.stamp++;
        give_outputs(&t, g->outputs[i], y->known ? hd_tensor_elems(y) : 0);
    }
    hd_arena_destroy(a);
}
