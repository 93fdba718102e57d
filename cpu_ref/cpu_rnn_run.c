/* LSTM and GRU: see cpu_rnn.h. The products with the input are one matrix product over all steps;
 * the recurrent ones read their weights once a step. Vectors of GCC, so any processor compiles it;
 * rules.mk gives it AVX2 and contraction on x86-64. */
#include "cpu_ref/cpu_rnn.h"

#include <string.h>

typedef float v8 __attribute__((vector_size(32), aligned(4)));
typedef int32_t i8v __attribute__((vector_size(32), aligned(4)));

#define INLINE static inline __attribute__((always_inline))

INLINE v8 set(float x) {
    return (v8){x, x, x, x, x, x, x, x};
}
INLINE v8 get(const float *p) {
    return *(const v8 *)p;
}
INLINE void put(float *p, v8 v) {
    *(v8 *)p = v;
}
INLINE v8 pick(i8v c, v8 a, v8 b) {
    return (v8)(((i8v)a & c) | ((i8v)b & ~c));
}

/* exp, to 2 units in the last place between -87 and 88, which it clamps x to: cpu_ref/jit_math.c
 * has the coefficients' source. */
INLINE v8 exp8(v8 x) {
    x = pick(x < set(-87.0f), set(-87.0f), x);
    x = pick(x > set(88.0f), set(88.0f), x);
    v8 n = x * set(1.44269504f) + set(12582912.0f) - set(12582912.0f); /* rounds */
    v8 r = n * set(-0.693359375f) + x;
    r = n * set(2.12194440e-4f) + r;
    v8 q = set(0.000198919795f);
    q = q * r + set(0.00139345419f);
    q = q * r + set(0.00833331003f);
    q = q * r + set(0.0416664568f);
    q = q * r + set(0.166666667f);
    q = q * r + set(0.500000001f);
    q = (r * r) * q + r + set(1);
    i8v e = (__builtin_convertvector(n, i8v) + 127) << 23;
    return q * (v8)e;
}

INLINE v8 sigmoid8(v8 x) {
    return set(1) / (set(1) + exp8(-x));
}

/* Below 0.625 by its polynomial, where 1 - 2 / (..) would cancel. */
INLINE v8 tanh8(v8 x) {
    v8 z = x * x, q = set(-0.00609671416f);
    q = q * z + set(0.020997179f);
    q = q * z + set(-0.0538509096f);
    q = q * z + set(0.133327697f);
    q = q * z + set(-0.333333289f);
    v8 small = x * z * q + x;
    v8 big = set(1) - set(2) / (exp8(x + x) + set(1));
    return pick((i8v)(z < set(0.390625f)), small, big);
}

/* Rows 0 .. R-1 of c = c0 + a w: w [K][n], vectors of 16 columns. */
#define ROWS(R)                                                                                    \
    INLINE void rows_##R(const float *a, int64_t lda, const float *w, const float *c0,             \
                         int64_t ldc0, float *c, int64_t ldc, int64_t k, int64_t n) {              \
        for (int64_t j = 0; j < n; j += 16) {                                                      \
            v8 s[R][2];                                                                            \
            _Pragma("GCC unroll 4") for (int r = 0; r < R; r++) {                                  \
                s[r][0] = get(c0 + r * ldc0 + j);                                                  \
                s[r][1] = get(c0 + r * ldc0 + j + 8);                                              \
            }                                                                                      \
            const float *p = w + j;                                                                \
            for (int64_t i = 0; i < k; i++, p += n) {                                              \
                v8 w0 = get(p), w1 = get(p + 8);                                                   \
                _Pragma("GCC unroll 4") for (int r = 0; r < R; r++) {                              \
                    v8 x = set(a[r * lda + i]);                                                    \
                    s[r][0] += x * w0;                                                             \
                    s[r][1] += x * w1;                                                             \
                }                                                                                  \
            }                                                                                      \
            _Pragma("GCC unroll 4") for (int r = 0; r < R; r++) {                                  \
                put(c + r * ldc + j, s[r][0]);                                                     \
                put(c + r * ldc + j + 8, s[r][1]);                                                 \
            }                                                                                      \
        }                                                                                          \
    }
ROWS(4)

/* One row: all columns at once, so that w is read in order. */
static void row_1(const float *a, const float *w, const float *c0, float *c, int64_t k, int64_t n) {
    if (c != c0) memcpy(c, c0, (size_t)n * sizeof *c);
    int64_t i = 0;
    for (; i + 4 <= k; i += 4, w += 4 * n) {
        v8 a0 = set(a[i]), a1 = set(a[i + 1]), a2 = set(a[i + 2]), a3 = set(a[i + 3]);
        for (int64_t j = 0; j < n; j += 8)
            put(c + j, get(c + j) + a0 * get(w + j) + a1 * get(w + n + j) +
                           a2 * get(w + 2 * n + j) + a3 * get(w + 3 * n + j));
    }
    for (; i < k; i++, w += n)
        for (int64_t j = 0; j < n; j += 8) put(c + j, get(c + j) + set(a[i]) * get(w + j));
}

/* c[m][n] = c0 + a w; ldc0 0: the same row for all. */
static void product(const float *a, int64_t lda, const float *w, const float *c0, int64_t ldc0,
                    float *c, int64_t m, int64_t k, int64_t n) {
    int64_t r = 0;
    for (; r + 4 <= m; r += 4) rows_4(a + r * lda, lda, w, c0 + r * ldc0, ldc0, c + r * n, n, k, n);
    for (; r < m; r++) row_1(a + r * lda, w, c0 + r * ldc0, c + r * n, k, n);
}

