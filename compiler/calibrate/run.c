/* heddle quantize: float graph, rewritten graph and legalised graph on the calibration data. */
#include <math.h>
#include <string.h>

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
    hd_graph_copy_open(g, h);
    return h;
}

hd_status working_copy(hd_ctx *ctx, const hd_graph *g, hd_graph **out) {
    if (g->n_subgraphs)
        return hd_graph_copy(ctx, g, out); /* passes change those of attributes, too */
    *out = share_graph(g);
    return HD_OK;
}

void runner_open(struct runner *r, enum network kind, const bool *wanted) {
    *r = (struct runner){.kind = kind, .wanted = wanted, .form = -1};
}

static void close_form(struct runner *r) {
    hd_session_close(r->s);
    hd_model_destroy(r->m);
    if (r->own) hd_graph_destroy(r->own);
    if (r->a) hd_arena_destroy(r->a);
    *r = (struct runner){.kind = r->kind, .wanted = r->wanted, .alone = r->alone, .form = -1};
}

void runner_close(struct runner *r) {
    close_form(r);
}

const char **states_of(const struct job *j, hd_arena *a, size_t *out_n) {
    const hd_graph *g = j->ref;
    size_t n = *out_n = hd_graph_n_states(g);
    const char **text = hd_new_array(a, const char *, n + 1);
    for (size_t i = 0; i < n; i++)
        text[i] = hd_sprintf(a, "%s=%s", g->tensors[g->outputs[g->n_outputs - n + i]].name,
                             g->tensors[g->inputs[g->n_inputs - n + i]].name);
    return text;
}

/* To integers, but for states: they come and go as in the float network. */
static hd_status legalise(hd_ctx *ctx, hd_graph *g) {
    size_t n = hd_graph_n_states(g);
    const void **first = hd_new_array(g->arena, const void *, n + 1);
    for (size_t i = 0; i < n; i++) {
        struct hd_tensor *x = &g->tensors[g->inputs[g->n_inputs - n + i]];
        first[i] = x->initial;
        x->initial = NULL;
    }
    TRY(hd_legalize(ctx, g));
    for (size_t i = 0; i < n; i++) g->tensors[g->inputs[g->n_inputs - n + i]].initial = first[i];
    return HD_OK;
}

/* The network of the runner for the shapes of set i; r->ref is there. */
static hd_status network_for(struct job *j, struct runner *r, int i, hd_graph **out) {
    hd_ctx *ctx = j->c->ctx;
    if (r->kind == NET_WRITTEN) {
        struct hd_bind bind = {0};
        const struct hd_data_set *set = hd_calibration_set(&j->data, i);
        if (j->stays_open || r->ref->specialised)
            TRY(hd_cmd_bind(j->c, r->a, set ? set->t : NULL, set ? set->n : 0, &bind));
        bind.states = states_of(j, r->a, &bind.n_states);
        TRY(hd_import(ctx, j->c->opt.out, &bind, out));
    } else {
        TRY(r->kind == NET_FLOAT ? working_copy(ctx, r->ref, out) : rewritten(j, r->ref, out));
    }
    hd_status s = HD_OK;
    if (r->kind == NET_INTEGER || r->kind == NET_WRITTEN) s = legalise(ctx, *out);
    if (s != HD_OK) hd_graph_destroy(*out);
    return s;
}

/* What is wanted, as outputs in front of those that are the next states; nothing else if that is
 * all. */
static void ask_for(const struct job *j, const struct runner *r, hd_graph *g) {
    size_t states = hd_graph_n_states(g), first = g->n_outputs - states;
    int *next = hd_dup(g->arena, g->outputs + first, states * sizeof *next);
    if (r->alone && !states) g->n_outputs = first = 0;
    for (size_t t = 0; r->wanted && t < j->plan.n_tensors; t++) {
        int id = r->wanted[t] ? hd_tensor_by_name(g, j->ref->tensors[t].name) : -1;
        if (id >= 0 && !hd_graph_is_input(g, id) && !hd_graph_is_output(g, id))
            hd_graph_output(g, id);
    }
    memmove(g->outputs + first, g->outputs + first + states,
            (g->n_outputs - first - states) * sizeof *next);
    memcpy(g->outputs + g->n_outputs - states, next, states * sizeof *next);
}

