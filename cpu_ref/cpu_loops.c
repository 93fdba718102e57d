/* Step maker for loops compiled by LLVM: grows a group of nodes around one, lays out its pointers,
 * compiles and runs it. See cpu_loops.h and jit_api.h.
 *
 * A group is a shape; every node in it makes a tensor of that shape, or of its rows (a trailing
 * part reduced to 1). Its loops are rows (merged dimensions that no reduction runs over) of
 * elements.
 */
#include "cpu_ref/cpu_loops.h"

#include <string.h>

#include "cpu_ref/cpu_int8.h"
#include "cpu_ref/dnnl_api.h"
#include "runtime/base/num.h"
#include "runtime/base/parallel.h"

enum {
    CHUNK = 4096,        /* elements of a row, where one long row can be cut */
    PARALLEL_MIN = 32768 /* elements that are worth waking a thread */
};

static const struct hd_tensor *tensor(const struct hd_cpu_plan *p, int id) {
    return &p->g->tensors[id];
}

/* ---- instructions --------------------------------------------------------------------------- */

int hd_loop_ins(struct hd_loop_group *g, enum hd_jit_op op, int a, int b, int c) {
    if (a < 0 || b < 0 || c < 0 || g->prog.n_ins == HD_JIT_INS) return -1;
    g->prog.ins[g->prog.n_ins] =
        (struct hd_jit_ins){.op = (int16_t)op, .a = (int16_t)a, .b = (int16_t)b, .c = (int16_t)c};
    return g->prog.n_ins++;
}

bool hd_loop_row_shape(const struct hd_loop_group *g, const struct hd_tensor *t) {
    if (!g->red || t->rank != g->rank) return false;
    for (int d = 0; d < g->rank; d++)
        if (t->dim[d] != (d >= g->rank - g->red ? 1 : g->dim[d])) return false;
    return true;
}

/* Strides of a dense tensor that broadcasts to the group's shape; false when it does not, or when
 * it is no row of a group that reduces. */
static bool broadcast(const struct hd_loop_group *g, const struct hd_tensor *t, int64_t *stride) {
    int64_t step = 1;
    bool dense = true, fixed = true;
    if (t->rank > g->rank) return false;
    memset(stride, 0, HD_MAX_RANK * sizeof *stride);
    for (int d = g->rank - 1; d >= 0; d--) {
        int from = d - (g->rank - t->rank);
        int64_t size = from < 0 ? 1 : t->dim[from];
        if (size != 1 && size != g->dim[d]) return false;
        if (size != 1) stride[d] = step;
        if (d >= g->rank - g->red && g->dim[d] != 1) {
            dense = dense && stride[d] == step;
            fixed = fixed && stride[d] == 0;
        }
        step *= size;
    }
    return dense || fixed;
}

static int new_ptr(struct hd_loop_group *g) {
    if (g->prog.n_ptrs == HD_JIT_PTRS) return -1;
    g->ptr[g->prog.n_ptrs] = (struct hd_loop_ptr){.tensor = -1};
    return g->prog.n_ptrs++;
}

static int load(struct hd_loop_group *g, int ptr, bool truth) {
    int i = hd_loop_ins(g, truth ? HD_JIT_LOAD_TRUTH : HD_JIT_LOAD, 0, 0, 0);
    if (i >= 0) g->prog.ins[i].ptr = (int16_t)ptr;
    return i;
}

int hd_loop_data(struct hd_loop_group *g, const float *data, const int64_t *stride) {
    int q = g->md ? -1 : new_ptr(g);
    if (q < 0) return -1;
    g->ptr[q].data = data;
    memcpy(g->ptr[q].stride, stride, sizeof g->ptr[q].stride);
    for (int d = 0; d < g->rank; d++)
        if (g->dim[d] == 1) g->ptr[q].stride[d] = 0;
    return load(g, q, false);
}

static bool has_layout(const struct hd_cpu_plan *p, int t, const void *md) {
    for (int v = p->view_of[t]; v >= 0; v = p->views[v].next)
        if (p->views[v].form.kind == HD_CPU_BLOCKED && p->views[v].form.md == md) return true;
    return false;
}

