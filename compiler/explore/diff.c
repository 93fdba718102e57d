/* heddle diff A B: what moved between two runs (JSON or report pages), machines or models. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler/command/table.h"
#include "compiler/explore/explore.h"
#include "runtime/base/io.h"
#include "runtime/runtime.h"

struct side {
    enum { SIDE_RUN, SIDE_MODEL, SIDE_MACHINE } kind;
    const char *name;
    json_object *run;
    hd_model *model;
    struct hd_machine machine;
};

/* The JSON of a page (its key "run"), or of the file itself. */
static json_object *read_facts(const char *text) {
    const char *page = strstr(text, "id=\"data\">");
    json_object *o = json_tokener_parse(page ? page + strlen("id=\"data\">") : text), *run = NULL;
    if (o && json_object_object_get_ex(o, "run", &run)) {
        run = json_object_get(run);
        json_object_put(o);
        return run;
    }
    return o;
}

static hd_status open_side(struct hd_cmd *c, const char *name, struct side *out) {
    void *data;
    size_t bytes;
    bool file = access(name, R_OK) == 0;
    *out = (struct side){.kind = SIDE_MACHINE, .name = name};
    if (!file) return hd_machine_load(c->ctx, name, &out->machine);
    if (hd_is_hdl(name)) {
        out->kind = SIDE_MODEL;
        TRY(hd_model_load(c->ctx, name, &out->model));
        out->machine = out->model->machine;
        return HD_OK;
    }
    TRY(hd_file_read(c->ctx, name, &data, &bytes));
    const char *text = data;
    bool facts = text[strspn(text, " \t\r\n")] == '{' || text[0] == '<';
    if (facts) out->kind = SIDE_RUN, out->run = read_facts(text);
    free(data);
    if (!facts) return hd_machine_load(c->ctx, name, &out->machine);
    if (hd_json_list(out->run, "layers")) return HD_OK;
    return hd_fail(c->ctx, HD_INVALID,
                   "%s: no layers in it; want what heddle run --json or --report wrote, an .hdl "
                   "file, or a machine",
                   name);
}

/* ---- machines ------------------------------------------------------------------------------- */

static void put_number(struct hd_table *t, json_object *list, const char *what, double a,
                       double b) {
    if (a == b) return;
    hd_table_cell(t, "%s", what);
    hd_table_cell(t, "%.10g", a);
    hd_table_cell(t, "%.10g", b);
    if (a > 0)
        hd_table_cell(t, "%+.1f %%", 100 * (b / a - 1));
    else
        hd_table_cell(t, "%s", "");
    json_object *o = json_object_new_object();
    hd_json_str(o, "what", what);
    hd_json_num(o, "a", a);
    hd_json_num(o, "b", b);
    json_object_array_add(list, o);
}

static void diff_machines(const struct hd_machine *a, const struct hd_machine *b, FILE *out,
                          json_object *list) {
    struct hd_table t;
    struct hd_area x = hd_area_of(a, NULL, NULL), y = hd_area_of(b, NULL, NULL);
    hd_table_init(&t, "lrrr");
    hd_table_cells(&t, (const char *[]){"machine", a->name, b->name, ""}, 4);
    for (int i = 0; i < hd_n_machine_params; i++) {
        uint32_t v, w;
        memcpy(&v, (const char *)a + hd_machine_params[i].offset, sizeof v);
        memcpy(&w, (const char *)b + hd_machine_params[i].offset, sizeof w);
        put_number(&t, list, hd_machine_params[i].name, v, w);
    }
    put_number(&t, list, "LUT", x.lut, y.lut);
    put_number(&t, list, "FF", x.ff, y.ff);
    put_number(&t, list, "DSP", x.dsp, y.dsp);
    put_number(&t, list, "BRAM", x.bram, y.bram);
    put_number(&t, list, "URAM", x.uram, y.uram);
    hd_table_print(&t, out);
}

/* ---- runs ----------------------------------------------------------------------------------- */

struct moved {
    const char *name;
    json_object *a, *b; /* NULL = it is only in the other */
    double by;          /* cycles */
};

static int by_size(const void *x, const void *y) {
    double a = fabs(((const struct moved *)x)->by), b = fabs(((const struct moved *)y)->by);
    return (a < b) - (a > b);
}