static hd_status form_model(struct job *j, struct runner *r, int i) {
    struct hd_compile_options o = {.host_only = true};
    hd_graph *g = NULL;
    TRY(hd_cmd_machine(j->c, &o.machine));
    if (hd_calibration_form(&j->data, i)) TRY(prepared_like_ref(j, i, &r->own));
    r->ref = r->own ? r->own : j->ref;
    TRY(network_for(j, r, i, &g));
    ask_for(j, r, g);
    hd_status s = r->alone ? hd_opt_pass(j->c->ctx, g, "dce") : HD_OK;
    if (s == HD_OK) s = hd_lower(j->c->ctx, g, &o, &r->m);
    hd_graph_destroy(g);
    return s;
}

static hd_status open_form(struct job *j, struct runner *r, int i) {
    int form = hd_calibration_form(&j->data, i);
    if (r->form == form) return HD_OK;
    close_form(r);
    r->a = hd_arena_create();
    TRY(form_model(j, r, i));
    TRY(hd_open_session(j->c, r->m, j->c->opt.device, &r->s));
    r->form = form;
    r->out = hd_output_buffers(r->a, r->m);
    r->tensor = hd_new_array(r->a, int, (size_t)r->m->n_outputs + 1);
    for (int k = 0; k < r->m->n_outputs; k++) {
        int t = hd_tensor_by_name(j->ref, r->m->values[r->m->outputs[k]].name);
        bool ours = r->wanted && t >= 0 && (size_t)t < j->plan.n_tensors && r->wanted[t];
        r->tensor[k] = ours ? t : -1;
    }
    return HD_OK;
}

hd_status runner_run_on(struct job *j, struct runner *r, int i, const void **in) {
    TRY(open_form(j, r, i));
    return hd_session_run(j->c->ctx, r->s, in, r->out);
}

/* Inputs of data set i. A state that is not among them goes on from the set before: NULL. */
static hd_status set_inputs(struct job *j, struct runner *r, hd_arena *a, int i,
                            const void ***out) {
    const void **in = NULL;
    TRY(open_form(j, r, i));
    const hd_model *m = r->m;
    TRY(hd_calibration_inputs(j->c, a, m, &j->data, i, &in));
    for (int k = 0, first = m->n_inputs - m->n_states; k < m->n_states; k++)
        if (in[first + k] == m->initial[k]) in[first + k] = NULL;
    *out = in;
    return HD_OK;
}

hd_status runner_run(struct job *j, struct runner *r, hd_arena *a, int i, const void ***out_in) {
    const void **in = NULL;
    TRY(set_inputs(j, r, a, i, &in));
    if (out_in) *out_in = in;
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

enum { PART_BYTES = 96 << 20 }; /* of values that are outputs of one run, or wait to be compared */

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

static void observe(struct job *j, const hd_graph *g, int t, const float *x, bool counting) {
    const struct hd_tensor *shape = &g->tensors[t];
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
        hd_status s = runner_run(j, r, a, i, &in);
        for (size_t k = 0; s == HD_OK && k < j->ref->n_inputs; k++)
            if (in[k] && r->wanted[j->ref->inputs[k]])
                observe(j, r->ref, j->ref->inputs[k], in[k], counting);
        for (int k = 0; s == HD_OK && k < r->m->n_outputs; k++)
            if (r->tensor[k] >= 0) observe(j, r->ref, r->tensor[k], r->out[k], counting);
        hd_arena_destroy(a);
        TRY(s);
    }
    return HD_OK;
}

/* The next of the tensors `of` whose values together take PART_BYTES, one at least, as `part`;
 * false: none is left. */