int hd_loop_value(struct hd_loop_group *g, int t) {
    if (t < 0) return -1;
    for (int i = 0; i < g->n_values; i++)
        if (g->value[i].tensor == t) return g->value[i].alone ? -1 : g->value[i].ins;
    const struct hd_tensor *x = tensor(g->p, t);
    const float *v = hd_cpu_const(g->p, t);
    int ins = -1;
    if ((x->dtype != HD_F32 && x->dtype != HD_BOOL) || g->n_values == HD_LOOP_VALUES) return -1;
    if (v && x->dtype == HD_F32 && hd_tensor_elems(x) == 1 && x->rank <= g->rank) {
        ins = hd_loop_ins(g, HD_JIT_CONST, 0, 0, 0);
        if (ins >= 0) g->prog.ins[ins].imm = *v;
    } else {
        if (!v && g->p->view_of[t] < 0) return -1; /* not made yet */
        int q = new_ptr(g);
        if (q < 0 || !broadcast(g, x, g->ptr[q].stride)) return -1;
        if (g->md && (x->rank != g->rank || !has_layout(g->p, t, g->md))) return -1;
        g->ptr[q].tensor = t;
        g->ptr[q].truth = x->dtype == HD_BOOL;
        ins = load(g, q, g->ptr[q].truth);
    }
    if (ins < 0) return -1;
    g->value[g->n_values].tensor = t;
    g->value[g->n_values].ins = ins;
    g->value[g->n_values].alone = false;
    g->value[g->n_values++].made = false;
    return ins;
}

/* ---- growing -------------------------------------------------------------------------------- */

static bool in_group(const struct hd_loop_group *g, int node) {
    for (int i = 0; i < g->n_nodes; i++)
        if (g->nodes[i] == node) return true;
    return false;
}

/* Adds the node when it fits and leaves the group as it was when not. */
static bool try_add(struct hd_loop_group *g, int node, struct hd_loop_group *copy) {
    if (!hd_loop_knows(g->p, node)) return false;
    *copy = *g;
    if (!hd_loop_add(copy, node)) return false;
    *g = *copy;
    return true;
}

/* Readers of what the group makes, as long as some fit. */
static void grow(struct hd_loop_group *g, struct hd_loop_group *copy) {
    struct hd_cpu_plan *p = g->p;
    for (int i = 0; i < g->n_values; i++) {
        int t = g->value[i].tensor;
        if (!g->value[i].made) continue;
        for (int k = 0; k < p->users[t]; k++) {
            int node = p->user[t][k];
            if (p->done[node] || in_group(g, node)) continue;
            if (try_add(g, node, copy)) i = -1; /* others may fit now */
            if (i < 0) break;
        }
    }
}

static bool start(struct hd_loop_group *g, struct hd_cpu_plan *p, int node, const void *md) {
    const struct hd_node *n = &p->g->nodes[node];
    const struct hd_tensor *y = tensor(p, n->out[0]);
    bool reduces = n->op >= HD_IR_reducesum && n->op <= HD_IR_reducesumsquare;
    if (reduces) y = tensor(p, n->in[0]);
    memset(g, 0, sizeof *g);
    g->p = p;
    g->md = md;
    g->rank = y->rank;
    memcpy(g->dim, y->dim, sizeof g->dim);
    return hd_loop_add(g, node);
}

/* ---- finishing ------------------------------------------------------------------------------ */

/* Somebody outside of the group reads value i of it. */
static bool read_outside(const struct hd_loop_group *g, int i) {
    const struct hd_cpu_plan *p = g->p;
    int t = g->value[i].tensor;
    bool outside = g->value[i].made && p->kept[t];
    for (int k = 0; g->value[i].made && k < p->users[t]; k++)
        outside = outside || !in_group(g, p->user[t][k]);
    return outside;
}

