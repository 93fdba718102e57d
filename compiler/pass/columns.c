/* Convolutions of few channels work on several columns of a row at once, for the machine.
 *
 *   F(x): f columns of a row as channels, [N,f*C,H,W/f], lane c*f + column. To and from it lead
 *   products by 0 and 1: a qconv, and a qconvtranspose, of 1 x f taps and stride f. Where W is no
 *   multiple of f, the last block is filled up; the other product cuts that off
 *
 * q columns of y are made at once, of blocks of f columns of x; sx is the stride along the row:
 *
 *   blocks   qconv to few channels, or of few   ->   qconv(F(x)) = F(y), of the blocks that q
 *                                                    windows touch, stride q*sx/f; f or q may be 1
 *   spread   qconv of few channels              ->   qconvtranspose(F(x)) = y, f = q*sx, stride q
 *
 * needs: shapes, integers of 8 bits. gives: the same values. destroys: nodes that nothing reads
 *
 * The array takes LANES channels of a pixel at a time, and makes LANES, used or not. Functions of
 * single bytes behind a result work on F(y), and pairs whose other operand has an F. It is a rule
 * of cost, and F(x) costs nothing where x was made of it. Pixels of an input share words anyway
 * where convolutions alone read it. What leaves is put in order by the host, or in a move that
 * stands there.
 */
#include <string.h>

#include "compiler/ir/window.h"
#include "compiler/pass/pass.h"
#include "compiler/pass/qdq.h"
#include "runtime/base/num.h"

enum {
    LANES = 16,
    TAPS_MOST = 200,   /* of a window; the machine refuses more than a quarter of WM holds */
    LOAD_CYCLES = 16,  /* of a word of weights */
    RUN_CYCLES = 4,    /* of the load unit for a short run */
    PASS_CYCLES = 100, /* of another layer, to begin and to end */
    SAVED_LEAST = 5    /* one part in so many */
};

struct columns {
    hd_graph *g;
    int *folded;  /* per tensor: F of it, -1 = there is none */
    int *at_once; /* per tensor: f of that */
    bool *filled; /* per tensor: what fills it up is zero points, so that windows may read it, .. */
    int64_t *zp;  /* .. of those that have this one, if anything fills it up */
    size_t n;
};

struct conv {
    int node;
    int64_t c, m;
    bool packed; /* pixels of the operand share words, since it comes from the host */
    bool leaves; /* the result goes to the host, which puts columns in their order .. */
    bool moves;  /* .. or to a move */
    struct hd_window v;
};

/* What becomes of a convolution. */
struct form {
    bool spread;
    int64_t q, f; /* columns of y and of x at once; both 1: it stays */
};

static bool is_bytes(const struct hd_tensor *t) {
    return t->known && !t->data && t->rank == 4 && (t->dtype == HD_I8 || t->dtype == HD_U8);
}

/* It comes from the host, which may turn it, or goes there. */
static bool at_border(const hd_graph *g, int t) {
    enum { USERS = 16 };
    int user[USERS], maker = g->tensors[t].producer;
    while (maker >= 0 &&
           (g->nodes[maker].op == HD_IR_reshape || g->nodes[maker].op == HD_IR_transpose))
        maker = g->tensors[g->nodes[maker].in[0]].producer;
    size_t n = hd_graph_users(g, t, user, USERS);
    if (maker < 0 || g->nodes[maker].op == HD_IR_quantize || hd_graph_is_output(g, t)) return true;
    for (size_t i = 0; i < n && i < USERS; i++)
        if (g->nodes[user[i]].op == HD_IR_dequantize) return true;
    return false;
}

/* Only what makes floats for the caller reads it, or the caller; *moves: or what moves it. */
static bool leaves(const hd_graph *g, int t, bool *moves) {
    enum { USERS = 4 };
    int user[USERS];
    size_t n = hd_graph_users(g, t, user, USERS);
    *moves = false;
    if (n > USERS) return false;
    for (size_t i = 0; i < n; i++) {
        enum hd_ir_op op = g->nodes[user[i]].op;
        if (op != HD_IR_dequantize && op != HD_IR_reshape && op != HD_IR_transpose) return false;
        *moves = *moves || op != HD_IR_dequantize;
    }
    return n > 0 || hd_graph_is_output(g, t);
}

