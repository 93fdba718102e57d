/* The data of a report, and the page around it. */
#include "compiler/report/html.h"

#include <stdlib.h>
#include <string.h>

#include "compiler/energy/energy.h"
#include "compiler/import/network.h"
#include "compiler/report/report.h"
#include "runtime/base/io.h"
#include "runtime/base/num.h"

enum {
    EVENTS_MAX = 40000,      /* of the timeline; more are merged */
    BINS_MAX = 1024,         /* of DRAM traffic */
    CODE_BYTES_MAX = 3000000 /* of the listings together */
};

static const char *const style[] = {
#include "page.css.inc"
    NULL};
static const char *const elements[] = {
#include "elements.js.inc"
    NULL};
static const unsigned char d3[] = {
#include "d3.inc"
    '\n'};
static const char *const d3_licence[] = {
#include "d3.txt.inc"
    NULL};
static const char *const script[] = {
#include "page.js.inc"
    NULL};

/* What draws the plots, where it was there when this was built. */
static void put_d3(FILE *f) {
    if (sizeof d3 == 1) return;
    fputs("<script>/*\n", f);
    for (int i = 0; d3_licence[i]; i++) fputs(d3_licence[i], f);
    fputs("*/\n", f);
    fwrite(d3, 1, sizeof d3, f);
    fputs("</script>\n", f);
}

hd_status hd_report_write(struct hd_cmd *c, json_object *data, const char *path) {
    return hd_page_write(c, data, path, "Heddle report", script);
}

hd_status hd_page_write(struct hd_cmd *c, json_object *data, const char *path, const char *title,
                        const char *const *lines) {
    struct hd_out out;
    hd_status s = hd_out_open(c->ctx, path, &out);
    if (s != HD_OK) {
        json_object_put(data);
        return s;
    }
    FILE *f = out.f;
    fprintf(f,
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>%s</title>"
            "<link rel=\"icon\" href=\"data:,\">\n<style>\n",
            title);
    for (int i = 0; style[i]; i++) fputs(style[i], f);
    fputs("</style></head><body>\n<script type=\"application/json\" id=\"data\">", f);
    /* json-c writes / as \/, so no text in it can end the element */
    fputs(json_object_to_json_string_ext(data, JSON_C_TO_STRING_PLAIN), f);
    fputs("</script>\n", f);
    put_d3(f);
    fputs("<script>\n", f);
    for (int i = 0; elements[i]; i++) fputs(elements[i], f);
    for (int i = 0; lines[i]; i++) fputs(lines[i], f);
    fputs("</script></body></html>\n", f);
    json_object_put(data);
    return hd_out_close(c->ctx, &out, HD_OK);
}

static void push_int(json_object *list, int64_t v) {
    json_object_array_add(list, json_object_new_int64(v));
}

/* ---- layers --------------------------------------------------------------------------------- */

static json_object *layer_json(const struct hd_cmd *c, const struct hd_run_facts *r,
                               const struct hd_profile *p, int i) {
    const struct hd_layer_info *l = &r->model->layers[i];
    struct hd_layer_facts f = hd_layer_facts(c, r, i);
    json_object *o = json_object_new_object(), *units = json_object_new_array();
    hd_json_str(o, "name", l->name);
    hd_json_str(o, "op", l->op);
    hd_json_str(o, "plan", l->plan);
    hd_json_str(o, "bound", f.bound);
    hd_json_int(o, "step", l->step);
    hd_json_int(o, "cycles", f.cycles);
    hd_json_int(o, "macs", f.macs);
    hd_json_num(o, "mac_utilization", f.utilization);
    hd_json_int(o, "roofline_cycles", f.roofline);
    hd_json_num(o, "efficiency", f.efficiency);
    hd_json_num(o, "plan_efficiency", f.plan_efficiency);
    hd_json_int(o, "dram_bytes", f.dram_bytes);
    hd_json_int(o, "unavoidable_bytes", l->unavoidable_bytes);
    hd_json_int(o, "mx_busy", f.mx_busy);
    hd_json_int(o, "vx_busy", f.vx_busy);
    hd_json_int(o, "begin", p ? (int64_t)p->layers[i].begin : 0);
    hd_json_int(o, "end", p ? (int64_t)p->layers[i].end : 0);
    hd_json_int(o, "n_ops", p ? (int64_t)p->layers[i].n_ops : 0);
    for (int u = HD_UNIT_lx; u < HD_UNITS; u++) {
        struct hd_unit_counters k = {0};
        json_object *x = json_object_new_array();
        if (p) k = p->layers[i].unit[u];
        push_int(x, (int64_t)k.busy);
        push_int(x, (int64_t)k.stall_sem);
        push_int(x, (int64_t)k.stall_mem);
        push_int(x, (int64_t)k.stall_bank);
        json_object_array_add(units, x);
    }
    json_object_object_add(o, "units", units);
    return o;
}

