/* Recurrent networks of bytes: see cpu_int8_rnn.h. Compiled for AVX2.
 *
 * A step multiplies each row of the weights with the bytes of one vector, widened to int16 less
 * their zero point: eight rows at a time, whose sums end in one vector. Gates follow, eight units
 * at a time, with the functions of runtime/base/fn_code.def in vectors. */
#include "cpu_ref/cpu_int8_rnn.h"

#include "runtime/base/fn.h"
#include "runtime/base/num.h"

#if defined __x86_64__ && defined __AVX2__
#include "cpu_ref/cpu_avx2.h"

enum { DEPTH = HD_Q_RNN_DEPTH, ROWS = HD_Q_RNN_ROWS, ONE = 1 << 27, T_BITS = 18 };

struct cell { /* one sequence; arrays are padded, so that vectors may end behind them */
    const struct hd_q_rnn *k;
    const int32_t *table;
    struct hd_q_out out;
    int direction;
    int64_t depth[2]; /* of rows of the weights of x and of h */
    float *zw, *zr;   /* [G*H] */
    float *state;     /* [H] */
    int16_t *v[2];    /* x, h less their zero points */
    int16_t *reset;   /* what a gru's last gate reads, less its zero point */
};

/* ---- functions ------------------------------------------------------------------------------ */

Q_INLINE __m256 flush(__m256 v) {
    const __m256i exponent = _mm256_set1_epi32(0x7f800000), sign = _mm256_set1_epi32(INT32_MIN);
    __m256i zero = _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_castps_si256(v), exponent),
                                      _mm256_setzero_si256());
    __m256i kept = _mm256_or_si256(_mm256_andnot_si256(zero, _mm256_set1_epi32(-1)), sign);
    return _mm256_and_ps(v, _mm256_castsi256_ps(kept));
}

Q_INLINE __m256 sum_of(__m256 a, __m256 b) {
    return flush(_mm256_add_ps(a, b));
}

Q_INLINE __m256 product_of(__m256 a, __m256 b) {
    return flush(_mm256_mul_ps(a, b));
}

/* (a * b + half) >> 18; a product has 64 bits, a result 32. */
Q_INLINE __m256i scaled(__m256i a, __m256i b, int64_t half) {
    const __m256i h = _mm256_set1_epi64x(half);
    __m256i even = _mm256_add_epi64(_mm256_mul_epi32(a, b), h);
    __m256i odd = _mm256_mul_epi32(_mm256_srli_epi64(a, 32), _mm256_srli_epi64(b, 32));
    odd = _mm256_slli_epi64(_mm256_srli_epi64(_mm256_add_epi64(odd, h), T_BITS), 32);
    return _mm256_blend_epi32(_mm256_srli_epi64(even, T_BITS), odd, 0xaa);
}

/* tanh of x * 2^-24, x in [0, 2^27], in steps of 2^-27: the rows' three ranges at once. */
Q_INLINE __m256i tanh_value(const int32_t *table, __m256i x) {
    const __m256i one = _mm256_set1_epi32(ONE), rows = _mm256_set1_epi32(64);
    __m256i full = _mm256_cmpgt_epi32(x, _mm256_set1_epi32(ONE - 1));
    __m256i over2 = _mm256_cmpgt_epi32(x, _mm256_set1_epi32((1 << 25) - 1));
    __m256i over4 = _mm256_cmpgt_epi32(x, _mm256_set1_epi32((1 << 26) - 1));
    __m256i over = _mm256_add_epi32(over2, over4); /* 0, -1, -2 */
    __m256i shift = _mm256_sub_epi32(_mm256_set1_epi32(T_BITS), over);
    x = _mm256_min_epi32(x, _mm256_set1_epi32(ONE - 1));
    __m256i row = _mm256_sub_epi32(_mm256_srlv_epi32(x, shift), _mm256_mullo_epi32(over, rows));
    __m256i t = _mm256_sllv_epi32(x, _mm256_sub_epi32(_mm256_set1_epi32(32), shift));
    t = _mm256_srli_epi32(t, 32 - T_BITS);
    row = _mm256_add_epi32(row, _mm256_add_epi32(row, row));
    __m256i c0 = _mm256_i32gather_epi32(table, row, 4);
    __m256i c1 = _mm256_i32gather_epi32(table + 1, row, 4);
    __m256i c2 = _mm256_i32gather_epi32(table + 2, row, 4);
    __m256i slope = _mm256_add_epi32(c1, scaled(c2, t, 0));
    __m256i y = _mm256_add_epi32(c0, scaled(slope, t, 1 << (T_BITS - 1)));
    return _mm256_blendv_epi8(y, one, full);
}

