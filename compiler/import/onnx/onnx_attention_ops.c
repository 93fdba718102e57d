/* ONNX operations of transformers, as the products, sums and softmax that they are, so that the
 * quantiser and the machine see nothing new. */
#include <math.h>
#include <string.h>

#include "compiler/import/onnx/build.h"

/* ---- Attention ---- */

struct attention {
    struct hd_onnx_build b;
    hd_dtype type;
    int64_t batch, heads, kv_heads, size, q, kv; /* kv: with what stands in the cache */
    int64_t past;
    int mask, lengths; /* operands, -1 = none */
    bool guard;        /* a row may have no key at all */
};

/* [B,S,H*D] as [B,H,S,D]; one of rank 4 is that already. */
static int split_heads(struct attention *a, const char *suffix, int x, int64_t heads) {
    const struct hd_tensor t = a->b.m->g->tensors[x];
    if (t.rank == 4) return x;
    if (t.rank != 3 || heads < 1 || t.dim[2] % heads) {
        a->b.s = hd_onnx_bad(a->b.m, a->b.n, HD_INVALID,
                             "'%s' has rank %d, and there are %lld heads: want [B,H,S,D], or "
                             "[B,S,H*D] with q_num_heads and kv_num_heads",
                             t.name, t.rank, (long long)heads);
        return -1;
    }
    int y = hd_build_reshape(&a->b, suffix, x, 4,
                             (int64_t[]){t.dim[0], t.dim[1], heads, t.dim[2] / heads});
    return hd_build_transpose(&a->b, suffix, y, 4, (int64_t[]){0, 2, 1, 3});
}

/* 0 where `allowed`, else -infinity: to be added. */
static int bias_of(struct attention *a, const char *suffix, int allowed) {
    return hd_build(&a->b, HD_IR_where, suffix, 3,
                    (int[]){allowed, hd_build_scalar(&a->b, "zero", a->type, 0),
                            hd_build_scalar(&a->b, "never", a->type, -(double)INFINITY)});
}

static int plus(struct attention *a, const char *suffix, int x, int y) {
    return x < 0 ? y : hd_build_two(&a->b, HD_IR_add, suffix, x, y);
}

/* The mask that the model gives, as long as the keys: what it lacks is masked. */
static int mask_bias(struct attention *a) {
    const struct hd_tensor t = a->b.m->g->tensors[a->mask];
    int mask = a->mask;
    int64_t pads[2 * HD_MAX_RANK] = {0}, missing = t.rank ? a->kv - t.dim[t.rank - 1] : 0;
    if (t.dtype != HD_BOOL) mask = hd_build_cast(&a->b, "mask", mask, a->type);
    if (missing > 0 && t.dim[t.rank - 1] != 1) {
        pads[2 * t.rank - 1] = missing;
        int list = hd_onnx_const(a->b.m, a->b.n, "pads", HD_I64, 1, (int64_t[]){2 * t.rank}, pads);
        int rest = hd_build_scalar(&a->b, "rest", t.dtype == HD_BOOL ? HD_BOOL : a->type,
                                   t.dtype == HD_BOOL ? 0 : -(double)INFINITY);
        mask = hd_build(&a->b, HD_IR_pad, "padded", 3, (int[]){mask, list, rest});
    }
    return t.dtype == HD_BOOL ? bias_of(a, "masked", mask) : mask;
}

/* i64 0, 1, .. in dimension `dim` of two. */
static int counting(struct attention *a, const char *suffix, int64_t n, int dim) {
    int64_t *v = hd_new_array(a->b.m->arena, int64_t, (size_t)n + 1), shape[2] = {1, 1};
    for (int64_t i = 0; i < n; i++) v[i] = i;
    shape[dim] = n;
    return hd_onnx_const(a->b.m, a->b.n, suffix, HD_I64, 2, shape, v);
}

/* Key j is seen by query i when j <= i + offset: the keys before this block of queries. */
static int causal_bias(struct attention *a) {
    if (a->lengths < 0 || a->past) {
        float *v = hd_new_array(a->b.m->arena, float, (size_t)(a->q * a->kv) + 1);
        for (int64_t i = 0; i < a->q * a->kv; i++)
            v[i] = i % a->kv <= i / a->kv + a->past ? 0 : -INFINITY;
        int y = hd_onnx_const(a->b.m, a->b.n, "causal", HD_F32, 2, (int64_t[]){a->q, a->kv}, v);
        return hd_build_cast(&a->b, "causal", y, a->type);
    }
    int less = hd_build_scalar(&a->b, "queries", HD_I64, (double)a->q);
    int offset = hd_build_two(&a->b, HD_IR_sub, "offset", a->lengths, less);
    int last = hd_build_two(&a->b, HD_IR_add, "last", counting(a, "query", a->q, 0), offset);
    return bias_of(
        a, "causal",
        hd_build_two(&a->b, HD_IR_lessorequal, "seen", counting(a, "key", a->kv, 1), last));
}

