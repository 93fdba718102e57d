/* Step makers for integer operations on rows: softmax, layer normalisation, products of two
 * computed operands, elementwise pairs that broadcast, tables. Their kernels: cpu_int8_rows.h. */
#include <math.h>
#include <string.h>

#include "cpu_ref/cpu_int8_int.h"
#include "cpu_ref/cpu_int8_rows.h"
#include "cpu_ref/cpu_quant.h"
#include "cpu_ref/k_matmul.h"
#include "cpu_ref/walk.h"
#include "runtime/base/num.h"
#include "runtime/base/parallel.h"

#ifdef __x86_64__

enum {
    PARALLEL_MIN = 65536,       /* elements that are worth a second thread */
    PARALLEL_PRODUCTS = 400000, /* the same of products */
    SOFTMAX_MIN = 512           /* elements that are worth a table of exponentials */
};

static const struct hd_tensor *operand(const struct hd_cpu_plan *p, const struct hd_node *n,
                                       int i) {
    return hd_cpu_tensor(p, n->in[i]);
}

/* The first row of part i. */
static int64_t part(int64_t rows, int64_t i, int64_t parts) {
    return rows * i / parts;
}

/* ---- softmax and layer normalisation -------------------------------------------------------- */

struct rows {
    int64_t rows;
    int threads;
    size_t scratch; /* of a thread */
    struct hd_q_softmax softmax;
    struct hd_q_norm norm;
};

/* Elements of the scratch of a row of n; a multiple of 64 bytes. */
static size_t row_scratch(int64_t n) {
    return (size_t)hd_round_up(n + 16, 16) * sizeof(float);
}

static void softmax_part(void *arg, int64_t i, int thread) {
    const struct hd_cpu_share *h = arg;
    const struct rows *k = h->s->state;
    int64_t n = k->softmax.n, first = part(k->rows, i, k->threads),
            end = part(k->rows, i + 1, k->threads);
    hd_q_softmax_run(&k->softmax, end - first, (uint8_t *)h->r->at[h->s->in[0]] + first * n,
                     (uint8_t *)h->r->at[h->s->out[0]] + first * n,
                     (void *)((uint8_t *)h->r->scratch + (size_t)thread * k->scratch));
}

static hd_status run_softmax(struct hd_cpu_run *r, const struct hd_cpu_step *s) {
    const struct rows *k = s->state;
    struct hd_cpu_share h = {r, s};
    hd_parallel(k->threads, k->threads, softmax_part, &h);
    return HD_OK;
}

static void norm_part(void *arg, int64_t i, int thread) {
    const struct hd_cpu_share *h = arg;
    const struct rows *k = h->s->state;
    const int *in = h->s->in;
    int64_t n = k->norm.n, first = part(k->rows, i, k->threads),
            end = part(k->rows, i + 1, k->threads);
    hd_q_norm_run(&k->norm, end - first, (uint8_t *)h->r->at[in[0]] + first * n, h->r->at[in[1]],
                  h->r->at[in[2]], (uint8_t *)h->r->at[h->s->out[0]] + first * n,
                  (void *)((uint8_t *)h->r->scratch + (size_t)thread * k->scratch));
}

static hd_status run_norm(struct hd_cpu_run *r, const struct hd_cpu_step *s) {
    const struct rows *k = s->state;
    struct hd_cpu_share h = {r, s};
    hd_parallel(k->threads, k->threads, norm_part, &h);
    return HD_OK;
}

static hd_status rows_step(struct hd_cpu_plan *p, int node, int n_in, struct rows *k, int64_t n,
                           hd_status (*run)(struct hd_cpu_run *, const struct hd_cpu_step *)) {
    const struct hd_node *d = &p->g->nodes[node];
    int64_t elems = hd_tensor_elems(operand(p, d, 0));
    int in[3], out;
    for (int i = 0; i < n_in; i++) TRY(hd_cpu_need(p, d->in[i], hd_cpu_dense, &in[i]));
    k->rows = elems / n;
    k->threads = elems < PARALLEL_MIN ? 1 : (int)hd_min(p->threads, k->rows);
    k->scratch = row_scratch(n);
    hd_cpu_scratch(p, k->scratch * (size_t)k->threads);
    out = hd_cpu_make(p, d->out[0], hd_cpu_dense, 0);
    struct hd_cpu_step *s = hd_cpu_step(p, node, "int8", n_in, in, 1, &out);
    s->run = run;
    s->state = hd_dup(p->arena, k, sizeof *k);
    return HD_OK;
}

