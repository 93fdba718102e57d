/* Shared storage: concat, split and slice that move nothing.
 *
 * needs: a graph, the step in which each node will run
 * gives: lo->share: which tensors lie inside which other ones; which nodes need no layer then
 * destroys: nothing
 *
 * The operands of a concat are written straight into their places of its result, and the readers
 * of a split or slice read their places of its operand. That takes: places that begin with a whole
 * word and a whole vector; writers that write nothing but their own lanes, so all operands of a
 * concat but the last fill their words, or lanes behind them stay unused, where only products read
 * the result; makers in the same program; and each tensor inside one other at most. Along the
 * channels the parts are slices of each pixel, along rows or images they are runs of them. A
 * transpose or reshape that leaves every byte where it is, is a part that is the whole.
 */
#include <math.h>

#include "compiler/partition/partition.h"
#include "runtime/base/num.h"

/* What an axis of a tensor is on the machine. */
enum way { NO_WAY, CHANNELS, ROWS, IMAGES };

static enum way way_of(const struct hd_lowering *lo, int tensor, int axis) {
    const struct hd_tensor *t = &lo->g->tensors[tensor];
    bool outermost = true;
    for (int i = 0; i < axis; i++) outermost = outermost && t->dim[i] == 1;
    if (axis == (lo->rows[tensor] ? t->rank - 1 : 1)) return CHANNELS;
    if (lo->rows[tensor]) return outermost ? ROWS : NO_WAY;
    if (axis == 0) return IMAGES;
    return axis == 2 && t->rank == 4 && t->dim[0] == 1 ? ROWS : NO_WAY;
}

/* Puts `part` at index `at` of the axis of `whole`. */
static void put(struct hd_lowering *lo, int part, int whole, enum way way, int axis, int64_t at) {
    const struct hd_tensor *t = &lo->g->tensors[whole];
    for (int i = axis + 1; way == ROWS && lo->rows[whole] && i < t->rank - 1; i++) at *= t->dim[i];
    lo->share[part] = (struct hd_share){.base = whole,
                                        .c = way == CHANNELS ? (int)at : 0,
                                        .row = way == ROWS ? (int)at : 0,
                                        .img = way == IMAGES ? (int)at : 0};
}

/* Lanes of so many channels: whole words and vectors. */
static int64_t lanes_of(const struct hd_lowering *lo, int64_t channels) {
    return hd_round_up(channels, hd_max(lo->m->k, lo->m->n));
}

static bool knows_parts(const hd_graph *g, const struct hd_node *n) {
    const struct hd_kind *k = hd_kind_of(g, n);
    return k && k->takes_parts;
}

bool hd_renames(const struct hd_lowering *lo, const struct hd_node *n) {
    struct hd_mtensor a, b;
    return n->op == HD_IR_reshape && n->n_in == 1 && hd_machine_shape(lo, n->in[0], &a) &&
           hd_machine_shape(lo, n->out[0], &b) && a.n == b.n && a.h == b.h && a.w == b.w &&
           a.c == b.c && a.rows == b.rows;
}

/* The tensor whose storage t has under its first name, or in its first shape. */
static int first_name(const struct hd_lowering *lo, int t) {
    int maker = lo->g->tensors[t].producer;
    const struct hd_node *n = maker < 0 ? NULL : &lo->g->nodes[maker];
    if (n && hd_renames(lo, n)) return first_name(lo, n->in[0]);
    bool whole = n && lo->shares[maker] && hd_strides_through(n) && lo->share[t].base >= 0;
    return whole ? first_name(lo, lo->share[t].base) : t;
}

/* Its result is its operand in another shape (share_whole), or under another name. */
static bool reshapes(const struct hd_lowering *lo, int node) {
    const struct hd_node *n = &lo->g->nodes[node];
    return (lo->shares[node] && hd_strides_through(n)) || hd_renames(lo, n);
}

