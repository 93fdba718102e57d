/* Which form of vpdpbusd is used, and its weights: see cpu_int8_dot.h. */
#include "cpu_ref/cpu_int8_dot.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/num.h"

#ifdef __x86_64__
#include <cpuid.h>

enum { ACROSS_16 = 4, ACROSS_8 = 2 }; /* vectors of a panel at most */

/* AVX-VNNI: CPUID leaf 7, part 1. The system keeps the registers of AVX2, so also these. */
static bool has_avx_vnni(void) {
    unsigned a = 0, b, c, d;
    return __builtin_cpu_supports("avx2") && __get_cpuid_count(7, 1, &a, &b, &c, &d) && a >> 4 & 1;
}

static bool has_avx512_vnni(void) {
    return __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl");
}

const struct hd_q_dot *hd_q_dot_of(int most) {
    if (most >= 16 && has_avx512_vnni()) return &hd_q_dot16;
    return most >= 8 && has_avx_vnni() ? &hd_q_dot8 : NULL;
}

int hd_q_lanes(void) {
    const char *most = getenv("HEDDLE_VNNI");
    const struct hd_q_dot *dot = hd_q_dot_of(most ? atoi(most) : 16);
    return dot ? dot->lanes : 0;
}

int hd_q_dot_pieces(const struct hd_q_conv_desc *d) {
    const struct hd_window *v = &d->v;
    int64_t n = d->m_all * (v->c / d->group) * v->kh * v->kw;
    int least = 0, most = 0;
    for (int64_t i = 0; d->wide && i < n; i++) {
        int w = ((const int16_t *)d->w)[i];
        least = w < least ? w : least;
        most = w > most ? w : most;
    }
    if (least < 2 * INT8_MIN || most > 2 * INT8_MAX) return 0;
    return least < INT8_MIN || most > INT8_MAX ? 2 : 1;
}

/* ---- packing -------------------------------------------------------------------------------- */

/* Bias and scale of channel m at `at`, less the zero point's part; sum: of its weights, which
 * stands for the bias where the zero point comes with the operand. */
static void put_tail(hd_q_conv *c, int64_t at, int64_t m, uint32_t sum) {
    if (c->d.result != HD_Q_REQUANT) {
        c->bias[at] = (int32_t)sum;
        return;
    }
    c->bias[at] = (int32_t)((uint32_t)c->d.bias[m] - (uint32_t)c->zero * sum);
    c->scale[at] = c->d.scale[m];
}

/* Zeroed memory of n elements; free() frees it. */
static void *grab(int64_t n, size_t size) {
    size_t bytes = ((size_t)n * size + 127) / 64 * 64;
    void *p = aligned_alloc(64, bytes);
    if (p) memset(p, 0, bytes);
    return p;
}

/* The panels of `groups` with `n` channels each, of `across` vectors at most, none of a single one
 * where that can be; weights a vector takes: `per`. False = no memory. */
static bool cut_panels(hd_q_conv *c, int64_t groups, int64_t n, int across, int64_t per) {
    const int lanes = c->dot->lanes;
    int64_t vectors = hd_ceil_div(n, lanes), all = vectors * groups, i = 0;
    c->blocks = hd_ceil_div(vectors, across);
    c->panel = calloc((size_t)(c->blocks * groups), sizeof *c->panel);
    for (int64_t g = 0; c->panel && g < groups; g++)
        for (int64_t at = 0, left; (left = vectors - at) > 0;) {
            int64_t n_b = left == across + 1 ? hd_ceil_div(left, 2) : hd_min(left, across);
            c->panel[i++] = (struct hd_q_panel){.first = g * n + at * lanes,
                                                .n = hd_min(n - at * lanes, n_b * lanes),
                                                .n_b = n_b,
                                                .at = (g * vectors + at) * lanes,
                                                .from = g * c->cg,
                                                .weights = (g * vectors + at) * per};
            at += n_b;
        }
    c->n_bias = all * lanes;
    c->w8 = grab(all * per, 1);
    c->bias = grab(all * lanes, sizeof *c->bias);
    c->scale = grab(all * lanes, sizeof *c->scale);
    return c->panel && c->w8 && c->bias && c->scale;
}

/* Are all pixels that a 1x1 window reads inside, unsigned, and four of them no more than there are?
 */
