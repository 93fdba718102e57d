/* heddle bench iss-vs-rtl: how far the ISS is from the RTL, in cycles of layers and of networks, at
 * several memory latencies. Without arguments: every network in the folder of models,
 * $HEDDLE_MODELS or ../shared/models, that has work for the machine, but of at most 200 million
 * multiplications. Of one without integer products its quantised form in build/networks is taken,
 * where `make networks` has left it. */
#include "compiler/bench/bench.h"
#include "compiler/command/table.h"
#include "compiler/session/session.h"
#include "compiler/tensors/tensors.h"
#include "runtime/runtime.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MACS_MAX = 200000000, NAMES_MAX = 256 };
static const uint32_t latencies[] = {30, 64, 200};

struct measured {
    uint64_t cycles, vx_bank, *layer; /* layer: cycles of each */
};

/* Runs once on `device`, with the memory of the command line. */
static hd_status measure(struct hd_cmd *c, hd_arena *a, const hd_model *m, const char *device,
                         const void *const *in, struct measured *out) {
    hd_session *s = NULL;
    struct hd_counters k;
    hd_status ok = hd_open_session(c, m, device, &s);
    if (ok == HD_OK) ok = hd_session_run(c->ctx, s, in, hd_output_buffers(a, m));
    if (ok == HD_OK) ok = hd_session_counters(c->ctx, s, &k);
    if (ok == HD_OK) {
        *out = (struct measured){.cycles = k.cycles, .vx_bank = k.unit[HD_UNIT_vx].stall_bank};
        out->layer = hd_new_array(a, uint64_t, (size_t)m->n_layers + 1);
        for (int i = 0; i < m->n_layers && k.layers && i < k.n_layers; i++)
            out->layer[i] = k.layers[i].cycles;
    }
    hd_session_close(s);
    return ok;
}

static double error_of(uint64_t iss, uint64_t rtl) { /* percent */
    return rtl ? 100 * ((double)iss / (double)rtl - 1) : 0;
}

static int worst_layer(const hd_model *m, const struct measured *iss, const struct measured *rtl) {
    int worst = -1;
    double most = -1;
    for (int i = 0; i < m->n_layers; i++) {
        double e = fabs(error_of(iss->layer[i], rtl->layer[i]));
        if (e <= most) continue;
        most = e;
        worst = i;
    }
    return worst;
}

static bool add_row(const char *name, uint32_t latency, const hd_model *m,
                    const struct measured *iss, const struct measured *rtl, struct hd_table *t,
                    json_object *list) {
    int w = worst_layer(m, iss, rtl);
    double total = error_of(iss->cycles, rtl->cycles);
    double layer = w >= 0 ? error_of(iss->layer[w], rtl->layer[w]) : 0;
    hd_table_cell(t, "%s", name);
    hd_table_cell(t, "%u", latency);
    hd_table_cell(t, "%llu", (unsigned long long)iss->cycles);
    hd_table_cell(t, "%llu", (unsigned long long)rtl->cycles);
    hd_table_cell(t, "%+.2f %%", total);
    hd_table_cell(t, "%+.2f %%", layer);
    hd_table_cell(t, "%s", w >= 0 ? m->layers[w].name : "");
    json_object *o = json_object_new_object();
    hd_json_str(o, "network", name);
    hd_json_int(o, "mem_latency", latency);
    hd_json_int(o, "iss_cycles", (int64_t)iss->cycles);
    hd_json_int(o, "rtl_cycles", (int64_t)rtl->cycles);
    hd_json_num(o, "error_percent", total);
    hd_json_num(o, "worst_layer_error_percent", layer);
    hd_json_int(o, "iss_vx_stall_bank", (int64_t)iss->vx_bank);
    hd_json_int(o, "rtl_vx_stall_bank", (int64_t)rtl->vx_bank);
    json_object *layers = json_object_new_array();
    for (int i = 0; i < m->n_layers; i++) {
        json_object *l = json_object_new_object();
        hd_json_str(l, "name", m->layers[i].name);
        hd_json_int(l, "iss_cycles", (int64_t)iss->layer[i]);
        hd_json_int(l, "rtl_cycles", (int64_t)rtl->layer[i]);
        hd_json_num(l, "error_percent", error_of(iss->layer[i], rtl->layer[i]));
        json_object_array_add(layers, l);
    }
    json_object_object_add(o, "layers", layers);
    json_object_array_add(list, o);
    return iss->cycles == rtl->cycles &&
           !memcmp(iss->layer, rtl->layer, (size_t)m->n_layers * sizeof *iss->layer);
}

static int64_t macs_of(const hd_model *m) {
    int64_t macs = 0;
    for (int i = 0; i < m->n_layers; i++) macs += m->layers[i].macs;
    return macs;
}

