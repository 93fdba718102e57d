/* heddle quantize: float graph, rewritten graph and legalised graph on the calibration data. */
#include <math.h>
#include <stdlib.h>

#include "compiler/calibrate/job.h"
#include "compiler/compiler.h"
#include "compiler/session/session.h"
#include "compiler/tensors/tensors.h"
#include "runtime/runtime.h"

/* ---- running ---- */

/* Nodes of g under the ids that they have there; their lists of attributes are their own. */
static void copy_nodes(const hd_graph *g, hd_graph *h) {
    for (size_t i = 0; i < g->n_nodes; i++) {
        const struct hd_node *n = &g->nodes[i];
        int id = hd_graph_node(h, n->op, n->name, n->n_in, n->in, n->n_out, n->out);
        struct hd_node *m = &h->nodes[id];
        m->dead = n->dead;
        m->attrs = hd_dup(h->arena, n->attrs, (size_t)n->n_attrs * sizeof *n->attrs);
        m->n_attrs = n->n_attrs;
        m->after = hd_dup(h->arena, n->after, (size_t)n->n_after * sizeof *n->after);
        m->n_after = n->n_after;
    }
}

/* A copy whose constants lie in g, which outlives it. */
static hd_graph *share_graph(const hd_graph *g) {
    hd_graph *h = hd_graph_create();
    h->name = hd_strdup(h->arena, g->name);
    for (size_t i = 0; i < g->n_axes; i++) hd_graph_axis(h, g->axes[i].name, g->axes[i].length);
    for (size_t i = 0; i < g->n_tensors; i++) {
        const struct hd_tensor *t = &g->tensors[i];
        hd_graph_tensor(h, t->name, t->dtype, t->rank, t->dim);
    }
    copy_nodes(g, h);
    for (size_t i = 0; i < g->n_tensors; i++) {
        const char *name = h->tensors[i].name;
        h->tensors[i] = g->tensors[i];
        h->tensors[i].name = name;
    }
    for (size_t i = 0; i < g->n_inputs; i++) hd_graph_input(h, g->inputs[i]);
    for (size_t i = 0; i < g->n_outputs; i++) hd_graph_output(h, g->outputs[i]);
    h->scales_found = g->scales_found;
    h->specialised = g->specialised;
    return h;
}

hd_status clone_graph(hd_ctx *ctx, const hd_graph *g, hd_graph **out) {
    void *bytes = NULL;
    size_t n = 0;
    TRY(hd_graph_save(ctx, g, &bytes, &n));
    hd_status s = hd_graph_load(ctx, bytes, n, out);
    free(bytes);
    return s;
}

hd_status working_copy(hd_ctx *ctx, const hd_graph *g, hd_graph **out) {
    if (g->n_subgraphs)
        return clone_graph(ctx, g, out); /* passes change those of attributes, too */
    *out = share_graph(g);
    return HD_OK;
}

void runner_close(struct runner *r) {
    hd_session_close(r->s);
    hd_model_destroy(r->m);
    hd_arena_destroy(r->a);
    *r = (struct runner){0};
}

static hd_status runner_model(struct job *j, const hd_graph *g, const bool *wanted,
                              struct runner *r) {
    struct hd_compile_options o = {.host_only = true};
    hd_graph *copy = NULL;
    TRY(hd_cmd_machine(j->c, &o.machine));
    TRY(working_copy(j->c->ctx, g, &copy));
    hd_status s = HD_OK;
    for (size_t t = 0; wanted && t < j->plan.n_tensors; t++) {
        int id = wanted[t] ? hd_tensor_by_name(copy, g->tensors[t].name) : -1;
        if (id >= 0 && !hd_graph_is_input(copy, id) && !hd_graph_is_output(copy, id))
            hd_graph_output(copy, id);
    }
    s = hd_lower(j->c->ctx, copy, &o, &r->m);
    hd_graph_destroy(copy);
    return s;
}

hd_status runner_open(struct job *j, const hd_graph *g, const bool *wanted, struct runner *r) {
    *r = (struct runner){.a = hd_arena_create()};
    hd_status s = runner_model(j, g, wanted, r);
    if (s == HD_OK) s = hd_open_session(j->c, r->m, j->c->opt.device, &r->s);
    if (s != HD_OK) {
        runner_close(r);
        return s;
    }
    r->out = hd_output_buffers(r->a, r->m);
    r->tensor = hd_new_array(r->a, int, (size_t)r->m->n_outputs + 1);
    for (int i = 0; i < r->m->n_outputs; i++) {
        int t = hd_tensor_by_name(j->ref, r->m->values[r->m->outputs[i]].name);
        bool ours = wanted && t >= 0 && (size_t)t < j->plan.n_tensors && wanted[t];
        r->tensor[i] = ours ? t : -1;
    }
    return HD_OK;
}

hd_status runner_run(struct job *j, struct runner *r, const void **in) {
    return hd_session_run(j->c->ctx, r->s, in, r->out);
}

