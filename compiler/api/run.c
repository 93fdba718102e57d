/* Sessions with options, and what a session says of its last run. */
#include "compiler/api/rows.h"
#include "compiler/report/html.h"
#include "runtime/runtime.h"

hd_status hd_session_open_with(hd_ctx *ctx, const hd_model *m, const char *device,
                               const struct hd_run_options *opt, hd_session **out) {
    static const struct hd_run_options plain = {0};
    const struct hd_run_options *o = opt ? opt : &plain;
    struct hd_device_options d = {
        .machine = m->machine,
        .mem = {.latency = o->memory_latency,
                .bytes_per_cycle = o->memory_bytes_per_cycle,
                .outstanding = o->memory_outstanding,
                .jitter = o->jitter_seed != 0,
                .jitter_seed = o->jitter_seed},
        .watchdog_cycles = o->watchdog_cycles,
        .threads = o->threads,
        .functional = o->functional,
        .timed = o->timed,
    };
    if (!o->profile) return hd_session_open(ctx, m, device, &d, out);
    hd_arena *a = hd_arena_create();
    struct hd_profile *profile = hd_profile_create(a, m);
    d.probe = &profile->probe;
    hd_status s = hd_session_open(ctx, m, device, &d, out);
    if (s == HD_OK)
        hd_session_keep(*out, a, profile);
    else
        hd_arena_destroy(a);
    return s;
}

/* The run as reports want it. */
static hd_status facts_of(hd_ctx *ctx, hd_session *s, struct hd_cmd *c, struct hd_run_facts *r) {
    *c = (struct hd_cmd){.ctx = ctx, .opt = {.mem = hd_session_memory(s)}};
    *r = (struct hd_run_facts){.model = hd_session_model(s)};
    return hd_session_counters(ctx, s, &r->counters);
}

static hd_status behind(hd_ctx *ctx, const char *what, int i, int n) {
    return hd_fail(ctx, HD_INVALID, "%s %d: there are %d", what, i, n);
}

hd_status hd_session_layer(hd_ctx *ctx, hd_session *s, int i, struct hd_layer_row *out) {
    struct hd_cmd c;
    struct hd_run_facts r;
    TRY(facts_of(ctx, s, &c, &r));
    if (i < 0 || i >= r.model->n_layers) return behind(ctx, "layer", i, r.model->n_layers);
    hd_layer_row_of(&c, &r, i, out);
    return HD_OK;
}

hd_status hd_session_totals(hd_ctx *ctx, hd_session *s, struct hd_run_totals *out) {
    struct hd_cmd c;
    struct hd_run_facts r;
    TRY(facts_of(ctx, s, &c, &r));
    struct hd_totals t = hd_run_totals(&c, &r);
    *out = (struct hd_run_totals){
        r.counters.cycles,
        r.counters.read_bytes,
        r.counters.write_bytes,
        r.counters.code_bytes,
        t.macs,
        t.roofline_cycles,
        t.utilization,
        t.efficiency,
    };
    return HD_OK;
}

hd_status hd_session_unit(hd_ctx *ctx, hd_session *s, int i, struct hd_unit_row *out) {
    struct hd_cmd c;
    struct hd_run_facts r;
    TRY(facts_of(ctx, s, &c, &r));
    if (i < 0 || i >= HD_UNITS) return behind(ctx, "unit", i, HD_UNITS);
    const struct hd_unit_counters *u = &r.counters.unit[i];
    *out = (struct hd_unit_row){hd_isa_units[i].name, u->busy, u->stall_sem, u->stall_mem,
                                u->stall_bank};
    return HD_OK;
}

hd_status hd_session_report(hd_ctx *ctx, hd_session *s, const char *path) {
    struct hd_cmd c;
    struct hd_run_facts r;
    TRY(facts_of(ctx, s, &c, &r));
    const struct hd_profile *profile = hd_session_kept(s);
    if (!profile || !hd_session_cycles(s))
        return hd_fail(ctx, HD_INVALID, "report of %s on %s: %s", r.model->name,
                       hd_session_device(s),
                       profile ? "nothing ran yet" : "want a session of iss or rtl with profile");
    r.path = r.model->name;
    r.device = hd_session_device(s);
    r.inputs = "given";
    r.has_cycles = true;
    return hd_report_run(&c, &r, profile, path);
}

bool hd_session_step(hd_session *s, int i, struct hd_step_row *out) {
    const struct hd_exec_step *steps = NULL;
    int n = hd_session_steps(s, &steps);
    if (i < 0 || i >= n) return false;
    const struct hd_exec_step *x = &steps[i];
    *out = (struct hd_step_row){x->node, x->op, x->how, x->n_nodes, x->seconds};
    return true;
}

bool hd_session_part(hd_session *s, int i, struct hd_part_row *out) {
    const hd_model *m = hd_session_model(s);
    if (i < 0 || i >= m->n_steps) return false;
    const struct hd_step *x = &m->steps[i];
    *out = (struct hd_part_row){.why = x->why,
                                .n_nodes = hd_part_nodes(m, i),
                                .in_bytes = hd_part_bytes(m, x->inputs, x->n_inputs),
                                .out_bytes = hd_part_bytes(m, x->outputs, x->n_outputs)};
    out->seconds = (double)hd_session_step_ns(s, i, &out->device) * 1e-9;
    return true;
}
