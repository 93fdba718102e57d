/* heddle compare: one model on several devices, every value that two of them give, bit for bit. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/cli/cli.h"

enum { DEVICES_MAX = 8 };

struct comparison {
    struct cli *c;
    hd_arena *a;
    const hd_model *m;
    const char *device[DEVICES_MAX];
    hd_session *session[DEVICES_MAX];
    int n_devices;
    const void **in;
    int *order; /* values, by layer */
    FILE *text; /* where lines go; NULL = nowhere */
    json_object *runs, *values;
    int n_values, n_differ;
    const char *first; /* value that differs first, of all runs */
    const char *first_layer, *first_device;
    uint64_t first_seed;
    json_object *operation; /* in which two machines part, NULL = none */
};

static hd_status split_devices(struct comparison *x) {
    struct cli *c = x->c;
    char *list = hd_strdup(x->a, c->opt.devices), *save = NULL;
    for (char *p = strtok_r(list, ",", &save); p; p = strtok_r(NULL, ",", &save)) {
        if (x->n_devices == DEVICES_MAX)
            return hd_fail(c->ctx, HD_INVALID, "--devices: more than %d devices", DEVICES_MAX);
        x->device[x->n_devices++] = p;
    }
    return HD_OK;
}

/* Values in the order in which they are made: by step, within a step by layer. */
static void sort_values(struct comparison *x) {
    const hd_model *m = x->m;
    bool *done = hd_new_array(x->a, bool, (size_t)m->n_values + 1);
    x->order = hd_new_array(x->a, int, (size_t)m->n_values + 1);
    int n = 0;
    for (int i = 0; i < m->n_steps; i++)
        for (int layer = -1; layer < m->n_layers; layer++)
            for (int k = 0; k < m->steps[i].n_outputs; k++) {
                int v = m->steps[i].outputs[k];
                if (m->values[v].layer != layer || done[v]) continue;
                x->order[n++] = v;
                done[v] = true;
            }
    for (int v = 0; v < m->n_values; v++)
        if (!done[v]) x->order[n++] = v;
}

static bool is_input(const hd_model *m, int value) {
    for (int i = 0; i < m->n_inputs; i++)
        if (m->inputs[i] == value) return true;
    return false;
}

static const char *position(hd_arena *a, const struct hd_value_info *v, size_t i) {
    int64_t at[HD_VALUE_RANK] = {0};
    for (int k = v->rank - 1; k >= 0; k--) {
        at[k] = (int64_t)(i % (size_t)v->dim[k]);
        i /= (size_t)v->dim[k];
    }
    return cli_shape_text(a, at, v->rank);
}

/* One device against the reference; true when they agree. */
static bool same_value(struct comparison *x, int value, const void *ref, const void *got,
                       const char *device) {
    const struct hd_value_info *v = &x->m->values[value];
    size_t n = hd_value_dense_bytes(v) / (size_t)v->elem_bytes, size = (size_t)v->elem_bytes,
           differ = 0, first = 0;
    double most = 0;
    for (size_t i = 0; i < n; i++) {
        if (!memcmp((const char *)ref + i * size, (const char *)got + i * size, size)) continue;
        if (!differ++) first = i;
        double d = fabs(cli_element(ref, v->dtype, i) - cli_element(got, v->dtype, i));
        if (d > most || d != d) most = d;
    }
    json_object *o = json_object_new_object();
    cli_add_str(o, "name", v->name);
    cli_add_str(o, "layer", v->layer >= 0 ? x->m->layers[v->layer].name : NULL);
    cli_add_str(o, "device", device);
    json_object_object_add(o, "same", json_object_new_boolean(differ == 0));
    cli_add_int(o, "differ", (int64_t)differ);
    cli_add_num(o, "max_abs_diff", most);
    json_object_array_add(x->values, o);
    if (!differ) return true;
    if (x->text)
        fprintf(x->text,
                "DIFF %s %s%s, %s: max|diff| %g, %zu of %zu differ, first at %s: %s %g, %s %g\n",
                v->name, cli_dtype_name(v->dtype), cli_shape_text(x->a, v->dim, v->rank), device,
                most, differ, n, position(x->a, v, first), x->device[0],
                cli_element(ref, v->dtype, first), device, cli_element(got, v->dtype, first));
    return false;
}

static hd_status compare_value(struct comparison *x, int value, uint64_t seed) {
    struct cli *c = x->c;
    const struct hd_value_info *v = &x->m->values[value];
    size_t bytes = hd_value_dense_bytes(v) + 1;
    void *ref = malloc(bytes), *got = malloc(bytes);
    HD_ASSERT(ref && got);
    hd_status s = hd_session_value(c->ctx, x->session[0], value, ref);
    bool same = true;
    int shared = 0;
    for (int d = 1; s == HD_OK && d < x->n_devices; d++) {
        s = hd_session_value(c->ctx, x->session[d], value, got);
        if (s == HD_UNSUPPORTED) { /* it stayed on chip there */
            s = HD_OK;
            continue;
        }
        shared++;
        if (s == HD_OK && !same_value(x, value, ref, got, x->device[d])) {
            same = false;
            if (!x->first) {
                x->first = v->name, x->first_seed = seed, x->first_device = x->device[d];
                x->first_layer = v->layer >= 0 ? x->m->layers[v->layer].name : NULL;
            }
        }
    }
    free(ref);
    free(got);
    if (s == HD_UNSUPPORTED || (s == HD_OK && !shared)) return HD_OK;
    TRY(s);
    x->n_values++;
    x->n_differ += !same;
    if (same && x->text)
        fprintf(x->text, "ok   %s %s%s%s%s\n", v->name, cli_dtype_name(v->dtype),
                cli_shape_text(x->a, v->dim, v->rank), v->layer >= 0 ? ", layer " : "",
                v->layer >= 0 ? x->m->layers[v->layer].name : "");
    return HD_OK;
}

