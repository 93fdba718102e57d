/* Pages. Of heddle explore: a plot (page/explore.js) of every priced machine, with the layers of
 * those that were confirmed. Of heddle diff: two runs beside each other (page/diff.js). */
#include <string.h>

#include "compiler/explore/explore.h"
#include "compiler/report/html.h"

static const char *const explore_script[] = {
#include "common.js.inc"
#include "explore.js.inc"
    NULL};
static const char *const diff_script[] = {
#include "common.js.inc"
#include "diff.js.inc"
    NULL};

static void add(json_object *row, json_object *layer, const char *key) {
    json_object *v = NULL;
    json_object_object_get_ex(layer, key, &v);
    json_object_array_add(row, json_object_get(v));
}

/* [name, operation, cycles, roofline, bound] of each layer, from the facts of a run. */
static void add_layers(const struct hd_answer *x, const struct hd_point *p, int net,
                       json_object *to) {
    json_object *layers = NULL, *list;
    json_object *facts = json_object_from_file(
        hd_confirm_path(x->a, x->folder, &p->m, &x->nets->of[net], x->device));
    if (facts && json_object_object_get_ex(facts, "layers", &layers)) {
        list = json_object_new_array();
        for (size_t i = 0; i < json_object_array_length(layers); i++) {
            static const char *const keys[] = {"name", "op", "cycles", "roofline_cycles", "bound"};
            json_object *row = json_object_new_array(), *l = json_object_array_get_idx(layers, i);
            for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) add(row, l, keys[k]);
            json_object_array_add(list, row);
        }
        json_object_object_add(to, "layers", list);
    }
    json_object_put(facts);
}

hd_status hd_answer_page(const struct hd_answer *x, const char *path) {
    json_object *o = hd_answer_json(x, true), *params = json_object_new_array(), *points, *nets;
    const char *names = "";
    size_t n;
    struct hd_point **list = hd_points(x->a, &x->space, true, &n);
    for (int i = 0; i < x->nets->n; i++)
        names = hd_sprintf(x->a, "%s%s%s", names, i ? ", " : "", x->nets->of[i].name);
    hd_json_str(o, "title", hd_sprintf(x->a, "Machines for %s", names));
    hd_json_str(o, "subtitle",
                hd_sprintf(x->a,
                           "%s; %zu candidates, %zu priced by the compiler's plan and estimate, "
                           "%zu beaten by bounds; area by the fitted table; energy is an estimate",
                           x->goal.board.name ? x->goal.board.name : "no board", x->space.n_prices,
                           x->count.priced, x->count.beaten));
    for (int i = 0; i < hd_n_machine_params; i++)
        json_object_array_add(params, json_object_new_string(hd_machine_params[i].name));
    json_object_object_add(o, "params", params);
    json_object_object_get_ex(o, "points", &points);
    for (size_t i = 0; x->device && i < n; i++) {
        if (!list[i]->in_front) continue;
        json_object_object_get_ex(json_object_array_get_idx(points, i), "networks", &nets);
        for (int k = 0; k < x->nets->n; k++)
            add_layers(x, list[i], k, json_object_array_get_idx(nets, (size_t)k));
    }
    return hd_page_write(x->c, o, path, "Heddle machines", explore_script);
}

hd_status hd_diff_page(struct hd_cmd *c, json_object *data, const char *path) {
    return hd_page_write(c, data, path, "Heddle differences", diff_script);
}
