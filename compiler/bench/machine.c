/* heddle bench machine, resnet18-layers, resnet50-layers, first-layer, gemm, matvec, depthwise,
 * lstm, encoder, deepbench: single layers against their rooflines and against what is asked of them
 * (bench_layers.def).
 *
 * Each layer is a network of one int8 node with weights and input from --seed, compiled with and
 * without latency hiding. Cycles run from start to done, so fill and drain count.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler/bench/bench.h"
#include "compiler/bench/graph.h"
#include "compiler/command/table.h"
#include "compiler/report/report.h"

struct bench_layer {
    const char *set, *name;
    int64_t c, h, w, oc; /* GEMM: c = k, h = 1, w = m, oc = n; LSTM: c inputs, w steps, oc units;
                            ENCODER: w positions of c, oc wide in the middle, h heads */
    int kernel, stride, pad, groups;
    enum { CONVOLUTION, PRODUCT, RECURRENT, ENCODING } kind;
    uint32_t latency;
    double bar, aim;
};

static const struct bench_layer layers[] = {
#define CONV(set, name, c, h, w, oc, kernel, stride, pad, groups, latency, bar, aim)               \
    {#set, name, c, h, w, oc, kernel, stride, pad, groups, CONVOLUTION, latency, bar, aim},
#define GEMM(set, name, m, k, n, latency, bar, aim)                                                \
    {#set, name, k, 1, m, n, 1, 1, 0, 1, PRODUCT, latency, bar, aim},
#define LSTM(set, name, inputs, units, steps, latency, bar, aim)                                   \
    {#set, name, inputs, 1, steps, units, 1, 1, 0, 1, RECURRENT, latency, bar, aim},
#define ENCODER(set, name, seq, dim, heads, hidden, latency, bar, aim)                             \
    {#set, name, dim, heads, seq, hidden, 1, 1, 0, 1, ENCODING, latency, bar, aim},
#include "compiler/bench/layers.def"
};
enum { N_LAYERS = sizeof layers / sizeof layers[0] };

enum net_measure { EFFICIENCY, UTILIZATION, MEGACYCLES };
static const struct bench_net {
    const char *name, *folder, *how; /* how: to make it */
    enum net_measure measure; /* percent of the roofline, of the array, or millions of cycles */
    double bar, aim;
} nets[] = {
#define NET(name, folder, how, measure, bar, aim) {name, folder, how, measure, bar, aim},
#include "compiler/bench/layers.def"
};
enum { N_NETS = sizeof nets / sizeof nets[0] };

uint32_t hd_bench_random(uint64_t *state) { /* splitmix64 */
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)(z >> 32);
}

int8_t *hd_bench_bytes(hd_arena *a, int64_t n, uint64_t *seed) {
    int8_t *v = hd_alloc(a, (size_t)n);
    for (int64_t i = 0; i < n; i++) v[i] = (int8_t)hd_bench_random(seed);
    return v;
}

/* A graph of one qlstm node; scales that keep the gates where they are not flat. */
static hd_graph *build_lstm(const struct bench_layer *b, hd_arena *a, uint64_t seed) {
    hd_graph *g = hd_graph_create();
    int64_t gates = 4 * b->oc, both = 2 * gates;
    int64_t xd[3] = {b->w, 1, b->c}, wd[3] = {1, gates, b->c}, rd[3] = {1, gates, b->oc};
    int64_t pd[3] = {1, 2, gates};
    int32_t *bias = hd_new_array(a, int32_t, (size_t)both);
    float *scale = hd_new_array(a, float, (size_t)both);
    for (int64_t i = 0; i < both; i++) {
        bias[i] = (int32_t)(hd_bench_random(&seed) % 2001) - 1000;
        scale[i] = 1.0f / (float)(32 * (i < gates ? b->c : b->oc));
    }
    int in[5], y = hd_graph_tensor(g, "y", HD_I8, 0, NULL);
    in[0] = hd_graph_tensor(g, "x", HD_I8, 3, xd);
    in[1] = hd_graph_const(g, "w", HD_I8, 3, wd, hd_bench_bytes(a, gates * b->c, &seed));
    in[2] = hd_graph_const(g, "r", HD_I8, 3, rd, hd_bench_bytes(a, gates * b->oc, &seed));
    in[3] = hd_graph_const(g, "bias", HD_I32, 3, pd, bias);
    in[4] = hd_graph_const(g, "scale", HD_F32, 3, pd, scale);
    int n = hd_graph_node(g, HD_IR_qlstm, "layer", 5, in, 1, &y);
    hd_attr_set_float(g, n, "scale", 127);
    hd_graph_input(g, in[0]);
    hd_graph_output(g, y);
    return g;
}

/* A graph of one qconv or qgemm node, int8, scales that keep the results in range. */
static hd_graph *build(const struct bench_layer *b, hd_arena *a, uint64_t seed) {
    if (b->kind == RECURRENT) return build_lstm(b, a, seed);
    if (b->kind == ENCODING) return hd_bench_encoder(a, b->w, b->c, b->h, b->oc, seed);
    bool gemm = b->kind == PRODUCT;
    hd_graph *g = hd_graph_create();
    int64_t in_group = b->c / b->groups, taps = in_group * b->kernel * b->kernel;
    int64_t xd[4] = {1, b->c, b->h, b->w}, wd[4] = {b->oc, in_group, b->kernel, b->kernel};
    int64_t one = 1;
    if (gemm) xd[0] = b->w, xd[1] = b->c;
    int8_t *w = hd_bench_bytes(a, b->oc * taps, &seed);
    int32_t *bias = hd_new_array(a, int32_t, (size_t)b->oc);
    for (int64_t i = 0; i < b->oc; i++) bias[i] = (int32_t)(hd_bench_random(&seed) % 2001) - 1000;
    float scale = 1.0f / (float)(64 * taps);
    int in[4], y = hd_graph_tensor(g, "y", HD_I8, 0, NULL);
    in[0] = hd_graph_tensor(g, "x", HD_I8, gemm ? 2 : 4, xd);
    in[1] = hd_graph_const(g, "w", HD_I8, gemm ? 2 : 4, wd, w);
    in[2] = hd_graph_const(g, "bias", HD_I32, 1, &b->oc, bias);
    in[3] = hd_graph_const(g, "scale", HD_F32, 1, &one, &scale);
    int n = hd_graph_node(g, gemm ? HD_IR_qgemm : HD_IR_qconv, "layer", 4, in, 1, &y);
    if (!gemm) {
        int64_t k[2] = {b->kernel, b->kernel}, s[2] = {b->stride, b->stride};
        int64_t p[4] = {b->pad, b->pad, b->pad, b->pad};
        hd_attr_set_ints(g, n, "kernel_shape", 2, k);
        hd_attr_set_ints(g, n, "strides", 2, s);
        hd_attr_set_ints(g, n, "pads", 4, p);
        hd_attr_set_int(g, n, "group", b->groups);
    }
    hd_graph_input(g, in[0]);
    hd_graph_output(g, y);
    return g;
}

hd_graph *hd_bench_layer(hd_arena *a, const char *name, uint64_t seed) {
    for (int i = 0; i < N_LAYERS; i++)
        if (!strcmp(layers[i].name, name)) return build(&layers[i], a, seed);
    HD_ASSERT(!"a layer of bench_layers.def");
    return NULL;
}

struct measured {
    double compile_seconds;
    struct hd_counters counters;
    int64_t cycles, estimate, macs, roofline, compute, read, write, code;
    int64_t lost; /* cycles to fetch and issue */
};

/* One run of a compiled model. */
static hd_status run_once(struct hd_cmd *c, hd_arena *a, const hd_model *m, const char *path,
                          struct measured *out) {
    hd_session *s = NULL;
    struct hd_counters k = {0};
    const void **in;
    const char *what;
    hd_status ok = hd_open_session(c, m, c->opt.device, &s);
    if (ok == HD_OK) ok = hd_cmd_inputs(c, a, m, path, &in, &what);
    if (ok == HD_OK) ok = hd_session_run(c->ctx, s, in, hd_output_buffers(a, m));
    if (ok == HD_OK) ok = hd_session_counters(c->ctx, s, &k);
    if (ok == HD_OK) {
        struct hd_run_facts r = {.model = m, .counters = k, .has_cycles = true};
        struct hd_totals sum = hd_run_totals(c, &r);
        *out = (struct measured){.compile_seconds = m->compile_seconds,
                                 .counters = k,
                                 .cycles = (int64_t)k.cycles,
                                 .macs = sum.macs,
                                 .roofline = sum.roofline_cycles,
                                 .read = (int64_t)k.read_bytes,
                                 .write = (int64_t)k.write_bytes,
                                 .code = (int64_t)k.code_bytes};
        out->compute = out->macs / ((int64_t)m->machine.k * m->machine.n);
        for (int i = 0; i < m->n_steps; i++) out->estimate += m->steps[i].estimate;
    }
    hd_session_close(s);
    return ok;
}

/* The same, and once more with issue for nothing, for what it costs. */
static hd_status run_model(struct hd_cmd *c, hd_arena *a, const hd_model *m, const char *path,
                           struct measured *out) {
    struct measured ideal;
    TRY(run_once(c, a, m, path, out));
    if (strcmp(c->opt.device, "iss")) return HD_OK; /* no other device can */
    c->free_issue = true;
    hd_status ok = run_once(c, a, m, path, &ideal);
    c->free_issue = false;
    if (ok == HD_OK) out->lost = out->cycles - ideal.cycles;
    return ok;
}

static hd_status measure(struct hd_cmd *c, hd_arena *a, const struct bench_layer *b, bool hiding,
                         struct measured *out) {
    struct hd_machine machine;
    hd_model *m = NULL;
    TRY(hd_cmd_machine(c, &machine));
    struct hd_compile_options opt = {
        .machine = machine, .latency_hiding = hiding, .mem_latency = c->opt.mem.latency};
    if (!opt.mem_latency) opt.mem_latency = b->latency;
    hd_graph *g = build(b, a, c->opt.seed);
    hd_status ok = hd_graph_infer(c->ctx, g);
    if (ok == HD_OK) ok = hd_lower(c->ctx, g, &opt, &m);
    if (ok == HD_OK && m->n_host_ops)
        ok = hd_fail(c->ctx, HD_UNSUPPORTED, "the machine does not take this layer: %s",
                     m->host_ops[0].reason);
    struct hd_mem_options mem = c->opt.mem;
    if (!c->opt.mem.latency) c->opt.mem.latency = b->latency;
    if (ok == HD_OK) ok = run_model(c, a, m, "", out);
    c->opt.mem = mem;
    hd_model_destroy(m);
    hd_graph_destroy(g);
    return ok;
}

/* What bar and aim are about, in percent. */
static double reached(const struct bench_layer *b, const struct measured *m, bool *out_compute) {
    *out_compute = m->compute * 100 >= m->roofline * 99 || !strcmp(b->set, "depthwise");
    return 100 * (double)(*out_compute ? m->compute : m->roofline) / (double)m->cycles;
}

static void add_row(const struct bench_layer *b, const struct measured *m,
                    const struct measured *apart, uint32_t clock_mhz, struct hd_table *t,
                    json_object *list) {
    bool compute;
    double got = reached(b, m, &compute);
    hd_table_cell(t, "%s", b->set);
    hd_table_cell(t, "%s", b->name);
    hd_table_cell(t, "%u", b->latency);
    hd_table_cell(t, "%lld", (long long)m->cycles);
    hd_table_cell(t, "%+.2f %%", 100.0 * (double)(m->estimate - m->cycles) / (double)m->cycles);
    hd_table_cell(t, "%lld", (long long)m->roofline);
    hd_table_cell(t, "%s", compute ? "MAC" : "memory");
    hd_table_cell(t, "%.2f %%", got);
    if (b->bar > 0) {
        hd_table_cell(t, "%g %%", b->bar);
        hd_table_cell(t, "%g %%", b->aim);
        hd_table_cell(t, "%s", got >= b->aim ? "aim" : got >= b->bar ? "bar" : "MISSED");
    } else {
        hd_table_cells(t, (const char *[]){"", "", ""}, 3);
    }
    hd_table_cell(t, "%lld", (long long)apart->cycles);
    json_object *o = json_object_new_object();
    hd_json_str(o, "set", b->set);
    hd_json_str(o, "layer", b->name);
    hd_json_int(o, "mem_latency", b->latency);
    hd_json_int(o, "cycles", m->cycles);
    hd_json_int(o, "estimated_cycles", m->estimate);
    hd_json_int(o, "no_latency_hiding_cycles", apart->cycles);
    hd_json_int(o, "macs", m->macs);
    hd_json_int(o, "roofline_cycles", m->roofline);
    hd_json_num(o, "mac_utilization", (double)m->compute / (double)m->cycles);
    hd_json_num(o, "efficiency", (double)m->roofline / (double)m->cycles);
    hd_json_str(o, "bound", compute ? "compute" : "memory");
    hd_json_num(o, "reached_percent", got);
    if (b->bar > 0) {
        hd_json_num(o, "bar_percent", b->bar);
        hd_json_num(o, "aim_percent", b->aim);
    }
    hd_json_num(o, "ms", (double)m->cycles * 1e-3 / clock_mhz);
    hd_json_int(o, "read_bytes", m->read);
    hd_json_int(o, "write_bytes", m->write);
    hd_json_int(o, "code_bytes", m->code);
    hd_json_int(o, "issue_lost_cycles", m->lost);
    json_object_object_add(o, "units", hd_units_json(&m->counters));
    json_object_array_add(list, o);
}

static hd_status measure_net(struct hd_cmd *c, hd_arena *a, const char *path, bool hiding,
                             struct measured *out) {
    hd_model *m = NULL;
    bool before = c->opt.plan.no_latency_hiding;
    c->opt.plan.no_latency_hiding = !hiding;
    hd_status ok = hd_open_model(c, path, false, &m);
    c->opt.plan.no_latency_hiding = before;
    if (ok == HD_OK) ok = run_model(c, a, m, path, out);
    hd_model_destroy(m);
    return ok;
}

static void add_net(const struct bench_net *n, const struct measured *m,
                    const struct measured *apart, struct hd_table *t, json_object *list) {
    double efficiency = 100 * (double)m->roofline / (double)m->cycles;
    double utilization = 100 * (double)m->compute / (double)m->cycles;
    double got = n->measure == EFFICIENCY    ? efficiency
                 : n->measure == UTILIZATION ? utilization
                                             : (double)m->cycles * 1e-6;
    double sign = n->measure == MEGACYCLES ? -1 : 1;
    static const char *const unit[] = {"% of roofline", "% of the array", "M cycles"};
    hd_table_cell(t, "%s", n->name);
    hd_table_cell(t, "%lld", (long long)m->cycles);
    hd_table_cell(t, "%.3f %s", got, unit[n->measure]);
    hd_table_cell(t, "%g", n->bar);
    hd_table_cell(t, "%g", n->aim);
    hd_table_cell(t, "%s",
                  sign * got >= sign * n->aim   ? "aim"
                  : sign * got >= sign * n->bar ? "bar"
                                                : "MISSED");
    hd_table_cell(t, "%lld", (long long)apart->cycles);
    hd_table_cell(t, "%.2f %%", 100 * (double)m->code / (double)(m->read + m->write));
    hd_table_cell(t, "%.2f %%", 100 * (double)m->lost / (double)m->cycles);
    hd_table_cell(t, "%.2f", m->compile_seconds);
    json_object *o = json_object_new_object();
    hd_json_str(o, "network", n->name);
    hd_json_int(o, "cycles", m->cycles);
    hd_json_int(o, "estimated_cycles", m->estimate);
    hd_json_int(o, "no_latency_hiding_cycles", apart->cycles);
    hd_json_num(o, "efficiency", efficiency / 100);
    hd_json_num(o, "mac_utilization", utilization / 100);
    hd_json_num(o, "reached", got);
    hd_json_str(o, "unit", unit[n->measure]);
    hd_json_num(o, "bar", n->bar);
    hd_json_num(o, "aim", n->aim);
    hd_json_int(o, "code_bytes", m->code);
    hd_json_int(o, "dram_bytes", m->read + m->write);
    hd_json_int(o, "issue_lost_cycles", m->lost);
    hd_json_num(o, "compile_seconds", m->compile_seconds);
    json_object_array_add(list, o);
}

/* Networks that are there; the others are named. Gives the number of failures. */
static int bench_nets(struct hd_cmd *c, json_object *list, FILE *out) {
    struct hd_table t;
    int failed = 0;
    hd_table_init(&t, "lrrrrlrrrr");
    hd_table_cells(&t,
                   (const char *[]){"network", "cycles", "reached", "bar", "aim", "", "no hiding",
                                    "code of DRAM", "issue lost", "compile s"},
                   10);
    for (int i = 0; i < N_NETS; i++) {
        hd_arena *a = hd_arena_create();
        const char *path = hd_stored_model(a, nets[i].folder);
        struct measured m, apart;
        if (access(path, R_OK) != 0) {
            fprintf(out, "%s: skipped, %s is not there%s\n", nets[i].name, path, nets[i].how);
            hd_arena_destroy(a);
            continue;
        }
        hd_cmd_progress(c, "network: %s", nets[i].name);
        hd_status ok = measure_net(c, a, path, true, &m);
        if (ok == HD_OK) ok = measure_net(c, a, path, false, &apart);
        if (ok == HD_OK) {
            add_net(&nets[i], &m, &apart, &t, list);
        } else {
            hd_note(c->ctx, ok, "in benchmark %s", nets[i].name);
            hd_cmd_fail(c);
            hd_clear(c->ctx);
            failed++;
        }
        hd_arena_destroy(a);
    }
    hd_cmd_progress_end(c);
    hd_table_print(&t, out);
    return failed;
}

/* `machine` stands for all that have bars. */
static bool is_of(const struct bench_layer *b, const char *set) {
    return !strcmp(set, b->set) || (!strcmp(set, "machine") && b->bar > 0);
}

bool hd_bench_has_set(const char *set) {
    if (!strcmp(set, "machine")) return true;
    for (int i = 0; i < N_LAYERS; i++)
        if (!strcmp(layers[i].set, set)) return true;
    return false;
}

/* With --db: the layer on every device, for heddle choose. */
static hd_status keep(struct hd_cmd *c, hd_arena *a, const struct bench_layer *b) {
    if (!c->opt.run.db) return HD_OK;
    hd_graph *g = build(b, a, c->opt.seed);
    hd_status s = hd_graph_infer(c->ctx, g);
    if (s == HD_OK) s = hd_bench_keep_layer(c, hd_sprintf(a, "%s/%s", b->set, b->name), g);
    hd_graph_destroy(g);
    return s;
}

int hd_bench_machine(struct hd_cmd *c, const char *set) {
    struct hd_table t;
    struct hd_machine machine;
    if (hd_cmd_machine(c, &machine) != HD_OK) return hd_cmd_fail(c);
    if (hd_is_graph_device(c->opt.device)) {
        hd_fail(
            c->ctx, HD_INVALID,
            "bench %s: device %s has no cycles; take iss, rtl or xrt. With --db FILE the layers "
            "are timed on every device, too",
            set, c->opt.device);
        return hd_cmd_fail(c);
    }
    json_object *list = json_object_new_array();
    int failed = 0, status = HD_EXIT_DONE;
    hd_table_init(&t, "llrrrrlrrrlr");
    hd_table_cells(&t,
                   (const char *[]){"set", "layer", "latency", "cycles", "estimate", "roofline",
                                    "bound", "reached", "bar", "aim", "", "no hiding"},
                   12);
    for (int i = 0; i < N_LAYERS; i++) {
        const struct bench_layer *b = &layers[i];
        if (!is_of(b, set)) continue;
        hd_arena *a = hd_arena_create();
        struct measured m, apart;
        hd_cmd_progress(c, "%s: %s", b->set, b->name);
        hd_status ok = measure(c, a, b, !c->opt.plan.no_latency_hiding, &m);
        if (ok == HD_OK) ok = measure(c, a, b, false, &apart);
        if (ok == HD_OK) ok = keep(c, a, b);
        if (ok == HD_OK) {
            add_row(b, &m, &apart, machine.clock_mhz, &t, list);
        } else {
            hd_note(c->ctx, ok, "in benchmark %s, %s", b->set, b->name);
            hd_cmd_fail(c);
            hd_clear(c->ctx);
            failed++;
        }
        hd_arena_destroy(a);
    }
    hd_cmd_progress_end(c);
    FILE *out = hd_cmd_json_on_stdout(c) ? stderr : stdout;
    hd_table_print(&t, out);
    json_object *networks = json_object_new_array();
    if (!strcmp(set, "machine")) failed += bench_nets(c, networks, out);
    if (c->opt.json) {
        json_object *o = json_object_new_object();
        hd_json_str(o, "schema", "heddle.bench-machine/1");
        json_object_object_add(o, "layers", list);
        json_object_object_add(o, "networks", networks);
        status = hd_cmd_write_json(c, o);
    } else {
        json_object_put(list);
        json_object_put(networks);
    }
    return failed ? HD_EXIT_FAILED : status;
}
