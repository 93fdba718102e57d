/* A custom operation that says what an operation of the graph says becomes that operation: then
 * every device computes it as its own, and the machine, too. Found by comparing expressions. */
#include <string.h>

#include "compiler/ir/expression.h"
#include "compiler/pass/pattern.h"
#include "compiler/pass/rewrite.h"

struct candidate {
    hd_ctx *ctx;
    hd_arena *a;
    const struct hd_node *n; /* the custom operation */
    const struct hd_tensor *const *in;
    const struct hd_tensor *out;
    struct hd_expr *meaning; /* its expression, bound */
};

static bool is_this(struct candidate *c, enum hd_ir_op op) {
    const struct hd_ir_op_info *info = &hd_ir_ops[op];
    struct hd_node n = *c->n;
    n.op = op;
    n.attrs = NULL;
    n.n_attrs = 0;
    if (op == HD_IR_expression || n.n_in < info->min_in || n.n_in > info->max_in) return false;
    const char *text = hd_expression_of(c->a, &n, n.n_in, c->in, c->out);
    struct hd_expr *f;
    if (!text) return false;
    if (hd_expression_bind(c->ctx, c->a, &n, text, n.n_in, c->in, &f) == HD_OK)
        return hd_expr_same(c->meaning, f);
    hd_clear(c->ctx);
    return false;
}

int hd_rw_expression(hd_ctx *ctx, struct hd_match *m) {
    const struct hd_graph *g = m->g;
    const struct hd_node n = g->nodes[m->root];
    hd_arena *a = hd_arena_create();
    const struct hd_tensor **in = hd_new_array(a, const struct hd_tensor *, (size_t)n.n_in + 1);
    struct hd_tensor *copy = hd_new_array(a, struct hd_tensor, (size_t)n.n_in + 2);
    bool known = n.n_out == 1 && !g->specialised;
    for (int i = 0; i < n.n_in && known; i++) {
        known = n.in[i] >= 0 && g->tensors[n.in[i]].known;
        if (known) copy[i] = g->tensors[n.in[i]];
        in[i] = &copy[i];
    }
    copy[n.n_in] = g->tensors[n.out[0]];
    struct candidate c = {ctx, a, &n, in, &copy[n.n_in], NULL};
    int y = -1, op = HD_IR_OPS;
    if (known && copy[n.n_in].known &&
        hd_expression_bind(ctx, a, &n, hd_attr_string(&n, "expression", ""), n.n_in, in,
                           &c.meaning) == HD_OK)
        for (op = 0; op < HD_IR_OPS && !is_this(&c, (enum hd_ir_op)op);) op++;
    if (op < HD_IR_OPS) y = hd_match_emit(ctx, m, (enum hd_ir_op)op, n.n_in, n.in, NULL, 0, NULL);
    hd_clear(ctx);
    hd_arena_destroy(a);
    return y;
}
