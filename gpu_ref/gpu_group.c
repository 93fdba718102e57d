/* Which nodes become one expression: a node and the elementwise ones behind it. A value that only
 * they read never lies in memory. */
#include <string.h>

#include "compiler/expr/rewrite.h"
#include "gpu_ref/gpu_express.h"

enum { MOST_TENSORS = 40 };

static int reads(const hd_graph *g, int node, int tensor) {
    int n = 0;
    for (int k = 0; k < g->nodes[node].n_in; k++) n += g->nodes[node].in[k] == tensor;
    return n;
}

static int place(const int *list, int n, int of) {
    int i = 0;
    while (i < n && list[i] != of) i++;
    return i < n ? i : -1;
}

/* Reads of tensor `made` i of the group by others. */
static int others(const struct hd_gpu_plan *p, const struct hd_gpu_group *u, int i) {
    int n = p->users[u->made[i]];
    for (int k = 0; k < u->n; k++) n -= reads(p->g, u->node[k], u->made[i]);
    return n;
}

/* The node computes elements of a tensor of the group, of what is there besides; its expression. */
static hd_status candidate(struct hd_gpu_plan *p, const struct hd_gpu_group *u, int node,
                           struct hd_expr **out) {
    const struct hd_node *n = &p->g->nodes[node];
    bool any = false;
    *out = NULL;
    if (!p->wanted[node] || p->done[node] || n->n_out != 1 || n->out[0] < 0) return HD_OK;
    for (int k = 0; k < n->n_in; k++) {
        bool mine = place(u->made, u->n, n->in[k]) >= 0;
        any = any || mine;
        if (n->in[k] >= 0 && !mine && p->view_of[n->in[k]] < 0 && !hd_gpu_const(p, n->in[k]))
            return HD_OK;
    }
    if (!any) return HD_OK;
    struct hd_expr *g;
    hd_status s = hd_gpu_expression(p, n, &g);
    if (s != HD_OK) hd_clear(p->ctx);
    if (s != HD_OK || !g) return HD_OK;
    for (int k = 0; k < n->n_in && k < g->n_params; k++)
        if (place(u->made, u->n, n->in[k]) >= 0 && !hd_expr_pointwise(g, k)) return HD_OK;
    *out = g;
    return HD_OK;
}

/* False: the expression would be too large. */
static bool add(struct hd_gpu_plan *p, struct hd_gpu_group *u, int node, const struct hd_expr *g) {
    const struct hd_node *n = &p->g->nodes[node];
    int from[HD_EXPR_TENSORS], n_new = 0, first = u->n_operands;
    for (int k = 0; k < g->n_params; k++) {
        int t = k < n->n_in ? n->in[k] : -1, mine = place(u->made, u->n, t);
        int shared = t < 0 ? -1 : place(u->operand, first, t);
        from[k] = mine >= 0 ? u->id[mine] : shared;
        if (from[k] < 0) {
            if (u->n_operands == MOST_TENSORS) return false;
            u->operand[u->n_operands++] = t;
            n_new++;
        }
    }
    struct hd_expr *f = hd_expr_join(p->arena, u->f, g, from);
    if (!f || f->n_tensors > MOST_TENSORS) return false;
    for (int i = 0; i < u->n; i++) u->id[i] += n_new;
    u->f = f;
    u->id[u->n] = f->result[0];
    u->made[u->n] = n->out[0];
    u->node[u->n++] = node;
    return true;
}

hd_status hd_gpu_group(struct hd_gpu_plan *p, int node, struct hd_expr *f, bool *out_any,
                       struct hd_gpu_group *out) {
    const struct hd_node *n = &p->g->nodes[node];
    struct hd_gpu_group u = {.f = f, .n = 1, .node = {node}, .made = {n->out[0]}};
    *out_any = false;
    if (n->n_out != 1 || f->n_results != 1 || f->n_params > MOST_TENSORS) return HD_OK;
    u.id[0] = f->result[0];
    for (int k = 0; k < f->n_params; k++) u.operand[k] = k < n->n_in ? n->in[k] : -1;
    u.n_operands = f->n_params;
    for (size_t i = (size_t)node + 1; i < p->g->n_nodes && u.n < HD_GPU_GROUP; i++) {
        struct hd_expr *g;
        bool open = false; /* somebody reads the last one, or those before it */
        for (int k = 0; k < u.n; k++) open = open || others(p, &u, k) > 0;
        if (!open) break;
        TRY(candidate(p, &u, (int)i, &g));
        if (!g) continue;
        if (!add(p, &u, (int)i, g)) break;
        bool closed = true;
        for (int k = 0; k + 1 < u.n; k++) closed = closed && others(p, &u, k) == 0;
        if (!closed) continue;
        *out = u;
        *out_any = true;
    }
    for (int k = *out_any ? out->n - 2 : -1; k >= 0 && *out_any; k--)
        *out_any = hd_expr_inline(out->f, out->id[k]);
    return HD_OK;
}
