/* The loop's inside: a session on the graph of a step, and its state between runs. */
#include "runtime/train/train.h"

#include <stdlib.h>
#include <string.h>

#include "compiler/compiler.h"
#include "compiler/ir/memory.h"
#include "runtime/base/io.h"
#include "runtime/base/num.h"
#include "runtime/runtime.h"
#include "runtime/train/graph.h"
#include "runtime/train/parts.h"
#include "runtime/train/peers.h"
#include "runtime/train/ranges.h"
#include "runtime/train/recompute.h"
#include "runtime/train/shards.h"
#include "runtime/train/split.h"

struct half {    /* of a step: a model that runs */
    hd_graph *g; /* before it was legalised: names and shapes */
    hd_model *m;
    hd_session *s;
    int shared; /* products that were cut for several devices */
    const void **in;
    void **out;
};

struct flight { /* a shard that runs: its arrays, until it is waited for */
    const void **in;
    void **out;
    float number;
    uint64_t request;
};

struct hd_trainer {
    hd_arena *arena;
    hd_graph *file; /* what was opened; NULL: no scales are learned */
    struct hd_train_options o;
    int ranges;                   /* their state */
    struct half step, update;     /* update.g is NULL: step has all of it */
    struct hd_shards *shards;     /* where it has not */
    struct hd_made made;          /* ... and they are told of what a run has made */
    struct hd_train_peers *peers; /* gradients go from device to device; NULL = as shards say */
    const char *no_peers;         /* ... why not */
    struct hd_train_split *split; /* ranks share the update; NULL = each makes all of it */
    int n_data, n_results;        /* before state: inputs; loss, metrics */
    int n_state, n_weights;       /* state: step, weights, what the optimiser keeps */
    bool steps;  /* the first half has an input behind the data: the step's number */
    bool adapts; /* ... and one behind the weights: the factor of the loss */
    int n_shards;
    struct flight *flight; /* of shards that follow each other over several devices */
    int n_flights;         /* at once; 0 = one shard runs behind the other */
    int n_frozen;          /* integer weights that are not trained */
    bool integers;         /* weights are states of integers */
    float **state, **next;
    size_t *bytes;
    size_t *data_bytes;  /* of the inputs of a shard */
    const char **result; /* names of results */
    bool limited;        /* in memory */
    struct hd_recomputed recomputed;
};

static void close_half(struct half *h) {
    hd_session_close(h->s);
    hd_model_destroy(h->m);
    if (h->g) hd_graph_destroy(h->g);
}

static const struct hd_tensor *state_tensor(const hd_trainer *t, int i) {
    const hd_graph *g = t->update.g ? t->update.g : t->step.g;
    return &g->tensors[g->inputs[i + (t->update.g ? 0 : t->n_data)]];
}

/* The layer that ends in result i. */
static const char *result_name(const hd_trainer *t, int i) {
    const hd_graph *g = t->step.g;
    const struct hd_node *copy = &g->nodes[g->tensors[g->outputs[i]].producer];
    char *name = hd_strdup(t->arena, g->tensors[copy->in[0]].name);
    name[strcspn(name, "/")] = 0;
    return name;
}

static void make_room(hd_trainer *t) {
    const hd_graph *u = t->update.g, *g = t->step.g;
    t->n_state = u ? (int)u->n_inputs - t->n_weights : (int)g->n_inputs - t->n_data;
    t->data_bytes = hd_new_array(t->arena, size_t, (size_t)t->n_data + 1);
    for (int i = 0; i < t->n_data; i++)
        t->data_bytes[i] = hd_tensor_bytes(&g->tensors[g->inputs[i]]);
    t->result = hd_new_array(t->arena, const char *, (size_t)t->n_results + 1);
    for (int i = 0; i < t->n_results; i++) t->result[i] = result_name(t, i);
    size_t n = (size_t)t->n_state;
    t->state = hd_new_array(t->arena, float *, n + 1);
    t->next = hd_new_array(t->arena, float *, n + 1);
    t->bytes = hd_new_array(t->arena, size_t, n + 1);
    struct half *both[2] = {&t->step, &t->update};
    for (int i = 0; i < 2 && both[i]->g; i++) {
        both[i]->in = hd_new_array(t->arena, const void *, both[i]->g->n_inputs + 1);
        both[i]->out = hd_new_array(t->arena, void *, both[i]->g->n_outputs + 1);
    }
    for (int i = 0; i < t->n_state; i++) {
        const struct hd_tensor *s = state_tensor(t, i);
        t->bytes[i] = hd_tensor_bytes(s);
        t->state[i] = hd_dup(t->arena, s->initial, t->bytes[i]);
        t->next[i] = hd_alloc(t->arena, t->bytes[i] + 1);
    }
}

