/* Quantised convolution of device cpu: see cpu_int8.h. Compiled for AVX2 on x86-64 whatever the
 * rest of the program is compiled for (rules.mk), called only behind hd_q_available().
 *
 * A unit of work is a strip of output rows and a range of output channels. Its input rows are
 * copied to scratch first, with padding, so that the inner loops need no cases.
 */
#include "cpu_ref/cpu_int8_int.h"

#include <stdlib.h>
#include <string.h>

#include "cpu_ref/cpu_int8_dot.h"
#include "runtime/base/num.h"
#include "runtime/base/parallel.h"

#if defined __x86_64__ && defined __AVX2__

enum {
    STRIP_BYTES = 128 << 10, /* dense: rows in and out, beside the weights in L2 */
    STRIP_PIXELS = 96,       /* at least, or the weights are read too often */
    PARALLEL_MIN = 400000,   /* products that are worth a second thread */
    PARALLEL_MIN_DOT = 1500000
};

bool hd_q_available(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

void hd_q_weights(const hd_q_conv *c, int64_t m, int16_t *to) {
    int64_t taps = c->d.v.kh * c->d.v.kw, at = m * c->cg * taps;
    for (int64_t tap = 0; tap < taps; tap++)
        for (int64_t ch = 0; ch < c->cg; ch++) {
            int64_t from = at + ch * taps + tap;
            *to++ = c->d.wide ? ((const int16_t *)c->d.w)[from] : ((const int8_t *)c->d.w)[from];
        }
}

bool hd_q_offsets_fit(const struct hd_window *v) {
    int64_t row = hd_max(v->pl + v->w, (v->ow - 1) * v->sx + (v->kw - 1) * v->dx + 1);
    int64_t bytes = 0;
    return !__builtin_mul_overflow(row, 4 * hd_max(v->c, 32), &bytes) &&
           !__builtin_mul_overflow(bytes, (v->kh - 1) * v->dy + 1, &bytes) && bytes < INT32_MAX;
}

/* Rows of a strip: what fits the budget; more strips when there would be fewer than threads. */
static void choose_strips(hd_q_conv *c) {
    const struct hd_window *v = &c->d.v;
    bool depth = c->method == HD_Q_DEPTH; /* its scratch is one row of one block */
    int64_t groups = depth || c->method == HD_Q_DOT_DEPTH ? 1 : c->d.group;
    int64_t reach = c->gather ? 1 : (v->kh - 1) * v->dy + 1, step = c->gather ? 1 : v->sy;
    int64_t row_bytes = c->wp * v->c * (c->method == HD_Q_WORDS ? 2 : 1);
    int64_t fit = STRIP_BYTES / (row_bytes * step + v->ow * c->d.m_all);
    fit = depth ? v->oh : hd_max(fit, hd_ceil_div(STRIP_PIXELS, v->ow));
    c->strip = hd_min(fit, v->oh);
    if (c->threads > 1 && v->oh >= 8 * c->threads)
        c->strip = hd_min(c->strip, hd_ceil_div(v->oh, c->threads));
    c->n_strips = hd_ceil_div(v->oh, c->strip);
    c->strip = hd_ceil_div(v->oh, c->n_strips);
    c->n_strips = hd_ceil_div(v->oh, c->strip);
    c->rows = (c->strip - 1) * step + reach;
    c->n_splits = 1;
    if (c->n_strips * v->n < c->threads)
        c->n_splits = hd_min(c->blocks * groups, hd_ceil_div(c->threads, c->n_strips * v->n));
    /* 64: runs are read in fours */
    int64_t bytes = depth ? c->wp * c->n_runs * HD_Q_DEPTH_BLOCK * 4 : c->rows * row_bytes;
    if (c->method == HD_Q_DOT_DEPTH) bytes += 3 * v->dy * row_bytes; /* rows are read in fours */
    if (c->direct) bytes = 0;
    c->scratch_bytes = (size_t)hd_round_up(bytes + 64, 64);
}

hd_q_conv *hd_q_conv_create(const struct hd_q_conv_desc *d, int threads) {
    hd_q_conv *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    const struct hd_window *v = &d->v;
    c->d = *d;
    int64_t products = v->n * v->oh * v->ow * d->m_all * (v->c / d->group) * v->kh * v->kw;
    c->cg = v->c / d->group;
    c->mg = d->m_all / d->group;
    bool sums = d->result != HD_Q_REQUANT, depth = c->cg == 1 && c->mg == 1 && v->c > 1 && !sums;
    c->dot = hd_q_dot_pieces(d) ? hd_q_dot_of(d->lanes) : NULL;
    if (sums && !c->dot) {
        hd_q_conv_destroy(c);
        return NULL;
    }
    c->threads = products < (c->dot && !depth ? PARALLEL_MIN_DOT : PARALLEL_MIN) ? 1 : threads;
    c->gather = v->kh == 1 && v->kw == 1 && !depth;
    c->flip = d->x_signed ? 0x80 : 0;
    c->zero = d->x_zp + c->flip;
    c->wp = c->gather ? v->ow : (v->ow - 1) * v->sx + (v->kw - 1) * v->dx + 1;
    if (!c->gather && (!depth || c->dot)) c->wp = hd_max(c->wp, v->pl + v->w);
    c->small = true;
    for (int64_t m = 0; m < d->m_all && !sums; m++)
        c->small = c->small && d->scale[m] > -0.5f && d->scale[m] < 0.5f;
    bool packed = c->dot ? (depth ? hd_q_dot_depth_pack(c) : hd_q_dot_pack(c))
                         : (depth ? hd_q_depth_pack(c) : hd_q_dense_pack(c));
    if (!packed) {
        hd_q_conv_destroy(c);
        return NULL;
    }
    choose_strips(c);
    c->d.w = NULL, c->d.bias = NULL, c->d.scale = NULL;
    return c;
}

void hd_q_conv_destroy(hd_q_conv *c) {
    if (!c) return;
    hd_q_pack_free(&c->pack);
    free(c->w);
    free(c->w8);
    free(c->panel);
    free(c->bias);
    free(c->scale);
    free(c->part);
    free(c->run_at);
    free(c);
}

/* In front of the scratch of threads: what the bias is in this run. */
static size_t bias_bytes(const hd_q_conv *c) {
    size_t n = c->d.result == HD_Q_REQUANT ? 0 : (size_t)c->n_bias;
    return (n * sizeof(int32_t) + 63) / 64 * 64;
}

size_t hd_q_conv_scratch(const hd_q_conv *c) {
    return c->scratch_bytes * (size_t)c->threads + bias_bytes(c);
}

static void run_unit(void *arg, int64_t i, int thread) {
    const struct hd_q_unit *u = arg;
    const hd_q_conv *c = u->c;
    uint8_t *s = u->scratch + c->scratch_bytes * (size_t)thread;
    int64_t split = i % c->n_splits, rest = i / c->n_splits;
    int64_t image = rest / c->n_strips, strip = rest % c->n_strips;
    switch (c->method) {
    case HD_Q_DEPTH:
        hd_q_depth_unit(u, image, strip, split, s);
        break;
    case HD_Q_DOT:
        c->dot->dense_unit(u, image, strip, split, s);
        break;
    case HD_Q_DOT_DEPTH:
        c->dot->depth_unit(u, image, strip, split, s);
        break;
    default:
        hd_q_dense_unit(u, image, strip, split, s);
    }
}

void hd_q_conv_run_sums(const hd_q_conv *c, const void *x, int32_t x_zp, void *y, void *scratch) {
    hd_q_conv now = *c;
    struct hd_q_unit u = {&now, x, NULL, y, (uint8_t *)scratch + bias_bytes(c)};
    now.d.x_zp = x_zp;
    now.zero = x_zp + c->flip;
    now.bias = scratch;
    for (int64_t i = 0; i < c->n_bias; i++)
        now.bias[i] = (int32_t)(0 - (uint32_t)now.zero * (uint32_t)c->bias[i]);
    hd_parallel(c->threads, c->d.v.n * c->n_strips * c->n_splits, run_unit, &u);
}

void hd_q_conv_run(const hd_q_conv *c, const void *x, const void *other, void *y, void *scratch) {
    struct hd_q_unit u = {c, x, c->d.has_sum ? other : NULL, y, scratch};
    hd_parallel(c->threads, c->d.v.n * c->n_strips * c->n_splits, run_unit, &u);
}

#endif
