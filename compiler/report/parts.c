/* What each of several devices ran of a network, and why: for people and as JSON. */
#include "compiler/report/report.h"

#include "compiler/command/table.h"

int64_t hd_part_bytes(const hd_model *m, const int *values, int n) {
    int64_t bytes = 0;
    for (int i = 0; i < n; i++) bytes += (int64_t)hd_value_dense_bytes(&m->values[values[i]]);
    return bytes;
}

int hd_part_nodes(const hd_model *m, int step) {
    int n = m->steps[step].n_nodes;
    for (int i = 0; m->steps[step].kind == HD_STEP_PROG && i < m->n_layers; i++)
        n += m->layers[i].step == step;
    return n;
}

void hd_print_parts(const struct hd_run_facts *r, FILE *out) {
    struct hd_table t;
    if (!r->parts) return;
    hd_table_init(&t, "rlrrrrl");
    hd_table_cells(&t,
                   (const char *[]){"step", "device", "nodes", "bytes in", "bytes out", "ms here",
                                    "work of its nodes, about"},
                   7);
    for (int i = 0; i < r->model->n_steps; i++) {
        const struct hd_step *s = &r->model->steps[i];
        hd_table_cell(&t, "%d", i);
        hd_table_cell(&t, "%s", r->parts[i].device);
        hd_table_cell(&t, "%d", hd_part_nodes(r->model, i));
        hd_table_cell(&t, "%lld", (long long)hd_part_bytes(r->model, s->inputs, s->n_inputs));
        hd_table_cell(&t, "%lld", (long long)hd_part_bytes(r->model, s->outputs, s->n_outputs));
        hd_table_cell(&t, "%.3f", 1e3 * r->parts[i].seconds);
        hd_table_cell(&t, "%s", s->why ? s->why : "not placed by cost");
    }
    fputs("\n", out);
    hd_table_print(&t, out);
    fputs("a machine's work is at its clock; ms here are those of this run, also of a simulation\n",
          out);
}

json_object *hd_parts_json(const struct hd_run_facts *r) {
    json_object *list = json_object_new_array();
    for (int i = 0; i < r->model->n_steps; i++) {
        const struct hd_step *s = &r->model->steps[i];
        json_object *o = json_object_new_object();
        hd_json_str(o, "device", r->parts[i].device);
        hd_json_int(o, "nodes", hd_part_nodes(r->model, i));
        hd_json_int(o, "in_bytes", hd_part_bytes(r->model, s->inputs, s->n_inputs));
        hd_json_int(o, "out_bytes", hd_part_bytes(r->model, s->outputs, s->n_outputs));
        hd_json_num(o, "seconds", r->parts[i].seconds);
        hd_json_str(o, "why", s->why);
        json_object_array_add(list, o);
    }
    return list;
}
