/* The facts of one run: totals, the table for people, the JSON of cli.md. Both come from the same
 * numbers. */
#include "compiler/report/report.h"

#include <string.h>

#include "compiler/command/table.h"
#include "compiler/roofline/roofline.h"
#include "compiler/tensors/tensors.h"
#include "runtime/base/num.h"

static double ratio(double a, double b) {
    return b > 0 ? a / b : 0;
}

static int64_t peak(const hd_model *m) {
    return (int64_t)m->machine.k * m->machine.n;
}

/* By the older definition: what the plan at hand cannot avoid. */
static int64_t plan_roofline_of(const struct hd_cmd *c, const hd_model *m,
                                const struct hd_layer_info *l) {
    struct hd_mem_options mem = hd_cmd_mem(c, &m->machine);
    return hd_max(hd_ceil_div(l->macs, peak(m)),
                  hd_ceil_div(l->unavoidable_bytes, mem.bytes_per_cycle));
}

struct hd_layer_facts hd_layer_facts(const struct hd_cmd *c, const struct hd_run_facts *r, int i) {
    const hd_model *m = r->model;
    const struct hd_layer_info *l = &m->layers[i];
    struct hd_layer_facts x = {.name = l->name,
                               .op = l->op,
                               .macs = l->macs,
                               .plan_roofline = plan_roofline_of(c, m, l),
                               .estimate = l->estimate};
    x.roofline = hd_bound_cycles(&l->bounds, hd_cmd_mem(c, &m->machine).bytes_per_cycle, &x.bound);
    if (r->counters.layers && i < r->counters.n_layers) {
        const struct hd_layer_counters *k = &r->counters.layers[i];
        x.cycles = (int64_t)k->cycles;
        x.dram_bytes = (int64_t)(k->read_bytes + k->write_bytes);
        x.mx_busy = (int64_t)k->mx_busy;
        x.vx_busy = (int64_t)k->vx_busy;
    }
    x.utilization = ratio((double)x.macs, (double)x.cycles * (double)peak(m));
    x.efficiency = ratio((double)x.roofline, (double)x.cycles);
    x.plan_efficiency = ratio((double)x.plan_roofline, (double)x.cycles);
    return x;
}

struct hd_totals hd_run_totals(const struct hd_cmd *c, const struct hd_run_facts *r) {
    const hd_model *m = r->model;
    int64_t port = hd_cmd_mem(c, &m->machine).bytes_per_cycle;
    struct hd_totals t = {0};
    for (int i = 0; i < m->n_layers; i++) {
        const struct hd_layer_info *l = &m->layers[i];
        t.macs += l->macs;
        t.unavoidable_bytes += l->unavoidable_bytes;
        t.least_bytes += l->bounds.read_bytes + l->bounds.write_bytes;
        t.roofline_cycles += hd_bound_cycles(&l->bounds, port, NULL);
        t.plan_roofline_cycles += plan_roofline_of(c, m, l);
    }
    double cycles = (double)r->counters.cycles;
    t.utilization = ratio((double)t.macs, cycles * (double)peak(m));
    t.efficiency = ratio((double)t.roofline_cycles, cycles);
    t.plan_efficiency = ratio((double)t.plan_roofline_cycles, cycles);
    return t;
}

hd_status hd_host_share(hd_ctx *ctx, const struct hd_run_facts *r, struct hd_host_share *out) {
    const hd_model *m = r->model;
    struct hd_host_share x = {.seconds = (double)r->counters.host_ns * 1e-9};
    hd_graph *g;
    TRY(hd_graph_load(ctx, m->graph, m->graph_bytes, &g));
    int64_t *written = hd_new_array(g->arena, int64_t, g->n_nodes + 1);
    for (size_t i = 0; i < g->n_nodes; i++) {
        const struct hd_node *n = &g->nodes[i];
        for (int o = 0; o < n->n_out && !n->dead; o++)
            if (n->out[o] >= 0 && g->tensors[n->out[o]].known)
                written[i] += hd_tensor_elems(&g->tensors[n->out[o]]);
        x.of_elements += written[i];
    }
    for (int s = 0; s < m->n_steps; s++)
        for (int i = 0; m->steps[s].kind == HD_STEP_HOST && i < m->steps[s].n_nodes; i++)
            x.elements += written[m->steps[s].nodes[i]];
    hd_graph_destroy(g);
    x.time = ratio(x.seconds, x.seconds + (double)r->counters.cycles * 1e-6 / m->machine.clock_mhz);
    *out = x;
    return HD_OK;
}

/* ---- for people --------------------------------------------------------------------------- */

