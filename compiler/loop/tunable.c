/* Works: see tunable.h. */
#include "compiler/loop/tunable_int.h"

void hd_tunable_simplify(struct hd_tunable *w) {
    if (w->product || w->kh != 1 || w->kw != 1 || w->sy != 1 || w->sx != 1) return;
    if (w->pt || w->pl || w->pb || w->pr) return;
    w->w *= w->h, w->ow *= w->oh;
    w->h = w->oh = 1;
}

int64_t hd_tunable_macs(const struct hd_tunable *w) {
    if (w->product) return w->h * w->c * w->m;
    return w->n * w->g * w->m * w->c * w->oh * w->ow * w->kh * w->kw;
}

const char *hd_tunable_name(hd_arena *a, const struct hd_tunable *w) {
#define N(x) (long long)w->x
    const char *type = w->bytes ? "int8" : "f32";
    const char *behind = hd_sprintf(a, "%s%s", w->bias ? " bias" : "", w->relu ? " relu" : "");
    if (w->product)
        return hd_sprintf(a, "%s product %lldx%lldx%lld%s%s", type, N(h), N(m), N(c),
                          w->rows ? " [n,k]" : "", behind);
    return hd_sprintf(a,
                      "%s conv %lldx%lldx%lldx%lldx%lld to %lldx%lldx%lld, window %lldx%lld, "
                      "stride %lld,%lld dilation %lld,%lld pads %lld,%lld,%lld,%lld%s",
                      type, N(n), N(g), N(c), N(h), N(w), N(m), N(oh), N(ow), N(kh), N(kw), N(sy),
                      N(sx), N(dy), N(dx), N(pt), N(pl), N(pb), N(pr), behind);
}

static bool pads(const struct hd_tunable *w) {
    return w->pt || w->pl || w->pb || w->pr;
}

/* factor * variable, for a reader. */
static const char *times(hd_arena *a, int64_t k, const char *v) {
    return k == 1 ? v : hd_sprintf(a, "%lld*%s", (long long)k, v);
}

static const char *result(hd_arena *a, const struct hd_tunable *w, const char *acc, const char *b) {
    const char *sum = w->bias ? hd_sprintf(a, "%s + %s", acc, b) : acc;
    return w->relu ? hd_sprintf(a, "max(%s, 0)", sum) : hd_sprintf(a, "(%s)", sum);
}

static const char *product_text(hd_arena *a, const struct hd_tunable *w) {
    const char *b = w->bias ? hd_sprintf(a, ", b: f32[%lld]", N(m)) : "";
    return hd_sprintf(a,
                      "(x: f32[%lld,%lld], w: f32[%lld,%lld]%s) -> y\n"
                      "acc[i,m] += x[i,c] * w[%s]\ny[i,m] = %s",
                      N(h), N(c), w->rows ? N(m) : N(c), w->rows ? N(c) : N(m), b,
                      w->rows ? "m,c" : "c,m", result(a, w, "acc[i,m]", "b[m]"));
}

static const char *conv_text(hd_arena *a, const struct hd_tunable *w) {
    const char *b = w->bias ? hd_sprintf(a, ", b: f32[%lld,%lld]", N(g), N(m)) : "", *padded = "";
    if (pads(w))
        padded = hd_sprintf(a,
                            "xp[n,g,c,u,v] = pad(x[n,g,c,u-%lld,v-%lld], 0) where u < %lld, v < "
                            "%lld\n",
                            N(pt), N(pl), N(h) + N(pt) + N(pb), N(w) + N(pl) + N(pr));
    return hd_sprintf(a,
                      "(x: f32[%lld,%lld,%lld,%lld,%lld], w: f32[%lld,%lld,%lld,%lld,%lld]%s) -> y"
                      "\n%sacc[n,g,m,i,j] += %s[n,g,c,%s+%s,%s+%s] * w[g,m,c,p,q] where i < %lld, "
                      "j < %lld\ny[n,g,m,i,j] = %s",
                      N(n), N(g), N(c), N(h), N(w), N(g), N(m), N(c), N(kh), N(kw), b, padded,
                      pads(w) ? "xp" : "x", times(a, w->sy, "i"), times(a, w->dy, "p"),
                      times(a, w->sx, "j"), times(a, w->dx, "q"), N(oh), N(ow),
                      result(a, w, "acc[n,g,m,i,j]", "b[g,m]"));
#undef N
}

