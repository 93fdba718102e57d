/* Making and running plans: see cpu_plan.h. */
#include "cpu_ref/cpu_plan.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "compiler/ir/memory.h"
#include "cpu_ref/cpu_copy.h"
#include "cpu_ref/golden.h"
#include "runtime/base/num.h"

enum { ALIGN = 64 };

/* ---- views and steps ------------------------------------------------------------------------ */

static int add_view(struct hd_cpu_plan *p, int tensor, struct hd_cpu_form form, size_t bytes) {
    struct hd_cpu_view *v = hd_push(p->arena, p->views, p->n_views, p->cap_views);
    *v = (struct hd_cpu_view){.tensor = tensor,
                              .form = form,
                              .bytes = bytes,
                              .root = -1,
                              .io = -1,
                              .first = -1,
                              .last = -1,
                              .next = -1};
    int id = (int)p->n_views - 1;
    if (tensor < 0) return id;
    v->next = p->view_of[tensor];
    p->view_of[tensor] = id;
    return id;
}

int hd_cpu_make(struct hd_cpu_plan *p, int tensor, struct hd_cpu_form form, size_t bytes) {
    if (!bytes && tensor >= 0) bytes = hd_tensor_bytes(&p->g->tensors[tensor]);
    return add_view(p, tensor, form, bytes);
}

int hd_cpu_alias(struct hd_cpu_plan *p, int tensor, struct hd_cpu_form form, int root, size_t at) {
    int id = add_view(p, tensor, form, tensor < 0 ? 0 : hd_tensor_bytes(&p->g->tensors[tensor]));
    p->views[id].root = root;
    p->views[id].at = at;
    return id;
}

int hd_cpu_root(const struct hd_cpu_plan *p, int view) {
    while (p->views[view].root >= 0) view = p->views[view].root;
    return view;
}

static void *address(const struct hd_cpu_plan *p, int view) {
    size_t at = 0;
    for (; p->views[view].root >= 0; view = p->views[view].root) at += p->views[view].at;
    const struct hd_cpu_view *v = &p->views[view];
    if (v->constant) return (char *)(uintptr_t)v->constant + at;
    return v->io >= 0 ? NULL : p->memory + v->offset + at;
}

struct hd_cpu_step *hd_cpu_step(struct hd_cpu_plan *p, int node, const char *how, int n_in,
                                const int *in, int n_out, const int *out) {
    struct hd_cpu_step *s = hd_push(p->arena, p->steps, p->n_steps, p->cap_steps);
    *s = (struct hd_cpu_step){.node = node,
                              .n_nodes = node >= 0,
                              .how = how,
                              .n_in = n_in,
                              .n_out = n_out,
                              .in = hd_dup(p->arena, in, (size_t)n_in * sizeof *in),
                              .out = hd_dup(p->arena, out, (size_t)n_out * sizeof *out)};
    return s;
}

void hd_cpu_scratch(struct hd_cpu_plan *p, size_t bytes) {
    if (bytes > p->scratch_bytes) p->scratch_bytes = bytes;
}

const void *hd_cpu_const(const struct hd_cpu_plan *p, int tensor) {
    if (tensor < 0) return NULL;
    return p->constant[tensor] ? p->constant[tensor] : p->g->tensors[tensor].data;
}

int hd_cpu_const_ints(const struct hd_cpu_plan *p, int tensor, int64_t *out, int max) {
    if (tensor < 0) return 0;
    const struct hd_tensor *t = &p->g->tensors[tensor];
    int64_t n = hd_tensor_elems(t);
    const void *v = hd_cpu_const(p, tensor);
    if (!v || n > max || (t->dtype != HD_I64 && t->dtype != HD_I32)) return -1;
    for (int64_t i = 0; i < n; i++)
        out[i] = t->dtype == HD_I64 ? ((const int64_t *)v)[i] : ((const int32_t *)v)[i];
    return (int)n;
}

int hd_cpu_only_user(const struct hd_cpu_plan *p, int tensor) {
    return p->kept[tensor] || p->users[tensor] != 1 ? -1 : p->user[tensor][0];
}

