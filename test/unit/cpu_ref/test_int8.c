/* The integer convolution of device cpu against its definition, bit for bit: random shapes,
 * windows, zero points and weights, those among them that no lane of int16 holds; and what the
 * packing of weights promises. Operands are allocated to the byte, so that the sanitizers see what
 * is read or written beyond. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cpu_ref/cpu_int8.h"
#include "cpu_ref/cpu_int8_pack.h"
#include "cpu_ref/cpu_int8_rnn.h"
#include "runtime/base/fn.h"
#include "runtime/base/num.h"
#include "runtime/base/parallel.h"

#ifdef __x86_64__

enum { CASES = 600, GUARD = 16 };

static uint32_t state;
static int below(int n) {
    state = state * 1664525u + 1013904223u;
    return (int)((uint64_t)(state >> 4) * (uint64_t)n >> 28);
}
static int between(int lo, int hi) {
    return lo + below(hi - lo + 1);
}
static int pick(int a, int b, int c) {
    return (int[]){a, b, c}[below(3)];
}

enum kind { SMALL, WIDE_SPREAD, LEAST, MOST, SIGNS, SPARSE, ENDS, N_KINDS };

/* A weight of at most `most` in magnitude (one more below zero if that is 127). */
static int weight_of(enum kind k, int most, int i) {
    int least = most == 127 ? -128 : -most;
    switch (k) {
    case SMALL: /* about normal */
        return (between(-most, most) + between(-most, most) + between(-most, most)) / 8;
    case WIDE_SPREAD:
        return between(least, most);
    case LEAST:
        return least;
    case MOST:
        return most;
    case SIGNS:
        return i & 1 ? most : least;
    case SPARSE:
        return below(8) ? 0 : between(least, most);
    default:
        return below(2) ? most : least;
    }
}

/* ---- one convolution ------------------------------------------------------------------------ */

struct test {
    struct hd_q_conv_desc d;
    int16_t *w16; /* the weights, whatever their type */
    int8_t *w8;
    uint8_t *x, *other, *y, *want;
    size_t n_x, n_y;
};

static int32_t byte_of(const uint8_t *p, bool is_signed) {
    return is_signed ? (int8_t)*p : *p;
}

static void reference(struct test *t) {
    const struct hd_q_conv_desc *d = &t->d;
    const struct hd_window *v = &d->v;
    int64_t cg = v->c / d->group, mg = d->m_all / d->group, at = 0;
    for (int64_t n = 0; n < v->n; n++)
        for (int64_t o = 0; o < v->oh * v->ow; o++)
            for (int64_t m = 0; m < d->m_all; m++, at++) {
                uint32_t sum = (uint32_t)d->bias[m];
                for (int64_t k = 0; k < cg * v->kh * v->kw; k++) {
                    int64_t ch = k / (v->kh * v->kw), tap = k % (v->kh * v->kw);
                    int64_t iy = o / v->ow * v->sy - v->pt + tap / v->kw * v->dy;
                    int64_t ix = o % v->ow * v->sx - v->pl + tap % v->kw * v->dx;
                    if (iy < 0 || ix < 0 || iy >= v->h || ix >= v->w) continue;
                    const uint8_t *x =
                        t->x + ((n * v->h + iy) * v->w + ix) * v->c + m / mg * cg + ch;
                    sum += (uint32_t)((byte_of(x, d->x_signed) - d->x_zp) *
                                      t->w16[m * cg * v->kh * v->kw + k]);
                }
                float scaled = (float)(int32_t)sum * d->scale[m];
                int32_t q = hd_requant(scaled, d->out.zp, d->out.lo, d->out.hi);
                const struct hd_q_sum *s = &d->sum;
                if (d->has_sum) {
                    float a = (float)(q - s->a_zp) * s->a_scale;
                    float b = (float)(byte_of(t->other + at, s->b_signed) - s->b_zp) * s->b_scale;
                    q = hd_requant(a + b, s->out.zp, s->out.lo, s->out.hi);
                }
                t->want[at] = (uint8_t)q;
            }
}

static struct hd_q_out random_out(void) {
    bool is_signed = below(2);
    int lo = is_signed ? -128 : 0, zp = lo + pick(0, 255, below(256));
    bool clamped = below(3) == 0;
    return (struct hd_q_out){zp, clamped ? zp : lo, clamped ? between(zp, lo + 255) : lo + 255,
                             is_signed};
}

static uint8_t *random_bytes(size_t n) {
    uint8_t *p = malloc(n + 1);
    int ends = below(4) == 0; /* 0 and 255 only */
    for (size_t i = 0; i < n; i++) p[i] = (uint8_t)(ends ? -below(2) : below(256));
    return p;
}

enum window { ANY, ONE, THREE };

/* Sizes of a window along one axis; `out` is at least 1. kind: any, of size 1, or the frequent one
 * of size 3. */
