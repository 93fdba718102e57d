/* Moves of single channels as products, for the machine.
 *
 *   any chain of moves from one tensor x in which each channel of the result is a channel of x at
 *   an even distance    ->   qconv by 0 and 1;   where rows of the last dimension move so, qgemm
 *
 * needs: shapes, integers of 8 bits. gives: the same values: weights are one 1 in each row (-1
 * where a table on the way turns the sign), the scale is 1; what is filled is the padding. A 1x1
 * convolution behind it takes the moves into its weights. destroys: nodes that nothing reads
 *
 * The channels of a pixel lie side by side in memory, so that moving them costs an access a run;
 * the matrix unit moves K of them a cycle. So channel shuffles, halves that are rotated, windows
 * unfolded into channels are products, but not slices and concats of whole runs. The columns of an
 * image lie across memory: they move as they are. Golden moves indexes to say what goes where.
 */
#include <string.h>

#include "compiler/pass/pass.h"
#include "compiler/pass/qdq.h"
#include "cpu_ref/golden.h"
#include "runtime/base/num.h"

enum {
    CHANNELS_MOST = 512, /* beyond that the matrix, C x C, is the larger cost */
    TAPS_MOST = 32,
    ELEMENTS_MOST = 1 << 21,
    NODES_MOST = 64,
    LANES = 16,     /* of the array that the costs below are of */
    RUN_CYCLES = 4, /* of the load unit for a short run */
    TABLE = 32      /* bits of an element's value before the node whose table it passes */
};

struct chain {
    hd_ctx *ctx;
    hd_graph *g;
    hd_arena *a;
    int source, node[NODES_MOST], n; /* nodes in their order */
    int fill;                        /* the byte that fills */
    bool rows;                       /* looked at: rows of the last dimension, not images */
    bool tables, pads;               /* there are some on the way; also constants that fill */
    const int64_t *of;               /* per element of the result: 0 = filled, else 1 + index */
};

/* Where a channel of the result comes from: pixel (y, x) from (y*sy + row, x*sx + col). */
struct from {
    int64_t c, row, col; /* c -1: it is filled */
    int sign, add;       /* sign * value + add */
};

struct sides { /* images of channels; rows have h = n = 1 */
    int64_t n, c, h, w;
};

struct stencil {
    struct sides x, y;
    int dims; /* of an image: 1 or 2 */
    int64_t sy, sx, kh, kw, pt, pl, pb, pr;
    struct from *of; /* per channel of the result */
    int64_t runs;    /* of channels that lie side by side in both */
};

static int64_t index_of(int64_t element) {
    return element % (INT64_C(1) << TABLE);
}

static bool is_bytes(const struct hd_tensor *t) {
    return t->known && !t->data && (t->dtype == HD_I8 || t->dtype == HD_U8);
}

/* Moves its first operand only, to places that are known. */
static bool moves_one(const hd_graph *g, const struct hd_node *n) {
    if (n->op == HD_IR_concat || n->op == HD_IR_maxpool || n->op == HD_IR_qmaxpool ||
        n->op == HD_IR_resize || hd_qdq_moved_operands(n) != 1)
        return false;
    for (int i = 1; i < n->n_in; i++)
        if (n->in[i] >= 0 && !g->tensors[n->in[i]].data) return false;
    return is_bytes(&g->tensors[n->in[0]]);
}

/* A constant of one byte all over. */
static bool fills(const hd_graph *g, int t) {
    const struct hd_tensor *x = &g->tensors[t];
    int64_t n = hd_tensor_elems(x);
    bool bytes = x->data && n > 0 && (x->dtype == HD_I8 || x->dtype == HD_U8);
    return bytes && !memcmp(x->data, (const char *)x->data + 1, (size_t)n - 1);
}