/* All its readers on the machine do, also those of it in another shape. */
static bool readers_know(const struct hd_lowering *lo, int tensor, const int *steps) {
    int user[64];
    size_t n = hd_graph_users(lo->g, tensor, user, 64);
    for (size_t i = 0; i < n && i < 64; i++) {
        const struct hd_node *reader = &lo->g->nodes[user[i]];
        bool knows = reshapes(lo, user[i]) ? readers_know(lo, reader->out[0], steps)
                                           : knows_parts(lo->g, reader);
        if (steps[user[i]] % 2 && !knows) return false;
    }
    return n <= 64;
}

/* Made in this step by a layer that can write anywhere. A node that moves data is none: at the
 * border it goes to the host in the end. */
static bool made_here(const struct hd_lowering *lo, int tensor, int step, const int *steps) {
    int maker = lo->g->tensors[first_name(lo, tensor)].producer;
    if (maker < 0 || steps[maker] != step) return false;
    const struct hd_node *n = &lo->g->nodes[maker];
    return lo->shares[maker] || (knows_parts(lo->g, n) && !hd_is_move(lo->g, n));
}

static bool has_shape(const struct hd_lowering *lo, int tensor, bool rows) {
    struct hd_mtensor m;
    return hd_machine_shape(lo, tensor, &m) && lo->rows[tensor] == rows;
}

/* A dense layer, or a convolution without groups: its weights have a place for each channel. */
static bool packs_channels(const struct hd_lowering *lo, const struct hd_node *n) {
    const struct hd_kind *k = hd_kind_of(lo->g, n);
    return k &&
           ((k->packs_pixels && k->packs_pixels(n)) || (k->flat && k->flat(lo, n) != HD_FLAT_NONE));
}

/* Cycles of MX for each pixel of y if its readers take so many words of K channels more; INFINITY:
 * some of them cannot leave lanes out. */
static double gap_cycles(const struct hd_lowering *lo, int y, int64_t words, int step,
                         const int *steps) {
    const hd_graph *g = lo->g;
    int user[64];
    size_t n = hd_graph_users(g, y, user, 64);
    double cycles = 0;
    for (size_t i = 0; i < n && i < 64; i++) {
        const struct hd_node *r = &g->nodes[user[i]];
        if (steps[user[i]] != step || r->in[0] != y || !packs_channels(lo, r)) return INFINITY;
        const struct hd_tensor *w = &g->tensors[r->in[1]];
        int64_t taps = hd_tensor_elems(w) / w->dim[0] / w->dim[1];
        cycles += (double)(words * hd_ceil_div(w->dim[0], lo->m->n) * taps) *
                  hd_pixels_left(g, y, r->out[0]);
    }
    return n > 64 || hd_graph_is_output(g, y) ? INFINITY : cycles;
}

/* Channels of a concat whose operands do not fill their words: each begins with a word, and lanes
 * between them belong to none. false: that is impossible, or costs more than moving the data. */
static bool leave_gaps(struct hd_lowering *lo, const struct hd_node *n, int axis, int step,
                       const int *steps) {
    const hd_graph *g = lo->g;
    int y = n->out[0], c = (int)g->tensors[y].dim[axis], at = 0, lane = 0;
    int *lanes = hd_new_array(lo->arena, int, (size_t)c);
    double moved = 0;
    for (int i = 0; i < n->n_in; i++) {
        int of = (int)g->tensors[n->in[i]].dim[axis];
        for (int k = 0; k < of; k++) lanes[at++] = lane + k;
        lane += (int)lanes_of(lo, of);
        moved += hd_run_cycles(lo, of);
    }
    int64_t words = hd_ceil_div(lane, lo->m->k) - hd_ceil_div(c, lo->m->k);
    if (g->tensors[y].dtype == HD_I16 || lo->opt->keep_all ||
        hd_name_listed(&lo->opt->keep, n->name) || gap_cycles(lo, y, words, step, steps) > moved)
        return false;
    lo->lanes[y] = lanes;
    return true;
}