static bool in_place(const hd_q_conv *c) {
    const struct hd_window *v = &c->d.v;
    return c->gather && !c->flip && c->cg % 4 == 0 && !v->pt && !v->pl &&
           (v->oh - 1) * v->sy < v->h && (v->ow - 1) * v->sx < v->w;
}

/* Weights of two pieces: all runs are walked a second time. False = no memory. */
static bool walk_twice(hd_q_conv *c) {
    int64_t n = c->n_runs, *at = calloc((size_t)(2 * n), sizeof *at);
    for (int64_t r = 0; at && r < 2 * n; r++) at[r] = c->run_at[r % n];
    free(c->run_at);
    c->run_at = at;
    c->n_runs = 2 * n;
    return at;
}

/* The first piece of a weight, and `far` bytes on what is left of it. */
static void put_weight(int8_t *to, int16_t w, int pieces, int64_t far) {
    int8_t first = (int8_t)hd_max(INT8_MIN, hd_min(w, INT8_MAX));
    *to = first;
    if (pieces > 1) to[far] = (int8_t)(w - first);
}

bool hd_q_dot_pack(hd_q_conv *c) {
    const int pieces = hd_q_dot_pieces(&c->d);
    c->method = HD_Q_DOT;
    c->direct = in_place(c);
    if (!hd_q_runs(c)) return false;
    const int lanes = c->dot->lanes;
    int64_t fours = hd_ceil_div(c->run_len, 4), all = c->n_runs * c->run_len;
    int16_t *w = malloc((size_t)all * sizeof *w); /* of one channel */
    const int64_t piece = c->n_runs * fours * lanes * 4;
    if (pieces > 1 && !walk_twice(c)) {
        free(w);
        return false;
    }
    const int across = lanes == 16 ? ACROSS_16 : ACROSS_8;
    bool ok = cut_panels(c, c->d.group, c->mg, across, pieces * piece) && w;
    for (int64_t i = 0; ok && i < c->blocks * c->d.group; i++) {
        const struct hd_q_panel *p = &c->panel[i];
        for (int64_t ch = 0; ch < p->n; ch++) {
            uint32_t sum = 0;
            hd_q_weights(c, p->first + ch, w);
            for (int64_t k = 0; k < all; k++) {
                int64_t four = k / c->run_len * fours + k % c->run_len / 4;
                int64_t to = (four * p->n_b + ch / lanes) * lanes + ch % lanes;
                put_weight(c->w8 + p->weights + to * 4 + k % c->run_len % 4, w[k], pieces,
                           p->n_b * piece);
                sum += (uint32_t)w[k];
            }
            put_tail(c, p->at + ch, p->first + ch, sum);
        }
    }
    free(w);
    return ok;
}

bool hd_q_dot_depth_pack(hd_q_conv *c) {
    const struct hd_window *v = &c->d.v;
    const int lanes = c->dot->lanes;
    int64_t taps = v->kh * v->kw;
    c->method = HD_Q_DOT_DEPTH;
    c->n_runs = hd_ceil_div(v->kh, 4);
    c->run_at = calloc((size_t)c->n_runs, sizeof *c->run_at);
    for (int64_t r = 0; c->run_at && r < c->n_runs; r++)
        c->run_at[r] = 4 * r * v->dy * c->wp * v->c;
    int16_t *w = malloc((size_t)taps * sizeof *w); /* of one channel */
    const int pieces = hd_q_dot_pieces(&c->d);
    const int64_t piece = c->n_runs * v->kw * lanes * 4;
    bool ok = c->run_at && w && (pieces == 1 || walk_twice(c));
    ok = ok && cut_panels(c, 1, v->c, 1, pieces * piece);
    for (int64_t m = 0; ok && m < v->c; m++) {
        const struct hd_q_panel *p = &c->panel[m / lanes];
        uint32_t sum = 0;
        hd_q_weights(c, m, w);
        for (int64_t tap = 0; tap < taps; tap++) {
            int64_t ky = tap / v->kw, column = ky / 4 * v->kw + tap % v->kw;
            put_weight(c->w8 + p->weights + (column * lanes + m % lanes) * 4 + ky % 4, w[tap],
                       pieces, piece);
            sum += (uint32_t)w[tap];
        }
        put_tail(c, p->at + m % lanes, m, sum);
    }
    free(w);
    return ok;
}
#endif