/* Of few elements golden computes the exponentials as soon as a table is made. */
static hd_status plan_softmax(struct hd_cpu_plan *p, int node, bool *out_taken) {
    const struct hd_node *n = &p->g->nodes[node];
    const struct hd_tensor *x = operand(p, n, 0);
    int64_t axis = hd_attr_int(n, "axis", -1), inner = 1;
    struct rows k = {.softmax = {.x_signed = x->dtype == HD_I8,
                                 .x_scale = hd_attr_float(n, "x_scale", 1),
                                 .scale = hd_attr_float(n, "scale", 1)}};
    if (axis < 0) axis += x->rank;
    for (int64_t d = axis + 1; d < x->rank; d++) inner *= x->dim[d];
    if (!hd_cpu_is_byte(x) || !hd_cpu_q_out(p, n, &k.softmax.out) || inner != 1 ||
        hd_tensor_elems(x) < SOFTMAX_MIN)
        return HD_OK;
    k.softmax.n = x->dim[axis];
    int32_t *exps = hd_new_array(p->arena, int32_t, HD_Q_EXPS);
    hd_q_softmax_exps(&k.softmax, exps);
    k.softmax.exps = exps;
    *out_taken = true;
    return rows_step(p, node, 1, &k, k.softmax.n, run_softmax);
}

static hd_status plan_norm(struct hd_cpu_plan *p, int node, bool *out_taken) {
    const struct hd_node *n = &p->g->nodes[node];
    const struct hd_tensor *x = operand(p, n, 0);
    int64_t zp = hd_attr_int(n, "x_zp", 0);
    struct rows k = {.norm = {.n = x->rank ? x->dim[x->rank - 1] : 0,
                              .x_signed = x->dtype == HD_I8,
                              .centred = hd_attr_int(n, "centred", 1) != 0,
                              .x_zp = (int32_t)zp,
                              .epsilon = hd_attr_float(n, "epsilon", 0)}};
    if (!hd_cpu_is_byte(x) || !hd_cpu_q_out(p, n, &k.norm.out) || !hd_tensor_elems(x) ||
        !hd_cpu_small_zp(zp))
        return HD_OK;
    *out_taken = true;
    return rows_step(p, node, 3, &k, k.norm.n, run_norm);
}

/* ---- products ------------------------------------------------------------------------------- */

struct product {
    struct hd_q_matmul of; /* of one part: some rows of a batch */
    int64_t m, batches, parts;
    const int64_t *a, *b; /* of each batch: where its operands begin */
    int threads;
    size_t scratch;
};

static void product_part(void *arg, int64_t i, int thread) {
    const struct hd_cpu_share *h = arg;
    const struct product *k = h->s->state;
    int64_t q = i / k->parts, first = part(k->m, i % k->parts, k->parts);
    struct hd_q_matmul now = k->of;
    now.m = part(k->m, i % k->parts + 1, k->parts) - first;
    hd_q_matmul_run(&now, (uint8_t *)h->r->at[h->s->in[0]] + k->a[q] + first * now.depth,
                    (uint8_t *)h->r->at[h->s->in[1]] + k->b[q],
                    (uint8_t *)h->r->at[h->s->out[0]] + (q * k->m + first) * now.n,
                    (uint8_t *)h->r->scratch + (size_t)thread * k->scratch);
}

static hd_status run_product(struct hd_cpu_run *r, const struct hd_cpu_step *s) {
    const struct product *k = s->state;
    struct hd_cpu_share h = {r, s};
    hd_parallel(k->threads, k->batches * k->parts, product_part, &h);
    return HD_OK;
}

/* Where each batch of y finds operand i, of `size` elements a batch. */
static const int64_t *batches_of(struct hd_cpu_plan *p, const struct hd_node *n, int i,
                                 int64_t batches, int64_t size) {
    const struct hd_tensor *x = operand(p, n, i), *y = hd_cpu_tensor(p, n->out[0]);
    int64_t *at = hd_new_array(p->arena, int64_t, (size_t)batches);
    for (int64_t q = 0; q < batches; q++)
        at[q] = size * hd_batch_offset(q, y->dim, y->rank - 2, x->dim, x->rank - 2);
    return at;
}

