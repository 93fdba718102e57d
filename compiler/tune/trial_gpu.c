/* Works of devices opencl and cuda: the expressions that a plan makes kernels of. Their operands
 * are what golden computes in the whole network, and their results are compared with golden's. */
#include <stdlib.h>
#include <string.h>

#include "compiler/session/session.h"
#include "compiler/tune/trial_int.h"
#include "cpu_ref/golden.h"
#include "gpu_ref/gpu_choice.h"
#include "gpu_ref/gpu_layout.h"
#include "gpu_ref/gpu_plan.h"

struct net { /* a network, its plan on paper, and golden's values of all its tensors */
    hd_model *m;
    hd_graph *g;
    struct hd_gpu_plan *plan;
    struct hd_tensor *value;
};

struct device {
    struct hd_cmd *c;
    hd_arena *a;
    const struct hd_gpu_api *api;
    hd_gpu *gpu;
    struct net **nets;
    size_t n_nets, cap_nets;
};

struct trial {
    struct device *d;
    hd_arena *a;
    const struct net *net;
    const struct hd_gpu_work *work;
    hd_model m; /* a name, and values: what the work reads, then what it makes */
    struct hd_host_io io;
    hd_gpu_mem **buffer; /* of each value */
    void **y;            /* of each result */
    struct hd_cpu_bound bound;
};

/* ---- device and networks -------------------------------------------------------------------- */

hd_status hd_trial_gpu_start(struct hd_cmd *c, const struct hd_gpu_api *api, void **out_state) {
    hd_gpu *gpu;
    TRY(api->open(c->ctx, &gpu));
    hd_arena *a = hd_arena_create();
    struct device *d = hd_new(a, struct device);
    *d = (struct device){.c = c, .a = a, .api = api, .gpu = gpu};
    *out_state = d;
    return HD_OK;
}

static hd_status start_opencl(struct hd_cmd *c, int threads, void **out_state) {
    (void)threads;
    return hd_trial_gpu_start(c, &hd_gpu_opencl, out_state);
}

static hd_status start_cuda(struct hd_cmd *c, int threads, void **out_state) {
    (void)threads;
    return hd_trial_gpu_start(c, &hd_gpu_cuda, out_state);
}

static void end(void *state) {
    struct device *d = state;
    for (size_t i = 0; i < d->n_nets; i++) {
        hd_gpu_plan_destroy(d->nets[i]->plan);
        if (d->nets[i]->g) hd_graph_destroy(d->nets[i]->g);
        hd_model_destroy(d->nets[i]->m);
    }
    d->api->close(d->gpu);
    hd_arena_destroy(d->a);
}

/* What the plan knows when it is made is constant in every plan of a part. */
static void keep_constants(struct net *n) {
    for (size_t t = 0; t < n->g->n_tensors; t++)
        if (n->plan->constant[t]) n->g->tensors[t].data = n->plan->constant[t];
}

/* m becomes the device's. */
static hd_status add_net(struct device *d, hd_model *m, const void *const *in, struct net **out) {
    struct net *n = *out = hd_new(d->a, struct net);
    hd_ctx *ctx = d->c->ctx;
    *hd_push(d->a, d->nets, d->n_nets, d->cap_nets) = n;
    n->m = m;
    TRY(hd_graph_load(ctx, m->graph, m->graph_bytes, &n->g));
    TRY(hd_gpu_plan_on_paper(ctx, d->api, d->api->limits(d->gpu), n->g, m, NULL, &n->plan));
    n->value = hd_golden_tensors(n->g, d->a);
    for (int i = 0; i < m->n_inputs; i++)
        n->value[m->values[m->inputs[i]].tensor].data = (void *)(uintptr_t)in[i];
    hd_cmd_progress(d->c, "golden computes %s", m->name);
    TRY(hd_golden_eval(ctx, n->g, NULL, 0, n->value, d->a));
    keep_constants(n);
    return HD_OK;
}

static hd_status product_net(struct device *d, const struct hd_tunable *w, struct net **out) {
    struct hd_trial t = {.c = d->c, .a = d->a, .w = *w};
    hd_status s = hd_trial_graph(&t);
    if (t.g) hd_graph_destroy(t.g);
    TRY(s);
    return add_net(d, t.m, (const void *const[]){t.x}, out);
}

static hd_status network_net(struct device *d, const char *arg, struct net **out) {
    const char *path, *what;
    const void **in;
    hd_model *m;
    TRY(hd_model_path(d->c, d->a, arg, &path));
    TRY(hd_open_model(d->c, path, true, &m));
    hd_status s = hd_cmd_inputs(d->c, d->a, m, path, &in, &what);
    if (s == HD_OK) return add_net(d, m, in, out);
    hd_model_destroy(m);
    return s;
}