/* The tensor that all of t comes from by moves and tables, no further back than `stop`. */
static int source_of(const hd_graph *g, int t, int stop) {
    int maker = g->tensors[t].producer, root;
    if (maker < 0 || t == stop) return t;
    const struct hd_node *n = &g->nodes[maker];
    if (moves_one(g, n) || n->op == HD_IR_qtable) return source_of(g, n->in[0], stop);
    if (n->op != HD_IR_concat) return t;
    root = -1;
    for (int i = 0; i < n->n_in; i++) {
        if (fills(g, n->in[i])) continue;
        int from = source_of(g, n->in[i], stop);
        if (root >= 0 && from != root) return t;
        root = from;
    }
    return root < 0 ? t : root;
}

/* Places are filled with the byte at `from`; NULL: 0. False: others are filled with another. */
static bool fill_with(struct chain *k, const void *from, hd_dtype type) {
    int byte = !from ? 0 : type == HD_U8 ? *(const uint8_t *)from : *(const int8_t *)from;
    bool agrees = !k->pads || byte == k->fill;
    k->pads = true, k->fill = byte;
    return agrees;
}

/* The nodes between the source and t, in their order; false: too many, or two fill. */
static bool collect(struct chain *k, int t) {
    int maker = k->g->tensors[t].producer;
    if (fills(k->g, t)) return fill_with(k, k->g->tensors[t].data, k->g->tensors[t].dtype);
    if (t == k->source || maker < 0) return t == k->source;
    const struct hd_node *n = &k->g->nodes[maker];
    for (int i = 0; i < k->n; i++)
        if (k->node[i] == maker) return true;
    for (int i = 0; i < (n->op == HD_IR_concat ? n->n_in : 1); i++)
        if (!collect(k, n->in[i])) return false;
    if (k->n == NODES_MOST) return false;
    k->node[k->n++] = maker;
    k->tables = k->tables || n->op == HD_IR_qtable;
    if (n->op == HD_IR_pad) {
        int with = n->n_in > 2 ? n->in[2] : -1;
        if (strcmp(hd_attr_string(n, "mode", "constant"), "constant") ||
            !fill_with(k, with < 0 ? NULL : k->g->tensors[with].data, k->g->tensors[t].dtype))
            return false;
    }
    return !(k->pads && k->tables);
}

/* Some node changes the order of channels; without one runs are long. */
static bool reorders(const struct chain *k) {
    for (int i = 0; i < k->n; i++) {
        const struct hd_node *n = &k->g->nodes[k->node[i]];
        enum hd_ir_op op = n->op;
        const struct hd_tensor *x = &k->g->tensors[n->in[0]], *y = &k->g->tensors[n->out[0]];
        if (op == HD_IR_slice && hd_same_shape(x, y)) return true; /* it turns an order round */
        if (op == HD_IR_transpose || op == HD_IR_gather || op == HD_IR_concat ||
            op == HD_IR_depthtospace || op == HD_IR_spacetodepth || op == HD_IR_reversesequence)
            return true;
    }
    return false;
}

/* A table marks what passes it. */
static void mark(struct chain *k, int node, struct hd_tensor *t) {
    const struct hd_node *n = &k->g->nodes[node];
    int64_t elems = hd_tensor_elems(&t[n->out[0]]),
            *to = hd_new_array(k->a, int64_t, (size_t)elems);
    const int64_t *from = t[n->in[0]].data;
    for (int64_t e = 0; e < elems; e++) to[e] = index_of(from[e]) + ((int64_t)(node + 1) << TABLE);
    t[n->out[0]].data = to;
}

static void filled(struct chain *k, struct hd_tensor *t) {
    t->dtype = HD_I64;
    t->data = hd_new_array(k->a, int64_t, (size_t)hd_tensor_elems(t));
}