static bool next_part(const struct job *j, const bool *of, bool *part, size_t *from) {
    size_t bytes = 0;
    bool any = false;
    memset(part, 0, j->plan.n_tensors * sizeof *part);
    for (; *from < j->plan.n_tensors; ++*from) {
        if (!of[*from]) continue;
        bytes += hd_tensor_bytes(&j->ref->tensors[*from]);
        if (any && bytes > PART_BYTES) break;
        part[*from] = any = true;
    }
    return any;
}

/* Ranges, and histograms where they are asked for, of a part of the tensors. */
static hd_status calibrate_part(struct job *j, const bool *part, bool histograms) {
    struct runner r;
    hd_status s = HD_OK;
    runner_open(&r, NET_FLOAT, part);
    if (!j->counted) s = open_form(j, &r, 0);
    if (!j->counted && s == HD_OK) s = hd_count_calibration(j->c, j->a, r.m, &j->data);
    j->counted = true;
    if (s == HD_OK) s = calibration_round(j, &r, false);
    for (size_t t = 0; s == HD_OK && histograms && t < j->plan.n_tensors; t++)
        if (part[t]) j->stats[t].bins = hd_new_array(j->a, uint64_t, HD_QUANT_BINS);
    if (s == HD_OK && histograms) s = calibration_round(j, &r, true);
    runner_close(&r);
    return s;
}

hd_status calibrate(struct job *j) {
    bool *part = hd_new_array(j->a, bool, j->plan.n_tensors + 1),
         histograms = j->o.range != HD_RANGE_MINMAX;
    int parts = 0;
    for (size_t from = 0; next_part(j, j->plan.observe, part, &from);) parts++;
    j->total = j->done + j->data.n * ((histograms ? 2 : 1) * parts + 2) + 1;
    start_stats(j);
    for (size_t from = 0; next_part(j, j->plan.observe, part, &from);)
        TRY(calibrate_part(j, part, histograms));
    return HD_OK;
}

/* ---- errors ---- */

