/* Which elements of a tensor a part of a loop nest reads: a box whose corner moves with the loops
 * around the part. */
#include <string.h>

#include "compiler/expr/expr_int.h"
#include "compiler/loop/loop_int.h"

struct part { /* base + lo .. base + hi */
    int base; /* node, -1 = 0 */
    int64_t lo, hi;
};

static bool moves(const struct hd_expr *f, int node, const bool *inner) {
    const struct hd_expr_node *k = &f->node[node];
    if (k->op == HD_EXPR_VAR) return inner[k->i];
    for (int i = 0; i < k->n; i++)
        if (moves(f, k->arg[i], inner)) return true;
    return false;
}

static int base_of(struct hd_lowering *l, enum hd_expr_op op, int a, int b) {
    if (b < 0) return a;
    if (a < 0 && op == HD_EXPR_add) return b;
    return hd_node_of(l, op, a < 0 ? hd_node_int(l, 0) : a, b);
}

/* False: it moves in a way that is no sum of products with constants. */
static bool split_index(struct hd_lowering *l, int node, const bool *inner, struct part *out) {
    const struct hd_expr_node k = l->f->node[node];
    struct part a, b;
    int64_t c;
    *out = (struct part){-1, 0, 0};
    if (k.op == HD_EXPR_INT) {
        out->lo = out->hi = k.i;
        return true;
    }
    if (k.op == HD_EXPR_VAR && inner[k.i]) {
        out->hi = l->nest->loop[k.i].extent - 1;
        return true;
    }
    if (k.op == HD_EXPR_add || k.op == HD_EXPR_sub) {
        if (!split_index(l, k.arg[0], inner, &a) || !split_index(l, k.arg[1], inner, &b))
            return false;
        bool add = k.op == HD_EXPR_add;
        out->base = base_of(l, k.op, a.base, b.base);
        out->lo = a.lo + (add ? b.lo : -b.hi);
        out->hi = a.hi + (add ? b.hi : -b.lo);
        return true;
    }
    if (!moves(l->f, node, inner)) {
        out->base = node;
        return true;
    }
    if (k.op != HD_EXPR_mul) return false;
    int side = hd_expr_constant(l->f, k.arg[0], &c) ? 1 : 0;
    if (!hd_expr_constant(l->f, k.arg[1 - side], &c)) return false;
    if (!split_index(l, k.arg[side], inner, &a)) return false;
    if (a.base >= 0) out->base = hd_node_of(l, HD_EXPR_mul, a.base, hd_node_int(l, c));
    out->lo = c < 0 ? a.hi * c : a.lo * c;
    out->hi = c < 0 ? a.lo * c : a.hi * c;
    return true;
}

bool hd_node_range(struct hd_lowering *l, int node, int64_t *lo, int64_t *hi) {
    bool all[HD_LOOP_MAX];
    struct part p;
    memset(all, true, sizeof all);
    if (!split_index(l, node, all, &p) || p.base >= 0) return false;
    *lo = p.lo;
    *hi = p.hi;
    return true;
}

static hd_status add_read(struct hd_lowering *l, const struct hd_expr_node *k, const bool *inner,
                          struct hd_region *r) {
    const char *name = l->f->tensor[k->i].name;
    if (k->checked)
        return hd_step_fail(l, "'%s' is read through an index tensor, so its part is not known",
                            name);
    bool first = !r->n_reads++;
    for (int d = 0; d < k->n; d++) {
        struct part p;
        if (!split_index(l, k->arg[d], inner, &p))
            return hd_step_fail(l,
                                "dimension %d of '%s': its index is no sum of loops times "
                                "constants inside; a fused loop or a pack may be the reason",
                                d, name);
        if (first) {
            r->base[d] = p.base;
            r->lo[d] = p.lo;
            r->hi[d] = p.hi;
            continue;
        }
        if ((p.base < 0) != (r->base[d] < 0) ||
            (p.base >= 0 && !hd_same_node(l->f, p.base, r->base[d])))
            return hd_step_fail(l, "dimension %d of '%s' is read at places that move apart", d,
                                name);
        if (p.lo < r->lo[d]) r->lo[d] = p.lo;
        if (p.hi > r->hi[d]) r->hi[d] = p.hi;
    }
    return HD_OK;
}

static hd_status find(struct hd_lowering *l, int node, int tensor, const bool *inner,
                      struct hd_region *r) {
    const struct hd_expr_node k = l->f->node[node]; /* nodes may move */
    for (int i = 0; i < k.n; i++) TRY(find(l, k.arg[i], tensor, inner, r));
    return k.op == HD_EXPR_ACCESS && k.i == tensor ? add_read(l, &k, inner, r) : HD_OK;
}

hd_status hd_region_find(struct hd_lowering *l, int root, int tensor, const bool *inner,
                         struct hd_region *out) {
    *out = (struct hd_region){0};
    return find(l, root, tensor, inner, out);
}