/* ---- timeline ------------------------------------------------------------------------------- */

/* Merges operations of a unit that follow each other within `gap` cycles until few enough remain;
 * returns how many do. Those of several layers that are shorter than the gap become one, too. */
static size_t merge_ops(struct hd_profile_op *ops, size_t n, uint64_t gap) {
    size_t last[HD_UNITS], kept = 0;
    for (int u = 0; u < HD_UNITS; u++) last[u] = SIZE_MAX;
    for (size_t i = 0; i < n; i++) {
        const struct hd_profile_op *o = &ops[i];
        struct hd_profile_op *l = last[o->unit] == SIZE_MAX ? NULL : &ops[last[o->unit]];
        bool close = l && o->begin <= l->end + gap;
        if (close && (l->layer == o->layer || o->end - l->begin <= gap)) {
            l->end = o->end;
            continue;
        }
        ops[kept] = *o;
        last[o->unit] = kept++;
    }
    return kept;
}

static int by_begin(const void *a, const void *b) {
    const struct hd_profile_op *x = a, *y = b;
    if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
    return x->unit - y->unit;
}

/* Five numbers an event: unit (0 = lx), layer, begin behind that of the event before, length,
 * cycles that it waited for semaphores. */
static json_object *ops_json(hd_arena *a, const struct hd_profile *p) {
    struct hd_profile_op *ops = hd_new_array(a, struct hd_profile_op, p->n_ops + 1);
    size_t n = p->n_ops;
    if (n) memcpy(ops, p->ops, n * sizeof *ops);
    qsort(ops, n, sizeof *ops, by_begin);
    for (uint64_t gap = 1; n > EVENTS_MAX; gap *= 2) n = merge_ops(ops, n, gap);
    json_object *o = json_object_new_object(), *data = json_object_new_array();
    uint64_t before = 0;
    for (size_t i = 0; i < n; i++) {
        push_int(data, ops[i].unit - HD_UNIT_lx);
        push_int(data, ops[i].layer);
        push_int(data, (int64_t)(ops[i].begin - before));
        push_int(data, (int64_t)(ops[i].end - ops[i].begin));
        push_int(data, (int64_t)ops[i].stall_sem);
        before = ops[i].begin;
    }
    hd_json_int(o, "merged", n < p->n_ops ? (int64_t)p->n_ops : 0);
    json_object_object_add(o, "data", data);
    return o;
}

static json_object *dram_json(const struct hd_bins *b) {
    json_object *o = json_object_new_object(), *list[2];
    size_t per = (size_t)hd_max(1, hd_ceil_div((int64_t)b->n, BINS_MAX));
    for (int k = 0; k < 2; k++) {
        list[k] = json_object_new_array();
        for (size_t i = 0; i < b->n; i += per) {
            uint64_t bytes = 0;
            for (size_t j = i; j < i + per && j < b->n; j++) bytes += b->bytes[j][k];
            push_int(list[k], (int64_t)bytes);
        }
    }
    hd_json_int(o, "cycles", (int64_t)(b->cycles * per));
    json_object_object_add(o, "read", list[0]);
    json_object_object_add(o, "write", list[1]);
    return o;
}

/* ---- memories ------------------------------------------------------------------------------- */

/* The place of a tensor, or of the one that it is a free reshape of; -1 = none. */
static int place_of(const hd_model *m, const hd_graph *g, int tensor) {
    for (int steps = 0; tensor >= 0 && steps < 64; steps++) {
        for (int i = 0; i < m->n_places; i++)
            if (m->places[i].tensor == tensor) return i;
        int maker = g->tensors[tensor].producer;
        if (maker < 0 || g->nodes[maker].op != HD_IR_reshape) return -1;
        tensor = g->nodes[maker].in[0];
    }
    return -1;
}

