/* Elementwise layers and means that round as TFLite's kernels do, in fixed point: each value is
 * scaled by the high half of a doubled product and a shift, both rounded. */
#include "compiler/import/tflite/tflite_fixed.h"

/* Factor, shift left before it, shift right behind it, and the mask of that one. */
static void set_factor(struct hd_tfl *m, int node, const char *const *name,
                       const struct hd_tfl_factor *f) {
    int64_t left = f->shift > 0 ? f->shift : 0, right = f->shift > 0 ? 0 : -f->shift;
    hd_attr_set_int(m->g, node, name[0], f->multiplier);
    hd_attr_set_int(m->g, node, name[1], left);
    hd_attr_set_int(m->g, node, name[2], right);
    hd_attr_set_int(m->g, node, name[3], (1LL << right) - 1);
}

static const char *const factor[] = {"m", "l", "s", "k"}, *const below[] = {"mn", "ln", "sn", "kn"};

/* Kernels find these scales in binary32. */
static hd_status factor_of(struct hd_tfl *m, float scale, struct hd_tfl_factor *out) {
    return hd_tfl_factor_of((double)scale, out)
               ? HD_OK
               : hd_tfl_bad(m, HD_UNSUPPORTED, "a scale that no kernel of TFLite has");
}

static hd_status finish(struct hd_tfl *m, int node, int out) {
    TRY(hd_tfl_done(m, node));
    hd_tfl_set_raw(m, hd_tfl_out(m, 0), out);
    return HD_OK;
}

/* clang-format off */
#define SCALED                                                                                     \
    "h[...] = " HD_TFL_HIGH("p[...]")                                                              \
    "y[...] = %s(clamp(" HD_TFL_SHIFTED("h[...]", "s", "k") " + zp, lo, hi))"
/* clang-format on */

static const char product[] =
    "(a: [...], b: [...], za: int, zb: int, m: int, l: int, s: int, k: int, zp: int, lo: int, hi: "
    "int) -> y\n"
    "p[...] = i64(i32(((i64(a[...]) - za)*(i64(b[...]) - zb)) << l))*m\n" SCALED;

hd_status hd_tfl_fixed_product(struct hd_tfl *m, int64_t activation) {
    struct hd_tfl_tensor *a = hd_tfl_in(m, 0), *b = hd_tfl_in(m, 1), *y = hd_tfl_out(m, 0);
    struct hd_tfl_factor f;
    int in[2], node, out;
    TRY(hd_tfl_raw(m, a, &in[0]));
    TRY(hd_tfl_raw(m, b, &in[1]));
    TRY(factor_of(m, a->scale[0] * b->scale[0] / y->scale[0], &f));
    TRY(hd_tfl_fixed_expression(m, product, activation, 2, in, &node, &out));
    hd_attr_set_int(m->g, node, "za", a->zero[0]);
    hd_attr_set_int(m->g, node, "zb", b->zero[0]);
    set_factor(m, node, factor, &f);
    return finish(m, node, out);
}

/* clang-format off */
static const char leaky[] =
    "(x: [...], zx: int, m: int, l: int, s: int, k: int, mn: int, ln: int, sn: int, kn: int, zp: "
    "int, lo: int, hi: int) -> y\n"
    "v[...] = i64(x[...]) - zx\n"
    "p[...] = select(v[...] >= 0, i64(i32(v[...] << l))*m, i64(i32(v[...] << ln))*mn)\n"
    "h[...] = " HD_TFL_HIGH("p[...]")
    "y[...] = %s(clamp(select(v[...] >= 0, " HD_TFL_SHIFTED("h[...]", "s", "k") ", "
    HD_TFL_SHIFTED("h[...]", "sn", "kn") ") + zp, lo, hi))";
/* clang-format on */

hd_status hd_tfl_fixed_leaky(struct hd_tfl *m, float alpha) {
    struct hd_tfl_tensor *x = hd_tfl_in(m, 0), *y = hd_tfl_out(m, 0);
    struct hd_tfl_factor f, slope;
    int in, node, out;
    TRY(hd_tfl_raw(m, x, &in));
    TRY(factor_of(m, x->scale[0] / y->scale[0], &f));
    TRY(factor_of(m, x->scale[0] * alpha / y->scale[0], &slope));
    TRY(hd_tfl_fixed_expression(m, leaky, 0, 1, &in, &node, &out));
    hd_attr_set_int(m->g, node, "zx", x->zero[0]);
    set_factor(m, node, factor, &f);
    set_factor(m, node, below, &slope);
    return finish(m, node, out);
}

static const char mean[] =
    "(x: [...], b: int, m: int, l: int, s: int, k: int, zp: int, lo: int, hi: int) -> y\n"
    "p[...] = i64(i32((i64(x[...]) - b) << l))*m\n" SCALED;

/* The division by n goes into the factor, which loses its lowest bits. */
hd_status hd_tfl_fixed_mean(struct hd_tfl *m, int sums, int64_t n) {
    struct hd_tfl_tensor *x = hd_tfl_in(m, 0);
    struct hd_tfl_factor f;
    int node, out, shift = 0;
    if (!hd_tfl_factor_of((double)x->scale[0] / (double)hd_tfl_out(m, 0)->scale[0], &f))
        return hd_tfl_bad(m, HD_UNSUPPORTED, "a scale that no kernel of TFLite has");
    while (n >> (shift + 1) && shift < 32 && shift < 31 + f.shift) shift++;
    f.multiplier = (f.multiplier << shift) / n;
    f.shift -= shift;
    TRY(hd_tfl_fixed_expression(m, mean, 0, 1, &sums, &node, &out));
    hd_attr_set_int(m->g, node, "b", n * x->zero[0]);
    set_factor(m, node, factor, &f);
    return finish(m, node, out);
}