/* Everything that is added to the scores, -1 = nothing. */
static int whole_bias(struct attention *a) {
    int bias = -1;
    if (a->mask >= 0) bias = mask_bias(a);
    if (hd_onnx_int(a->b.n, "is_causal", 0)) bias = plus(a, "bias", bias, causal_bias(a));
    if (a->lengths >= 0)
        bias = plus(a, "bias", bias,
                    bias_of(a, "used",
                            hd_build_two(&a->b, HD_IR_less, "there", counting(a, "key", a->kv, 1),
                                         a->lengths)));
    a->guard = a->mask >= 0 || a->lengths >= 0;
    return bias;
}

static int softcap(struct attention *a, int scores) {
    double cap = (double)hd_onnx_float(a->b.n, "softcap", 0);
    if (cap <= 0) return scores;
    int limit = hd_build_scalar(&a->b, "cap", a->type, cap);
    int y = hd_build_two(&a->b, HD_IR_div, "uncapped", scores, limit);
    return hd_build_two(&a->b, HD_IR_mul, "capped", hd_build(&a->b, HD_IR_tanh, "tanh", 1, &y),
                        limit);
}

/* Softmax over the keys; a query without one gets zeros, where softmax alone would divide 0 by 0.
 */
static int weights(struct attention *a, int scores, int bias) {
    int64_t given = hd_onnx_int(a->b.n, "softmax_precision", 0);
    int t = given ? hd_dtype_from_onnx((int)given) : (int)a->type;
    if (t < 0) {
        a->b.s =
            hd_onnx_bad(a->b.m, a->b.n, HD_INVALID, "softmax_precision is %lld", (long long)given);
        return -1;
    }
    int x = hd_build_cast(&a->b, "wide", scores, (hd_dtype)t);
    int y = hd_build(&a->b, HD_IR_softmax, "weights", 1, &x);
    y = hd_build_cast(&a->b, "narrow", y, a->type);
    if (bias < 0 || !a->guard) return y;
    int last = hd_onnx_const(a->b.m, a->b.n, "keys", HD_I64, 1, (int64_t[]){1}, (int64_t[]){-1});
    int most = hd_build_two(&a->b, HD_IR_reducemax, "most", bias, last);
    int none = hd_build_two(&a->b, HD_IR_equal, "none", most,
                            hd_build_scalar(&a->b, "never", a->type, -(double)INFINITY));
    return hd_build(&a->b, HD_IR_where, "guarded", 3,
                    (int[]){none, hd_build_scalar(&a->b, "zero", a->type, 0), y});
}

/* x [B,heads,rows,c] times keys or values [B,kv_heads,..]: query heads that share one of those are
 * more rows of it. */
static int product(struct attention *a, const char *suffix, int x, int y) {
    if (a->b.s != HD_OK) return -1;
    int64_t share = a->heads / a->kv_heads;
    if (share == 1) return hd_build_two(&a->b, HD_IR_matmul, suffix, x, y);
    int64_t in = a->b.m->g->tensors[x].dim[3], out = a->b.m->g->tensors[y].dim[3];
    x = hd_build_reshape(&a->b, suffix, x, 4, (int64_t[]){a->batch, a->kv_heads, share * a->q, in});
    x = hd_build_two(&a->b, HD_IR_matmul, suffix, x, y);
    return hd_build_reshape(&a->b, suffix, x, 4, (int64_t[]){a->batch, a->heads, a->q, out});
}

/* New keys or values behind those of the cache. */
static int cached(struct attention *a, const char *suffix, int x, size_t past) {
    int before = hd_onnx_in(a->b.m, a->b.n, past);
    if (before < 0) return x;
    return hd_build_concat(&a->b, suffix, 2, 2, (int[]){before, x});
}

/* Sizes, when the operands have shapes that fit. */
static hd_status measure(struct attention *a, int q, int k, int v) {
    if (a->b.s != HD_OK) return a->b.s;
    const struct hd_tensor *qt = &a->b.m->g->tensors[q], *kt = &a->b.m->g->tensors[k],
                           *vt = &a->b.m->g->tensors[v];
    a->batch = qt->dim[0], a->heads = qt->dim[1], a->q = qt->dim[2], a->size = qt->dim[3];
    a->kv_heads = kt->dim[1], a->kv = kt->dim[2];
    bool fits = kt->dim[3] == a->size && vt->dim[1] == a->kv_heads && vt->dim[2] == a->kv &&
                a->kv_heads > 0 && a->heads % a->kv_heads == 0 && a->size > 0;
    return fits ? HD_OK
                : hd_onnx_bad(a->b.m, a->b.n, HD_INVALID,
                              "queries of %lld heads of size %lld, keys of %lld of size %lld, "
                              "values of %lld: the sizes and lengths must be equal, the heads of "
                              "keys divide those of queries",
                              (long long)a->heads, (long long)a->size, (long long)a->kv_heads,
                              (long long)kt->dim[3], (long long)vt->dim[1]);
}

