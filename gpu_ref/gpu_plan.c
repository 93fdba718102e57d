/* Making plans: see gpu_plan.h. */
#include "gpu_ref/gpu_plan.h"

#include <stdlib.h>
#include <string.h>

#include "compiler/ir/memory.h"
#include "cpu_ref/golden.h"
#include "gpu_ref/gpu_layout.h"
#include "gpu_ref/gpu_memory.h"

/* ---- views and steps ------------------------------------------------------------------------ */

int hd_gpu_make(struct hd_gpu_plan *p, int tensor, size_t bytes) {
    struct hd_gpu_view *v = hd_push(p->arena, p->views, p->n_views, p->cap_views);
    if (tensor >= 0) bytes = hd_tensor_bytes(&p->g->tensors[tensor]);
    *v = (struct hd_gpu_view){
        .tensor = tensor, .bytes = bytes, .root = -1, .io = -1, .first = -1, .last = -1};
    if (tensor >= 0) p->view_of[tensor] = (int)p->n_views - 1;
    return (int)p->n_views - 1;
}

hd_status hd_gpu_operand(struct hd_gpu_plan *p, const struct hd_node *n, int i, int *out) {
    *out = -1;
    return i < n->n_in && n->in[i] >= 0 ? hd_gpu_need(p, n->in[i], out) : HD_OK;
}

int hd_gpu_result(struct hd_gpu_plan *p, const struct hd_node *n, int i) {
    return i < n->n_out && n->out[i] >= 0 ? hd_gpu_make(p, n->out[i], 0) : -1;
}

int hd_gpu_alias(struct hd_gpu_plan *p, int tensor, int root) {
    int v = hd_gpu_make(p, tensor, 0);
    while (p->views[root].root >= 0) root = p->views[root].root;
    p->views[v].root = root;
    return v;
}

const void *hd_gpu_const(const struct hd_gpu_plan *p, int tensor) {
    if (tensor < 0) return NULL;
    return p->constant[tensor] ? p->constant[tensor] : p->g->tensors[tensor].data;
}

hd_status hd_gpu_need(struct hd_gpu_plan *p, int tensor, int *out) {
    const void *data = hd_gpu_const(p, tensor);
    if (p->view_of[tensor] < 0 && !data)
        return hd_fail(p->ctx, HD_INVALID, "tensor '%s' has no value; compile the model again",
                       p->g->tensors[tensor].name);
    *out = p->view_of[tensor] < 0 ? hd_gpu_make(p, tensor, 0) : p->view_of[tensor];
    if (p->view_of[tensor] == *out && data) p->views[*out].constant = data;
    return HD_OK;
}

struct hd_gpu_step *hd_gpu_step(struct hd_gpu_plan *p, enum hd_gpu_step_kind kind, int node,
                                const char *how, int n_in, const int *in, int n_out,
                                const int *out) {
    struct hd_gpu_step *s = hd_push(p->arena, p->steps, p->n_steps, p->cap_steps);
    *s = (struct hd_gpu_step){.kind = kind,
                              .node = node,
                              .n_nodes = node >= 0,
                              .macs = node < 0 ? 0 : hd_node_macs(p->g, &p->g->nodes[node]),
                              .how = how,
                              .n_in = n_in,
                              .n_out = n_out,
                              .in = hd_dup(p->arena, in, (size_t)n_in * sizeof *in),
                              .out = hd_dup(p->arena, out, (size_t)n_out * sizeof *out)};
    return s;
}

struct hd_gpu_call *hd_gpu_call(struct hd_gpu_plan *p, int kernel, int n_args, const int *arg) {
    struct hd_gpu_step *s = &p->steps[p->n_steps - 1];
    struct hd_gpu_call *more = hd_new_array(p->arena, struct hd_gpu_call, (size_t)s->n_calls + 1);
    if (s->n_calls) memcpy(more, s->call, (size_t)s->n_calls * sizeof *more);
    s->call = more;
    struct hd_gpu_call *c = &s->call[s->n_calls++];
    *c = (struct hd_gpu_call){.kernel = kernel,
                              .grid = {1, 1, 1},
                              .block = {1, 1, 1},
                              .n_args = n_args,
                              .arg = hd_dup(p->arena, arg, (size_t)n_args * sizeof *arg),
                              .mem = hd_new_array(p->arena, hd_gpu_mem *, (size_t)n_args + 1)};
    for (int i = 0; i < n_args; i++) {
        int root = p->views[arg[i]].root;
        p->views[root < 0 ? arg[i] : root].on_device = true;
    }
    return c;
}