void hd_print_layers(struct hd_cmd *c, const struct hd_run_facts *r, FILE *out) {
    const hd_model *m = r->model;
    if (!m->n_layers) return;
    struct hd_table t;
    hd_table_init(&t, "llrrrrrlrrrr");
    hd_table_cells(&t,
                   (const char *[]){"layer", "op", "cycles", "MACs", "MAC util", "roofline",
                                    "efficiency", "bound", "by plan", "MX busy", "VX busy",
                                    "DRAM bytes"},
                   12);
    for (int i = 0; i < m->n_layers && r->counters.layers; i++) { /* a board counts no layers */
        struct hd_layer_facts x = hd_layer_facts(c, r, i);
        hd_table_cell(&t, "%s", x.name);
        hd_table_cell(&t, "%s", x.op);
        hd_table_cell(&t, "%lld", (long long)x.cycles);
        hd_table_cell(&t, "%lld", (long long)x.macs);
        hd_table_cell(&t, "%.1f %%", 100 * x.utilization);
        hd_table_cell(&t, "%lld", (long long)x.roofline);
        hd_table_cell(&t, "%.1f %%", 100 * x.efficiency);
        hd_table_cell(&t, "%s", x.bound);
        hd_table_cell(&t, "%.1f %%", 100 * x.plan_efficiency);
        hd_table_cell(&t, "%lld", (long long)x.mx_busy);
        hd_table_cell(&t, "%lld", (long long)x.vx_busy);
        hd_table_cell(&t, "%lld", (long long)x.dram_bytes);
    }
    struct hd_totals s = hd_run_totals(c, r);
    hd_table_cells(&t, (const char *[]){"total", ""}, 2);
    hd_table_cell(&t, "%llu", (unsigned long long)r->counters.cycles);
    hd_table_cell(&t, "%lld", (long long)s.macs);
    hd_table_cell(&t, "%.1f %%", 100 * s.utilization);
    hd_table_cell(&t, "%lld", (long long)s.roofline_cycles);
    hd_table_cell(&t, "%.1f %%", 100 * s.efficiency);
    hd_table_cell(&t, "%s", "");
    hd_table_cell(&t, "%.1f %%", 100 * s.plan_efficiency);
    hd_table_cell(&t, "%llu", (unsigned long long)r->counters.unit[HD_UNIT_mx].busy);
    hd_table_cell(&t, "%llu", (unsigned long long)r->counters.unit[HD_UNIT_vx].busy);
    hd_table_cell(&t, "%llu",
                  (unsigned long long)(r->counters.read_bytes + r->counters.write_bytes));
    hd_table_print(&t, out);
}

static int64_t idle_cycles(const struct hd_counters *k, int u) {
    const struct hd_unit_counters *x = &k->unit[u];
    int64_t used = (int64_t)(x->busy + x->stall_sem + x->stall_mem + x->stall_bank);
    return hd_max((int64_t)k->cycles - used, 0);
}

static void print_units(const struct hd_run_facts *r, FILE *out) {
    struct hd_table t;
    hd_table_init(&t, "lrrrrr");
    hd_table_cells(
        &t,
        (const char *[]){"unit", "busy", "stall semaphore", "stall memory", "stall bank", "idle"},
        6);
    for (int u = 0; u < HD_UNITS; u++) {
        const struct hd_unit_counters *x = &r->counters.unit[u];
        if (u == HD_UNIT_seq) continue;
        hd_table_cell(&t, "%s", hd_isa_units[u].name);
        hd_table_cell(&t, "%llu", (unsigned long long)x->busy);
        hd_table_cell(&t, "%llu", (unsigned long long)x->stall_sem);
        hd_table_cell(&t, "%llu", (unsigned long long)x->stall_mem);
        hd_table_cell(&t, "%llu", (unsigned long long)x->stall_bank);
        hd_table_cell(&t, "%lld", (long long)idle_cycles(&r->counters, u));
    }
    hd_table_print(&t, out);
}

void hd_print_host_ops(const hd_model *m, FILE *out) {
    if (!m->n_host_ops) return;
    struct hd_table t;
    hd_table_init(&t, "llrll");
    hd_table_cells(
        &t, (const char *[]){"on the host", "op", "us, about", "reason", "what would change it"},
        5);
    for (int i = 0; i < m->n_host_ops; i++) {
        const struct hd_host_op *h = &m->host_ops[i];
        hd_table_cells(&t, (const char *[]){h->node, h->op}, 2);
        hd_table_cell(&t, "%.1f", (double)h->ns / 1000);
        hd_table_cells(&t, (const char *[]){h->reason, h->hint}, 2);
    }
    hd_table_print(&t, out);
}