static hd_status attend(struct attention *a, int q, int k, int v, bool flat) {
    struct hd_onnx_build *b = &a->b;
    int64_t mode = hd_onnx_int(b->n, "qk_matmul_output_mode", 0);
    double scale = (double)hd_onnx_float(b->n, "scale", (float)(1 / sqrt((double)a->size)));
    int shown[4], factor = hd_build_scalar(b, "scale", a->type, scale);
    int keys = hd_build_transpose(b, "keys", k, 4, (int64_t[]){0, 1, 3, 2});
    int scores = product(a, "scores", hd_build_two(b, HD_IR_mul, "scaled", q, factor), keys);
    shown[0] = scores;
    shown[1] = scores = softcap(a, scores);
    int bias = whole_bias(a);
    shown[2] = scores = bias < 0 ? scores : hd_build_two(b, HD_IR_add, "biased", scores, bias);
    int w = shown[3] = weights(a, scores, bias);
    int y = product(a, "values", w, v);
    if (flat && b->s == HD_OK) {
        int64_t width = b->m->g->tensors[y].dim[3] * a->heads;
        y = hd_build_transpose(b, "rows", y, 4, (int64_t[]){0, 2, 1, 3});
        y = hd_build_reshape(b, "joined", y, 3, (int64_t[]){a->batch, a->q, width});
    }
    if (mode < 0 || mode > 3)
        return hd_onnx_bad(b->m, b->n, HD_INVALID, "qk_matmul_output_mode is %lld, allowed 0..3",
                           (long long)mode);
    hd_build_end(b, 0, y);
    hd_build_end(b, 1, k);
    hd_build_end(b, 2, v);
    return hd_build_end(b, 3, shown[mode]);
}

/* Source: ONNX Attention-23, -24; causal masks count from the end of the cache. */
hd_status import_Attention(struct hd_importer *m, const struct hd_onnx_node *n) {
    struct attention a = {.b = {m, n, HD_OK}, .mask = hd_onnx_in(m, n, 3)};
    const struct hd_tensor *query = hd_onnx_tensor(m, n, 0), *cache = hd_onnx_tensor(m, n, 4);
    bool flat = query->rank == 3;
    int64_t heads = hd_onnx_int(n, "q_num_heads", 0), kv_heads = hd_onnx_int(n, "kv_num_heads", 0);
    a.type = query->dtype;
    a.past = cache && cache->rank == 4 ? cache->dim[2] : 0;
    a.lengths = hd_onnx_in(m, n, 6);
    int q = split_heads(&a, "q", hd_onnx_in(m, n, 0), heads);
    int k = cached(&a, "all_keys", split_heads(&a, "k", hd_onnx_in(m, n, 1), kv_heads), 4);
    int v = cached(&a, "all_values", split_heads(&a, "v", hd_onnx_in(m, n, 2), kv_heads), 5);
    TRY(measure(&a, q, k, v));
    if (a.lengths >= 0)
        a.lengths = hd_build_reshape(&a.b, "lengths", a.lengths, 4, (int64_t[]){a.batch, 1, 1, 1});
    return attend(&a, q, k, v, flat);
}

/* ---- RotaryEmbedding ---- */

/* x [B,S,H,D] -> its pairs turned by the angles, of which cosine and sine are [..,S,1,D/2]. */
static int turn_pairs(struct hd_onnx_build *b, int x, int64_t width, int cosine, int sine) {
    bool mixed = hd_onnx_int(b->n, "interleaved", 0) != 0;
    int64_t half = width / 2;
    if (b->s != HD_OK) return -1;
    struct hd_tensor t = b->m->g->tensors[x];
    int first = hd_build_slice(b, "first", x, 3, 0, mixed ? width : half, mixed ? 2 : 1);
    int second = hd_build_slice(b, "second", x, 3, mixed ? 1 : half, width, mixed ? 2 : 1);
    int re = hd_build_two(b, HD_IR_sub, "re", hd_build_two(b, HD_IR_mul, "cos1", first, cosine),
                          hd_build_two(b, HD_IR_mul, "sin2", second, sine));
    int im = hd_build_two(b, HD_IR_add, "im", hd_build_two(b, HD_IR_mul, "sin1", first, sine),
                          hd_build_two(b, HD_IR_mul, "cos2", second, cosine));
    if (!mixed) return hd_build_concat(b, "turned", 3, 2, (int[]){re, im});
    int64_t pair[5] = {t.dim[0], t.dim[1], t.dim[2], half, 1};
    re = hd_build_reshape(b, "re_column", re, 5, pair);
    im = hd_build_reshape(b, "im_column", im, 5, pair);
    t.dim[3] = width;
    return hd_build_reshape(b, "turned", hd_build_concat(b, "pairs", 4, 2, (int[]){re, im}), 4,
                            t.dim);
}

