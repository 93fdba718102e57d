/* Answers: a table for people, JSON, CSV, machine files. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/command/table.h"
#include "compiler/explore/explore.h"
#include "runtime/base/io.h"

enum { ROWS = 60 }; /* of the table; the files have all */

static int by_value(const void *x, const void *y) {
    const struct hd_point *a = *(struct hd_point *const *)x, *b = *(struct hd_point *const *)y;
    if (!a->why != !b->why) return a->why ? 1 : -1;
    if (a->value[0] != b->value[0]) return a->value[0] < b->value[0] ? -1 : 1;
    return a < b ? -1 : a > b;
}

struct hd_point **hd_points(hd_arena *a, const struct hd_space *s, bool all, size_t *out_n) {
    struct hd_point **list = hd_new_array(a, struct hd_point *, s->n + 1);
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++)
        if (s->at[i].in_front || (all && s->at[i].priced && s->at[i].in_round))
            list[n++] = &s->at[i];
    qsort(list, n, sizeof *list, by_value);
    *out_n = n;
    return list;
}

const char *hd_confirm_path(hd_arena *a, const char *folder, const struct hd_machine *m,
                            const struct hd_net *net, const char *device) {
    return hd_sprintf(a, "%s/%s-%u.%s.%s.json", folder, m->name, m->clock_mhz, net->name, device);
}

/* Cycles by the device that confirmed; 0 = it did not. */
static int64_t confirmed(const struct hd_answer *x, const struct hd_point *p, int net) {
    json_object *v = NULL, *o;
    if (!x->device) return 0;
    o = json_object_from_file(
        hd_confirm_path(x->a, x->folder, &p->m, &x->nets->of[net], x->device));
    int64_t cycles = o && json_object_object_get_ex(o, "cycles", &v) ? json_object_get_int64(v) : 0;
    json_object_put(o);
    return cycles;
}

/* Parameters that differ between points: those the table shows. */
static bool varies(const struct hd_space *s, int param) {
    uint32_t first, v;
    for (size_t i = 0; i < s->n; i++) {
        memcpy(&v, (const char *)&s->at[i].m + hd_machine_params[param].offset, sizeof v);
        if (!i) first = v;
        if (v != first) return true;
    }
    return false;
}

/* The clock is a column where it varies, else times say theirs. */
static void print_head(const struct hd_answer *x, struct hd_table *t) {
    const char *ms =
        x->space.n ? hd_sprintf(x->a, "ms at %u MHz", x->space.at[0].m.clock_mhz) : "ms";
    for (int p = 0; p < hd_n_machine_params; p++) {
        if (!varies(&x->space, p)) continue;
        hd_table_cell(t, "%s", hd_machine_params[p].name);
        if (hd_machine_params[p].offset == offsetof(struct hd_machine, clock_mhz)) ms = "ms";
    }
    hd_table_cells(t, (const char *[]){"LUT", "DSP", "BRAM", "URAM", ms, "fps", "mJ, about"}, 7);
    for (int i = 0; i < x->nets->n; i++) hd_table_cell(t, "%s", x->nets->of[i].name);
    hd_table_cell(t, "%s", x->device ? x->device : "");
}