static bool limited(const struct hd_memory_limit *m) {
    return m->bytes > 0 || m->share > 0;
}

/* out: NULL = what the limit of the options did is not asked for, and there is none. made: NULL =
 * nobody wants to know. */
static hd_status compile(hd_ctx *ctx, const hd_graph *g, const struct hd_train_options *o,
                         struct hd_recomputed *out, const struct hd_made *made, struct half *to) {
    struct hd_compile_options c = {.host_only = true, .latency_hiding = true};
    struct hd_device_options d = {.threads = o->threads, .made = made, .in_place = true};
    hd_graph *legal = NULL;
    TRY(hd_machine_load(ctx, "base", &c.machine));
    d.machine = c.machine; /* devices of other computers want one */
    TRY(hd_graph_copy(ctx, g, &legal));
    if (o->devices) c.devices = *o->devices;
    c.devices.pipeline = o->devices && made; /* shards of a step, not its update */
    hd_status s = hd_legalize(ctx, legal);
    if (s == HD_OK) s = hd_opt_pass(ctx, legal, "split");
    if (s == HD_OK && out && limited(&o->memory)) s = hd_recompute(ctx, legal, &o->memory, out);
    if (s == HD_OK && c.devices.pipeline) s = hd_train_parts(ctx, &c.devices, &legal, &to->shared);
    if (s == HD_OK) s = hd_lower(ctx, legal, &c, &to->m);
    hd_graph_destroy(legal);
    TRY(s);
    return hd_session_open(ctx, to->m, o->device, &d, &to->s);
}

hd_status hd_train_compile(hd_ctx *ctx, const hd_graph *g, const struct hd_train_options *o,
                           hd_model **out_m, hd_session **out_s) {
    struct half h = {0};
    hd_status s = compile(ctx, g, o, NULL, NULL, &h);
    *out_m = h.m, *out_s = h.s;
    return s;
}

/* Every input begins with the batch. */
static hd_status check_batch(hd_ctx *ctx, const hd_trainer *t) {
    const hd_graph *g = t->step.g;
    for (int i = 0; i < t->n_data; i++) {
        const struct hd_tensor *x = &g->tensors[g->inputs[i]], *first = &g->tensors[g->inputs[0]];
        char text[HD_SHAPE_TEXT];
        if (!x->known || x->rank < 1 || x->dim[0] != first->dim[0])
            return hd_fail(ctx, HD_UNSUPPORTED,
                           "%s: input '%s' is %s; want the batch as its first dimension, as '%s' "
                           "has it",
                           g->name, x->name, hd_shape_text(x, text), first->name);
    }
    return HD_OK;
}

/* ---- shards --------------------------------------------------------------------------------- */

static void made(void *user, int output, const void *data) {
    const hd_trainer *t = user;
    if (t->shards) hd_shards_made(t->shards, output, data);
}

struct place { /* of an output among the others of a run */
    int output;
    size_t at;
};

static int by_place(const void *a, const void *b) {
    const struct place *x = a, *y = b;
    return x->at != y->at ? (x->at > y->at) - (x->at < y->at) : x->output - y->output;
}