static hd_status run_all(struct comparison *x) {
    struct cli *c = x->c;
    for (int d = 0; d < x->n_devices; d++) {
        cli_progress(c, "compare: running %s", x->device[d]);
        hd_status s = cli_open_session(c, x->m, x->device[d], &x->session[d]);
        void **out = cli_output_buffers(x->a, x->m);
        if (s == HD_OK) s = hd_session_run(c->ctx, x->session[d], x->in, out);
        TRY(hd_note(c->ctx, s, "on device %s", x->device[d]));
    }
    cli_progress_end(c);
    return HD_OK;
}

static void close_all(struct comparison *x) {
    for (int d = 0; d < x->n_devices; d++) {
        hd_session_close(x->session[d]);
        x->session[d] = NULL;
    }
}

static hd_status compare_once(struct comparison *x, uint64_t seed) {
    struct cli *c = x->c;
    c->opt.mem.jitter_seed = seed;
    x->values = json_object_new_array();
    if (c->opt.mem.jitter && x->text)
        fprintf(x->text, "memory jitter, seed %llu\n", (unsigned long long)seed);
    hd_status s = run_all(x);
    for (int i = 0; s == HD_OK && i < x->m->n_values; i++)
        if (!is_input(x->m, x->order[i])) s = compare_value(x, x->order[i], seed);
    close_all(x);
    json_object *o = json_object_new_object();
    json_object_object_add(o, "jitter_seed",
                           c->opt.mem.jitter ? json_object_new_uint64(seed) : NULL);
    json_object_object_add(o, "values", x->values);
    json_object_array_add(x->runs, o);
    return s;
}

/* Of the first two machines among the devices, when values differ. */
static hd_status find_operation(struct comparison *x) {
    const char *machine[2];
    int n = 0;
    for (int i = 0; i < x->n_devices && n < 2; i++)
        if (!cli_is_graph_device(x->device[i])) machine[n++] = x->device[i];
    if (!x->n_differ || n < 2 || !strcmp(machine[0], machine[1])) return HD_OK;
    x->c->opt.mem.jitter_seed = x->first_seed;
    return cli_first_difference(x->c, x->a, x->m, machine, x->in, x->text, &x->operation);
}

static hd_status compare(struct comparison *x, const char **path, hd_model **model) {
    struct cli *c = x->c;
    const char *what;
    TRY(split_devices(x));
    TRY(cli_model_path(c, x->a, c->args[0], path));
    TRY(cli_open_model(c, *path, true, false, model));
    x->m = *model;
    TRY(cli_inputs(c, x->a, x->m, *path, &x->in, &what));
    sort_values(x);
    if (x->text) fprintf(x->text, "%s, machine %s, inputs: %s\n", *path, x->m->machine.name, what);
    uint64_t first = c->opt.jitter_first, last = c->opt.jitter_last;
    for (uint64_t seed = first; seed <= last; seed++) TRY(compare_once(x, seed));
    return find_operation(x);
}

static int conclude(struct comparison *x, const char *path) {
    bool same = x->n_differ == 0 && x->n_values > 0;
    if (x->text && same)
        fprintf(x->text, "%s agree: %d values compared, all bit-equal\n", x->c->opt.devices,
                x->n_values);
    if (!same && x->n_values == 0)
        fprintf(stderr, "heddle compare: %s: the devices share no value to compare\n", path);
    else if (!same)
        fprintf(stderr, "heddle compare: %s: %s and %s differ first in %s (layer %s)%s\n", path,
                x->device[0], x->first_device, x->first,
                x->first_layer ? x->first_layer : "on the host",
                x->c->opt.mem.jitter ? ", under memory jitter" : "");
    int status = CLI_DONE;
    if (x->c->opt.json) {
        json_object *o = json_object_new_object();
        cli_add_str(o, "schema", "heddle.compare/1");
        cli_add_str(o, "model", path);
        cli_add_str(o, "devices", x->c->opt.devices);
        cli_add_str(o, "machine", x->m->machine.name);
        json_object_object_add(o, "ok", json_object_new_boolean(same));
        cli_add_int(o, "compared", x->n_values);
        cli_add_int(o, "differ", x->n_differ);
        cli_add_str(o, "first_difference", x->first);
        json_object_object_add(o, "first_operation", json_object_get(x->operation));
        json_object_object_add(o, "runs", json_object_get(x->runs));
        status = cli_write_json(x->c, o);
    }
    return status != CLI_DONE ? status : same ? CLI_DONE : CLI_FAILED;
}

int cmd_compare(struct cli *c) {
    if (!c->opt.devices || !strchr(c->opt.devices, ','))
        return cli_usage(c, "--devices: got '%s', want at least two names: --devices golden,iss",
                         c->opt.devices ? c->opt.devices : "");
    struct comparison x = {.c = c, .a = hd_arena_create(), .runs = json_object_new_array()};
    x.text = cli_json_on_stdout(c) ? NULL : stdout;
    const char *path = NULL;
    hd_model *model = NULL;
    int status = compare(&x, &path, &model) == HD_OK ? conclude(&x, path) : cli_fail(c);
    hd_model_destroy(model);
    hd_arena_destroy(x.a);
    json_object_put(x.runs);
    json_object_put(x.operation);
    return status;
}
