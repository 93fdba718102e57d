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

#include "compiler/calibrate/data.h"
#include "compiler/calibrate/job.h"
#include "compiler/command/table.h"
#include "compiler/compiler.h"
#include "compiler/export/export.h"
#include "compiler/session/session.h"
#include "runtime/base/io.h"

/* The file as others will read it, as integer operations. */
static hd_status check_file(struct job *j) {
    struct score s = {0};
    quantize_progress(j, "int8 network");
    TRY(score_outputs(j, NET_WRITTEN, j->output_error, &s));
    j->same_top = s.same_top, j->checked = s.sets;
    return HD_OK;
}

/* ---- report ---- */

static void print_search(const struct job *j, FILE *out) {
    if (j->trials < 2) return;
    fprintf(out, "search of %d trials:", j->trials);
    if (j->corrected) fprintf(out, " biases of %d layers corrected;", j->corrected);
    if (j->tuned) fprintf(out, " biases of the classes tuned in %d rounds;", j->tuned);
    if (j->narrowed) fprintf(out, " ranges made smaller;");
    fprintf(out, " %d layers left in float for it\n", j->kept);
}

/* What became int16, and what it would have cost to leave it. */
static void print_mixed(const struct job *j, FILE *out) {
    struct hd_table t;
    if (!j->mixed.wanted) return;
    if (!j->mixed.raised) {
        fprintf(out, "\nthe bound of --mixed holds with int8 alone\n");
        return;
    }
    hd_table_init(&t, "lrrrl");
    hd_table_cells(&t, (const char *[]){"activations", "as int8 dB", "cost", "per cost", "type"},
                   5);
    for (int i = 0; i < j->mixed.n; i++) {
        const struct raise *r = &j->mixed.row[i];
        hd_table_cell(&t, "%s", j->ref->tensors[r->tensor].name);
        hd_table_cell(&t, "%.1f", -10 * log10(r->error));
        hd_table_cell(&t, "%.4g", r->cost);
        hd_table_cell(&t, "%.2g", r->error / r->cost);
        hd_table_cell(&t, "%s", i < j->mixed.raised ? "int16" : "");
    }
    fputc('\n', out);
    hd_table_print(&t, out);
    fprintf(out, "%d of %d activations that could be are int16\n", j->mixed.raised, j->mixed.n);
}

/* Both ends have one scale. */
static bool is_integers(const struct job *j, size_t i, size_t n) {
    return j->plan.made[j->ref->inputs[j->ref->n_inputs - n + i]];
}

/* The file does not say which outputs are states. */
static void print_states(const struct job *j, FILE *out) {
    size_t n, made = 0;
    const char **text = states_of(j, j->a, &n);
    for (size_t i = 0; i < n; i++) made += is_integers(j, i, n);
    if (n) fprintf(out, "%zu of %zu states are integers; run it with", made, n);
    for (size_t i = 0; i < n; i++) fprintf(out, " --state %s", text[i]);
    if (n) fputc('\n', out);
}

static void print_report(struct job *j, FILE *out) {
    struct hd_table t;
    int layers = 0, floats = 0;
    hd_table_init(&t, "lllrrr");
    hd_table_cells(&t, (const char *[]){"layer", "op", "result", "from", "to", "SNR dB"}, 6);
    for (size_t k = 0; k < j->n_order; k++) {
        size_t i = (size_t)j->order[k];
        if (!j->plan.layer[i]) continue;
        const struct hd_node *n = &j->ref->nodes[i];
        int y = j->plan.result[i];
        hd_table_cells(
            &t, (const char *[]){n->name, hd_ir_ops[n->op].name, j->ref->tensors[y].name}, 3);
        hd_table_cell(&t, "%.4g", (double)j->stats[y].lo);
        hd_table_cell(&t, "%.4g", (double)j->stats[y].hi);
        hd_table_cell(&t, "%.1f", decibels(&j->tensor_error[y]));
        layers++;
    }
    layers ? hd_table_print(&t, out) : hd_table_free(&t);
    hd_table_init(&t, "lll");
    hd_table_cells(&t, (const char *[]){"stays float", "op", "because"}, 3);
    for (size_t k = 0; k < j->n_order; k++) {
        size_t i = (size_t)j->order[k];
        if (!stays_float(j, i)) continue;
        const struct hd_node *n = &j->ref->nodes[i];
        hd_table_cells(&t, (const char *[]){n->name, hd_ir_ops[n->op].name, j->plan.why[i]}, 3);
        floats++;
    }
    print_mixed(j, out);
    fputc('\n', out);
    floats ? hd_table_print(&t, out) : hd_table_free(&t);
    if (floats) fputc('\n', out);
    for (size_t i = 0; i < j->ref->n_outputs; i++)
        fprintf(out, "output %s: %.1f dB\n", j->ref->tensors[j->ref->outputs[i]].name,
                decibels(&j->output_error[i]));
    if (j->classes)
        fprintf(out, "largest element in the same place: %d of %d sets\n", j->same_top, j->checked);
    print_search(j, out);
    print_states(j, out);
    fprintf(out, "%d layers in integers, %d nodes in float; calibrated with %s; wrote %s\n", layers,
            floats, j->data.what, j->c->opt.out);
}