/* The outputs of the first half as its nodes are to run. */
static hd_status order_outputs(hd_ctx *ctx, hd_arena *a, const hd_model *m, int *order) {
    hd_graph *g = NULL;
    struct hd_mem_plan plan;
    TRY(hd_graph_load(ctx, m->graph, m->graph_bytes, &g));
    hd_mem_order_graph(g, a, &plan);
    size_t *at = hd_new_array(a, size_t, g->n_nodes + 1);
    struct place *p = hd_new_array(a, struct place, (size_t)m->n_outputs + 1);
    for (size_t i = 0; i < plan.n_order; i++) at[plan.order[i]] = i + 1;
    for (int i = 0; i < m->n_outputs; i++) {
        int node = g->tensors[m->values[m->outputs[i]].tensor].producer;
        p[i] = (struct place){i, node < 0 ? 0 : at[node]};
    }
    qsort(p, (size_t)m->n_outputs, sizeof *p, by_place);
    for (int i = 0; i < m->n_outputs; i++) order[i] = p[i].output;
    hd_graph_destroy(g);
    return HD_OK;
}

static hd_status open_shards(hd_ctx *ctx, hd_trainer *t, const struct hd_train_options *o) {
    hd_arena *a = hd_arena_create();
    size_t n = (size_t)t->n_results + (size_t)t->n_weights + 1, *elems = hd_new_array(a, size_t, n);
    int *order = hd_new_array(a, int, n);
    struct hd_shard_outputs outputs = {t->n_results, t->peers ? 0 : t->n_weights, elems, order};
    for (int i = 0; i < t->n_results; i++) elems[i] = 1;
    for (int i = 0; i < t->n_weights; i++)
        elems[t->n_results + i] = t->bytes[1 + i] / sizeof(float);
    for (int i = 0; i < t->n_results; i++) order[i] = i;
    hd_status s = t->peers ? HD_OK : order_outputs(ctx, a, t->step.m, order);
    if (s == HD_OK) s = hd_shards_open(ctx, t->arena, o->shards, o->ranks, &outputs, &t->shards);
    if (s == HD_OK) t->n_shards = hd_shards_n(t->shards);
    hd_arena_destroy(a);
    return s;
}

/* As many shards at once as there are devices, and one that waits. */
static hd_status open_pipeline(hd_ctx *ctx, hd_trainer *t) {
    const hd_graph *g = t->step.g;
    int first, mine = hd_shards_begin(t->shards, &first);
    if (!t->o.devices || mine < 2) return HD_OK;
    t->n_flights = (int)hd_min(mine, t->o.devices->n + 1);
    if (!t->flight) t->flight = hd_new_array(t->arena, struct flight, (size_t)t->n_flights);
    for (int i = 0; i < t->n_flights && !t->flight[i].in; i++) {
        struct flight *f = &t->flight[i];
        f->in = hd_new_array(t->arena, const void *, g->n_inputs + 1);
        f->out = hd_new_array(t->arena, void *, g->n_outputs + 1);
        for (size_t k = 0; k < g->n_outputs; k++)
            f->out[k] = hd_alloc(t->arena, hd_tensor_bytes(&g->tensors[g->outputs[k]]) + 1);
    }
    return hd_session_queue(ctx, t->step.s, t->n_flights);
}

/* In front of the update's session: its graph takes the gradients of all shards. */
static hd_status plan_peers(hd_ctx *ctx, hd_trainer *t, const struct hd_train_options *o) {
    bool can = false;
    TRY(hd_train_peers_agree(ctx, o, &can, &t->no_peers));
    if (!can) return HD_OK;
    struct hd_train_peers *p = hd_new(t->arena, struct hd_train_peers);
    int n = hd_ranks_n(o->ranks);
    *p = (struct hd_train_peers){.n_results = t->n_results,
                                 .n_state = t->n_state,
                                 .n_gradients = t->n_weights,
                                 .shards = o->shards < 1 ? n : o->shards,
                                 .bytes = t->bytes + 1};
    TRY(hd_train_peers_update(ctx, t->update.g, t->n_weights, p->shards, n));
    t->peers = p;
    return HD_OK;
}

