/* A loop whose iterations are lanes as text: neighbours in memory are read and written at once. */
#include "compiler/loop/emit.h"

enum { MOST_BYTES = 16 };

static const struct hd_expr_node *node_of(const struct hd_emitter *e, int node) {
    return &e->n->f->node[node];
}

/* A multiple of n in the loop's first iteration. */
static bool multiple(const struct hd_emitter *e, int node, int loop, int64_t n) {
    const struct hd_expr_node *k = node_of(e, node);
    if (k->op == HD_EXPR_INT) return k->i % n == 0;
    if (k->op == HD_EXPR_VAR) return k->i == loop;
    bool a = k->n > 0 && multiple(e, k->arg[0], loop, n);
    bool b = k->n > 1 && multiple(e, k->arg[1], loop, n);
    if (k->op == HD_EXPR_add || k->op == HD_EXPR_sub) return a && b;
    return k->op == HD_EXPR_mul && (a || b) && !hd_expr_uses(e->n->f, node, loop);
}

/* The index is the loop's, and a number besides. */
static bool steps_by_one(const struct hd_emitter *e, int node, int loop) {
    const struct hd_expr_node *k = node_of(e, node);
    if (k->op == HD_EXPR_VAR) return k->i == loop;
    if (k->op != HD_EXPR_add) return false;
    bool a = hd_expr_uses(e->n->f, k->arg[0], loop), b = hd_expr_uses(e->n->f, k->arg[1], loop);
    return a != b && steps_by_one(e, k->arg[a ? 0 : 1], loop);
}

/* The loop's elements lie side by side, the first where a vector may lie. */
static bool is_vector(const struct hd_emitter *e, int tensor, int n, const int *index, int loop) {
    const struct hd_expr_tensor *t = &e->n->f->tensor[tensor];
    int64_t lanes = e->n->loop[loop].extent;
    if (!n || lanes * (int64_t)hd_dtype_bytes((hd_dtype)t->type) > MOST_BYTES) return false;
    for (int d = 0; d + 1 < n; d++)
        if (hd_expr_uses(e->n->f, index[d], loop)) return false;
    return steps_by_one(e, index[n - 1], loop) && multiple(e, index[n - 1], loop, lanes) &&
           (n < 2 || t->dim[n - 1].value % lanes == 0);
}

/* Accesses below the node that are vectors; what stands under pad is read by itself. */
static void find(struct hd_emitter *e, int node, int loop) {
    const struct hd_expr_node *k = node_of(e, node);
    if (k->op == HD_EXPR_PAD) return;
    bool fits = k->op == HD_EXPR_ACCESS && !k->checked && e->n_vectors < HD_EMIT_VECTORS;
    if (fits && is_vector(e, (int)k->i, k->n, k->arg, loop))
        e->vector[e->n_vectors++] = node;
    else
        for (int i = 0; i < k->n; i++) find(e, k->arg[i], loop);
}

static void type_of(struct hd_emitter *e, int tensor) {
    fprintf(e->out, "hd_vector<%s, %lld>", e->d->type[e->n->f->tensor[tensor].type],
            (long long)e->n->loop[e->lanes].extent);
}

static void place(struct hd_emitter *e, const char *qualifier, int tensor, int n,
                  const int *index) {
    fprintf(e->out, "*(%s", qualifier);
    type_of(e, tensor);
    fputs(" *)&", e->out);
    hd_emit_element(e, tensor, n, index);
}

bool hd_emit_lane(struct hd_emitter *e, int node) {
    for (int i = 0; i < e->n_vectors; i++)
        if (e->vector[i] == node) {
            fprintf(e->out, "hd_v%d.lane[i%d]", i, e->lanes);
            return true;
        }
    return false;
}

bool hd_emit_vector(struct hd_emitter *e, const struct hd_loop_stmt *s) {
    const struct hd_loop_stmt *y = s->body;
    int n = (int)e->n->loop[s->loop].extent;
    if (!e->d->intrinsics || y->next || y->kind != HD_LOOP_SET || (n != 2 && n != 4) ||
        !is_vector(e, y->tensor, y->n_index, y->index, s->loop))
        return false;
    e->lanes = s->loop;
    find(e, y->value, s->loop);
    fprintf(e->out, "{ const int i%d = 0;\n", s->loop);
    for (int i = 0; i < e->n_vectors; i++) {
        const struct hd_expr_node *k = node_of(e, e->vector[i]);
        fputs("const ", e->out);
        type_of(e, (int)k->i);
        fprintf(e->out, " hd_v%d = ", i);
        place(e, "const ", (int)k->i, k->n, k->arg);
        fputs(";\n", e->out);
    }
    type_of(e, y->tensor);
    fprintf(e->out,
            " hd_y;\n\n#pragma unroll\nfor (int i%d = 0; i%d < %d; i%d++)\nhd_y.lane[i%d] = ",
            s->loop, s->loop, n, s->loop, s->loop);
    hd_emit_value(e, y->value);
    fputs(";\n", e->out);
    e->n_vectors = 0;
    place(e, "", y->tensor, y->n_index, y->index);
    fputs(" = hd_y;\n}\n", e->out);
    return true;
}