bool hd_cpu_needed_later(const struct hd_cpu_plan *p, int tensor, int except) {
    if (p->kept[tensor]) return true;
    for (int i = 0; i < p->users[tensor]; i++)
        if (p->user[tensor][i] != except && !p->done[p->user[tensor][i]]) return true;
    return false;
}

/* ---- forms ---------------------------------------------------------------------------------- */

/* Channels and pixels of a tensor [N,C,..]; false when it has no channels. */
static bool channels(const struct hd_tensor *t, int64_t *n, int64_t *c, int64_t *pixels) {
    if (t->rank < 2) return false;
    *n = t->dim[0], *c = t->dim[1], *pixels = 1;
    for (int d = 2; d < t->rank; d++) *pixels *= t->dim[d];
    return true;
}

/* Dense and channels last are the same bytes. */
static bool same_bytes(const struct hd_tensor *t) {
    int64_t n = 0, c = 0, pixels = 0;
    return !channels(t, &n, &c, &pixels) || c == 1 || pixels == 1;
}

static int find(const struct hd_cpu_plan *p, int tensor, struct hd_cpu_form form) {
    bool same = form.kind != HD_CPU_BLOCKED && same_bytes(&p->g->tensors[tensor]);
    for (int v = p->view_of[tensor]; v >= 0; v = p->views[v].next) {
        const struct hd_cpu_form *f = &p->views[v].form;
        if (f->kind == form.kind && f->md == form.md) return v;
        if (same && f->kind != HD_CPU_BLOCKED) return v;
    }
    return -1;
}

bool hd_cpu_has(const struct hd_cpu_plan *p, int tensor, enum hd_cpu_kind kind) {
    for (int v = p->view_of[tensor]; v >= 0; v = p->views[v].next)
        if (p->views[v].form.kind == kind) return true;
    return kind == HD_CPU_LAST && same_bytes(&p->g->tensors[tensor]);
}

struct flip { /* dense <-> channels last */
    int64_t n, rows, cols;
    int size;
};

static hd_status run_flip(struct hd_cpu_run *r, const struct hd_cpu_step *s) {
    const struct flip *f = s->state;
    size_t plane = (size_t)(f->rows * f->cols * f->size);
    for (int64_t i = 0; i < f->n; i++)
        hd_copy_transpose((char *)r->at[s->out[0]] + (size_t)i * plane,
                          (const char *)r->at[s->in[0]] + (size_t)i * plane, f->rows, f->cols,
                          f->size);
    return HD_OK;
}

static int flip(struct hd_cpu_plan *p, int tensor, int from, enum hd_cpu_kind to) {
    const struct hd_tensor *t = &p->g->tensors[tensor];
    int64_t n = 1, c = 1, pixels = 1;
    channels(t, &n, &c, &pixels);
    int view = hd_cpu_make(p, tensor, (struct hd_cpu_form){to, NULL}, 0);
    struct flip *f = hd_new(p->arena, struct flip);
    bool last = to == HD_CPU_LAST;
    *f = (struct flip){n, last ? c : pixels, last ? pixels : c, (int)hd_dtype_bytes(t->dtype)};
    struct hd_cpu_step *s = hd_cpu_step(p, -1, "reorder", 1, &from, 1, &view);
    s->run = run_flip;
    s->state = f;
    return view;
}

