/* Windows of convolutions whose taps lie far apart, for the machine.
 *
 *   qconv with dilation d, whose windows span too much of x   ->   qconv of d images for each one,
 *       which have every d-th row of x, and no dilation along the column; then back. Where that is
 *       still too much, the same of columns
 *
 * needs: shapes, integers of 8 bits. gives: the same values. destroys: nothing
 *
 * A layer begins when all that a pixel's window spans is on chip, whether taps meet it or not:
 * atrous pyramids (Chen and others, arXiv:1706.05587) on small images, late dilated layers. What
 * moves are pixels with all their channels.
 */
#include "compiler/ir/window.h"
#include "compiler/pass/pass.h"
#include "compiler/pass/qdq.h"
#include "runtime/base/num.h"

enum {
    SPAN_MOST = 96 << 10, /* bytes that they may: three quarters of base's XM */
    PIXELS = 16,          /* of a row that are made together */
    WORD = 16,
    IMAGES_MOST = 1 << 14
};

/* One dimension: element i of the result meets elements i * stride + tap * d - before of x. */
struct axis {
    int64_t in, out, k, d, stride, before, after;
};

struct window {
    struct axis axis[2];
    int64_t n, c, group; /* images and channels of x */
};

static void set_window(hd_graph *g, int node, const struct axis a[2]) {
    int64_t k[2], strides[2], d[2], pads[4];
    for (int i = 0; i < 2; i++) {
        k[i] = a[i].k, strides[i] = a[i].stride, d[i] = a[i].d;
        pads[i] = a[i].before, pads[2 + i] = a[i].after;
    }
    hd_attr_set_ints(g, node, "kernel_shape", 2, k);
    hd_attr_set_ints(g, node, "strides", 2, strides);
    hd_attr_set_ints(g, node, "dilations", 2, d);
    hd_attr_set_ints(g, node, "pads", 4, pads);
}

/* Elements of x and of the result as images of every d-th one: `front` elements of padding stand
 * before x, and blocks * d are there in all. */
struct apart {
    int64_t d, front, blocks, out_blocks;
    struct axis a; /* of such an image */
};

static struct apart apart_of(const struct axis *a, int64_t d) {
    struct apart s = {d, 0, a->in, a->out, *a};
    if (d == 1) return s;
    s.front = a->before % s.d;
    s.blocks = hd_ceil_div(a->in + s.front, s.d);
    s.a.d = 1, s.a.in = s.blocks, s.a.before = (a->before - s.front) / s.d;
    s.a.after = hd_max(0, hd_ceil_div(a->out, s.d) - 1 + a->k - s.blocks - s.a.before);
    s.out_blocks = s.a.out = s.blocks + s.a.before + s.a.after - a->k + 1;
    return s;
}

/* Bytes of x that the windows of some pixels of a row span. */
static int64_t span(const struct window *v, const struct axis a[2]) {
    int64_t side[2];
    for (int i = 0; i < 2; i++) side[i] = hd_min(a[i].in, (a[i].k - 1) * a[i].d + (i ? PIXELS : 1));
    return side[0] * side[1] * hd_ceil_div(v->c / v->group, WORD) * WORD;
}

/* Rows, and columns where that is not enough; false: the node stays. */
static bool too_far(const struct window *v, struct apart s[2]) {
    struct axis a[2] = {v->axis[0], v->axis[1]};
    int64_t images = v->n;
    for (int i = 0; i < 2; i++) s[i] = apart_of(&a[i], 1);
    for (int i = 0; i < 2 && span(v, a) > SPAN_MOST; i++) {
        if (a[i].k == 1 || a[i].d == 1 || a[i].stride > 1 || a[i].before < 0) continue;
        s[i] = apart_of(&a[i], a[i].d);
        a[i] = s[i].a, images *= s[i].d;
    }
    return s[0].d * s[1].d > 1 && images <= IMAGES_MOST;
}

static int padded(hd_graph *g, int x, int zp, const struct apart s[2]) {
    const struct hd_tensor t = g->tensors[x];
    int64_t pads[8] = {0, 0, s[0].front, s[1].front, 0, 0}, dim[4] = {t.dim[0], t.dim[1]};
    for (int i = 0; i < 2; i++) {
        dim[2 + i] = s[i].blocks * s[i].d;
        pads[6 + i] = dim[2 + i] - t.dim[2 + i] - s[i].front;
    }
    if (dim[2] == t.dim[2] && dim[3] == t.dim[3]) return x;
    int64_t n = 8;
    int8_t value = (int8_t)zp;
    int in[3] = {x, hd_graph_const(g, "pads", HD_I64, 1, &n, pads),
                 hd_graph_const(g, "value", t.dtype, 0, &n, &value)};
    int y = hd_graph_tensor(g, hd_sprintf(g->arena, "%s.padded", t.name), t.dtype, 4, dim);
    hd_graph_node(g, HD_IR_pad, g->tensors[y].name, 3, in, 1, &y);
    return y;
}

