/* heddle advise MODEL: where the network and the machine do not fit each other. Shapes that would
 * fill the words of the array, priced by the compiler's plan of the layer alone; parameters by its
 * plans of the network. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "compiler/command/table.h"
#include "compiler/explore/explore.h"
#include "compiler/session/session.h"
#include "runtime/base/num.h"

static const double COSTLY = 0.01; /* share of a layer's cycles from which it is spoken of */

/* A product of the network: positions * taps * cin * cout, in words of K and N. */
struct product {
    const char *name;
    int64_t positions, taps, cin, cout;
    const hd_graph *g;
    const struct hd_node *node;
};

static bool product_of(const hd_graph *g, const struct hd_node *n, struct product *out) {
    if (n->dead || n->op != HD_IR_qconv || n->n_in < 2 || n->in[1] < 0) return false;
    const struct hd_tensor *w = &g->tensors[n->in[1]], *y = &g->tensors[n->out[0]];
    if (hd_attr_int(n, "group", 1) != 1 || w->rank < 3) return false;
    *out = (struct product){n->name, 1, 1, w->dim[1], w->dim[0], g, n};
    for (int d = 2; d < w->rank; d++) out->taps *= w->dim[d];
    for (int d = 2; d < y->rank; d++) out->positions *= y->dim[d];
    return true;
}

/* Cycles of the array. Few channels are taken side by side along a row of the window. */
static double array_cycles(const struct product *p, const struct hd_machine *m) {
    int64_t side = (int64_t)(sqrt((double)p->taps) + 0.5);
    int64_t words = p->taps * hd_ceil_div(p->cin, m->k);
    if (side * side == p->taps) words = hd_min(words, side * hd_ceil_div(side * p->cin, m->k));
    return (double)(p->positions * words * hd_ceil_div(p->cout, m->n));
}

static void copy_attrs(const struct hd_node *from, hd_graph *g, int node) {
    for (int i = 0; i < from->n_attrs; i++) {
        const struct hd_attr *t = &from->attrs[i];
        if (t->kind == HD_ATTR_INT) hd_attr_set_int(g, node, t->name, t->i);
        if (t->kind == HD_ATTR_FLOAT) hd_attr_set_float(g, node, t->name, t->f);
        if (t->kind == HD_ATTR_INTS) hd_attr_set_ints(g, node, t->name, t->n, t->ints);
        if (t->kind == HD_ATTR_FLOATS) hd_attr_set_floats(g, node, t->name, t->n, t->floats);
        if (t->kind == HD_ATTR_STRING) hd_attr_set_string(g, node, t->name, t->s);
    }
}

/* The layer as a network of its own, with p's channels. */
static hd_graph *alone(hd_arena *a, const struct product *p) {
    const struct hd_tensor *of[4];
    hd_graph *g = hd_graph_create();
    int64_t x[HD_MAX_RANK], w[HD_MAX_RANK], n = p->cin * p->cout * p->taps;
    for (int i = 0; i < 4; i++) of[i] = &p->g->tensors[p->node->in[i]];
    memcpy(x, of[0]->dim, sizeof x);
    memcpy(w, of[1]->dim, sizeof w);
    x[1] = w[1] = p->cin, w[0] = p->cout;
    int64_t scales = hd_tensor_elems(of[3]) == 1 ? 1 : p->cout;
    int8_t *weights = hd_new_array(a, int8_t, (size_t)n);
    int32_t *bias = hd_new_array(a, int32_t, (size_t)p->cout);
    float *scale = hd_new_array(a, float, (size_t)scales);
    for (int64_t i = 0; i < n; i++) weights[i] = (int8_t)(i * 37 % 251 - 125);
    memset(bias, 0, (size_t)p->cout * sizeof *bias);
    for (int64_t i = 0; i < scales; i++) scale[i] = 1.0f / 1024;
    int in[4], y = hd_graph_tensor(g, "y", HD_I8, 0, NULL);
    in[0] = hd_graph_tensor(g, "x", of[0]->dtype, of[0]->rank, x);
    in[1] = hd_graph_const(g, "w", of[1]->dtype, of[1]->rank, w, weights);
    in[2] = hd_graph_const(g, "bias", HD_I32, 1, &p->cout, bias);
    in[3] = hd_graph_const(g, "scale", HD_F32, 1, &scales, scale);
    copy_attrs(p->node, g, hd_graph_node(g, HD_IR_qconv, "layer", 4, in, 1, &y));
    hd_graph_input(g, in[0]);
    hd_graph_output(g, y);
    return g;
}