/* k->of for tensor y. */
static hd_status trace(struct chain *k, int y) {
    hd_graph g = *k->g; /* the same nodes over tensors of int64 */
    struct hd_tensor *t = hd_golden_tensors(&g, k->a), *x = &t[k->source];
    int64_t n = hd_tensor_elems(x), *v = hd_new_array(k->a, int64_t, (size_t)n);
    for (int64_t i = 0; i < n; i++) v[i] = 1 + i;
    x->dtype = HD_I64, x->data = v, x->known = true;
    for (int i = 0; i < k->n; i++) {
        const struct hd_node *nd = &g.nodes[k->node[i]];
        for (int o = 0; o < nd->n_out; o++)
            if (nd->out[o] >= 0) t[nd->out[o]].dtype = HD_I64;
        for (int o = 0; nd->op == HD_IR_concat && o < nd->n_in; o++)
            if (fills(k->g, nd->in[o])) filled(k, &t[nd->in[o]]);
        if (nd->op != HD_IR_pad || nd->n_in < 3 || nd->in[2] < 0) continue;
        filled(k, &t[nd->in[2]]);
    }
    g.tensors = hd_dup(k->a, t, g.n_tensors * sizeof *t);
    for (int i = 0; i < k->n; i++)
        if (g.nodes[k->node[i]].op == HD_IR_qtable)
            mark(k, k->node[i], t);
        else
            TRY(hd_golden_eval(k->ctx, &g, &k->node[i], 1, t, k->a));
    k->of = t[y].data;
    return HD_OK;
}

/* ---- what moves where ---- */

/* What is between the images and their one or two dimensions are channels. */
static bool sides_of(const struct hd_tensor *t, bool rows, int dims, struct sides *out) {
    int64_t all = hd_tensor_elems(t), w = t->rank ? t->dim[t->rank - 1] : 1;
    if (all <= 0 || t->rank < (rows ? 2 : dims + 2)) return false;
    int64_t n = rows ? 1 : t->dim[0], h = !rows && dims == 2 ? t->dim[t->rank - 2] : 1;
    *out = rows ? (struct sides){1, w, 1, all / w} : (struct sides){n, all / n / h / w, h, w};
    return out->c <= CHANNELS_MOST;
}

static int64_t element(const struct sides *s, bool rows, int64_t n, int64_t c, int64_t y,
                       int64_t x) {
    return rows ? x * s->c + c : ((n * s->c + c) * s->h + y) * s->w + x;
}

/* Image, channel, row and column of an element. */
static void place(const struct sides *s, bool rows, int64_t e, int64_t out[4]) {
    if (rows) {
        out[0] = out[2] = 0, out[1] = e % s->c, out[3] = e / s->c;
        return;
    }
    out[3] = e % s->w, out[2] = e / s->w % s->h, out[1] = e / s->w / s->h % s->c;
    out[0] = e / s->w / s->h / s->c;
}

/* What a table does to every byte: sign * value + add, to what a byte holds. */
static bool turns(const hd_graph *g, int64_t node, struct from *f) {
    const struct hd_node *n = &g->nodes[node];
    const uint8_t *table = g->tensors[n->in[1]].data;
    bool from_u = g->tensors[n->in[0]].dtype == HD_U8, to_u = g->tensors[n->out[0]].dtype == HD_U8;
    int lo = to_u ? 0 : -128, hi = to_u ? 255 : 127, middle = 0;
    if (!table) return false;
    for (f->sign = -1; f->sign <= 1; f->sign += 2) {
        bool all = true;
        for (int i = 0; i < 256; i++) { /* one that is not at a bound says what is added */
            int v = from_u ? i : (int8_t)i, to = to_u ? table[i] : (int8_t)table[i];
            if (to > lo && to < hi) middle = to - f->sign * v;
        }
        for (int i = 0; i < 256 && all; i++) {
            int v = from_u ? i : (int8_t)i, to = to_u ? table[i] : (int8_t)table[i];
            all = to == hd_max(lo, hd_min(f->sign * v + middle, hi));
        }
        f->add = middle;
        if (all) return true;
    }
    return false;
}

