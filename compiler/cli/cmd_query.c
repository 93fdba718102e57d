/* heddle query: which operations a selector means, and what is known of them. */
#include <string.h>

#include "compiler/cli/items.h"

struct query {
    struct cli *c;
    hd_arena *a;
    const char *path, *text;
    const struct hd_query *q;
    hd_graph *graph, *legal; /* graph NULL: the legalised one is meant */
    hd_model *model;
    hd_session *session;
    struct cli_run run;
    struct cli_profile *profile;
    struct cli_items items;
    bool *hit;
};

static const struct hd_item_attr *attr(const struct hd_item *it, const char *name) {
    for (int i = 0; i < it->n_attrs; i++)
        if (!strcmp(it->attrs[i].name, name)) return &it->attrs[i];
    return NULL;
}

/* Runs once on --device, which is a machine. */
static hd_status run_profile(struct query *x) {
    struct cli *c = x->c;
    const void **in;
    if (cli_is_graph_device(c->opt.device))
        return hd_fail(c->ctx, HD_INVALID, "--device %s: has no cycles to ask for, want iss or rtl",
                       c->opt.device);
    x->profile = cli_profile_create(x->a, x->model);
    c->probe = &x->profile->probe;
    x->run = (struct cli_run){
        .model = x->model, .path = x->path, .device = c->opt.device, .has_cycles = true};
    TRY(cli_inputs(c, x->a, x->model, x->path, &in, &x->run.inputs));
    TRY(cli_open_session(c, x->model, c->opt.device, &x->session));
    cli_progress(c, "running %s", c->opt.device);
    TRY(hd_session_run(c->ctx, x->session, in, cli_output_buffers(x->a, x->model)));
    cli_progress_end(c);
    return hd_session_counters(c->ctx, x->session, &x->run.counters);
}

static hd_status query(struct query *x) {
    struct cli *c = x->c;
    x->text = c->args[1];
    TRY(hd_query_parse(c->ctx, x->a, x->text, &x->q));
    TRY(cli_model_path(c, x->a, c->args[0], &x->path));
    TRY(cli_open_model(c, x->path, false, &x->model));
    TRY(hd_graph_load(c->ctx, x->model->graph, x->model->graph_bytes, &x->legal));
    bool written = !c->opt.stage || !strcmp(c->opt.stage, "import");
    if (written && !cli_is_hdl(x->path)) TRY(cli_import(c, x->path, &x->graph));
    if (c->opt.stage && written && !x->graph)
        return hd_fail(c->ctx, HD_INVALID,
                       "%s: a compiled model does not hold the graph as written; use --stage "
                       "legalize, or the .onnx file",
                       x->path);
    bool runs = cli_query_level(x->a, x->q) == CLI_LEVEL_PROFILE;
    if (runs) TRY(run_profile(x));
    struct cli_item_source s = {.graph = x->graph ? x->graph : x->legal,
                                .legal = x->graph ? x->legal : NULL,
                                .model = x->model,
                                .run = runs ? &x->run : NULL,
                                .profile = x->profile};
    cli_items_build(c, x->a, &s, &x->items);
    x->hit = hd_new_array(x->a, bool, (size_t)x->items.items.n + 1);
    return hd_query_match(c->ctx, x->q, &x->items.items, x->hit);
}

static void print_attr(struct cli_table *t, const struct hd_item_attr *v) {
    if (!v)
        cli_cell(t, "%s", "");
    else if (v->text)
        cli_cell(t, "%s", v->text);
    else
        cli_cell(t, "%.6g", v->number);
}

/* A row per operation: name, operation, layer, and what the selector asked for. */
static void print(const struct query *x, FILE *out) {
    struct cli_table t;
    int n_names, n_hits = 0, n_ops = 0;
    const char *const *names = hd_query_attrs(x->a, x->q, &n_names);
    if (n_names > 12) n_names = 12; /* what fits a screen; --json has all */
    cli_table_init(&t, "lllllllllllllll");
    t.cols = 3 + n_names;
    cli_cells(&t, (const char *[]){"name", "op", "layer"}, 3);
    cli_cells(&t, names, n_names);
    for (int i = 0; i < x->items.items.n; i++) {
        const struct hd_item *it = &x->items.items.item[i];
        n_ops += !it->is_scope;
        if (!x->hit[i]) continue;
        n_hits++;
        cli_cells(&t, (const char *[]){it->name, it->type}, 2);
        print_attr(&t, attr(it, "layer"));
        for (int k = 0; k < n_names; k++) print_attr(&t, attr(it, names[k]));
    }
    cli_table_print(&t, out);
    fprintf(out, "%d of %d operations\n", n_hits, n_ops);
}

static json_object *item_json(const struct hd_item *it) {
    json_object *o = json_object_new_object(), *labels = json_object_new_array(),
                *attrs = json_object_new_object();
    cli_add_str(o, "name", it->name);
    cli_add_str(o, "op", it->type);
    for (int i = 0; i < it->n_labels; i++)
        json_object_array_add(labels, json_object_new_string(it->labels[i]));
    for (int i = 0; i < it->n_attrs; i++)
        if (it->attrs[i].text)
            cli_add_str(attrs, it->attrs[i].name, it->attrs[i].text);
        else
            cli_add_num(attrs, it->attrs[i].name, it->attrs[i].number);
    json_object_object_add(o, "labels", labels);
    json_object_object_add(o, "attributes", attrs);
    return o;
}

static json_object *to_json(const struct query *x) {
    json_object *o = json_object_new_object(), *list = json_object_new_array();
    cli_add_str(o, "schema", "heddle.query/1");
    cli_add_str(o, "model", x->path);
    cli_add_str(o, "selector", hd_query_text(x->a, x->q));
    for (int i = 0; i < x->items.items.n; i++)
        if (x->hit[i]) json_object_array_add(list, item_json(&x->items.items.item[i]));
    json_object_object_add(o, "operations", list);
    return o;
}

int cmd_query(struct cli *c) {
    struct query x = {.c = c, .a = hd_arena_create()};
    int status = query(&x) == HD_OK ? CLI_DONE : cli_fail(c);
    if (status == CLI_DONE && !cli_json_on_stdout(c)) print(&x, stdout);
    if (status == CLI_DONE && c->opt.json) status = cli_write_json(c, to_json(&x));
    hd_session_close(x.session);
    hd_model_destroy(x.model);
    hd_graph_destroy(x.graph);
    hd_graph_destroy(x.legal);
    hd_arena_destroy(x.a);
    return status;
}
