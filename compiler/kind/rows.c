/* Softmax and layer norm of a tile of pixels: passes of vx.map as docs/numerics.md defines them,
 * and a product by ones for the mean.
 *
 * Per pixel there are vectors in one half of AM and sums in the other, so that a pass that reads
 * both does not wait for banks. */
#include <math.h>
#include <string.h>

#include "compiler/kind/kinds.h"
#include "runtime/base/num.h"

/* hd_layer.own of both kinds. */
struct along {
    bool centred;    /* norm: the mean is taken off */
    bool biased;     /* norm: some bias is not 0 */
    float b_scale;   /* softmax: of the quotient; norm: epsilon */
    size_t p_offset; /* norm: PM words in the image, */
    size_t ones;     /* and two of WM: ones, and as many as the last word of a pixel has channels */
};

static const struct along *own_of(const struct hd_layer *l) {
    return l->own;
}

struct rows {
    const struct hd_tile *t;
    struct hd_view out;
    int vectors;          /* of a pixel, those of padding included */
    int counted;          /* that reductions take, the last of them up to lane `tail` */
    int64_t values, aux;  /* AM: vectors of each pixel, in either half */
    int64_t first, total; /* AM: a word of each pixel */
};

/* Words of AM that one pixel takes in each of its halves: its vectors, and two for sums. */
static int words_of_pixel(const struct hd_lowering *lo, const struct hd_layer *l) {
    return lo->tensors[l->out].bytes / (int)lo->m->n + 2;
}

/* Passes over the channels, docs/numerics.md. */
static int passes(const struct hd_layer *l) {
    enum { SOFTMAX = 4, NORM = 4 };
    return l->kind == &hd_kind_softmax ? SOFTMAX : NORM + own_of(l)->biased;
}

/* vx.map over the vectors of all pixels; loops (vector, column, row). Those that reduce nothing do
 * not look at `tail`, so it is the same in all. */
static void begin(struct hd_lowerer *w, const struct rows *r) {
    hd_lower_begin(w, HD_UNIT_vx, HD_OP_vx_map);
    hd_lower_set(w, HD_F_vx_a_kind, HD_V_vx_kind_zero);
    hd_lower_set(w, HD_F_vx_b_kind, HD_V_vx_kind_zero);
    hd_lower_set(w, HD_F_vx_n0, r->vectors), hd_lower_set(w, HD_F_vx_n1, r->t->tw);
    hd_lower_set(w, HD_F_vx_n2, r->t->th), hd_lower_set(w, HD_F_vx_n3, 1);
    hd_lower_set(w, HD_F_vx_tail, w->l->oc % (int)w->m->n);
}

enum which { A, B, D };

/* Operand or result `at`, with these steps between vectors, columns and rows. */
static void stream(struct hd_lowerer *w, enum which which, int64_t at, int64_t s0, int64_t s1,
                   int64_t s2) {
    static const enum hd_field field[][4] = {{HD_F_vx_a, HD_F_vx_as0, HD_F_vx_as1, HD_F_vx_as2},
                                             {HD_F_vx_b, HD_F_vx_bs0, HD_F_vx_bs1, HD_F_vx_bs2},
                                             {HD_F_vx_d, HD_F_vx_ds0, HD_F_vx_ds1, HD_F_vx_ds2}};
    const int64_t v[] = {at, s0, s1, s2};
    for (int i = 0; i < 4; i++) hd_lower_set(w, field[which][i], v[i]);
}

static void kind(struct hd_lowerer *w, enum which which, int k, float scale) {
    static const enum hd_field field[] = {HD_F_vx_a_kind, HD_F_vx_b_kind, HD_F_vx_d_kind};
    hd_lower_set(w, field[which], k);
    if (which != D)
        hd_lower_set(w, which == A ? HD_F_vx_a_scale : HD_F_vx_b_scale, hd_lower_f32_bits(scale));
}