/* The launch reads constants, and the view that it fills. */
static bool reads_constants(const struct hd_gpu_plan *p, const struct hd_gpu_call *c, int view) {
    for (int i = 0; i < c->n_args; i++) {
        const struct hd_gpu_view *x = &p->views[c->arg[i]];
        bool fixed = c->arg[i] == view || x->constant || x->once;
        if (!fixed) return false;
    }
    return true;
}

void hd_gpu_find_once(struct hd_gpu_plan *p, const int *made) {
    struct hd_gpu_step *s = &p->steps[p->n_steps - 1];
    for (int i = 0; i < s->n_calls; i++) {
        const struct hd_gpu_view *v = made[i] < 0 ? NULL : &p->views[made[i]];
        if (!v || v->tensor >= 0 || v->io >= 0 || v->root >= 0) continue; /* a result */
        bool fixed = true; /* all that fills it: first values may be a launch of their own */
        for (int k = 0; k < s->n_calls; k++)
            if (made[k] < 0 || made[k] == made[i])
                fixed = fixed && made[k] >= 0 && reads_constants(p, &s->call[k], made[k]);
        s->call[i].once = p->views[made[i]].once = fixed;
    }
}

int hd_gpu_fault(struct hd_gpu_plan *p) {
    if (p->fault < 0) p->fault = hd_gpu_make(p, -1, sizeof(int32_t));
    return p->fault;
}

/* ---- host ----------------------------------------------------------------------------------- */

static hd_status plan_host(struct hd_gpu_plan *p, int node) {
    const struct hd_node *n = &p->g->nodes[node];
    int *in = hd_new_array(p->arena, int, (size_t)n->n_in + 1);
    int *out = hd_new_array(p->arena, int, (size_t)n->n_out + 1);
    if (p->asked.no_fallback)
        return hd_fail(p->ctx, HD_UNSUPPORTED,
                       "node '%s' (%s) would run on the host: %s; leave out --no-fallback, or "
                       "another device",
                       n->name, hd_ir_ops[n->op].name, p->why);
    for (int i = 0; i < n->n_in; i++) {
        in[i] = -1;
        if (n->in[i] >= 0) TRY(hd_gpu_need(p, n->in[i], &in[i]));
    }
    for (int i = 0; i < n->n_out; i++) out[i] = n->out[i] < 0 ? -1 : hd_gpu_make(p, n->out[i], 0);
    const char *how = hd_sprintf(p->arena, "host: %s", p->why);
    struct hd_gpu_step *s = hd_gpu_step(p, HD_GPU_HOST, node, how, n->n_in, in, n->n_out, out);
    s->host_in = hd_new_array(p->arena, void *, (size_t)n->n_in + 1);
    size_t moved = 0;
    for (int i = 0; i < n->n_in + n->n_out; i++) {
        int t = i < n->n_in ? n->in[i] : n->out[i - n->n_in];
        size_t bytes = t >= 0 && p->channels_last[t] ? hd_tensor_bytes(&p->g->tensors[t]) : 0;
        if (bytes > moved) moved = bytes;
    }
    if (moved) s->moved = hd_alloc(p->arena, moved);
    for (int i = 0; i < n->n_in; i++) {
        if (in[i] < 0) continue;
        struct hd_gpu_view *v = &p->views[in[i]];
        s->host_in[i] =
            v->constant ? (void *)(uintptr_t)v->constant : hd_alloc(p->arena, v->bytes + 1);
    }
    return HD_OK;
}

