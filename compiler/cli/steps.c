/* What a device that plans the graph itself made of it: for people by who computes, in JSON step by
 * step. */
#include <string.h>

#include "compiler/cli/cli.h"

struct group {
    const char *how, *op; /* op: of golden's, each by its own; NULL = all */
    int steps, nodes;
    double seconds;
};

static bool same_text(const char *a, const char *b) {
    return a == b || (a && b && !strcmp(a, b));
}

void cli_print_steps(const struct cli_run *r, FILE *out) {
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
    struct cli_table t;
    cli_table_init(&t, "lrrrr");
    cli_cells(&t, (const char *[]){"computed by", "steps", "nodes", "ms", "share"}, 5);
    for (size_t i = 0; i < n; i++) {
        cli_cell(&t, list[i].op ? "%s (%s)" : "%s", list[i].how, list[i].op);
        cli_cell(&t, "%d", list[i].steps);
        cli_cell(&t, "%d", list[i].nodes);
        cli_cell(&t, "%.3f", 1e3 * list[i].seconds);
        cli_cell(&t, "%.1f %%", all > 0 ? 100 * list[i].seconds / all : 0);
    }
    cli_table_print(&t, out);
    hd_arena_destroy(a);
}

json_object *cli_steps_json(const struct cli_run *r) {
    json_object *list = json_object_new_array();
    for (int i = 0; i < r->n_steps; i++) {
        const struct hd_exec_step *s = &r->steps[i];
        json_object *o = json_object_new_object();
        cli_add_str(o, "node", s->node);
        cli_add_str(o, "op", s->op);
        cli_add_str(o, "computed_by", s->how);
        cli_add_int(o, "nodes", s->n_nodes);
        cli_add_num(o, "seconds", s->seconds);
        json_object_array_add(list, o);
    }
    return list;
}