/* Distances between the sources of neighbouring pixels, as some channel has them. */
static void find_steps(const struct chain *k, struct stencil *s) {
    s->sy = s->sx = 1;
    for (int64_t c = 0; c < s->y.c; c++)
        for (int64_t y = 0; y + 1 < s->y.h || y == 0; y++)
            for (int64_t x = 0; x + 1 < s->y.w || x == 0; x++) {
                int64_t at[3][4], e[3] = {k->of[element(&s->y, k->rows, 0, c, y, x)], 0, 0};
                if (x + 1 < s->y.w) e[1] = k->of[element(&s->y, k->rows, 0, c, y, x + 1)];
                if (y + 1 < s->y.h) e[2] = k->of[element(&s->y, k->rows, 0, c, y + 1, x)];
                if (!e[0] || (s->y.w > 1 && !e[1]) || (s->y.h > 1 && !e[2])) continue;
                for (int i = 0; i < 3; i++)
                    place(&s->x, k->rows, index_of(e[i] ? e[i] : e[0]) - 1, at[i]);
                if (e[1]) s->sx = at[1][3] - at[0][3];
                if (e[2]) s->sy = at[2][2] - at[0][2];
                return;
            }
}

/* Channel c of the result; false: its pixels do not all come from the same distance. */
static bool channel(const struct chain *k, struct stencil *s, int64_t c, struct from *f) {
    int64_t table = -1;
    *f = (struct from){-1, 0, 0, 1, 0};
    for (int pass = 0; pass < 2; pass++) /* the first: some pixel that is not filled */
        for (int64_t n = 0; n < s->y.n; n++)
            for (int64_t y = 0; y < s->y.h; y++)
                for (int64_t x = 0; x < s->y.w; x++) {
                    int64_t e = k->of[element(&s->y, k->rows, n, c, y, x)], at[4];
                    int64_t row = s->sy * y + f->row, col = s->sx * x + f->col;
                    bool inside = row >= 0 && row < s->x.h && col >= 0 && col < s->x.w;
                    if (!e && pass && f->c >= 0 && inside) return false;
                    if (!e || (!pass && f->c >= 0)) continue;
                    place(&s->x, k->rows, index_of(e) - 1, at);
                    if (!pass) {
                        table = e >> TABLE;
                        *f = (struct from){at[1], at[2] - s->sy * y, at[3] - s->sx * x, 1, 0};
                    }
                    if (at[0] != n || at[1] != f->c || at[2] != s->sy * y + f->row ||
                        at[3] != s->sx * x + f->col || e >> TABLE != table)
                        return false;
                }
    return table <= 0 || turns(k->g, table - 1, f);
}

/* The window that covers all channels; false: none does, or it is too large. */
static bool window(const struct chain *k, struct stencil *s) {
    int64_t top = 0, left = 0, bottom = 0, right = 0, taps;
    s->runs = 0;
    for (int64_t c = 0; c < s->y.c; c++) {
        const struct from *f = &s->of[c], *before = c ? f - 1 : NULL;
        if (f->c < 0) continue;
        top = hd_min(top, f->row), bottom = hd_max(bottom, f->row);
        left = hd_min(left, f->col), right = hd_max(right, f->col);
        s->runs +=
            !before || before->c + 1 != f->c || before->row != f->row || before->col != f->col;
    }
    s->pt = -top, s->pl = -left, s->kh = bottom - top + 1, s->kw = right - left + 1;
    s->pb = (s->y.h - 1) * s->sy + s->kh - s->x.h - s->pt;
    s->pr = (s->y.w - 1) * s->sx + s->kw - s->x.w - s->pl;
    s->pb = s->pb > -s->sy ? hd_max(s->pb, 0) : s->pb;
    s->pr = s->pr > -s->sx ? hd_max(s->pr, 0) : s->pr;
    taps = s->kh * s->kw;
    if (s->pb < 0 || s->pr < 0 || taps > TAPS_MOST) return false;
    if (s->pt >= s->kh || s->pb >= s->kh || s->pl >= s->kw || s->pr >= s->kw) return false;
    return !k->rows || (taps == 1 && s->sx == 1 && s->runs);
}

