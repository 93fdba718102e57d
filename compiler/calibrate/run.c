/* heddle quantize: float graph, rewritten graph and legalised graph on the calibration data. */
#include <math.h>
#include <stdlib.h>

#include "compiler/calibrate/job.h"
#include "compiler/compiler.h"
#include "compiler/session/session.h"
#include "compiler/tensors/tensors.h"
#include "runtime/runtime.h"

/* ---- running ---- */

hd_status clone_graph(hd_ctx *ctx, const hd_graph *g, hd_graph **out) {
    void *bytes = NULL;
    size_t n = 0;
    TRY(hd_graph_save(ctx, g, &bytes, &n));
    hd_status s = hd_graph_load(ctx, bytes, n, out);
    free(bytes);
    return s;
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
    TRY(clone_graph(j->c->ctx, g, &copy));
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

hd_status compare_layers(struct job *j) {
    struct runner ref, got;
    TRY(runner_open(j, j->ref, j->plan.made, &ref));
    hd_status s = runner_open(j, j->g, j->plan.made, &got);
    for (int i = 0; s == HD_OK && i < j->data.n; i++) {
        const void **in = NULL;
        hd_arena *a = hd_arena_create();
        quantize_progress(j, "error of layers");
        s = hd_calibration_inputs(j->c, a, ref.m, &j->data, i, &in);
        if (s == HD_OK) s = runner_run(j, &ref, in);
        if (s == HD_OK) s = runner_run(j, &got, in);
        for (int k = 0; s == HD_OK && k < ref.m->n_outputs; k++)
            if (ref.tensor[k] >= 0)
                add_error(&j->tensor_error[ref.tensor[k]], &ref.m->values[ref.m->outputs[k]],
                          ref.out[k], got.out[k]);
        hd_arena_destroy(a);
    }
    if (got.m) runner_close(&got);
    runner_close(&ref);
    return s;
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