static hd_status find(void *state, hd_arena *a, const char *path, struct hd_tune_list *l) {
    struct device *d = state;
    struct hd_tunable w;
    struct net *n;
    const char *only = d->c->opt.run.only;
    TRY(hd_tune_product_asked(d->c, path, &w) ? product_net(d, &w, &n) : network_net(d, path, &n));
    for (size_t i = 0; i < n->plan->works.n; i++) {
        const struct hd_gpu_work *k = &n->plan->works.work[i];
        const struct hd_exec_step s = hd_gpu_step_facts(n->plan, &n->plan->steps[k->step]);
        const char *more = k->n > 1 ? hd_sprintf(a, " +%d", k->n - 1) : "";
        if (only && s.bytewise != !strcmp(only, "int8")) continue;
        hd_tune_list_add(
            a, l,
            &(struct hd_tune_work){.name = k->name,
                                   .label = hd_sprintf(a, "%s%s %s", s.op, more, k->name),
                                   .macs = (double)s.macs,
                                   .net = n,
                                   .index = i});
    }
    return HD_OK;
}

/* ---- open, close ---------------------------------------------------------------------------- */

static bool made_inside(const struct trial *t, int tensor) {
    bool found = false;
    for (int i = 0; i < t->work->n; i++)
        found = found || t->net->g->tensors[tensor].producer == t->work->node[i];
    return found;
}

static void add_value(struct trial *t, int tensor, int *list, int *n) {
    for (int i = 0; i < *n; i++)
        if (t->m.values[list[i]].tensor == tensor) return;
    t->m.values[t->m.n_values].tensor = tensor;
    list[(*n)++] = t->m.n_values++;
}

static void find_values(struct trial *t) {
    const struct hd_gpu_work *w = t->work;
    size_t most = (size_t)w->n * HD_MAX_OPERANDS + (size_t)w->n_results + 1;
    t->m.name = t->net->m->name;
    t->m.values = hd_new_array(t->a, struct hd_value_info, most);
    t->io.in = hd_new_array(t->a, int, most), t->io.out = hd_new_array(t->a, int, most);
    for (int i = 0; i < w->n; i++) {
        const struct hd_node *n = &t->net->g->nodes[w->node[i]];
        struct hd_cpu_bound b = hd_cpu_bound_of(n->op);
        t->bound.relative += b.relative, t->bound.of_largest += b.of_largest;
        for (int k = 0; k < n->n_in; k++)
            if (n->in[k] >= 0 && !t->net->g->tensors[n->in[k]].data && !made_inside(t, n->in[k]))
                add_value(t, n->in[k], t->io.in, &t->io.n_in);
    }
    for (int i = 0; i < w->n_results; i++)
        if (w->result[i] >= 0) add_value(t, w->result[i], t->io.out, &t->io.n_out);
}

static size_t bytes_of(const struct trial *t, int value) {
    return hd_tensor_bytes(&t->net->g->tensors[t->m.values[value].tensor]);
}

/* The value's elements as they lie on the device, or back from there. */
static const void *moved(struct trial *t, int value, bool back, const void *data) {
    int tensor = t->m.values[value].tensor;
    if (!t->net->plan->channels_last[tensor]) return data;
    void *to = hd_alloc(t->a, bytes_of(t, value) + 1);
    hd_gpu_reorder(&t->net->g->tensors[tensor], 1, back, data, to);
    return to;
}

static hd_status make_buffers(struct trial *t) {
    struct device *d = t->d;
    t->buffer = hd_new_array(t->a, hd_gpu_mem *, (size_t)t->m.n_values + 1);
    t->y = hd_new_array(t->a, void *, (size_t)t->io.n_out + 1);
    for (int i = 0; i < t->m.n_values; i++) {
        size_t bytes = bytes_of(t, i);
        TRY(d->api->alloc(d->c->ctx, d->gpu, bytes, &t->buffer[i]));
        if (i < t->io.n_in && bytes)
            TRY(d->api->write(d->c->ctx, d->gpu, t->buffer[i], 0,
                              moved(t, i, false, t->net->value[t->m.values[i].tensor].data),
                              bytes));
        if (i >= t->io.n_in) t->y[i - t->io.n_in] = hd_alloc(t->a, bytes + 1);
    }
    return HD_OK;
}

static void close_trial(void *trial) {
    struct trial *t = trial;
    for (int i = 0; t->buffer && i < t->m.n_values; i++)
        if (t->buffer[i]) t->d->api->free(t->d->gpu, t->buffer[i]);
    hd_arena_destroy(t->a);
}

static hd_status open_trial(void *state, const struct hd_tune_work *w, void **out_trial) {
    hd_arena *a = hd_arena_create();
    struct trial *t = hd_new(a, struct trial);
    *t = (struct trial){.d = state, .a = a, .net = w->net};
    t->work = &t->net->plan->works.work[w->index];
    find_values(t);
    hd_status s = make_buffers(t);
    if (s == HD_OK)
        *out_trial = t;
    else
        close_trial(t);
    return s;
}

