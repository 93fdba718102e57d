/* heddle quantize: float network in, int8 network as standard ONNX out; error of each layer.
 *
 * The float graph runs on the calibration data with every tensor of interest as an output: once for
 * the extremes, once more for the histograms of percentile and entropy. Then the rewritten graph
 * runs beside it, as float simulation, for the error of each layer; and the written file, read back
 * and legalised, for the error of the outputs.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/cli/items.h"
#include "compiler/export/export.h"
#include "compiler/quantize/quantize.h"

struct runner { /* a graph with further tensors as outputs */
    hd_model *m;
    hd_session *s;
    hd_arena *a;
    void **out;  /* per output of m */
    int *tensor; /* per output of m: what the caller asked for, -1 = the network's own */
};

struct error { /* sums over the data sets */
    double signal, noise;
};

struct job {
    struct cli *c;
    hd_arena *a;
    const char *path;
    struct cli_calibration data;
    struct hd_quant_options o;
    hd_graph *g, *ref; /* the rewritten one, and the prepared float graph */
    struct hd_quant_plan plan;
    struct hd_quant_stats *stats;
    struct error *tensor_error, *output_error;
    bool even;    /* the peaks of channels have been evened out */
    bool classes; /* the first output is a row of classes: its largest element matters */
    int same_top;
    int trials;   /* of search() */
    void ***want; /* per data set and output: of the float network */
    int *order;   /* nodes of ref, as they run */
    size_t n_order;
    int done, total; /* rounds, for progress */
};

/* ---- running ---- */

static hd_status clone(hd_ctx *ctx, const hd_graph *g, hd_graph **out) {
    void *bytes = NULL;
    size_t n = 0;
    TRY(hd_graph_save(ctx, g, &bytes, &n));
    hd_status s = hd_graph_load(ctx, bytes, n, out);
    free(bytes);
    return s;
}

static void runner_close(struct runner *r) {
    hd_session_close(r->s);
    hd_model_destroy(r->m);
    hd_arena_destroy(r->a);
    *r = (struct runner){0};
}