/* hd_fn of TANH or SIGMOID, constant after inlining. */
Q_INLINE __m256 function(const int32_t *table, __m256 v, const bool sigmoid) {
    const __m256 sign = _mm256_castsi256_ps(_mm256_set1_epi32(INT32_MIN));
    const __m256 most = _mm256_set1_ps(sigmoid ? 16 : 8);
    __m256 a = _mm256_min_ps(_mm256_andnot_ps(sign, v), most);
    a = _mm256_mul_ps(a, _mm256_set1_ps(sigmoid ? 0x1p23f : 0x1p24f));
    __m256i x = _mm256_cvttps_epi32(a); /* to nearest, halves up */
    __m256 rest = _mm256_sub_ps(a, _mm256_cvtepi32_ps(x));
    __m256 up = _mm256_cmp_ps(rest, _mm256_set1_ps(0.5f), _CMP_GE_OQ);
    __m256i y = tanh_value(table, _mm256_sub_epi32(x, _mm256_castps_si256(up)));
    __m256 r;
    if (sigmoid) {
        __m256i minus = _mm256_srai_epi32(_mm256_castps_si256(v), 31);
        y = _mm256_sub_epi32(_mm256_xor_si256(y, minus), minus);
        y = _mm256_add_epi32(y, _mm256_set1_epi32(ONE));
        r = _mm256_mul_ps(_mm256_cvtepi32_ps(y), _mm256_set1_ps(0x1p-28f));
    } else {
        r = _mm256_mul_ps(_mm256_cvtepi32_ps(y), _mm256_set1_ps(0x1p-27f));
        r = _mm256_or_ps(r, _mm256_and_ps(v, sign));
    }
    const __m256 nan = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fc00000));
    return _mm256_blendv_ps(r, nan, _mm256_cmp_ps(v, v, _CMP_UNORD_Q));
}

void hd_q_fn_run(bool sigmoid, const float *x, float *y, int64_t n) {
    const int32_t *table = hd_fn_tanh_rows();
    for (int64_t i = 0; i < n; i += 8) {
        __m256 v = _mm256_loadu_ps(x + i);
        _mm256_storeu_ps(y + i, sigmoid ? function(table, v, true) : function(table, v, false));
    }
}

/* ---- products ------------------------------------------------------------------------------- */

/* Sums of eight vectors, one in each lane. */
Q_INLINE __m256i sums_of(const __m256i s[ROWS]) {
    __m256i a = _mm256_hadd_epi32(_mm256_hadd_epi32(s[0], s[1]), _mm256_hadd_epi32(s[2], s[3]));
    __m256i b = _mm256_hadd_epi32(_mm256_hadd_epi32(s[4], s[5]), _mm256_hadd_epi32(s[6], s[7]));
    return _mm256_add_epi32(_mm256_permute2x128_si256(a, b, 0x20),
                            _mm256_permute2x128_si256(a, b, 0x31));
}

/* z = float(bias + sum v * m) * scale, of rows [from, to) and up to 7 behind them. part: 0 of x, 1
 * of h. */
static void products(const struct cell *c, int part, const int16_t *v, int64_t from, int64_t to,
                     float *z) {
    const int64_t depth = c->depth[part];
    const int32_t *bias = c->k->bias[c->direction][part];
    const float *scale = c->k->scale[c->direction][part];
    const int8_t *m = c->k->m[c->direction][part] + from * depth;
    for (int64_t i = from; i < to; i += ROWS, m += ROWS * depth) {
        __m256i s[ROWS];
        for (int r = 0; r < ROWS; r++) s[r] = _mm256_setzero_si256();
        for (int64_t k = 0; k < depth; k += DEPTH) {
            __m256i b = _mm256_load_si256((const __m256i *)(v + k));
            for (int r = 0; r < ROWS; r++) {
                __m128i w = _mm_loadu_si128((const __m128i *)(m + r * depth + k));
                s[r] = _mm256_add_epi32(s[r], _mm256_madd_epi16(_mm256_cvtepi8_epi16(w), b));
            }
        }
        __m256i sum = sums_of(s);
        sum = _mm256_add_epi32(sum, _mm256_loadu_si256((const __m256i *)(bias + i)));
        _mm256_storeu_ps(z + i, product_of(_mm256_cvtepi32_ps(sum), _mm256_loadu_ps(scale + i)));
    }
}