struct layer_run { /* of the float network on some data sets */
    hd_arena *a;
    struct set_run { /* per data set */
        int n;       /* outputs */
        int *tensor; /* as in runner */
        struct hd_value_info *value;
        void **out;
    } * set;
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
static hd_status keep_inputs(struct job *j, struct runner *r, int i, hd_arena *a,
                             const void ***out) {
    const void **in = NULL;
    TRY(set_inputs(j, r, a, i, &in));
    const hd_model *m = r->m;
    *out = hd_new_array(a, const void *, (size_t)m->n_inputs + 1);
    for (int k = 0; k < m->n_inputs; k++)
        (*out)[k] = in[k] ? hd_dup(a, in[k], hd_value_dense_bytes(&m->values[m->inputs[k]])) : NULL;
    return HD_OK;
}

static void keep_outputs(struct layer_run *r, const struct runner *run, struct set_run *out) {
    int n = out->n = run->m->n_outputs;
    out->tensor = hd_dup(r->a, run->tensor, (size_t)n * sizeof *run->tensor);
    out->value = hd_new_array(r->a, struct hd_value_info, (size_t)n + 1);
    out->out = hd_new_array(r->a, void *, (size_t)n + 1);
    for (int k = 0; k < n; k++) {
        out->value[k] = run->m->values[run->m->outputs[k]];
        out->out[k] = hd_dup(r->a, run->out[k], hd_value_dense_bytes(&out->value[k]));
    }
}

static void add_errors(struct job *j, const struct set_run *ref, const struct runner *got) {
    for (int k = 0; k < ref->n; k++)
        if (ref->tensor[k] >= 0)
            add_error(&j->tensor_error[ref->tensor[k]], &ref->value[k], ref->out[k], got->out[k]);
}

/* The layers of the float network for data sets first .. last - 1, to r; or of the one in integers,
 * on the same inputs, whose errors beside r are added up. */
static hd_status run_layers(struct job *j, enum network kind, const bool *part, int first, int last,
                            struct layer_run *r) {
    struct runner run;
    hd_status s = HD_OK;
    runner_open(&run, kind, part);
    for (int i = 0; s == HD_OK && i < last - first; i++) {
        quantize_progress(j, "error of layers");
        if (kind == NET_FLOAT) s = keep_inputs(j, &run, first + i, r->a, &r->in[i]);
        if (s == HD_OK) s = runner_run_on(j, &run, first + i, r->in[i]);
        if (s != HD_OK) break;
        if (kind == NET_FLOAT)
            keep_outputs(r, &run, &r->set[i]);
        else
            add_errors(j, &r->set[i], &run);
    }
    runner_close(&run);
    return s;
}

/* The networks run in turn, a few sets at a time, so that only one is in memory. */
static hd_status compare_part(struct job *j, const bool *part) {
    size_t each = 1;
    for (size_t t = 0; t < j->plan.n_tensors; t++)
        if (part[t]) each += hd_tensor_bytes(&j->ref->tensors[t]);
    size_t fit = PART_BYTES / each;
    int step = fit < 1 ? 1 : fit > (size_t)j->data.n ? j->data.n : (int)fit;
    for (int i = 0; i < j->data.n; i += step) {
        int last = i + step < j->data.n ? i + step : j->data.n;
        hd_arena *a = hd_arena_create();
        struct layer_run r = {.a = a};
        r.in = hd_new_array(a, const void **, (size_t)(last - i) + 1);
        r.set = hd_new_array(a, struct set_run, (size_t)(last - i) + 1);
        hd_status s = run_layers(j, NET_FLOAT, part, i, last, &r);
        if (s == HD_OK) s = run_layers(j, NET_REWRITTEN, part, i, last, &r);
        hd_arena_destroy(a);
        TRY(s);
    }
    return HD_OK;
}

hd_status compare_layers(struct job *j) {
    bool *part = hd_new_array(j->a, bool, j->plan.n_tensors + 1);
    for (size_t from = 0; next_part(j, j->plan.made, part, &from);) TRY(compare_part(j, part));
    return HD_OK;
}

static hd_status run_set(struct job *j, struct runner *r, hd_arena *a, int i) {
    return j->in ? runner_run_on(j, r, i, j->in[i]) : runner_run(j, r, a, i, NULL);
}

hd_status reference_outputs(struct job *j) {
    struct runner r;
    hd_status s = HD_OK;
    runner_open(&r, NET_FLOAT, NULL);
    j->want = hd_new_array(j->a, void **, (size_t)j->data.n + 1);
    bool made_up = !j->data.sets && !j->data.images && !j->data.ramp;
    if (made_up) j->in = hd_new_array(j->a, const void **, (size_t)j->data.n + 1);
    for (int i = 0; s == HD_OK && i < j->data.n; i++) {
        hd_arena *a = hd_arena_create();
        quantize_progress(j, "float outputs");
        if (made_up) s = keep_inputs(j, &r, i, j->a, &j->in[i]);
        if (s == HD_OK) s = run_set(j, &r, a, i);
        j->want[i] = hd_new_array(j->a, void *, j->ref->n_outputs + 1);
        for (int k = 0; s == HD_OK && k < r.m->n_outputs; k++)
            j->want[i][k] =
                hd_dup(j->a, r.out[k], hd_value_dense_bytes(&r.m->values[r.m->outputs[k]]));
        hd_arena_destroy(a);
    }
    runner_close(&r);
    return s;
}

hd_status score_outputs(struct job *j, enum network kind, struct error *errors, struct score *out) {
    struct runner r;
    hd_status s = HD_OK;
    runner_open(&r, kind, NULL);
    *out = (struct score){0};
    for (int i = 0; s == HD_OK && i < j->data.n; i++) {
        if (kind == NET_WRITTEN && !j->stays_open && hd_calibration_form(&j->data, i)) break;
        hd_arena *a = hd_arena_create();
        s = run_set(j, &r, a, i);
        out->sets++;
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
