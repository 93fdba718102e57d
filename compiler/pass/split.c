/* Layers whose result is too large to have, and is pooled at once.
 *
 * needs: shapes
 * gives: a convolution that feeds a pool, through elementwise functions, in two halves of its
 * output channels, one after the other; the pools write the two halves of the result. Values are
 * the same to the bit. Only where that takes an eighth off the memory that the whole graph needs
 *        (compiler/ir/memory.h), and where that memory is more than caches hold.
 * destroys: nodes and tensors between the convolution and the pool, by name
 */
#include <string.h>

#include "compiler/ir/memory.h"
#include "compiler/pass/pass.h"
#include "compiler/pass/rewrite.h"
#include "runtime/base/num.h"

enum { LENGTH = 8, CACHE_BYTES = 4 << 20, ROUNDS = 2 };

struct chain {
    int node[LENGTH]; /* convolution, functions, pool */
    int n;
};

static bool one_value(const hd_graph *g, int t) {
    return t < 0 || (g->tensors[t].data && hd_tensor_elems(&g->tensors[t]) == 1);
}

/* Of its first operand, whose shape it keeps. */
static bool is_function(const hd_graph *g, const struct hd_node *n) {
    const struct hd_tensor *x = &g->tensors[n->in[0]], *y = &g->tensors[n->out[0]];
    bool is = hd_is_elementwise(n->op) && y->known && x->rank == y->rank &&
              !memcmp(x->dim, y->dim, (size_t)x->rank * sizeof *x->dim);
    for (int i = 1; i < n->n_in; i++) is = is && one_value(g, n->in[i]);
    return is;
}

static bool constant_or_none(const hd_graph *g, int t) {
    return t < 0 || g->tensors[t].data;
}

/* The chain that begins at a convolution of one image; n = 0 where there is none. */
static struct chain find_chain(const hd_graph *g, int conv) {
    const struct hd_node *n = &g->nodes[conv];
    struct chain c = {.node = {conv}, .n = 1}, none = {.n = 0};
    if (n->dead || n->op != HD_IR_conv || n->n_after || hd_attr_int(n, "group", 1) != 1)
        return none;
    const struct hd_tensor *w = &g->tensors[n->in[1]];
    if (!w->data || (n->n_in > 2 && !constant_or_none(g, n->in[2])) || w->dim[0] % 2) return none;
    while (c.n < LENGTH) {
        int t = n->out[0], next = hd_graph_only_user(g, t);
        const struct hd_tensor *x = &g->tensors[t];
        if (n->n_out != 1 || !x->known || x->rank < 3 || x->dim[0] != 1 || next < 0) return none;
        n = &g->nodes[next];
        if (n->n_after || n->in[0] != t || n->out[0] < 0) return none;
        c.node[c.n++] = next;
        if ((n->op == HD_IR_maxpool || n->op == HD_IR_avgpool) && n->n_out == 1) return c;
        if (!is_function(g, n)) return none;
    }
    return none;
}

/* ---- what it would save --------------------------------------------------------------------- */

struct peak {
    int *pos;     /* per node: its step */
    size_t *live; /* per step: bytes */
    struct hd_mem_plan plan;
};

static void find_peak(const hd_graph *g, hd_arena *a, struct peak *p) {
    hd_mem_plan_graph(g, a, &p->plan);
    p->pos = hd_new_array(a, int, g->n_nodes + 1);
    p->live = hd_new_array(a, size_t, p->plan.n_order + 1);
    for (size_t i = 0; i < p->plan.n_order; i++) p->pos[p->plan.order[i]] = (int)i;
    for (size_t b = 0; b < p->plan.n_blocks; b++)
        for (int i = p->plan.blocks[b].first; i <= p->plan.blocks[b].last; i++)
            p->live[i] += p->plan.blocks[b].bytes;
}

/* Takes from p->live what the chain would save. False: its steps do not follow each other, or share
 * their memory with others. */
