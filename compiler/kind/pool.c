/* Pooling: maxima and averages of windows. */
#include "compiler/ir/window.h"
#include "compiler/kind/kinds.h"
#include "runtime/base/num.h"

/* hd_layer.own */
struct pool {
    bool max;      /* else an average */
    int counts[4]; /* of an average: rows [0], to [1], columns [2] to [3] whose taps count */
};

/* Output pixels whose windows all have the same clipped shape: rows [0] to [1] and columns [2] to
 * [3] of the taps, of which an average counts so many. */
struct block {
    int y, rows, x, cols, win[4], count;
};

/* Pooling of the rows of a block, of vector `vec`; of one row, and all vectors where vec is -1. */
static hd_status pool_run(struct hd_lowerer *w, const struct hd_tile *t, const struct hd_view *out,
                          const struct block *b, int vec) {
    const struct hd_layer *l = w->l;
    const struct pool *own = l->own;
    const struct hd_placement *fromp = hd_lower_place(w, l->in[0]);
    const struct hd_view *in = &t->in[0];
    int n = (int)w->m->n, pixel = in->cp / n, vectors = hd_lower_tensor(w, l->out)->bytes / n;
    int iy = b->y * l->sy - l->pt + b->win[0] * l->dy,
        ix = b->x * l->sx - l->pl + b->win[2] * l->dx;
    int rows = (b->win[1] - b->win[0] - 1) * l->dy + 1 + (b->rows - 1) * l->sy;
    int cols = (b->win[3] - b->win[2] - 1) * l->dx + 1 + (b->cols - 1) * l->sx;
    struct hd_view src = hd_view_part(in, iy, ix, rows, cols);
    if (fromp->roll) /* contiguous for one row of windows, not for all */
        src = hd_lower_resident(fromp, t->img, iy, ix, rows, cols);
    struct hd_view dst = hd_view_part(out, b->y, b->x, b->rows, b->cols);
    hd_lower_begin(w, HD_UNIT_vx, HD_OP_vx_map);
    hd_lower_operand_a(w);
    if (!own->max) {
        float scale = hd_pool_scale(l->a_scale, (int64_t)l->kh * l->kw, b->count);
        hd_lower_set(w, HD_F_vx_a_scale, hd_lower_f32_bits(scale));
    }
    hd_lower_set(w, HD_F_vx_red, own->max ? HD_V_vx_red_max : HD_V_vx_red_sum);
    hd_lower_set(w, HD_F_vx_nred, 2);
    hd_lower_set(w, HD_F_vx_a, src.at / (uint32_t)n + (uint32_t)hd_max(vec, 0));
    hd_lower_set(w, HD_F_vx_d, dst.at / (uint32_t)n + (uint32_t)hd_max(vec, 0));
    hd_lower_map_loop(w, 0, b->win[3] - b->win[2], l->dx * pixel, 0, 0);
    hd_lower_map_loop(w, 1, b->win[1] - b->win[0], l->dy * in->pitch / n, 0, 0);
    hd_lower_map_loop(w, 2, b->cols, l->sx * pixel, 0, out->cp / n);
    if (vec < 0)
        hd_lower_map_loop(w, 3, vectors, 1, 0, 1);
    else
        hd_lower_map_loop(w, 3, b->rows, l->sy * in->pitch / n, 0, out->pitch / n);
    hd_lower_touch(w, &src, false);
    hd_lower_touch(w, &dst, true);
    return hd_ops_end(&w->s);
}

/* As few operations as it goes: down the rows of one vector, or over the vectors of one row. */
static hd_status pool_block(struct hd_lowerer *w, const struct hd_tile *t,
                            const struct hd_view *out, struct block b) {
    const struct hd_layer *l = w->l;
    int vectors = hd_lower_tensor(w, l->out)->bytes / (int)w->m->n, rows = b.rows;
    int64_t step = hd_max(l->sy * t->in[0].pitch, out->pitch) / w->m->n;
    bool down = rows > vectors && step <= INT16_MAX && !hd_lower_place(w, l->in[0])->roll;
    for (int vec = 0; down && vec < vectors; vec++) TRY(pool_run(w, t, out, &b, vec));
    if (down) return HD_OK;
    b.rows = 1;
    for (int i = 0; i < rows; i++, b.y++) TRY(pool_run(w, t, out, &b, -1));
    return HD_OK;
}

/* Taps [out[0], out[1]) of a window that starts at `start` lie inside [0, size). */
static void clip_window(int start, int taps, int step, int size, int out[2]) {
    out[0] = start < 0 ? (int)hd_ceil_div(-start, step) : 0;
    out[1] = (int)hd_min(taps, hd_ceil_div(size - start, step));
}

/* Taps of a window's rows (columns: way 1) that an average counts. */
static int counted(const struct hd_layer *l, int way, int start) {
    const int *counts = ((const struct pool *)l->own)->counts + 2 * way;
    int win[2], from = counts[0], to = counts[1];
    clip_window(start - from, way ? l->kw : l->kh, way ? l->dx : l->dy, to - from, win);
    return win[1] - win[0];
}

/* Rows (columns: way 1) of the result from `at` on, below `end`, whose windows are alike: *n of
 * them, their taps out_win. Returns how many an average counts. */