/* Something that is no convolution reads it, so its pixels are not packed. */
static bool also_whole(const hd_graph *g, int t) {
    enum { USERS = 16 };
    int user[USERS];
    size_t n = hd_graph_users(g, t, user, USERS);
    for (size_t i = 0; i < n && i < USERS; i++)
        if (g->nodes[user[i]].op != HD_IR_qconv) return true;
    return false;
}

static bool takes(const hd_graph *g, const struct conv *k) {
    const struct hd_node *n = &g->nodes[k->node];
    const struct hd_tensor *w = &g->tensors[n->in[1]];
    const struct hd_window *v = &k->v;
    return w->data && w->dtype == HD_I8 && hd_attr_int(n, "group", 1) == 1 &&
           !hd_attr_int(n, "moves", 0) && v->dx == 1 && v->kw > 1 && g->tensors[n->in[2]].data &&
           g->tensors[n->in[3]].data && v->pl < v->kw && v->pt < v->kh && v->pb < v->kh &&
           v->pr < v->kw;
}

/* ---- what it costs, in cycles of the array ---- */

static int64_t words(int64_t channels) {
    return hd_ceil_div(channels, LANES);
}

/* Taps of so many columns; each a word of weights. */
static int64_t layer(int64_t pixels, int64_t taps, int64_t in, int64_t out) {
    return taps * words(in) * words(out) * (pixels + LOAD_CYCLES) + PASS_CYCLES;
}

/* Words of a row that a window meets at least, where pixels share them. */
static int64_t packed_words(const struct conv *k) {
    int64_t pixels = LANES; /* of a word: a power of two */
    while (pixels > 1 && pixels * k->c > LANES) pixels /= 2;
    return hd_ceil_div(k->v.kw, pixels);
}

/* floor(x / n) */
static int64_t floor_div(int64_t x, int64_t n) {
    return x < 0 ? -hd_ceil_div(-x, n) : x / n;
}

/* Columns of the new window, the first of them relative to what it stands for: blocks of x that q
 * windows touch, or columns of y that a block of x reaches. */
struct reach {
    int64_t first, n;
};
static struct reach reach_of(const struct hd_window *v, struct form o) {
    int64_t first = floor_div(-v->pl, o.f),
            last = floor_div((o.q - 1) * v->sx + v->kw - 1 - v->pl, o.f);
    if (o.spread)
        first = -floor_div(v->kw - 1 - v->pl, v->sx), last = floor_div(o.f - 1 + v->pl, v->sx);
    return (struct reach){first, last - first + 1};
}

/* Columns that a transposed convolution cuts off behind its result. */
static int64_t cut_off(const struct hd_window *v, struct form o) {
    const struct reach r = reach_of(v, o);
    return (hd_ceil_div(v->w, o.f) - 1) * o.q + r.n + r.first - v->ow;
}

/* y of F(y), of so many blocks of q columns. */
static int64_t unfolding(const struct conv *k, int64_t blocks, int64_t q) {
    if (k->leaves) return k->moves ? 2 * RUN_CYCLES * blocks * k->m : 0;
    int64_t pixels = blocks * q;
    return layer(pixels, 1, q * k->m, k->m) + pixels * words(k->m) / 2;
}

/* Blocks behind the last one of x that windows read, at least 0; -1: there would be more windows
 * than results. */
static int64_t behind(const struct hd_window *v, struct form o) {
    const struct reach r = reach_of(v, o);
    int64_t step = o.q * v->sx / o.f, results = hd_ceil_div(v->ow, o.q),
            in = hd_ceil_div(v->w, o.f), pad = hd_max(0, (results - 1) * step + r.first + r.n - in);
    return (in - r.first + pad - r.n) / step + 1 == results ? pad : -1;
}

/* F(x) is there, and windows of this zero point may read it. */
static bool is_known(const struct columns *s, int x, int64_t f, int64_t zp) {
    bool whole = s->g->tensors[x].dim[3] % f == 0;
    return s->folded[x] >= 0 && s->at_once[x] == f && s->filled[x] && (whole || s->zp[x] == zp);
}