hd_status hd_tunable_expr(hd_ctx *ctx, hd_arena *a, const struct hd_tunable *w,
                          struct hd_expr **out) {
    struct hd_expr *f;
    const char *text = w->bytes     ? hd_tunable_bytes_text(a, w)
                       : w->product ? product_text(a, w)
                                    : conv_text(a, w);
    TRY(hd_expr_parse(ctx, a, text, &f));
    return hd_expr_bind(ctx, a, f, NULL, out);
}

/* ---- schedules ------------------------------------------------------------------------------ */

/* Copies of a few rounds of c. */
static const char *rounds(hd_arena *a, const struct hd_tile *t, const char *inner) {
    if (t->unroll <= 1) return hd_sprintf(a, "reorder acc c %s", inner);
    return hd_sprintf(a, "split acc c %d co ci; reorder acc co ci %s; unroll acc ci", t->unroll,
                      inner);
}

static const char *product_schedule(hd_arena *a, const struct hd_tunable *w,
                                    const struct hd_tile *t) {
    if (t->along || t->pixels_outside || t->taps) return NULL;
    if (w->m % t->lanes || w->h % t->across || w->c % t->unroll) return NULL;
    return hd_sprintf(a,
                      "split y m %d mo mi; split y i %d io ii; reorder y mo io ii mi; "
                      "compute_at acc y io; pack acc w %d %d wp; %s; unroll acc i; "
                      "vectorize acc m; unroll y ii; vectorize y mi; parallel y mo",
                      t->lanes, t->across, w->rows ? 0 : 1, t->lanes, rounds(a, t, "i m"));
}

/* Lanes are results: weights are packed, pixels are read one by one. */
static const char *across_schedule(hd_arena *a, const struct hd_tunable *w,
                                   const struct hd_tile *t) {
    const char *outer = t->pixels_outside ? "i mo" : "mo i", *share = w->g > 1 ? "xp g" : "xp c";
    if (w->m % t->lanes || w->ow % t->across || w->c % t->unroll) return NULL;
    const char *threads = w->g > 1                               ? "g"
                          : t->pixels_outside                    ? "i"
                          : w->m > t->lanes || w->oh * w->n == 1 ? "mo"
                                                                 : "i";
    if (w->oh == 1 && w->g == 1 && w->m == t->lanes) threads = "jo";
    return hd_sprintf(a,
                      "split y m %d mo mi; split y j %d jo ji; reorder y n g %s jo ji mi; "
                      "compute_at acc y jo; pack acc w 1 %d wp; %s; unroll acc j; "
                      "vectorize acc m;%s unroll y ji; unroll y mi; parallel y %s%s%s",
                      t->lanes, t->across, outer, t->lanes,
                      rounds(a, t, w->kh * w->kw > 1 ? "p q j m" : "j m"),
                      t->taps ? " unroll acc q;" : "", threads, pads(w) ? "; parallel " : "",
                      pads(w) ? share : "");
}

/* Lanes are pixels of a row. */
static const char *along_schedule(hd_arena *a, const struct hd_tunable *w,
                                  const struct hd_tile *t) {
    if (w->m % t->across || w->c % t->unroll || t->pixels_outside) return NULL;
    if (w->sx > 1 && w->ow % t->lanes) return NULL; /* no masks for elements that lie apart */
    return hd_sprintf(a,
                      "split y m %d mo mi; split y j %d jo ji; reorder y n g mo i jo mi ji; "
                      "compute_at acc y jo; %s; unroll acc m; vectorize acc j;%s unroll y mi; "
                      "vectorize y ji; parallel y %s%s%s",
                      t->across, t->lanes, rounds(a, t, w->kh * w->kw > 1 ? "p q m j" : "m j"),
                      t->taps ? " unroll acc q; unroll acc p;" : "",
                      w->g > 1           ? "g"
                      : w->m > t->across ? "mo"
                                         : "i",
                      pads(w) ? "; parallel xp " : "",
                      !pads(w)   ? ""
                      : w->g > 1 ? "g"
                                 : "c");
}

const char *hd_tunable_schedule(hd_arena *a, const struct hd_tunable *w, const struct hd_tile *t) {
    if (w->bytes) return hd_tunable_bytes_schedule(a, w, t);
    if (w->product) return product_schedule(a, w, t);
    return t->along ? along_schedule(a, w, t) : across_schedule(a, w, t);
}
