/* mx.gemm: operand checks and the fast functional kernel.
 *
 * The reduction's addresses, relative to its first, are the same for every output, so they are
 * listed once per operation; the inner product over the list is specialised for K. */
#include <stdlib.h>
#include <string.h>

#include "sim/iss_int.h"

#if defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__)
#pragma GCC optimize("O3")
#endif

enum { LOOPS = 6, LIST_MAX = 4096 };

struct hop { /* offsets of one iteration of the reduction, in bytes */
    int64_t x, w;
};

struct nest {
    int64_t n[LOOPS], xs[LOOPS], ws[LOOPS], as[LOOPS];
    int64_t x, w, a;
    int nred;
    bool accumulate, x_unsigned;
};

struct kernel_args {
    const struct hop *hop;
    size_t n_hops;
    const uint8_t *x;
    const int8_t *w;
    uint32_t *acc;
    int n;
};

static void nest_of(const uint32_t *words, struct nest *o) {
#define GET(f) hd_field_get(words, HD_F_mx_##f)
#define LOOP(l)                                                                                    \
    o->n[l] = GET(n##l), o->xs[l] = GET(xs##l), o->ws[l] = GET(ws##l), o->as[l] = GET(as##l)
    LOOP(0);
    LOOP(1);
    LOOP(2);
    LOOP(3);
    LOOP(4);
    LOOP(5);
    o->x = GET(x);
    o->w = GET(w);
    o->a = GET(a);
    o->nred = (int)GET(nred);
    o->accumulate = GET(accumulate) != 0;
    o->x_unsigned = GET(x_unsigned) != 0;
#undef LOOP
#undef GET
}

static bool inside(int64_t at, const int64_t *n, const int64_t *step, int from, int64_t size) {
    int64_t lo = at, hi = at;
    for (int l = from; l < LOOPS; l++) {
        int64_t d = (n[l] - 1) * step[l];
        if (d < 0)
            lo += d;
        else
            hi += d;
    }
    return lo >= 0 && hi < size;
}

static unsigned check(const hd_iss *iss, const struct nest *o) {
    if (o->nred > LOOPS) return HD_ERR_operand;
    for (int l = 0; l < LOOPS; l++)
        if (o->n[l] == 0) return HD_ERR_operand;
    const struct hd_machine *m = &iss->m;
    if (!inside(o->x, o->n, o->xs, 0, m->xm_bytes / m->k) ||
        !inside(o->w, o->n, o->ws, 0, hd_wm_words(m)) ||
        !inside(o->a, o->n, o->as, o->nred, hd_am_words(m)))
        return HD_ERR_range;
    return HD_ERR_none;
}

/* The first of the iterations of loops from..to-1, outermost last, in which at + steps leaves
 * 0..size-1; its indices. False: none does. */
static bool first_beyond(int64_t at, const int64_t *n, const int64_t *step, int from, int64_t size,
                         int64_t out[LOOPS]) {
    int64_t lo[LOOPS + 1] = {0}, hi[LOOPS + 1] = {0}; /* reach of the loops below */
    for (int l = from; l < LOOPS; l++) {
        int64_t d = (n[l] - 1) * step[l];
        lo[l + 1] = lo[l] + (d < 0 ? d : 0);
        hi[l + 1] = hi[l] + (d > 0 ? d : 0);
    }
    if (at + lo[LOOPS] >= 0 && at + hi[LOOPS] < size) return false;
    for (int l = LOOPS - 1; l >= from; l--)
        for (out[l] = 0; at + lo[l] >= 0 && at + hi[l] < size; out[l]++) at += step[l];
    return true;
}

uint64_t hd_iss_mx_first_error(const hd_iss *iss, const uint32_t *words) {
    struct nest o;
    nest_of(words, &o);
    const struct hd_machine *m = &iss->m;
    const int64_t at[] = {o.x, o.w, o.a},
                  size[] = {m->xm_bytes / m->k, hd_wm_words(m), hd_am_words(m)};
    const int64_t *const step[] = {o.xs, o.ws, o.as};
    uint64_t first = HD_NEVER;
    for (int s = 0; s < 3; s++) {
        int64_t i[LOOPS] = {0};
        int from = s == 2 ? o.nred : 0;
        if (!first_beyond(at[s], o.n, step[s], from, size[s], i)) continue;
        for (int l = 0; l < from; l++) i[l] = o.n[l] - 1; /* an output is looked at at its end */
        uint64_t index = 0;
        for (int l = LOOPS - 1; l >= 0; l--)
            if (__builtin_mul_overflow(index, (uint64_t)o.n[l], &index) ||
                __builtin_add_overflow(index, (uint64_t)i[l], &index))
                index = HD_NEVER / UINT16_MAX / 2;
        if (index < first) first = index;
    }
    return first;
}

/* 16 bytes of a word at a time, widened to 16 bit: a product of two bytes fits, and pairs of
 * products are summed to 32 bit. A chunk is 16 bytes of a weight word: K / 16 of them per column,
 * or two columns. */
enum { CHUNK = 16, BLOCK = 4 };
typedef int8_t s8x16 __attribute__((vector_size(16)));
typedef uint8_t u8x16 __attribute__((vector_size(16)));
typedef int16_t s16x16 __attribute__((vector_size(32)));
typedef int32_t s32x8 __attribute__((vector_size(32)));
typedef uint32_t u32x8 __attribute__((vector_size(32)));

static inline void add_pair_sums(u32x8 *sum, const s16x16 *a, const s16x16 *b) {
#ifdef __AVX2__
    *sum += (u32x8)__builtin_ia32_pmaddwd256(*a, *b);
#else
    s32x8 p = (s32x8)(*a * *b);
    *sum += (u32x8)(p >> 16) + (u32x8)((s32x8)((u32x8)p << 16) >> 16);
#endif
}

static inline __attribute__((always_inline)) void widen_x(const uint8_t *x, int k_lanes,
                                                          bool x_unsigned, s16x16 *out) {
    uint8_t twice[CHUNK];
    if (k_lanes < CHUNK) {
        memcpy(twice, x, CHUNK / 2);
        memcpy(twice + CHUNK / 2, x, CHUNK / 2);
        x = twice;
    }
    if (x_unsigned) {
        u8x16 v;
        memcpy(&v, x, sizeof v);
        *out = __builtin_convertvector(v, s16x16);
    } else {
        s8x16 v;
        memcpy(&v, x, sizeof v);
        *out = __builtin_convertvector(v, s16x16);
    }
}

/* acc[n] += sum over hops and k of x[k] * w[n][k]; k_lanes and x_unsigned are constants in every
 * caller. */
static inline __attribute__((always_inline)) void dot(const struct kernel_args *g, int k_lanes,
                                                      bool x_unsigned) {
    int chunks = g->n * k_lanes / CHUNK, x_chunks = k_lanes > CHUNK ? k_lanes / CHUNK : 1;
    int lanes = k_lanes < 16 ? k_lanes / 2 : 8; /* partial sums of a column in one chunk */
    for (int c = 0; c < chunks; c += BLOCK) {
        u32x8 part[BLOCK] = {{0}, {0}, {0}, {0}};
        for (size_t h = 0; h < g->n_hops; h++) {
            const int8_t *w = g->w + g->hop[h].w + c * CHUNK;
            const uint8_t *x = g->x + g->hop[h].x;
            for (int j = 0; j < BLOCK; j++) {
                s8x16 wv;
                memcpy(&wv, w + j * CHUNK, sizeof wv);
                s16x16 x16, w16 = __builtin_convertvector(wv, s16x16);
                widen_x(x + (c + j) % x_chunks * CHUNK, k_lanes, x_unsigned, &x16);
                add_pair_sums(&part[j], &x16, &w16);
            }
        }
        for (int j = 0; j < BLOCK; j++)
            for (int l = 0; l < 8; l++)
                g->acc[((c + j) * CHUNK + l / lanes * (lanes * 2)) / k_lanes] += part[j][l];
    }
}

#define KERNELS(K)                                                                                 \
    static void dot_s##K(const struct kernel_args *g) {                                            \
        dot(g, K, false);                                                                          \
    }                                                                                              \
    static void dot_u##K(const struct kernel_args *g) {                                            \
        dot(g, K, true);                                                                           \
    }