struct work { /* in scratch */
    float *zx, *z, *h, *c, *t;
};

static size_t carve(const struct hd_cpu_rnn *r, char *scratch, struct work *w) {
    size_t n = (size_t)(r->gates * r->padded), rows = (size_t)(r->steps * r->batch);
    size_t batch = (size_t)r->batch, state = batch * (size_t)r->padded, at = 0;
    size_t size[] = {rows * n, batch * n, state, state, state};
    float **to[] = {&w->zx, &w->z, &w->h, &w->c, &w->t};
    for (int i = 0; i < 5; i++) {
        *to[i] = (float *)(void *)(scratch + at);
        at += (size[i] * sizeof(float) + 127) / 64 * 64;
    }
    return at;
}

size_t hd_cpu_rnn_scratch(const struct hd_cpu_rnn *r) {
    struct work w;
    return carve(r, NULL, &w);
}

static void lstm_gates(const struct hd_cpu_rnn *r, struct work *w) {
    int64_t p = r->padded;
    for (int64_t b = 0; b < r->batch; b++) {
        const float *z = w->z + b * 4 * p;
        float *h = w->h + b * p, *c = w->c + b * p;
        for (int64_t j = 0; j < p; j += 8) {
            v8 i = sigmoid8(get(z + j)), f = sigmoid8(get(z + 2 * p + j));
            v8 state = f * get(c + j) + i * tanh8(get(z + 3 * p + j));
            put(c + j, state);
            put(h + j, sigmoid8(get(z + p + j)) * tanh8(state));
        }
    }
}

/* zx: this step's products with the input; w->z: those with h, when the reset comes after. */
static void gru_gates(const struct hd_cpu_rnn *r, struct work *w, const float *zx, int dir) {
    int64_t p = r->padded;
    for (int64_t b = 0; b < r->batch; b++) {
        const float *x = zx + b * 3 * p;
        float *z = w->z + b * 3 * p, *h = w->h + b * p, *t = w->t + b * p;
        for (int64_t j = 0; j < p; j += 8) {
            v8 reset = sigmoid8(get(x + p + j) + get(z + p + j));
            put(t + j, reset * (r->reset_after ? get(z + 2 * p + j) : get(h + j)));
        }
        if (!r->reset_after) { /* R (reset h), the last gate's columns behind the others' */
            const float *rt = r->rt[dir] + r->hidden * 3 * p;
            row_1(t, rt, r->rb[dir] + 2 * p, z + 2 * p, r->hidden, p);
            memcpy(t, z + 2 * p, (size_t)p * sizeof *t);
        }
        for (int64_t j = 0; j < p; j += 8) {
            v8 update = sigmoid8(get(x + j) + get(z + j));
            v8 fresh = tanh8(get(x + 2 * p + j) + get(t + j));
            put(h + j, (set(1) - update) * fresh + update * get(h + j));
        }
    }
}

static void copy_state(float *to, int64_t to_step, const float *from, int64_t from_step,
                       int64_t rows, int64_t n) {
    for (int64_t b = 0; b < rows; b++)
        memcpy(to + b * to_step, from + b * from_step, (size_t)n * sizeof *to);
}

static void one_direction(const struct hd_cpu_rnn *r, struct work *w, int dir, const float *x,
                          const float *h0, const float *c0, float *y, float *yh, float *yc) {
    int64_t n = r->gates * r->padded, p = r->padded, state = r->batch * r->hidden;
    bool backwards = dir == 1 || r->reverse;
    product(x, r->input, r->wt[dir], r->bias[dir], 0, w->zx, r->steps * r->batch, r->input, n);
    memset(w->h, 0, (size_t)(r->batch * p) * sizeof(float));
    memset(w->c, 0, (size_t)(r->batch * p) * sizeof(float));
    if (h0) copy_state(w->h, p, h0 + dir * state, r->hidden, r->batch, r->hidden);
    if (c0) copy_state(w->c, p, c0 + dir * state, r->hidden, r->batch, r->hidden);
    for (int64_t i = 0; i < r->steps; i++) {
        int64_t t = backwards ? r->steps - 1 - i : i;
        const float *zx = w->zx + t * r->batch * n;
        if (r->gates == 4) {
            product(w->h, p, r->rt[dir], zx, n, w->z, r->batch, r->hidden, n);
            lstm_gates(r, w);
        } else {
            product(w->h, p, r->rt[dir], r->rb[dir], 0, w->z, r->batch, r->hidden, n);
            gru_gates(r, w, zx, dir);
        }
        if (y)
            copy_state(y + (t * r->directions + dir) * state, r->hidden, w->h, p, r->batch,
                       r->hidden);
    }
    if (yh) copy_state(yh + dir * state, r->hidden, w->h, p, r->batch, r->hidden);
    if (yc) copy_state(yc + dir * state, r->hidden, w->c, p, r->batch, r->hidden);
}

void hd_cpu_rnn_run(const struct hd_cpu_rnn *r, const float *x, const float *h0, const float *c0,
                    float *y, float *yh, float *yc, void *scratch) {
    struct work w;
    carve(r, scratch, &w);
    for (int dir = 0; dir < r->directions; dir++) one_direction(r, &w, dir, x, h0, c0, y, yh, yc);
}