/* Cycles of the compiler's plan of the layer alone; 0: it has none. */
static double plan_cycles(hd_arena *a, const struct product *p, const struct hd_machine *m,
                          uint32_t latency) {
    const struct hd_compile_options opt = {
        .machine = *m, .mem_latency = latency, .latency_hiding = true};
    hd_ctx *ctx = hd_ctx_create();
    hd_graph *g = alone(a, p);
    hd_model *model = NULL;
    double cycles = 0;
    hd_status ok = hd_graph_infer(ctx, g);
    if (ok == HD_OK) ok = hd_lower(ctx, g, &opt, &model);
    for (int i = 0; ok == HD_OK && !model->n_host_ops && i < model->n_steps; i++)
        cycles += (double)model->steps[i].estimate;
    hd_model_destroy(model);
    hd_graph_destroy(g);
    hd_ctx_destroy(ctx);
    return cycles;
}

/* What the array's rule of padding points at, where the plan agrees. */
static void put_shape(hd_arena *a, const struct product *p, const struct hd_machine *m,
                      uint32_t latency, const char **out) {
    double padded = array_cycles(p, m), now = 0;
    const struct {
        const char *what;
        int64_t cin, cout;
    } tries[] = {{"output", p->cin, hd_ceil_div(p->cout, m->n) * m->n},
                 {"output", p->cin, p->cout / m->n * m->n},
                 {"input", hd_ceil_div(p->cin, m->k) * m->k, p->cout},
                 {"input", p->cin / m->k * m->k, p->cout}};
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
        struct product q = *p;
        q.cin = tries[i].cin, q.cout = tries[i].cout;
        if (q.cin < 1 || q.cout < 1 || (q.cin == p->cin && q.cout == p->cout)) continue;
        bool more = q.cin > p->cin || q.cout > p->cout;
        if (array_cycles(&q, m) > padded * (more ? 1.001 : 0.95)) continue;
        if (now <= 0) now = plan_cycles(a, p, m, latency);
        double then = plan_cycles(a, &q, m, latency),
               work = (double)(q.cin * q.cout) / (double)(p->cin * p->cout);
        if (now <= 0 || then <= 0 || then > now * (more ? (1 + work) / 2 : 0.95)) continue;
        int64_t from = q.cin != p->cin ? p->cin : p->cout, to = q.cin != p->cin ? q.cin : q.cout;
        *out = hd_sprintf(a, "%s%s%lld to %lld %s channels: %+.0f %% time, %+.0f %% products", *out,
                          **out ? "; " : "", (long long)from, (long long)to, tries[i].what,
                          100 * (then / now - 1), 100 * (work - 1));
    }
}

static void advise_shapes(hd_arena *a, const struct hd_net *net, const struct hd_machine *m,
                          uint32_t latency, json_object *run, FILE *out, json_object *list) {
    struct hd_table t;
    double all = hd_json_number(run, "cycles");
    int n = 0;
    hd_table_init(&t, "lrrrl");
    hd_table_cells(&t, (const char *[]){"layer", "cycles", "of all", "array filled", "shapes"}, 5);
    for (size_t i = 0; i < net->legal->n_nodes; i++) {
        struct product p;
        const char *text = "";
        if (!product_of(net->legal, &net->legal->nodes[i], &p)) continue;
        double cycles = hd_json_number(hd_json_named(run, "layers", p.name), "cycles");
        double ideal = (double)(p.positions * p.taps * p.cin * p.cout) / (m->k * (double)m->n);
        if (cycles < COSTLY * all) continue;
        put_shape(a, &p, m, latency, &text);
        if (!*text) continue;
        hd_table_cell(&t, "%s", p.name);
        hd_table_cell(&t, "%.0f", cycles);
        hd_table_cell(&t, "%.1f %%", 100 * cycles / all);
        hd_table_cell(&t, "%.0f %%", 100 * ideal / array_cycles(&p, m));
        hd_table_cell(&t, "%s", text);
        json_object *o = json_object_new_object();
        hd_json_str(o, "layer", p.name);
        hd_json_num(o, "cycles", cycles);
        hd_json_str(o, "shapes", text);
        json_object_array_add(list, o);
        n++;
    }
    hd_table_print(&t, out);
    if (!n) fprintf(out, "no costly convolution has channels nearby that would pay\n");
}