static hd_status plan_product(struct hd_cpu_plan *p, int node, bool *out_taken) {
    const struct hd_node *n = &p->g->nodes[node];
    const struct hd_tensor *a = operand(p, n, 0), *b = operand(p, n, 1),
                           *y = hd_cpu_tensor(p, n->out[0]);
    int64_t a_zp = hd_attr_int(n, "a_zp", 0), b_zp = hd_attr_int(n, "b_zp", 0);
    struct product k = {.of = {.a_zp = (int32_t)a_zp,
                               .b_zp = (int32_t)b_zp,
                               .a_signed = a->dtype == HD_I8,
                               .b_signed = b->dtype == HD_I8,
                               .scale = hd_attr_float(n, "scale", 1)}};
    if (a->rank < 2 || b->rank < 2 || !hd_cpu_is_byte(a) || !hd_cpu_is_byte(b) ||
        !hd_tensor_elems(y) || !hd_tensor_elems(a) || !hd_cpu_small_zp(a_zp) ||
        !hd_cpu_small_zp(b_zp) || !isfinite(k.of.scale) || !hd_cpu_q_out(p, n, &k.of.out))
        return HD_OK;
    k.m = a->dim[a->rank - 2];
    k.of.depth = a->dim[a->rank - 1];
    k.of.n = b->dim[b->rank - 1];
    k.batches = hd_tensor_elems(y) / (k.m * k.of.n);
    k.a = batches_of(p, n, 0, k.batches, k.m * k.of.depth);
    k.b = batches_of(p, n, 1, k.batches, k.of.depth * k.of.n);
    k.threads = hd_tensor_elems(y) * k.of.depth < PARALLEL_PRODUCTS ? 1 : p->threads;
    k.parts = k.batches >= k.threads ? 1 : hd_min(hd_ceil_div(k.threads, k.batches), k.m);
    k.of.m = hd_ceil_div(k.m, k.parts);
    k.scratch = hd_q_matmul_scratch(&k.of);
    int in[2], out;
    for (int i = 0; i < 2; i++) TRY(hd_cpu_need(p, n->in[i], hd_cpu_dense, &in[i]));
    hd_cpu_scratch(p, k.scratch * (size_t)k.threads);
    out = hd_cpu_make(p, n->out[0], hd_cpu_dense, 0);
    struct hd_cpu_step *s = hd_cpu_step(p, node, "int8", 2, in, 1, &out);
    s->run = run_product;
    s->state = hd_dup(p->arena, &k, sizeof k);
    *out_taken = true;
    return HD_OK;
}

/* ---- elementwise ---------------------------------------------------------------------------- */

struct pairs {
    struct hd_q_pair of;
    struct hd_walk walk; /* over runs */
    int64_t runs, n;
    bool a_steps, b_steps;
};

static hd_status run_pairs(struct hd_cpu_run *r, const struct hd_cpu_step *s) {
    const struct pairs *k = s->state;
    const uint8_t *a = r->at[s->in[0]], *b = r->at[s->in[1]];
    uint8_t *y = r->at[s->out[0]];
    struct hd_walk w = k->walk;
    for (int64_t i = 0; i < k->runs; i++, y += k->n, hd_walk_next(&w))
        hd_q_pair_run(&k->of, a + w.index[0], k->a_steps, b + w.index[1], k->b_steps, y, k->n);
    return HD_OK;
}

/* Dimensions of t, which has at most `rank`, in the order in which they lie; those that it lacks
 * are 1. */
static void dims_of(const struct hd_tensor *t, int rank, bool last, int64_t *dim) {
    for (int d = 0; d < rank; d++) dim[d] = d < rank - t->rank ? 1 : t->dim[d - (rank - t->rank)];
    if (!last || rank < 3) return;
    int64_t channels = dim[1];
    memmove(dim + 1, dim + 2, (size_t)(rank - 2) * sizeof *dim);
    dim[rank - 1] = channels;
}

/* The longest run of results along which each operand lies side by side or is one element, and how
 * the operands move from one to the next. */
