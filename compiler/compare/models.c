/* One model on several devices, or two models, every value that two of them give.
 *
 * The program is the one that runs: results that stay on chip are read out of the machine's memory
 * by the address map while it runs (capture.c). values.c compares; first_diff.c finds the operation
 * in which two machines part. */
#include <stdlib.h>
#include <string.h>

#include "compiler/compare/capture.h"
#include "compiler/compare/compare.h"
#include "compiler/compare/first_diff.h"
#include "compiler/report/items.h"
#include "compiler/session/session.h"
#include "compiler/tensors/tensors.h"
#include "runtime/runtime.h"

enum { DEVICES_MAX = 8 };

struct side { /* a model on a device */
    const char *device;
    const char *label; /* the device; of two models, with its number: iss:2 */
    const hd_model *m; /* with values for every checkpoint */
    hd_session *session;
    struct hd_capture capture;
    bool captures;
};

struct comparison {
    struct hd_cmd *c;
    hd_arena *a;
    hd_model *own[2]; /* as compiled or loaded */
    hd_model with[2]; /* the same, with values for every checkpoint */
    const char *path[2];
    int n_models;
    struct side side[DEVICES_MAX]; /* the first is the reference */
    int n_sides;
    const void **in;
    const bool *layers; /* of the first model: those that are compared */
    int *order;         /* its values, in the order in which they are made */
    FILE *text;         /* where lines go; NULL = nowhere */
    struct hd_value_errors *errors;
    json_object *runs, *values;
    int n_values, n_differ, n_near;
    const char *first; /* value that differs first, of all runs */
    const char *first_layer, *first_device;
    uint64_t first_seed;
    json_object *operation; /* in which two machines part, NULL = none */
};

/* ---- what is compared ----------------------------------------------------------------------- */

static hd_status split_devices(struct comparison *x) {
    struct hd_cmd *c = x->c;
    char *list = hd_strdup(x->a, c->opt.devices), *save = NULL;
    for (char *p = strtok_r(list, ",", &save); p; p = strtok_r(NULL, ",", &save)) {
        if (x->n_sides == DEVICES_MAX)
            return hd_fail(c->ctx, HD_INVALID, "--devices: more than %d devices", DEVICES_MAX);
        x->side[x->n_sides++].device = p;
    }
    if (x->n_models == 2 && x->n_sides == 1) x->side[x->n_sides++].device = x->side[0].device;
    return HD_OK;
}

static bool has_value(const hd_model *m, int tensor) {
    for (int i = 0; i < m->n_values; i++)
        if (m->values[i].tensor == tensor) return true;
    return false;
}

/* A dense value of the graph is where the place says, byte for byte. */
static bool is_whole(const struct hd_place *p, const struct hd_tensor *t) {
    if (hd_dtype_bytes(t->dtype) != (p->wide ? 2 : 1) || !t->known || p->layer < 0) return false;
    if (t->rank == 4)
        return t->dim[0] == p->n && t->dim[1] == p->c && t->dim[2] == p->h && t->dim[3] == p->w;
    return t->rank == 2 && t->dim[0] == p->n && t->dim[1] == p->c && p->h == 1 && p->w == 1;
}

/* Gives the model a value for the tensor, which it does not have yet. */
static void add_value(struct comparison *x, hd_model *w, const hd_graph *g, int tensor, int layer) {
    const struct hd_tensor *t = &g->tensors[tensor];
    struct hd_value_info *v = &w->values[w->n_values++];
    *v = (struct hd_value_info){.name = hd_strdup(x->a, t->name),
                                .dtype = hd_dtype_to_onnx(t->dtype),
                                .elem_bytes = (int)hd_dtype_bytes(t->dtype),
                                .rank = t->rank,
                                .tensor = tensor,
                                .layer = layer};
    memcpy(v->dim, t->dim, sizeof v->dim);
}

static bool runs_graphs(const struct comparison *x) { /* two devices or more */
    int n = 0;
    for (int i = 0; i < x->n_sides; i++) n += hd_is_graph_device(x->side[i].device);
    return n > 1;
}

/* Gives the model a value for every result of a layer; and where several devices run graphs, of
 * every operation, so that they tell it. Or only for the one called `only`. */
