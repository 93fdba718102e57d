/* Convolutions of few channels work on several columns of a row at once, for the machine.
 *
 *   F(x): f columns of a row as channels, [N,f*C,H,W/f], lane c*f + column. To and from it lead
 *   products by 0 and 1: a qconv, and a qconvtranspose, of 1 x f taps and stride f
 *
 *   narrow   qconv to few channels         ->   qconv(x) = F(y), of kw + f - 1 columns, stride f
 *   spread   qconv of few channels         ->   qconvtranspose(F(x)) = y, of as many, stride f
 *   blocks   qconv of few, and to few      ->   qconv(F(x)) = F(y), of the blocks that f windows
 *                                               touch
 *
 * needs: shapes, integers of 8 bits. gives: the same values. destroys: nodes that nothing reads
 *
 * The array takes LANES channels of a pixel at a time, and makes LANES, used or not. Functions of
 * single bytes behind a result work on F(y), and pairs whose other operand has an F. It is a rule
 * of cost, and F(x) costs nothing where x was made of it. At the border of the network pixels are
 * packed where convolutions alone read them, or the host moves them.
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
    PASS_CYCLES = 100, /* of another layer, to begin and to end */
    SAVED_LEAST = 5    /* one part in so many */
};

enum form { PLAIN, NARROW, SPREAD, BLOCKS };

struct columns {
    hd_graph *g;
    int *folded;  /* per tensor: F of it, -1 = there is none */
    int *at_once; /* per tensor: f of that */
    size_t n;
};

struct conv {
    int node;
    int64_t c, m, f;
    struct hd_window v;
};

struct choice {
    enum form form;
    int64_t f, cycles;
};

static bool is_bytes(const struct hd_tensor *t) {
    return t->known && !t->data && t->rank == 4 && (t->dtype == HD_I8 || t->dtype == HD_U8);
}

/* It comes from the host, or goes there, as it is or in another shape. */
static bool at_border(const hd_graph *g, int t) {
    enum { USERS = 16 };
    int user[USERS], maker = g->tensors[hd_graph_unshaped(g, t)].producer;
    size_t n = hd_graph_users(g, t, user, USERS);
    if (maker < 0 || g->nodes[maker].op == HD_IR_quantize || hd_graph_is_output(g, t)) return true;
    for (size_t i = 0; i < n && i < USERS; i++)
        if (g->nodes[user[i]].op == HD_IR_dequantize) return true;
    return false;
}

/* ... and something that is no convolution reads it, so its pixels are not packed. */
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
           !hd_attr_int(n, "moves", 0) && v->sx == 1 && v->dx == 1 && v->kw > 1 &&
           g->tensors[n->in[2]].data && g->tensors[n->in[3]].data && v->pl < v->kw &&
           v->pt < v->kh && v->pb < v->kh && v->pr < v->kw;
}

/* ---- what it costs, in cycles of the array ---- */

static int64_t words(int64_t channels) {
    return hd_ceil_div(channels, LANES);
}

/* Taps of so many columns; each a word of weights. */
static int64_t layer(int64_t pixels, int64_t taps, int64_t in, int64_t out) {
    return taps * words(in) * words(out) * (pixels + LOAD_CYCLES) + PASS_CYCLES;
}

/* A column of blocks that column x of block 0 meets. */
static int64_t block_of(int64_t x, int64_t f) {
    return x < 0 ? -hd_ceil_div(-x, f) : x / f;
}

static int64_t blocks_of(const struct conv *k, int64_t f) {
    return block_of(f - 1 + k->v.kw - 1 - k->v.pl, f) - block_of(-k->v.pl, f) + 1;
}

static int64_t price(const struct columns *s, const struct conv *k, enum form form, int64_t f) {
    const struct hd_node *n = &s->g->nodes[k->node];
    const struct hd_window *v = &k->v;
    const struct hd_tensor *x = &s->g->tensors[n->in[0]];
    int64_t images = x->dim[0], pixels = images * v->oh * v->ow, wide = v->kw + f - 1;
    bool known = s->folded[n->in[0]] >= 0 && s->at_once[n->in[0]] == f;
    bool even = v->w % f == 0 && v->ow % f == 0;
    int64_t fold = known ? 0 : layer(images * v->h * v->w / f, f, k->c, f * k->c);
    int64_t unfold = layer(pixels, 1, f * k->m, k->m) + pixels * words(k->m) / 2;
    if (form == PLAIN) return layer(pixels, v->kh * v->kw, k->c, k->m);
    if (!even || v->kh * wide > TAPS_MOST) return INT64_MAX;
    if (form == NARROW)
        return f * k->m > LANES || v->ow + v->kw - 1 < v->w + v->pl
                   ? INT64_MAX
                   : layer(pixels / f, v->kh * wide, k->c, f * k->m) + unfold;
    if (f * k->c > LANES) return INT64_MAX;
    if (form == SPREAD)
        return v->sy != 1 || v->dy != 1 ? INT64_MAX
                                        : layer(pixels / f, v->kh * wide, f * k->c, k->m) + fold;
    if (v->ow != v->w || f * k->m > LANES) return INT64_MAX;
    return layer(pixels / f, v->kh * blocks_of(k, f), f * k->c, f * k->m) + fold + unfold;
}