static void find_runs(const struct hd_cpu_plan *p, const struct hd_node *n, bool last,
                      struct pairs *k) {
    const struct hd_tensor *y = hd_cpu_tensor(p, n->out[0]);
    int64_t dim[HD_MAX_RANK], of[2][HD_MAX_RANK], stride[2][HD_MAX_RANK];
    int outer = y->rank;
    dims_of(y, y->rank, last, dim);
    for (int i = 0; i < 2; i++) {
        int64_t step = 1;
        dims_of(operand(p, n, i), y->rank, last, of[i]);
        for (int d = y->rank - 1; d >= 0; step *= of[i][d], d--)
            stride[i][d] = of[i][d] == 1 ? 0 : step;
    }
    k->n = 1;
    k->a_steps = k->b_steps = false;
    for (; outer > 0; outer--) {
        bool steps[2], fits = true;
        if (dim[outer - 1] == 1) continue;
        for (int i = 0; i < 2; i++) {
            steps[i] = of[i][outer - 1] != 1;
            fits = fits && (k->n == 1 || steps[i] == (i ? k->b_steps : k->a_steps));
        }
        if (!fits) break;
        k->n *= dim[outer - 1];
        k->a_steps = steps[0], k->b_steps = steps[1];
    }
    hd_walk_init(&k->walk, outer, dim);
    for (int i = 0; i < 2; i++) hd_walk_strides(&k->walk, i, 0, stride[i]);
    k->runs = hd_tensor_elems(y) / k->n;
}

/* Channels last is for tensors of one rank. */
static bool all_of_rank(const struct hd_cpu_plan *p, const struct hd_node *n) {
    int rank = hd_cpu_tensor(p, n->out[0])->rank;
    return rank >= 3 && operand(p, n, 0)->rank == rank && operand(p, n, 1)->rank == rank;
}

static hd_status plan_pairs(struct hd_cpu_plan *p, int node, bool *out_taken) {
    const struct hd_node *n = &p->g->nodes[node];
    struct pairs k = {.of = {.product = n->op == HD_IR_qmul}};
    struct hd_q_sum *of = &k.of.of;
    if (!hd_cpu_q_pair(p, n, false, of) || !hd_tensor_elems(hd_cpu_tensor(p, n->out[0])))
        return HD_OK;
    if (k.of.product) of->a_scale = hd_attr_float(n, "scale", 1), of->b_scale = 1;
    if (!hd_q_is_small(of->a_scale) || !hd_q_is_small(of->b_scale)) return HD_OK;
    struct hd_cpu_form form = all_of_rank(p, n) ? hd_cpu_cheapest(p, n) : hd_cpu_dense;
    find_runs(p, n, form.kind == HD_CPU_LAST, &k);
    int in[2], out;
    for (int i = 0; i < 2; i++) TRY(hd_cpu_need(p, n->in[i], form, &in[i]));
    out = hd_cpu_make(p, n->out[0], form, 0);
    struct hd_cpu_step *s = hd_cpu_step(p, node, "int8", 2, in, 1, &out);
    s->run = run_pairs;
    s->state = hd_dup(p->arena, &k, sizeof k);
    *out_taken = true;
    return HD_OK;
}

static hd_status run_table(struct hd_cpu_run *r, const struct hd_cpu_step *s) {
    const uint8_t *x = r->at[s->in[0]], *table = r->at[s->in[1]];
    uint8_t *y = r->at[s->out[0]];
    int64_t n = (int64_t)r->plan->views[s->out[0]].bytes;
    for (int64_t i = 0; i < n; i++) y[i] = table[x[i]];
    return HD_OK;
}

static hd_status plan_table(struct hd_cpu_plan *p, int node, bool *out_taken) {
    const struct hd_node *n = &p->g->nodes[node];
    struct hd_cpu_form form = hd_cpu_cheapest(p, n);
    int in[2], out;
    TRY(hd_cpu_need(p, n->in[0], form, &in[0]));
    TRY(hd_cpu_need(p, n->in[1], hd_cpu_dense, &in[1]));
    out = hd_cpu_make(p, n->out[0], form, 0);
    struct hd_cpu_step *s = hd_cpu_step(p, node, "int8", 2, in, 1, &out);
    s->run = run_table;
    *out_taken = true;
    return HD_OK;
}

hd_status hd_cpu_q_rows(struct hd_cpu_plan *p, int node, bool *out_taken) {
    switch (p->g->nodes[node].op) {
    case HD_IR_qsoftmax:
        return plan_softmax(p, node, out_taken);
    case HD_IR_qlayernorm:
        return plan_norm(p, node, out_taken);
    case HD_IR_qmatmul:
        return plan_product(p, node, out_taken);
    case HD_IR_qadd:
    case HD_IR_qmul:
        return plan_pairs(p, node, out_taken);
    case HD_IR_qtable:
        return plan_table(p, node, out_taken);
    default:
        return HD_OK;
    }
}

#endif