static int alike(const struct hd_lowerer *w, int way, int at, int end, int *n, int out_win[2]) {
    const struct hd_layer *l = w->l;
    const struct hd_mtensor *x = hd_lower_tensor(w, l->in[0]);
    int stride = way ? l->sx : l->sy, pad = way ? l->pl : l->pt, size = way ? x->w : x->h;
    int taps = way ? l->kw : l->kh, step = way ? l->dx : l->dy, other[2];
    int count = counted(l, way, at * stride - pad);
    clip_window(at * stride - pad, taps, step, size, out_win);
    for (*n = 1; at + *n < end; ++*n) {
        int start = (at + *n) * stride - pad;
        clip_window(start, taps, step, size, other);
        if (other[0] != out_win[0] || other[1] != out_win[1] || counted(l, way, start) != count)
            break;
    }
    return count;
}

static hd_status lower(struct hd_lowerer *w, struct hd_tile *t) {
    const struct hd_layer *l = w->l;
    const struct hd_mtensor *x = hd_lower_tensor(w, l->in[0]);
    int y0 = (int)hd_max(0, t->y * l->sy - l->pt), x0 = (int)hd_max(0, t->x * l->sx - l->pl);
    int y1 = (int)hd_min(x->h, (t->y + t->th - 1) * l->sy - l->pt + (l->kh - 1) * l->dy + 1);
    int x1 = (int)hd_min(x->w, (t->x + t->tw - 1) * l->sx - l->pl + (l->kw - 1) * l->dx + 1);
    TRY(hd_lower_input(w, 0, t->img, y0, x0, y1 - y0, x1 - x0, &t->in[0]));
    struct hd_view out =
        hd_lower_output(w, t->img, t->y, t->x, t->th, t->tw, hd_lower_tensor(w, l->out)->bytes);
    struct block b = {.y = t->y};
    for (; b.y < t->y + t->th; b.y += b.rows) {
        int down = alike(w, 0, b.y, t->y + t->th, &b.rows, b.win);
        for (b.x = t->x; b.x < t->x + t->tw; b.x += b.cols) {
            b.count = down * alike(w, 1, b.x, t->x + t->tw, &b.cols, b.win + 2);
            TRY(pool_block(w, t, &out, b));
        }
    }
    return hd_lower_store(w, t->img, &out, 0, hd_lower_tensor(w, l->out)->bytes);
}

/* ---- the layer ---- */

/* Taps of an average count inside the image, or inside the padding, too. */
static void pool_counts(const struct hd_lowering *lo, const struct hd_node *n,
                        const struct hd_layer *l, int *counts) {
    const struct hd_mtensor *x = &lo->tensors[l->in[0]];
    bool pads = hd_attr_int(n, "count_include_pad", 0) != 0,
         flat = lo->g->tensors[n->in[0]].rank == 3;
    int64_t p[4];
    hd_attr_ints(n, "pads", p, 2 * (2 - flat), 0);
    counts[0] = pads ? -l->pt : 0, counts[2] = pads ? -l->pl : 0;
    counts[1] = x->h + (pads && !flat ? (int)p[2] : 0);
    counts[3] = x->w + (pads ? (int)p[flat ? 1 : 3] : 0);
}

/* Some window has no tap inside the image, which dilated ones can. */
static bool misses_image(const struct hd_lowering *lo, const struct hd_node *n) {
    struct hd_window v;
    if (hd_window_get(lo->ctx, n, &lo->g->tensors[n->in[0]], NULL, &v) != HD_OK) return true;
    for (int way = 0; way < 2; way++) {
        int64_t stride = way ? v.sx : v.sy, step = way ? v.dx : v.dy, size = way ? v.w : v.h;
        for (int64_t o = 0; o < (way ? v.ow : v.oh); o++) {
            int64_t start = o * stride - (way ? v.pl : v.pt);
            int64_t first = start < 0 ? hd_ceil_div(-start, step) : 0;
            if (first >= (way ? v.kw : v.kh) || start + first * step >= size) return true;
        }
    }
    return false;
}

static const char *refuses(const struct hd_lowering *lo, int node, const char **out_hint) {
    const struct hd_node *n = &lo->g->nodes[node];
    (void)out_hint;
    if (lo->g->tensors[n->in[0]].rank > 4) return "window has more than two dimensions";
    return misses_image(lo, n) ? "a window lies beside the image" : NULL;
}

static hd_status make(struct hd_lowering *lo, const struct hd_node *n, struct hd_layer *l) {
    bool u8 = lo->tensors[l->out].is_unsigned;
    hd_window_attrs(l, n, lo->g);
    struct pool *own = hd_new(lo->arena, struct pool);
    own->max = n->op == HD_IR_qmaxpool;
    pool_counts(lo, n, l, own->counts);
    l->own = own;
    l->a_imm = own->max ? 0 : -(int32_t)hd_attr_int(n, "x_zp", 0);
    l->a_scale = own->max ? 1 : hd_attr_float(n, "scale", 1);
    if (own->max) l->y.lo = u8 ? 0 : -128, l->y.hi = u8 ? 255 : 127;
    return HD_OK;
}

static int64_t pixel_cycles(const struct hd_layer *l) {
    return (int64_t)l->nts * l->kh * l->kw;
}

const struct hd_kind hd_kind_pool = {
    .name = "pool",
    .operations = "vx.map",
    .expression = "max or sum over p, q of x[i*sy + p*dy - pt, j*sx + q*dx - pl, m]",
    .memories = "XM -> XM",
    .chains = true,
    .takes_parts = true,
    .refuses = refuses,
    .wish = HD_WISH_IMAGE,
    .make = make,
    .pixel_cycles = pixel_cycles,
    .vector_ops = hd_vectors_of_windows,
    .lower = lower,
};