static hd_status open_peers(hd_ctx *ctx, hd_trainer *t, const struct hd_train_options *o) {
    if (!t->peers) return HD_OK;
    t->peers->step = t->step.s, t->peers->update = t->update.s;
    return hd_train_peers_open(ctx, t->arena, o->ranks, t->peers);
}

static struct hd_train_states states(const hd_trainer *t) {
    return (struct hd_train_states){t->n_state, t->bytes, t->state, t->next};
}

/* The second half: a part of it, where ranks share it. */
static hd_status open_update(hd_ctx *ctx, hd_trainer *t, const struct hd_train_options *o,
                             const struct hd_trained *weights) {
    struct hd_train_states s = states(t);
    if (hd_shards_window(t->shards) && hd_train_splits(o))
        TRY(hd_train_split_open(ctx, t->arena, t->step.g, o, weights, &s, t->shards, &t->split));
    return t->split ? HD_OK : compile(ctx, t->update.g, o, NULL, NULL, &t->update);
}

static hd_status open_trainer(hd_ctx *ctx, const hd_graph *g, const struct hd_train_options *o,
                              hd_trainer *t) {
    struct hd_trained weights = {0};
    bool alone = o->shards <= 1 && (!o->ranks || hd_ranks_n(o->ranks) == 1);
    TRY(hd_graph_copy(ctx, g, &t->step.g));
    if (!alone) t->update.g = hd_graph_create();
    TRY(hd_train_graph(ctx, t->step.g, o, t->update.g, t->arena, &weights));
    t->n_weights = weights.n, t->n_frozen = weights.frozen;
    t->n_data = weights.n_data, t->n_results = weights.n_results, t->steps = weights.steps;
    t->adapts = weights.adapts;
    TRY(check_batch(ctx, t));
    make_room(t);
    t->n_shards = 1;
    t->made = (struct hd_made){made, t};
    if (weights.n_ranges) TRY(hd_graph_copy(ctx, g, &t->file));
    t->o = *o, t->ranges = 1 + weights.ranges;
    t->limited = limited(&o->memory);
    TRY(compile(ctx, t->step.g, o, &t->recomputed, &t->made, &t->step));
    if (alone) return HD_OK;
    TRY(plan_peers(ctx, t, o));
    TRY(open_shards(ctx, t, o));
    TRY(open_pipeline(ctx, t));
    TRY(open_update(ctx, t, o, &weights));
    return open_peers(ctx, t, o);
}

hd_status hd_trainer_open(hd_ctx *ctx, const hd_graph *g, const struct hd_train_options *o,
                          hd_trainer **out) {
    hd_arena *arena = hd_arena_create();
    hd_trainer *t = hd_new(arena, hd_trainer);
    t->arena = arena;
    t->integers = o->integers;
    hd_status s = open_trainer(ctx, g, o, t);
    if (s == HD_OK)
        *out = t;
    else
        hd_trainer_close(t);
    return s;
}

static hd_status whole_step(hd_ctx *ctx, hd_trainer *t, const void *const *in, float *r) {
    for (int i = 0; i < t->n_data; i++) t->step.in[i] = in[i];
    for (int i = 0; i < t->n_results; i++) t->step.out[i] = r + i;
    for (int i = 0; i < t->n_state; i++) {
        t->step.in[t->n_data + i] = t->state[i];
        t->step.out[t->n_results + i] = t->next[i];
    }
    return hd_session_run(ctx, t->step.s, t->step.in, t->step.out);
}

/* Of a loss scale that adapts. */
static const float *scale_state(const hd_trainer *t, int i) {
    return t->state[t->n_state - HD_SCALE_STATES + i];
}