static int64_t price(const struct columns *s, const struct conv *k, struct form o) {
    const struct hd_node *n = &s->g->nodes[k->node];
    const struct hd_window *v = &k->v;
    const struct hd_tensor *x = &s->g->tensors[n->in[0]];
    int64_t rows = x->dim[0] * v->oh, blocks = rows * hd_ceil_div(v->ow, o.q),
            taps = v->kh * reach_of(v, o).n;
    int64_t folds = x->dim[0] * v->h * hd_ceil_div(v->w, o.f),
            fold = o.f == 1 || is_known(s, n->in[0], o.f, hd_attr_int(n, "x_zp", 0))
                       ? 0
                       : layer(folds, o.f, k->c, o.f * k->c);
    if ((o.f > 1 && o.f * k->c > LANES) || (!o.spread && behind(v, o) < 0)) return INT64_MAX;
    if (taps > TAPS_MOST && o.f * o.q > 1) return INT64_MAX;
    if (o.spread)
        return v->sy != 1 || v->dy != 1 || cut_off(v, o) < 0
                   ? INT64_MAX
                   : layer(blocks, taps, o.f * k->c, k->m) + fold;
    if (o.q * o.f == 1 && k->packed) taps = v->kh * packed_words(k);
    if (o.q == 1) return layer(blocks, taps, o.f * k->c, k->m) + fold;
    if (o.q * k->m > LANES) return INT64_MAX;
    return layer(blocks, taps, o.f * k->c, o.q * k->m) + fold + unfolding(k, blocks, o.q);
}

static struct form choose(const struct columns *s, const struct conv *k) {
    struct form best = {false, 1, 1};
    int64_t cycles = price(s, k, best), least = cycles - cycles / SAVED_LEAST;
    for (int64_t q = 1; q <= LANES; q++)
        for (int64_t f = 1; f <= LANES; f++)
            for (int spread = 0; spread <= (f == q * k->v.sx); spread++) {
                struct form o = {spread, q, f};
                if (q * k->v.sx % f || (cycles = price(s, k, o)) >= least) continue;
                best = o, least = cycles;
            }
    return best;
}

/* ---- what it becomes ---- */

static int weights(hd_graph *g, const struct conv *k, struct form o) {
    const struct hd_tensor w = g->tensors[g->nodes[k->node].in[1]];
    const struct hd_window *v = &k->v;
    const struct reach r = reach_of(v, o);
    int64_t out = o.spread ? 1 : o.q, dim[4] = {out * k->m, o.f * k->c, v->kh, r.n};
    int8_t *made = hd_new_array(g->arena, int8_t, (size_t)(dim[0] * dim[1] * dim[2] * dim[3]));
    int8_t *to = made;
    for (int64_t m = 0; m < dim[0]; m++)
        for (int64_t c = 0; c < dim[1]; c++)
            for (int64_t y = 0; y < v->kh; y++)
                for (int64_t col = r.first; col < r.first + r.n; col++, to++) {
                    int64_t row = o.spread ? v->kh - 1 - y : y, x = c % o.f + v->pl;
                    x += o.spread ? -col * v->sx : col * o.f - m % out * v->sx;
                    if (x < 0 || x >= v->kw) continue;
                    int64_t from = ((m / out * k->c + c / o.f) * v->kh + row) * v->kw + x;
                    *to = ((const int8_t *)w.data)[from];
                }
    return hd_graph_const(g, hd_sprintf(g->arena, "%s.columns", w.name), HD_I8, 4, dim, made);
}

static void set_window(hd_graph *g, int id, int64_t kh, int64_t kw, int64_t sy, int64_t sx,
                       const int64_t pads[4]) {
    hd_attr_set_ints(g, id, "kernel_shape", 2, (int64_t[]){kh, kw});
    hd_attr_set_ints(g, id, "strides", 2, (int64_t[]){sy, sx});
    hd_attr_set_ints(g, id, "pads", 4, pads);
}

