/* The graph after the choice of pass layout: permuted nodes work on moved forms. */
#include <string.h>

#include "compiler/pass/layout.h"
#include "compiler/pass/rewrite.h"

static int add_transpose(hd_graph *g, int from, int to, const int64_t *perm, int rank) {
    int id = hd_graph_node(g, HD_IR_transpose, g->tensors[to].name, 1, &from, 1, &to);
    hd_attr_set_ints(g, id, "perm", rank, perm);
    return id;
}

/* A constant in moved form; leading dimensions that it lacks are 1. */
static int move_constant(struct layout *l, const struct hd_tensor t) {
    int64_t dim[HD_MAX_RANK] = {0}, step[HD_MAX_RANK] = {0}, at[HD_MAX_RANK] = {0}, stride = 1,
            from = 0;
    int rank = l->p.rank, lacks = rank - t.rank;
    size_t bytes = hd_dtype_bytes(t.dtype), n = (size_t)hd_tensor_elems(&t);
    for (int d = rank - 1; d >= 0; d--) {
        int64_t size = d < lacks ? 1 : t.dim[d - lacks];
        dim[l->p.perm[d]] = size;
        step[l->p.perm[d]] = stride;
        stride *= size;
    }
    char *data = hd_alloc(l->a, n * bytes + 1);
    for (size_t i = 0; i < n; i++) {
        memcpy(data + i * bytes, (const char *)t.data + (size_t)from * bytes, bytes);
        for (int d = rank - 1; d >= 0; d--) {
            from += step[d];
            if (++at[d] < dim[d]) break;
            from -= at[d] * step[d];
            at[d] = 0;
        }
    }
    return hd_graph_const(l->g, t.name, t.dtype, rank, dim, data);
}

static int moved_form(struct layout *l, int t) {
    if (l->moved[t] >= 0) return l->moved[t];
    const struct hd_tensor x = l->g->tensors[t];
    if (x.data) return l->moved[t] = move_constant(l, x);
    int64_t dim[HD_MAX_RANK];
    for (int d = 0; d < x.rank; d++) dim[l->p.perm[d]] = x.dim[d];
    l->moved[t] = hd_graph_tensor(l->g, x.name, x.dtype, x.rank, dim);
    bool made = x.producer >= 0 && (size_t)x.producer < l->n_nodes && l->permuted[x.producer];
    if (!made) add_transpose(l->g, t, l->moved[t], l->p.back, x.rank);
    return l->moved[t];
}

/* The moved forms that are there: what a MAKES reads, what a READS gives. A second one of the same
 * tensor is not needed. */
static void find_moved(struct layout *l) {
    for (size_t i = 0; i < l->n_order; i++) {
        int id = l->order[i], x = l->g->nodes[id].in[0], y = l->g->nodes[id].out[0];
        if (l->role[id] == MAKES) l->moved[y] = x;
        if (l->role[id] != READS) continue;
        if (l->moved[x] < 0) {
            l->moved[x] = y;
            if (l->g->tensors[x].producer < 0 || !l->permuted[l->g->tensors[x].producer]) continue;
            hd_graph_kill(l->g, id);              /* the permuted node makes it */
        } else if (hd_graph_is_output(l->g, y)) { /* keeps its name */
            hd_graph_kill(l->g, id);
            hd_graph_node(l->g, HD_IR_identity, l->g->tensors[y].name, 1, &l->moved[x], 1, &y);
        } else {
            hd_graph_kill(l->g, id);
            hd_graph_replace(l->g, y, l->moved[x]);
        }
    }
}

static void permute(struct layout *l, int id) {
    hd_graph *g = l->g;
    const struct hd_node n = g->nodes[id];
    struct hd_remap r = {0};
    bool can = hd_layout_remap(g, &n, &l->p, &r);
    HD_ASSERT(can); /* its role says so */
    int n_in = n.n_in < r.n_in ? n.n_in : r.n_in, all = r.at >= n_in ? r.at + 1 : n_in;
    int *in = hd_new_array(l->a, int, (size_t)all),
        *out = hd_dup(l->a, n.out, sizeof(int) * (size_t)n.n_out);
    for (int i = 0; i < all; i++)
        in[i] = i >= n_in                           ? -1
                : hd_layout_operand_moves(l, &n, i) ? moved_form(l, n.in[i])
                                                    : n.in[i];
    if (r.at)
        in[r.at] = hd_graph_const(g, g->tensors[n.in[0]].name, HD_I64, 1, (int64_t[]){r.n}, r.list);
    for (int k = 0; k < n.n_out; k++)
        if (hd_layout_result_moves(l, &n, k)) out[k] = moved_form(l, n.out[k]);
    hd_graph_kill(g, id);
    int made = hd_graph_node(g, n.op, n.name, all, in, n.n_out, out);
    g->nodes[made].source = n.source;
    hd_pass_copy_attrs(g, made, id);
    if (r.has_axis) hd_attr_set_int(g, made, "axis", r.axis);
    hd_graph_swap_names(g, made, id);
    for (int k = 0; k < n.n_out; k++)
        if (out[k] != n.out[k]) add_transpose(g, out[k], n.out[k], l->p.perm, l->p.rank);
}

void hd_layout_rewrite(struct layout *l) {
    find_moved(l);
    for (size_t i = 0; i < l->n_order; i++)
        if (l->permuted[l->order[i]]) permute(l, l->order[i]);
}