static void random_axis(int64_t *size, int64_t *k, int64_t *s, int64_t *d, int64_t *before,
                        int64_t *out, enum window kind) {
    *k = kind == ANY ? between(1, below(4) ? 3 : 7) : kind == ONE ? 1 : 3;
    *s = between(1, kind == THREE ? 2 : 3), *d = kind == THREE || below(4) ? 1 : 2;
    *before = below(2) ? below((int)*k) : 0;
    int64_t reach = (*k - 1) * *d + 1, after = below(2) ? below((int)*k) : 0;
    *size = between((int)hd_max(1, reach - *before - after), 20);
    *out = (*size + *before + after - reach) / *s + 1;
}

static void make(struct test *t, int number) {
    struct hd_q_conv_desc *d = &t->d;
    struct hd_window *v = &d->v;
    memset(t, 0, sizeof *t);
    bool depthwise = number % 3 == 0;
    enum window kind = number % 4 == 0 ? THREE : below(3) == 0 ? ONE : ANY;
    random_axis(&v->h, &v->kh, &v->sy, &v->dy, &v->pt, &v->oh, kind);
    random_axis(&v->w, &v->kw, &v->sx, &v->dx, &v->pl, &v->ow, kind);
    v->n = between(1, 2);
    d->group = depthwise ? pick(2, between(2, 40), 32 * between(1, 2)) : pick(1, 1, between(1, 4));
    int64_t cg = depthwise ? 1 : between(1, 40), mg = depthwise ? 1 : between(1, 40);
    v->c = cg * d->group, d->m_all = mg * d->group;
    if (number % 50 == 1) v->h += 40, v->oh += 40 / v->sy; /* products for two threads */
    d->wide = below(4) == 0;
    d->x_signed = below(2);
    d->x_zp = (d->x_signed ? -128 : 0) + pick(0, 255, below(256));
    d->out = random_out();
    d->has_sum = below(3) == 0;
    d->sum = (struct hd_q_sum){d->out.zp,        between(-128, 255), 0.02f,       0.03f,
                               d->out.is_signed, below(2),           random_out()};
    t->n_x = (size_t)(v->n * v->h * v->w * v->c),
    t->n_y = (size_t)(v->n * v->oh * v->ow * d->m_all);
    t->x = random_bytes(t->n_x);
    t->other = random_bytes(t->n_y);
    t->y = malloc(t->n_y + GUARD);
    t->want = malloc(t->n_y);
    memset(t->y, 0xa5, t->n_y + GUARD);
    size_t k = (size_t)(cg * v->kh * v->kw), n_w = k * (size_t)d->m_all;
    t->w16 = malloc(n_w * sizeof *t->w16);
    t->w8 = malloc(n_w);
    int32_t *bias = malloc((size_t)d->m_all * sizeof *bias);
    float *scale = malloc((size_t)d->m_all * sizeof *scale);
    int most = !d->wide ? 127 : below(2) ? 254 : 255; /* the latter are three of int8 */
    enum kind weights = (enum kind)below(N_KINDS);
    for (size_t i = 0; i < n_w; i++) {
        t->w16[i] = (int16_t)weight_of(weights, most, (int)i);
        t->w8[i] = (int8_t)t->w16[i];
    }
    d->w = d->wide ? (const void *)t->w16 : t->w8;
    bool large = below(5) == 0; /* products beyond 2^30 */
    for (int64_t m = 0; m < d->m_all; m++) {
        bias[m] = below(4) ? between(-5000, 5000) : (int32_t)((uint32_t)below(1 << 16) << 16);
        scale[m] = large ? 4096.0f : 0.5f / (float)((size_t)between(40, 400) * (k + 1));
    }
    d->bias = bias, d->scale = scale;
    reference(t);
}

static void destroy(struct test *t) {
    free((void *)(uintptr_t)t->d.bias);
    free((void *)(uintptr_t)t->d.scale);
    free(t->w16);
    free(t->w8);
    free(t->x);
    free(t->other);
    free(t->y);
    free(t->want);
}

/* With vpdpbusd of `lanes` sums, or without. */
static void convolutions_with(int lanes) {
    if (!hd_q_available()) skip();
    if (lanes && hd_q_lanes() < lanes) {
        printf("int8, %d sums: this processor has %d\n", lanes, hd_q_lanes());
        skip();
    }
    assert_true(hd_threads_open(2));
    for (int i = 0; i < CASES; i++) {
        struct test t;
        state = (uint32_t)i;
        make(&t, i);
        t.d.lanes = lanes;
        const struct hd_window *v = &t.d.v;
        hd_q_conv *c = hd_q_conv_create(&t.d, 1 + i % 2);
        assert_non_null(c);
        void *scratch = aligned_alloc(64, hd_q_conv_scratch(c));
        hd_q_conv_run(c, t.x, t.d.has_sum ? t.other : NULL, t.y, scratch);
        for (size_t k = 0; k < t.n_y + GUARD; k++)
            if (t.y[k] != (k < t.n_y ? t.want[k] : 0xa5))
                fail_msg("case %d: %dx%dx%d, %dx%d window, %d channels out, group %d, at %zu: %d, "
                         "not %d",
                         i, (int)v->h, (int)v->w, (int)v->c, (int)v->kh, (int)v->kw, (int)t.d.m_all,
                         (int)t.d.group, k, t.y[k], k < t.n_y ? t.want[k] : 0xa5);
        hd_q_conv_destroy(c);
        free(scratch);
        destroy(&t);
    }
}

