/* The order of dimensions of each tensor, by cost.
 *
 * needs: shapes, fold
 * gives: fewest bytes moved by transposes, of all ways to keep each tensor between operations that
 * do not care (layout.def) in its own order or in that of a transpose in the graph. One permutation
 * after another, each exactly, and its inverse, until none gains. Values are the same to the bit.
 * destroys: nodes that nothing reads
 *
 * For a permutation P, tensor t = transpose(m, P) has the moved form m. Each agnostic node works on
 * its tensors as they are, or on their moved forms. t costs its bytes, read and written, when its
 * maker and its readers do not all want the same form; a constant costs nothing. A transpose by P
 * is a maker of a moved form; one by P's inverse is a reader of one; everything else is fixed to
 * tensors as they are. So the cheapest choice is a minimum cut: t is two nodes in the graph of the
 * cut with its cost from one to the other, and each that wants t has an edge to the first and one
 * from the second that may not be cut. A shuffle within regions that fixed operations alone
 * surround costs nothing to begin with, and a graph that cannot gain stays as it is.
 */
#include <string.h>

#include "compiler/pass/cut.h"
#include "compiler/pass/layout.h"
#include "compiler/pass/pass.h"

enum { ROUNDS = 32 };
static bool perm_of(const hd_graph *g, const struct hd_node *n, struct hd_perm *out) {
    const struct hd_tensor *x = &g->tensors[n->in[0]];
    bool moves = false;
    if (n->dead || n->op != HD_IR_transpose || n->out[0] < 0 || !x->known || hd_attr_get(n, "by"))
        return false;
    out->rank = x->rank;
    if (!hd_attr_ints(n, "perm", out->perm, HD_MAX_RANK, 0))
        for (int d = 0; d < x->rank; d++) out->perm[d] = x->rank - 1 - d;
    for (int d = 0; d < x->rank; d++) {
        out->back[out->perm[d]] = d;
        moves = moves || out->perm[d] != d;
    }
    return moves;
}

static bool same(const struct hd_perm *p, const int64_t *perm, int rank) {
    return p->rank == rank && !memcmp(p->perm, perm, (size_t)rank * sizeof *perm);
}

/* Bytes that a transpose between t and its moved form reads and writes. */
static int64_t cost(const struct hd_tensor *t, const struct hd_perm *p) {
    int64_t last = -1;
    for (int d = 0; d < t->rank; d++) {
        if (t->dim[d] == 1) continue;
        if (p->perm[d] < last) return 2 * (int64_t)hd_tensor_bytes(t);
        last = p->perm[d];
    }
    return 0; /* it only says where the 1s are */
}

/* Has a form that may be chosen. */
bool hd_layout_may_move(const struct layout *l, int t) {
    const struct hd_tensor *x = &l->g->tensors[t];
    return x->known && !x->data && !x->initial && x->rank == l->p.rank;
}

/* The same in any order: broadcast from one element. */
bool hd_layout_is_single(const struct hd_tensor *t, int rank) {
    return t->known && hd_tensor_elems(t) == 1 && t->rank < rank;
}

/* Result k, or all of them, of an agnostic node is in moved form when the node is permuted. */
bool hd_layout_result_moves(const struct layout *l, const struct hd_node *n, int k) {
    struct hd_remap r = {0};
    return n->out[k] >= 0 && hd_layout_may_move(l, n->out[k]) &&
           hd_layout_remap(l->g, n, &l->p, &r) && !r.keeps;
}

bool hd_layout_operand_moves(const struct layout *l, const struct hd_node *n, int i) {
    struct hd_remap r = {0};
    return n->in[i] >= 0 && hd_layout_remap(l->g, n, &l->p, &r) && i < r.data &&
           !hd_layout_is_single(&l->g->tensors[n->in[i]], l->p.rank);
}

static bool all_known(const hd_graph *g, int n, const int *t) {
    for (int i = 0; i < n; i++)
        if (t[i] >= 0 && !g->tensors[t[i]].known) return false;
    return true;
}