/* By their shapes alone, y can be rows or images of the source. */
static bool sides(const struct chain *k, const struct hd_tensor *y, struct stencil *s) {
    s->dims = y->rank - 2;
    return (k->rows || s->dims == 1 || s->dims == 2) &&
           sides_of(&k->g->tensors[k->source], k->rows, s->dims, &s->x) &&
           sides_of(y, k->rows, s->dims, &s->y) && s->x.n == s->y.n &&
           (!k->rows || s->x.w == s->y.w);
}

static bool stencil(struct chain *k, struct stencil *s) {
    find_steps(k, s);
    if (s->sy < 1 || s->sx < 1) return false;
    s->of = hd_new_array(k->a, struct from, (size_t)s->y.c);
    for (int64_t c = 0; c < s->y.c; c++)
        if (!channel(k, s, c, &s->of[c])) return false;
    return window(k, s);
}

/* Cycles of a pixel: of words of the array, of runs of the load unit. */
static int64_t words(int64_t taps, int64_t in, int64_t out) {
    return taps * hd_ceil_div(in, LANES) * hd_ceil_div(out, LANES);
}

/* Tiles of LANES channels read the words in which they have a weight, all as many. */
static int64_t by_product(const struct stencil *s) {
    int64_t most = 1, tiles = hd_ceil_div(s->y.c, LANES);
    for (int64_t t = 0; t < tiles; t++) {
        int64_t from = INT64_MAX, to = 0;
        for (int64_t c = t * LANES; c < hd_min(s->y.c, (t + 1) * LANES); c++) {
            if (s->of[c].c < 0) continue;
            from = hd_min(from, s->of[c].c / LANES), to = hd_max(to, s->of[c].c / LANES);
        }
        if (from <= to) most = hd_max(most, to - from + 1);
    }
    return s->kh * s->kw * most * tiles;
}

/* Each channel to its own place, so the vector unit can do it, three columns at a time. */
static bool depthwise(const struct chain *k, const struct stencil *s) {
    enum { COLUMNS = 3, ROWS = 4 };
    int64_t words = hd_ceil_div(s->y.c, LANES);
    if (k->rows || s->dims != 2 || s->x.c != s->y.c || s->kw > COLUMNS || s->kh > ROWS ||
        s->kh * s->kw == 1 || s->kh * words >= by_product(s))
        return false;
    for (int64_t c = 0; c < s->y.c; c++)
        if (s->of[c].c >= 0 && s->of[c].c != c) return false;
    return true;
}

static int64_t by_moves(const struct chain *k, const struct stencil *s) {
    return RUN_CYCLES * s->runs * (k->pads ? 2 : 1); /* what is filled is a move of its own */
}

/* ---- products ---- */

static int constant(struct chain *k, const char *name, const char *what, hd_dtype type, int rank,
                    const int64_t *dim, const void *data) {
    return hd_graph_const(k->g, hd_sprintf(k->g->arena, "%s.%s", name, what), type, rank, dim,
                          data);
}

static void set_bytes(hd_graph *g, int id, hd_dtype type, int fill) {
    hd_attr_set_string(g, id, "to", hd_dtype_name(type));
    hd_attr_set_int(g, id, "x_zp", fill);
    hd_attr_set_int(g, id, "y_zp", fill);
    hd_attr_set_int(g, id, "lo", type == HD_I8 ? -128 : 0);
    hd_attr_set_int(g, id, "hi", type == HD_I8 ? 127 : 255);
    hd_attr_set_int(g, id, "moves", 1); /* its products are no work of the network */
}

static void set_window(hd_graph *g, int id, const struct stencil *s, int64_t group) {
    int64_t kernel[2] = {s->kh, s->kw}, strides[2] = {s->sy, s->sx},
            pads[4] = {s->pt, s->pl, s->pb, s->pr};
    int skip = s->dims == 1; /* an image without rows */
    if (skip) pads[0] = s->pl, pads[1] = s->pr;
    hd_attr_set_int(g, id, "group", group);
    hd_attr_set_ints(g, id, "kernel_shape", s->dims, kernel + skip);
    hd_attr_set_ints(g, id, "strides", s->dims, strides + skip);
    hd_attr_set_ints(g, id, "pads", 2 * s->dims, pads);
}