/* 0 <= index < size in every dimension, for an access that pad stands before. */
static int inside(struct hd_lowering *l, const struct hd_expr_node *k) {
    int all = -1;
    for (int d = 0; d < k->n; d++) {
        int64_t size = l->f->tensor[k->i].dim[d].value;
        int low = hd_node_of(l, HD_EXPR_ge, k->arg[d], hd_node_int(l, 0));
        int high = hd_node_of(l, HD_EXPR_lt, k->arg[d], hd_node_int(l, size));
        low = hd_node_of(l, HD_EXPR_and, low, high);
        all = all < 0 ? low : hd_node_of(l, HD_EXPR_and, all, low);
    }
    return all;
}

/* x without `term` in its sum; false = it is not there. */
static bool drop(struct hd_lowering *l, int x, int term, int *out) {
    const struct hd_expr_node k = l->f->node[x];
    if (hd_same_node(l->f, x, term)) {
        *out = hd_node_int(l, 0);
        return true;
    }
    if (k.op != HD_EXPR_add && k.op != HD_EXPR_sub) return false;
    if (drop(l, k.arg[0], term, out)) {
        *out = hd_node_of(l, k.op, *out, k.arg[1]);
        return true;
    }
    if (k.op == HD_EXPR_sub || !drop(l, k.arg[1], term, out)) return false;
    *out = hd_node_of(l, k.op, k.arg[0], *out);
    return true;
}

static int minus(struct hd_lowering *l, int x, int base) {
    const struct hd_expr_node k = l->f->node[base];
    if (k.op == HD_EXPR_add) return minus(l, minus(l, x, k.arg[0]), k.arg[1]);
    int y;
    return drop(l, x, base, &y) ? y : hd_node_of(l, HD_EXPR_sub, x, base);
}

void hd_buffer_order(const struct hd_buffer *b, int rank, int *list) {
    if (b->last < 0) return;
    int last = list[b->last];
    memmove(&list[b->last], &list[b->last + 1], (size_t)(rank - 1 - b->last) * sizeof *list);
    list[rank - 1] = last;
}

enum { NO_READ = -2 };

/* NO_READ: it is not read. */
static int padding(const struct hd_expr *f, int node, int tensor) {
    const struct hd_expr_node *k = &f->node[node];
    int found = NO_READ;
    if (k->op == HD_EXPR_PAD && f->node[k->arg[0]].i == tensor) {
        const struct hd_expr_node *v = &f->node[k->arg[1]];
        return v->op == HD_EXPR_INT || v->op == HD_EXPR_FLOAT ? k->arg[1] : -1;
    }
    if (k->op == HD_EXPR_ACCESS && k->i == tensor) return -1;
    for (int i = 0; i < k->n; i++) {
        int one = padding(f, k->arg[i], tensor);
        if (one == NO_READ) continue;
        if (one < 0 || (found != NO_READ && !hd_same_node(f, one, found))) return -1;
        found = one;
    }
    return found;
}

int hd_node_padding(const struct hd_expr *f, int node, int tensor) {
    int found = padding(f, node, tensor);
    return found == NO_READ ? -1 : found;
}

static int to_buffer(struct hd_lowering *l, const struct hd_buffer *b,
                     const struct hd_expr_node *k) {
    int index[HD_EXPR_RANK], n = k->n;
    for (int d = 0; d < k->n; d++) {
        index[d] = k->arg[d];
        if (b->loop < 0) continue;
        if (b->region.base[d] >= 0) index[d] = minus(l, index[d], b->region.base[d]);
        index[d] = hd_node_of(l, HD_EXPR_sub, index[d], hd_node_int(l, b->region.lo[d]));
    }
    if (b->loop < 0) { /* packed: block number, place in the block */
        index[n++] = hd_node_of(l, HD_EXPR_mod, index[b->dim], hd_node_int(l, b->block));
        index[b->dim] = hd_node_of(l, HD_EXPR_div, index[b->dim], hd_node_int(l, b->block));
    }
    hd_buffer_order(b, n, index);
    return hd_node_access(l, b->buffer, n, index);
}

int hd_node_redirect(struct hd_lowering *l, const struct hd_buffer *b, int node) {
    struct hd_expr_node k = l->f->node[node];
    for (int i = 0; i < k.n; i++) {
        int arg = hd_node_redirect(l, b, k.arg[i]);
        k.arg[i] = arg;
    }
    const struct hd_expr_node *x =
        k.op == HD_EXPR_PAD ? &l->f->node[l->f->node[node].arg[0]] : NULL;
    if (k.op == HD_EXPR_ACCESS && k.i == b->tensor) return to_buffer(l, b, &k);
    if (x && x->i == b->tensor && b->outside >= 0) return k.arg[0]; /* it has the border */
    if (x && x->i == b->tensor) {                                   /* the buffer has no border */
        const struct hd_expr_node access = *x;
        k.arg[2] = k.arg[1];
        k.arg[1] = k.arg[0];
        k.arg[0] = inside(l, &access);
        k.n = 3;
        k.op = HD_EXPR_SELECT;
    }
    int copy = hd_expr_new_node(l->f, k.op, k.at);
    l->f->node[copy] = k;
    return copy;
}