void quantize_progress(struct job *j, const char *what) {
    char bar[31];
    int full = j->total ? 30 * j->done / j->total : 0;
    for (int i = 0; i < 30; i++) bar[i] = i < full ? '#' : '-';
    bar[30] = 0;
    hd_cmd_progress(j->c, "[%s] %s, run %d of %d", bar, what, j->done + 1, j->total);
    j->done++;
}

/* ---- calibration ---- */

static void start_stats(struct job *j) {
    const hd_graph *g = j->ref;
    j->stats = hd_new_array(j->a, struct hd_quant_stats, j->plan.n_tensors + 1);
    for (size_t i = 0; j->c->opt.calibrate.equalize && !j->even && i < g->n_nodes; i++) {
        int t = j->plan.result[i];
        if (!j->plan.layer[i] || g->nodes[i].op != HD_IR_conv || g->tensors[t].rank < 3) continue;
        j->stats[t].channels = g->tensors[t].dim[1];
        j->stats[t].peak = hd_new_array(j->a, float, (size_t)g->tensors[t].dim[1] + 1);
    }
}

static void observe(struct job *j, int t, const float *x, bool counting) {
    const struct hd_tensor *shape = &j->ref->tensors[t];
    if (counting)
        hd_quant_count(&j->stats[t], x, hd_tensor_elems(shape));
    else
        hd_quant_observe(&j->stats[t], shape, 1, x);
}

static hd_status calibration_round(struct job *j, struct runner *r, bool counting) {
    for (int i = 0; i < j->data.n; i++) {
        const void **in = NULL;
        hd_arena *a = hd_arena_create();
        quantize_progress(j, counting ? "histograms" : "ranges");
        hd_status s = hd_calibration_inputs(j->c, a, r->m, &j->data, i, &in);
        if (s == HD_OK) s = runner_run(j, r, in);
        for (size_t k = 0; s == HD_OK && k < j->ref->n_inputs; k++)
            if (j->plan.observe[j->ref->inputs[k]]) observe(j, j->ref->inputs[k], in[k], counting);
        for (int k = 0; s == HD_OK && k < r->m->n_outputs; k++)
            if (r->tensor[k] >= 0) observe(j, r->tensor[k], r->out[k], counting);
        hd_arena_destroy(a);
        TRY(s);
    }
    return HD_OK;
}

hd_status calibrate(struct job *j) {
    struct runner r;
    bool histograms = j->o.range != HD_RANGE_MINMAX;
    TRY(runner_open(j, j->ref, j->plan.observe, &r));
    hd_status s = hd_count_calibration(j->c, j->a, r.m, &j->data);
    j->total = j->done + j->data.n * (histograms ? 4 : 3) + 1;
    start_stats(j);
    if (s == HD_OK) s = calibration_round(j, &r, false);
    for (size_t t = 0; s == HD_OK && histograms && t < j->plan.n_tensors; t++)
        if (j->plan.observe[t]) j->stats[t].bins = hd_new_array(j->a, uint64_t, HD_QUANT_BINS);
    if (s == HD_OK && histograms) s = calibration_round(j, &r, true);
    runner_close(&r);
    return s;
}

/* ---- errors ---- */

enum { COMPARE_BYTES = 256 << 20 }; /* of results of layers that wait to be compared */

struct layer_run { /* of one network on some data sets */
    hd_arena *a;
    int n;       /* outputs */
    int *tensor; /* as in runner */
    struct hd_value_info *value;
    void **out;
    const void ***in; /* per data set */
};

static void add_error(struct error *e, const struct hd_value_info *v, const void *ref,
                      const void *got) {
    size_t n = hd_value_dense_bytes(v) / (size_t)v->elem_bytes;
    for (size_t i = 0; i < n; i++) {
        double a = hd_element(ref, v->dtype, i), d = a - hd_element(got, v->dtype, i);
        e->signal += a * a;
        e->noise += d * d;
    }
}

double decibels(const struct error *e) {
    return e->noise > 0 ? 10 * log10(e->signal / e->noise) : INFINITY;
}

size_t largest(const struct hd_value_info *v, const void *x) {
    size_t n = hd_value_dense_bytes(v) / (size_t)v->elem_bytes, best = 0;
    for (size_t i = 1; i < n; i++)
        if (hd_element(x, v->dtype, i) > hd_element(x, v->dtype, best)) best = i;
    return best;
}

/* Inputs of data set i for m, in the arena: made-up ones depend on the network that they are for.
 */
static hd_status keep_inputs(struct job *j, const hd_model *m, int i, hd_arena *a,
                             const void ***out) {
    const void **in = NULL;
    TRY(hd_calibration_inputs(j->c, a, m, &j->data, i, &in));
    *out = hd_new_array(a, const void *, (size_t)m->n_inputs + 1);
    for (int k = 0; k < m->n_inputs; k++)
        (*out)[k] = hd_dup(a, in[k], hd_value_dense_bytes(&m->values[m->inputs[k]]));
    return HD_OK;
}

/* Results of the layers of g for data sets first .. last - 1, to out: those of a set in a row.
 * Inputs are those of `like`, NULL = those of the data, which are kept. */