/* y = F(x) by 0 and 1, filled up by zp, or the other way round. */
static void move(hd_graph *g, int x, int y, int64_t f, bool fold, int64_t zp) {
    const struct hd_tensor a = g->tensors[x], b = g->tensors[y];
    int64_t c = fold ? a.dim[1] : b.dim[1], dim[4] = {b.dim[1], a.dim[1], 1, f};
    int8_t *w = hd_new_array(g->arena, int8_t, (size_t)(f * c * c * f));
    for (int64_t k = 0; k < c; k++)
        for (int64_t q = 0; q < f; q++)
            w[fold ? ((k * f + q) * c + k) * f + q : (k * f * c + k * f + q) * f + q] = 1;
    int id = hd_move_product(g, fold ? HD_IR_qconv : HD_IR_qconvtranspose, b.name, x, dim, w, f, y);
    int64_t more = fold ? b.dim[3] * f - a.dim[3] : a.dim[3] * f - b.dim[3];
    if (!more) return;
    hd_attr_set_ints(g, id, "pads", 4, (int64_t[]){0, 0, 0, more});
    if (fold) hd_attr_set_int(g, id, "x_zp", zp), hd_attr_set_int(g, id, "y_zp", zp);
}

/* A tensor of F of t. */
static int folded_like(hd_graph *g, int t, int64_t f) {
    const struct hd_tensor x = g->tensors[t];
    int64_t dim[4] = {x.dim[0], x.dim[1] * f, x.dim[2], hd_ceil_div(x.dim[3], f)};
    return hd_graph_tensor(g, hd_sprintf(g->arena, "%s.columns", x.name), x.dtype, 4, dim);
}

/* What node n, which reads y, reads where it works on F(y), which is `made`; false: it cannot. */
static bool folded_inputs(const struct columns *s, const struct hd_node *n, int y, int made,
                          int64_t f, int in[2]) {
    const struct hd_tensor *like = &s->g->tensors[y];
    if (!hd_is_pair(n->op)) {
        in[0] = made, in[1] = n->n_in > 1 ? n->in[1] : -1;
        return n->op == HD_IR_qtable || n->op == HD_IR_qrescale;
    }
    for (int k = 0; k < 2; k++) {
        int t = n->in[k];
        bool has = (size_t)t < s->n && s->at_once[t] == f && hd_same_shape(&s->g->tensors[t], like);
        in[k] = t == y ? made : has ? s->folded[t] : -1;
        if (in[k] < 0) return false;
    }
    return true;
}

/* y from F(y), behind what alone reads it and can work on F(y). */
static void unfold(struct columns *s, int made, int y, int64_t f) {
    hd_graph *g = s->g;
    for (;;) {
        int next = hd_graph_only_user(g, y), in[2];
        if (next < 0 || hd_graph_is_output(g, y)) break;
        const struct hd_node n = g->nodes[next];
        if (!folded_inputs(s, &n, y, made, f, in)) break;
        int to = folded_like(g, n.out[0], f);
        y = n.out[0];
        hd_qdq_instead(g, next, n.op, n.n_in, in, to);
        made = to;
    }
    if ((size_t)y < s->n) {
        s->folded[y] = made, s->at_once[y] = (int)f;
        s->filled[y] = g->tensors[y].dim[3] % f == 0;
    }
    move(g, made, y, f, false, 0);
}

/* y from F(y) by the host, or in a move that stands behind it. */
static void put_in_order(hd_graph *g, int x, int64_t f, int y) {
    const struct hd_tensor t = g->tensors[x], to = g->tensors[y];
    int64_t m = to.dim[1], n = t.dim[0], h = t.dim[2], columns = t.dim[3],
            apart[5] = {n, m, f, h, columns}, perm[5] = {0, 1, 3, 4, 2},
            turned[5] = {n, m, h, columns, f}, wide[4] = {n, m, h, columns * f};
    bool whole = columns * f == to.dim[3];
    x = hd_moved(g, HD_IR_reshape, x, 5, apart, "shape", apart, -1);
    x = hd_moved(g, HD_IR_transpose, x, 5, turned, "perm", perm, -1);
    x = hd_moved(g, HD_IR_reshape, x, 4, wide, "shape", wide, whole ? y : -1);
    if (whole) return;
    int64_t one = 1, zero = 0, axis = 3;
    int in[4] = {x, hd_graph_const(g, "from", HD_I64, 1, &one, &zero),
                 hd_graph_const(g, "to", HD_I64, 1, &one, &to.dim[3]),
                 hd_graph_const(g, "axis", HD_I64, 1, &one, &axis)};
    hd_graph_node(g, HD_IR_slice, to.name, 4, in, 1, &y);
}