/* ---- gates ---------------------------------------------------------------------------------- */

Q_INLINE __m256 gate(const struct cell *c, int g, int64_t j) {
    int64_t at = g * c->k->of.hidden + j;
    return sum_of(_mm256_loadu_ps(c->zr + at), _mm256_loadu_ps(c->zw + at));
}

/* Sixteen results, v0 of units j.., v1 of j + 8..: bytes to y (NULL = none), and to `to` less their
 * zero point. What stands there behind the last unit meets weights that are 0. */
Q_INLINE void put(const struct cell *c, int64_t j, __m256 v0, __m256 v1, uint8_t *y, int16_t *to) {
    const __m256 n0 = _mm256_and_ps(v0, _mm256_cmp_ps(v0, v0, _CMP_ORD_Q)),
                 n1 = _mm256_and_ps(v1, _mm256_cmp_ps(v1, v1, _CMP_ORD_Q));
    __m256i q = _mm256_permute4x64_epi64(q_requant(n0, n1, &c->out), 0xd8);
    if (y) q_store_n(y + j, q, c->out.is_signed, c->k->of.hidden - j);
    q = _mm256_sub_epi16(q, _mm256_set1_epi16((int16_t)c->out.zp));
    _mm256_store_si256((__m256i *)(to + j), q);
}

Q_INLINE __m256 lstm_units(const struct cell *c, int64_t j) {
    __m256 i = function(c->table, gate(c, 0, j), true), o = function(c->table, gate(c, 1, j), true);
    __m256 f = function(c->table, gate(c, 2, j), true),
           g = function(c->table, gate(c, 3, j), false);
    __m256 s = product_of(f, _mm256_loadu_ps(c->state + j));
    s = sum_of(s, product_of(g, i));
    _mm256_storeu_ps(c->state + j, s);
    o = _mm256_mul_ps(o, _mm256_set1_ps(c->k->of.scale));
    return _mm256_mul_ps(function(c->table, s, false), o);
}

static void lstm_step(struct cell *c, uint8_t *y) {
    products(c, 1, c->v[1], 0, 4 * c->k->of.hidden, c->zr);
    for (int64_t j = 0; j < c->k->of.hidden; j += DEPTH)
        put(c, j, lstm_units(c, j), lstm_units(c, j + 8), y, c->v[1]);
}

Q_INLINE __m256 reset_units(const struct cell *c, int64_t j) {
    __m256 r = function(c->table, gate(c, 1, j), true);
    __m256 h = _mm256_mul_ps(_mm256_loadu_ps(c->state + j), _mm256_set1_ps(c->k->of.scale));
    return _mm256_mul_ps(r, h);
}

Q_INLINE __m256 gru_units(const struct cell *c, int64_t j, bool before) {
    const int64_t n = c->k->of.hidden;
    __m256 part = _mm256_loadu_ps(c->zr + 2 * n + j), h = _mm256_loadu_ps(c->state + j);
    if (before) part = product_of(part, function(c->table, gate(c, 1, j), true));
    part = sum_of(part, _mm256_loadu_ps(c->zw + 2 * n + j));
    __m256 in = function(c->table, part, false), u = function(c->table, gate(c, 0, j), true);
    __m256 away = _mm256_xor_ps(in, _mm256_set1_ps(-0.0f));
    h = sum_of(product_of(sum_of(h, away), u), in);
    _mm256_storeu_ps(c->state + j, h);
    return _mm256_mul_ps(h, _mm256_set1_ps(c->k->of.scale));
}

