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

/* An image of bytes that a plan may lay out. */
static bool is_image(const struct hd_gpu_plan *p, int tensor) {
    const struct hd_tensor *t = &p->g->tensors[tensor];
    int64_t pixels = 1;
    if (!is_byte(t) || !t->known || t->rank < 3 || t->rank > HD_EXPR_RANK) return false;
    for (int d = 2; d < t->rank; d++) pixels *= t->dim[d];
    return pixels > 1 && t->dim[1] >= LEAST_CHANNELS && !hd_gpu_const(p, tensor);
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

/* ---- images --------------------------------------------------------------------------------- */

struct images { /* of a plan, while it chooses */
    struct hd_gpu_plan *p;
    bool *may;     /* per tensor: nobody wants it as ONNX says */
    bool *product; /* per node: it has sums of products, which say what they want */
};

/* The node's expression, when its kernels are made of it: it finds elements wherever they lie. */
static struct hd_expr *follows(struct hd_gpu_plan *p, int node) {
    const struct hd_node *n = &p->g->nodes[node];
    struct hd_expr *f = NULL;
    if (hd_gpu_moves(n)) return NULL;
    if (hd_gpu_expression(p, n, &f) != HD_OK) hd_clear(p->ctx);
    return f && (size_t)n->n_out <= f->n_results ? f : NULL;
}

/* A factor whose reduced dimension is the channels wants them last, and so does the result; one
 * that has it last already wants to stay as it is. */
static void ask(struct images *m, int node, struct hd_expr *f) {
    const struct hd_node *n = &m->p->g->nodes[node];
    hd_expr_split_offsets(f);
    for (size_t s = 0; s < f->n_stmts; s++) {
        const struct hd_expr_node *k = &f->node[f->stmt[s].value];
        if (f->stmt[s].reduce != HD_REDUCE_SUM || k->op != HD_EXPR_mul) continue;
        int x[2] = {access_below(f, k->arg[0]), access_below(f, k->arg[1])};
        for (int i = 0; i < 2 && x[0] >= 0 && x[1] >= 0; i++) {
            int param = (int)f->node[x[i]].i, t = param < n->n_in ? n->in[param] : -1;
            int d = shared_dimension(f, &f->stmt[s], x[i], x[1 - i]);
            if (t < 0 || d < 0 || !m->may[t]) continue;
            m->product[node] = true;
            if (d == 1)
                m->p->channels_last[t] = m->p->channels_last[n->out[0]] = true;
            else if (d == f->node[x[i]].n - 1)
                m->may[t] = false;
        }
    }
}

static bool is_last(const struct images *m, int tensor) {
    return tensor >= 0 && m->may[tensor] && m->p->channels_last[tensor];
}

/* Images of a node without products lie alike. True: one more lies so. */
static bool spread(struct images *m, int node) {
    const struct hd_node *n = &m->p->g->nodes[node];
    bool any = false, more = false;
    if (!m->p->wanted[node] || m->product[node]) return false;
    for (int k = 0; k < n->n_in + n->n_out; k++)
        any = any || is_last(m, k < n->n_in ? n->in[k] : n->out[k - n->n_in]);
    for (int k = 0; k < n->n_in + n->n_out && any; k++) {
        int t = k < n->n_in ? n->in[k] : n->out[k - n->n_in];
        if (t < 0 || !m->may[t] || m->p->channels_last[t]) continue;
        m->p->channels_last[t] = more = true;
    }
    return more;
}

static void refuse(struct images *m, int tensor) {
    if (tensor >= 0) m->may[tensor] = false;
}

void hd_gpu_layout(struct hd_gpu_plan *p) {
    size_t n_tensors = p->g->n_tensors, n_nodes = p->g->n_nodes;
    struct images m = {p, hd_new_array(p->arena, bool, n_tensors + 1),
                       hd_new_array(p->arena, bool, n_nodes + 1)};
    p->channels_last = hd_new_array(p->arena, bool, n_tensors + 1);
    if (p->tuning.channels_last)
        memcpy(p->channels_last, p->tuning.channels_last, n_tensors * sizeof(bool));
    if (!p->limits->mma || p->tuning.channels_last) return;
    for (size_t t = 0; t < n_tensors; t++) m.may[t] = is_image(p, (int)t);
    for (int i = 0; i < p->io.n_in + p->io.n_out; i++)
        refuse(&m,
               p->model->values[i < p->io.n_in ? p->io.in[i] : p->io.out[i - p->io.n_in]].tensor);
    for (size_t i = 0; i < n_nodes; i++) {
        const struct hd_node *n = &p->g->nodes[i];
        struct hd_expr *f = p->wanted[i] ? follows(p, (int)i) : NULL;
        for (int k = 0; k < n->n_in && p->wanted[i] && !f; k++) refuse(&m, n->in[k]);
        for (int k = 0; k < n->n_out && !f; k++) refuse(&m, n->out[k]);
        if (f) ask(&m, (int)i, f);
    }
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < n_nodes; i++) more |= spread(&m, (int)i);
        for (size_t i = n_nodes; i-- > 0;) more |= spread(&m, (int)i);
    }
    for (size_t t = 0; t < n_tensors; t++) p->channels_last[t] = p->channels_last[t] && m.may[t];
}

/* ---- expressions ---------------------------------------------------------------------------- */

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

void hd_gpu_lay_out_weights(struct hd_gpu_plan *p, struct hd_expr *f, const int *operand,
                            int *dimension_last) {
    for (int i = 0; i < f->n_params; i++) dimension_last[i] = -1;
    for (size_t s = 0; s < f->n_stmts && p->limits->mma; s++) {
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

/* ---- elements ------------------------------------------------------------------------------- */

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