/* used[place][layer]: the layer makes or reads it. */
static bool *find_uses(hd_arena *a, const hd_model *m, const hd_graph *g) {
    size_t n = (size_t)m->n_layers + 1;
    bool *used = hd_new_array(a, bool, ((size_t)m->n_places + 1) * n);
    for (int i = 0; i < m->n_places; i++)
        if (m->places[i].layer >= 0) used[(size_t)i * n + (size_t)m->places[i].layer] = true;
    for (size_t k = 0; k < g->n_nodes; k++) {
        const struct hd_node *node = &g->nodes[k];
        int layer = 0;
        while (layer < m->n_layers && strcmp(m->layers[layer].name, node->name)) layer++;
        if (node->dead || layer == m->n_layers) continue;
        for (int i = 0; i < node->n_in; i++) {
            int p = place_of(m, g, node->in[i]);
            if (p >= 0) used[(size_t)p * n + (size_t)layer] = true;
        }
    }
    return used;
}

static json_object *places_json(hd_arena *a, const hd_model *m, const hd_graph *g) {
    json_object *list = json_object_new_array();
    const bool *used = find_uses(a, m, g);
    for (int i = 0; i < m->n_places; i++) {
        const struct hd_place *p = &m->places[i];
        json_object *o = json_object_new_object(), *layers = json_object_new_array();
        int last = p->goes_out ? m->n_layers - 1 : p->last, first = p->comes_in ? 0 : p->first;
        hd_json_str(o, "name", (size_t)p->tensor < g->n_tensors ? g->tensors[p->tensor].name : "?");
        hd_json_int(o, "layer", p->layer);
        hd_json_int(o, "first", p->on_chip ? p->first : first);
        hd_json_int(o, "last", p->on_chip ? p->last : last);
        hd_json_int(o, "xm", p->on_chip ? (int64_t)p->xm_offset : -1);
        hd_json_int(o, "xm_bytes", (int64_t)p->xm_bytes);
        hd_json_int(o, "arena", p->in_arena ? (int64_t)p->arena_offset : -1);
        hd_json_int(o, "arena_bytes", (int64_t)p->arena_bytes);
        for (int l = 0; l < m->n_layers; l++)
            if (used[(size_t)i * ((size_t)m->n_layers + 1) + (size_t)l]) push_int(layers, l);
        json_object_object_add(o, "used", layers);
        json_object_array_add(list, o);
    }
    return list;
}

/* ---- code ----------------------------------------------------------------------------------- */

struct listing {
    struct hd_buf text;
    int64_t n_left_out;
};

/* Each operation goes to the listing of its layer. */
static void list_program(const hd_model *m, int step, struct listing *out, size_t most) {
    const struct hd_step *s = &m->steps[step];
    const uint32_t *words = (const void *)((const char *)m->image + s->code_offset);
    size_t n_words = s->code_bytes / 4;
    struct hd_sticky sticky[HD_UNITS] = {{{0}}};
    for (size_t pc = HD_PROG_HEADER_WORDS; pc < n_words;) {
        struct hd_op_word ops[HD_UNITS];
        int offset[HD_UNITS], n;
        const char *why;
        int len = hd_bundle_decode(words + pc, n_words - pc, ops, offset, &n, &why);
        if (!len) break;
        for (int i = 0; i < n; i++) {
            char text[1000], line[1100];
            hd_op_apply(&ops[i], &sticky[ops[i].unit]);
            uint32_t layer = sticky[ops[i].unit].words[HD_TAG_WORD];
            if (ops[i].unit == HD_UNIT_seq || layer >= (uint32_t)m->n_layers) continue;
            struct listing *l = &out[layer];
            hd_op_text(&ops[i], text, sizeof text);
            int bytes = snprintf(line, sizeof line, "%6zu  %s\n", pc + (size_t)offset[i], text);
            if (l->text.n + (size_t)bytes > most)
                l->n_left_out++;
            else
                hd_buf_put(&l->text, line, (size_t)bytes);
        }
        pc += (size_t)len;
    }
}