/* Tensor x in another shape; one that is there already, if there is one. */
static int reshaped(hd_graph *g, int x, int rank, const int64_t *dim) {
    enum { USERS = 16 };
    int user[USERS];
    size_t n = hd_graph_users(g, x, user, USERS);
    const struct hd_tensor t = g->tensors[x];
    if (t.rank == rank && !memcmp(t.dim, dim, (size_t)rank * sizeof *dim)) return x;
    for (size_t i = 0; i < n && i < USERS; i++) {
        const struct hd_node *u = &g->nodes[user[i]];
        const struct hd_tensor *y = &g->tensors[u->out[0]];
        if (u->op == HD_IR_reshape && y->rank == rank &&
            !memcmp(y->dim, dim, (size_t)rank * sizeof *dim))
            return u->out[0];
    }
    const char *name = hd_sprintf(g->arena, "%s.%s", t.name, rank == 2 ? "flat" : "image");
    int y = hd_graph_tensor(g, name, t.dtype, rank, dim);
    hd_attr_set_ints(g, hd_graph_node(g, HD_IR_reshape, name, 1, &x, 1, &y), "shape", rank, dim);
    return y;
}

/* The source as the product reads it. */
static int operand(const struct chain *k, const struct stencil *s) {
    int64_t dim[4] = {s->x.n, s->x.c, s->x.h, s->x.w};
    if (k->rows) dim[0] = s->x.w;
    if (!k->rows && s->dims == 1) dim[2] = s->x.w;
    return reshaped(k->g, k->source, k->rows ? 2 : s->dims + 2, dim);
}

/* y by a product of the source: its node. */
static int product(struct chain *k, const char *name, int y, const struct stencil *s) {
    hd_graph *g = k->g;
    const struct hd_tensor t = g->tensors[y];
    int64_t group = depthwise(k, s) ? s->x.c : 1, deep = s->x.c / group;
    int64_t dim[4] = {s->y.c, deep, s->kh, s->kw}, one = 1, taps = s->kh * s->kw;
    int8_t *w = hd_new_array(k->a, int8_t, (size_t)(s->y.c * deep * taps));
    int32_t *bias = hd_new_array(k->a, int32_t, (size_t)s->y.c);
    float scale = 1;
    for (int64_t c = 0; c < s->y.c; c++) {
        const struct from *f = &s->of[c];
        if (f->c < 0) continue;
        w[((c * deep + f->c % deep) * s->kh + f->row + s->pt) * s->kw + f->col + s->pl] =
            (int8_t)f->sign;
        bias[c] = f->add + (f->sign - 1) * k->fill;
    }
    if (s->dims == 1) dim[2] = s->kw;
    int in[4] = {operand(k, s),
                 constant(k, name, "moves", HD_I8, k->rows ? 2 : s->dims + 2, dim, w),
                 constant(k, name, "bias", HD_I32, 1, dim, bias),
                 constant(k, name, "one", HD_F32, 1, &one, &scale)};
    if (!k->rows) {
        int id = hd_graph_node(g, HD_IR_qconv, name, 4, in, 1, &y);
        set_bytes(g, id, t.dtype, k->fill);
        set_window(g, id, s, group);
        return id;
    }
    int64_t made[2] = {s->y.w, s->y.c};
    int rows = hd_graph_tensor(g, hd_sprintf(g->arena, "%s.rows", t.name), t.dtype, 2, made);
    int id = hd_graph_node(g, HD_IR_qgemm, name, 4, in, 1, &rows);
    set_bytes(g, id, t.dtype, k->fill);
    int back = hd_graph_node(g, HD_IR_reshape, g->tensors[rows].name, 1, &rows, 1, &y);
    hd_attr_set_ints(g, back, "shape", t.rank, t.dim);
    return id;
}