static hd_status add_checkpoints(struct comparison *x, int i, const char *only) {
    const hd_model *m = x->own[i];
    hd_graph *g;
    TRY(hd_graph_load(x->c->ctx, m->graph, m->graph_bytes, &g));
    hd_model *w = &x->with[i];
    *w = *m;
    w->values = hd_new_array(x->a, struct hd_value_info, (size_t)m->n_values + g->n_tensors + 1);
    memcpy(w->values, m->values, (size_t)m->n_values * sizeof *m->values);
    for (int k = 0; k < m->n_places; k++) {
        const struct hd_place *p = &m->places[k];
        if ((size_t)p->tensor >= g->n_tensors || has_value(w, p->tensor)) continue;
        const struct hd_tensor *t = &g->tensors[p->tensor];
        if (is_whole(p, t) && (!only || !strcmp(only, t->name)))
            add_value(x, w, g, p->tensor, p->layer);
    }
    for (size_t k = 0; k < g->n_tensors && runs_graphs(x); k++) {
        const struct hd_tensor *t = &g->tensors[k];
        bool made = t->known && t->producer >= 0 && !g->nodes[t->producer].dead;
        if (made && !has_value(w, (int)k) && (!only || !strcmp(only, t->name)))
            add_value(x, w, g, (int)k, -1);
    }
    hd_graph_destroy(g);
    return HD_OK;
}

static bool is_input(const hd_model *m, int value) {
    for (int i = 0; i < m->n_inputs; i++)
        if (m->inputs[i] == value) return true;
    return false;
}

/* Values in the order in which the graph makes them. */
static hd_status sort_values(struct comparison *x) {
    const hd_model *m = &x->with[0];
    hd_graph *g;
    TRY(hd_graph_load(x->c->ctx, m->graph, m->graph_bytes, &g));
    int *nodes = hd_new_array(x->a, int, g->n_nodes + 1), n = 0;
    bool *placed = hd_new_array(x->a, bool, (size_t)m->n_values + 1);
    int *value = hd_new_array(x->a, int, g->n_tensors + 1);
    size_t n_nodes = hd_graph_order(g, nodes);
    x->order = hd_new_array(x->a, int, (size_t)m->n_values + 1);
    for (size_t i = 0; i < g->n_tensors; i++) value[i] = -1;
    for (int v = m->n_values - 1; v >= 0; v--)
        if ((size_t)m->values[v].tensor < g->n_tensors) value[m->values[v].tensor] = v;
    for (size_t i = 0; i < n_nodes; i++)
        for (int k = 0; k < g->nodes[nodes[i]].n_out; k++) {
            int t = g->nodes[nodes[i]].out[k], v = t >= 0 ? value[t] : -1;
            if (v < 0) continue;
            x->order[n++] = v;
            placed[v] = true;
        }
    for (int v = 0; v < m->n_values; v++)
        if (!placed[v]) x->order[n++] = v;
    hd_graph_destroy(g);
    return HD_OK;
}

static bool is_compared(const struct comparison *x, int value) {
    const struct hd_value_info *v = &x->with[0].values[value];
    return !is_input(&x->with[0], value) && (v->layer < 0 || x->layers[v->layer]);
}

/* ---- running -------------------------------------------------------------------------------- */

static hd_status open_side(struct comparison *x, struct side *s, const bool *layers) {
    struct hd_cmd with = *x->c;
    s->captures = !hd_is_graph_device(s->device) && hd_device_by_scheme(s->device);
    if (s->captures) {
        hd_capture_init(&s->capture, s->m, layers);
        with.probe = &s->capture.probe;
    }
    hd_status r = hd_open_session(&with, s->m, s->device, &s->session);
    if (r == HD_UNSUPPORTED && s->captures && hd_device_by_scheme(s->device)) {
        hd_clear(x->c->ctx); /* a board: it shows what leaves it */
        with.probe = NULL;
        r = hd_open_session(&with, s->m, s->device, &s->session);
    }
    return r;
}

static void close_sides(struct comparison *x) {
    for (int i = 0; i < x->n_sides; i++) {
        struct side *s = &x->side[i];
        hd_session_close(s->session);
        s->session = NULL;
        if (s->captures) hd_capture_deinit(&s->capture);
        s->captures = false;
    }
}

static hd_status run_sides(struct comparison *x, const bool *layers) {
    struct hd_cmd *c = x->c;
    for (int i = 0; i < x->n_sides; i++) {
        struct side *s = &x->side[i];
        hd_cmd_progress(c, "compare: running %s", s->device);
        void **out = hd_output_buffers(x->a, s->m);
        hd_status r = open_side(x, s, layers);
        if (r == HD_OK) r = hd_session_run(c->ctx, s->session, x->in, out);
        if (r == HD_OK && s->captures && s->capture.failed)
            r = hd_fail(c->ctx, HD_NOMEM, "no memory to keep the results of layers; try --bisect");
        TRY(hd_note(c->ctx, r, "on device %s", s->device));
    }
    hd_cmd_progress_end(c);
    return HD_OK;
}