/* The bytes of the operand (A) or result (D). */
static void bytes(struct hd_lowerer *w, const struct rows *r, enum which which) {
    const struct hd_view *v = which == A ? &r->t->in[0] : &r->out;
    int n = (int)w->m->n;
    stream(w, which, (int64_t)v->at / n, 1, v->cp / n, v->pitch / n);
    hd_lower_touch(w, v, which == D);
    if (which == D) hd_lower_set_requant(w);
}

static void operand(struct hd_lowerer *w, const struct rows *r, float scale) {
    bytes(w, r, A);
    kind(w, A, hd_lower_byte_kind(w, 0), scale);
}

/* Vectors of all pixels in AM. */
static void values(struct hd_lowerer *w, const struct rows *r, enum which which, int64_t at, int k,
                   float scale) {
    int64_t row = (int64_t)r->t->tw * r->vectors;
    stream(w, which, at, 1, r->vectors, row);
    kind(w, which, k, scale);
    hd_ops_touch(&w->s, HD_SPACE_AM, at, at + r->t->th * row, which == D);
}

/* One word of each pixel in AM, for all its vectors. */
static void word(struct hd_lowerer *w, const struct rows *r, enum which which, int64_t at) {
    stream(w, which, at, 0, 1, r->t->tw);
    kind(w, which, which == D ? HD_V_vx_dest_am_f32 : HD_V_vx_kind_am_f32, 1);
    hd_ops_touch(&w->s, HD_SPACE_AM, at, at + (int64_t)r->t->th * r->t->tw, which == D);
}

/* The operation reduces along each pixel. */
static void reduce(struct hd_lowerer *w, const struct rows *r, int red) {
    hd_lower_set(w, HD_F_vx_red, red);
    hd_lower_set(w, HD_F_vx_nred, 1), hd_lower_set(w, HD_F_vx_lanes, 1);
    hd_lower_set(w, HD_F_vx_n0, r->counted);
}

static void compute(struct hd_lowerer *w, int alu, int fn) {
    hd_lower_set(w, HD_F_vx_alu, alu), hd_lower_set(w, HD_F_vx_fn, fn);
}

/* Rooms in AM for the pixels of the tile. */
static struct rows rows_of(struct hd_lowerer *w, const struct hd_tile *t) {
    int n = (int)w->m->n, cp = hd_lower_tensor(w, w->l->out)->bytes, pixels = t->th * t->tw;
    struct rows r = {.t = t, .vectors = cp / n, .counted = (int)hd_ceil_div(w->l->oc, n)};
    r.out = hd_lower_output(w, t->img, t->y, t->x, t->th, t->tw, cp);
    r.values = hd_lower_accumulators(w, (int64_t)pixels * r.vectors);
    r.first = hd_lower_accumulators(w, (int64_t)pixels * words_of_pixel(w->lo, w->l));
    r.total = r.first + pixels, r.aux = r.total + pixels;
    return r;
}

/* PM words of the channels. */
static void params(struct hd_lowerer *w, const struct rows *r) {
    int64_t at = w->chunks[0].pm;
    hd_lower_set(w, HD_F_vx_p, at), hd_lower_set(w, HD_F_vx_ps0, 1);
    hd_ops_touch(&w->s, HD_SPACE_PM, at, at + r->vectors, false);
}

static hd_status softmax(struct hd_lowerer *w, const struct rows *r) {
    const struct hd_layer *l = w->l;
    int bits = hd_softmax_bits(l->oc);
    begin(w, r); /* the largest, scaled */
    operand(w, r, l->a_scale);
    reduce(w, r, HD_V_vx_red_max);
    word(w, r, D, r->first);
    TRY(hd_ops_end(&w->s));
    begin(w, r); /* e = exp(x - largest) */
    operand(w, r, l->a_scale);
    word(w, r, B, r->first);
    compute(w, HD_V_vx_alu_sub, HD_V_vx_fn_exp);
    values(w, r, D, r->values, HD_V_vx_dest_am_int32, 0);
    hd_lower_set(w, HD_F_vx_q, bits);
    TRY(hd_ops_end(&w->s));
    begin(w, r); /* their sum */
    values(w, r, A, r->values, HD_V_vx_kind_am_int32, ldexpf(1, -bits));
    reduce(w, r, HD_V_vx_red_sum);
    word(w, r, D, r->total);
    TRY(hd_ops_end(&w->s));
    begin(w, r), word(w, r, A, r->total); /* e / sum */
    values(w, r, B, r->values, HD_V_vx_kind_am_int32, own_of(l)->b_scale);
    compute(w, HD_V_vx_alu_mul, HD_V_vx_fn_rcp);
    bytes(w, r, D);
    return hd_ops_end(&w->s);
}