/* A convolution of one tap that may read the source by itself. */
static bool takes_moves(const struct chain *k, const struct hd_node *n, int y,
                        const struct stencil *s) {
    const struct hd_tensor *w = &k->g->tensors[n->in[1]];
    int64_t ones[2], pads[4];
    if (n->op != HD_IR_qconv || n->in[0] != y || k->rows || k->tables || !w->data ||
        w->dtype != HD_I8 || hd_attr_int(n, "group", 1) != 1)
        return false;
    if (hd_tensor_elems(w) != w->dim[0] * w->dim[1]) return false;
    int strides = hd_attr_ints(n, "strides", ones, 2, 1),
        n_pads = hd_attr_ints(n, "pads", pads, 4, 0);
    for (int i = 0; i < strides; i++)
        if (ones[i] != 1) return false;
    for (int i = 0; i < n_pads; i++)
        if (pads[i]) return false;
    bool fills = s->pt || s->pl || s->pb || s->pr;
    for (int64_t c = 0; c < s->y.c; c++) fills = fills || s->of[c].c < 0;
    if (fills && hd_attr_int(n, "x_zp", 0) != k->fill) return false;
    int64_t m = w->dim[0], moved = hd_min(by_product(s), by_moves(k, s));
    return s->x.c * m * s->kh * s->kw <= CHANNELS_MOST * CHANNELS_MOST &&
           words(s->kh * s->kw, s->x.c, m) <= words(1, s->y.c, m) + moved;
}

/* Its weights, of channels of the source. */
static void take_moves(struct chain *k, int node, const struct stencil *s) {
    hd_graph *g = k->g;
    const struct hd_node n = g->nodes[node];
    const struct hd_tensor w = g->tensors[n.in[1]];
    int64_t dim[4] = {w.dim[0], s->x.c, s->kh, s->kw}, taps = s->kh * s->kw;
    const int8_t *from = w.data;
    int8_t *to = hd_new_array(k->a, int8_t, (size_t)(dim[0] * s->x.c * taps));
    int64_t macs = hd_node_macs(g, &n);
    for (int64_t m = 0; m < w.dim[0]; m++)
        for (int64_t c = 0; c < s->y.c; c++) {
            const struct from *f = &s->of[c];
            int64_t tap = f->c < 0 ? 0 : (f->row + s->pt) * s->kw + f->col + s->pl;
            if (f->c >= 0) to[(m * s->x.c + f->c) * taps + tap] = from[m * w.dim[1] + c];
        }
    if (s->dims == 1) dim[2] = s->kw;
    int moved = constant(k, n.name, "moved", HD_I8, s->dims + 2, dim, to);
    int in[4] = {operand(k, s), moved, n.in[2], n.in[3]};
    int y = n.out[0];
    hd_graph_kill(g, node);
    int id = hd_graph_node(g, HD_IR_qconv, n.name, 4, in, 1, &y);
    hd_qdq_copy_attrs(g, id, node, false);
    hd_attr_set_int(g, id, "macs", macs);
    set_window(g, id, s, 1);
    hd_graph_swap_names(g, id, node);
}

/* ---- the pass ---- */

static bool distinct(const struct stencil *s) { /* two channels of one element are one weight */
    for (int64_t c = 0; c < s->y.c; c++)
        for (int64_t d = 0; d < c; d++)
            if (s->of[c].c >= 0 && s->of[c].c == s->of[d].c && s->of[c].row == s->of[d].row &&
                s->of[c].col == s->of[d].col)
                return false;
    return true;
}

/* Tensor y, which `users` nodes read, by products. */
static void replace(struct chain *k, int y, const struct stencil *s, const int *user,
                    size_t users) {
    hd_graph *g = k->g;
    bool all = distinct(s);
    for (size_t i = 0; i < users; i++) all = all && takes_moves(k, &g->nodes[user[i]], y, s);
    for (size_t i = 0; i < users && all; i++) take_moves(k, user[i], s);
    if (all || s->runs < 2 || (!depthwise(k, s) && by_product(s) >= by_moves(k, s))) return;
    const struct hd_tensor t = g->tensors[y];
    int made = hd_graph_tensor(g, t.name, t.dtype, t.rank, t.dim), maker = t.producer;
    const char *name = g->nodes[maker].name;
    hd_graph_replace(g, y, made);
    hd_graph_swap_names(g, product(k, name, made, s), maker);
}