/* The bytes of a value of the first model on one side; HD_UNSUPPORTED when it is not known there.
 */
static hd_status value_of(struct comparison *x, const struct side *s, int value, void *out) {
    const struct hd_value_info *want = &x->with[0].values[value];
    int v = value;
    if (s->m != &x->with[0]) { /* by name */
        for (v = 0; v < s->m->n_values && strcmp(s->m->values[v].name, want->name);) v++;
        if (v == s->m->n_values) return HD_UNSUPPORTED;
        const struct hd_value_info *got = &s->m->values[v];
        if (got->rank != want->rank || got->dtype != want->dtype ||
            memcmp(got->dim, want->dim, sizeof got->dim))
            return hd_fail(x->c->ctx, HD_INVALID, "%s is %s%s in %s and %s%s in %s", want->name,
                           hd_onnx_dtype_name(want->dtype),
                           hd_dims_text(x->a, want->dim, want->rank), x->path[0],
                           hd_onnx_dtype_name(got->dtype), hd_dims_text(x->a, got->dim, got->rank),
                           x->path[1]);
    }
    for (int i = 0; s->captures && i < s->m->n_places; i++)
        if (s->m->places[i].tensor == s->m->values[v].tensor && s->capture.dense[i]) {
            memcpy(out, s->capture.dense[i], hd_value_dense_bytes(want));
            return HD_OK;
        }
    hd_status r = hd_session_value(x->c->ctx, s->session, v, out);
    if (r == HD_UNSUPPORTED) hd_clear(x->c->ctx);
    return r;
}

/* ---- one value ------------------------------------------------------------------------------ */

/* How far a value may be off: bits of machines and of integers never differ, but kernels of other
 * devices may add floats up in another order. */
static bool may_round(const struct side *a, const struct side *b) {
    return hd_is_graph_device(a->device) && hd_is_graph_device(b->device);
}

static const char *layer_of(const struct comparison *x, int value) {
    int layer = x->with[0].values[value].layer;
    return layer >= 0 ? x->with[0].layers[layer].name : NULL;
}

static hd_status compare_value(struct comparison *x, int value, uint64_t seed, bool *out_differs) {
    const struct hd_value_info *v = &x->with[0].values[value];
    size_t bytes = hd_value_dense_bytes(v) + 1;
    void *ref = malloc(bytes), *got = malloc(bytes);
    HD_ASSERT(ref && got);
    hd_status s = value_of(x, &x->side[0], value, ref);
    int shared = 0, differ = 0, near = 0;
    for (int d = 1; s == HD_OK && d < x->n_sides; d++) {
        struct side *side = &x->side[d];
        s = value_of(x, side, value, got);
        if (s == HD_UNSUPPORTED) { /* it never exists as a whole there */
            s = HD_OK;
            continue;
        }
        if (s != HD_OK) break;
        shared++;
        struct hd_value_error e = hd_value_error_of(v, ref, got);
        enum hd_verdict verdict = hd_value_error_verdict(&e, v, may_round(&x->side[0], side));
        json_object_array_add(x->values,
                              hd_value_error_json(&e, v, layer_of(x, value), side->label));
        hd_value_errors_add(x->errors, v, layer_of(x, value), side->label, &e);
        differ += verdict == HD_DIFFERS;
        near += verdict == HD_NEAR;
        if (x->text && verdict != HD_SAME)
            hd_value_error_print(&e, verdict, v, layer_of(x, value), x->side[0].label, side->label,
                                 ref, got, verdict == HD_DIFFERS && !x->first, x->text);
        if (verdict == HD_DIFFERS && !x->first) {
            x->first = v->name, x->first_seed = seed, x->first_device = side->label;
            x->first_layer = layer_of(x, value);
        }
    }
    free(ref);
    free(got);
    if (out_differs) *out_differs = differ > 0;
    if (s == HD_UNSUPPORTED || (s == HD_OK && !shared)) return HD_OK;
    TRY(s);
    x->n_values++;
    x->n_differ += differ > 0;
    x->n_near += near > 0 && !differ;
    if (!differ && !near && x->text)
        fprintf(x->text, "ok   %s %s%s%s%s\n", v->name, hd_onnx_dtype_name(v->dtype),
                hd_dims_text(x->a, v->dim, v->rank), v->layer >= 0 ? ", layer " : "",
                v->layer >= 0 ? layer_of(x, value) : "");
    return HD_OK;
}