/* ---- parameters ----------------------------------------------------------------------------- */

static void none(void *user, struct hd_point *p) {
    (void)user, (void)p;
}

/* The machine, then each parameter twice as large; one that is 0 or 1 the other way. */
static size_t neighbours(struct hd_cmd *c, const struct hd_machine *m, struct hd_point *out) {
    size_t n = 0;
    out[n++].m = *m;
    for (int i = 0; i < hd_n_machine_params; i++) {
        uint32_t v;
        struct hd_point *p = &out[n];
        p->m = *m;
        if (!hd_machine_params[i].fingerprint) continue;
        memcpy(&v, (const char *)m + hd_machine_params[i].offset, sizeof v);
        v = hd_machine_params[i].max == 1 ? !v : v * 2;
        memcpy((char *)&p->m + hd_machine_params[i].offset, &v, sizeof v);
        snprintf(p->m.name, sizeof p->m.name, "%.20s=%u", hd_machine_params[i].name, v);
        n += hd_machine_check(c->ctx, &p->m) == HD_OK;
        hd_clear(c->ctx);
    }
    for (size_t i = 0; i < n; i++) out[i].area = hd_area_of(&out[i].m, NULL, NULL);
    return n;
}

static int by_gain(const void *x, const void *y) {
    const struct hd_point *a = *(struct hd_point *const *)x, *b = *(struct hd_point *const *)y;
    return (a->value[0] > b->value[0]) - (a->value[0] < b->value[0]);
}

/* Gives the time of a run on the machine as it is, in seconds. */
static double advise_parameters(struct hd_cmd *c, hd_arena *a, const struct hd_nets *nets,
                                const struct hd_machine *m, FILE *out, json_object *list) {
    struct hd_point *points = hd_new_array(a, struct hd_point, (size_t)hd_n_machine_params + 2);
    struct hd_point **order = hd_new_array(a, struct hd_point *, (size_t)hd_n_machine_params + 2);
    size_t n = neighbours(c, m, points);
    for (size_t i = 0; i < n; i++) {
        points[i].net = hd_new_array(a, struct hd_priced, (size_t)nets->n);
        order[i] = &points[i];
    }
    struct hd_work_list w = {.c = c,
                             .nets = nets,
                             .jobs = c->opt.explore.jobs ? c->opt.explore.jobs : 2,
                             .points = order,
                             .n = n,
                             .done = none};
    hd_work_all(&w);
    struct hd_table t;
    hd_table_init(&t, "lrrrrr");
    hd_table_cells(&t, (const char *[]){"parameter", "time", "LUT", "DSP", "BRAM", "URAM"}, 6);
    double now = hd_point_seconds(&points[0], nets);
    for (size_t i = 0; i < n; i++)
        points[i].value[0] =
            points[i].net[0].why[0] ? INFINITY : hd_point_seconds(&points[i], nets);
    qsort(order, n, sizeof *order, by_gain);
    for (size_t i = 0; i < n; i++) {
        const struct hd_point *p = order[i];
        if (p == &points[0] || !p->priced) continue;
        hd_table_cell(&t, "%s", p->m.name);
        hd_table_cell(&t, "%+.1f %%", 100 * (p->value[0] / now - 1));
        hd_table_cell(&t, "%+.0f", p->area.lut - points[0].area.lut);
        hd_table_cell(&t, "%+.0f", p->area.dsp - points[0].area.dsp);
        hd_table_cell(&t, "%+g", p->area.bram - points[0].area.bram);
        hd_table_cell(&t, "%+g", p->area.uram - points[0].area.uram);
        json_object *o = json_object_new_object();
        hd_json_str(o, "parameter", p->m.name);
        hd_json_num(o, "time", isfinite(p->value[0]) ? p->value[0] / now - 1 : 0);
        hd_json_num(o, "lut", p->area.lut - points[0].area.lut);
        json_object_array_add(list, o);
    }
    fputc('\n', out);
    hd_table_print(&t, out);
    double host = (double)points[0].net[0].host_ns * 1e-9;
    fprintf(out,
            "\nthe host takes about %.1f %% of the time: heddle compile says for what, and why\n",
            100 * host / now);
    return now;
}