/* The arrays of the run of shard k; *number is borrowed, too. */
static void shard_inputs(const hd_trainer *t, const void *const *in, int k, float *number,
                         const void **at) {
    *number = t->state[0][0] * (float)t->n_shards + (float)k;
    for (int i = 0; i < t->n_data; i++) *at++ = (const char *)in[i] + (size_t)k * t->data_bytes[i];
    if (t->steps) *at++ = number;
    for (int i = 0; i < t->n_weights; i++) *at++ = t->state[1 + i];
    if (t->adapts) *at++ = scale_state(t, HD_SCALE_FACTOR);
}

static hd_status run_shards(hd_ctx *ctx, hd_trainer *t, const void *const *in) {
    int first = 0, n = hd_shards_begin(t->shards, &first);
    for (int k = first; k < first + n; k++) {
        float number;
        shard_inputs(t, in, k, &number, t->step.in);
        hd_shards_room(t->shards, t->step.out);
        for (int i = 0; t->peers && i < t->n_weights; i++)
            t->step.out[t->n_results + i] = HD_ON_DEVICE;
        TRY(hd_session_run(ctx, t->step.s, t->step.in, t->step.out));
        hd_shards_add(t->shards);
        if (t->peers) TRY(hd_train_peers_gather(ctx, t->peers, k - first));
    }
    return HD_OK;
}

static hd_status land(hd_ctx *ctx, hd_trainer *t, const struct flight *f) {
    const hd_graph *g = t->step.g;
    TRY(hd_session_wait(ctx, t->step.s, f->request, UINT64_MAX));
    hd_shards_room(t->shards, t->step.out);
    for (size_t i = 0; i < g->n_outputs; i++)
        memcpy(t->step.out[i], f->out[i], hd_tensor_bytes(&g->tensors[g->outputs[i]]));
    hd_shards_add(t->shards);
    return HD_OK;
}

/* While one shard is on one device, the next is on another. They are added in their order. */
static hd_status pipeline(hd_ctx *ctx, hd_trainer *t, const void *const *in) {
    int first = 0, n = hd_shards_begin(t->shards, &first), depth = t->n_flights;
    for (int i = 0; i < n + depth; i++) {
        struct flight *f = &t->flight[i % depth];
        if (i >= depth) TRY(land(ctx, t, f));
        if (i >= n) continue;
        shard_inputs(t, in, first + i, &f->number, f->in);
        TRY(hd_session_submit(ctx, t->step.s, f->in, f->out, &f->request));
    }
    return HD_OK;
}

/* The gradients of this rank's shards, the sum over all, the update. */
static hd_status step_of_shards(hd_ctx *ctx, hd_trainer *t, const void *const *in, float *r) {
    TRY(t->n_flights ? pipeline(ctx, t, in) : run_shards(ctx, t, in));
    const float *const *gradients = NULL;
    TRY(hd_shards_sum(ctx, t->shards, r, &gradients));
    struct hd_train_states s = states(t);
    if (t->split) return hd_train_split_run(ctx, t->split, &s, gradients);
    for (int i = 0; i < t->n_state; i++) {
        t->update.in[i] = t->state[i];
        t->update.out[i] = t->next[i];
    }
    for (int i = 0; i < t->n_weights; i++)
        t->update.in[t->n_state + i] = t->peers ? HD_ON_DEVICE : gradients[i];
    return hd_session_run(ctx, t->update.s, t->update.in, t->update.out);
}

hd_status hd_trainer_run(hd_ctx *ctx, hd_trainer *t, const void *const *in, float *out) {
    TRY(t->shards ? step_of_shards(ctx, t, in, out) : whole_step(ctx, t, in, out));
    float **last = t->state;
    t->state = t->next;
    t->next = last;
    return HD_OK;
}

hd_status hd_trainer_step(hd_ctx *ctx, hd_trainer *t, const float *x, const int64_t *classes,
                          struct hd_train_result *out) {
    float r[2] = {0, 0};
    if (t->n_data != 2 || t->n_results != 2)
        return hd_fail(ctx, HD_INVALID, "%s: %d inputs and %d results, want 2 of each",
                       t->step.g->name, t->n_data, t->n_results);
    TRY(hd_trainer_run(ctx, t, (const void *[]){x, classes}, r));
    *out = (struct hd_train_result){r[0], r[1]};
    return HD_OK;
}