hd_status hd_cpu_need(struct hd_cpu_plan *p, int tensor, struct hd_cpu_form form, int *out) {
    const struct hd_tensor *t = &p->g->tensors[tensor];
    *out = find(p, tensor, form);
    if (*out >= 0) return HD_OK;
    if (p->view_of[tensor] < 0 && hd_cpu_const(p, tensor)) {
        int v = add_view(p, tensor, hd_cpu_dense, hd_tensor_bytes(t));
        p->views[v].constant = hd_cpu_const(p, tensor);
        return hd_cpu_need(p, tensor, form, out);
    }
    if (p->view_of[tensor] < 0)
        return hd_fail(p->ctx, HD_INVALID, "tensor '%s' has no value; compile the model again",
                       t->name);
    int from = find(p, tensor, hd_cpu_dense);
    if (form.kind == HD_CPU_BLOCKED) {
        if (from < 0) TRY(hd_cpu_need(p, tensor, hd_cpu_dense, &from));
        *out = hd_cpu_make(p, tensor, form, 1);
        return hd_cpu_dnnl_reorder(p, from, *out);
    }
    if (from >= 0) { /* dense -> last */
        *out = flip(p, tensor, from, form.kind);
        return HD_OK;
    }
    from = p->view_of[tensor];
    if (p->views[from].form.kind == HD_CPU_LAST) {
        *out = flip(p, tensor, from, HD_CPU_DENSE);
        return HD_OK;
    }
    *out = hd_cpu_make(p, tensor, hd_cpu_dense, 0);
    TRY(hd_cpu_dnnl_reorder(p, from, *out));
    return form.kind == HD_CPU_DENSE ? HD_OK : hd_cpu_need(p, tensor, form, out);
}

/* ---- golden, for what nobody takes ---------------------------------------------------------- */

static hd_status run_golden(struct hd_cpu_run *r, const struct hd_cpu_step *s) {
    const hd_graph *g = r->plan->g;
    const struct hd_node *n = &g->nodes[s->node];
    struct hd_tensor *t = s->state;          /* of the run, shared by all golden steps */
    hd_arena_reset(r->plan->golden_results); /* with the room of the runs before: no allocation */
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] >= 0) t[n->in[i]].data = r->at[s->in[i]];
    hd_status st = hd_golden_node(r->ctx, g, s->node, t, !g->specialised, r->plan->golden_results,
                                  r->plan->golden_scratch);
    for (int i = 0; i < n->n_out && st == HD_OK; i++)
        if (n->out[i] >= 0)
            memcpy(r->at[s->out[i]], t[n->out[i]].data, r->plan->views[s->out[i]].bytes);
    return st;
}

static hd_status plan_golden(struct hd_cpu_plan *p, int node) {
    const struct hd_node *n = &p->g->nodes[node];
    int *in = hd_new_array(p->arena, int, (size_t)n->n_in + 1);
    int *out = hd_new_array(p->arena, int, (size_t)n->n_out + 1);
    for (int i = 0; i < n->n_in; i++) {
        in[i] = -1;
        if (n->in[i] >= 0) TRY(hd_cpu_need(p, n->in[i], hd_cpu_dense, &in[i]));
    }
    for (int i = 0; i < n->n_out; i++)
        out[i] = n->out[i] < 0 ? -1 : hd_cpu_make(p, n->out[i], hd_cpu_dense, 0);
    struct hd_cpu_step *s = hd_cpu_step(p, node, "golden", n->n_in, in, n->n_out, out);
    s->run = run_golden;
    s->state = p->golden;
    return HD_OK;
}

static hd_status run_copy(struct hd_cpu_run *r, const struct hd_cpu_step *s) {
    memmove(r->at[s->out[0]], r->at[s->in[0]], *(size_t *)s->state);
    return HD_OK;
}

void hd_cpu_copy_step(struct hd_cpu_plan *p, int from, int to, size_t bytes) {
    struct hd_cpu_step *s = hd_cpu_step(p, -1, "copy", 1, &from, 1, &to);
    s->run = run_copy;
    s->state = hd_dup(p->arena, &bytes, sizeof bytes);
}

/* ---- memory --------------------------------------------------------------------------------- */

static void touch(struct hd_cpu_plan *p, int view, int step) {
    if (view < 0) return;
    struct hd_cpu_view *v = &p->views[hd_cpu_root(p, view)];
    if (v->first < 0 || step < v->first) v->first = step;
    if (step > v->last) v->last = step;
}