static hd_status layer_outputs(struct job *j, const hd_graph *g, int first, int last,
                               const struct layer_run *like, struct layer_run *r) {
    struct runner run;
    TRY(runner_open(j, g, j->plan.made, &run));
    hd_status s = HD_OK;
    r->n = run.m->n_outputs;
    r->tensor = hd_dup(r->a, run.tensor, (size_t)r->n * sizeof *run.tensor);
    r->value = hd_new_array(r->a, struct hd_value_info, (size_t)r->n + 1);
    r->out = hd_new_array(r->a, void *, (size_t)r->n *(size_t)(last - first) + 1);
    for (int k = 0; k < r->n; k++) r->value[k] = run.m->values[run.m->outputs[k]];
    r->in = hd_new_array(r->a, const void **, (size_t)(last - first) + 1);
    for (int i = 0; s == HD_OK && i < last - first; i++) {
        quantize_progress(j, "error of layers");
        if (like)
            r->in[i] = like->in[i];
        else
            s = keep_inputs(j, run.m, first + i, r->a, &r->in[i]);
        if (s == HD_OK) s = runner_run(j, &run, r->in[i]);
        for (int k = 0; s == HD_OK && k < r->n; k++)
            r->out[i * r->n + k] = hd_dup(r->a, run.out[k], hd_value_dense_bytes(&r->value[k]));
    }
    runner_close(&run);
    return s;
}

static void add_errors(struct job *j, const struct layer_run *ref, const struct layer_run *got,
                       int sets) {
    for (int i = 0; i < sets * ref->n; i++) {
        int k = i % ref->n;
        if (ref->tensor[k] >= 0)
            add_error(&j->tensor_error[ref->tensor[k]], &ref->value[k], ref->out[i], got->out[i]);
    }
}

/* The networks run in turn, a few sets at a time, so that only one is in memory. */
hd_status compare_layers(struct job *j) {
    size_t each = 1;
    for (size_t t = 0; t < j->plan.n_tensors; t++)
        if (j->plan.made[t]) each += hd_tensor_bytes(&j->ref->tensors[t]);
    size_t fit = COMPARE_BYTES / each;
    int step = fit < 1 ? 1 : fit > (size_t)j->data.n ? j->data.n : (int)fit;
    for (int i = 0; i < j->data.n; i += step) {
        int last = i + step < j->data.n ? i + step : j->data.n;
        hd_arena *a = hd_arena_create();
        struct layer_run ref = {.a = a}, got = {.a = a};
        hd_status s = layer_outputs(j, j->ref, i, last, NULL, &ref);
        if (s == HD_OK) s = layer_outputs(j, j->g, i, last, &ref, &got);
        if (s == HD_OK) add_errors(j, &ref, &got, last - i);
        hd_arena_destroy(a);
        TRY(s);
    }
    return HD_OK;
}

hd_status reference_outputs(struct job *j) {
    struct runner r;
    TRY(runner_open(j, j->ref, NULL, &r));
    hd_status s = HD_OK;
    j->want = hd_new_array(j->a, void **, (size_t)j->data.n + 1);
    for (int i = 0; s == HD_OK && i < j->data.n; i++) {
        const void **in = NULL;
        hd_arena *a = hd_arena_create();
        quantize_progress(j, "float outputs");
        s = hd_calibration_inputs(j->c, a, r.m, &j->data, i, &in);
        if (s == HD_OK) s = runner_run(j, &r, in);
        j->want[i] = hd_new_array(j->a, void *, (size_t)r.m->n_outputs + 1);
        for (int k = 0; s == HD_OK && k < r.m->n_outputs; k++)
            j->want[i][k] =
                hd_dup(j->a, r.out[k], hd_value_dense_bytes(&r.m->values[r.m->outputs[k]]));
        hd_arena_destroy(a);
    }
    runner_close(&r);
    return s;
}

hd_status score_outputs(struct job *j, const hd_graph *legal, struct error *errors,
                        struct score *out) {
    struct runner r;
    TRY(runner_open(j, legal, NULL, &r));
    hd_status s = HD_OK;
    *out = (struct score){0};
    for (int i = 0; s == HD_OK && i < j->data.n; i++) {
        const void **in = NULL;
        hd_arena *a = hd_arena_create();
        s = hd_calibration_inputs(j->c, a, r.m, &j->data, i, &in);
        if (s == HD_OK) s = runner_run(j, &r, in);
        for (int k = 0; s == HD_OK && k < r.m->n_outputs; k++) {
            const struct hd_value_info *v = &r.m->values[r.m->outputs[k]];
            struct error e = {0};
            add_error(&e, v, j->want[i][k], r.out[k]);
            out->noise -= e.noise > 0 ? fmin(60, decibels(&e)) : 60;
            if (!k)
                out->same_top += !j->classes || largest(v, j->want[i][k]) == largest(v, r.out[k]);
            if (errors) errors[k].signal += e.signal, errors[k].noise += e.noise;
        }
        hd_arena_destroy(a);
    }
    runner_close(&r);
    return s;
}