/* ---- quantisation --------------------------------------------------------------------------- */

/* What floats cost: those of a network as it is written, against its integers; or those that are
 * left in a network of integers. quantised: seconds of that, 0 = it has integers already. */
static hd_status advise_integers(struct hd_cmd *c, hd_arena *a, double quantised, FILE *out,
                                 json_object *o) {
    hd_model *m = NULL;
    const char *path;
    double seconds = 0, floats = 0;
    int n = 0;
    TRY(hd_model_path(c, a, c->args[0], &path));
    TRY(hd_open_model(c, path, false, &m));
    for (int i = 0; i < m->n_steps; i++)
        seconds += (double)m->steps[i].estimate * 1e-6 / m->machine.clock_mhz;
    for (int i = 0; i < m->n_host_ops; i++) {
        const struct hd_host_op *h = &m->host_ops[i];
        bool border = !strcmp(h->op, "quantize") || !strcmp(h->op, "dequantize");
        bool is_float = !border && strstr(h->hint, "heddle quantize");
        seconds += (double)h->ns * 1e-9;
        floats += is_float ? (double)h->ns * 1e-9 : 0;
        n += is_float;
    }
    hd_model_destroy(m);
    if (quantised > 0)
        fprintf(out,
                "as it is written, a run takes about %.4g ms, mostly on the host; heddle quantize "
                "makes it %.4g ms\n",
                1e3 * seconds, 1e3 * quantised);
    else if (n)
        fprintf(out,
                "float operations on the host: %d, %.1f %% of the time; heddle quantize gives "
                "integers to those that have an integer form\n",
                n, 100 * floats / seconds);
    else
        fprintf(out, "no operation is left that heddle quantize would bring to the machine\n");
    json_object *j = json_object_new_object();
    hd_json_num(j, "as_written_ms", 1e3 * seconds);
    json_object_object_add(j, "quantised_ms",
                           quantised > 0 ? json_object_new_double(1e3 * quantised) : NULL);
    hd_json_int(j, "float_operations", n);
    hd_json_num(j, "float_ms", 1e3 * floats);
    json_object_object_add(o, "quantisation", j);
    return HD_OK;
}

static hd_status advise(struct hd_cmd *c, hd_arena *a, const char *folder, struct hd_nets *nets,
                        json_object *o) {
    struct hd_machine m;
    FILE *out = hd_cmd_json_on_stdout(c) ? stderr : stdout;
    json_object *shapes = json_object_new_array(), *params = json_object_new_array();
    json_object_object_add(o, "shapes", shapes);
    json_object_object_add(o, "parameters", params);
    TRY(hd_cmd_machine(c, &m));
    TRY(hd_nets_open(c, a, folder, nets));
    const char *facts = hd_sprintf(a, "%s/run.json", folder);
    TRY(hd_confirm(c, &nets->of[0], &m, "iss", facts));
    json_object *run = json_object_from_file(facts);
    advise_shapes(a, &nets->of[0], &m, c->opt.mem.latency, run, out, shapes);
    json_object_put(run);
    remove(facts);
    double now = advise_parameters(c, a, nets, &m, out, params);
    const char *as_written;
    TRY(hd_model_path(c, a, c->args[0], &as_written));
    return advise_integers(c, a, strcmp(as_written, nets->of[0].path) ? now : 0, out, o);
}

int hd_advise(struct hd_cmd *c) {
    struct hd_nets nets = {.n = 0};
    hd_arena *a = hd_arena_create();
    const char *folder = NULL;
    json_object *o = json_object_new_object();
    hd_json_str(o, "schema", "heddle.advise/1");
    hd_status s = hd_cmd_temp_folder(c, a, &folder);
    if (s == HD_OK) s = advise(c, a, folder, &nets, o);
    hd_cmd_progress_end(c);
    int status = s == HD_OK ? HD_EXIT_DONE : hd_cmd_fail(c);
    if (s == HD_OK && c->opt.json)
        status = hd_cmd_write_json(c, o);
    else
        json_object_put(o);
    if (nets.n) remove(hd_sprintf(a, "%s/%s.int8.onnx", folder, nets.of[0].name));
    if (folder) remove(folder);
    hd_nets_close(&nets);
    hd_arena_destroy(a);
    return status;
}