/* Offsets of the views that have memory of their own, by the steps between which they live. */
static void plan_memory(struct hd_cpu_plan *p) {
    for (size_t i = 0; i < p->n_steps; i++) {
        for (int k = 0; k < p->steps[i].n_in; k++) touch(p, p->steps[i].in[k], (int)i);
        for (int k = 0; k < p->steps[i].n_out; k++) touch(p, p->steps[i].out[k], (int)i);
    }
    for (int i = 0; i < p->io.n_out; i++) touch(p, p->out_view[i], (int)p->n_steps);
    struct hd_mem_block *b = hd_new_array(p->arena, struct hd_mem_block, p->n_views + 1);
    int *view = hd_new_array(p->arena, int, p->n_views + 1);
    size_t n = 0;
    for (size_t i = 0; i < p->n_views; i++) {
        const struct hd_cpu_view *v = &p->views[i];
        if (v->root >= 0 || v->constant || v->io >= 0 || v->first < 0) continue;
        view[n] = (int)i; /* vectors may read on behind the end */
        b[n++] = (struct hd_mem_block){(size_t)hd_round_up((int64_t)v->bytes + ALIGN, ALIGN),
                                       v->first, v->last, 0};
    }
    p->memory_bytes = hd_mem_pack(b, n);
    for (size_t i = 0; i < n; i++) p->views[view[i]].offset = b[i].offset;
}

/* ---- making --------------------------------------------------------------------------------- */

static void count_users(struct hd_cpu_plan *p) {
    const hd_graph *g = p->g;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; pass && i < g->n_tensors; i++) {
            p->user[i] = hd_new_array(p->arena, int, (size_t)p->users[i] + 1);
            p->users[i] = 0;
        }
        for (size_t i = 0; i < g->n_nodes; i++)
            for (int k = 0; k < g->nodes[i].n_in; k++) {
                int t = g->nodes[i].in[k];
                if (!p->wanted[i] || t < 0) continue;
                if (pass) p->user[t][p->users[t]] = (int)i;
                p->users[t]++;
            }
    }
}

/* A node of constants is computed now, once: weights that a file fills or scales at run time. */
static hd_status compute_constant(struct hd_cpu_plan *p, int node, bool *out_done) {
    const struct hd_node *n = &p->g->nodes[node];
    *out_done = false;
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] >= 0 && !hd_cpu_const(p, n->in[i])) return HD_OK;
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] >= 0) p->golden[n->in[i]].data = hd_cpu_const(p, n->in[i]);
    TRY(hd_golden_node(p->ctx, p->g, node, p->golden, true, p->arena, p->golden_scratch));
    for (int i = 0; i < n->n_out; i++)
        if (n->out[i] >= 0) p->constant[n->out[i]] = p->golden[n->out[i]].data;
    *out_done = true;
    return HD_OK;
}

static hd_status plan_nodes(struct hd_cpu_plan *p) {
    const hd_graph *g = p->g;
    struct hd_mem_plan mem; /* for its order */
    hd_mem_plan_graph(g, p->arena, &mem);
    const int *order = mem.order;
    size_t n = mem.n_order;
    static hd_status (*const maker[])(struct hd_cpu_plan *, int, bool *) = {
        hd_cpu_tuned, hd_cpu_int8,      hd_cpu_dynamic, hd_cpu_dnnl,
        hd_cpu_move,  hd_cpu_recurrent, hd_cpu_loops,   hd_cpu_reduce};
    for (size_t i = 0; i < n; i++) {
        if (!p->wanted[order[i]] || p->done[order[i]]) continue;
        bool taken = false;
        TRY(compute_constant(p, order[i], &taken));
        for (size_t k = 0; k < sizeof maker / sizeof *maker && !taken; k++)
            TRY(hd_note(p->ctx, maker[k](p, order[i], &taken), "while planning node '%s' (%s)",
                        g->nodes[order[i]].name, hd_ir_ops[g->nodes[order[i]].op].name));
        if (!taken) TRY(plan_golden(p, order[i]));
        p->done[order[i]] = true;
    }
    return HD_OK;
}