static json_object *code_json(const hd_model *m, hd_arena *a) {
    struct listing *all = hd_new_array(a, struct listing, (size_t)m->n_layers + 1);
    json_object *list = json_object_new_array();
    size_t most = CODE_BYTES_MAX / ((size_t)m->n_layers + 1);
    for (int i = 0; i < m->n_steps; i++)
        if (m->steps[i].kind == HD_STEP_PROG) list_program(m, i, all, most);
    for (int i = 0; i < m->n_layers; i++) {
        struct listing *l = &all[i];
        if (l->n_left_out) {
            const char *more = hd_sprintf(a,
                                          "  and %lld more: heddle compile MODEL --dump program "
                                          "--select '#\"%s\"'\n",
                                          (long long)l->n_left_out, m->layers[i].name);
            hd_buf_put(&l->text, more, strlen(more));
        }
        json_object_array_add(
            list, json_object_new_string_len(l->text.n ? (const char *)l->text.data : "",
                                             (int)l->text.n));
        hd_buf_free(&l->text);
    }
    return list;
}

/* Area of the machine by the fitted table, energy of the run by coefficients: estimates. */
static json_object *costs_json(const struct hd_run_facts *r) {
    const struct hd_machine *m = &r->model->machine;
    const struct hd_area area = hd_area_of(m, NULL, NULL);
    const struct hd_work work = hd_work_of(r->model);
    double seconds = (double)r->counters.cycles * 1e-6 / m->clock_mhz / m->cores;
    json_object *o = json_object_new_object();
    hd_json_num(o, "lut", area.lut);
    hd_json_num(o, "dsp", area.dsp);
    hd_json_num(o, "bram", area.bram);
    hd_json_num(o, "uram", area.uram);
    hd_json_num(o, "joule", hd_joules(&hd_energy_default, &work, &area, seconds));
    return o;
}

/* ---- all of it ------------------------------------------------------------------------------ */

static json_object *run_data(struct hd_cmd *c, hd_arena *a, const struct hd_run_facts *r,
                             const struct hd_profile *p, const hd_graph *g) {
    const hd_model *m = r->model;
    struct hd_mem_options mem = hd_cmd_mem(c, &m->machine);
    json_object *o = json_object_new_object(), *layers = json_object_new_array(),
                *units = json_object_new_array();
    hd_json_str(o, "title", hd_sprintf(a, "%s on %s", hd_short_name(a, r->path), r->device));
    hd_json_str(
        o, "subtitle",
        hd_sprintf(a,
                   "machine %s: %u x %u multipliers, %u-bit port; memory: latency %u cycles, "
                   "%u bytes per cycle, %u bursts; inputs: %s",
                   m->machine.name, m->machine.k, m->machine.n, m->machine.axi_bits, mem.latency,
                   mem.bytes_per_cycle, mem.outstanding, r->inputs));
    json_object_object_add(o, "run", hd_run_json(c, r));
    hd_json_int(o, "clock_mhz", m->machine.clock_mhz);
    hd_json_str(o, "clock_note", hd_machine_clock_note(&m->machine));
    for (int u = HD_UNIT_lx; u < HD_UNITS; u++)
        json_object_array_add(units, json_object_new_string(hd_isa_units[u].name));
    json_object_object_add(o, "units", units);
    for (int i = 0; i < m->n_layers; i++) json_object_array_add(layers, layer_json(c, r, p, i));
    json_object_object_add(o, "layers", layers);
    if (p) json_object_object_add(o, "ops", ops_json(a, p));
    if (p) json_object_object_add(o, "dram", dram_json(&p->dram));
    json_object_object_add(o, "costs", costs_json(r));
    hd_json_int(o, "xm_bytes", m->machine.xm_bytes);
    hd_json_int(o, "xm_ring", (int64_t)m->xm_ring);
    hd_json_int(o, "arena_bytes", (int64_t)m->arena_bytes);
    hd_json_int(o, "image_bytes", (int64_t)m->image_bytes);
    json_object_object_add(o, "places", places_json(a, m, g));
    json_object_object_add(o, "code", code_json(m, a));
    return o;
}

hd_status hd_report_run(struct hd_cmd *c, const struct hd_run_facts *r,
                        const struct hd_profile *profile, const char *path) {
    hd_graph *g;
    TRY(hd_graph_load(c->ctx, r->model->graph, r->model->graph_bytes, &g));
    hd_arena *a = hd_arena_create();
    hd_status s = hd_report_write(c, run_data(c, a, r, profile, g), path);
    hd_arena_destroy(a);
    hd_graph_destroy(g);
    return s;
}
