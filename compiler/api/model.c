/* From a network to a model, and what a model says of itself. */
#include <math.h>
#include <string.h>

#include "compiler/api/net.h"
#include "compiler/api/rows.h"
#include "compiler/calibrate/job.h"
#include "compiler/compare/compare.h"
#include "compiler/compiler.h"
#include "compiler/report/report.h"
#include "compiler/session/session.h"
#include "compiler/tensors/tensors.h"

/* ---- machines ------------------------------------------------------------------------------- */

const char *hd_machine_name(int i) {
    return i < 0 || i >= hd_n_machines ? NULL : hd_machines[i].name;
}

static hd_status machine_of(hd_ctx *ctx, const char *machine, const char *const *set, int n_set,
                            struct hd_machine *out) {
    TRY(hd_machine_load(ctx, machine ? machine : "base", out));
    for (int i = 0; i < n_set; i++) TRY(hd_machine_set(ctx, out, set[i]));
    return hd_machine_check(ctx, out);
}

hd_status hd_machine_values(hd_ctx *ctx, const char *machine, const char *const *set, int n_set,
                            struct hd_machine_value *out, int max, int *out_n) {
    struct hd_machine m;
    TRY(machine_of(ctx, machine, set, n_set, &m));
    *out_n = hd_n_machine_params;
    for (int i = 0; i < hd_n_machine_params && i < max; i++) {
        const struct hd_param_info *p = &hd_machine_params[i];
        out[i] = (struct hd_machine_value){p->name, p->doc, 0, p->min, p->max};
        memcpy(&out[i].value, (const char *)&m + p->offset, sizeof out[i].value);
    }
    return HD_OK;
}

/* ---- compile -------------------------------------------------------------------------------- */

hd_status hd_net_compile(hd_ctx *ctx, const hd_net *net, const struct hd_build *build,
                         hd_model **out) {
    static const struct hd_build plain = {0};
    const struct hd_build *b = build ? build : &plain;
    struct hd_compile_options o = {.mem_latency = b->memory_latency,
                                   .latency_hiding = !b->in_order,
                                   .keep_all = b->keep_all,
                                   .host_only = b->host_only};
    hd_graph *copy = NULL;
    if (b->cache_mib < 0)
        return hd_fail(ctx, HD_INVALID, "compile: cache_mib is %d, want 0 or more", b->cache_mib);
    TRY(machine_of(ctx, b->machine, b->set, b->n_set, &o.machine));
    TRY(hd_net_check(ctx, net));
    hd_arena *a = hd_arena_create();
    hd_status s = b->devices ? hd_list_devices(ctx, a, b->devices, &o.devices) : HD_OK;
    if (o.devices.n && o.devices.machine < 0) o.host_only = true;
    if (s == HD_OK) s = working_copy(ctx, net->g, &copy);
    if (s == HD_OK)
        s = hd_note(ctx, hd_compile_graph_kept(ctx, copy, &o, b->cache_mib, out),
                    "while compiling %s", net->g->name);
    hd_graph_destroy(copy);
    hd_arena_destroy(a);
    if (s == HD_OK && o.host_only) (*out)->n_host_ops = 0; /* the device runs all of it */
    return s;
}

/* ---- facts ---------------------------------------------------------------------------------- */

const char *hd_model_name(const hd_model *m) {
    return m->name;
}
const char *hd_model_machine(const hd_model *m) {
    return m->machine.name;
}
int hd_model_n_layers(const hd_model *m) {
    return m->n_layers;
}
int hd_model_n_host_ops(const hd_model *m) {
    return m->n_host_ops;
}
int hd_model_n_values(const hd_model *m) {
    return m->n_values;
}

void hd_layer_row_of(const struct hd_cmd *c, const struct hd_run_facts *r, int i,
                     struct hd_layer_row *out) {
    struct hd_layer_facts f = hd_layer_facts(c, r, i);
    const struct hd_layer_info *l = &r->model->layers[i];
    *out = (struct hd_layer_row){
        .name = f.name,
        .op = f.op,
        .bound = f.bound,
        .plan = l->plan ? l->plan : "",
        .step = l->step,
        .cycles = f.cycles,
        .macs = f.macs,
        .roofline = f.roofline,
        .dram_bytes = f.dram_bytes,
        .mx_busy = f.mx_busy,
        .vx_busy = f.vx_busy,
        .utilization = f.utilization,
        .efficiency = f.efficiency,
    };
}

void hd_model_layer(const hd_model *m, int i, struct hd_layer_row *out) {
    const struct hd_cmd c = {0};
    const struct hd_run_facts r = {.model = m};
    *out = (struct hd_layer_row){0};
    if (i >= 0 && i < m->n_layers) hd_layer_row_of(&c, &r, i, out);
}

void hd_model_host_op(const hd_model *m, int i, struct hd_host_row *out) {
    *out = (struct hd_host_row){0};
    if (i < 0 || i >= m->n_host_ops) return;
    const struct hd_host_op *h = &m->host_ops[i];
    *out = (struct hd_host_row){h->node, h->op, h->reason, h->hint, (double)h->ns * 1e-9};
}

hd_status hd_model_initial(hd_ctx *ctx, const hd_model *m, int i, void *out, bool *out_is) {
    const void *value = NULL;
    *out_is = false;
    if (i < 0 || i >= m->n_inputs) return HD_OK;
    hd_arena *a = hd_arena_create();
    hd_status s = hd_initial_value(ctx, a, m, i, &value);
    *out_is = value != NULL;
    if (value) memcpy(out, value, hd_value_dense_bytes(&m->values[m->inputs[i]]));
    hd_arena_destroy(a);
    return s;
}

void hd_model_value(const hd_model *m, int i, struct hd_io_info *out) {
    *out = (struct hd_io_info){0};
    if (i < 0 || i >= m->n_values) return;
    const struct hd_value_info *v = &m->values[i];
    *out = (struct hd_io_info){v->name, v->dtype, v->rank, {0}, hd_value_dense_bytes(v)};
    memcpy(out->dim, v->dim, sizeof out->dim);
}

void hd_model_compare(const hd_model *m, int i, const void *reference, const void *got,
                      struct hd_difference *out) {
    *out = (struct hd_difference){0};
    if (i < 0 || i >= m->n_values) return;
    struct hd_value_error e = hd_value_error_of(&m->values[i], reference, got);
    *out = (struct hd_difference){e.n,   e.differ, e.beyond, e.place[0],
                                  e.max, e.mean,   e.rms,    hd_value_error_db(&e)};
}