/* A view per output, dense; those with memory of their own are written in place. */
static hd_status plan_outputs(struct hd_cpu_plan *p) {
    for (int i = 0; i < p->io.n_out; i++) {
        int t = p->model->values[p->io.out[i]].tensor;
        TRY(hd_cpu_need(p, t, hd_cpu_dense, &p->out_view[i]));
        struct hd_cpu_view *v = &p->views[p->out_view[i]];
        if (v->root < 0 && !v->constant && v->io < 0) v->io = p->io.n_in + i;
    }
    return HD_OK;
}

/* Everything's shape is known, so that memory can be planned. */
static hd_status check_known(const struct hd_cpu_plan *p) {
    for (size_t i = 0; i < p->g->n_nodes; i++)
        for (int k = 0; p->wanted[i] && k < p->g->nodes[i].n_out; k++) {
            int t = p->g->nodes[i].out[k];
            if (t >= 0 && !p->g->tensors[t].known)
                return hd_fail(p->ctx, HD_UNSUPPORTED,
                               "cpu: the shape of '%s' is not known before a run; compile with the "
                               "inputs of that run (--inputs), or use device golden",
                               p->g->tensors[t].name);
        }
    return HD_OK;
}

static hd_status make(struct hd_cpu_plan *p) {
    TRY(check_known(p));
    for (int i = 0; i < p->io.n_in; i++) {
        int v = hd_cpu_make(p, p->model->values[p->io.in[i]].tensor, hd_cpu_dense, 0);
        p->views[v].io = i;
    }
    for (int i = 0; i < p->io.n_out; i++) p->kept[p->model->values[p->io.out[i]].tensor] = true;
    count_users(p);
    TRY(plan_nodes(p));
    TRY(plan_outputs(p));
    plan_memory(p);
    p->memory = aligned_alloc(ALIGN, p->memory_bytes + ALIGN);
    p->scratch = aligned_alloc(ALIGN, (size_t)hd_round_up((int64_t)p->scratch_bytes + 1, ALIGN));
    if (!p->memory || !p->scratch)
        return hd_fail(p->ctx, HD_NOMEM, "cpu: no memory for %zu bytes of activations",
                       p->memory_bytes + p->scratch_bytes);
    memset(p->memory, 0, p->memory_bytes + ALIGN);
    p->at = hd_new_array(p->arena, void *, p->n_views + 1);
    for (size_t i = 0; i < p->n_views; i++) p->at[i] = address(p, (int)i);
    return HD_OK;
}

hd_status hd_cpu_plan_create(hd_ctx *ctx, const hd_graph *g, const hd_model *m,
                             const struct hd_host_io *io, const int *nodes, size_t n, int threads,
                             struct hd_schedules *db, struct hd_cpu_plan **out) {
    struct hd_cpu_plan *p = calloc(1, sizeof *p);
    if (!p) return hd_fail(ctx, HD_NOMEM, "cpu: no memory to plan %s", m->name);
    hd_arena *a = p->arena = hd_arena_create();
    size_t n_tensors = g->n_tensors + 1;
    p->ctx = ctx, p->g = g, p->model = m, p->io = *io, p->threads = threads, p->db = db;
    p->done = hd_new_array(a, bool, g->n_nodes + 1);
    p->loop_seen = hd_new_array(a, bool, g->n_nodes + 1);
    p->loop_expr = hd_new_array(a, const struct hd_expr *, g->n_nodes + 1);
    p->wanted = hd_new_array(a, bool, g->n_nodes + 1);
    p->kept = hd_new_array(a, bool, n_tensors);
    p->view_of = hd_new_array(a, int, n_tensors);
    p->constant = hd_new_array(a, const void *, n_tensors);
    p->users = hd_new_array(a, int, n_tensors);
    p->user = hd_new_array(a, int *, n_tensors);
    p->out_view = hd_new_array(a, int, (size_t)io->n_out + 1);
    p->golden = hd_golden_tensors(g, a);
    p->golden_results = hd_arena_create();
    p->golden_scratch = hd_arena_create();
    memset(p->view_of, 0xff, n_tensors * sizeof *p->view_of);
    for (size_t i = 0; i < g->n_nodes; i++) p->wanted[i] = !nodes && !g->nodes[i].dead;
    for (size_t i = 0; i < n; i++) p->wanted[nodes[i]] = true;
    hd_cpu_open_plugins(p);
    hd_status s = make(p);
    if (s == HD_OK)
        *out = p;
    else
        hd_cpu_plan_destroy(p);
    return s;
}