/* A node of constants is computed now, once: weights that a file fills or scales at run time. */
static hd_status compute_constant(struct hd_gpu_plan *p, int node, bool *out_done) {
    const struct hd_node *n = &p->g->nodes[node];
    *out_done = false;
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] >= 0 && !hd_gpu_const(p, n->in[i])) return HD_OK;
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] >= 0) p->golden[n->in[i]].data = hd_gpu_const(p, n->in[i]);
    TRY(hd_golden_node(p->ctx, p->g, node, p->golden, true, p->arena, p->golden_scratch));
    for (int i = 0; i < n->n_out; i++) {
        if (n->out[i] < 0) continue;
        p->constant[n->out[i]] = p->golden[n->out[i]].data;
        p->channels_last[n->out[i]] = false;
    }
    *out_done = true;
    return HD_OK;
}

/* ---- making --------------------------------------------------------------------------------- */

static void count_users(struct hd_gpu_plan *p) {
    for (size_t i = 0; i < p->g->n_nodes; i++)
        for (int k = 0; p->wanted[i] && k < p->g->nodes[i].n_in; k++)
            if (p->g->nodes[i].in[k] >= 0) p->users[p->g->nodes[i].in[k]]++;
    for (int i = 0; i < p->io.n_out; i++) p->users[p->model->values[p->io.out[i]].tensor]++;
}

static hd_status plan_nodes(struct hd_gpu_plan *p) {
    struct hd_mem_plan order; /* for its order */
    static hd_status (*const maker[])(struct hd_gpu_plan *, int, bool *) = {
        hd_gpu_move,    hd_gpu_tuned,     hd_gpu_products,  hd_gpu_convolutions,
        hd_gpu_express, hd_gpu_recurrent, hd_gpu_qrecurrent};
    hd_mem_plan_graph(p->g, p->arena, &order);
    for (size_t i = 0; i < order.n_order; i++) {
        int node = order.order[i];
        const struct hd_node *n = &p->g->nodes[node];
        if (!p->wanted[node] || p->done[node]) continue;
        bool taken = false;
        p->why = "no kernel of this device computes it";
        p->how = NULL;
        TRY(compute_constant(p, node, &taken));
        for (size_t k = 0; k < sizeof maker / sizeof *maker && !taken; k++)
            TRY(hd_note(p->ctx, maker[k](p, node, &taken), "while planning node '%s' (%s)", n->name,
                        hd_ir_ops[n->op].name));
        if (!taken) TRY(plan_host(p, node));
        p->done[node] = true;
    }
    return HD_OK;
}

/* Everything's shape is known, so that memory can be planned. */
static hd_status check_known(const struct hd_gpu_plan *p) {
    for (size_t i = 0; i < p->g->n_nodes; i++)
        for (int k = 0; p->wanted[i] && k < p->g->nodes[i].n_out; k++) {
            int t = p->g->nodes[i].out[k];
            if (t >= 0 && !p->g->tensors[t].known)
                return hd_fail(p->ctx, HD_UNSUPPORTED,
                               "%s: the shape of '%s' is not known before a run; compile with the "
                               "inputs of that run (--inputs), or use device golden",
                               p->api->scheme, p->g->tensors[t].name);
        }
    return HD_OK;
}

/* Results that have memory of their own are made in the caller's buffers. */
static hd_status plan_outputs(struct hd_gpu_plan *p) {
    for (int i = 0; i < p->io.n_out; i++) {
        TRY(hd_gpu_need(p, p->model->values[p->io.out[i]].tensor, &p->out_view[i]));
        struct hd_gpu_view *v = &p->views[p->out_view[i]];
        if (v->root < 0 && !v->constant && v->io < 0) v->io = p->io.n_in + i;
    }
    return HD_OK;
}

/* For a look at what the driver's compiler gets. */
static void show_source(const char *text) {
    const char *path = getenv("HEDDLE_GPU_SOURCE");
    FILE *f = path ? fopen(path, "w") : NULL;
    if (!f) return;
    fputs(text, f);
    fclose(f);
}

