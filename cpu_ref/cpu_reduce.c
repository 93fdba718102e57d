/* Step maker for sums, means and sums of squares of f32: an image is [kept, reduced, kept, ..] dims
 * once neighbours of one kind are joined. The last two are a loop of vectors, the others a walk.
 *
 * Sums have eight parts of f32 over at most BLOCK elements, then f64. */
#include <string.h>

#include "compiler/ir/move.h"
#include "cpu_ref/cpu_plan.h"

enum { BLOCK = 1024, RUNS = HD_MAX_RANK, LANES = 8 };

struct reduction {
    int n; /* runs of dimensions, the last one first */
    bool reduced[RUNS];
    int64_t size[RUNS], in[RUNS], out[RUNS]; /* steps of operand and result */
    bool square;
    double factor;
    int64_t results;
};

static float sum_block(const float *x, int64_t n, bool square) {
    float part[LANES] = {0}, sum = 0;
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int k = 0; k < LANES; k++) part[k] += square ? x[i + k] * x[i + k] : x[i + k];
    for (; i < n; i++) sum += square ? x[i] * x[i] : x[i];
    for (int k = 0; k < LANES; k++) sum += part[k];
    return sum;
}

/* One number from n that lie side by side. */
static void add_row(double *sum, const float *x, int64_t n, bool square) {
    for (int64_t i = 0; i < n; i += BLOCK)
        *sum += (double)sum_block(x + i, n - i < BLOCK ? n - i : BLOCK, square);
}

/* n numbers, each with its own sum. */
static void add_rows(double *sum, const float *x, int64_t n, bool square) {
    for (int64_t i = 0; i < n; i++) sum[i] += (double)(square ? x[i] * x[i] : x[i]);
}

static void walk(const struct reduction *r, int run, const float *x, double *sum) {
    if (run == 0) {
        if (r->reduced[0])
            add_row(sum, x, r->size[0], r->square);
        else
            add_rows(sum, x, r->size[0], r->square);
        return;
    }
    for (int64_t i = 0; i < r->size[run]; i++) /* recursion: as deep as dimensions */
        walk(r, run - 1, x + i * r->in[run], sum + i * r->out[run]);
}

static hd_status run_reduction(struct hd_cpu_run *run, const struct hd_cpu_step *s) {
    const struct reduction *r = s->state;
    double *sum = run->scratch;
    float *y = run->at[s->out[0]];
    memset(sum, 0, sizeof *sum * (size_t)r->results);
    walk(r, r->n - 1, run->at[s->in[0]], sum);
    for (int64_t i = 0; i < r->results; i++) y[i] = (float)(sum[i] * r->factor);
    return HD_OK;
}

/* Joins neighbours of one kind; leaves out dimensions of 1. */
static void find_runs(struct reduction *r, const struct hd_tensor *x, unsigned set) {
    int64_t in = 1, out = 1;
    for (int d = x->rank - 1; d >= 0; d--) {
        bool reduced = set >> d & 1;
        if (x->dim[d] == 1) continue;
        if (r->n && r->reduced[r->n - 1] == reduced) {
            r->size[r->n - 1] *= x->dim[d];
        } else {
            r->reduced[r->n] = reduced, r->size[r->n] = x->dim[d];
            r->in[r->n] = in, r->out[r->n++] = reduced ? 0 : out;
        }
        in *= x->dim[d];
        if (!reduced) out *= x->dim[d];
    }
}

hd_status hd_cpu_reduce(struct hd_cpu_plan *p, int node, bool *out_taken) {
    const struct hd_node *n = &p->g->nodes[node];
    bool mean = n->op == HD_IR_reducemean, square = n->op == HD_IR_reducesumsquare;
    if (n->op != HD_IR_reducesum && !mean && !square) return HD_OK;
    const struct hd_tensor *x = &p->g->tensors[n->in[0]], *y = &p->g->tensors[n->out[0]];
    int64_t axes[HD_MAX_RANK], elems = hd_tensor_elems(x);
    int n_axes = n->n_in > 1 ? hd_cpu_const_ints(p, n->in[1], axes, HD_MAX_RANK) : 0;
    if (x->dtype != HD_F32 || n_axes < 0 || !elems ||
        (!n_axes && hd_attr_int(n, "noop_with_empty_axes", 0)))
        return HD_OK;
    struct reduction *r = hd_new(p->arena, struct reduction);
    find_runs(r, x, n_axes ? hd_axes_set(x->rank, n_axes, axes) : ~0u);
    r->results = hd_tensor_elems(y), r->square = square;
    r->factor = mean ? (double)r->results / (double)elems : 1;
    if (r->n < 2 && !(r->n == 1 && r->reduced[0])) return HD_OK; /* nothing to sum */
    int in = -1;
    TRY(hd_cpu_need(p, n->in[0], hd_cpu_dense, &in));
    int out = hd_cpu_make(p, n->out[0], hd_cpu_dense, 0);
    hd_cpu_scratch(p, sizeof(double) * (size_t)r->results);
    struct hd_cpu_step *s = hd_cpu_step(p, node, "sums", 1, &in, 1, &out);
    s->run = run_reduction;
    s->state = r;
    *out_taken = true;
    return HD_OK;
}