/* The group loads or stores bools: oneDNN's layouts, which are of f32, cannot have them. */
static bool moves_truth(const struct hd_loop_group *g) {
    bool truth = false;
    for (int i = 0; i < g->prog.n_ptrs; i++) truth = truth || g->ptr[i].truth;
    for (int i = 0; i < g->n_values; i++)
        truth = truth || (read_outside(g, i) && tensor(g->p, g->value[i].tensor)->dtype == HD_BOOL);
    return truth;
}

/* A store for everything that somebody outside of the group reads. */
static bool add_stores(struct hd_loop_group *g) {
    struct hd_cpu_plan *p = g->p;
    for (int i = 0, n = g->n_values; i < n; i++) {
        int t = g->value[i].tensor;
        if (!read_outside(g, i)) continue;
        int q = new_ptr(g);
        bool truth = tensor(p, t)->dtype == HD_BOOL;
        int s = hd_loop_ins(g, truth ? HD_JIT_STORE_TRUTH : HD_JIT_STORE, g->value[i].ins, 0, 0);
        if (q < 0 || s < 0) return false;
        g->prog.ins[s].ptr = (int16_t)q;
        g->ptr[q].tensor = t;
        g->ptr[q].out = true;
        g->ptr[q].truth = truth;
        bool row = g->value[i].alone || hd_loop_row_shape(g, tensor(p, t));
        int64_t step = 1;
        for (int d = g->rank - 1; d >= 0; d--) {
            if (g->dim[d] == 1 || (row && d >= g->rank - g->red)) continue;
            g->ptr[q].stride[d] = step;
            step *= g->dim[d];
        }
    }
    return true;
}

struct loops { /* the step's state */
    hd_jit_fn fn;
    int n_ptrs, n_in;
    int rank; /* outer dimensions, around the rows */
    int64_t dim[HD_MAX_RANK], stride[HD_JIT_PTRS][HD_MAX_RANK]; /* bytes */
    int64_t rows, n, tail; /* tail: elements of one more, shorter row */
    int64_t row_step[HD_JIT_PTRS], step[HD_JIT_PTRS];
    const void *data[HD_JIT_PTRS];
    int threads;
    size_t scratch_bytes; /* of one thread */
};

/* Dimensions that all pointers walk alike become one; those of size 1 vanish. */
static int merge(const struct hd_loop_group *g, int from, int to, int64_t *dim,
                 int64_t stride[][HD_MAX_RANK]) {
    int n = 0;
    for (int d = from; d < to; d++) {
        if (g->dim[d] == 1) continue;
        bool join = n > 0;
        for (int i = 0; i < g->prog.n_ptrs && join; i++)
            join = stride[i][n - 1] == g->ptr[i].stride[d] * g->dim[d];
        if (join)
            dim[n - 1] *= g->dim[d];
        else
            dim[n++] = g->dim[d];
        for (int i = 0; i < g->prog.n_ptrs; i++) stride[i][n - 1] = g->ptr[i].stride[d];
    }
    return n;
}

static int size_of(const struct hd_loop_ptr *q) {
    return q->truth ? 1 : 4;
}

static bool cut_row(struct loops *s, const struct hd_loop_group *g) {
    if (s->n < 2 * CHUNK || s->rows != 1 || s->rank || g->red) return false;
    s->rows = s->n / CHUNK;
    s->tail = s->n % CHUNK;
    s->n = CHUNK;
    for (int i = 0; i < s->n_ptrs; i++) s->row_step[i] = s->step[i] * CHUNK * size_of(&g->ptr[i]);
    return true;
}