static hd_status build(struct hd_gpu_plan *p) {
    int n = hd_kernels_count(p->kernels);
    if (!n) return HD_OK;
    const char *text = hd_kernels_text(p->kernels);
    show_source(text);
    p->kernel = hd_new_array(p->arena, hd_gpu_kernel *, (size_t)n);
    TRY(p->api->build(p->ctx, p->gpu, text, &p->program));
    for (int i = 0; i < n; i++)
        TRY(p->api->kernel(p->ctx, p->gpu, p->program, hd_kernel_name(p->kernels, i),
                           &p->kernel[i]));
    return HD_OK;
}

static hd_status set_timers(struct hd_gpu_plan *p) {
    int timers = 0;
    for (size_t i = 0; i < p->n_steps; i++)
        for (int c = 0; c < p->steps[i].n_calls; c++) p->steps[i].call[c].timer = timers++;
    return timers ? p->api->timers(p->ctx, p->gpu, timers) : HD_OK;
}

static void find_segments(struct hd_gpu_plan *p) {
    for (size_t i = 0, end; i < p->n_steps && p->api->record; i = end) {
        for (end = i; end < p->n_steps && p->steps[end].kind == HD_GPU_KERNELS;) end++;
        if (end > i)
            *hd_push(p->arena, p->segments, p->n_segments, p->cap_segments) =
                (struct hd_gpu_segment){i, end, NULL};
        else
            end++;
    }
    p->recorded = hd_new_array(p->arena, uint64_t, (size_t)p->io.n_in + (size_t)p->io.n_out + 1);
}

static hd_status make(struct hd_gpu_plan *p) {
    p->out_view = hd_new_array(p->arena, int, (size_t)p->io.n_out + 1);
    TRY(check_known(p));
    count_users(p);
    hd_gpu_layout(p);
    for (int i = 0; i < p->io.n_in; i++) {
        int v = hd_gpu_make(p, p->model->values[p->io.in[i]].tensor, 0);
        p->views[v].io = i;
    }
    TRY(plan_nodes(p));
    TRY(plan_outputs(p));
    find_segments(p);
    if (!p->gpu) return HD_OK; /* on paper */
    TRY(build(p));
    TRY(set_timers(p));
    TRY(hd_gpu_memory_plan(p));
    return hd_gpu_plan_once(p->ctx, p);
}

static hd_status create(hd_ctx *ctx, const struct hd_gpu_api *api, hd_gpu *gpu,
                        const struct hd_gpu_limits *limits, const hd_graph *g, const hd_model *m,
                        const struct hd_host_io *io, const int *nodes, size_t n,
                        const struct hd_device_options *o, const struct hd_gpu_tuning *tuning,
                        struct hd_gpu_plan **out) {
    struct hd_gpu_plan *p = calloc(1, sizeof *p);
    if (!p) return hd_fail(ctx, HD_NOMEM, "%s: no memory to plan %s", api->scheme, m->name);
    hd_arena *a = p->arena = hd_arena_create();
    size_t n_tensors = g->n_tensors + 1;
    p->ctx = ctx, p->api = api, p->gpu = gpu, p->g = g, p->model = m;
    if (io) p->io = *io;
    p->limits = limits;
    if (o) p->asked = *o;
    if (tuning) p->tuning = *tuning;
    p->fault = -1;
    p->done = hd_new_array(a, bool, g->n_nodes + 1);
    p->wanted = hd_new_array(a, bool, g->n_nodes + 1);
    p->view_of = hd_new_array(a, int, n_tensors);
    p->users = hd_new_array(a, int, n_tensors);
    p->constant = hd_new_array(a, const void *, n_tensors);
    p->golden = hd_golden_tensors(g, a);
    p->golden_results = hd_arena_create();
    p->golden_scratch = hd_arena_create();
    p->kernels = hd_kernels_create(a, api->dialect);
    memset(p->view_of, 0xff, n_tensors * sizeof *p->view_of);
    for (size_t i = 0; i < g->n_nodes; i++) p->wanted[i] = !nodes && !g->nodes[i].dead;
    for (size_t i = 0; i < n; i++) p->wanted[nodes[i]] = true;
    hd_status s = io ? HD_OK : hd_host_choose_io(ctx, a, m, -1, g, &p->io);
    if (s == HD_OK) s = make(p);
    if (s == HD_OK)
        *out = p;
    else
        hd_gpu_plan_destroy(p);
    return s;
}

