/* The step gemm: a block computes a part of a sum of products of bytes, as its own loop does. */
#include "compiler/expr/expr_int.h"
#include "compiler/loop/loop_int.h"

enum { ROWS = 16, COLUMNS = 8, PIECE = 16, MOST_PARTS = 32, MOST_STAGES = 8 };

/* The reduced loop that alone is the last index, in whole pieces; -1 = there is none. */
static int depth_of(const struct hd_lowering *l, int access) {
    const struct hd_expr_node *k = &l->f->node[access];
    const struct hd_expr_node *last = k->n ? &l->f->node[k->arg[k->n - 1]] : NULL;
    if (!last || last->op != HD_EXPR_VAR) return -1;
    const struct hd_loop *x = &l->nest->loop[last->i];
    bool whole = x->extent == l->f->tensor[k->i].dim[k->n - 1].value && x->extent % PIECE == 0;
    for (int d = 0; d + 1 < k->n; d++)
        if (hd_expr_uses(l->f, k->arg[d], (int)last->i)) return -1;
    return x->reduced && whole ? (int)last->i : -1;
}

/* Loops that are not reduced, then those that are; the first moves one factor alone, the others
 * that are not reduced the other one alone. */
static bool right_loops(const struct hd_lowering *l, const struct hd_stage *g, int at, const int *x,
                        int *out_inner) {
    bool reduced = false;
    int which = hd_expr_uses(l->f, x[0], g->loop[at]) ? 0 : 1;
    *out_inner = -1;
    for (int i = at; i < g->n_loops; i++) {
        const struct hd_loop *k = &l->nest->loop[g->loop[i]];
        if (k->mark || k->intrinsic || (reduced && !k->reduced)) return false;
        reduced = k->reduced;
        if (reduced) continue;
        int mine = i == at ? which : 1 - which;
        bool moves =
            hd_expr_uses(l->f, x[mine], g->loop[i]) || i > at; /* one column: nothing does */
        if (!moves || hd_expr_uses(l->f, x[1 - mine], g->loop[i])) return false;
        *out_inner = i;
    }
    return reduced && *out_inner > at && *out_inner - at < 3;
}

hd_status hd_step_gemm(struct hd_lowering *l, struct hd_stage *g, int at) {
    int64_t parts = l->step->number[2], stages = l->step->number[3];
    int inner, x[2] = {-1, -1};
    if (parts < 1 || parts > MOST_PARTS || stages > MOST_STAGES || stages == 1 ||
        (stages && parts > 1))
        return hd_step_fail(l,
                            "%lld parts and %lld stages, allowed 1 to %d, 0 and 2 to %d, not both",
                            (long long)parts, (long long)stages, MOST_PARTS, MOST_STAGES);
    if (g->home < 0) return hd_step_fail(l, "nothing reads it in a block; compute_at comes first");
    int value = hd_node_expand(l, g, g->value);
    const struct hd_expr_node k = l->f->node[value];
    for (int i = 0; k.op == HD_EXPR_mul && i < 2; i++) x[i] = hd_expr_byte(l->f, k.arg[i]);
    if (g->s->reduce != HD_REDUCE_SUM || x[0] < 0 || x[1] < 0 || g->n_buffers)
        return hd_step_fail(l, "it is no sum of products of bytes as they lie in memory");
    int depth = depth_of(l, x[0]);
    if (depth < 0 || depth != depth_of(l, x[1]))
        return hd_step_fail(l,
                            "the last dimension of both factors is not the same reduced one, a "
                            "multiple of %d long",
                            PIECE);
    if (!right_loops(l, g, at, x, &inner))
        return hd_step_fail(l, "from here on loops of one factor, of the other, then reduced ones");
    struct hd_loop *rows = &l->nest->loop[g->loop[at]];
    const struct hd_loop *columns = &l->nest->loop[g->loop[inner]];
    bool one = columns->extent == 1 && inner == at + 1 && !stages;
    if (rows->extent % ROWS || (columns->extent % COLUMNS && !one))
        return hd_step_fail(l, "%lld rows and %lld columns, allowed multiples of %d and %d, or one",
                            (long long)rows->extent, (long long)columns->extent, ROWS, COLUMNS);
    rows->intrinsic = "gemm";
    rows->parts = (int)parts;
    rows->stages = (int)stages;
    g->fixed = true;
    return HD_OK;
}
