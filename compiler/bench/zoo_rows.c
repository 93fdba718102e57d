/* heddle bench zoo: rows, means, and what eats the cycles of the worst networks. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/bench/zoo.h"
#include "compiler/command/table.h"

enum { WORST = 10, EATERS = 3 };
static const double LOW = 0.5; /* of the roofline: named in the line of means */

struct row {
    const char *network, *machine, *form, *why, *eaters;
    double cycles, roofline, share, by_plan, host_elements, host_time, dram, compile;
};
struct hd_zoo_rows {
    struct hd_cmd *c;
    hd_arena *a;
    struct row *rows;
    size_t n, cap;
    json_object *list;
    int failed;
};

struct hd_zoo_rows *hd_zoo_begin(struct hd_cmd *c, hd_arena *a) {
    struct hd_zoo_rows *z = hd_new(a, struct hd_zoo_rows);
    *z = (struct hd_zoo_rows){.c = c, .a = a, .list = json_object_new_array()};
    return z;
}

double hd_zoo_number(json_object *o, const char *key) {
    const char *point = strchr(key, '.');
    char first[32];
    snprintf(first, sizeof first, "%.*s", point ? (int)(point - key) : (int)strlen(key), key);
    json_object *v = NULL;
    if (!o || !json_object_object_get_ex(o, first, &v)) return 0;
    return point ? hd_zoo_number(v, point + 1) : json_object_get_double(v);
}

static double ratio(double a, double b) {
    return b > 0 ? a / b : 0;
}

/* ---- what eats cycles ----------------------------------------------------------------------- */

struct eater {
    const char *op, *bound;
    double lost; /* cycles beyond the roofline of its layers */
};

static int by_loss(const void *a, const void *b) {
    double x = ((const struct eater *)a)->lost, y = ((const struct eater *)b)->lost;
    return (x < y) - (x > y);
}

static const char *text(json_object *o, const char *key) {
    json_object *v = NULL;
    return json_object_object_get_ex(o, key, &v) && v ? json_object_get_string(v) : "";
}

/* Cycles beyond the rooflines by operation and bound, then the layer that loses most. */
static const char *eaters_of(struct hd_zoo_rows *z, json_object *facts) {
    json_object *layers = NULL;
    double cycles = hd_zoo_number(facts, "cycles"), most = 0;
    if (!json_object_object_get_ex(facts, "layers", &layers)) return "";
    size_t n = json_object_array_length(layers), n_list = 0;
    struct eater *list = hd_new_array(z->a, struct eater, n + 1);
    const char *worst = "", *out = "";
    for (size_t i = 0; i < n; i++) {
        json_object *l = json_object_array_get_idx(layers, i);
        const char *op = text(l, "op"), *bound = text(l, "bound");
        double lost = hd_zoo_number(l, "cycles") - hd_zoo_number(l, "roofline_cycles");
        size_t k = 0;
        while (k < n_list && (strcmp(list[k].op, op) || strcmp(list[k].bound, bound))) k++;
        if (k == n_list)
            list[n_list++] = (struct eater){hd_strdup(z->a, op), hd_strdup(z->a, bound), 0};
        list[k].lost += lost;
        if (lost > most) most = lost, worst = hd_strdup(z->a, text(l, "name"));
    }
    qsort(list, n_list, sizeof *list, by_loss);
    for (size_t i = 0; i < n_list && i < EATERS && list[i].lost > 0; i++)
        out = hd_sprintf(z->a, "%s%s%s (%s) %.0f %%", out, i ? ", " : "", list[i].op, list[i].bound,
                         100 * ratio(list[i].lost, cycles));
    return *worst ? hd_sprintf(z->a, "%s; most: %s %.0f %%", out, worst, 100 * ratio(most, cycles))
                  : out;
}

/* ---- rows ----------------------------------------------------------------------------------- */

static void add_json(struct hd_zoo_rows *z, const struct row *r) {
    json_object *o = json_object_new_object();
    hd_json_str(o, "network", r->network);
    hd_json_str(o, "machine", r->machine);
    hd_json_str(o, "form", r->form);
    hd_json_str(o, "error", r->why);
    if (!r->why) {
        hd_json_int(o, "cycles", (int64_t)r->cycles);
        hd_json_int(o, "roofline_cycles", (int64_t)r->roofline);
        hd_json_num(o, "roofline_share", r->share);
        hd_json_num(o, "plan_share", r->by_plan);
        hd_json_num(o, "host_element_share", r->host_elements);
        hd_json_num(o, "host_time_share", r->host_time);
        hd_json_num(o, "dram_over_least", r->dram);
        hd_json_num(o, "compile_seconds", r->compile);
        hd_json_str(o, "lost_to", r->eaters);
    }
    json_object_array_add(z->list, o);
}

void hd_zoo_add(struct hd_zoo_rows *z, const char *network, const char *machine, const char *form,
                json_object *facts, const char *why) {
    struct row r = {network, machine, form, why, "", 0, 0, 0, 0, 0, 0, 0, 0};
    r.cycles = hd_zoo_number(facts, "cycles");
    r.roofline = hd_zoo_number(facts, "roofline_cycles");
    r.share = hd_zoo_number(facts, "efficiency");
    r.by_plan = hd_zoo_number(facts, "plan_efficiency");
    r.host_elements =
        ratio(hd_zoo_number(facts, "host.elements"), hd_zoo_number(facts, "host.of_elements"));
    r.host_time = hd_zoo_number(facts, "host.time_share");
    r.dram =
        ratio(hd_zoo_number(facts, "dram.read_bytes") + hd_zoo_number(facts, "dram.write_bytes"),
              hd_zoo_number(facts, "dram.least_bytes"));
    r.compile = hd_zoo_number(facts, "compile_seconds");
    if (why) z->failed++;
    if (!why && r.cycles <= 0) r.why = "nothing runs on the machine";
    if (!r.why) r.eaters = eaters_of(z, facts);
    add_json(z, &r);
    *hd_push(z->a, z->rows, z->n, z->cap) = r;
}