static void add_db(json_object *o, const struct error *e) {
    if (e->noise > 0)
        hd_json_num(o, "snr_db", decibels(e));
    else
        json_object_object_add(o, "snr_db", NULL);
}

static json_object *mixed_json(const struct job *j) {
    json_object *rows = json_object_new_array();
    for (int i = 0; i < j->mixed.n; i++) {
        const struct raise *r = &j->mixed.row[i];
        json_object *x = json_object_new_object();
        hd_json_str(x, "tensor", j->ref->tensors[r->tensor].name);
        hd_json_num(x, "error", r->error);
        hd_json_num(x, "cost", r->cost);
        json_object_object_add(x, "int16", json_object_new_boolean(i < j->mixed.raised));
        json_object_array_add(rows, x);
    }
    return rows;
}

static json_object *states_json(const struct job *j) {
    size_t n;
    const char **text = states_of(j, j->a, &n);
    json_object *rows = json_object_new_array();
    for (size_t i = 0; i < n; i++) {
        json_object *x = json_object_new_object();
        hd_json_str(x, "state", text[i]);
        json_object_object_add(x, "integers", json_object_new_boolean(is_integers(j, i, n)));
        json_object_array_add(rows, x);
    }
    return rows;
}

static json_object *report_json(struct job *j) {
    json_object *o = json_object_new_object(), *layers = json_object_new_array(),
                *floats = json_object_new_array(), *outputs = json_object_new_array();
    hd_json_str(o, "schema", "heddle.quantize/1");
    hd_json_str(o, "model", j->path);
    hd_json_str(o, "out", j->c->opt.out);
    hd_json_str(o, "calibration", j->data.what);
    hd_json_int(o, "sets", j->data.n);
    if (j->classes) hd_json_int(o, "same_top1", j->same_top);
    hd_json_int(o, "trials", j->trials);
    hd_json_int(o, "biases_corrected", j->corrected);
    hd_json_int(o, "tuning_rounds", j->tuned);
    json_object_object_add(o, "ranges_narrowed", json_object_new_boolean(j->narrowed));
    hd_json_int(o, "kept_in_float", j->kept);
    for (size_t k = 0; k < j->n_order; k++) {
        size_t i = (size_t)j->order[k];
        const struct hd_node *n = &j->ref->nodes[i];
        json_object *x = json_object_new_object();
        int y = j->plan.result[i];
        hd_json_str(x, "name", n->name);
        hd_json_str(x, "op", hd_ir_ops[n->op].name);
        if (j->plan.layer[i]) {
            hd_json_str(x, "result", j->ref->tensors[y].name);
            hd_json_num(x, "from", (double)j->stats[y].lo);
            hd_json_num(x, "to", (double)j->stats[y].hi);
            add_db(x, &j->tensor_error[y]);
            json_object_array_add(layers, x);
        } else if (stays_float(j, i)) {
            hd_json_str(x, "reason", j->plan.why[i]);
            json_object_array_add(floats, x);
        } else {
            json_object_put(x);
        }
    }
    for (size_t i = 0; i < j->ref->n_outputs; i++) {
        json_object *x = json_object_new_object();
        hd_json_str(x, "name", j->ref->tensors[j->ref->outputs[i]].name);
        add_db(x, &j->output_error[i]);
        json_object_array_add(outputs, x);
    }
    if (j->mixed.wanted) json_object_object_add(o, "mixed", mixed_json(j));
    json_object_object_add(o, "states", states_json(j));
    json_object_object_add(o, "layers", layers);
    json_object_object_add(o, "float", floats);
    json_object_object_add(o, "outputs", outputs);
    return o;
}