KERNELS(8)
KERNELS(16)
KERNELS(32)
KERNELS(64)

static void (*kernel_for(int64_t k, bool x_unsigned))(const struct kernel_args *) {
    if (k == 8) return x_unsigned ? dot_u8 : dot_s8;
    if (k == 16) return x_unsigned ? dot_u16 : dot_s16;
    if (k == 32) return x_unsigned ? dot_u32 : dot_s32;
    return x_unsigned ? dot_u64 : dot_s64;
}

/* Counts i[from..to) on by one; false when all have wrapped. */
static bool advance(int64_t *i, const int64_t *n, int from, int to) {
    for (int l = from; l < to; l++) {
        if (++i[l] < n[l]) return true;
        i[l] = 0;
    }
    return false;
}

static int64_t sum(const int64_t *i, const int64_t *step, int from, int to) {
    int64_t s = 0;
    for (int l = from; l < to; l++) s += i[l] * step[l];
    return s;
}

unsigned hd_iss_mx(hd_iss *iss, const uint32_t *words, uint64_t *out_iterations) {
    struct nest o;
    nest_of(words, &o);
    unsigned err = check(iss, &o);
    if (err) return err;

    int64_t k = iss->m.k, n = iss->m.n;
    struct hop hop[LIST_MAX];
    size_t n_hops = 1;
    uint64_t rest = 1;
    int listed = 0; /* loops 0..listed-1 are in the list, listed..nred-1 are walked */
    while (listed < o.nred && n_hops * (size_t)o.n[listed] <= LIST_MAX)
        n_hops *= (size_t)o.n[listed++];
    for (int l = listed; l < LOOPS; l++)
        if (__builtin_mul_overflow(rest, (uint64_t)o.n[l], &rest)) rest = HD_NEVER / LIST_MAX;
    if (__builtin_mul_overflow(rest, n_hops, out_iterations)) *out_iterations = HD_NEVER / 2;
    if (*out_iterations > iss->budget) return HD_ERR_none;
    int64_t i[LOOPS] = {0};
    for (size_t h = 0; h < n_hops; h++) {
        hop[h] = (struct hop){sum(i, o.xs, 0, listed) * k, sum(i, o.ws, 0, listed) * n * k};
        advance(i, o.n, 0, listed);
    }

    void (*kernel)(const struct kernel_args *) = kernel_for(k, o.x_unsigned);
    uint32_t acc[64];
    struct kernel_args g = {hop, n_hops, NULL, NULL, acc, (int)n};
    do { /* one output: loops nred.. */
        int32_t *am = iss->am + (o.a + sum(i, o.as, o.nred, LOOPS)) * n;
        if (o.accumulate)
            memcpy(acc, am, (size_t)n * 4);
        else
            memset(acc, 0, (size_t)n * 4);
        do {
            g.x = iss->xm + (o.x + sum(i, o.xs, listed, LOOPS)) * k;
            g.w = iss->wm + (o.w + sum(i, o.ws, listed, LOOPS)) * n * k;
            kernel(&g);
        } while (advance(i, o.n, listed, o.nred));
        memcpy(am, acc, (size_t)n * 4);
    } while (advance(i, o.n, o.nred, LOOPS));
    return HD_ERR_none;
}
