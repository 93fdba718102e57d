/* heddle devices, machines, knobs, ops: what is here. */
#include <string.h>

#include "compiler/area/area.h"
#include "compiler/cli/cli.h"
#include "compiler/command/table.h"
#include "compiler/ir/ir.h"
#include "compiler/options/knobs.h"
#include "driver/remote/remote.h"
#include "runtime/runtime.h"

static int finish(struct hd_cmd *c, struct hd_table *t, json_object *list, const char *schema,
                  const char *key) {
    if (!hd_cmd_json_on_stdout(c)) {
        hd_table_print(t, stdout);
    } else {
        FILE *none = fopen("/dev/null", "w");
        hd_table_print(t, none ? none : stderr);
        if (none) fclose(none);
    }
    if (!c->opt.json) {
        json_object_put(list);
        return HD_EXIT_DONE;
    }
    json_object *o = json_object_new_object();
    hd_json_str(o, "schema", schema);
    json_object_object_add(o, key, list);
    return hd_cmd_write_json(c, o);
}

struct device_list {
    struct hd_table t;
    json_object *list;
};

static void add_device(void *user, const struct hd_remote_entry *e) {
    struct device_list *l = user;
    bool more = e->more && *e->more;
    hd_table_cells(&l->t, (const char *[]){e->name, e->runs, e->available ? "yes" : "no"}, 3);
    hd_table_cell(&l->t, "%s%s%s", e->doc, more ? ": " : "", more ? e->more : "");
    json_object *o = json_object_new_object();
    hd_json_str(o, "name", e->name);
    hd_json_str(o, "runs", e->runs);
    hd_json_str(o, "doc", e->doc);
    hd_json_str(o, "description", e->available ? e->more : NULL);
    json_object_object_add(o, "available", json_object_new_boolean(e->available));
    hd_json_str(o, "why_not", e->available ? NULL : e->more);
    json_object_array_add(l->list, o);
}

static void add_local(struct hd_cmd *c, const struct hd_machine *m, struct device_list *l) {
    const struct hd_device_options opt = {.machine = *m};
    for (int i = 0; hd_devices[i]; i++) {
        const struct hd_device_ops *d = hd_devices[i];
        struct hd_device_info info = {.available = true};
        if (d->probe && d->probe(c->ctx, &opt, &info) != HD_OK) {
            info.available = false;
            info.why_not = hd_message(c->ctx);
        }
        add_device(l, &(struct hd_remote_entry){
                          d->scheme, d->sections & HD_RUNS_PROG ? "programs" : "graphs", d->doc,
                          info.available ? info.description : info.why_not, info.available});
    }
}

int cmd_devices(struct hd_cmd *c) {
    struct hd_machine m;
    struct device_list l = {.list = json_object_new_array()};
    hd_table_init(&l.t, "llll");
    hd_table_cells(&l.t, (const char *[]){"device", "runs", "here", "what it is"}, 4);
    hd_status s = hd_cmd_machine(c, &m);
    if (!s && c->n_args) s = hd_remote_devices(c->ctx, c->args[0], add_device, &l);
    if (!s && !c->n_args) add_local(c, &m, &l);
    if (!s) return finish(c, &l.t, l.list, "heddle.devices/1", "devices");
    json_object_put(l.list);
    return hd_cmd_fail(c);
}

static uint32_t param_of(const struct hd_machine *m, int i) {
    uint32_t v;
    memcpy(&v, (const char *)m + hd_machine_params[i].offset, sizeof v);
    return v;
}

/* Columns of an area, as rows of a table and keys of JSON. */
static const struct {
    const char *name, *doc;
    size_t offset;
} area_columns[] = {
    {"lut", "area by the fitted table (docs/explore.md): LUT", offsetof(struct hd_area, lut)},
    {"ff", "flip-flops", offsetof(struct hd_area, ff)},
    {"dsp", "DSP48E2", offsetof(struct hd_area, dsp)},
    {"bram", "block RAM of 36 Kbit", offsetof(struct hd_area, bram)},
    {"uram", "UltraRAM", offsetof(struct hd_area, uram)},
};
enum { AREA_COLUMNS = sizeof area_columns / sizeof *area_columns };

static double area_column(const struct hd_area *a, int i) {
    double v;
    memcpy(&v, (const char *)a + area_columns[i].offset, sizeof v);
    return v;
}

static void add_area_rows(struct hd_table *t, const struct hd_machine *list, int n) {
    for (int k = 0; k < AREA_COLUMNS; k++) {
        hd_table_cell(t, "%s", area_columns[k].name);
        for (int i = 0; i < n; i++) {
            struct hd_area a = hd_area_of(&list[i], NULL, NULL);
            hd_table_cell(t, "%.10g", area_column(&a, k));
        }
        hd_table_cell(t, "%s", area_columns[k].doc);
    }
}

/* {lut, ff, dsp, bram, uram, modules: [{name, lut, ..}]} */
static json_object *area_json(const struct hd_machine *m) {
    struct hd_area_module parts[HD_AREA_MODULES];
    int n;
    json_object *o = json_object_new_object(), *list = json_object_new_array();
    struct hd_area a = hd_area_of(m, parts, &n);
    for (int k = 0; k < AREA_COLUMNS; k++) hd_json_num(o, area_columns[k].name, area_column(&a, k));
    for (int i = 0; i < n; i++) {
        json_object *one = json_object_new_object();
        hd_json_str(one, "name", parts[i].name);
        for (int k = 0; k < AREA_COLUMNS; k++)
            hd_json_num(one, area_columns[k].name, area_column(&parts[i].of, k));
        json_object_array_add(list, one);
    }
    json_object_object_add(o, "modules", list);
    return o;
}

