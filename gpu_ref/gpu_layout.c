/* Where elements of tensors lie: see gpu_layout.h. */
#include "gpu_ref/gpu_layout.h"

#include <string.h>

#include "compiler/expr/rewrite.h"
#include "gpu_ref/gpu_express.h"
#include "gpu_ref/gpu_schedule_int.h"

enum { LEAST_CHANNELS = 16 };

static bool is_byte(const struct hd_tensor *t) {
    return t->dtype == HD_I8 || t->dtype == HD_U8;
}

/* A node whose kernels are made of an expression, which reads and writes elements wherever they
 * lie. */
static bool follows(struct hd_gpu_plan *p, int node) {
    const struct hd_node *n = &p->g->nodes[node];
    struct hd_expr *f = NULL;
    if (!p->wanted[node] || hd_gpu_moves(n)) return false;
    hd_status s = hd_gpu_expression(p, n, &f);
    if (s != HD_OK) hd_clear(p->ctx);
    return s == HD_OK && f && (size_t)n->n_out <= f->n_results;
}

static bool is_image(const struct hd_gpu_plan *p, int tensor) {
    const struct hd_tensor *t = &p->g->tensors[tensor];
    int64_t pixels = 1;
    if (!is_byte(t) || !t->known || t->rank < 3 || t->rank > HD_EXPR_RANK) return false;
    for (int d = 2; d < t->rank; d++) pixels *= t->dim[d];
    return pixels > 1 && t->dim[1] >= LEAST_CHANNELS && !hd_gpu_const(p, tensor);
}

void hd_gpu_layout(struct hd_gpu_plan *p) {
    p->channels_last = hd_new_array(p->arena, bool, p->g->n_tensors + 1);
    for (size_t t = 0; p->tuning.channels_last && t < p->g->n_tensors; t++)
        p->channels_last[t] = p->tuning.channels_last[t];
    if (!p->limits->mma || p->tuning.plain || p->tuning.channels_last) return;
    bool *made = hd_new_array(p->arena, bool, p->g->n_tensors + 1);
    for (size_t t = 0; t < p->g->n_tensors; t++) p->channels_last[t] = is_image(p, (int)t);
    for (size_t i = 0; i < p->g->n_nodes; i++) {
        const struct hd_node *n = &p->g->nodes[i];
        if (!p->wanted[i]) continue;
        bool all = follows(p, (int)i);
        for (int k = 0; k < n->n_in && !all; k++)
            if (n->in[k] >= 0) p->channels_last[n->in[k]] = false;
        for (int k = 0; k < n->n_out; k++)
            if (n->out[k] >= 0) made[n->out[k]] = all;
    }
    for (size_t t = 0; t < p->g->n_tensors; t++)
        p->channels_last[t] = p->channels_last[t] && made[t];
    for (int i = 0; i < p->io.n_in + p->io.n_out; i++) {
        int value = i < p->io.n_in ? p->io.in[i] : p->io.out[i - p->io.n_in];
        p->channels_last[p->model->values[value].tensor] = false;
    }
}

static void last(int rank, int dimension, int *order) {
    int n = 0;
    for (int d = 0; d < rank; d++)
        if (d != dimension) order[n++] = d;
    order[rank - 1] = dimension;
}

static bool same_shape(const struct hd_expr_tensor *a, const struct hd_expr_tensor *b) {
    bool same = a->rank == b->rank;
    for (int d = 0; same && d < a->rank; d++) same = a->dim[d].value == b->dim[d].value;
    return same;
}

void hd_gpu_lay_out(const struct hd_gpu_plan *p, struct hd_expr *f, const int *operand,
                    const int *result, int n_results) {
    int order[HD_EXPR_RANK];
    for (int i = 0; i < f->n_params; i++) {
        if (operand[i] < 0 || !p->channels_last[operand[i]] || f->tensor[i].absent) continue;
        last(f->tensor[i].rank, 1, order);
        hd_expr_permute(f, i, order);
    }
    for (int i = 0; i < n_results; i++) {
        if (result[i] < 0 || !p->channels_last[result[i]]) continue;
        const struct hd_expr_tensor y = f->tensor[f->result[i]]; /* what is on the way to it, too */
        last(y.rank, 1, order);
        for (int t = f->n_params; t < (int)f->n_tensors; t++)
            if (t == f->result[i] || (!f->tensor[t].result && same_shape(&f->tensor[t], &y)))
                hd_expr_permute(f, t, order);
    }
}

/* The variable of the sum that both factors share, where it is one dimension of the access. */
static int shared_dimension(const struct hd_expr *f, const struct hd_expr_stmt *s, int access,
                            int other) {
    int best = -1;
    int64_t most = 0;
    for (int v = 0; v < s->n_vars; v++) {
        int d = hd_gpu_dimension_with(f, access, v);
        bool both = d >= 0 && hd_expr_uses(f, other, v) && s->var[v].reduced;
        if (!both || f->node[f->node[access].arg[d]].op != HD_EXPR_VAR || s->var[v].extent <= most)
            continue;
        best = d;
        most = s->var[v].extent;
    }
    return best;
}

static int access_below(const struct hd_expr *f, int node) {
    const struct hd_expr_node *k = &f->node[node];
    if (k->op == HD_EXPR_ACCESS) return node;
    return k->n == 1 || k->op == HD_EXPR_PAD ? access_below(f, k->arg[0]) : -1;
}

void hd_gpu_lay_out_weights(struct hd_gpu_plan *p, struct hd_expr *f, const int *operand,
                            int *dimension_last) {
    for (int i = 0; i < f->n_params; i++) dimension_last[i] = -1;
    for (size_t s = 0; s < f->n_stmts && p->limits->mma && !p->tuning.plain; s++) {
        const struct hd_expr_node *k = &f->node[f->stmt[s].value];
        if (f->stmt[s].reduce != HD_REDUCE_SUM || k->op != HD_EXPR_mul) continue;
        int x[2] = {access_below(f, k->arg[0]), access_below(f, k->arg[1])};
        for (int i = 0; i < 2 && x[0] >= 0 && x[1] >= 0; i++) {
            int t = (int)f->node[x[i]].i, order[HD_EXPR_RANK];
            if (t >= f->n_params || operand[t] < 0 || dimension_last[t] >= 0 ||
                !hd_gpu_const(p, operand[t]) || !is_byte(&p->g->tensors[operand[t]]))
                continue;
            int d = shared_dimension(f, &f->stmt[s], x[i], x[1 - i]);
            if (d < 0 || d == f->tensor[t].rank - 1) continue;
            last(f->tensor[t].rank, d, order);
            hd_expr_permute(f, t, order);
            dimension_last[t] = d;
        }
    }
}

/* Element by element of the result; the dimensions behind the one that moves are runs. */
void hd_gpu_reorder(const struct hd_tensor *t, int dimension, bool back, const void *from,
                    void *to) {
    size_t bytes = hd_dtype_bytes(t->dtype), outer = 1, inner = 1;
    size_t n = (size_t)t->dim[dimension];
    for (int d = 0; d < dimension; d++) outer *= (size_t)t->dim[d];
    for (int d = dimension + 1; d < t->rank; d++) inner *= (size_t)t->dim[d];
    for (size_t o = 0; o < outer; o++)
        for (size_t c = 0; c < n; c++)
            for (size_t i = 0; i < inner; i++) {
                size_t plain = (o * n + c) * inner + i, moved = (o * inner + i) * n + c;
                memcpy((char *)to + (back ? plain : moved) * bytes,
                       (const char *)from + (back ? moved : plain) * bytes, bytes);
            }
}
