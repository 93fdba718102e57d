/* Products that several devices share: see parts.h. The heaviest product is cut first; a cut stays
 * where the placement gets cheaper by it. */
#include "runtime/train/parts.h"

#include <math.h>
#include <string.h>

#include "compiler/grad/build.h"
#include "compiler/place/place.h"
#include "runtime/base/element.h"

/* WORD: columns of a part, a multiple of them. TRIES: products that are tried. A product of less
 * than a 1/SMALL of all work is not, and a cut has to save 1/GAIN. */
enum { WORD = 16, TRIES = 16, SMALL = 32, GAIN = 50 };

struct cut { /* of one product */
    int node;
    int64_t at[HD_DEVICES_TOGETHER + 1]; /* where a part begins; the last one is the end */
    int parts;
};

static bool is_product(const hd_graph *g, const struct hd_node *n) {
    if (n->op != HD_IR_gemm && n->op != HD_IR_matmul) return false;
    const struct hd_tensor *y = &g->tensors[n->out[0]], *w = &g->tensors[n->in[1]];
    return y->rank >= 2 && w->rank >= 2 && hd_k_is_float(y->dtype) &&
           !hd_attr_get(n, "by"); /* axes by name */
}

static double work(const hd_graph *g, int node) {
    return (double)hd_node_macs(g, &g->nodes[node]);
}

/* Cheaper than `last`, and the first of those: by work, then by name. */
static int next_product(const struct hd_placing *p, double last, const char *name) {
    const hd_graph *g = p->g;
    double all = 0;
    int best = -1;
    for (size_t i = 0; i < p->n_order; i++) all += work(g, p->order[i]);
    for (size_t i = 0; i < p->n_order; i++) {
        int id = p->order[i];
        double w = work(g, id);
        if (!is_product(g, &g->nodes[id]) || w * SMALL < all) continue;
        if (w > last || (w == last && strcmp(g->nodes[id].name, name) <= 0)) continue;
        double than = best < 0 ? -1 : work(g, best);
        if (w > than || (w == than && strcmp(g->nodes[id].name, g->nodes[best].name) < 0))
            best = id;
    }
    return best;
}

/* Widths as the devices are fast. */
static struct cut cut_of(const struct hd_placing *p, int node) {
    const struct hd_tensor *y = &p->g->tensors[p->g->nodes[node].out[0]];
    const double *ns = p->ns + (ptrdiff_t)node * p->list->n;
    struct cut c = {.node = node};
    const int64_t n = y->dim[y->rank - 1];
    double all = 0, sum = 0;
    for (int d = 0; d < p->list->n; d++) all += 1 / ns[d];
    for (int d = 0; d < p->list->n; d++) {
        sum += 1 / ns[d];
        int64_t end = d + 1 == p->list->n ? n : llround((double)n * sum / all / WORD) * WORD;
        if (end <= c.at[c.parts] || end > n) continue;
        c.at[++c.parts] = end;
    }
    c.at[c.parts] = n;
    return c;
}

static int columns(struct hd_back *b, int x, int axis, int64_t from, int64_t to) {
    struct hd_tensor t = hd_b_shape(b, x);
    bool all = axis < 0 || t.dim[axis] == 1; /* it is for every column */
    return all ? x : hd_b_slice(b, x, axis, from, to);
}

static hd_status apply(hd_ctx *ctx, hd_graph *g, const struct cut *c) {
    struct hd_back b = {.ctx = ctx, .g = g, .arena = g->arena, .prefix = "part"};
    const struct hd_node n = g->nodes[c->node];
    int part[HD_DEVICES_TOGETHER], rank = hd_b_shape(&b, n.out[0]).rank, in[3], n_in = n.n_in;
    int turned = n.op == HD_IR_gemm && hd_attr_int(&n, "transB", 0);
    for (int i = 0; i < c->parts; i++) {
        int64_t from = c->at[i], to = c->at[i + 1];
        in[0] = n.in[0];
        in[1] = columns(&b, n.in[1], hd_b_shape(&b, n.in[1]).rank - 1 - turned, from, to);
        if (n_in > 2 && n.in[2] < 0) n_in = 2;
        if (n_in > 2) in[2] = columns(&b, n.in[2], hd_b_shape(&b, n.in[2]).rank - 1, from, to);
        int node = hd_b_start(&b, n.op, n_in, in, 1);
        hd_b_copy(&b, node, &n);
        part[i] = hd_b_end(&b, node);
    }
    TRY(b.status);
    hd_graph_kill(g, c->node);
    int id = hd_graph_node(g, HD_IR_concat, n.name, c->parts, part, 1, n.out);
    hd_attr_set_int(g, id, "axis", rank - 1);
    return hd_graph_infer_node(ctx, g, id);
}

/* What the best placement that is found costs, in ns. */
static double price(const hd_graph *g, const struct hd_device_list *devices, hd_arena *a,
                    struct hd_placing *out) {
    int *order = hd_new_array(a, int, g->n_nodes + 1);
    *out = (struct hd_placing){.a = a, .g = g, .list = devices, .order = order};
    out->n_order = hd_graph_order(g, order);
    hd_place_prices(out);
    return hd_place_cost(out, hd_place_devices(out));
}

/* The graph with a product cut; NULL where that is not cheaper than `cost`. */
static hd_status try(hd_ctx *ctx, const struct hd_placing *p, const struct cut *c, double cost,
                     hd_graph **out) {
    hd_arena *a = hd_arena_create();
    struct hd_placing with;
    hd_status s = hd_graph_copy(ctx, p->g, out);
    if (s == HD_OK) s = apply(ctx, *out, c);
    if (s != HD_OK || price(*out, p->list, a, &with) > cost * (1 - 1.0 / GAIN)) {
        hd_graph_destroy(*out);
        *out = NULL;
    }
    hd_arena_destroy(a);
    return s;
}

static hd_status cut_products(hd_ctx *ctx, const struct hd_device_list *devices, hd_arena *a,
                              hd_graph **g, int *out_n) {
    struct hd_placing p;
    const char *name = "";
    double last = INFINITY, cost = price(*g, devices, a, &p);
    for (int i = 0; i < TRIES; i++) {
        int node = next_product(&p, last, name);
        if (node < 0) break;
        struct cut c = cut_of(&p, node);
        hd_graph *with = NULL;
        last = work(*g, node), name = hd_strdup(a, (*g)->nodes[node].name);
        if (c.parts > 1) TRY(try(ctx, &p, &c, cost, &with));
        if (!with) continue;
        hd_graph_destroy(*g);
        *g = with;
        cost = price(*g, devices, a, &p);
        ++*out_n;
    }
    return HD_OK;
}

hd_status hd_train_parts(hd_ctx *ctx, const struct hd_device_list *devices, hd_graph **g,
                         int *out_n) {
    hd_arena *a = hd_arena_create();
    *out_n = 0;
    hd_status s = devices->n < 2 || devices->machine >= 0 || devices->on
                      ? HD_OK
                      : cut_products(ctx, devices, a, g, out_n);
    hd_arena_destroy(a);
    return s;
}