/* The sum of each pixel, in every lane: a product by ones, so MX makes it. */
static hd_status sums(struct hd_lowerer *w, const struct rows *r) {
    const struct hd_view *v = &r->t->in[0];
    const int k = (int)w->m->k, whole = w->l->oc / k, pixels = r->t->th * r->t->tw;
    for (int last = !whole; last < (w->l->oc % k ? 2 : 1); last++) {
        const int64_t one = w->chunks[0].wm + last;
        hd_lower_begin(w, HD_UNIT_mx, HD_OP_mx_gemm);
        hd_lower_set(w, HD_F_mx_nred, 1), hd_lower_set(w, HD_F_mx_accumulate, last && whole);
        hd_lower_set(w, HD_F_mx_x_unsigned, hd_lower_tensor(w, w->l->in[0])->is_unsigned);
        hd_lower_set(w, HD_F_mx_x, (int64_t)v->at / k + last * whole);
        hd_lower_set(w, HD_F_mx_w, one), hd_lower_set(w, HD_F_mx_a, r->first);
        hd_lower_loop(w, 0, last ? 1 : whole, 1, 0, 0);
        hd_lower_loop(w, 1, r->t->tw, v->cp / k, 0, 1);
        hd_lower_loop(w, 2, r->t->th, v->pitch / k, 0, r->t->tw);
        for (int i = 3; i < 6; i++) hd_lower_loop(w, i, 1, 0, 0, 0);
        hd_lower_touch(w, v, false);
        hd_ops_touch(&w->s, HD_SPACE_WM, one, one + 1, false);
        hd_ops_touch(&w->s, HD_SPACE_AM, r->first, r->first + pixels, true);
        TRY(hd_ops_end(&w->s));
    }
    return HD_OK;
}

static hd_status deviations(struct hd_lowerer *w, const struct rows *r) {
    const struct hd_layer *l = w->l;
    if (!own_of(l)->centred) { /* d = x - x_zp */
        begin(w, r);
        operand(w, r, 1), hd_lower_set(w, HD_F_vx_a_imm, l->a_imm);
        values(w, r, D, r->values, HD_V_vx_dest_am_f32, 0);
        return hd_ops_end(&w->s);
    }
    TRY(sums(w, r));
    begin(w, r); /* d = x - mean */
    operand(w, r, 1);
    word(w, r, B, r->first);
    kind(w, B, HD_V_vx_kind_am_int32, l->a_scale);
    compute(w, HD_V_vx_alu_sub, HD_V_vx_fn_none);
    values(w, r, D, r->values, HD_V_vx_dest_am_f32, 0);
    return hd_ops_end(&w->s);
}