static void lay_out(struct loops *s, const struct hd_loop_group *g) {
    int64_t dim[HD_MAX_RANK] = {0}, inner[HD_MAX_RANK] = {0};
    int64_t stride[HD_JIT_PTRS][HD_MAX_RANK] = {{0}}, in_stride[HD_JIT_PTRS][HD_MAX_RANK] = {{0}};
    int n = merge(g, 0, g->rank - g->red, dim, stride), n_inner = 0;
    s->n_ptrs = g->prog.n_ptrs;
    if (g->red) {
        n_inner = merge(g, g->rank - g->red, g->rank, inner, in_stride);
    } else if (n) {
        n--;
        n_inner = 1;
        inner[0] = dim[n];
        for (int i = 0; i < s->n_ptrs; i++) in_stride[i][0] = stride[i][n];
    }
    s->n = n_inner ? inner[0] : 1;
    s->rows = n ? dim[n - 1] : 1;
    s->rank = n ? n - 1 : 0;
    memcpy(s->dim, dim, sizeof s->dim);
    for (int i = 0; i < s->n_ptrs; i++) {
        int size = size_of(&g->ptr[i]);
        s->step[i] = n_inner ? in_stride[i][0] : 0;
        s->row_step[i] = n ? stride[i][n - 1] * size : 0;
        for (int d = 0; d < s->rank; d++) s->stride[i][d] = stride[i][d] * size;
        s->data[i] = g->ptr[i].data;
    }
    cut_row(s, g);
}

/* Which values are one a row: loads that do not move along it, and what depends on such alone. */
static void mark_rows(struct hd_loop_group *g, const struct loops *s) {
    static const int8_t operands[] = {
#define X(name, n, kind) n,
        HD_JIT_LIST(X)
#undef X
    };
    for (int i = 0; i < g->prog.n_ins; i++) {
        struct hd_jit_ins *k = &g->prog.ins[i];
        bool row = true;
        if (k->op == HD_JIT_LOAD || k->op == HD_JIT_LOAD_TRUTH || k->op == HD_JIT_STORE ||
            k->op == HD_JIT_STORE_TRUTH)
            row = s->step[k->ptr] == 0;
        else if (k->op == HD_JIT_ROW_SUM || k->op == HD_JIT_ROW_MAX || k->op == HD_JIT_ROW_MIN)
            continue;
        for (int o = 0; o < operands[k->op]; o++) {
            const struct hd_jit_ins *from = &g->prog.ins[o == 0 ? k->a : o == 1 ? k->b : k->c];
            bool reduced = from->op == HD_JIT_ROW_SUM || from->op == HD_JIT_ROW_MAX ||
                           from->op == HD_JIT_ROW_MIN;
            row = row && (from->row || reduced);
        }
        k->row = row;
    }
    for (int i = 0; i < g->prog.n_ptrs; i++)
        g->prog.strided[i] = !g->ptr[i].out && s->step[i] != 0 && s->step[i] != 1;
}

/* ---- running -------------------------------------------------------------------------------- */

struct job {
    const struct loops *s;
    char *ptr[HD_JIT_PTRS];
    char *scratch;
    int64_t parts; /* of the rows of each outer index */
};

static void run_part(void *arg, int64_t unit, int thread) {
    const struct job *j = arg;
    const struct loops *s = j->s;
    int64_t part = unit % j->parts, outer = unit / j->parts;
    int64_t first = s->rows * part / j->parts, last = s->rows * (part + 1) / j->parts;
    char *ptr[HD_JIT_PTRS];
    for (int i = 0; i < s->n_ptrs; i++) ptr[i] = j->ptr[i] + first * s->row_step[i];
    for (int d = s->rank - 1; d >= 0; d--) {
        int64_t at = outer % s->dim[d];
        outer /= s->dim[d];
        for (int i = 0; i < s->n_ptrs; i++) ptr[i] += at * s->stride[i][d];
    }
    float *scratch = (float *)(void *)(j->scratch + (size_t)thread * s->scratch_bytes);
    s->fn(ptr, s->row_step, s->step, last - first, s->n, scratch);
    if (!s->tail || part != j->parts - 1) return;
    for (int i = 0; i < s->n_ptrs; i++) ptr[i] += (last - first) * s->row_step[i];
    s->fn(ptr, s->row_step, s->step, 1, s->tail, scratch);
}