static void convolutions(void **unused) {
    (void)unused;
    convolutions_with(0);
}

static void convolutions_of_8(void **unused) {
    (void)unused;
    convolutions_with(8);
}

static void convolutions_of_16(void **unused) {
    (void)unused;
    convolutions_with(16);
}

/* ---- packing -------------------------------------------------------------------------------- */

enum { QUADS = 40 };

/* The groups of a list: what is multiplied is what was packed, and no lane passes 128. */
static void check_list(const struct hd_q_pack *p, const struct hd_q_list *l, int width,
                       int32_t sum[QUADS][HD_Q_WIDTH_MAX][4]) {
    int64_t q = l->first;
    for (int kind = 0; kind < 3; kind++)
        for (int32_t g = 0; g < l->n[kind]; g++) {
            int lane[2][HD_Q_WIDTH_MAX * 2] = {{0}};
            for (int i = 0; i < 4 >> kind; i++, q++)
                for (int k = 0; k < 4 * width; k++) {
                    int w = p->w[q * 4 * width + k];
                    sum[p->at[q] / 4][k / 4][k % 4] += w;
                    lane[w < 0][k / 2] += w;
                }
            for (int k = 0; k < 2 * width; k++)
                if (lane[0][k] > 128 || lane[1][k] < -128)
                    fail_msg("a lane holds %d and %d", lane[0][k], lane[1][k]);
        }
    assert_int_equal(q, p->n_quads);
}

static void packing(void **unused) {
    (void)unused;
    if (!hd_q_available()) skip();
    for (int i = 0; i < 200; i++) {
        state = (uint32_t)i;
        int width = i % 2 ? 8 : 32, most = below(3) ? 127 : 255;
        enum kind kind = (enum kind)below(N_KINDS);
        struct hd_q_pack p = {.width = width};
        for (int block = 0; block < 3; block++) {
            static struct hd_q_quad quad[QUADS];
            static int32_t want[QUADS][HD_Q_WIDTH_MAX][4], got[QUADS][HD_Q_WIDTH_MAX][4];
            memset(got, 0, sizeof got);
            memset(want, 0, sizeof want);
            memset(quad, 0, sizeof quad);
            for (int q = 0; q < QUADS; q++) {
                quad[q].at = 4 * q;
                for (int j = 0; j < 4; j++) quad[q].rows[j] = (uint8_t)j;
                for (int k = 0; k < 4 * width; k++)
                    want[q][k / 4][k % 4] = quad[q].left[k / 4][k % 4] =
                        (int16_t)weight_of(kind, most, k);
            }
            assert_true(hd_q_pack_block(&p, quad, QUADS, true));
            check_list(&p, &p.list[block], width, got);
            assert_memory_equal(got, want, sizeof got);
        }
        hd_q_pack_free(&p);
    }
}

/* tanh and sigmoid in vectors: a million of all arguments, of every exponent, and NaN. */
static void functions(void **unused) {
    (void)unused;
    enum { STEP = 4099 };
    float x[8], y[8];
    if (!hd_q_available()) skip();
    for (uint64_t at = 0; at < UINT64_C(1) << 32; at += 8 * STEP)
        for (int sigmoid = 0; sigmoid < 2; sigmoid++) {
            for (int i = 0; i < 8; i++)
                memcpy(&x[i], &(uint32_t){(uint32_t)at + (uint32_t)i * STEP}, sizeof *x);
            hd_q_fn_run(sigmoid, x, y, 8);
            for (int i = 0; i < 8; i++) {
                uint32_t bits[2];
                memcpy(&bits[0], &x[i], sizeof *x), memcpy(&bits[1], &y[i], sizeof *y);
                assert_int_equal(bits[1],
                                 hd_fn_bits(sigmoid ? HD_FN_SIGMOID : HD_FN_TANH, bits[0]));
            }
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(functions), cmocka_unit_test(convolutions),
                                       cmocka_unit_test(convolutions_of_8),
                                       cmocka_unit_test(convolutions_of_16),
                                       cmocka_unit_test(packing)};
    return cmocka_run_group_tests_name("int8", tests, NULL, NULL);
}

#else
int main(void) {
    puts("SKIP int8: its kernels are for x86-64");
    return 0;
}
#endif