/* Layers of both, in their order; not those that took the same, unless all are wanted. */
static size_t find_layers(hd_arena *a, json_object *x, json_object *y, bool all,
                          struct moved **out) {
    json_object *layers[2] = {hd_json_list(x, "layers"), hd_json_list(y, "layers")};
    size_t n = 0, most = hd_json_items(layers[0]) + hd_json_items(layers[1]);
    struct moved *list = hd_new_array(a, struct moved, most + 1);
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < hd_json_items(layers[side]); i++) {
            json_object *l = json_object_array_get_idx(layers[side], i);
            const char *name = hd_json_text(l, "name");
            json_object *other = hd_json_named(side ? x : y, "layers", name);
            if (side && other) continue;
            struct moved m = {name, side ? other : l, side ? l : other, 0};
            m.by = hd_json_number(m.b, "cycles") - hd_json_number(m.a, "cycles");
            if (all || m.by != 0 || !m.a || !m.b) list[n++] = m;
        }
    *out = list;
    return n;
}

/* What changed along with the cycles of a layer. */
static const char *why_moved(hd_arena *a, const struct moved *m) {
    static const char *const keys[][2] = {
        {"dram_bytes", "DRAM bytes"}, {"macs", "MACs"}, {"roofline_cycles", "roofline"}};
    const char *why = "", *x = hd_json_text(m->a, "bound"), *y = hd_json_text(m->b, "bound");
    if (!m->a || !m->b) return m->a ? "only in the first" : "only in the second";
    if (strcmp(x, y)) why = hd_sprintf(a, "bound %s, was %s", y, x);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        double p = hd_json_number(m->a, keys[i][0]), q = hd_json_number(m->b, keys[i][0]);
        if (fabs(q - p) <= 0.02 * fmax(p, q)) continue;
        why = p > 0 ? hd_sprintf(a, "%s%s%s %+.0f %%", why, *why ? ", " : "", keys[i][1],
                                 100 * (q / p - 1))
                    : hd_sprintf(a, "%s%s%s %.0f, were 0", why, *why ? ", " : "", keys[i][1], q);
    }
    return *why ? why : "waits (order of its neighbours)";
}

static void diff_runs(hd_arena *a, const struct side *s, FILE *out, json_object *list) {
    struct hd_table t;
    struct moved *moved;
    size_t n = find_layers(a, s[0].run, s[1].run, false, &moved);
    qsort(moved, n, sizeof *moved, by_size);
    double x = hd_json_number(s[0].run, "cycles"), y = hd_json_number(s[1].run, "cycles");
    fprintf(out, "cycles %.0f, then %.0f: %+.2f %%\n\n", x, y, x > 0 ? 100 * (y / x - 1) : 0);
    hd_table_init(&t, "lrrrl");
    hd_table_cells(&t, (const char *[]){"layer", "cycles", "then", "by", "along with"}, 5);
    for (size_t i = 0; i < n; i++) {
        const char *why = why_moved(a, &moved[i]);
        hd_table_cell(&t, "%s", moved[i].name);
        hd_table_cell(&t, "%.0f", hd_json_number(moved[i].a, "cycles"));
        hd_table_cell(&t, "%.0f", hd_json_number(moved[i].b, "cycles"));
        hd_table_cell(&t, "%+.0f", moved[i].by);
        hd_table_cell(&t, "%s", why);
        json_object *o = json_object_new_object();
        hd_json_str(o, "layer", moved[i].name);
        hd_json_num(o, "a", hd_json_number(moved[i].a, "cycles"));
        hd_json_num(o, "b", hd_json_number(moved[i].b, "cycles"));
        hd_json_str(o, "why", why);
        json_object_array_add(list, o);
    }
    hd_table_print(&t, out);
    if (!n) fprintf(out, "no layer moved\n");
}

/* ---- models --------------------------------------------------------------------------------- */

