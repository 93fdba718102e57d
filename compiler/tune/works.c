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

void hd_tune_list_add(hd_arena *a, struct hd_tune_list *l, const struct hd_tune_work *w) {
    for (size_t i = 0; i < l->n; i++)
        if (!strcmp(l->work[i].name, w->name)) {
            l->work[i].times++;
            return;
        }
    *hd_push(a, l->work, l->n, l->cap) = *w;
    l->work[l->n - 1].times = 1;
}

static void add(hd_arena *a, const struct hd_tunable *w, struct hd_tune_list *l) {
    const char *name = hd_tunable_name(a, w);
    hd_tune_list_add(a, l,
                     &(struct hd_tune_work){
                         .name = name, .label = name, .macs = (double)hd_tunable_macs(w), .w = *w});
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

bool hd_tune_product_asked(const struct hd_cmd *c, const char *text, struct hd_tunable *out) {
    bool is = hd_tune_product(text, out);
    if (is && c->opt.run.only && !strcmp(c->opt.run.only, "int8")) as_bytes(out);
    return is;
}

/* --only says which works count; both without it. */
static bool wanted(const struct hd_cmd *c, const struct hd_tunable *w) {
    const char *only = c->opt.run.only;
    return !only || w->bytes == !strcmp(only, "int8");
}

hd_status hd_tune_network(struct hd_cmd *c, hd_arena *a, const char *path, struct hd_tune_list *l) {
    hd_graph *g;
    struct hd_tunable w;
    if (hd_tune_product_asked(c, path, &w)) {
        add(a, &w, l);
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
        add(a, &w, l);
    }
    hd_graph_destroy(g);
    return s;
}