/* Transposes t, of these dimensions, into those of *to, which it fills. */
static int turned(hd_graph *g, int t, int rank, const int64_t *dim, const int64_t *perm,
                  int64_t *to) {
    for (int i = 0; i < rank; i++) to[i] = dim[perm[i]];
    return hd_moved(g, HD_IR_transpose, t, rank, to, "perm", perm, -1);
}

static int shaped(hd_graph *g, int t, int rank, const int64_t *dim, int y) {
    return hd_moved(g, HD_IR_reshape, t, rank, dim, "shape", dim, y);
}

/* [N,C,by*dy,bx*dx] -> [N,C,dy*dx,by,bx] -> [N*dy*dx,C,by,bx]. Channels move last: no dimension of
 * the tensors between is larger than an image of the machine may be. */
static int take_apart(hd_graph *g, int x, const struct apart s[2]) {
    const struct hd_tensor t = g->tensors[x];
    int64_t n = t.dim[0], c = t.dim[1], d = s[0].d * s[1].d, by = s[0].blocks, bx = s[1].blocks;
    int64_t split[6] = {n, c, by, s[0].d, bx, s[1].d}, apart[6], list[5] = {n, c, d, by, bx},
            images[4] = {n * d, c, by, bx};
    x = turned(g, shaped(g, x, 6, split, -1), 6, split, (int64_t[]){0, 1, 3, 5, 2, 4}, apart);
    x = turned(g, shaped(g, x, 5, list, -1), 5, list, (int64_t[]){0, 2, 1, 3, 4}, apart);
    return shaped(g, x, 4, images, -1);
}

/* The other way, to y, which may have fewer rows and columns. */
static void put_together(hd_graph *g, int x, const struct apart s[2], int64_t n, int y) {
    const struct hd_tensor to = g->tensors[y];
    int64_t c = to.dim[1], d = s[0].d * s[1].d, by = s[0].out_blocks, bx = s[1].out_blocks;
    int64_t list[5] = {n, d, c, by, bx}, split[6] = {n, c, s[0].d, s[1].d, by, bx}, apart[6],
            whole[4] = {n, c, by * s[0].d, bx * s[1].d};
    bool fits = whole[2] == to.dim[2] && whole[3] == to.dim[3];
    x = turned(g, shaped(g, x, 5, list, -1), 5, list, (int64_t[]){0, 2, 1, 3, 4}, apart);
    x = turned(g, shaped(g, x, 6, split, -1), 6, split, (int64_t[]){0, 1, 4, 2, 5, 3}, apart);
    x = shaped(g, x, 4, whole, fits ? y : -1);
    if (!fits) hd_first_pixels(g, x, y);
}

static void rewrite(hd_graph *g, int node, const struct window *v, const struct apart s[2]) {
    const struct hd_node n = g->nodes[node];
    int x = take_apart(g, padded(g, n.in[0], (int)hd_attr_int(&n, "x_zp", 0), s), s);
    const struct hd_tensor y = g->tensors[n.out[0]];
    int64_t dim[4] = {g->tensors[x].dim[0], y.dim[1], s[0].out_blocks, s[1].out_blocks};
    int made = hd_graph_tensor(g, hd_sprintf(g->arena, "%s.apart", y.name), y.dtype, 4, dim);
    int64_t macs = hd_node_macs(g, &n);
    int in[4] = {x, n.in[1], n.in[2], n.in[3]};
    int id = hd_qdq_instead(g, node, HD_IR_qconv, 4, in, made);
    hd_attr_set_int(g, id, "macs", macs);
    set_window(g, id, (struct axis[2]){s[0].a, s[1].a});
    put_together(g, made, s, v->n, n.out[0]);
}

static hd_status look_at(hd_ctx *ctx, hd_graph *g, int node) {
    const struct hd_node *n = &g->nodes[node];
    const struct hd_tensor *x = &g->tensors[n->in[0]], *w = &g->tensors[n->in[1]];
    struct hd_window k;
    struct apart s[2];
    bool bytes = x->known && x->rank == 4 && (x->dtype == HD_I8 || x->dtype == HD_U8);
    if (!bytes || !w->data || w->dtype != HD_I8 || hd_attr_int(n, "moves", 0)) return HD_OK;
    TRY(hd_window_get(ctx, n, x, &w->dim[2], &k));
    struct window v = {.axis = {{k.h, k.oh, k.kh, k.dy, k.sy, k.pt, k.pb},
                                {k.w, k.ow, k.kw, k.dx, k.sx, k.pl, k.pr}},
                       .n = k.n,
                       .c = k.c,
                       .group = hd_attr_int(n, "group", 1)};
    if (too_far(&v, s)) rewrite(g, node, &v, s);
    return HD_OK;
}

hd_status hd_pass_windows(hd_ctx *ctx, hd_graph *g) {
    for (size_t i = 0, n = g->n_nodes; i < n; i++)
        if (!g->nodes[i].dead && g->nodes[i].op == HD_IR_qconv) TRY(look_at(ctx, g, (int)i));
    return hd_graph_infer(ctx, g);
}