int hd_trainer_n_inputs(const hd_trainer *t) {
    return t->n_data;
}

int hd_trainer_n_results(const hd_trainer *t) {
    return t->n_results;
}

size_t hd_trainer_input_bytes(const hd_trainer *t, int i) {
    return t->data_bytes[i] * (size_t)t->n_shards;
}

const char *hd_trainer_result(const hd_trainer *t, int i) {
    return t->result[i];
}

const float *hd_trainer_weight(const hd_trainer *t, const char *name, size_t *out_bytes) {
    for (int i = 1; i <= t->n_weights; i++) {
        if (strcmp(state_tensor(t, i)->name, name) != 0) continue;
        *out_bytes = t->bytes[i];
        return t->state[i];
    }
    return NULL;
}

hd_status hd_trainer_ranges(hd_ctx *ctx, hd_trainer *t) {
    struct hd_trained weights = {0};
    struct half step = {.in = t->step.in, .out = t->step.out};
    if (!t->file) return HD_OK;
    hd_graph *update = t->update.g ? hd_graph_create() : NULL; /* the same as before */
    hd_status s = hd_graph_copy(ctx, t->file, &step.g);
    if (s == HD_OK) s = hd_ranges_apply(ctx, step.g, t->file, t->state[t->ranges], t->o.ranges);
    if (s == HD_OK) s = hd_train_graph(ctx, step.g, &t->o, update, t->arena, &weights);
    if (s == HD_OK) s = compile(ctx, step.g, &t->o, &t->recomputed, &t->made, &step);
    if (update) hd_graph_destroy(update);
    close_half(s == HD_OK ? &t->step : &step);
    if (s == HD_OK) t->step = step;
    if (t->peers) t->peers->step = t->step.s;
    return s == HD_OK && t->shards ? open_pipeline(ctx, t) : s;
}

double hd_trainer_loss_scale(const hd_trainer *t) {
    if (t->o.scale_steps > 0) return (double)*scale_state(t, HD_SCALE_FACTOR);
    return t->o.loss_scale > 0 ? t->o.loss_scale : 1;
}

int64_t hd_trainer_skipped(const hd_trainer *t) {
    return t->o.scale_steps > 0 ? (int64_t)*scale_state(t, HD_SCALE_SKIPPED) : 0;
}

const char *hd_trainer_no_peers(const hd_trainer *t) {
    return t->peers ? NULL : t->no_peers;
}

int hd_trainer_shared(const hd_trainer *t) {
    return t->step.shared;
}

int hd_trainer_frozen(const hd_trainer *t) {
    return t->n_frozen;
}

const struct hd_recomputed *hd_trainer_recomputed(const hd_trainer *t) {
    return t->limited ? &t->recomputed : NULL;
}

const hd_model *hd_trainer_model(const hd_trainer *t) {
    return t->step.m;
}

int64_t hd_trainer_steps(const hd_trainer *t) {
    return (int64_t)t->state[0][0];
}

hd_status hd_trainer_weights(hd_ctx *ctx, const hd_trainer *t, hd_graph *g) {
    if (t->file) TRY(hd_ranges_apply(ctx, g, t->file, t->state[t->ranges], t->o.ranges));
    for (int i = 1; i <= t->n_weights; i++) {
        const struct hd_tensor *w = state_tensor(t, i);
        if (t->file && i == t->ranges) continue;
        if (t->integers) {
            TRY(hd_integer_store(ctx, g, w->name, t->state[i], hd_tensor_elems(w)));
            continue;
        }
        int id = hd_tensor_by_name(g, w->name);
        struct hd_tensor *to = id < 0 ? NULL : &g->tensors[id];
        if (!to || !to->data || hd_tensor_bytes(to) != t->bytes[i])
            return hd_fail(ctx, HD_INVALID, "weights '%s': network %s has no such constant",
                           w->name, g->name);
        to->data = hd_dup(g->arena, t->state[i], t->bytes[i]);
    }
    return HD_OK;
}

