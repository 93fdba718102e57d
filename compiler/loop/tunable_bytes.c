/* Works of bytes: channels lie last, so a row of a window is a run of neighbours. Two forms:
 *
 *   pairs   widened less the zero point into rows with a border (intrinsic madd)
 *   fours   unsigned, zero point and all, which the bias takes back (intrinsics vnni, vnni_8); rows
 *           with a border only where there is padding, or a run is no multiple of four */
#include <string.h>

#include "compiler/loop/tunable_int.h"
#include "runtime/base/num.h"

enum { ROUND = 16 }; /* ROUND: of elements of a row, for whole vectors */

struct rows { /* a work as rows of elements */
    int64_t n, h, oh, ow, kh, kw, sy, sx, dy, dx, pt;
    int64_t pixel, run; /* elements of a pixel, neighbours that are read */
    int64_t step, even; /* neighbours that are multiplied at once; run, rounded up to them */
    int64_t in, left;   /* elements of a row of x, of its border */
    int64_t high, wide; /* of the copy: rows, elements */
    int64_t skip;       /* rows of x for one of the copy */
    bool direct;        /* there is no copy */
};

static struct rows rows_of(const struct hd_tunable *w) {
    struct rows r = {.n = w->n,
                     .h = w->h,
                     .oh = w->oh,
                     .ow = w->ow,
                     .kh = w->kh,
                     .kw = w->kw,
                     .sy = w->sy,
                     .sx = w->sx,
                     .dy = w->dy,
                     .dx = w->dx,
                     .pt = w->pt};
    if (w->product)
        r = (struct rows){
            .h = 1, .oh = 1, .ow = w->h, .kh = 1, .kw = 1, .sx = 1, .sy = 1, .dx = 1, .dy = 1};
    r.n = w->product ? 1 : w->n;
    r.pixel = w->g * w->c;
    bool whole = w->g == 1 && r.dx == 1; /* the row of a window is one run */
    r.run = whole ? r.kw * w->c : w->c;
    if (whole) r.kw = 1;
    r.step = w->fours ? 4 : 2;
    r.even = hd_round_up(r.run, r.step);
    bool padded = !w->product && (w->pt || w->pl || w->pb || w->pr);
    r.direct = w->fours && !padded && r.even == r.run;
    r.in = (w->product ? w->h : w->w) * r.pixel;
    r.left = w->product ? 0 : w->pl * r.pixel;
    r.skip = r.kh == 1 ? r.sy : 1;
    if (r.kh == 1) r.sy = 1;
    r.high = (r.oh - 1) * r.sy + (r.kh - 1) * r.dy + 1;
    r.wide = ((r.ow - 1) * r.sx + (r.kw - 1) * r.dx) * r.pixel + (w->g - 1) * w->c + r.even;
    r.wide = hd_round_up(r.wide, ROUND);
    return r;
}

size_t hd_tunable_weights(const struct hd_tunable *w, const int8_t *from, int8_t *to) {
    struct rows r = rows_of(w);
    int64_t kw = w->product ? 1 : w->kw, taps = r.kh * kw, n = 0;
    for (int64_t m = 0; m < w->g * w->m; m++)
        for (int64_t p = 0; p < r.kh; p++)
            for (int64_t q = 0; q < r.kw; q++)
                for (int64_t e = 0; e < r.even; e++, n++) {
                    int64_t tap = p * kw + q + e / w->c, c = e % w->c; /* e / c: of a whole row */
                    int64_t at =
                        w->product && !w->rows ? c * w->m + m : (m * w->c + c) * taps + tap;
                    if (to) to[n] = e < r.run ? from[at] : 0;
                }
    return (size_t)n;
}

void hd_tunable_bias(const struct hd_tunable *w, const int8_t *weights, const int32_t *from,
                     int32_t *to) {
    int64_t taps = w->product ? 1 : w->kh * w->kw, n = w->g * w->m, depth = w->c * taps;
    uint32_t zero = w->fours ? (uint32_t)(w->x_zp + (w->x_signed ? 128 : 0)) : 0;
    for (int64_t m = 0; m < n; m++) {
        uint32_t sum = 0;
        for (int64_t i = 0; i < depth && zero; i++)
            sum += (uint32_t)weights[w->product && !w->rows ? i * w->m + m : m * depth + i];
        to[m] = (int32_t)((uint32_t)from[m] - zero * sum);
    }
}

/* ---- expression ----------------------------------------------------------------------------- */

#define L(v) (long long)(v)