static void print_point(const struct hd_answer *x, const struct hd_point *p, struct hd_table *t) {
    double seconds = hd_point_seconds(p, x->nets);
    for (int i = 0; i < hd_n_machine_params; i++) {
        uint32_t v;
        memcpy(&v, (const char *)&p->m + hd_machine_params[i].offset, sizeof v);
        if (varies(&x->space, i)) hd_table_cell(t, "%u", v);
    }
    hd_table_cell(t, "%.0f", p->area.lut);
    hd_table_cell(t, "%.0f", p->area.dsp);
    hd_table_cell(t, "%g", p->area.bram);
    hd_table_cell(t, "%g", p->area.uram);
    if (p->net[0].why[0] || seconds <= 0) {
        hd_table_cells(t, (const char *[]){"-", "-", "-"}, 3);
        for (int i = 0; i < x->nets->n; i++) hd_table_cell(t, "-");
    } else {
        hd_table_cell(t, "%.4g", seconds * 1e3);
        hd_table_cell(t, "%.4g", 1 / hd_point_interval(p, x->nets));
        hd_table_cell(t, "%.3g", hd_point_joules(p, x->nets, &x->goal.board.energy) * 1e3);
        for (int i = 0; i < x->nets->n; i++) hd_table_cell(t, "%lld", (long long)p->net[i].cycles);
    }
    double worst = 0;
    for (int i = 0; i < x->nets->n; i++) {
        double is = (double)confirmed(x, p, i);
        double error = is > 0 ? (double)p->net[i].cycles / is - 1 : 0;
        if (fabs(error) > fabs(worst)) worst = error;
    }
    if (p->why)
        hd_table_cell(t, "%s", p->why);
    else if (x->device && confirmed(x, p, 0))
        hd_table_cell(t, "estimate %+.2f %%", 100 * worst);
    else
        hd_table_cell(t, "%s", "");
}

void hd_answer_print(const struct hd_answer *x, bool all, FILE *out) {
    struct hd_table t;
    size_t n;
    struct hd_point **list = hd_points(x->a, &x->space, all, &n);
    char align[80];
    memset(align, 'r', sizeof align - 1);
    int cols = 8 + x->nets->n;
    for (int p = 0; p < hd_n_machine_params; p++) cols += varies(&x->space, p);
    align[cols - 1] = 'l', align[cols] = 0;
    hd_table_init(&t, align);
    print_head(x, &t);
    for (size_t i = 0; i < n && (all || i < ROWS); i++) print_point(x, list[i], &t);
    hd_table_print(&t, out);
    if (!all && n > ROWS) fprintf(out, "and %zu more, in the files\n", n - ROWS);
}

static json_object *net_json(const struct hd_answer *x, const struct hd_point *p, int i) {
    json_object *o = json_object_new_object();
    const struct hd_priced *q = &p->net[i];
    hd_json_str(o, "network", x->nets->of[i].name);
    hd_json_str(o, "error", q->why[0] ? q->why : NULL);
    hd_json_int(o, "cycles", q->cycles);
    hd_json_num(o, "host_ms", (double)q->host_ns * 1e-6);
    hd_json_num(o, "dram_bytes", q->work.dram);
    if (confirmed(x, p, i)) hd_json_int(o, "confirmed_cycles", confirmed(x, p, i));
    return o;
}

static json_object *point_json(const struct hd_answer *x, const struct hd_point *p) {
    json_object *o = json_object_new_object(), *nets = json_object_new_array();
    bool ok = !p->net[0].why[0] && hd_point_seconds(p, x->nets) > 0;
    hd_json_str(o, "machine", p->m.name);
    for (int i = 0; i < hd_n_machine_params; i++) {
        uint32_t v;
        memcpy(&v, (const char *)&p->m + hd_machine_params[i].offset, sizeof v);
        hd_json_int(o, hd_machine_params[i].name, v);
    }
    hd_json_num(o, "lut", p->area.lut);
    hd_json_num(o, "ff", p->area.ff);
    hd_json_num(o, "dsp", p->area.dsp);
    hd_json_num(o, "bram", p->area.bram);
    hd_json_num(o, "uram", p->area.uram);
    hd_json_num(o, "ms", ok ? hd_point_seconds(p, x->nets) * 1e3 : 0);
    hd_json_num(o, "fps", ok ? 1 / hd_point_interval(p, x->nets) : 0);
    hd_json_num(o, "joule", ok ? hd_point_joules(p, x->nets, &x->goal.board.energy) : 0);
    hd_json_str(o, "why_not", p->why);
    json_object_object_add(o, "front", json_object_new_boolean(p->in_front));
    for (int i = 0; i < x->nets->n; i++) json_object_array_add(nets, net_json(x, p, i));
    json_object_object_add(o, "networks", nets);
    return o;
}

