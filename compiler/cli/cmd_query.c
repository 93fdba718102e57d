/* heddle query: which operations a selector means, and what is known of them. */
#include <string.h>

#include "compiler/command/table.h"
#include "compiler/report/items.h"
#include "compiler/report/report.h"
#include "compiler/session/session.h"
#include "compiler/tensors/tensors.h"
#include "runtime/runtime.h"

struct query {
    struct hd_cmd *c;
    hd_arena *a;
    const char *path, *text;
    const struct hd_query *q;
    hd_graph *graph, *legal; /* graph NULL: the legalised one is meant */
    hd_model *model;
    hd_session *session;
    struct hd_run_facts run;
    struct hd_profile *profile;
    struct hd_op_items items;
    bool *hit;
};

static const struct hd_item_attr *attr(const struct hd_item *it, const char *name) {
    for (int i = 0; i < it->n_attrs; i++)
        if (!strcmp(it->attrs[i].name, name)) return &it->attrs[i];
    return NULL;
}

/* Runs once on --device, which is a machine. */
static hd_status run_profile(struct query *x) {
    struct hd_cmd *c = x->c;
    const void **in;
    if (hd_is_graph_device(c->opt.device))
        return hd_fail(c->ctx, HD_INVALID, "--device %s: has no cycles to ask for, want iss or rtl",
                       c->opt.device);
    x->profile = hd_profile_create(x->a, x->model);
    c->probe = &x->profile->probe;
    x->run = (struct hd_run_facts){
        .model = x->model, .path = x->path, .device = c->opt.device, .has_cycles = true};
    TRY(hd_cmd_inputs(c, x->a, x->model, x->path, &in, &x->run.inputs));
    TRY(hd_open_session(c, x->model, c->opt.device, &x->session));
    hd_cmd_progress(c, "running %s", c->opt.device);
    TRY(hd_session_run(c->ctx, x->session, in, hd_output_buffers(x->a, x->model)));
    hd_cmd_progress_end(c);
    return hd_session_counters(c->ctx, x->session, &x->run.counters);
}

static hd_status query(struct query *x) {
    struct hd_cmd *c = x->c;
    const char *meant = c->opt.stage ? c->opt.stage : "";
    if (!strcmp(meant, "prepare") || !strcmp(meant, "layers") || !strcmp(meant, "ops"))
        return hd_fail(c->ctx, HD_INVALID, "--stage: got '%s', want import, legalize or plan",
                       meant);
    x->text = c->args[1];
    TRY(hd_query_parse(c->ctx, x->a, x->text, &x->q));
    TRY(hd_model_path(c, x->a, c->args[0], &x->path));
    TRY(hd_open_model(c, x->path, false, &x->model));
    TRY(hd_graph_load(c->ctx, x->model->graph, x->model->graph_bytes, &x->legal));
    bool written = !c->opt.stage || !strcmp(c->opt.stage, "import");
    if (written && !hd_is_hdl(x->path)) TRY(hd_cmd_import(c, x->path, &x->graph));
    if (c->opt.stage && written && !x->graph)
        return hd_fail(c->ctx, HD_INVALID,
                       "%s: a compiled model does not hold the graph as written; use --stage "
                       "legalize, or the .onnx file",
                       x->path);
    bool runs = hd_query_level(x->a, x->q) == HD_LEVEL_PROFILE;
    if (runs) TRY(run_profile(x));
    struct hd_op_source s = {.graph = x->graph ? x->graph : x->legal,
                             .legal = x->graph ? x->legal : NULL,
                             .model = x->model,
                             .run = runs ? &x->run : NULL,
                             .profile = x->profile};
    hd_op_items_build(c, x->a, &s, &x->items);
    x->hit = hd_new_array(x->a, bool, (size_t)x->items.items.n + 1);
    return hd_query_match(c->ctx, x->q, &x->items.items, x->hit);
}

static void print_attr(struct hd_table *t, const struct hd_item_attr *v) {
    if (!v)
        hd_table_cell(t, "%s", "");
    else if (v->text)
        hd_table_cell(t, "%s", v->text);
    else
        hd_table_cell(t, "%.6g", v->number);
}

/* A row per operation: name, operation, layer, and what the selector asked for. */
static void print(const struct query *x, FILE *out) {
    struct hd_table t;
    int n_names, n_hits = 0, n_ops = 0;
    const char *const *names = hd_query_attrs(x->a, x->q, &n_names);
    if (n_names > 12) n_names = 12; /* what fits a screen; --json has all */
    hd_table_init(&t, "lllllllllllllll");
    t.cols = 3 + n_names;
    hd_table_cells(&t, (const char *[]){"name", "op", "layer"}, 3);
    hd_table_cells(&t, names, n_names);
    for (int i = 0; i < x->items.items.n; i++) {
        const struct hd_item *it = &x->items.items.item[i];
        n_ops += !it->is_scope;
        if (!x->hit[i]) continue;
        n_hits++;
        hd_table_cells(&t, (const char *[]){it->name, it->type}, 2);
        print_attr(&t, attr(it, "layer"));
        for (int k = 0; k < n_names; k++) print_attr(&t, attr(it, names[k]));
    }
    hd_table_print(&t, out);
    fprintf(out, "%d of %d operations\n", n_hits, n_ops);
}

static json_object *item_json(const struct hd_item *it) {
    json_object *o = json_object_new_object(), *labels = json_object_new_array(),
                *attrs = json_object_new_object();
    hd_json_str(o, "name", it->name);
    hd_json_str(o, "op", it->type);
    for (int i = 0; i < it->n_labels; i++)
        json_object_array_add(labels, json_object_new_string(it->labels[i]));
    for (int i = 0; i < it->n_attrs; i++)
        if (it->attrs[i].text)
            hd_json_str(attrs, it->attrs[i].name, it->attrs[i].text);
        else
            hd_json_num(attrs, it->attrs[i].name, it->attrs[i].number);
    json_object_object_add(o, "labels", labels);
    json_object_object_add(o, "attributes", attrs);
    return o;
}

static json_object *to_json(const struct query *x) {
    json_object *o = json_object_new_object(), *list = json_object_new_array();
    hd_json_str(o, "schema", "heddle.query/1");
    hd_json_str(o, "model", x->path);
    hd_json_str(o, "selector", hd_query_text(x->a, x->q));
    for (int i = 0; i < x->items.items.n; i++)
        if (x->hit[i]) json_object_array_add(list, item_json(&x->items.items.item[i]));
    json_object_object_add(o, "operations", list);
    return o;
}

int cmd_query(struct hd_cmd *c) {
    struct query x = {.c = c, .a = hd_arena_create()};
    int status = query(&x) == HD_OK ? HD_EXIT_DONE : hd_cmd_fail(c);
    if (status == HD_EXIT_DONE && !hd_cmd_json_on_stdout(c)) print(&x, stdout);
    if (status == HD_EXIT_DONE && c->opt.json) status = hd_cmd_write_json(c, to_json(&x));
    hd_session_close(x.session);
    hd_graph_destroy(x.graph);
    hd_graph_destroy(x.legal); /* its constants lie in the model */
    hd_model_destroy(x.model);
    hd_arena_destroy(x.a);
    return status;
}
