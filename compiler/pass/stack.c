/* Tensors that are stacked behind their channels: a concat of channels, and a shuffle of those.
 *
 *   reshape(concat(x, y, ..)) of [N,C,1,..] along dimension 2, to [N,C*k,..]   ->
 *   reshape(transpose(reshape(concat(x, y, ..) along the channels)))
 *
 * needs: shapes, integers of 8 bits. gives: the same values. destroys: nodes that nothing reads
 *
 * As it stands each byte of the result is moved for itself. Whole pixels of the operands lie side
 * by side for nothing, and pass shuffle knows the rest.
 */
#include <string.h>

#include "compiler/pass/pass.h"
#include "compiler/pass/qdq.h"

struct stack {
    int y;                    /* what the reshape makes: [N,C*k,..] */
    int64_t n, c, k;          /* k tensors of n images of c channels */
    int64_t dim[HD_MAX_RANK]; /* of each as an image [N,C,..] of y's rank */
};

/* The concat is one of parts whose dimension `axis` is 1, behind more than one channel. */
static bool find(const hd_graph *g, int node, struct stack *s) {
    const struct hd_node *n = &g->nodes[node];
    const struct hd_tensor *x = &g->tensors[n->out[0]];
    if (n->dead || n->op != HD_IR_concat || !x->known || hd_graph_is_output(g, n->out[0]))
        return false;
    int64_t axis = hd_attr_int(n, "axis", 0);
    int next = hd_graph_only_user(g, n->out[0]);
    if (axis < 0) axis += x->rank;
    if (axis < 2 || hd_made_as_rows(g, n->in[0]) || x->dim[axis] != n->n_in || next < 0 ||
        g->nodes[next].op != HD_IR_reshape)
        return false;
    *s = (struct stack){.y = g->nodes[next].out[0], .n = x->dim[0], .c = 1, .k = n->n_in};
    for (int d = 1; d < axis; d++) s->c *= x->dim[d];
    const struct hd_tensor *y = &g->tensors[s->y];
    memcpy(s->dim, y->dim, sizeof s->dim);
    s->dim[1] = s->c;
    return s->c > 1 && (x->dtype == HD_I8 || x->dtype == HD_U8) && y->known && y->rank > 2 &&
           y->rank < HD_MAX_RANK && y->dim[0] == s->n && y->dim[1] == s->c * s->k;
}

void hd_unstack(hd_graph *g) {
    for (size_t i = 0, n_nodes = g->n_nodes; i < n_nodes; i++) {
        struct stack s;
        int part[HD_MAX_OPERANDS];
        if (!find(g, (int)i, &s)) continue;
        const struct hd_node n = g->nodes[i];
        const struct hd_tensor y = g->tensors[s.y];
        int64_t apart[HD_MAX_RANK] = {s.n, s.k, s.c}, turned[HD_MAX_RANK] = {s.n, s.c, s.k},
                perm[HD_MAX_RANK] = {0, 2, 1};
        for (int d = 2; d < y.rank; d++) {
            apart[d + 1] = turned[d + 1] = y.dim[d];
            perm[d + 1] = d + 1;
        }
        for (int k = 0; k < n.n_in; k++)
            part[k] = hd_moved(g, HD_IR_reshape, n.in[k], y.rank, s.dim, "shape", s.dim, -1);
        const char *name = hd_sprintf(g->arena, "%s.side", g->tensors[n.out[0]].name);
        int all = hd_graph_tensor(g, name, y.dtype, y.rank, y.dim);
        int id = hd_graph_node(g, HD_IR_concat, name, n.n_in, part, 1, &all);
        hd_attr_set_int(g, id, "axis", 1);
        int x = hd_moved(g, HD_IR_reshape, all, y.rank + 1, apart, "shape", apart, -1);
        x = hd_moved(g, HD_IR_transpose, x, y.rank + 1, turned, "perm", perm, -1);
        hd_graph_kill(g, g->tensors[s.y].producer);
        hd_moved(g, HD_IR_reshape, x, y.rank, y.dim, "shape", y.dim, s.y);
        hd_graph_kill(g, (int)i);
    }
}