static const char *key(const void *trial) {
    const struct trial *t = trial;
    return hd_gpu_device_key(t->a, t->d->api, t->d->api->limits(t->d->gpu));
}

static int space(const void *trial, hd_arena *a, struct hd_candidate **out) {
    const struct trial *t = trial;
    struct hd_gpu_candidate *list;
    int n = hd_gpu_space(t->a, t->work->f, t->d->api->limits(t->d->gpu), &list);
    *out = hd_new_array(a, struct hd_candidate, (size_t)n + 1);
    for (int i = 0; i < n; i++)
        (*out)[i] = (struct hd_candidate){hd_strdup(a, list[i].text), list[i].cycles};
    return n;
}

/* ---- measuring ------------------------------------------------------------------------------ */

static hd_status compare(struct trial *t, bool *out_right) {
    *out_right = true;
    for (int i = 0; i < t->io.n_out; i++) {
        int value = t->io.out[i], tensor = t->m.values[value].tensor;
        const struct hd_tensor *x = &t->net->g->tensors[tensor];
        size_t bytes = bytes_of(t, value);
        if (bytes)
            TRY(t->d->api->read(t->d->c->ctx, t->d->gpu, t->buffer[value], 0, t->y[i], bytes));
        *out_right = *out_right && hd_trial_same(x->dtype, moved(t, value, true, t->y[i]),
                                                 t->net->value[tensor].data,
                                                 (size_t)hd_tensor_elems(x), t->bound);
    }
    return HD_OK;
}

/* The best of some runs, by the device's events; *out_right: it is golden's result. */
static hd_status run(struct trial *t, struct hd_gpu_plan *p, double *out_seconds, bool *out_right) {
    double start = hd_seconds(), sum = 0;
    *out_right = true;
    for (int i = 0; i < HD_TRIAL_MOST && *out_right; i++) {
        if (i >= HD_TRIAL_LEAST && hd_seconds() - start > HD_TRIAL_LONG) break;
        TRY(hd_gpu_plan_run(t->d->c->ctx, p, t->buffer, true));
        if (i == 0) TRY(compare(t, out_right));
    }
    for (size_t i = 0; i < p->n_steps; i++) sum += p->steps[i].seconds;
    *out_seconds = sum;
    return HD_OK;
}

static hd_status plan(struct trial *t, const struct hd_gpu_choice *only, struct hd_gpu_plan **out) {
    const struct hd_device_options o = {.no_fallback = true};
    const struct hd_gpu_tuning tuning = {.only = only,
                                         .channels_last = t->net->plan->channels_last};
    return hd_gpu_plan_create(t->d->c->ctx, t->d->api, t->d->gpu, t->net->g, &t->m, &t->io,
                              t->work->node, (size_t)t->work->n, &o, &tuning, out);
}

static hd_status other(void *trial, double *out_seconds, const char **out_how) {
    struct trial *t = trial;
    struct hd_gpu_plan *p;
    bool right = true;
    TRY(plan(t, NULL, &p));
    hd_status s = run(t, p, out_seconds, &right);
    if (p->n_steps) *out_how = hd_strdup(t->a, p->steps[0].how);
    hd_gpu_plan_destroy(p);
    if (s == HD_OK && !right)
        return hd_fail(t->d->c->ctx, HD_INVALID,
                       "device %s differs from golden beyond its bounds; please report it",
                       t->d->api->scheme);
    return s;
}

static hd_status schedule(void *trial, const struct hd_candidate *c, double *out_seconds) {
    struct trial *t = trial;
    struct hd_gpu_choice choice;
    struct hd_gpu_plan *p = NULL;
    double seconds = 0;
    bool right = false;
    HD_ASSERT(hd_gpu_choice_read(c->schedule, &choice));
    hd_status s = plan(t, &choice, &p);
    /* one step of all nodes: else the choice fits a part of them */
    if (s == HD_OK && p->n_steps == 1 && p->steps[0].n_nodes == t->work->n)
        s = run(t, p, &seconds, &right);
    hd_gpu_plan_destroy(p);
    *out_seconds = right ? seconds : 0;
    if (s == HD_OK || s == HD_CANCELLED) return s;
    hd_clear(t->d->c->ctx); /* it does not fit the work, or the device */
    *out_seconds = 0;
    return HD_OK;
}

#define GPU(name)                                                                                  \
    const struct hd_tune_device hd_tune_##name = {.scheme = #name,                                 \
                                                  .works = "kernel of a tensor expression",        \
                                                  .start = start_##name,                           \
                                                  .end = end,                                      \
                                                  .find = find,                                    \
                                                  .open = open_trial,                              \
                                                  .close = close_trial,                            \
                                                  .key = key,                                      \
                                                  .space = space,                                  \
                                                  .other = other,                                  \
                                                  .schedule = schedule}
GPU(opencl);
GPU(cuda);