/* What stayed on the host, and how much of the network that is. */
static void print_host(struct hd_cmd *c, const struct hd_run_facts *r, FILE *out) {
    struct hd_host_share h;
    hd_print_host_ops(r->model, out);
    if (!r->model->n_host_ops || hd_host_share(c->ctx, r, &h) != HD_OK) return;
    fprintf(out,
            "host: %.1f %% of the elements that nodes write, %.1f %% of the time (%.4f ms measured "
            "on one core)\n",
            100 * ratio((double)h.elements, (double)h.of_elements), 100 * h.time, 1e3 * h.seconds);
}

static void print_outputs(const hd_model *m, FILE *out) {
    hd_arena *a = hd_arena_create();
    for (int i = 0; i < m->n_outputs; i++) {
        const struct hd_value_info *v = &m->values[m->outputs[i]];
        fprintf(out, "output %s %s%s\n", v->name, hd_onnx_dtype_name(v->dtype),
                hd_dims_text(a, v->dim, v->rank));
    }
    hd_arena_destroy(a);
}

static void print_activation_memory(const hd_model *m, FILE *out) {
    fprintf(out, "activation memory: %lld bytes planned, %lld without reuse, %lld at least\n",
            (long long)m->planned_bytes, (long long)m->naive_bytes,
            (long long)m->lower_bound_bytes);
}

/* What would bring work to the machine: the first hint that names a command, else the list. */
static void print_unused(const struct hd_run_facts *r, FILE *out) {
    const hd_model *m = r->model;
    bool is_float = false;
    for (int i = 0; i < m->n_host_ops; i++)
        is_float = is_float || strstr(m->host_ops[i].hint, "heddle quantize");
    fprintf(out, "nothing ran on the machine, all %d operations on the host: ", m->n_host_ops);
    if (is_float)
        fprintf(out, "heddle quantize %s -o INT8.onnx makes an int8 network\n", r->path);
    else
        fprintf(out, "heddle compile %s --json - has the reason of each\n", r->path);
}

void hd_print_run(struct hd_cmd *c, const struct hd_run_facts *r, FILE *out) {
    const hd_model *m = r->model;
    bool unused = r->has_cycles && !m->n_layers;
    if (unused && !r->parts) print_unused(r, out);
    fprintf(out, "%s on %s, inputs: %s\n", r->path, r->device, r->inputs);
    if (unused) {
        fprintf(out, "%.6f s\n", r->wall_seconds);
        if (!r->parts) hd_print_host_ops(m, out);
    } else if (r->has_cycles) {
        struct hd_mem_options mem = hd_cmd_mem(c, &m->machine);
        fprintf(out,
                "machine %s: %ux%u MACs, %u-bit port; memory: latency %u cycles, %u bytes/cycle, "
                "%u bursts",
                m->machine.name, m->machine.k, m->machine.n, m->machine.axi_bits, mem.latency,
                mem.bytes_per_cycle, mem.outstanding);
        if (mem.jitter) fprintf(out, ", jitter seed %llu", (unsigned long long)mem.jitter_seed);
        fputs("\n\n", out);
        if (c->opt.run.functional) {
            fprintf(out, "results only: --functional; %.3f s\n", r->wall_seconds);
            print_outputs(m, out);
            return;
        }
        hd_print_layers(c, r, out);
        fputs("\n", out);
        print_units(r, out);
        fprintf(out,
                "\nDRAM: %llu bytes read (%llu of them program), %llu written; %lld unavoidable "
                "with this plan, %lld with any\n",
                (unsigned long long)r->counters.read_bytes,
                (unsigned long long)r->counters.code_bytes,
                (unsigned long long)r->counters.write_bytes,
                (long long)hd_run_totals(c, r).unavoidable_bytes,
                (long long)hd_run_totals(c, r).least_bytes);
        print_activation_memory(m, out);
        char parts[32] = "";
        if (r->counters.n_parts > 0)
            snprintf(parts, sizeof parts, " in %d parts", r->counters.n_parts);
        fprintf(out, "%llu cycles in %.3f s%s: %.0f cycles/s; at %u MHz%s this is %.3f ms\n",
                (unsigned long long)r->counters.cycles, r->wall_seconds, parts,
                ratio((double)r->counters.cycles, r->wall_seconds), m->machine.clock_mhz,
                hd_machine_clock_note(&m->machine),
                (double)r->counters.cycles / (1000.0 * m->machine.clock_mhz));
        if (m->machine.cores > 1)
            fprintf(out, "%u cores, each at a run of its own: at most %.4g runs/s\n",
                    m->machine.cores,
                    1e6 * m->machine.clock_mhz * m->machine.cores / (double)r->counters.cycles);
        print_host(c, r, out);
    } else {
        fprintf(out, "%.6f s\n", r->wall_seconds);
        print_activation_memory(m, out);
        hd_print_steps(r, out);
    }
    if (r->runs)
        fprintf(out, "%d steps: %llu cycles, %.6f s each; what is above is of the last\n", r->runs,
                (unsigned long long)r->all_cycles, r->wall_seconds);
    hd_print_parts(r, out);
    print_outputs(m, out);
}