static hd_status compare_once(struct comparison *x, uint64_t seed) {
    struct hd_cmd *c = x->c;
    c->opt.mem.jitter_seed = seed;
    x->values = json_object_new_array();
    if (c->opt.mem.jitter && x->text)
        fprintf(x->text, "memory jitter, seed %llu\n", (unsigned long long)seed);
    hd_status s = run_sides(x, x->layers);
    for (int i = 0; s == HD_OK && i < x->with[0].n_values; i++)
        if (is_compared(x, x->order[i])) s = compare_value(x, x->order[i], seed, NULL);
    close_sides(x);
    json_object *o = json_object_new_object();
    json_object_object_add(o, "jitter_seed",
                           c->opt.mem.jitter ? json_object_new_uint64(seed) : NULL);
    json_object_object_add(o, "values", x->values);
    json_object_array_add(x->runs, o);
    return s;
}

/* ---- --bisect ------------------------------------------------------------------------------- */

/* Runs all sides, keeping one value beside those that steps exchange, and compares it. */
static hd_status compare_only(struct comparison *x, const char *name, FILE *text,
                              bool *out_differs) {
    FILE *loud = x->text;
    int value = 0;
    bool *layers = hd_new_array(x->a, bool, (size_t)x->own[0]->n_layers + 1);
    for (int i = 0; i < x->n_models; i++) TRY(add_checkpoints(x, i, name));
    const hd_model *m = &x->with[0];
    while (strcmp(m->values[value].name, name)) value++; /* it is there: add_checkpoints */
    if (m->values[value].layer >= 0) layers[m->values[value].layer] = true;
    x->text = text;
    hd_status s = run_sides(x, layers);
    if (s == HD_OK) s = compare_value(x, value, x->c->opt.mem.jitter_seed, out_differs);
    close_sides(x);
    x->text = loud;
    return s;
}

/* Looks for the first value that differs, taking for granted that what follows it differs, too. */
static hd_status bisect(struct comparison *x, uint64_t seed) {
    struct hd_cmd *c = x->c;
    const hd_model *m = &x->with[0];
    const char **names = hd_new_array(x->a, const char *, (size_t)m->n_values + 1);
    int n = 0, runs = 0;
    c->opt.mem.jitter_seed = seed;
    for (int i = 0; i < m->n_values; i++)
        if (is_compared(x, x->order[i])) names[n++] = m->values[x->order[i]].name;
    x->values = json_object_new_array();
    bool differs = false;
    int lo = -1, hi = n - 1; /* hi differs, lo does not */
    if (n) TRY(compare_only(x, names[hi], NULL, &differs));
    while (differs && hi - lo > 1) {
        int mid = lo + (hi - lo) / 2;
        bool d = false;
        hd_cmd_progress(c, "compare: %d values are left", hi - lo);
        TRY(compare_only(x, names[mid], NULL, &d));
        runs++;
        if (d)
            hi = mid;
        else
            lo = mid;
    }
    x->first = NULL;
    x->n_values = n, x->n_differ = 0;
    if (differs) TRY(compare_only(x, names[hi], x->text, &differs));
    x->n_values = n;
    if (x->text) fprintf(x->text, "bisection of %d values, %d runs of each device\n", n, runs + 2);
    json_object *o = json_object_new_object();
    json_object_object_add(o, "jitter_seed",
                           c->opt.mem.jitter ? json_object_new_uint64(seed) : NULL);
    json_object_object_add(o, "values", x->values);
    json_object_array_add(x->runs, o);
    return HD_OK;
}

/* ---- all of it ------------------------------------------------------------------------------ */

/* Of the first two machines among the devices, when values differ. */
static hd_status find_operation(struct comparison *x) {
    const char *machine[2];
    int n = 0;
    for (int i = 0; i < x->n_sides && n < 2; i++)
        if (!hd_is_graph_device(x->side[i].device)) machine[n++] = x->side[i].device;
    if (!x->n_differ || n < 2 || x->n_models > 1 || !strcmp(machine[0], machine[1])) return HD_OK;
    x->c->opt.mem.jitter_seed = x->first_seed;
    return hd_first_difference(x->c, x->a, x->own[0], machine, x->in, x->text, &x->operation);
}