static struct choice choose(const struct columns *s, const struct conv *k) {
    struct choice best = {PLAIN, 1, price(s, k, PLAIN, 1)};
    int64_t most = best.cycles - best.cycles / SAVED_LEAST;
    for (int64_t f = 2; f <= LANES; f++)
        for (enum form form = NARROW; form <= BLOCKS; form++) {
            int64_t cycles = price(s, k, form, f);
            if (cycles < hd_min(best.cycles, most)) best = (struct choice){form, f, cycles};
        }
    return best;
}

/* ---- what it becomes ---- */

static int weights(hd_graph *g, const struct conv *k, enum form form, int64_t f) {
    const struct hd_tensor w = g->tensors[g->nodes[k->node].in[1]];
    int64_t kh = k->v.kh, kw = k->v.kw, first = form == BLOCKS ? block_of(-k->v.pl, f) : 0;
    int64_t out = form == SPREAD ? 1 : f, in = form == NARROW ? 1 : f; /* columns of each */
    int64_t dim[4] = {out * k->m, in * k->c, kh, form == BLOCKS ? blocks_of(k, f) : kw + f - 1};
    int8_t *v = hd_new_array(g->arena, int8_t, (size_t)(dim[0] * dim[1] * kh * dim[3]));
    const int8_t *from = w.data;
    for (int64_t m = 0; m < k->m; m++)
        for (int64_t c = 0; c < k->c; c++)
            for (int64_t y = 0; y < kh; y++)
                for (int64_t x = 0; x < kw; x++, from++)
                    for (int64_t q = 0; q < f; q++) { /* a column of the wider side */
                        int64_t mo = m, ci = c, row = y, col = q + x;
                        if (form != SPREAD) mo = m * f + q;
                        if (form == SPREAD) ci = c * f + q, row = kh - 1 - y, col = q + kw - 1 - x;
                        if (form == BLOCKS) {
                            int64_t at = q + x - k->v.pl, block = block_of(at, f);
                            ci = c * f + at - block * f, col = block - first;
                        }
                        v[((mo * dim[1] + ci) * kh + row) * dim[3] + col] = *from;
                    }
    return hd_graph_const(g, hd_sprintf(g->arena, "%s.columns", w.name), HD_I8, 4, dim, v);
}

static void set_window(hd_graph *g, int id, int64_t kh, int64_t kw, int64_t sy, int64_t sx,
                       const int64_t pads[4]) {
    hd_attr_set_ints(g, id, "kernel_shape", 2, (int64_t[]){kh, kw});
    hd_attr_set_ints(g, id, "strides", 2, (int64_t[]){sy, sx});
    hd_attr_set_ints(g, id, "pads", 4, pads);
}

/* y = F(x) by 0 and 1, or the other way round. */
static void move(hd_graph *g, int x, int y, int64_t f, bool fold) {
    const struct hd_tensor a = g->tensors[x], b = g->tensors[y];
    int64_t c = fold ? a.dim[1] : b.dim[1], dim[4] = {b.dim[1], a.dim[1], 1, f};
    int8_t *w = hd_new_array(g->arena, int8_t, (size_t)(f * c * c * f));
    for (int64_t k = 0; k < c; k++)
        for (int64_t q = 0; q < f; q++)
            w[fold ? ((k * f + q) * c + k) * f + q : (k * f * c + k * f + q) * f + q] = 1;
    hd_move_product(g, fold ? HD_IR_qconv : HD_IR_qconvtranspose, b.name, x, dim, w, f, y);
}