static bool is_agnostic(const struct layout *l, const struct hd_node *n) {
    struct hd_remap r = {0};
    bool any = false;
    if (n->n_in < 1 || n->in[0] < 0 || l->g->tensors[n->in[0]].rank > l->p.rank ||
        !all_known(l->g, n->n_in, n->in) || !all_known(l->g, n->n_out, n->out) ||
        !hd_layout_remap(l->g, n, &l->p, &r))
        return false;
    for (int i = 0; i < r.data; i++) {
        if (n->in[i] < 0) continue;
        const struct hd_tensor *t = &l->g->tensors[n->in[i]];
        any = any || hd_layout_may_move(l, n->in[i]);
        if (!hd_layout_may_move(l, n->in[i]) && !hd_layout_is_single(t, l->p.rank) &&
            !(t->data && t->rank <= l->p.rank))
            return false;
    }
    return any;
}

/* Transposes by a permutation that is its own inverse make and read by turns, down the graph. */
static void find_roles(struct layout *l) {
    bool own = same(&l->p, l->p.back, l->p.rank);
    int *depth = hd_new_array(l->a, int, l->n_tensors + 1);
    for (size_t i = 0; i < l->n_order; i++) {
        const struct hd_node *n = &l->g->nodes[l->order[i]];
        struct hd_perm q = {0};
        int above = 0;
        for (int k = 0; k < n->n_in; k++)
            if (n->in[k] >= 0 && depth[n->in[k]] > above) above = depth[n->in[k]];
        enum role role = FIXED;
        if (perm_of(l->g, n, &q) && !l->g->tensors[n->in[0]].data) {
            bool makes = same(&l->p, q.perm, q.rank), reads = same(&q, l->p.back, l->p.rank);
            if (makes && (!own || above % 2 == l->first))
                role = MAKES;
            else if (reads)
                role = READS;
        } else if (is_agnostic(l, n)) {
            role = AGNOSTIC;
        }
        above += role == MAKES || role == READS;
        l->role[l->order[i]] = role;
        for (int k = 0; k < n->n_out; k++)
            if (n->out[k] >= 0) depth[n->out[k]] = above;
    }
}

/* ---- the choice ----------------------------------------------------------------------------- */

static void join(struct hd_cut *c, const int *first, int t, int end) {
    if (!first[t]) return; /* it costs nothing */
    hd_cut_edge(c, end, first[t], HD_CUT_NEVER);
    hd_cut_edge(c, first[t] + 1, end, HD_CUT_NEVER);
}

/* Sets permuted; false when nothing is gained. */
static bool choose(struct layout *l) {
    const hd_graph *g = l->g;
    struct hd_cut *c = hd_cut_create(l->a);
    int *first = hd_new_array(l->a, int, l->n_tensors + 1);
    bool *now = hd_new_array(l->a, bool, l->n_tensors + 1); /* a transpose moves it as things are */
    int64_t before = 0;
    for (size_t t = 0; t < l->n_tensors; t++) {
        int64_t bytes = hd_layout_may_move(l, (int)t) ? cost(&g->tensors[t], &l->p) : 0;
        if (!bytes) continue;
        first[t] = hd_cut_node(c);
        hd_cut_edge(c, first[t], hd_cut_node(c), bytes);
        if (g->tensors[t].producer < 0) join(c, first, (int)t, HD_CUT_SOURCE);
    }
    for (size_t i = 0; i < g->n_outputs; i++) join(c, first, g->outputs[i], HD_CUT_SOURCE);
    for (size_t i = 0; i < l->n_order; i++) {
        int id = l->order[i];
        const struct hd_node *n = &g->nodes[id];
        if (l->role[id] == AGNOSTIC) l->end[id] = hd_cut_node(c);
        for (int k = 0; k < n->n_in; k++) {
            if (n->in[k] < 0) continue;
            bool moves = l->role[id] == AGNOSTIC && hd_layout_operand_moves(l, n, k);
            if (l->role[id] == READS) now[n->in[k]] = true;
            join(c, first, n->in[k],
                 l->role[id] == READS ? HD_CUT_SINK
                 : moves              ? l->end[id]
                                      : HD_CUT_SOURCE);
        }
        for (int k = 0; k < n->n_out; k++) {
            if (n->out[k] < 0) continue;
            bool moves = l->role[id] == AGNOSTIC && hd_layout_result_moves(l, n, k);
            if (l->role[id] == MAKES) now[n->out[k]] = true;
            join(c, first, n->out[k],
                 l->role[id] == MAKES ? HD_CUT_SINK
                 : moves              ? l->end[id]
                                      : HD_CUT_SOURCE);
        }
    }
    for (size_t t = 0; t < l->n_tensors; t++)
        if (now[t] && first[t]) before += cost(&g->tensors[t], &l->p);
    bool *sink = hd_new_array(l->a, bool, c->n_nodes);
    if (!before || hd_cut_solve(c, sink) >= before) return false;
    for (size_t i = 0; i < l->n_order; i++)
        l->permuted[l->order[i]] = l->role[l->order[i]] == AGNOSTIC && sink[l->end[l->order[i]]];
    return true;
}