static hd_status norm(struct hd_lowerer *w, const struct rows *r) {
    const struct hd_layer *l = w->l;
    int bits = hd_norm_bits(l->oc);
    TRY(deviations(w, r));
    begin(w, r); /* squares */
    values(w, r, A, r->values, HD_V_vx_kind_am_f32, 1);
    values(w, r, B, r->values, HD_V_vx_kind_am_f32, 1);
    compute(w, HD_V_vx_alu_mul, HD_V_vx_fn_none);
    values(w, r, D, r->aux, HD_V_vx_dest_am_int32, 0);
    hd_lower_set(w, HD_F_vx_q, bits);
    TRY(hd_ops_end(&w->s));
    begin(w, r); /* 1 / sqrt(their mean + epsilon) */
    values(w, r, A, r->aux, HD_V_vx_kind_am_int32, ldexpf(l->a_scale, -bits));
    reduce(w, r, HD_V_vx_red_sum);
    hd_lower_set(w, HD_F_vx_b_imm, 1),
        hd_lower_set(w, HD_F_vx_b_scale, hd_lower_f32_bits(own_of(l)->b_scale));
    compute(w, HD_V_vx_alu_add, HD_V_vx_fn_rsqrt);
    word(w, r, D, r->total);
    TRY(hd_ops_end(&w->s));
    begin(w, r); /* d * scale * that */
    values(w, r, A, r->values, HD_V_vx_kind_am_f32, 1);
    params(w, r);
    hd_lower_set(w, HD_F_vx_scale_pm, 1);
    word(w, r, B, r->total);
    compute(w, HD_V_vx_alu_mul, HD_V_vx_fn_none);
    if (!own_of(l)->biased) {
        bytes(w, r, D);
        return hd_ops_end(&w->s);
    }
    values(w, r, D, r->values, HD_V_vx_dest_am_f32, 0);
    TRY(hd_ops_end(&w->s));
    begin(w, r); /* + bias */
    values(w, r, A, r->values, HD_V_vx_kind_am_f32, 1);
    params(w, r);
    kind(w, B, HD_V_vx_kind_pm_f32, 1);
    compute(w, HD_V_vx_alu_add, HD_V_vx_fn_none);
    bytes(w, r, D);
    return hd_ops_end(&w->s);
}

/* Words of the image, unless they are there; *at is where. */
static hd_status load_once(struct hd_lowerer *w, int mem, struct hd_ring *ring, size_t src,
                           int words, int64_t *at) {
    if (*at >= 0) return HD_OK;
    *at = hd_ring_take(w, ring, words);
    hd_lower_load_words(w, mem, src, *at, words, 1, 0, 0);
    return hd_ops_end(&w->s);
}

static hd_status lower(struct hd_lowerer *w, struct hd_tile *t) {
    const struct hd_layer *l = w->l;
    bool is_norm = l->kind == &hd_kind_norm;
    TRY(hd_lower_inputs(w, t));
    if (is_norm) { /* before the first tile */
        const int words = hd_lower_tensor(w, l->out)->bytes / (int)w->m->n;
        struct hd_chunk *c = &w->chunks[0];
        TRY(load_once(w, HD_V_lw_mem_pm, &w->pm, own_of(l)->p_offset, words, &c->pm));
        if (own_of(l)->centred)
            TRY(load_once(w, HD_V_lw_mem_wm, &w->wm, own_of(l)->ones, 2, &c->wm));
    }
    struct rows r = rows_of(w, t);
    const int before = w->s.count[HD_UNIT_vx];
    TRY(is_norm ? norm(w, &r) : softmax(w, &r));
    HD_ASSERT(w->s.count[HD_UNIT_vx] - before == passes(l));
    return hd_lower_store(w, t->img, &r.out, 0, hd_lower_tensor(w, l->out)->bytes);
}

/* ---- the layer ---- */

static const char *refuses(const struct hd_lowering *lo, int node, const char **out_hint) {
    const hd_graph *g = lo->g;
    const struct hd_node *n = &g->nodes[node];
    const struct hd_tensor *x = &g->tensors[n->in[0]];
    int64_t axis = n->op == HD_IR_qsoftmax ? hd_attr_int(n, "axis", -1) : -1;
    if (axis < 0) axis += x->rank;
    if (hd_lacks_functions(lo, out_hint)) return hd_lacks_functions(lo, out_hint);
    if (axis != (lo->rows[n->in[0]] ? x->rank - 1 : 1)) {
        *out_hint = "transpose the tensor, so that it works along the last dimension";
        return "works along another dimension than the channels";
    }
    for (int i = 1; i < n->n_in; i++)
        if (!g->tensors[n->in[i]].data) {
            *out_hint = "export the network with constant scale and bias";
            return "scale or bias is not constant";
        }
    return NULL;
}