json_object *hd_answer_json(const struct hd_answer *x, bool all) {
    json_object *o = json_object_new_object(), *points = json_object_new_array(),
                *by = json_object_new_array();
    size_t n;
    struct hd_point **list = hd_points(x->a, &x->space, all, &n);
    hd_json_str(o, "schema", all ? "heddle.sweep/1" : "heddle.explore/1");
    hd_json_str(o, "board", x->goal.board.name);
    hd_json_str(o, "confirmed_by", x->device);
    for (int k = 0; k < x->goal.n; k++)
        json_object_array_add(by, json_object_new_string(hd_objective_names[x->goal.by[k]]));
    json_object_object_add(o, "objectives", by);
    hd_json_int(o, "candidates", (int64_t)x->space.n_prices);
    hd_json_int(o, "priced", (int64_t)x->count.priced);
    hd_json_int(o, "out_of_limits", (int64_t)x->count.hopeless);
    hd_json_int(o, "beaten_by_bounds", (int64_t)x->count.beaten);
    hd_json_int(o, "left", (int64_t)x->count.left);
    hd_json_num(o, "seconds", x->seconds);
    for (size_t i = 0; i < n; i++) json_object_array_add(points, point_json(x, list[i]));
    json_object_object_add(o, "points", points);
    return o;
}

hd_status hd_answer_csv(const struct hd_answer *x, const char *path) {
    struct hd_out out;
    size_t n;
    struct hd_point **list = hd_points(x->a, &x->space, true, &n);
    TRY(hd_out_open(x->c->ctx, path, &out));
    for (int p = 0; p < hd_n_machine_params; p++) fprintf(out.f, "%s,", hd_machine_params[p].name);
    fprintf(out.f, "lut,ff,dsp,bram,uram,ms,fps,joule,front");
    for (int i = 0; i < x->nets->n; i++) fprintf(out.f, ",%s cycles", x->nets->of[i].name);
    fprintf(out.f, ",why_not\n");
    for (size_t i = 0; i < n; i++) {
        const struct hd_point *p = list[i];
        for (int k = 0; k < hd_n_machine_params; k++) {
            uint32_t v;
            memcpy(&v, (const char *)&p->m + hd_machine_params[k].offset, sizeof v);
            fprintf(out.f, "%u,", v);
        }
        fprintf(out.f, "%.0f,%.0f,%.0f,%g,%g,%.6g,%.6g,%.6g,%d", p->area.lut, p->area.ff,
                p->area.dsp, p->area.bram, p->area.uram, hd_point_seconds(p, x->nets) * 1e3,
                1 / hd_point_interval(p, x->nets),
                hd_point_joules(p, x->nets, &x->goal.board.energy), p->in_front);
        for (int k = 0; k < x->nets->n; k++) fprintf(out.f, ",%lld", (long long)p->net[k].cycles);
        fprintf(out.f, ",\"%s\"\n", p->why ? p->why : "");
    }
    return hd_out_close(x->c->ctx, &out, HD_OK);
}

/* FOLDER/front-N.machine, which --machine takes. */
hd_status hd_answer_machines(const struct hd_answer *x) {
    size_t n;
    struct hd_point **list = hd_points(x->a, &x->space, false, &n);
    for (size_t i = 0; i < n; i++) {
        struct hd_out out;
        const struct hd_point *p = list[i];
        TRY(hd_out_open(x->c->ctx, hd_sprintf(x->a, "%s/front-%zu.machine", x->folder, i + 1),
                        &out));
        fprintf(out.f,
                "# heddle explore: %.6g ms, %.6g fps, %.0f LUT, %.0f DSP, %g BRAM, %g URAM\n",
                hd_point_seconds(p, x->nets) * 1e3, 1 / hd_point_interval(p, x->nets), p->area.lut,
                p->area.dsp, p->area.bram, p->area.uram);
        for (int k = 0; k < hd_n_machine_params; k++) {
            uint32_t v;
            memcpy(&v, (const char *)&p->m + hd_machine_params[k].offset, sizeof v);
            fprintf(out.f, "%s = %u\n", hd_machine_params[k].name, v);
        }
        TRY(hd_out_close(x->c->ctx, &out, HD_OK));
    }
    return HD_OK;
}