static hd_status runner_model(struct job *j, const hd_graph *g, const bool *wanted,
                              struct runner *r) {
    struct hd_compile_options o = {.host_only = true};
    hd_graph *copy = NULL;
    TRY(cli_machine(j->c, &o.machine));
    TRY(clone(j->c->ctx, g, &copy));
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

/* Outputs of g, and the tensors that are wanted (NULL = none), on the device of the options. */
static hd_status runner_open(struct job *j, const hd_graph *g, const bool *wanted,
                             struct runner *r) {
    *r = (struct runner){.a = hd_arena_create()};
    hd_status s = runner_model(j, g, wanted, r);
    if (s == HD_OK) s = cli_open_session(j->c, r->m, j->c->opt.device, &r->s);
    if (s != HD_OK) {
        runner_close(r);
        return s;
    }
    r->out = cli_output_buffers(r->a, r->m);
    r->tensor = hd_new_array(r->a, int, (size_t)r->m->n_outputs + 1);
    for (int i = 0; i < r->m->n_outputs; i++) {
        int t = hd_tensor_by_name(j->ref, r->m->values[r->m->outputs[i]].name);
        bool ours = wanted && t >= 0 && (size_t)t < j->plan.n_tensors && wanted[t];
        r->tensor[i] = ours ? t : -1;
    }
    return HD_OK;
}

static hd_status runner_run(struct job *j, struct runner *r, const void **in) {
    return hd_session_run(j->c->ctx, r->s, in, r->out);
}

static void progress(struct job *j, const char *what) {
    char bar[31];
    int full = j->total ? 30 * j->done / j->total : 0;
    for (int i = 0; i < 30; i++) bar[i] = i < full ? '#' : '-';
    bar[30] = 0;
    cli_progress(j->c, "[%s] %s, run %d of %d", bar, what, j->done + 1, j->total);
    j->done++;
}

/* ---- calibration ---- */

static void start_stats(struct job *j) {
    const hd_graph *g = j->ref;
    j->stats = hd_new_array(j->a, struct hd_quant_stats, j->plan.n_tensors + 1);
    for (size_t i = 0; i < g->n_nodes; i++) {
        if (!j->plan.layer[i] || !j->o.bias_correction || hd_quant_weights(g, (int)i) < 0) continue;
        int t = g->nodes[i].in[0];
        struct hd_quant_stats *s = &j->stats[t];
        s->channels = g->tensors[t].dim[hd_quant_channel_axis(g, t)];
        if (!s->sum) s->sum = hd_new_array(j->a, double, (size_t)s->channels + 1);
    }
    for (size_t i = 0; j->c->opt.equalize && !j->even && i < g->n_nodes; i++) {
        int t = j->plan.result[i];
        if (!j->plan.layer[i] || g->nodes[i].op != HD_IR_conv || g->tensors[t].rank < 3) continue;
        if (j->stats[t].sum && hd_quant_channel_axis(g, t) != 1) continue;
        j->stats[t].channels = g->tensors[t].dim[1];
        j->stats[t].peak = hd_new_array(j->a, float, (size_t)g->tensors[t].dim[1] + 1);
    }
}

static void observe(struct job *j, int t, const float *x, bool counting) {
    const struct hd_tensor *shape = &j->ref->tensors[t];
    if (counting)
        hd_quant_count(&j->stats[t], x, hd_tensor_elems(shape));
    else
        hd_quant_observe(&j->stats[t], shape,
                         j->stats[t].peak ? 1 : hd_quant_channel_axis(j->ref, t), x);
}

static hd_status calibration_round(struct job *j, struct runner *r, bool counting) {
    for (int i = 0; i < j->data.n; i++) {
        const void **in = NULL;
        hd_arena *a = hd_arena_create();
        progress(j, counting ? "histograms" : "ranges");
        hd_status s = cli_calibration_inputs(j->c, a, r->m, &j->data, i, &in);
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

static hd_status calibrate(struct job *j) {
    struct runner r;
    bool histograms = j->o.range != HD_RANGE_MINMAX;
    TRY(runner_open(j, j->ref, j->plan.observe, &r));
    hd_status s = cli_count_calibration(j->c, j->a, r.m, &j->data);
    j->total = j->data.n * (histograms ? 4 : 3) + 1;
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
        double a = cli_element(ref, v->dtype, i), d = a - cli_element(got, v->dtype, i);
        e->signal += a * a;
        e->noise += d * d;
    }
}

static double decibels(const struct error *e) {
    return e->noise > 0 ? 10 * log10(e->signal / e->noise) : INFINITY;
}

static size_t largest(const struct hd_value_info *v, const void *x) {
    size_t n = hd_value_dense_bytes(v) / (size_t)v->elem_bytes, best = 0;
    for (size_t i = 1; i < n; i++)
        if (cli_element(x, v->dtype, i) > cli_element(x, v->dtype, best)) best = i;
    return best;
}

/* Layers of the rewritten graph beside those of the float one, set by set. */
static hd_status compare_layers(struct job *j) {
    struct runner ref, got;
    TRY(runner_open(j, j->ref, j->plan.made, &ref));
    hd_status s = runner_open(j, j->g, j->plan.made, &got);
    for (int i = 0; s == HD_OK && i < j->data.n; i++) {
        const void **in = NULL;
        hd_arena *a = hd_arena_create();
        progress(j, "error of layers");
        s = cli_calibration_inputs(j->c, a, ref.m, &j->data, i, &in);
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

/* Outputs of the float network for all data sets. */
static hd_status reference_outputs(struct job *j) {
    struct runner r;
    TRY(runner_open(j, j->ref, NULL, &r));
    hd_status s = HD_OK;
    j->want = hd_new_array(j->a, void **, (size_t)j->data.n + 1);
    for (int i = 0; s == HD_OK && i < j->data.n; i++) {
        const void **in = NULL;
        hd_arena *a = hd_arena_create();
        progress(j, "float outputs");
        s = cli_calibration_inputs(j->c, a, r.m, &j->data, i, &in);
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

struct score { /* of an int8 network */
    int same_top;
    double noise; /* beside the signal, dB, sum over sets and outputs; 60 dB count as perfect */
};

static bool better(const struct score *a, const struct score *b) {
    return a->same_top != b->same_top ? a->same_top > b->same_top : a->noise < b->noise;
}

/* One dimension, beside those of 1. */
static bool is_row(const struct hd_tensor *t) {
    int longer = 0;
    for (int d = 0; d < t->rank; d++) longer += t->dim[d] > 1;
    return longer == 1;
}

/* Runs a legalised graph on all sets; errors of its outputs, NULL = not wanted. */
static hd_status score_outputs(struct job *j, const hd_graph *legal, struct error *errors,
                               struct score *out) {
    struct runner r;
    TRY(runner_open(j, legal, NULL, &r));
    hd_status s = HD_OK;
    *out = (struct score){0};
    for (int i = 0; s == HD_OK && i < j->data.n; i++) {
        const void **in = NULL;
        hd_arena *a = hd_arena_create();
        s = cli_calibration_inputs(j->c, a, r.m, &j->data, i, &in);
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

/* ---- search for ranges ---- */

static hd_status rewritten(struct job *j, const float *part, hd_graph **out) {
    struct hd_quant_options o = j->o;
    o.part = part;
    TRY(clone(j->c->ctx, j->ref, out));
    hd_status s = hd_quant_apply(j->c->ctx, *out, &j->plan, j->stats, &o);
    if (s == HD_OK) return s;
    hd_graph_destroy(*out);
    *out = NULL;
    return s;
}

static hd_status try_parts(struct job *j, const float *part, struct score *out) {
    hd_graph *g = NULL;
    j->trials++;
    cli_progress(j->c, "search for ranges, trial %d: %d of %d sets agree", j->trials, out->same_top,
                 j->data.n);
    TRY(rewritten(j, part, &g));
    hd_status s = hd_legalize(j->c->ctx, g);
    if (s == HD_OK) s = score_outputs(j, g, NULL, out);
    hd_graph_destroy(g);
    return s;
}

/* Tries part[from..to-1] times each factor and keeps the best. */
static hd_status try_factors(struct job *j, float *part, const int *group, int n,
                             struct score *best) {
    static const float factors[] = {0.8f, 0.6f, 0.45f};
    float old[1], *keep = n == 1 ? old : hd_new_array(j->a, float, (size_t)n), best_factor = 1;
    for (int i = 0; i < n; i++) keep[i] = part[group[i]];
    for (size_t f = 0; f < sizeof factors / sizeof *factors && best->same_top < j->data.n; f++) {
        struct score s = *best;
        for (int i = 0; i < n; i++) part[group[i]] = keep[i] * factors[f];
        TRY(try_parts(j, part, &s));
        if (better(&s, best)) *best = s, best_factor = factors[f];
    }
    for (int i = 0; i < n; i++) part[group[i]] = keep[i] * best_factor;
    return HD_OK;
}

/* Where data sets of very different magnitude share ranges, the small ones drown in the steps of
 * the large. Then smaller ranges are tried, for all tensors at once and for each alone, until the
 * largest output is in the right place for every set. Each set counts alike in the score. */
static hd_status search(struct job *j, float *part) {
    struct score best = {0};
    int *group = hd_new_array(j->a, int, j->plan.n_tensors + 1), n = 0;
    for (size_t t = j->plan.n_tensors; t-- > 0;) {
        part[t] = 1;
        bool leads = false;
        for (size_t u = 0; u < j->plan.n_tensors && !leads; u++)
            leads = j->plan.observe[u] && j->plan.group[u] == (int)t;
        if (leads) group[n++] = (int)t;
    }
    TRY(try_parts(j, part, &best));
    if (best.same_top == j->data.n) return HD_OK;
    TRY(try_factors(j, part, group, n, &best));
    for (int i = 0; i < n && best.same_top < j->data.n; i++)
        TRY(try_factors(j, part, &group[i], 1, &best));
    return HD_OK;
}

/* The file as others will read it, as integer operations. */
static hd_status check_file(struct job *j) {
    hd_graph *g = NULL;
    struct score s = {0};
    progress(j, "int8 network");
    TRY(hd_import_onnx(j->c->ctx, j->c->opt.out, NULL, &g));
    hd_status ok = hd_legalize(j->c->ctx, g);
    if (ok == HD_OK) ok = score_outputs(j, g, j->output_error, &s);
    j->same_top = s.same_top;
    hd_graph_destroy(g);
    return ok;
}

/* ---- report ---- */

/* Nodes that compute in float and stay so: not data movement, not shapes. */
static bool stays_float(const struct job *j, size_t i) {
    const struct hd_node *n = &j->ref->nodes[i];
    if (n->dead || !j->plan.why[i] || !strcmp(j->plan.why[i], "it moves float values"))
        return false;
    for (int k = 0; k < n->n_out; k++)
        if (n->out[k] >= 0 &&
            (!j->ref->tensors[n->out[k]].known || j->ref->tensors[n->out[k]].dtype == HD_F32))
            return true;
    return false;
}

static void print_report(struct job *j, FILE *out) {
    struct cli_table t;
    int layers = 0, floats = 0;
    cli_table_init(&t, "lllrrr");
    cli_cells(&t, (const char *[]){"layer", "op", "result", "from", "to", "SNR dB"}, 6);
    for (size_t k = 0; k < j->n_order; k++) {
        size_t i = (size_t)j->order[k];
        if (!j->plan.layer[i]) continue;
        const struct hd_node *n = &j->ref->nodes[i];
        int y = j->plan.result[i];
        cli_cells(&t, (const char *[]){n->name, hd_ir_ops[n->op].name, j->ref->tensors[y].name}, 3);
        cli_cell(&t, "%.4g", (double)j->stats[y].lo);
        cli_cell(&t, "%.4g", (double)j->stats[y].hi);
        cli_cell(&t, "%.1f", decibels(&j->tensor_error[y]));
        layers++;
    }
    if (layers) cli_table_print(&t, out);
    cli_table_init(&t, "lll");
    cli_cells(&t, (const char *[]){"stays float", "op", "because"}, 3);
    for (size_t k = 0; k < j->n_order; k++) {
        size_t i = (size_t)j->order[k];
        if (!stays_float(j, i)) continue;
        const struct hd_node *n = &j->ref->nodes[i];
        cli_cells(&t, (const char *[]){n->name, hd_ir_ops[n->op].name, j->plan.why[i]}, 3);
        floats++;
    }
    fputc('\n', out);
    if (floats) cli_table_print(&t, out);
    if (floats) fputc('\n', out);
    for (size_t i = 0; i < j->ref->n_outputs; i++)
        fprintf(out, "output %s: %.1f dB\n", j->ref->tensors[j->ref->outputs[i]].name,
                decibels(&j->output_error[i]));
    if (j->classes)
        fprintf(out, "largest element in the same place: %d of %d sets\n", j->same_top, j->data.n);
    if (j->trials > 1) fprintf(out, "ranges made smaller by a search of %d trials\n", j->trials);
    fprintf(out, "%d layers in integers, %d nodes in float; calibrated with %s; wrote %s\n", layers,
            floats, j->data.what, j->c->opt.out);
}

static void add_db(json_object *o, const struct error *e) {
    if (e->noise > 0)
        cli_add_num(o, "snr_db", decibels(e));
    else
        json_object_object_add(o, "snr_db", NULL);
}

static json_object *report_json(struct job *j) {
    json_object *o = json_object_new_object(), *layers = json_object_new_array(),
                *floats = json_object_new_array(), *outputs = json_object_new_array();
    cli_add_str(o, "schema", "heddle.quantize/1");
    cli_add_str(o, "model", j->path);
    cli_add_str(o, "out", j->c->opt.out);
    cli_add_str(o, "calibration", j->data.what);
    cli_add_int(o, "sets", j->data.n);
    if (j->classes) cli_add_int(o, "same_top1", j->same_top);
    cli_add_int(o, "trials", j->trials);
    for (size_t k = 0; k < j->n_order; k++) {
        size_t i = (size_t)j->order[k];
        const struct hd_node *n = &j->ref->nodes[i];
        json_object *x = json_object_new_object();
        int y = j->plan.result[i];
        cli_add_str(x, "name", n->name);
        cli_add_str(x, "op", hd_ir_ops[n->op].name);
        if (j->plan.layer[i]) {
            cli_add_str(x, "result", j->ref->tensors[y].name);
            cli_add_num(x, "from", (double)j->stats[y].lo);
            cli_add_num(x, "to", (double)j->stats[y].hi);
            add_db(x, &j->tensor_error[y]);
            json_object_array_add(layers, x);
        } else if (stays_float(j, i)) {
            cli_add_str(x, "reason", j->plan.why[i]);
            json_object_array_add(floats, x);
        } else {
            json_object_put(x);
        }
    }
    for (size_t i = 0; i < j->ref->n_outputs; i++) {
        json_object *x = json_object_new_object();
        cli_add_str(x, "name", j->ref->tensors[j->ref->outputs[i]].name);
        add_db(x, &j->output_error[i]);
        json_object_array_add(outputs, x);
    }
    json_object_object_add(o, "layers", layers);
    json_object_object_add(o, "float", floats);
    json_object_object_add(o, "outputs", outputs);
    return o;
}

/* ---- the command ---- */

static int parse_range(struct cli *c, struct hd_quant_options *o) {
    const char *r = c->opt.range ? c->opt.range : "minmax";
    o->percentile = 99.99;
    if (!strcmp(r, "minmax")) {
        o->range = HD_RANGE_MINMAX;
    } else if (!strcmp(r, "entropy")) {
        o->range = HD_RANGE_ENTROPY;
    } else if (!strncmp(r, "percentile", 10) && (!r[10] || r[10] == ':')) {
        char *end = NULL;
        o->range = HD_RANGE_PERCENTILE;
        if (r[10]) o->percentile = strtod(r + 11, &end);
        if (r[10] && (end == r + 11 || *end || !(o->percentile > 50 && o->percentile <= 100)))
            return cli_usage(c, "--range: got '%s', want percentile:P with 50 < P <= 100", r);
    } else {
        return cli_usage(c, "--range: got '%s', want minmax, percentile, percentile:P or entropy",
                         r);
    }
    o->type = c->opt.activations && !strcmp(c->opt.activations, "uint8") ? HD_U8 : HD_I8;
    o->symmetric = c->opt.symmetric;
    o->bias_correction = c->opt.bias_correction;
    return CLI_DONE;
}

static hd_status import(struct job *j) {
    struct cli *c = j->c;
    struct hd_bind bind = {0};
    const struct cli_set *first = j->data.sets && !j->data.arrays ? &j->data.sets[0] : NULL;
    TRY(cli_bind(c, j->a, first ? first->t : NULL, first ? first->n : 0, &bind));
    hd_graph *g = NULL;
    TRY(hd_import_onnx(c->ctx, j->path, &bind, &g));
    hd_status s =
        hd_note(c->ctx, hd_quant_prepare(c->ctx, g, j->o.bias_correction), "in %s", j->path);
    if (s == HD_OK) s = clone(c->ctx, g, &j->ref); /* ids of clones agree */
    hd_graph_destroy(g);
    return s;
}

static hd_status choose(struct job *j) {
    bool *keep = NULL, any = false;
    if (j->c->opt.keep) {
        struct cli_item_source s = {.graph = j->ref};
        keep = hd_new_array(j->a, bool, j->ref->n_nodes + 1);
        TRY(cli_select_nodes(j->c, j->a, j->c->opt.keep, &s, keep));
        for (size_t i = 0; i < j->ref->n_nodes; i++) any = any || keep[i];
        if (!any)
            return hd_fail(j->c->ctx, HD_INVALID,
                           "--keep '%s': means no node; heddle query MODEL SELECTOR shows what a "
                           "selector means",
                           j->c->opt.keep);
    }
    hd_quant_choose(j->a, j->ref, keep, &j->plan);
    j->order = hd_new_array(j->a, int, j->ref->n_nodes + 1);
    j->n_order = hd_graph_order(j->ref, j->order);
    for (size_t i = 0; i < j->plan.n_nodes; i++)
        if (j->plan.layer[i]) return HD_OK;
    return hd_fail(j->c->ctx, HD_INVALID,
                   "%s: nothing to quantise: no convolution or product by constant float weights "
                   "that is not kept",
                   j->path);
}

static hd_status quantize(struct job *j) {
    hd_ctx *ctx = j->c->ctx;
    TRY(cli_model_path(j->c, j->a, j->c->args[0], &j->path));
    TRY(cli_load_calibration(j->c, j->a, j->path, &j->data));
    TRY(import(j));
    TRY(choose(j));
    TRY(calibrate(j));
    j->even = true;
    if (j->c->opt.equalize && hd_quant_equalise(j->ref, &j->plan, j->stats)) TRY(calibrate(j));
    float *part = hd_new_array(j->a, float, j->plan.n_tensors + 1);
    j->classes = is_row(&j->ref->tensors[j->ref->outputs[0]]);
    TRY(reference_outputs(j));
    TRY(search(j, part));
    TRY(rewritten(j, part, &j->g));
    TRY(hd_export_onnx(ctx, j->g, j->c->opt.out));
    j->tensor_error = hd_new_array(j->a, struct error, j->plan.n_tensors + 1);
    j->output_error = hd_new_array(j->a, struct error, j->ref->n_outputs + 1);
    TRY(compare_layers(j));
    return hd_note(ctx, check_file(j), "while checking %s", j->c->opt.out);
}

int cmd_quantize(struct cli *c) {
    struct job j = {.c = c};
    int status = parse_range(c, &j.o);
    if (status != CLI_DONE) return status;
    if (!c->opt.out) return cli_usage(c, "-o OUT.onnx is missing: where should the network go?");
    if (!cli_is_graph_device(c->opt.device))
        return cli_usage(c, "--device: got '%s', want golden or cpu, which run float networks",
                         c->opt.device);
    j.a = hd_arena_create();
    hd_status s = quantize(&j);
    cli_progress_end(c);
    status = s == HD_OK ? CLI_DONE : cli_fail(c);
    if (s == HD_OK && !cli_json_on_stdout(c)) print_report(&j, stdout);
    if (s == HD_OK && c->opt.json) status = cli_write_json(c, report_json(&j));
    if (j.g) hd_graph_destroy(j.g);
    if (j.ref) hd_graph_destroy(j.ref);
    hd_arena_destroy(j.a);
    return status;
}