static hd_status open_models(struct comparison *x) {
    struct hd_cmd *c = x->c;
    bool *layers = NULL;
    for (int i = 0; i < x->n_models; i++) {
        TRY(hd_model_path(c, x->a, c->args[i], &x->path[i]));
        TRY(hd_open_model(c, x->path[i], false, &x->own[i]));
        TRY(add_checkpoints(x, i, NULL));
    }
    for (int i = 0; i < x->n_sides; i++) {
        struct side *s = &x->side[i];
        int which = i && x->n_models > 1;
        s->m = &x->with[which];
        s->label = x->n_models > 1 ? hd_sprintf(x->a, "%s:%d", s->device, which + 1) : s->device;
    }
    TRY(hd_select_layers(c, x->a, c->opt.select, x->own[0], &layers));
    x->layers = layers;
    return sort_values(x);
}

static hd_status compare(struct comparison *x) {
    struct hd_cmd *c = x->c;
    const char *what;
    TRY(split_devices(x));
    TRY(open_models(x));
    TRY(hd_cmd_inputs(c, x->a, x->own[0], x->path[0], &x->in, &what));
    if (x->text) {
        fprintf(x->text, "%s, machine %s, inputs: %s\n", x->path[0], x->own[0]->machine.name, what);
        if (x->n_models > 1) fprintf(x->text, "against %s\n", x->path[1]);
    }
    uint64_t first = c->opt.jitter_first, last = c->opt.jitter_last;
    for (uint64_t seed = first; seed <= last; seed++)
        TRY(c->opt.bisect ? bisect(x, seed) : compare_once(x, seed));
    if (x->text && (x->n_differ || x->n_near) && !c->opt.bisect)
        hd_value_errors_print(x->errors, x->text);
    return find_operation(x);
}

static void say(const struct comparison *x, bool same) {
    if (x->text && same)
        fprintf(x->text,
                x->n_near ? "%s agree: %d values compared, %d of them not bit for bit\n"
                          : "%s agree: %d values compared, all bit-equal\n",
                x->c->opt.devices, x->n_values, x->n_near);
    fflush(stdout);
    if (!same && x->n_values == 0)
        fprintf(stderr, "heddle compare: %s: the devices share no value to compare\n", x->path[0]);
    else if (!same)
        fprintf(stderr, "heddle compare: %s: %s and %s differ first in %s (layer %s)%s\n",
                x->path[0], x->side[0].label, x->first_device, x->first,
                x->first_layer ? x->first_layer : "on the host",
                x->c->opt.mem.jitter ? ", under memory jitter" : "");
}

static int conclude(struct comparison *x) {
    bool same = x->n_differ == 0 && x->n_values > 0;
    say(x, same);
    int status = HD_EXIT_DONE;
    if (x->c->opt.json) {
        json_object *o = json_object_new_object();
        hd_json_str(o, "schema", "heddle.compare/1");
        hd_json_str(o, "model", x->path[0]);
        hd_json_str(o, "against", x->n_models > 1 ? x->path[1] : NULL);
        hd_json_str(o, "devices", x->c->opt.devices);
        hd_json_str(o, "machine", x->own[0]->machine.name);
        json_object_object_add(o, "ok", json_object_new_boolean(same));
        hd_json_int(o, "compared", x->n_values);
        hd_json_int(o, "differ", x->n_differ);
        hd_json_int(o, "near", x->n_near);
        hd_json_str(o, "first_difference", x->first);
        hd_json_str(o, "first_layer", x->first_layer);
        json_object_object_add(o, "first_operation", json_object_get(x->operation));
        json_object_object_add(o, "runs", json_object_get(x->runs));
        status = hd_cmd_write_json(x->c, o);
    }
    return status != HD_EXIT_DONE ? status : same ? HD_EXIT_DONE : HD_EXIT_FAILED;
}

int hd_compare_models(struct hd_cmd *c) {
    struct comparison x = {.c = c, .a = hd_arena_create(), .runs = json_object_new_array()};
    x.n_models = c->n_args;
    x.errors = hd_value_errors_create(x.a);
    x.text = hd_cmd_json_on_stdout(c) ? NULL : stdout;
    int status = compare(&x) == HD_OK ? conclude(&x) : hd_cmd_fail(c);
    for (int i = 0; i < 2; i++) hd_model_destroy(x.own[i]);
    hd_arena_destroy(x.a);
    json_object_put(x.runs);
    json_object_put(x.operation);
    return status;
}