static bool share_concat(struct hd_lowering *lo, const struct hd_node *n, int step,
                         const int *steps) {
    const hd_graph *g = lo->g;
    int y = n->out[0], axis = (int)hd_attr_int(n, "axis", 0);
    if (axis < 0) axis += g->tensors[y].rank;
    enum way way = way_of(lo, y, axis);
    bool whole = true;
    if (way == NO_WAY || !has_shape(lo, y, lo->rows[y])) return false;
    for (int i = 0; i < n->n_in; i++) {
        int x = n->in[i], first = first_name(lo, x);
        int64_t size = g->tensors[x].dim[axis];
        bool turned = first != x && lo->share[x].base >= 0; /* its rows are others */
        if ((turned && way != CHANNELS) || !has_shape(lo, x, lo->rows[y]) ||
            lo->share[first].base >= 0 || !made_here(lo, x, step, steps) ||
            !readers_know(lo, first, steps))
            return false;
        whole = whole && (i + 1 == n->n_in || lanes_of(lo, size) == size);
        for (int k = 0; k < i; k++)
            if (first_name(lo, n->in[k]) == first) return false;
    }
    if (way == CHANNELS && !whole && !leave_gaps(lo, n, axis, step, steps)) return false;
    int64_t at = 0;
    for (int i = 0; i < n->n_in; i++) {
        int64_t size = g->tensors[n->in[i]].dim[axis];
        put(lo, first_name(lo, n->in[i]), y, way, axis, at);
        at += lo->lanes[y] ? lanes_of(lo, size) : size;
    }
    return true;
}

/* The axis of a slice with step 1, -1 = of several axes, or of another step. */
static int slice_axis(const hd_graph *g, const struct hd_node *n, int64_t *at) {
    const struct hd_tensor *x = &g->tensors[n->in[0]], *y = &g->tensors[n->out[0]];
    int axis = -1;
    for (int i = 0; i < x->rank; i++)
        if (x->dim[i] != y->dim[i]) {
            if (axis >= 0) return -1;
            axis = i;
        }
    int64_t v[3] = {0, 0, 1}; /* start, axis, step: one of each, or it is none for us */
    for (int i = 0; i < 3; i++) {
        int in = (int[]){1, 3, 4}[i];
        if (n->n_in <= in || n->in[in] < 0) continue;
        const struct hd_tensor *t = &g->tensors[n->in[in]];
        if (!t->data || hd_tensor_elems(t) != 1) return -1;
        v[i] = t->dtype == HD_I64 ? *(const int64_t *)t->data : *(const int32_t *)t->data;
    }
    if (v[1] < 0) v[1] += x->rank;
    if (axis < 0 || v[1] != axis || v[2] != 1) return -1;
    *at = v[0] < 0 ? v[0] + x->dim[axis] : v[0];
    return *at < 0 || *at + y->dim[axis] > x->dim[axis] ? -1 : axis;
}

static bool share_parts(struct hd_lowering *lo, const struct hd_node *n, int step,
                        const int *steps) {
    const hd_graph *g = lo->g;
    int x = n->in[0], axis = (int)hd_attr_int(n, "axis", 0);
    int64_t at = 0;
    if (n->op == HD_IR_slice) axis = slice_axis(g, n, &at);
    if (n->op == HD_IR_split && axis < 0) axis += g->tensors[x].rank;
    if (axis < 0 || !made_here(lo, x, step, steps) || !has_shape(lo, x, lo->rows[x])) return false;
    enum way way = way_of(lo, x, axis);
    int64_t first = at;
    if (way == NO_WAY) return false;
    if (way != CHANNELS && reshapes(lo, g->tensors[x].producer)) return false; /* other rows */
    for (int o = 0; o < n->n_out; o++) {
        int y = n->out[o];
        if (y < 0 || !has_shape(lo, y, lo->rows[x]) || lo->share[y].base >= 0 ||
            !readers_know(lo, y, steps) || (way == CHANNELS && lanes_of(lo, at) != at))
            return false;
        at += g->tensors[y].dim[axis];
    }
    for (int o = 0; o < n->n_out; o++) {
        put(lo, n->out[o], x, way, axis, first);
        first += g->tensors[n->out[o]].dim[axis];
    }
    return true;
}