/* The row of a table for each position, with a dimension for the heads. */
static int angles(struct hd_onnx_build *b, const char *suffix, size_t table, int positions) {
    int y = hd_onnx_in(b->m, b->n, table);
    if (positions >= 0) y = hd_build_two(b, HD_IR_gather, suffix, y, positions);
    if (b->s != HD_OK) return -1;
    const struct hd_tensor t = b->m->g->tensors[y];
    if (t.rank != 3) {
        b->s = hd_onnx_bad(b->m, b->n, HD_INVALID, "cosines and sines of rank %d, want %d", t.rank,
                           positions >= 0 ? 2 : 3);
        return -1;
    }
    return hd_build_reshape(b, suffix, y, 4, (int64_t[]){t.dim[0], t.dim[1], 1, t.dim[2]});
}

/* Source: ONNX RotaryEmbedding-23. */
hd_status import_RotaryEmbedding(struct hd_importer *m, const struct hd_onnx_node *n) {
    static const int64_t swap[4] = {0, 2, 1, 3};
    struct hd_onnx_build b = {m, n, HD_OK};
    struct hd_tensor t = *hd_onnx_tensor(m, n, 0);
    int x = hd_onnx_in(m, n, 0), positions = hd_onnx_in(m, n, 3);
    int64_t heads = hd_onnx_int(n, "num_heads", 0),
            width = hd_onnx_int(n, "rotary_embedding_dim", 0);
    if ((t.rank != 3 && t.rank != 4) || (t.rank == 3 && (heads < 1 || t.dim[2] % heads)))
        return hd_onnx_bad(m, n, HD_INVALID,
                           "'%s' has rank %d, and num_heads is %lld: want [B,H,S,D], or [B,S,H*D] "
                           "with num_heads",
                           t.name, t.rank, (long long)heads);
    if (t.rank == 4)
        x = hd_build_transpose(&b, "rows", x, 4, swap);
    else
        x = hd_build_reshape(&b, "rows", x, 4,
                             (int64_t[]){t.dim[0], t.dim[1], heads, t.dim[2] / heads});
    int64_t size = t.rank == 4 ? t.dim[3] : t.dim[2] / heads;
    if (width <= 0 || width > size) width = size;
    int y =
        turn_pairs(&b, x, width, angles(&b, "cos", 1, positions), angles(&b, "sin", 2, positions));
    if (width < size)
        y = hd_build_concat(&b, "all", 3, 2,
                            (int[]){y, hd_build_slice(&b, "rest", x, 3, width, size, 1)});
    if (t.rank == 4)
        y = hd_build_transpose(&b, "heads", y, 4, swap);
    else
        y = hd_build_reshape(&b, "joined", y, 3, t.dim);
    return hd_build_end(&b, 0, y);
}

/* ---- norms, activations ---- */

/* Source: ONNX RMSNormalization-23: layernorm without the mean. */
hd_status import_RMSNormalization(struct hd_importer *m, const struct hd_onnx_node *n) {
    static const char *const attrs[] = {"axis", "epsilon", NULL};
    struct hd_onnx_build b = {m, n, HD_OK};
    int in[2] = {hd_onnx_in(m, n, 0), hd_onnx_in(m, n, 1)};
    in[0] = hd_build_cast(&b, "x", in[0], m->g->tensors[in[1]].dtype);
    TRY(b.s);
    int id = hd_onnx_emit(m, n, HD_IR_layernorm, 2, in);
    hd_onnx_copy_attrs(m, n, id, attrs);
    hd_attr_set_int(m->g, id, "centred", 0);
    return hd_onnx_done(m, id);
}

/* x * sigmoid(alpha * x).  Source: ONNX Swish-24. */
hd_status import_Swish(struct hd_importer *m, const struct hd_onnx_node *n) {
    struct hd_onnx_build b = {m, n, HD_OK};
    int x = hd_onnx_in(m, n, 0), gate = x;
    double alpha = (double)hd_onnx_float(n, "alpha", 1);
    if (alpha != 1)
        gate = hd_build_two(&b, HD_IR_mul, "scaled", x,
                            hd_build_scalar(&b, "alpha", m->g->tensors[x].dtype, alpha));
    gate = hd_build(&b, HD_IR_sigmoid, "gate", 1, &gate);
    return hd_build_end(&b, 0, hd_build_two(&b, HD_IR_mul, "y", x, gate));
}