/* The model of a list that nobody chose: its quantised form if it has no products of integers. NULL
 * when it has nothing for the machine or too much. */
static hd_status choose(struct hd_cmd *c, hd_arena *a, const char **path, hd_model **m) {
    const char *name = hd_short_name(a, *path);
    const char *made = hd_sprintf(a, "build/networks/%s/model.onnx", name);
    if (!macs_of(*m) && !access(made, R_OK)) {
        hd_model_destroy(*m);
        *m = NULL;
        *path = made;
        TRY(hd_open_model(c, made, false, m));
    }
    if ((*m)->n_layers > 0 && macs_of(*m) <= MACS_MAX) return HD_OK;
    hd_model_destroy(*m);
    *m = NULL;
    return HD_OK;
}

/* all: of a list that nobody chose. */
static hd_status bench_network(struct hd_cmd *c, hd_arena *a, const char *arg, bool all,
                               struct hd_table *t, json_object *list, int *n_differ) {
    hd_model *m = NULL;
    const char *path, *what, *name = hd_short_name(a, arg);
    const void **in;
    uint32_t latency = c->opt.mem.latency; /* plans are made for it */
    hd_status ok = hd_model_path(c, a, arg, &path);
    if (ok == HD_OK) ok = hd_open_model(c, path, false, &m);
    if (ok == HD_OK && all) ok = choose(c, a, &path, &m);
    if (ok == HD_OK && !m) return HD_OK;
    if (ok == HD_OK) ok = hd_cmd_inputs(c, a, m, path, &in, &what);
    for (size_t i = 0; ok == HD_OK && i < sizeof latencies / sizeof latencies[0]; i++) {
        struct measured iss, rtl;
        hd_cmd_progress(c, "%s, latency %u", name, latencies[i]);
        c->opt.mem.latency = latencies[i];
        ok = measure(c, a, m, "iss", in, &iss);
        if (ok == HD_OK) ok = measure(c, a, m, "rtl", in, &rtl);
        if (ok == HD_OK && rtl.cycles)
            *n_differ += !add_row(name, latencies[i], m, &iss, &rtl, t, list);
    }
    c->opt.mem.latency = latency;
    hd_model_destroy(m);
    return hd_note(c->ctx, ok, "in benchmark %s", arg);
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Folders with a model.onnx in the folder of models. */
static int all_models(hd_arena *a, char *out[NAMES_MAX]) {
    const char *root = getenv("HEDDLE_MODELS");
    if (!root || !*root) root = "../shared/models";
    int n = 0;
    DIR *d = opendir(root);
    for (struct dirent *e; d && n < NAMES_MAX && (e = readdir(d));) {
        char *path = hd_sprintf(a, "%s/%s", root, e->d_name);
        if (!access(hd_sprintf(a, "%s/model.onnx", path), R_OK)) out[n++] = path;
    }
    if (d) closedir(d);
    if (n) qsort(out, (size_t)n, sizeof *out, by_name);
    return n;
}

int hd_bench_iss(struct hd_cmd *c, char **models, int n) {
    hd_arena *a = hd_arena_create();
    char *found[NAMES_MAX];
    bool all = !n;
    if (all) {
        n = all_models(a, found);
        models = found;
    }
    static char own[] = "test/models/digits";
    if (!n) { /* no such folder */
        found[0] = own;
        models = found;
        n = 1;
    }
    json_object *list = json_object_new_array();
    struct hd_table t;
    int failed = 0, n_differ = 0, status = HD_EXIT_DONE;
    hd_table_init(&t, "lrrrrrl");
    hd_table_cells(&t,
                   (const char *[]){"network", "latency", "ISS cycles", "RTL cycles", "total error",
                                    "worst layer", "which"},
                   7);
    for (int i = 0; i < n; i++)
        if (bench_network(c, a, models[i], all, &t, list, &n_differ) != HD_OK) {
            hd_cmd_fail(c);
            hd_clear(c->ctx);
            failed++;
        }
    hd_cmd_progress_end(c);
    FILE *out = hd_cmd_json_on_stdout(c) ? stderr : stdout;
    hd_table_print(&t, out);
    if (n_differ)
        fprintf(stderr, "heddle bench: iss and rtl differ in the cycles of %d runs\n", n_differ);
    if (c->opt.json) {
        json_object *o = json_object_new_object();
        hd_json_str(o, "schema", "heddle.bench-iss/1");
        json_object_object_add(o, "runs", list);
        status = hd_cmd_write_json(c, o);
    } else {
        json_object_put(list);
    }
    hd_arena_destroy(a);
    return failed || n_differ ? HD_EXIT_FAILED : status;
}