static void clock_row(struct hd_table *t, const struct hd_machine *list, int n) {
    hd_table_cell(t, "timing_mhz");
    for (int i = 0; i < n; i++) {
        const struct hd_clock *mhz = hd_machine_clock(&list[i]);
        if (mhz)
            hd_table_cell(t, "%u to %u", mhz->least, mhz->most);
        else
            hd_table_cell(t, "unknown");
    }
    hd_table_cell(t, "clock that timing supports by `make synth`, over the range of its delays");
}

static void clock_json(json_object *o, const struct hd_machine *m) {
    const struct hd_clock *mhz = hd_machine_clock(m);
    json_object *clock = mhz ? json_object_new_object() : NULL;
    json_object_object_add(o, "timing_mhz", clock);
    if (!mhz) return;
    hd_json_int(clock, "least", mhz->least);
    hd_json_int(clock, "likely", mhz->likely);
    hd_json_int(clock, "most", mhz->most);
}

int cmd_machines(struct hd_cmd *c) {
    struct hd_machine list[16];
    int n = 0;
    for (; n < hd_n_machines && n < 15; n++) list[n] = hd_machines[n];
    if (c->opt.machine || c->opt.sets.n) {
        if (hd_cmd_machine(c, &list[n]) != HD_OK) return hd_cmd_fail(c);
        n++;
    }
    char align[20] = "l";
    for (int i = 0; i < n; i++) strcat(align, "r");
    strcat(align, "l");
    struct hd_table t;
    json_object *array = json_object_new_array();
    hd_table_init(&t, align);
    hd_table_cell(&t, "parameter");
    for (int i = 0; i < n; i++) hd_table_cell(&t, "%s", list[i].name);
    hd_table_cell(&t, "meaning");
    for (int p = 0; p < hd_n_machine_params; p++) {
        hd_table_cell(&t, "%s", hd_machine_params[p].name);
        for (int i = 0; i < n; i++) hd_table_cell(&t, "%u", param_of(&list[i], p));
        hd_table_cell(&t, "%s", hd_machine_params[p].doc);
    }
    add_area_rows(&t, list, n);
    clock_row(&t, list, n);
    hd_table_cell(&t, "fingerprint");
    for (int i = 0; i < n; i++) hd_table_cell(&t, "0x%08x", hd_machine_hash(&list[i]));
    hd_table_cell(&t, "of all parameters that a program depends on");
    for (int i = 0; i < n; i++) {
        json_object *o = json_object_new_object();
        char hash[16];
        snprintf(hash, sizeof hash, "0x%08x", hd_machine_hash(&list[i]));
        hd_json_str(o, "name", list[i].name);
        hd_json_str(o, "fingerprint", hash);
        for (int p = 0; p < hd_n_machine_params; p++)
            hd_json_int(o, hd_machine_params[p].name, param_of(&list[i], p));
        json_object_object_add(o, "area", area_json(&list[i]));
        clock_json(o, &list[i]);
        json_object_array_add(array, o);
    }
    return finish(c, &t, array, "heddle.machines/1", "machines");
}

/* Where an operation can run at all; the partitioner decides by node. */
static const char *where(hd_arena *a, enum hd_ir_op op) {
    static const char *const wants[HD_IR_OPS] = {
#define COMPUTES(op, kind, of_what) [HD_IR_##op] = of_what,
#define MOVES(op, of_what)          [HD_IR_##op] = of_what,
#include "compiler/kind/machine_ops.def"
    };
    if (!wants[op]) return "host";
    return *wants[op] ? hd_sprintf(a, "machine (%s), host", wants[op]) : "machine, host";
}

int cmd_knobs(struct hd_cmd *c) {
    struct hd_table t;
    json_object *list = json_object_new_array();
    hd_table_init(&t, "lrrrlll");
    hd_table_cells(&t,
                   (const char *[]){"knob", "value", "least", "most", "unit", "reason",
                                    "cycles with half; twice"},
                   7);
    for (int i = 0; i < hd_n_knobs; i++) {
        const struct hd_knob_row *k = &hd_knob_rows[i];
        json_object *o = json_object_new_object();
        hd_table_cell(&t, "%s", k->name);
        hd_json_str(o, "name", k->name);
        const int numbers[] = {k->value, k->least, k->most};
        const char *const keys[] = {"value", "least", "most"};
        for (int n = 0; n < 3; n++) {
            hd_table_cell(&t, "%d", numbers[n]);
            hd_json_int(o, keys[n], numbers[n]);
        }
        hd_table_cells(&t, (const char *[]){k->unit, k->reason, k->effect}, 3);
        hd_json_str(o, "unit", k->unit);
        hd_json_str(o, "reason", k->reason);
        hd_json_str(o, "effect", k->effect);
        json_object_array_add(list, o);
    }
    return finish(c, &t, list, "heddle.knobs/1", "knobs");
}

int cmd_ops(struct hd_cmd *c) {
    hd_arena *a = hd_arena_create();
    struct hd_table t;
    json_object *list = json_object_new_array();
    hd_table_init(&t, "lll");
    hd_table_cells(&t, (const char *[]){"operation", "runs on", "operands ; attributes"}, 3);
    for (int i = 0; i < HD_IR_OPS; i++) {
        hd_table_cells(
            &t, (const char *[]){hd_ir_ops[i].name, where(a, (enum hd_ir_op)i), hd_ir_ops[i].doc},
            3);
        json_object *o = json_object_new_object();
        hd_json_str(o, "name", hd_ir_ops[i].name);
        hd_json_str(o, "runs_on", where(a, (enum hd_ir_op)i));
        hd_json_str(o, "doc", hd_ir_ops[i].doc);
        json_object_array_add(list, o);
    }
    hd_arena_destroy(a);
    return finish(c, &t, list, "heddle.ops/1", "ops");
}