static void diff_models(const struct side *s, FILE *out, json_object *list) {
    const hd_model *a = s[0].model, *b = s[1].model;
    struct hd_table t;
    struct hd_work x = hd_work_of(a), y = hd_work_of(b);
    diff_machines(&a->machine, &b->machine, out, list);
    hd_table_init(&t, "lrrr");
    hd_table_cells(&t, (const char *[]){"programs", "", "then", ""}, 4);
    put_number(&t, list, "image bytes", (double)a->image_bytes, (double)b->image_bytes);
    put_number(&t, list, "DRAM bytes", x.dram, y.dram);
    put_number(&t, list, "MACs of the array", x.macs, y.macs);
    put_number(&t, list, "iterations of lanes", x.lanes, y.lanes);
    hd_table_print(&t, out);
    hd_table_init(&t, "lll");
    hd_table_cells(&t, (const char *[]){"layer", "plan", "then"}, 3);
    for (int i = 0; i < a->n_layers; i++) {
        int k = 0;
        while (k < b->n_layers && strcmp(a->layers[i].name, b->layers[k].name)) k++;
        const char *then = k < b->n_layers ? b->layers[k].plan : "not on the machine";
        if (strcmp(a->layers[i].plan, then))
            hd_table_cells(&t, (const char *[]){a->layers[i].name, a->layers[i].plan, then}, 3);
    }
    hd_table_print(&t, out);
}

/* ---- the page ------------------------------------------------------------------------------- */

static hd_status write_page(struct hd_cmd *c, hd_arena *a, const struct side *s,
                            json_object *rows) {
    json_object *o = json_object_new_object(), *layers = json_object_new_array();
    struct moved *list;
    bool runs = s[0].kind == SIDE_RUN;
    size_t n = runs ? find_layers(a, s[0].run, s[1].run, true, &list) : 0;
    double x = runs ? hd_json_number(s[0].run, "cycles") : 0,
           y = runs ? hd_json_number(s[1].run, "cycles") : 0;
    hd_json_str(o, "title", hd_sprintf(a, "%s, then %s", s[0].name, s[1].name));
    hd_json_str(o, "subtitle",
                x > 0 ? hd_sprintf(a, "cycles %.0f, then %.0f: %+.2f %%", x, y, 100 * (y / x - 1))
                      : "what differs");
    hd_json_str(o, "a", s[0].name);
    hd_json_str(o, "b", s[1].name);
    json_object_object_add(o, "rows", json_object_get(rows));
    for (size_t i = 0; i < n; i++) {
        json_object *l = json_object_new_object();
        bool same = list[i].a && list[i].b && list[i].by == 0;
        hd_json_str(l, "name", list[i].name);
        hd_json_str(l, "why", same ? "" : why_moved(a, &list[i]));
        json_object_object_add(l, "A", json_object_get(list[i].a));
        json_object_object_add(l, "B", json_object_get(list[i].b));
        json_object_array_add(layers, l);
    }
    json_object_object_add(o, "layers", layers);
    return hd_diff_page(c, o, c->opt.report);
}

int hd_diff(struct hd_cmd *c) {
    struct side s[2] = {{0}, {0}};
    hd_arena *a = hd_arena_create();
    FILE *out = hd_cmd_json_on_stdout(c) ? stderr : stdout;
    hd_status ok = open_side(c, c->args[0], &s[0]);
    if (ok == HD_OK) ok = open_side(c, c->args[1], &s[1]);
    if (ok == HD_OK && s[0].kind != s[1].kind)
        ok = hd_fail(c->ctx, HD_INVALID,
                     "%s and %s are not of a kind: want two runs (JSON or page), two .hdl files, "
                     "or two machines",
                     c->args[0], c->args[1]);
    json_object *o = json_object_new_object(), *list = json_object_new_array();
    hd_json_str(o, "schema", "heddle.diff/1");
    json_object_object_add(o, "moved", list);
    if (ok == HD_OK && s[0].kind == SIDE_RUN) diff_runs(a, s, out, list);
    if (ok == HD_OK && s[0].kind == SIDE_MODEL) diff_models(s, out, list);
    if (ok == HD_OK && s[0].kind == SIDE_MACHINE)
        diff_machines(&s[0].machine, &s[1].machine, out, list);
    if (ok == HD_OK && c->opt.report) ok = write_page(c, a, s, list);
    int status = ok == HD_OK ? HD_EXIT_DONE : hd_cmd_fail(c);
    if (ok == HD_OK && c->opt.json)
        status = hd_cmd_write_json(c, o);
    else
        json_object_put(o);
    for (int i = 0; i < 2; i++) {
        json_object_put(s[i].run);
        if (s[i].model) hd_model_destroy(s[i].model);
    }
    hd_arena_destroy(a);
    return status;
}
