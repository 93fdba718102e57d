/* Works of bytes: channels lie last, so a row of a window is a run of neighbours. They are widened
 * less the zero point into rows with a border, and multiplied in pairs (intrinsic madd). */
#include "compiler/loop/tunable_int.h"
#include "runtime/base/num.h"

enum { PAIR = 2, LANES = 8, ROUND = 16 }; /* ROUND: of elements of a row, for whole vectors */

struct rows { /* a work as rows of elements */
    int64_t n, h, oh, ow, kh, kw, sy, sx, dy, dx, pt;
    int64_t pixel, run, even; /* elements of a pixel, neighbours that are read, rounded up */
    int64_t in, left;         /* elements of a row of x, of its border */
    int64_t high, wide;       /* of the copy: rows, elements */
    int64_t skip;             /* rows of x for one of the copy */
};

static struct rows rows_of(const struct hd_tunable *w) {
    struct rows r = {w->n,  w->h, w->oh, w->ow, w->kh, w->kw, w->sy, w->sx, w->dy, w->dx,
                     w->pt, 0,    0,     0,     0,     0,     0,     0,     1};
    if (w->product)
        r = (struct rows){
            .h = 1, .oh = 1, .ow = w->h, .kh = 1, .kw = 1, .sx = 1, .sy = 1, .dx = 1, .dy = 1};
    r.n = w->product ? 1 : w->n;
    r.pixel = w->g * w->c;
    bool whole = w->g == 1 && r.dx == 1; /* the row of a window is one run */
    r.run = whole ? r.kw * w->c : w->c;
    if (whole) r.kw = 1;
    r.even = hd_round_up(r.run, PAIR);
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

/* ---- expression ----------------------------------------------------------------------------- */

const char *hd_tunable_bytes_text(hd_arena *a, const struct hd_tunable *w) {
    struct rows r = rows_of(w);
    const char *x = w->x_signed ? "i8" : "u8", *y = w->y_signed ? "i8" : "u8";
#define L(v) (long long)(v)
    return hd_sprintf(
        a,
        "(x: %s[%lld,%lld,%lld], w: i8[%lld,%lld,%lld,%lld,%lld], b: i32[%lld,%lld], "
        "s: f32[%lld,%lld]) -> y\n"
        "xp[n,u,e] = i16(pad(x[n,%lld*u-%lld,e-%lld], %d)) - %d where u < %lld, e < %lld\n"
        "acc[n,i,j,g,m] += i32(xp[n,%lld*i+%lld*p,%lld*j+%lld*q+%lld*g+c]) * i32(w[g,m,p,q,c]) "
        "where i < %lld, j < %lld\n"
        "y[n,i,j,g,m] = %s(i32.even(clamp(f32(acc[n,i,j,g,m] + b[g,m])*s[g,m], %d.0, %d.0)) + %d)",
        x, L(r.n), L(r.h), L(r.in), L(w->g), L(w->m), L(r.kh), L(r.kw), L(r.even), L(w->g), L(w->m),
        L(w->g), L(w->m), L(r.skip), L(r.pt), L(r.left), w->x_zp, w->x_zp, L(r.high), L(r.wide),
        L(r.sy), L(r.dy), L(r.sx * r.pixel), L(r.dx * r.pixel), L(w->c), L(r.oh), L(r.ow), y,
        w->lo - w->y_zp, w->hi - w->y_zp, w->y_zp);
#undef L
}

/* ---- schedule ------------------------------------------------------------------------------- */

const char *hd_tunable_bytes_schedule(hd_arena *a, const struct hd_tunable *w,
                                      const struct hd_tile *t) {
    struct rows r = rows_of(w);
    if (t->along || t->taps || t->lanes % LANES || w->m % t->lanes || r.ow % t->across) return NULL;
    if (r.even / PAIR % t->unroll) return NULL;
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
                      "%sreorder acc p q %s; unroll acc j; unroll acc au; tensorize acc al madd; "
                      "unroll y ji; unroll y mu; vectorize y mi; parallel y %s; parallel xp u",
                      t->lanes, LANES, t->across, by_rows ? "i g mo" : "g mo i", t->lanes, PAIR,
                      PAIR, LANES, more, order, threads);
}