/* PM words of the channels: bias and scale, both binary32. */
static void pack_params(struct hd_lowering *lo, struct hd_layer *l, struct along *own,
                        const float *scale, const float *bias) {
    size_t vectors = (size_t)lo->tensors[l->out].bytes / lo->m->n;
    own->p_offset = hd_image_reserve(lo, vectors * hd_pm_word_bytes(lo->m));
    uint8_t *p = lo->image + own->p_offset;
    for (int c = 0; c < l->oc; c++, p += 8) {
        own->biased = own->biased || bias[c] != 0;
        memcpy(p, &bias[c], 4);
        memcpy(p + 4, &scale[c], 4);
    }
    l->weight_bytes = l->oc * 8;
}

static hd_status make_softmax(struct hd_lowering *lo, const struct hd_node *n, struct hd_layer *l) {
    struct along *own = hd_new(lo->arena, struct along);
    l->own = own;
    l->a_scale = hd_attr_float(n, "x_scale", 1);
    own->b_scale = ldexpf(1, -hd_softmax_bits(l->oc)) * hd_attr_float(n, "scale", 1);
    return HD_OK;
}

static hd_status make_norm(struct hd_lowering *lo, const struct hd_node *n, struct hd_layer *l) {
    struct along *own = hd_new(lo->arena, struct along);
    l->own = own;
    own->centred = hd_attr_int(n, "centred", 1) != 0;
    if (!own->centred) l->a_imm = -(int32_t)hd_attr_int(n, "x_zp", 0);
    l->a_scale = 1.0f / (float)l->oc;
    own->b_scale = hd_attr_float(n, "epsilon", 0);
    own->ones = hd_image_reserve(lo, 2 * hd_wm_word_bytes(lo->m));
    for (int64_t i = 0; i < 2 * hd_wm_word_bytes(lo->m); i++)
        lo->image[own->ones + (size_t)i] =
            i < hd_wm_word_bytes(lo->m) || i % (int)lo->m->k < l->oc % (int)lo->m->k;
    pack_params(lo, l, own, lo->g->tensors[n->in[1]].data, lo->g->tensors[n->in[2]].data);
    return HD_OK;
}

static enum hd_wish softmax_wish(const struct hd_node *n) {
    return hd_attr_int(n, "axis", -1) == 1 ? HD_WISH_IMAGE : HD_WISH_ROWS;
}

static int64_t most_pixels(const struct hd_lowering *lo, const struct hd_tiling *lt,
                           struct hd_refusal *out_why) {
    int words = words_of_pixel(lo, lt->l);
    int64_t pixels = hd_half_am(lo->m) / words;
    bool params = lt->l->kind->own_params && (uint32_t)words - 2 > hd_pm_words(lo->m);
    if (!pixels || params) *out_why = params ? HD_REFUSE(row_params) : HD_REFUSE(row_sums);
    return pixels;
}

static int64_t pixel_cycles(const struct hd_layer *l) {
    return (int64_t)l->nts * passes(l);
}

static int64_t vector_ops(const struct hd_lowering *lo, const struct hd_layer *l) {
    return passes(l) * hd_vectors_once(lo, l);
}

const struct hd_kind hd_kind_softmax = {
    .name = "softmax",
    .operations = "vx.map",
    .expression = "exp(x[m,i,j]) / sum over c of exp(x[c,i,j])",
    .memories = "XM AM -> AM, AM -> XM",
    .only_vx = true,
    .refuses = refuses,
    .wish_of = softmax_wish,
    .make = make_softmax,
    .pixel_cycles = pixel_cycles,
    .vector_ops = vector_ops,
    .most_pixels = most_pixels,
    .lower = lower,
};

const struct hd_kind hd_kind_norm = {
    .name = "norm",
    .operations = "mx.gemm vx.map",
    .expression = "(x[m,i,j] - mean) / deviation over c * gamma[m] + beta[m]",
    .memories = "XM WM -> AM, XM AM PM -> AM, AM -> XM",
    .own_params = true,
    .refuses = refuses,
    .wish = HD_WISH_ROWS,
    .make = make_norm,
    .pixel_cycles = pixel_cycles,
    .vector_ops = vector_ops,
    .most_pixels = most_pixels,
    .lower = lower,
};