void hd_cpu_plan_destroy(struct hd_cpu_plan *p) {
    if (!p) return;
    for (size_t i = 0; i < p->n_steps; i++)
        if (p->steps[i].destroy) p->steps[i].destroy(p->steps[i].state);
    hd_cpu_close_plugins(p);
    free(p->memory);
    free(p->scratch);
    hd_arena_destroy(p->golden_results);
    hd_arena_destroy(p->golden_scratch);
    hd_arena_destroy(p->arena);
    free(p);
}

/* ---- running -------------------------------------------------------------------------------- */

/* The last step that writes into the memory of the view; -1 = none does. */
static int last_writer(const struct hd_cpu_plan *p, int view) {
    int root = hd_cpu_root(p, view);
    for (int i = (int)p->n_steps - 1; i >= 0; i--)
        for (int k = 0; k < p->steps[i].n_out; k++) {
            int to = p->steps[i].out[k];
            if (to >= 0 && hd_cpu_root(p, to) == root) return i;
        }
    return -1;
}

void hd_cpu_plan_made(struct hd_cpu_plan *p, const struct hd_made *made) {
    p->made = made;
    p->done_by = hd_new_array(p->arena, int, p->n_steps + 1);
    p->next_done = hd_new_array(p->arena, int, (size_t)p->model->n_outputs + 1);
    memset(p->done_by, 0xff, (p->n_steps + 1) * sizeof *p->done_by);
    for (int i = 0; i < p->model->n_outputs; i++) {
        int step = last_writer(p, p->out_view[i]);
        if (step < 0) continue;
        p->next_done[i] = p->done_by[step];
        p->done_by[step] = i;
    }
}

static void tell(const struct hd_cpu_plan *p, size_t step) {
    for (int i = p->done_by[step]; i >= 0; i = p->next_done[i])
        p->made->output(p->made->user, i, p->at[p->out_view[i]]);
}

/* With one thread its processor time: what other programs take is left out. */
static double now(const struct hd_cpu_plan *p) {
    struct timespec t;
    clock_gettime(p->threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Views that lie in the caller's buffers, for this run. */
static void place_io(struct hd_cpu_plan *p, void *const *buffers) {
    for (size_t i = 0; i < p->n_views; i++) {
        int root = hd_cpu_root(p, (int)i);
        if (p->views[root].io < 0) continue;
        size_t at = 0;
        for (int v = (int)i; p->views[v].root >= 0; v = p->views[v].root) at += p->views[v].at;
        p->at[i] = (char *)buffers[p->views[root].io] + at;
    }
}

hd_status hd_cpu_plan_run(hd_ctx *ctx, struct hd_cpu_plan *p, void *const *buffers, bool timed) {
    struct hd_cpu_run r = {ctx, p, p->at, p->scratch};
    place_io(p, buffers);
    for (size_t i = 0; i < p->n_steps; i++) {
        struct hd_cpu_step *s = &p->steps[i];
        double start = timed ? now(p) : 0;
        TRY(hd_continue(ctx));
        TRY(s->run(&r, s));
        if (p->made) tell(p, i);
        double took = timed ? now(p) - start : 0;
        if (timed && (s->seconds == 0 || took < s->seconds)) s->seconds = took;
    }
    for (int i = 0; i < p->io.n_out; i++) {
        void *to = buffers[p->io.n_in + i], *from = p->at[p->out_view[i]];
        size_t bytes = hd_tensor_bytes(&p->g->tensors[p->model->values[p->io.out[i]].tensor]);
        if (to != from && bytes) memcpy(to, from, bytes);
    }
    return HD_OK;
}