static hd_status run_loops(struct hd_cpu_run *r, const struct hd_cpu_step *step) {
    const struct loops *s = step->state;
    struct job j = {.s = s, .scratch = r->scratch, .parts = 1};
    int n_in = 0, n_out = 0;
    for (int i = 0; i < s->n_ptrs; i++) {
        if (s->data[i])
            j.ptr[i] = (char *)(uintptr_t)s->data[i];
        else
            j.ptr[i] = i < s->n_in ? r->at[step->in[n_in++]] : r->at[step->out[n_out++]];
    }
    int64_t outer = 1, threads = s->threads;
    for (int d = 0; d < s->rank; d++) outer *= s->dim[d];
    if (outer * s->rows * s->n < PARALLEL_MIN) threads = 1;
    if (outer < threads) j.parts = hd_min(threads, s->rows);
    hd_parallel((int)threads, outer * j.parts, run_part, &j);
    return HD_OK;
}

static hd_status finish(struct hd_loop_group *g, bool *out_taken) {
    struct hd_cpu_plan *p = g->p;
    int in[HD_JIT_PTRS], out[HD_JIT_PTRS], n_in = 0, n_out = 0,
                                           inputs = g->prog.n_ptrs; /* pointers before the stores */
    const char *why = NULL;
    if (!add_stores(g)) return HD_OK;
    struct loops *s = hd_new(p->arena, struct loops);
    lay_out(s, g);
    mark_rows(g, s);
    s->fn = p->jit->compile(p->jit_engine, &g->prog, &why);
    if (!s->fn) return HD_OK; /* golden runs it */
    s->n_in = inputs;
    s->threads = p->threads;
    s->scratch_bytes = (size_t)hd_round_up(
        p->jit->slots(&g->prog) * (s->n + HD_JIT_PAD) * (int64_t)sizeof(float), 64);
    hd_cpu_scratch(p, s->scratch_bytes * (size_t)p->threads);
    struct hd_cpu_form form = {g->md ? HD_CPU_BLOCKED : HD_CPU_DENSE, g->md};
    for (int i = 0; i < g->prog.n_ptrs; i++) {
        if (g->ptr[i].out)
            out[n_out++] =
                hd_cpu_make(p, g->ptr[i].tensor, form, g->md ? p->dnnl->bytes(g->md) : 0);
        else if (g->ptr[i].tensor >= 0)
            TRY(hd_cpu_need(p, g->ptr[i].tensor, form, &in[n_in++]));
    }
    struct hd_cpu_step *step = hd_cpu_step(p, g->nodes[0], "llvm", n_in, in, n_out, out);
    step->n_nodes = g->n_nodes;
    step->run = run_loops;
    step->state = s;
    for (int i = 0; i < g->n_nodes; i++) p->done[g->nodes[i]] = true;
    *out_taken = true;
    return HD_OK;
}

/* A layout of oneDNN that a full-size operand is in and nothing else, so that the loop better runs
 * over it as it lies. */
static const void *flat_layout(const struct hd_cpu_plan *p, const struct hd_node *n) {
    for (int i = 0; p->dnnl && i < n->n_in; i++) {
        int t = n->in[i];
        if (t < 0 || hd_cpu_const(p, t) || hd_cpu_has(p, t, HD_CPU_DENSE)) continue;
        for (int v = p->view_of[t]; v >= 0; v = p->views[v].next)
            if (p->views[v].form.kind == HD_CPU_BLOCKED && !p->dnnl->padded(p->views[v].form.md))
                return p->views[v].form.md;
    }
    return NULL;
}

hd_status hd_cpu_loops(struct hd_cpu_plan *p, int node, bool *out_taken) {
    const struct hd_node *n = &p->g->nodes[node];
    if (!hd_loop_knows(p, node) || !hd_tensor_elems(tensor(p, n->out[0])) ||
        !hd_tensor_elems(tensor(p, n->in[0])) || !hd_cpu_need_jit(p))
        return HD_OK;
    struct hd_loop_group *g = hd_new_array(p->arena, struct hd_loop_group, 2);
    const void *md = flat_layout(p, n);
    bool ok = md && start(&g[0], p, node, md);
    if (ok) grow(&g[0], &g[1]);
    if (!ok || moves_truth(&g[0])) {
        if (!start(&g[0], p, node, NULL)) return HD_OK;
        grow(&g[0], &g[1]);
    }
    return finish(&g[0], out_taken);
}