/* ---- the command ---- */

static int parse_options(struct hd_cmd *c, struct hd_quant_options *o, struct mixed *mixed) {
    const char *bound = c->opt.calibrate.mixed;
    const char *range = c->opt.calibrate.range ? c->opt.calibrate.range : "minmax";
    const char *allowed = parse_range(range, o);
    if (allowed) return hd_cmd_usage(c, "--range: got '%s', want %s", range, allowed);
    allowed = bound ? parse_mixed(bound, mixed) : NULL;
    if (allowed) return hd_cmd_usage(c, "--mixed: got '%s', want %s", bound, allowed);
    o->type = c->opt.calibrate.activations && !strcmp(c->opt.calibrate.activations, "uint8")
                  ? HD_U8
                  : HD_I8;
    o->symmetric = c->opt.calibrate.symmetric;
    return HD_EXIT_DONE;
}

/* Writes the rewritten graph; with open dimensions where nothing in it depends on their sizes and
 * --shape does not close them. */
static hd_status write_network(struct job *j) {
    hd_ctx *ctx = j->c->ctx;
    bool shaped = j->c->opt.import.shapes.n;
    hd_graph *wider = shaped ? NULL : prepared_wider(j), *other = NULL;
    const char *closes = j->closed;
    hd_status s = HD_OK;
    if (wider) s = rewritten(j, wider, &other);
    if (s == HD_OK && other) closes = hd_export_closes(j->g, other);
    j->stays_open = other && !closes;
    if (s == HD_OK && j->closed && !j->stays_open && !shaped)
        hd_warn(ctx,
                "warning: dimensions that are open in the file are written with one size: %s; %s "
                "depends on it; quantise with --shape for another",
                j->closed, other ? closes : "the network");
    if (s == HD_OK) s = hd_export_onnx_open(ctx, j->g, j->stays_open ? other : NULL, j->c->opt.out);
    if (other) hd_graph_destroy(other);
    if (wider) hd_graph_destroy(wider);
    return s;
}

static hd_status quantize(struct job *j) {
    TRY(hd_model_path(j->c, j->a, j->c->args[0], &j->path));
    TRY(hd_load_calibration(j->c, j->a, j->path, &j->data));
    TRY(prepared(j, 0, &j->ref));
    TRY(quantize_network(j));
    TRY(write_network(j));
    hd_graph_destroy(j->g); /* what runs from here on is made anew */
    j->g = NULL;
    TRY(compare_layers(j));
    return hd_note(j->c->ctx, check_file(j), "while checking %s", j->c->opt.out);
}

int cmd_quantize(struct hd_cmd *c) {
    struct job j = {.c = c};
    int status = parse_options(c, &j.o, &j.mixed);
    if (status != HD_EXIT_DONE) return status;
    if (!c->opt.out) return hd_cmd_usage(c, "-o OUT.onnx is missing: where should the network go?");
    if (!hd_is_graph_device(c->opt.device))
        return hd_cmd_usage(c, "--device: got '%s', want golden or cpu, which run float networks",
                            c->opt.device);
    j.a = hd_arena_create();
    hd_status s = quantize(&j);
    hd_cmd_progress_end(c);
    status = s == HD_OK ? HD_EXIT_DONE : hd_cmd_fail(c);
    if (s == HD_OK && !hd_cmd_json_on_stdout(c)) print_report(&j, stdout);
    if (s == HD_OK && c->opt.json) status = hd_cmd_write_json(c, report_json(&j));
    if (j.g) hd_graph_destroy(j.g);
    if (j.ref) hd_graph_destroy(j.ref);
    hd_arena_destroy(j.a);
    return status;
}