/* F(x). */
static int operand(struct columns *s, int x, int64_t f, int64_t zp) {
    if (f == 1 || is_known(s, x, f, zp)) return f == 1 ? x : s->folded[x];
    int folded = folded_like(s->g, x, f);
    move(s->g, x, folded, f, true, zp);
    s->folded[x] = folded, s->at_once[x] = (int)f, s->filled[x] = true, s->zp[x] = zp;
    return folded;
}

static void rewrite(struct columns *s, const struct conv *k, struct form o) {
    hd_graph *g = s->g;
    const struct hd_node n = g->nodes[k->node];
    const struct hd_window *v = &k->v;
    const struct reach r = reach_of(v, o);
    int x = operand(s, n.in[0], o.f, hd_attr_int(&n, "x_zp", 0)), w = weights(g, k, o),
        y = n.out[0];
    int64_t copies = o.spread ? 1 : o.q;
    int in[4] = {x, w, hd_channel_copies(g, n.in[2], copies),
                 hd_channel_copies(g, n.in[3], copies)};
    int made = copies > 1 ? folded_like(g, y, o.q) : y;
    int64_t macs = hd_node_macs(g, &n);
    enum hd_ir_op op = o.spread ? HD_IR_qconvtranspose : HD_IR_qconv;
    int id = hd_qdq_instead(g, k->node, op, 4, in, made);
    hd_attr_set_int(g, id, "macs", macs);
    if (o.spread) {
        set_window(g, id, v->kh, r.n, 1, o.q,
                   (int64_t[]){v->kh - 1 - v->pt, -r.first, v->kh - 1 - v->pb, cut_off(v, o)});
    } else {
        set_window(g, id, v->kh, r.n, v->sy, o.q * v->sx / o.f,
                   (int64_t[]){v->pt, -r.first, v->pb, behind(v, o)});
    }
    if (made == y) return;
    k->leaves ? put_in_order(g, made, o.q, y) : unfold(s, made, y, o.q);
}

static hd_status look_at(hd_ctx *ctx, struct columns *s, int node) {
    const struct hd_node *n = &s->g->nodes[node];
    if (n->dead || n->op != HD_IR_qconv || n->n_in != 4 || !is_bytes(&s->g->tensors[n->in[0]]) ||
        !is_bytes(&s->g->tensors[n->out[0]]))
        return HD_OK;
    const struct hd_tensor *w = &s->g->tensors[n->in[1]];
    struct conv k = {.node = node, .c = s->g->tensors[n->in[0]].dim[1], .m = w->dim[0]};
    k.packed = at_border(s->g, n->in[0]) && !also_whole(s->g, n->in[0]);
    k.leaves = leaves(s->g, n->out[0], &k.moves);
    if (w->rank != 4 || (at_border(s->g, n->out[0]) && !k.leaves)) return HD_OK;
    TRY(hd_window_get(ctx, n, &s->g->tensors[n->in[0]], &w->dim[2], &k.v));
    if (!takes(s->g, &k)) return HD_OK;
    struct form o = choose(s, &k);
    if (o.q * o.f > 1) rewrite(s, &k, o);
    return HD_OK;
}

hd_status hd_pass_columns(hd_ctx *ctx, hd_graph *g) {
    struct columns s = {.g = g, .n = g->n_tensors};
    int *order = hd_new_array(g->arena, int, g->n_nodes + 1);
    size_t n = hd_graph_order(g, order);
    s.folded = hd_new_array(g->arena, int, s.n + 1),
    s.at_once = hd_new_array(g->arena, int, s.n + 1);
    s.filled = hd_new_array(g->arena, bool, s.n + 1);
    s.zp = hd_new_array(g->arena, int64_t, s.n + 1);
    for (size_t i = 0; i < s.n; i++) s.folded[i] = -1;
    for (size_t i = 0; i < n; i++) TRY(look_at(ctx, &s, order[i]));
    hd_pass_dce(g);
    return hd_graph_infer(ctx, g);
}
