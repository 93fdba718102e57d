/* What a device that plans the graph itself made of it: for people by who computes, in JSON step by
 * step. */
#include <string.h>

#include "compiler/command/table.h"
#include "compiler/report/report.h"

struct group {
    const char *how, *op; /* op: of golden's, each by its own; NULL = all */
    int steps, nodes;
    double seconds;
};

static bool same_text(const char *a, const char *b) {
    return a == b || (a && b && !strcmp(a, b));
}

void hd_print_steps(const struct hd_run_facts *r, FILE *out) {
    if (!r->n_steps) return;
    hd_arena *a = hd_arena_create();
    struct group *list = NULL;
    size_t n = 0, cap = 0;
    double all = 0;
    for (int i = 0; i < r->n_steps; i++) {
        const struct hd_exec_step *s = &r->steps[i];
        const char *op = strcmp(s->how, "golden") ? NULL : s->op;
        struct group *g = NULL;
        for (size_t k = 0; k < n; k++)
            if (same_text(list[k].how, s->how) && same_text(list[k].op, op)) g = &list[k];
        if (!g) {
            g = hd_push(a, list, n, cap);
            g->how = s->how;
            g->op = op;
        }
        g->steps++;
        g->nodes += s->n_nodes;
        g->seconds += s->seconds;
        all += s->seconds;
    }
    struct hd_table t;
    hd_table_init(&t, "lrrrr");
    hd_table_cells(&t, (const char *[]){"computed by", "steps", "nodes", "ms", "share"}, 5);
    for (size_t i = 0; i < n; i++) {
        hd_table_cell(&t, list[i].op ? "%s (%s)" : "%s", list[i].how, list[i].op);
        hd_table_cell(&t, "%d", list[i].steps);
        hd_table_cell(&t, "%d", list[i].nodes);
        hd_table_cell(&t, "%.3f", 1e3 * list[i].seconds);
        hd_table_cell(&t, "%.1f %%", all > 0 ? 100 * list[i].seconds / all : 0);
    }
    hd_table_print(&t, out);
    hd_arena_destroy(a);
}

json_object *hd_steps_json(const struct hd_run_facts *r) {
    json_object *list = json_object_new_array();
    for (int i = 0; i < r->n_steps; i++) {
        const struct hd_exec_step *s = &r->steps[i];
        json_object *o = json_object_new_object();
        hd_json_str(o, "node", s->node);
        hd_json_str(o, "op", s->op);
        hd_json_str(o, "computed_by", s->how);
        hd_json_int(o, "nodes", s->n_nodes);
        hd_json_num(o, "seconds", s->seconds);
        json_object_array_add(list, o);
    }
    return list;
}