static bool save(const hd_graph *g, struct peak *p, const struct chain *c) {
    int first = p->pos[c->node[0]], last = p->pos[c->node[c->n - 1]];
    int inner = p->plan.block_of[g->nodes[c->node[0]].out[0]];
    int pooled = p->plan.block_of[g->nodes[c->node[c->n - 1]].out[0]];
    if (inner < 0 || inner == pooled || last - first != c->n - 1) return false;
    const struct hd_mem_block *b = &p->plan.blocks[inner];
    if (b->first != first || b->last != last) return false;
    for (int i = 0; i + 1 < c->n; i++)
        if (p->plan.block_of[g->nodes[c->node[i]].out[0]] != inner) return false;
    for (int i = first; i <= last; i++) {
        p->live[i] -= b->bytes / 2;
        if (pooled >= 0 && p->plan.blocks[pooled].first > i)
            p->live[i] += p->plan.blocks[pooled].bytes;
    }
    return true;
}

/* ---- the rewrite ---------------------------------------------------------------------------- */

/* Half of a constant along its first dimension. */
static int half_of(hd_graph *g, int t, int half) {
    if (t < 0) return -1;
    struct hd_tensor x = g->tensors[t];
    size_t bytes = hd_tensor_bytes(&x) / 2;
    x.dim[0] /= 2;
    return hd_graph_const(g, hd_sprintf(g->arena, "%s.half%d", x.name, half), x.dtype, x.rank,
                          x.dim, (const char *)x.data + (size_t)half * bytes);
}

static int copy_of(hd_graph *g, int node, int half, int n_in, const int *in) {
    const struct hd_node n = g->nodes[node];
    struct hd_tensor y = g->tensors[n.out[0]];
    y.dim[1] /= 2;
    int t =
        hd_graph_tensor(g, hd_sprintf(g->arena, "%s.half%d", y.name, half), y.dtype, y.rank, y.dim);
    int id =
        hd_graph_node(g, n.op, hd_sprintf(g->arena, "%s.half%d", n.name, half), n_in, in, 1, &t);
    hd_pass_copy_attrs(g, id, node);
    return t;
}

static void split(hd_graph *g, const struct chain *c) {
    int pool = c->node[c->n - 1], part[2];
    const struct hd_node conv = g->nodes[c->node[0]], last = g->nodes[pool];
    for (int half = 0; half < 2; half++) {
        int in[3] = {conv.in[0], half_of(g, conv.in[1], half),
                     conv.n_in > 2 ? half_of(g, conv.in[2], half) : -1};
        int t = copy_of(g, c->node[0], half, conv.n_in, in);
        for (int i = 1; i < c->n; i++) {
            const struct hd_node n = g->nodes[c->node[i]];
            int *operands = hd_dup(g->arena, n.in, (size_t)n.n_in * sizeof *n.in);
            operands[0] = t;
            t = copy_of(g, c->node[i], half, n.n_in, operands);
        }
        part[half] = t;
    }
    for (int i = 0; i < c->n; i++) hd_graph_kill(g, c->node[i]);
    int id = hd_graph_node(g, HD_IR_concat, last.name, 2, part, 1, last.out);
    hd_attr_set_int(g, id, "axis", 1);
    hd_graph_swap_names(g, id, pool);
}

static size_t most(const struct peak *p) {
    size_t top = 0;
    for (size_t i = 0; i < p->plan.n_order; i++) top = p->live[i] > top ? p->live[i] : top;
    return top;
}

static int round_of(hd_graph *g, hd_arena *a) {
    struct peak p;
    find_peak(g, a, &p);
    size_t before = most(&p), enough = before - before / 8;
    struct chain *chosen = hd_new_array(a, struct chain, g->n_nodes + 1);
    int n = 0;
    if (before <= CACHE_BYTES) return 0;
    for (size_t i = 0; i < p.plan.n_order; i++) {
        struct chain c = find_chain(g, p.plan.order[i]);
        bool large = false;
        for (int k = 0; k < c.n; k++) large = large || p.live[p.pos[c.node[k]]] > enough;
        if (large && save(g, &p, &c)) chosen[n++] = c;
    }
    if (most(&p) > enough) return 0;
    for (int i = 0; i < n; i++) split(g, &chosen[i]);
    return n;
}

hd_status hd_pass_split(hd_ctx *ctx, hd_graph *g) {
    hd_arena *a = hd_arena_create();
    bool any = false;
    /* what shapes of one run say is no ground to build on */
    for (int i = 0; i < ROUNDS && !g->specialised && round_of(g, a); i++) any = true;
    hd_arena_destroy(a);
    return any ? hd_graph_infer(ctx, g) : HD_OK;
}
