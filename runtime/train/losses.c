/* Losses and metrics: see losses.h. */
#include "runtime/train/losses.h"

#include <string.h>

static int total(struct hd_back *b, int x) {
    return hd_b_reduce(b, HD_IR_reducesum, x, 0, NULL, false);
}

static int mean(struct hd_back *b, int x) {
    return hd_b_reduce(b, HD_IR_reducemean, x, 0, NULL, false);
}

/* [.., C] -> [rows, C]; [..] -> [rows] */
static int as_rows(struct hd_back *b, int x, int keep) {
    struct hd_tensor t = hd_b_shape(b, x);
    int64_t c = keep && t.rank ? t.dim[t.rank - 1] : 1, dim[2] = {0, c};
    dim[0] = c ? hd_tensor_elems(&t) / c : 0;
    return hd_b_reshape(b, x, keep + 1, dim);
}

int hd_loss_classes(struct hd_layers *l, int logits, int classes) {
    struct hd_back *b = &l->b;
    l->b.prefix = "loss";
    int x = as_rows(b, logits, 1), node = hd_b_start(b, HD_IR_logsoftmax, 1, &x, 1);
    hd_b_int(b, node, "axis", 1);
    x = hd_b_end(b, node);
    node = hd_b_start(b, HD_IR_nllloss, 2, (int[]){x, as_rows(b, classes, 0)}, 1);
    hd_b_int(b, node, "ignore_index", -1);
    hd_b_string(b, node, "reduction", "mean");
    return hd_b_end(b, node);
}

int hd_loss_square(struct hd_layers *l, int x, int want) {
    l->b.prefix = "loss";
    int off = hd_b(&l->b, sub, x, want);
    return mean(&l->b, hd_b(&l->b, mul, off, off));
}

/* 0, 1, .. n - 1 as [1, n] */
static int places(struct hd_layers *l, int64_t n) {
    int64_t *v = hd_new_array(l->b.arena, int64_t, (size_t)n + 1), dim[2] = {1, n};
    for (int64_t i = 0; i < n; i++) v[i] = i;
    return l->b.status == HD_OK ? hd_graph_const(l->b.g, "places", HD_I64, 2, dim, v) : -1;
}

int hd_loss_hinge(struct hd_layers *l, int scores, int classes) {
    struct hd_back *b = &l->b;
    l->b.prefix = "loss";
    struct hd_tensor t = hd_b_shape(b, scores);
    int zero = hd_b_number(b, HD_F32, 0), one = hd_b_number(b, HD_F32, 1);
    int column = hd_b_reshape(b, classes, 2, (int64_t[]){t.dim[0], 1});
    int own = hd_b(b, equal, column, places(l, t.dim[1]));
    int64_t along = 1;
    int right = hd_b(b, where, own, scores, zero);
    right = hd_b_reduce(b, HD_IR_reducesum, right, 1, &along, true);
    int off = hd_b(b, relu, hd_b(b, add, hd_b(b, sub, scores, right), one));
    off = total(b, hd_b(b, where, own, zero, off));
    return hd_b(b, mul, off, hd_b_number(b, HD_F32, 1 / (double)t.dim[0]));
}

int hd_loss_game(struct hd_layers *l, int real, int made, int judged) {
    struct hd_back *b = &l->b;
    l->b.prefix = "loss";
    int yes = mean(b, hd_b(b, softplus, hd_b(b, neg, real))), no = mean(b, hd_b(b, softplus, made));
    int fool = mean(b, hd_b(b, softplus, hd_b(b, neg, judged)));
    return hd_b(b, add, hd_b(b, add, yes, no), fool);
}

int hd_metric_right(struct hd_layers *l, int logits, int classes) {
    struct hd_back *b = &l->b;
    l->b.prefix = "right";
    int x = as_rows(b, logits, 1), node = hd_b_start(b, HD_IR_argmax, 1, &x, 1);
    hd_b_int(b, node, "axis", 1);
    hd_b_int(b, node, "keepdims", 0);
    int same = hd_b(b, equal, hd_b_end(b, node), as_rows(b, classes, 0));
    return total(b, hd_b_cast(b, same, HD_F32));
}

int hd_metric_off(struct hd_layers *l, int x, int want) {
    l->b.prefix = "off";
    return total(&l->b, hd_b(&l->b, abs, hd_b(&l->b, sub, x, want)));
}

/* ---- CTC ------------------------------------------------------------------------------------ */

/* A path goes through the labels with blanks around each: S = 2 L + 1 places. alpha[s] is the
 * logarithm of what all paths to place s have so far. */
struct ctc {
    struct hd_layers *l;
    int64_t n, steps, places;
    int labels; /* of the places, i64 [N,S]: 0, label, 0, label, .. 0 */
    int skips;  /* bool [N,S]: the path may come from two places before */
    int never;  /* the logarithm of nothing */
};