/* ---- JSON --------------------------------------------------------------------------------- */

static json_object *machine_json(const struct hd_machine *m) {
    char hash[16];
    json_object *o = json_object_new_object();
    snprintf(hash, sizeof hash, "0x%08x", hd_machine_hash(m));
    hd_json_str(o, "name", m->name);
    hd_json_int(o, "k", m->k);
    hd_json_int(o, "n", m->n);
    hd_json_int(o, "axi_bits", m->axi_bits);
    hd_json_int(o, "clock_mhz", m->clock_mhz);
    hd_json_str(o, "fingerprint", hash);
    return o;
}

static json_object *mem_json(const struct hd_mem_options *mem) {
    json_object *o = json_object_new_object();
    hd_json_int(o, "latency", mem->latency);
    hd_json_int(o, "bytes_per_cycle", mem->bytes_per_cycle);
    hd_json_int(o, "outstanding", mem->outstanding);
    json_object_object_add(o, "jitter_seed",
                           mem->jitter ? json_object_new_uint64(mem->jitter_seed) : NULL);
    return o;
}

json_object *hd_units_json(const struct hd_counters *k) {
    json_object *o = json_object_new_object();
    for (int u = 0; u < HD_UNITS; u++) {
        if (u == HD_UNIT_seq) continue;
        json_object *x = json_object_new_object();
        hd_json_int(x, "busy", (int64_t)k->unit[u].busy);
        hd_json_int(x, "stall_semaphore", (int64_t)k->unit[u].stall_sem);
        hd_json_int(x, "stall_memory", (int64_t)k->unit[u].stall_mem);
        hd_json_int(x, "stall_bank", (int64_t)k->unit[u].stall_bank);
        hd_json_int(x, "idle", idle_cycles(k, u));
        json_object_object_add(o, hd_isa_units[u].name, x);
    }
    return o;
}

static json_object *row_json(const struct hd_layer_facts *x, bool has_cycles) {
    json_object *o = json_object_new_object();
    hd_json_str(o, "name", x->name);
    hd_json_str(o, "op", x->op);
    json_object_object_add(o, "cycles", has_cycles ? json_object_new_int64(x->cycles) : NULL);
    if (has_cycles && x->estimate) hd_json_int(o, "estimated_cycles", x->estimate);
    hd_json_int(o, "macs", x->macs);
    hd_json_num(o, "mac_utilization", x->utilization);
    hd_json_int(o, "roofline_cycles", x->roofline);
    hd_json_num(o, "efficiency", x->efficiency);
    hd_json_str(o, "bound", x->bound);
    hd_json_int(o, "plan_roofline_cycles", x->plan_roofline);
    hd_json_num(o, "plan_efficiency", x->plan_efficiency);
    hd_json_int(o, "dram_bytes", x->dram_bytes);
    return o;
}

/* Layers of the machine in order, then the nodes that stay on the host (0 cycles of the machine).
 */
static json_object *layers_json(const struct hd_cmd *c, const struct hd_run_facts *r) {
    json_object *a = json_object_new_array();
    for (int i = 0; i < r->model->n_layers; i++) {
        struct hd_layer_facts x = hd_layer_facts(c, r, i);
        json_object_array_add(a, row_json(&x, r->has_cycles));
    }
    for (int i = 0; i < r->model->n_host_ops; i++) {
        const struct hd_host_op *h = &r->model->host_ops[i];
        struct hd_layer_facts x = {.name = h->node, .op = h->op, .bound = "host"};
        json_object_array_add(a, row_json(&x, r->has_cycles));
    }
    return a;
}

static json_object *host_ops_json(const hd_model *m) {
    json_object *a = json_object_new_array();
    for (int i = 0; i < m->n_host_ops; i++) {
        json_object *o = json_object_new_object();
        hd_json_str(o, "node", m->host_ops[i].node);
        hd_json_str(o, "op", m->host_ops[i].op);
        hd_json_str(o, "reason", m->host_ops[i].reason);
        hd_json_str(o, "hint", m->host_ops[i].hint);
        hd_json_num(o, "host_us", (double)m->host_ops[i].ns / 1000);
        json_object_array_add(a, o);
    }
    return a;
}