static bool improve(hd_graph *g, const struct hd_perm *p, int first) {
    struct layout l = {
        .g = g, .p = *p, .first = first, .n_nodes = g->n_nodes, .n_tensors = g->n_tensors};
    l.a = hd_arena_create();
    l.order = hd_new_array(l.a, int, g->n_nodes + 1);
    l.n_order = hd_graph_order(g, l.order);
    l.role = hd_new_array(l.a, enum role, g->n_nodes + 1);
    l.end = hd_new_array(l.a, int, g->n_nodes + 1);
    l.permuted = hd_new_array(l.a, bool, g->n_nodes + 1);
    l.moved = hd_new_array(l.a, int, g->n_tensors + 1);
    memset(l.moved, -1, (g->n_tensors + 1) * sizeof *l.moved);
    find_roles(&l);
    bool gains = choose(&l);
    if (gains) {
        hd_layout_rewrite(&l);
        hd_pass_dce(g);
    }
    hd_arena_destroy(l.a);
    return gains;
}

/* When something is read matters where variables change; shapes of one run say nothing of others.
 */
static bool may_change(const hd_graph *g) {
    bool may = !g->specialised;
    for (size_t i = 0; i < g->n_nodes; i++)
        may = may && (g->nodes[i].dead || (!g->nodes[i].n_after && g->nodes[i].op != HD_IR_assign));
    return may;
}

/* By the permutation and by its inverse. */
static bool improve_both(hd_graph *g, struct hd_perm p) {
    struct hd_perm q = {.rank = p.rank};
    memcpy(q.perm, p.back, sizeof q.perm);
    memcpy(q.back, p.perm, sizeof q.back);
    return improve(g, &p, 0) || improve(g, &q, 1);
}

/* No transpose before node i is by the same permutation. */
static bool is_first(const hd_graph *g, size_t i, const struct hd_perm *p) {
    struct hd_perm q = {0};
    while (i-- > 0)
        if (perm_of(g, &g->nodes[i], &q) && same(p, q.perm, q.rank)) return false;
    return true;
}

/* Between channels last and channels first, of an image. */
static bool is_image(const struct hd_perm *p) {
    bool last = p->rank >= 4 && p->perm[0] == 0, first = last;
    for (int d = 1; d < p->rank; d++) {
        last = last && p->perm[d] == (d == p->rank - 1 ? 1 : d + 1);
        first = first && p->perm[d] == (d == 1 ? p->rank - 1 : d - 1);
    }
    return last || first;
}

hd_status hd_pass_layout(hd_ctx *ctx, hd_graph *g, bool images) {
    struct hd_perm p = {0};
    bool gains = may_change(g);
    (void)ctx;
    for (int round = 0; gains && round < ROUNDS; round++) {
        gains = false;
        for (size_t i = 0; i < g->n_nodes && !gains; i++)
            gains = perm_of(g, &g->nodes[i], &p) && (!images || is_image(&p)) &&
                    is_first(g, i, &p) && improve_both(g, p);
    }
    return HD_OK;
}