static void gru_step(struct cell *c, uint8_t *y) {
    const int64_t n = c->k->of.hidden;
    const bool before = c->k->of.linear_before_reset;
    products(c, 1, c->v[1], 0, before ? 3 * n : 2 * n, c->zr);
    for (int64_t j = 0; j < n && !before; j += DEPTH)
        put(c, j, reset_units(c, j), reset_units(c, j + 8), NULL, c->reset);
    if (!before) products(c, 1, c->reset, 2 * n, 3 * n, c->zr);
    for (int64_t j = 0; j < n; j += DEPTH)
        put(c, j, gru_units(c, j, before), gru_units(c, j + 8, before), y, c->v[1]);
}

Q_INLINE __m256 rnn_units(const struct cell *c, int64_t j) {
    __m256 z = gate(c, 0, j), h = c->k->of.no_tanh ? z : function(c->table, z, false);
    return _mm256_mul_ps(h, _mm256_set1_ps(c->k->of.scale));
}

static void rnn_step(struct cell *c, uint8_t *y) {
    products(c, 1, c->v[1], 0, c->k->of.hidden, c->zr);
    for (int64_t j = 0; j < c->k->of.hidden; j += DEPTH)
        put(c, j, rnn_units(c, j), rnn_units(c, j + 8), y, c->v[1]);
}

/* ---- a sequence ----------------------------------------------------------------------------- */

/* Elements of arrays of n, with room for what vectors write behind them. */
static int64_t padded(int64_t n) {
    return hd_round_up(n, DEPTH) + DEPTH;
}

size_t hd_q_rnn_scratch(const struct hd_q_rnn *k) {
    int64_t h = padded(k->of.hidden), gates = padded(k->of.gates * k->of.hidden);
    size_t floats = (size_t)(2 * gates + h) * sizeof(float);
    size_t shorts = (size_t)(2 * h + padded(k->of.input)) * sizeof(int16_t);
    return (floats + shorts + 63) / 64 * 64;
}

static void begin(struct cell *c, int64_t at, const void *h0, const float *c0, void *scratch) {
    const struct hd_qrnn *s = &c->k->of;
    const int64_t h = padded(s->hidden), gates = padded(s->gates * s->hidden);
    const float *state = s->gates == 4 ? c0 : s->gates == 3 ? h0 : NULL;
    memset(scratch, 0, hd_q_rnn_scratch(c->k));
    c->zw = scratch, c->zr = c->zw + gates, c->state = c->zr + gates;
    c->v[0] = (int16_t *)(c->state + h), c->v[1] = c->v[0] + padded(s->input);
    c->reset = c->v[1] + h;
    for (int64_t j = 0; j < s->hidden && state; j++) c->state[j] = hd_flush(state[at + j]);
    for (int64_t j = 0; j < s->hidden && h0; j++) {
        int32_t q = s->gates != 3 ? c->out.is_signed ? ((const int8_t *)h0)[at + j]
                                                     : ((const uint8_t *)h0)[at + j]
                                  : hd_requant(c->state[j] * s->scale, s->y_zp, s->lo, s->hi);
        c->v[1][j] = (int16_t)(q - s->y_zp);
    }
}

void hd_q_rnn_run(const struct hd_q_rnn *k, int64_t q, const uint8_t *x, const void *h0,
                  const float *c0, uint8_t *y, float *states, void *scratch) {
    const struct hd_qrnn *s = &k->of;
    const int64_t h = s->hidden, b = q % s->batch, step_bytes = s->directions * s->batch * h;
    struct cell c = {.k = k,
                     .table = hd_fn_tanh_rows(),
                     .out = {s->y_zp, s->lo, s->hi, s->y_signed},
                     .direction = (int)(q / s->batch),
                     .depth = {hd_round_up(s->input, DEPTH), hd_round_up(h, DEPTH)}};
    const bool backwards = s->reverse || c.direction == 1;
    begin(&c, q * h, h0, c0, scratch);
    for (int64_t i = 0; i < s->steps; i++) {
        int64_t at = backwards ? s->steps - 1 - i : i;
        uint8_t *to = y ? y + at * step_bytes + q * h : NULL;
        q_widen(c.v[0], x + (at * s->batch + b) * s->input, s->input, s->x_zp, s->x_signed);
        products(&c, 0, c.v[0], 0, s->gates * h, c.zw);
        if (s->gates == 4)
            lstm_step(&c, to);
        else if (s->gates == 3)
            gru_step(&c, to);
        else
            rnn_step(&c, to);
    }
    if (states) memcpy(states + q * h, c.state, (size_t)h * sizeof *states);
}

#endif