static json_object *outputs_json(const hd_model *m) {
    json_object *a = json_object_new_array();
    for (int i = 0; i < m->n_outputs; i++) {
        const struct hd_value_info *v = &m->values[m->outputs[i]];
        json_object *o = json_object_new_object();
        hd_json_str(o, "name", v->name);
        hd_json_str(o, "dtype", hd_onnx_dtype_name(v->dtype));
        json_object_object_add(o, "shape", hd_json_shape(v->dim, v->rank));
        json_object_array_add(a, o);
    }
    return a;
}

static void add_memory_facts(json_object *o, const struct hd_run_facts *r,
                             const struct hd_totals *s) {
    json_object *d = json_object_new_object(), *a = json_object_new_object();
    hd_json_int(d, "read_bytes", (int64_t)r->counters.read_bytes);
    hd_json_int(d, "write_bytes", (int64_t)r->counters.write_bytes);
    hd_json_int(d, "code_bytes", (int64_t)r->counters.code_bytes);
    hd_json_int(d, "unavoidable_bytes", s->unavoidable_bytes);
    hd_json_int(d, "least_bytes", s->least_bytes);
    json_object_object_add(o, "dram", d);
    json_object_object_add(o, "units", hd_units_json(&r->counters));
    hd_json_int(a, "planned_bytes", r->model->planned_bytes);
    hd_json_int(a, "naive_bytes", r->model->naive_bytes);
    hd_json_int(a, "lower_bound_bytes", r->model->lower_bound_bytes);
    json_object_object_add(o, "activation_memory", a);
}

static json_object *host_json(const struct hd_host_share *h) {
    json_object *o = json_object_new_object();
    hd_json_int(o, "elements", h->elements);
    hd_json_int(o, "of_elements", h->of_elements);
    hd_json_num(o, "seconds", h->seconds);
    hd_json_num(o, "time_share", h->time);
    return o;
}

json_object *hd_run_json(struct hd_cmd *c, const struct hd_run_facts *r) {
    const hd_model *m = r->model;
    int64_t estimate = 0; /* of a model that was compiled just now */
    for (int i = 0; i < m->n_steps; i++) estimate += m->steps[i].estimate;
    struct hd_mem_options mem = hd_cmd_mem(c, &m->machine);
    struct hd_totals s = hd_run_totals(c, r);
    json_object *o = json_object_new_object();
    hd_json_str(o, "schema", "heddle.run/1");
    hd_json_str(o, "model", r->path);
    hd_json_str(o, "device", r->device);
    hd_json_str(o, "inputs", r->inputs);
    json_object_object_add(o, "ok", json_object_new_boolean(1));
    json_object_object_add(o, "machine", machine_json(&m->machine));
    json_object_object_add(o, "memory_model", mem_json(&mem));
    json_object_object_add(
        o, "cycles", r->has_cycles ? json_object_new_int64((int64_t)r->counters.cycles) : NULL);
    if (r->has_cycles && estimate) hd_json_int(o, "estimated_cycles", estimate);
    if (r->runs) hd_json_int(o, "runs", r->runs);
    if (r->runs) hd_json_int(o, "all_cycles", (int64_t)r->all_cycles);
    hd_json_num(o, "wall_seconds", r->wall_seconds);
    hd_json_num(o, "cycles_per_second", ratio((double)r->counters.cycles, r->wall_seconds));
    hd_json_num(o, "compile_seconds", m->compile_seconds);
    hd_json_int(o, "macs", s.macs);
    hd_json_num(o, "mac_utilization", s.utilization);
    hd_json_int(o, "roofline_cycles", s.roofline_cycles);
    hd_json_num(o, "efficiency", s.efficiency);
    hd_json_int(o, "plan_roofline_cycles", s.plan_roofline_cycles);
    hd_json_num(o, "plan_efficiency", s.plan_efficiency);
    add_memory_facts(o, r, &s);
    struct hd_host_share h;
    if (r->has_cycles && hd_host_share(c->ctx, r, &h) == HD_OK)
        json_object_object_add(o, "host", host_json(&h));
    json_object_object_add(o, "host_ops", host_ops_json(m));
    json_object_object_add(o, "layers", layers_json(c, r));
    if (r->n_steps) json_object_object_add(o, "steps", hd_steps_json(r));
    if (r->parts) json_object_object_add(o, "parts", hd_parts_json(r));
    json_object_object_add(o, "outputs", outputs_json(m));
    return o;
}