/* A tensor of F of t. */
static int folded_like(hd_graph *g, int t, int64_t f) {
    const struct hd_tensor x = g->tensors[t];
    int64_t dim[4] = {x.dim[0], x.dim[1] * f, x.dim[2], x.dim[3] / f};
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
        hd_graph_kill(g, next);
        int id = hd_graph_node(g, n.op, n.name, n.n_in, in, 1, &to);
        hd_qdq_copy_attrs(g, id, next, false);
        hd_graph_swap_names(g, id, next);
        made = to;
    }
    if ((size_t)y < s->n) s->folded[y] = made, s->at_once[y] = (int)f;
    move(g, made, y, f, false);
}

static void rewrite(struct columns *s, const struct conv *k, enum form form, int64_t f) {
    hd_graph *g = s->g;
    const struct hd_node n = g->nodes[k->node];
    const struct hd_window *v = &k->v;
    const int64_t wide = v->kw + f - 1, first = block_of(-v->pl, f), blocks = blocks_of(k, f);
    int x = n.in[0], w = weights(g, k, form, f), y = n.out[0];
    if (form != NARROW) {
        bool known = s->folded[x] >= 0 && s->at_once[x] == f;
        int folded = known ? s->folded[x] : folded_like(g, x, f);
        if (!known) move(g, x, folded, f, true);
        s->folded[x] = folded, s->at_once[x] = (int)f;
        x = folded;
    }
    bool many = form != SPREAD;
    int in[4] = {x, w, many ? hd_channel_copies(g, n.in[2], f) : n.in[2],
                 many ? hd_channel_copies(g, n.in[3], f) : n.in[3]};
    int made = many ? folded_like(g, y, f) : y;
    int64_t macs = hd_node_macs(g, &n);
    hd_graph_kill(g, k->node);
    int id = hd_graph_node(g, many ? HD_IR_qconv : HD_IR_qconvtranspose, n.name, 4, in, 1, &made);
    hd_qdq_copy_attrs(g, id, k->node, false);
    hd_attr_set_int(g, id, "macs", macs);
    hd_graph_swap_names(g, id, k->node);
    if (form == NARROW)
        set_window(g, id, v->kh, wide, v->sy, f,
                   (int64_t[]){v->pt, v->pl, v->pb, v->ow + v->kw - 1 - v->w - v->pl});
    if (form == SPREAD)
        set_window(g, id, v->kh, wide, 1, f,
                   (int64_t[]){v->kh - 1 - v->pt, v->kw - 1 - v->pl, v->kh - 1 - v->pb,
                               v->kw - 1 - v->pr});
    if (form == BLOCKS)
        set_window(g, id, v->kh, blocks, v->sy, 1,
                   (int64_t[]){v->pt, -first, v->pb, blocks - 1 + first});
    if (many) unfold(s, made, y, f);
}

static hd_status look_at(hd_ctx *ctx, struct columns *s, int node) {
    const struct hd_node *n = &s->g->nodes[node];
    if (n->dead || n->op != HD_IR_qconv || n->n_in != 4 || !is_bytes(&s->g->tensors[n->in[0]]) ||
        !is_bytes(&s->g->tensors[n->out[0]]) || at_border(s->g, n->out[0]) ||
        (at_border(s->g, n->in[0]) && !also_whole(s->g, n->in[0])))
        return HD_OK;
    const struct hd_tensor *w = &s->g->tensors[n->in[1]];
    struct conv k = {.node = node, .c = s->g->tensors[n->in[0]].dim[1], .m = w->dim[0]};
    if (w->rank != 4) return HD_OK;
    TRY(hd_window_get(ctx, n, &s->g->tensors[n->in[0]], &w->dim[2], &k.v));
    if (!takes(s->g, &k)) return HD_OK;
    struct choice c = choose(s, &k);
    if (c.form != PLAIN) rewrite(s, &k, c.form, c.f);
    return HD_OK;
}

hd_status hd_pass_columns(hd_ctx *ctx, hd_graph *g) {
    struct columns s = {.g = g, .n = g->n_tensors};
    int *order = hd_new_array(g->arena, int, g->n_nodes + 1);
    size_t n = hd_graph_order(g, order);
    s.folded = hd_new_array(g->arena, int, s.n + 1),
    s.at_once = hd_new_array(g->arena, int, s.n + 1);
    for (size_t i = 0; i < s.n; i++) s.folded[i] = -1;
    for (size_t i = 0; i < n; i++) TRY(look_at(ctx, &s, order[i]));
    hd_pass_dce(g);
    return hd_graph_infer(ctx, g);
}