static void print_rows(const struct hd_zoo_rows *z, FILE *out) {
    struct hd_table t;
    hd_table_init(&t, "lllrrrrrrrl");
    hd_table_cells(&t,
                   (const char *[]){"network", "form", "machine", "cycles", "roofline", "by plan",
                                    "host elements", "host time", "DRAM / least", "compile s", ""},
                   11);
    for (size_t i = 0; i < z->n; i++) {
        const struct row *r = &z->rows[i];
        hd_table_cells(&t, (const char *[]){r->network, r->form, r->machine}, 3);
        if (r->why) {
            hd_table_cells(&t, (const char *[]){"-", "-", "-", "-", "-", "-", "-", r->why}, 8);
            continue;
        }
        hd_table_cell(&t, "%.0f", r->cycles);
        hd_table_cell(&t, "%.1f %%", 100 * r->share);
        hd_table_cell(&t, "%.1f %%", 100 * r->by_plan);
        hd_table_cell(&t, "%.1f %%", 100 * r->host_elements);
        hd_table_cell(&t, "%.1f %%", 100 * r->host_time);
        hd_table_cell(&t, "%.2f", r->dram);
        hd_table_cell(&t, "%.2f", r->compile);
        hd_table_cell(&t, "%s", "");
    }
    hd_table_print(&t, out);
}

/* ---- means and the worst -------------------------------------------------------------------- */

struct means {
    int n, low;
    double share, dram, host_elements, host_time, compile; /* geometric for the first two */
};

static struct means means_of(const struct hd_zoo_rows *z, const char *machine) {
    struct means m = {0};
    for (size_t i = 0; i < z->n; i++) {
        const struct row *r = &z->rows[i];
        if (r->why || strcmp(r->machine, machine)) continue;
        m.n++;
        m.low += r->share < LOW;
        m.share += log(fmax(r->share, 1e-6));
        m.dram += log(fmax(r->dram, 1e-6));
        m.host_elements += r->host_elements;
        m.host_time += r->host_time;
        m.compile += r->compile;
    }
    if (!m.n) return m;
    m.share = exp(m.share / m.n), m.dram = exp(m.dram / m.n);
    m.host_elements /= m.n, m.host_time /= m.n;
    return m;
}

static int by_share(const void *a, const void *b) {
    double x = (*(const struct row *const *)a)->share, y = (*(const struct row *const *)b)->share;
    return (x > y) - (x < y);
}

static void print_worst(struct hd_zoo_rows *z, const char *machine, FILE *out) {
    const struct row **list = hd_new_array(z->a, const struct row *, z->n + 1);
    size_t n = 0;
    for (size_t i = 0; i < z->n; i++)
        if (!z->rows[i].why && !strcmp(z->rows[i].machine, machine)) list[n++] = &z->rows[i];
    if (!n) return;
    qsort(list, n, sizeof *list, by_share);
    struct means m = means_of(z, machine);
    fprintf(
        out,
        "\n%s: %d networks, %.1f %% of their rooflines by geometric mean, %d under %.0f %%; DRAM "
        "%.2f times the least; host %.1f %% of the elements, %.1f %% of the time; compiled in "
        "%.1f s\n",
        machine, m.n, 100 * m.share, m.low, 100 * LOW, m.dram, 100 * m.host_elements,
        100 * m.host_time, m.compile);
    struct hd_table t;
    hd_table_init(&t, "lrrl");
    hd_table_cells(&t, (const char *[]){"the worst", "roofline", "cycles", "cycles lost to"}, 4);
    for (size_t i = 0; i < n && i < WORST; i++) {
        hd_table_cells(&t, (const char *[]){list[i]->network}, 1);
        hd_table_cell(&t, "%.1f %%", 100 * list[i]->share);
        hd_table_cell(&t, "%.0f", list[i]->cycles);
        hd_table_cells(&t, (const char *[]){list[i]->eaters}, 1);
    }
    hd_table_print(&t, out);
}

static json_object *means_json(const struct means *m, const char *machine) {
    json_object *o = json_object_new_object();
    hd_json_str(o, "machine", machine);
    hd_json_int(o, "networks", m->n);
    hd_json_int(o, "low", m->low);
    hd_json_num(o, "roofline_share", m->share);
    hd_json_num(o, "dram_over_least", m->dram);
    hd_json_num(o, "host_element_share", m->host_elements);
    hd_json_num(o, "host_time_share", m->host_time);
    hd_json_num(o, "compile_seconds", m->compile);
    return o;
}

int hd_zoo_end(struct hd_zoo_rows *z, const char *const *machines, int n_machines) {
    FILE *out = hd_cmd_json_on_stdout(z->c) ? stderr : stdout;
    int status = HD_EXIT_DONE;
    print_rows(z, out);
    json_object *means = json_object_new_array();
    for (int i = 0; i < n_machines; i++) {
        struct means m = means_of(z, machines[i]);
        print_worst(z, machines[i], out);
        json_object_array_add(means, means_json(&m, machines[i]));
    }
    json_object *o = json_object_new_object();
    hd_json_str(o, "schema", "heddle.bench-zoo/1");
    json_object_object_add(o, "means", means);
    json_object_object_add(o, "runs", z->list);
    if (z->c->opt.json)
        status = hd_cmd_write_json(z->c, o);
    else
        json_object_put(o);
    return z->failed ? HD_EXIT_FAILED : status;
}