static int integers(struct hd_layers *l, int rank, const int64_t *dim) {
    struct hd_tensor t = {.dtype = HD_I64, .rank = rank};
    memcpy(t.dim, dim, (size_t)rank * sizeof *dim);
    return hd_b_filled(&l->b, &t, 0);
}

/* x [N,S] moved to the right by k places, and `with` moves in. */
static int moved(struct ctc *c, int x, int64_t k, int with) {
    struct hd_back *b = &c->l->b;
    int first = hd_b_expand(b, with, 2, (int64_t[]){c->n, k});
    return hd_b_concat(b, 2, (int[]){first, hd_b_slice(b, x, 1, 0, c->places - k)}, 1);
}

static void open_ctc(struct ctc *c, int labels) {
    struct hd_back *b = &c->l->b;
    int64_t length = hd_b_shape(b, labels).dim[1], pairs[3] = {c->n, length, 1};
    int zeros = integers(c->l, 3, pairs), both[2] = {zeros, hd_b_reshape(b, labels, 3, pairs)};
    int x = hd_b_reshape(b, hd_b_concat(b, 2, both, 2), 2, (int64_t[]){c->n, 2 * length});
    int end[2] = {x, integers(c->l, 2, (int64_t[]){c->n, 1})};
    c->places = 2 * length + 1;
    c->labels = hd_b_concat(b, 2, end, 1);
    int zero = hd_b_number(b, HD_I64, 0), before = moved(c, c->labels, 2, zero);
    int blank = hd_b(b, equal, c->labels, zero), same = hd_b(b, equal, c->labels, before);
    c->skips = hd_b(b, not, hd_b(b, or, blank, same));
    c->never = hd_b_number(b, HD_F32, -1e30);
}

static int log_sum(struct ctc *c, int n, const int *x) {
    struct hd_back *b = &c->l->b;
    int part[3] = {-1, -1, -1};
    int64_t dim[3] = {c->n, c->places, 1}, last = 2;
    for (int i = 0; i < n; i++) part[i] = hd_b_reshape(b, x[i], 3, dim);
    return hd_b_reduce(b, HD_IR_reducelogsumexp, hd_b_concat(b, n, part, 2), 1, &last, false);
}

/* Logarithms of the places' labels at all steps: [N,T,S] */
static int emissions(struct ctc *c, int logits) {
    struct hd_back *b = &c->l->b;
    int node = hd_b_start(b, HD_IR_logsoftmax, 1, &logits, 1);
    hd_b_int(b, node, "axis", 2);
    int p = hd_b_end(b, node), at = hd_b_reshape(b, c->labels, 3, (int64_t[]){c->n, 1, c->places});
    at = hd_b_expand(b, at, 3, (int64_t[]){c->n, c->steps, c->places});
    node = hd_b_start(b, HD_IR_gatherelements, 2, (int[]){p, at}, 1);
    hd_b_int(b, node, "axis", 2);
    return hd_b_end(b, node);
}

/* x [N,S] where the place is one of the ends, else never. */
static int at_ends(struct ctc *c, int x, int first, int second) {
    struct hd_back *b = &c->l->b;
    int p = places(c->l, c->places);
    int is = hd_b(b, or, hd_b(b, equal, p, first), hd_b(b, equal, p, second));
    return hd_b(b, where, is, x, c->never);
}

int hd_loss_ctc(struct hd_layers *l, int logits, int labels) {
    struct hd_back *b = &l->b;
    l->b.prefix = "loss";
    struct hd_tensor t = hd_b_shape(b, logits);
    struct ctc c = {.l = l, .n = t.dim[0], .steps = t.dim[1]};
    if (b->status != HD_OK) return -1;
    open_ctc(&c, labels);
    int all = emissions(&c, logits), one = hd_b_number(b, HD_I64, 1), alpha = -1;
    for (int64_t i = 0; i < c.steps && b->status == HD_OK; i++) {
        int e = hd_b_slice(b, all, 1, i, i + 1);
        e = hd_b_reshape(b, e, 2, (int64_t[]){c.n, c.places});
        if (i == 0) {
            alpha = at_ends(&c, e, hd_b_number(b, HD_I64, 0), one);
            continue;
        }
        int skip = hd_b(b, where, c.skips, moved(&c, alpha, 2, c.never), c.never);
        alpha = hd_b(b, add, log_sum(&c, 3, (int[]){alpha, moved(&c, alpha, 1, c.never), skip}), e);
    }
    int64_t along = 1;
    int length = hd_b_cast(b, hd_b(b, greater, labels, hd_b_number(b, HD_I64, 0)), HD_I64);
    length = hd_b_reduce(b, HD_IR_reducesum, length, 1, &along, true);
    int end = hd_b(b, mul, length, hd_b_number(b, HD_I64, 2));
    alpha = at_ends(&c, alpha, end, hd_b(b, sub, end, one));
    return mean(b, hd_b(b, neg, hd_b_reduce(b, HD_IR_reducelogsumexp, alpha, 1, &along, false)));
}