hd_status hd_gpu_plan_create(hd_ctx *ctx, const struct hd_gpu_api *api, hd_gpu *gpu,
                             const hd_graph *g, const hd_model *m, const struct hd_host_io *io,
                             const int *nodes, size_t n, const struct hd_device_options *o,
                             const struct hd_gpu_tuning *tuning, struct hd_gpu_plan **out) {
    return create(ctx, api, gpu, api->limits(gpu), g, m, io, nodes, n, o, tuning, out);
}

hd_status hd_gpu_plan_on_paper(hd_ctx *ctx, const struct hd_gpu_api *api,
                               const struct hd_gpu_limits *limits, const hd_graph *g,
                               const hd_model *m, const struct hd_gpu_tuning *tuning,
                               struct hd_gpu_plan **out) {
    return create(ctx, api, NULL, limits, g, m, NULL, NULL, 0, NULL, tuning, out);
}

void hd_gpu_plan_destroy(struct hd_gpu_plan *p) {
    if (!p) return;
    hd_gpu_forget(p);
    for (size_t i = 0; i < p->n_steps; i++)
        for (int k = 0; k < p->steps[i].n_calls; k++)
            if (p->steps[i].call[k].library) p->api->drop(p->gpu, p->steps[i].call[k].library);
    hd_gpu_memory_free(p);
    if (p->program) p->api->unbuild(p->gpu, p->program);
    hd_arena_destroy(p->golden_results);
    hd_arena_destroy(p->golden_scratch);
    hd_arena_destroy(p->arena);
    free(p);
}

struct hd_gpu_share hd_gpu_plan_share(const struct hd_gpu_plan *p) {
    struct hd_gpu_share s = {0};
    bool *host = calloc(p->g->n_nodes + 1, sizeof *host);
    for (size_t i = 0; host && i < p->n_steps; i++)
        if (p->steps[i].kind == HD_GPU_HOST) host[p->steps[i].node] = true;
    for (size_t i = 0; host && i < p->g->n_nodes; i++) {
        const struct hd_node *n = &p->g->nodes[i];
        bool constant = true;
        for (int k = 0; k < n->n_out; k++)
            constant = constant && (n->out[k] < 0 || p->constant[n->out[k]]);
        if (!p->wanted[i] || constant) continue;
        int64_t macs = hd_node_macs(p->g, n);
        s.nodes++, s.macs += macs;
        if (host[i]) continue;
        s.device_nodes++, s.device_macs += macs;
    }
    free(host);
    return s;
}

int64_t hd_gpu_step_bytes(const struct hd_gpu_plan *p, const struct hd_gpu_step *s) {
    bool *seen = calloc(p->n_views + 1, sizeof *seen);
    int64_t bytes = 0;
    for (int i = 0; seen && i < s->n_calls; i++)
        for (int k = 0; k < s->call[i].n_args && !s->call[i].once; k++) {
            int v = s->call[i].arg[k];
            const struct hd_gpu_view *x = &p->views[v];
            bool outside = x->tensor >= 0 || x->once || x->constant; /* else between two launches */
            if (outside && !seen[v])
                bytes += (int64_t)(x->tensor < 0 ? x->bytes
                                                 : hd_tensor_bytes(&p->g->tensors[x->tensor]));
            seen[v] = true;
        }
    free(seen);
    return bytes;
}

struct hd_exec_step hd_gpu_step_facts(const struct hd_gpu_plan *p, const struct hd_gpu_step *s) {
    const struct hd_node *n = &p->g->nodes[s->node];
    hd_dtype t = n->n_in && n->in[0] >= 0 ? p->g->tensors[n->in[0]].dtype : HD_F32;
    return (struct hd_exec_step){.node = n->name,
                                 .op = hd_ir_ops[n->op].name,
                                 .how = s->how,
                                 .n_nodes = s->n_nodes,
                                 .seconds = s->seconds,
                                 .macs = s->macs,
                                 .bytes = hd_gpu_step_bytes(p, s),
                                 .bytewise = t == HD_I8 || t == HD_U8};
}
