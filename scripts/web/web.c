/* What the page calls: machines, and a network from its bytes to a report, over the public C API.
 * Answers are JSON texts, valid until the next call; a failure is {"error": why}. */
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/api/heddle.h"
#include "compiler/command/json.h"
#include "compiler/tensors/tensors.h"

enum { SETTINGS_MAX = 64 };

/* The text of an answer lives until the next one. */
static const char *answer(json_object *o) {
    static json_object *last;
    json_object_put(last);
    last = o;
    return json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN);
}

static const char *failed(hd_ctx *ctx) {
    json_object *o = json_object_new_object();
    hd_json_str(o, "error", hd_message(ctx));
    hd_ctx_destroy(ctx);
    return answer(o);
}

const char *web_machines(void) {
    json_object *list = json_object_new_array();
    for (int i = 0; hd_machine_name(i); i++)
        json_object_array_add(list, json_object_new_string(hd_machine_name(i)));
    return answer(list);
}

const char *web_machine(const char *name) {
    struct hd_machine_value v[SETTINGS_MAX];
    int n = 0;
    hd_ctx *ctx = hd_ctx_create();
    if (hd_machine_values(ctx, name, NULL, 0, v, SETTINGS_MAX, &n) != HD_OK) return failed(ctx);
    json_object *list = json_object_new_array();
    for (int i = 0; i < n && i < SETTINGS_MAX; i++) {
        json_object *o = json_object_new_object();
        hd_json_str(o, "name", v[i].name);
        hd_json_str(o, "doc", v[i].doc);
        hd_json_int(o, "value", v[i].value);
        hd_json_int(o, "min", v[i].min);
        hd_json_int(o, "max", v[i].max);
        json_object_array_add(list, o);
    }
    hd_ctx_destroy(ctx);
    return answer(list);
}

struct work {
    hd_net *net;
    hd_model *model;
    hd_session *session;
    hd_arena *arena;
};

/* Random inputs: cycles do not depend on them. */
static hd_status run(hd_ctx *ctx, struct work *w) {
    const void **in = NULL;
    hd_status s = hd_random_inputs(ctx, w->arena, w->model, 1, &in);
    if (s == HD_OK) s = hd_session_run(ctx, w->session, in, hd_output_buffers(w->arena, w->model));
    return s;
}

static json_object *found(hd_ctx *ctx, const struct work *w) {
    json_object *o = json_object_new_object(), *host = json_object_new_array();
    hd_json_str(o, "name", hd_model_name(w->model));
    hd_json_int(o, "cycles", (int64_t)hd_session_cycles(w->session));
    hd_json_int(o, "layers", hd_model_n_layers(w->model));
    for (int i = 0; i < hd_model_n_host_ops(w->model); i++) {
        struct hd_host_row h;
        json_object *row = json_object_new_object();
        hd_model_host_op(w->model, i, &h);
        hd_json_str(row, "node", h.node);
        hd_json_str(row, "op", h.op);
        hd_json_str(row, "reason", h.reason);
        json_object_array_add(host, row);
    }
    json_object_object_add(o, "host", host);
    hd_json_str(o, "warnings", hd_warnings(ctx));
    return o;
}

/* Compiles the network of a file for a machine and runs it on iss. settings: "name=value", a line
 * each. When the machine ran, the report is written to `report`. */
const char *web_run(const void *data, size_t bytes, const char *file, const char *machine,
                    char *settings, const char *report) {
    const char *set[SETTINGS_MAX];
    struct hd_build build = {.machine = machine, .set = set};
    struct hd_run_options options = {.profile = true};
    for (char *s = strtok(settings, "\n"); s && build.n_set < SETTINGS_MAX; s = strtok(NULL, "\n"))
        set[build.n_set++] = s;
    hd_ctx *ctx = hd_ctx_create();
    struct work w = {.arena = hd_arena_create()};
    json_object *o = NULL;
    hd_status s = hd_net_load_memory(ctx, data, bytes, file, &w.net);
    if (s == HD_OK) s = hd_net_compile(ctx, w.net, &build, &w.model);
    if (s == HD_OK) s = hd_session_open_with(ctx, w.model, "iss", &options, &w.session);
    if (s == HD_OK) s = run(ctx, &w);
    if (s == HD_OK && hd_session_cycles(w.session)) s = hd_session_report(ctx, w.session, report);
    if (s == HD_OK) o = found(ctx, &w);
    hd_session_close(w.session);
    hd_model_destroy(w.model);
    hd_net_destroy(w.net);
    hd_arena_destroy(w.arena);
    if (!o) return failed(ctx);
    hd_ctx_destroy(ctx);
    return answer(o);
}