/* The whole tensor under another shape: an image that is read as rows, say, or images as the rows
 * of one. What lies between has no storage. */
static bool share_whole(struct hd_lowering *lo, int node, const int *steps) {
    const hd_graph *g = lo->g;
    int last = hd_same_bytes(lo, node), x = g->nodes[node].in[0], maker = g->tensors[x].producer;
    struct hd_mtensor a, b;
    if (last < 0 || maker < 0 || steps[maker] != steps[node]) return false;
    int y = g->nodes[last].out[0];
    hd_machine_shape(lo, x, &a), hd_machine_shape(lo, y, &b);
    if (b.h * b.w * b.n == 1 || (a.rows == b.rows && a.h == b.h && a.w == b.w)) return false;
    if (!lo->shares[maker] && hd_is_move(g, &g->nodes[maker])) return false;
    if (lo->share[x].base >= 0 && !readers_know(lo, y, steps)) return false;
    for (int i = node; i != last; i = hd_graph_only_user(g, g->nodes[i].out[0]))
        if (steps[i] != steps[last]) return false;
    for (int i = node; i != last; i = hd_graph_only_user(g, g->nodes[i].out[0]))
        lo->shares[i] = true;
    lo->shares[last] = true;
    put(lo, y, x, CHANNELS, 0, 0);
    return true;
}

bool hd_share_node(struct hd_lowering *lo, int node, const int *steps) {
    const struct hd_node *n = &lo->g->nodes[node];
    bool parts = n->op == HD_IR_split || n->op == HD_IR_slice;
    if (lo->shares[node]) return true; /* with one before it */
    return lo->shares[node] = n->op == HD_IR_concat ? share_concat(lo, n, steps[node], steps)
                              : parts               ? share_parts(lo, n, steps[node], steps)
                                                    : share_whole(lo, node, steps);
}

/* ---- of mtensors ---- */

/* The last layer that writes channels of tensor t, which layers may write as parts of others. */
static int last_maker(const struct hd_lowering *lo, const struct hd_mtensor *t) {
    int made = t->def;
    for (size_t i = 0; t->base >= 0 && i < lo->n_layers; i++) {
        const struct hd_mtensor *y = &lo->tensors[lo->layers[i].out];
        bool beside = y->at_c >= t->at_c + t->bytes || t->at_c >= y->at_c + y->bytes;
        if (y->base == t->base && !beside) made = (int)hd_max(made, y->def);
    }
    return made;
}

void hd_share_uses(struct hd_lowering *lo) {
    for (size_t i = 0; i < lo->n_tensors; i++)
        lo->tensors[i].made = last_maker(lo, &lo->tensors[i]);
    for (size_t i = 0; i < lo->n_tensors; i++) {
        struct hd_mtensor *t = &lo->tensors[i], *r = hd_mtensor_root(lo, t);
        t->kept = hd_is_kept(lo, t);
        if (r == t) continue;
        bool same = t->w == r->w && (t->n == r->n || t->h == r->h); /* rows of it, not a shape */
        if (!same && (r->pt || r->pb || r->pl || r->pr)) r->pads_agree = false;
        r->kept = r->kept || t->kept;
        r->made = (int)hd_max(r->made, t->def);
        r->comes_in = r->comes_in || t->comes_in;
        r->goes_out = r->goes_out || t->goes_out;
        r->read_from_dram = r->read_from_dram || t->read_from_dram;
        r->last = (int)hd_max(r->last, hd_max(t->last, t->def));
    }
    for (size_t i = 0; i < lo->n_tensors; i++) {
        struct hd_mtensor *t = &lo->tensors[i];
        const struct hd_mtensor *r = hd_mtensor_root(lo, t);
        t->pt = r->pt, t->pb = r->pb, t->pl = r->pl, t->pr = r->pr;
        t->pad_value = r->pad_value, t->pads_agree = r->pads_agree;
    }
}