/* ---- score ---------------------------------------------------------------------------------- */

static int64_t largest(const float *y, int64_t n) {
    int64_t best = 0;
    for (int64_t i = 1; i < n; i++)
        if (y[i] > y[best]) best = i;
    return best;
}

static hd_status score(hd_ctx *ctx, hd_session *s, const hd_graph *g, const struct hd_samples *all,
                       hd_arena *a, int64_t *out_right) {
    const struct hd_tensor *x = &g->tensors[g->inputs[0]], *y = &g->tensors[g->outputs[0]];
    float *in = hd_alloc(a, hd_tensor_bytes(x)), *out = hd_alloc(a, hd_tensor_bytes(y));
    int64_t batch = x->dim[0], right = 0;
    for (int64_t i = 0; i < all->n; i += batch) {
        int64_t n = all->n - i < batch ? all->n - i : batch;
        memcpy(in, all->x + i * all->size, (size_t)(n * all->size) * sizeof *in);
        TRY(hd_session_run(ctx, s, (const void *[]){in}, (void *[]){out}));
        for (int64_t k = 0; k < n; k++)
            right += largest(out + k * y->dim[1], y->dim[1]) == all->classes[i + k];
    }
    *out_right = right;
    return HD_OK;
}

hd_status hd_score(hd_ctx *ctx, const hd_graph *g, const struct hd_train_options *o,
                   const struct hd_samples *samples, int64_t *out_right) {
    hd_arena *a = hd_arena_create();
    hd_model *m = NULL;
    hd_session *session = NULL;
    hd_status s = hd_train_compile(ctx, g, o, &m, &session);
    if (s == HD_OK) s = score(ctx, session, g, samples, a, out_right);
    hd_session_close(session);
    hd_model_destroy(m);
    hd_arena_destroy(a);
    return s;
}

/* ---- checkpoints ---------------------------------------------------------------------------- */

static const char magic[16] = "heddle train 1\n";

hd_status hd_trainer_save(hd_ctx *ctx, const hd_trainer *t, const char *path) {
    size_t bytes = sizeof magic, at = sizeof magic;
    for (int i = 0; i < t->n_state; i++) bytes += t->bytes[i];
    char *data = malloc(bytes);
    if (!data) return hd_fail(ctx, HD_NOMEM, "%s: no memory for %zu bytes", path, bytes);
    memcpy(data, magic, sizeof magic);
    for (int i = 0; i < t->n_state; at += t->bytes[i++])
        memcpy(data + at, t->state[i], t->bytes[i]);
    hd_status s = hd_file_write(ctx, path, data, bytes);
    free(data);
    return s;
}

hd_status hd_trainer_load(hd_ctx *ctx, hd_trainer *t, const char *path) {
    void *data = NULL;
    size_t bytes = 0, want = sizeof magic, at = sizeof magic;
    for (int i = 0; i < t->n_state; i++) want += t->bytes[i];
    TRY(hd_file_read(ctx, path, &data, &bytes));
    hd_status s = HD_OK;
    if (bytes != want || memcmp(data, magic, sizeof magic) != 0)
        s = hd_fail(ctx, HD_INVALID,
                    "%s: %zu bytes, want a checkpoint of this network and optimiser, %zu bytes",
                    path, bytes, want);
    bool writes = s != HD_OK || hd_train_split_meet(t->split);
    for (int i = 0; i < t->n_state && s == HD_OK; at += t->bytes[i++])
        if (i == 0 || writes) memcpy(t->state[i], (char *)data + at, t->bytes[i]);
    if (s == HD_OK) hd_train_split_meet(t->split);
    free(data);
    return s;
}

void hd_trainer_close(hd_trainer *t) {
    if (!t) return;
    hd_shards_close(t->shards);
    close_half(&t->step);
    close_half(&t->update);
    hd_train_split_close(t->split);
    if (t->file) hd_graph_destroy(t->file);
    hd_arena_destroy(t->arena);
}