/* The copy's elements: of pairs less the zero point, of fours unsigned. */
static const char *copy(hd_arena *a, const struct hd_tunable *w, const struct rows *r) {
    const char *x = hd_sprintf(a, "pad(x[n,%lld*u-%lld,e-%lld], %d)", L(r->skip), L(r->pt),
                               L(r->left), w->x_zp);
    const char *value = !w->fours     ? hd_sprintf(a, "i16(%s) - %d", x, w->x_zp)
                        : w->x_signed ? hd_sprintf(a, "u8(i16(%s) + 128)", x)
                                      : x;
    return hd_sprintf(a, "xp[n,u,e] = %s where u < %lld, e < %lld\n", value, L(r->high),
                      L(r->wide));
}

/* What a weight is multiplied with: an element of the copy, or of x itself. */
static const char *factor(hd_arena *a, const struct hd_tunable *w, const struct rows *r) {
    const char *at = hd_sprintf(a, "n,%lld*i+%lld*p,%lld*j+%lld*q+%lld*g+c",
                                L(r->direct ? r->sy * r->skip : r->sy), L(r->dy),
                                L(r->sx * r->pixel), L(r->dx * r->pixel), L(w->c));
    if (!r->direct) return hd_sprintf(a, "xp[%s]", at);
    return hd_sprintf(a, w->x_signed ? "u8(i16(x[%s]) + 128)" : "x[%s]", at);
}

const char *hd_tunable_bytes_text(hd_arena *a, const struct hd_tunable *w) {
    struct rows r = rows_of(w);
    const char *x = w->x_signed ? "i8" : "u8", *y = w->y_signed ? "i8" : "u8";
    return hd_sprintf(
        a,
        "(x: %s[%lld,%lld,%lld], w: i8[%lld,%lld,%lld,%lld,%lld], b: i32[%lld,%lld], "
        "s: f32[%lld,%lld]) -> y\n%s"
        "acc[n,i,j,g,m] += i32(%s) * i32(w[g,m,p,q,c]) where i < %lld, j < %lld\n"
        "y[n,i,j,g,m] = %s(i32.even(clamp(f32(acc[n,i,j,g,m] + b[g,m])*s[g,m], %d.0, %d.0)) + %d)",
        x, L(r.n), L(r.h), L(r.in), L(w->g), L(w->m), L(r.kh), L(r.kw), L(r.even), L(w->g), L(w->m),
        L(w->g), L(w->m), r.direct ? "" : copy(a, w, &r), factor(a, w, &r), L(r.oh), L(r.ow), y,
        w->lo - w->y_zp, w->hi - w->y_zp, w->y_zp);
}
#undef L

/* ---- schedule ------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    int lanes; /* sums in a register */
    bool fours;
} dots[] = {[HD_DOT_MADD] = {"madd", 8, false},
            [HD_DOT_VNNI_8] = {"vnni_8", 8, true},
            [HD_DOT_VNNI] = {"vnni", 16, true}};

int hd_tunable_vnni(const char *schedule) {
    int widest = 0;
    for (const char *p = schedule; (p = strstr(p, " vnni")); p++)
        widest = hd_max(widest, p[5] == '_' ? 8 : 16);
    return widest;
}

struct hd_tunable hd_tunable_under(const struct hd_tunable *w, const char *schedule) {
    struct hd_tunable under = *w;
    under.fours = w->bytes && hd_tunable_vnni(schedule) > 0;
    return under;
}

const char *hd_tunable_bytes_schedule(hd_arena *a, const struct hd_tunable *w,
                                      const struct hd_tile *t) {
    struct hd_tunable under = *w;
    under.fours = dots[t->dot].fours;
    struct rows r = rows_of(&under);
    int lanes = dots[t->dot].lanes, step = (int)r.step;
    if (t->along || t->taps || t->lanes % lanes || w->m % t->lanes || r.ow % t->across) return NULL;
    if (r.even / step % t->unroll) return NULL;
    const char *more = "", *order = "ck j au al ci";
    if (t->unroll > 1) {
        more = hd_sprintf(a, "split acc ck %d co cu; unroll acc cu; ", t->unroll);
        order = "co cu j au al ci";
    }
    bool by_rows = t->pixels_outside && r.oh > 1;
    const char *threads = w->g > 1 ? "g" : by_rows ? "i" : w->m > t->lanes ? "mo" : "jo";
    return hd_sprintf(a,
                      "split y m %d mo ml; split y ml %d mu mi; split y j %d jo ji; "
                      "reorder y n %s jo ji mu mi; compute_at acc y jo; pack acc w 1 %d wp; "
                      "pack acc wp 4 %d wq; split acc c %d ck ci; split acc m %d au al; "
                      "%sreorder acc p q %s; unroll acc j; unroll acc au; tensorize acc al %s; "
                      "unroll y ji; unroll y mu; vectorize y mi; parallel y %s%s",
                      t->lanes, lanes, t->across, by_rows ? "i g mo" : "g mo i", t->lanes, step,
                      step, lanes, more, order, dots[t->dot].name, threads,
                      r.direct ? "" : "; parallel xp u");
}