/* Another move, or a table on the way to one, goes on from y: that one's result is looked at. */
static bool goes_on(const hd_graph *g, const int *user, size_t users) {
    for (size_t i = 0; i < users; i++)
        if (!moves_one(g, &g->nodes[user[i]])) return false;
    return users > 0;
}

/* By products of k->source, if it is one. */
static hd_status from_source(struct chain *k, int y, const int *user, size_t users,
                             bool *out_done) {
    const struct hd_tensor t = k->g->tensors[y], *x = &k->g->tensors[k->source];
    k->n = k->fill = 0, k->tables = k->pads = false, k->of = NULL;
    if (!is_bytes(x) || hd_tensor_elems(x) > ELEMENTS_MOST || !collect(k, y) || !reorders(k))
        return HD_OK;
    const int at = hd_channels_of(k->g, k->source);
    for (int rows = 0; rows < 2 && !*out_done; rows++) {
        /* no image is made of rows by a product, nor the other way round */
        if (at >= 0 && at != (rows ? x->rank - 1 : 1)) continue;
        struct stencil s = {0};
        k->rows = rows;
        if ((!rows && k->tables) || !sides(k, &t, &s)) continue;
        if (!k->of) TRY(trace(k, y));
        if (!stencil(k, &s)) continue;
        replace(k, y, &s, user, users);
        *out_done = true;
    }
    return HD_OK;
}

/* Tensor y; the furthest source that will do. */
static hd_status look_at(struct chain *k, int y) {
    hd_graph *g = k->g;
    enum { USERS = 16 };
    int user[USERS], way[NODES_MOST], n = 0;
    size_t users = hd_graph_users(g, y, user, USERS);
    const struct hd_tensor t = g->tensors[y];
    if (!users || users > USERS || !is_bytes(&t) || hd_tensor_elems(&t) > ELEMENTS_MOST ||
        hd_graph_is_output(g, y) || goes_on(g, user, users))
        return HD_OK;
    int root = source_of(g, y, -1), maker = g->tensors[root].producer;
    if (maker < 0 || g->nodes[maker].op == HD_IR_quantize)
        return HD_OK; /* at the border of the network the host packs them anyway */
    for (int at = y; at != root && n < NODES_MOST; way[n++] = at) {
        const struct hd_node *nd = &g->nodes[g->tensors[at].producer];
        int i = 0;
        while (fills(g, nd->in[i])) i++;
        at = nd->in[i];
    }
    bool done = false;
    while (n-- > 0 && !done) {
        k->source = way[n];
        if (source_of(g, y, way[n]) != way[n]) continue;
        k->a = hd_arena_create(); /* indexes of all that is on the way */
        hd_status s = from_source(k, y, user, users, &done);
        hd_arena_destroy(k->a);
        TRY(s);
    }
    return HD_OK;
}

hd_status hd_pass_shuffle(hd_ctx *ctx, hd_graph *g) {
    hd_unstack(g);
    hd_status st = hd_graph_infer(ctx, g);
    for (size_t i = 0, n = g->n_nodes; i < n && st == HD_OK; i++) {
        if (g->nodes[i].dead || (!moves_one(g, &g->nodes[i]) && g->nodes[i].op != HD_IR_concat))
            continue;
        for (int o = 0; o < g->nodes[i].n_out && st == HD_OK; o++) {
            struct chain k = {.ctx = ctx, .g = g};
            if (g->nodes[i].out[o] >= 0) st = look_at(&k, g->nodes[i].out[o]);
        }
    }
    if (st == HD_OK) st = hd_graph_infer(ctx, g);
    if (st == HD_OK) hd_pass_dce(g);
    return st;
}
