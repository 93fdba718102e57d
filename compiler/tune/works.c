/* What is tuned: products by their sizes, and the works of networks. */
#include <stdio.h>
#include <string.h>

#include "compiler/compiler.h"
#include "compiler/session/session.h"
#include "compiler/tune/tune_int.h"
#include "cpu_ref/cpu_tuned.h"

bool hd_tune_product(const char *text, struct hd_tunable *out) {
    long long rows, columns, inner;
    int used = 0;
    if (sscanf(text, "%lldx%lldx%lld%n", &rows, &columns, &inner, &used) != 3 || text[used] ||
        rows < 1 || columns < 1 || inner < 1 || rows > 1 << 20 || columns > 1 << 20 ||
        inner > 1 << 20)
        return false;
    *out =
        (struct hd_tunable){.product = true, .n = 1, .g = 1, .h = rows, .m = columns, .c = inner};
    return true;
}

static void add(hd_arena *a, const struct hd_tunable *w, struct hd_tune_work **list, size_t *n,
                size_t *cap) {
    const char *name = hd_tunable_name(a, w);
    for (size_t i = 0; i < *n; i++)
        if (!strcmp((*list)[i].name, name)) {
            (*list)[i].times++;
            return;
        }
    if (*n == *cap) {
        struct hd_tune_work *more = hd_new_array(a, struct hd_tune_work, *cap ? 2 * *cap : 64);
        if (*n) memcpy(more, *list, *n * sizeof *more);
        *list = more;
        *cap = *cap ? 2 * *cap : 64;
    }
    (*list)[(*n)++] = (struct hd_tune_work){*w, name, 1};
}

/* Known before a run: devices compute what nodes make of constants when they plan. */
static bool is_constant(const hd_graph *g, int t) {
    if (t < 0 || g->tensors[t].data) return true;
    if (g->tensors[t].producer < 0) return false;
    const struct hd_node *n = &g->nodes[g->tensors[t].producer];
    for (int i = 0; i < n->n_in; i++)
        if (!is_constant(g, n->in[i])) return false;
    return true;
}

/* A product of bytes as networks have them. */
static void as_bytes(struct hd_tunable *w) {
    w->bytes = w->rows = w->y_signed = true;
    w->x_zp = 128, w->lo = -128, w->hi = 127;
}

/* --only says which works count; both without it. */
static bool wanted(const struct hd_cmd *c, const struct hd_tunable *w) {
    const char *only = c->opt.run.only;
    return !only || w->bytes == !strcmp(only, "int8");
}

hd_status hd_tune_network(struct hd_cmd *c, hd_arena *a, const char *path,
                          struct hd_tune_work **list, size_t *n, size_t *cap) {
    hd_graph *g;
    struct hd_tunable w;
    if (hd_tune_product(path, &w)) {
        if (c->opt.run.only && !strcmp(c->opt.run.only, "int8")) as_bytes(&w);
        add(a, &w, list, n, cap);
        return HD_OK;
    }
    const char *file;
    TRY(hd_model_path(c, a, path, &file));
    TRY(hd_cmd_import(c, file, &g));
    hd_status s = hd_legalize(c->ctx, g);
    for (size_t i = 0; i < g->n_nodes && s == HD_OK; i++) {
        const struct hd_node *x = &g->nodes[i];
        if (x->dead || !hd_cpu_work_of(c->ctx, g, (int)i, &w)) continue;
        bool fixed = is_constant(g, x->in[1]) && (x->n_in < 3 || is_constant(g, x->in[2]));
        if (!fixed || is_constant(g, x->in[0])) continue;
        if (!wanted(c, &w)) continue;
        int user = hd_graph_only_user(g, x->out[0]);
        w.relu = !w.bytes && user >= 0 && g->nodes[user].op == HD_IR_relu;
        add(a, &w, list, n, cap);
    }
    hd_graph_destroy(g);
    return s;
}
