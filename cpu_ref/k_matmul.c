/* Matrix products in float (sums in double, in the order of the inner dimension) and in integers.
 */
#include <string.h>

#include "cpu_ref/k_matmul.h"
#include "cpu_ref/k_rows.h"
#include "runtime/base/num.h"

struct product { /* y [m,n] = op(a) op(b); a is [m,depth] or its transpose, b [depth,n] or its own
                  */
    const void *a, *b;
    hd_dtype type;
    int64_t a_first, b_first; /* in values */
    bool ta, tb;
    int64_t m, n, depth;
    double *wide_a, *wide_b; /* scratch of float products: m * depth, max(n, depth) */
};

static void add_scratch(struct product *p, hd_arena *arena) {
    p->wide_a = hd_new_array(arena, double, (size_t)(p->m * p->depth) + 1);
    p->wide_b = hd_new_array(arena, double, (size_t)hd_max(p->n, p->depth) + 1);
}

/* acc[m * n] in double. */
static void float_product(const struct product *p, double *acc) {
    enum {
        ROWS = 16
    }; /* of the result at a time: they stay in the cache, b is widened once for them */
    int64_t m = p->m, n = p->n, depth = p->depth;
    double *a = p->wide_a, *b = p->wide_b;
    if (p->ta)
        for (int64_t d = 0; d < depth; d++)
            for (int64_t i = 0; i < m; i++)
                hd_k_widen(p->a, p->type, p->a_first + d * m + i, 1, &a[i * depth + d]);
    else
        hd_k_widen(p->a, p->type, p->a_first, m * depth, a);
    memset(acc, 0, (size_t)(m * n) * sizeof *acc);
    for (int64_t j = 0; p->tb && j < n; j++) {
        hd_k_widen(p->b, p->type, p->b_first + j * depth, depth, b);
        for (int64_t i = 0; i < m; i++) {
            double sum = 0;
            for (int64_t d = 0; d < depth; d++) sum += a[i * depth + d] * b[d];
            acc[i * n + j] = sum;
        }
    }
    for (int64_t from = 0; !p->tb && from < m; from += ROWS)
        for (int64_t d = 0; d < depth; d++) {
            hd_k_widen(p->b, p->type, p->b_first + d * n, n, b);
            for (int64_t i = from; i < hd_min(from + ROWS, m); i++) {
                double v = a[i * depth + d], *row = acc + i * n;
                for (int64_t j = 0; j < n; j++) row[j] += v * b[j];
            }
        }
}

/* acc[m * n], wrapping: the low bits of the sum are right for every integer type. */
static void int_product(const struct product *p, uint64_t *acc) {
    for (int64_t i = 0; i < p->m; i++)
        for (int64_t j = 0; j < p->n; j++) {
            uint64_t sum = 0;
            for (int64_t d = 0; d < p->depth; d++) {
                int64_t ai = p->ta ? d * p->m + i : i * p->depth + d;
                int64_t bi = p->tb ? j * p->depth + d : d * p->n + j;
                sum += (uint64_t)hd_k_i64(p->a, p->type, p->a_first + ai) *
                       (uint64_t)hd_k_i64(p->b, p->type, p->b_first + bi);
            }
            acc[i * p->n + j] = sum;
        }
}

/* y [M,N] = alpha * op(a) op(b) + beta * c, c broadcast to [M,N].  Source: ONNX Gemm-13. */
hd_status k_gemm(const struct hd_kernel *k) {
    const struct hd_tensor *sa = hd_k_in(k, 0), *sc = hd_k_in(k, 2), *y = hd_k_out(k);
    bool ta = hd_attr_int(k->n, "transA", 0) != 0, tb = hd_attr_int(k->n, "transB", 0) != 0;
    double alpha = (double)hd_attr_float(k->n, "alpha", 1),
           beta = (double)hd_attr_float(k->n, "beta", 1);
    struct product p = {.a = k->in[0],
                        .b = k->in[1],
                        .type = sa->dtype,
                        .ta = ta,
                        .tb = tb,
                        .m = y->dim[0],
                        .n = y->dim[1],
                        .depth = sa->dim[ta ? 0 : 1]};
    int64_t c_cols = sc && sc->rank ? sc->dim[sc->rank - 1] : 1;
    int64_t c_rows = sc && sc->rank == 2 ? sc->dim[0] : 1, n = p.m * p.n;
    double *acc = NULL;
    uint64_t *whole = NULL;
    if (hd_k_is_float(p.type)) {
        acc = hd_new_array(k->arena, double, (size_t)n + 1);
        add_scratch(&p, k->arena);
        float_product(&p, acc);
    } else {
        whole = hd_new_array(k->arena, uint64_t, (size_t)n + 1);
        int_product(&p, whole);
    }
    for (int64_t i = 0; i < n; i++) {
        int64_t at = (c_rows > 1 ? i / p.n : 0) * c_cols + (c_cols > 1 ? i % p.n : 0);
        if (acc) {
            acc[i] *= alpha;
            if (sc) acc[i] += beta * hd_k_f64(k->in[2], sc->dtype, at);
        } else { /* alpha and beta are whole numbers */
            whole[i] *= (uint64_t)(int64_t)alpha;
            if (sc)
                whole[i] += (uint64_t)(int64_t)beta * (uint64_t)hd_k_i64(k->in[2], sc->dtype, at);
            hd_k_put_i64(k->out, y->dtype, i, (int64_t)whole[i]);
        }
    }
    if (acc) hd_k_store(k, 0, acc);
    return HD_OK;
}

int64_t hd_batch_offset(int64_t i, const int64_t *out, int out_rank, const int64_t *dim, int rank) {
    int64_t offset = 0, step = 1;
    for (int d = 0; d < out_rank; d++) {
        int64_t index = i % out[out_rank - 1 - d];
        i /= out[out_rank - 1 - d];
        if (d >= rank) continue;
        int64_t size = dim[rank - 1 - d];
        offset += (size == 1 ? 0 : index) * step;
        step *= size;
    }
    return offset;
}

void hd_matmul_shape(const struct hd_kernel *k, struct hd_matmul *out) {
    const struct hd_tensor *a = hd_k_in(k, 0), *b = hd_k_in(k, 1), *y = hd_k_out(k);
    *out = (struct hd_matmul){.m = a->rank > 1 ? a->dim[a->rank - 2] : 1,
                              .n = b->rank > 1 ? b->dim[b->rank - 1] : 1,
                              .depth = a->dim[a->rank - 1],
                              .batch_a = a->rank > 1 ? a->rank - 2 : 0,
                              .batch_b = b->rank > 1 ? b->rank - 2 : 0};
    out->batch_y = out->batch_a > out->batch_b ? out->batch_a : out->batch_b;
    out->batches = out->m * out->n > 0 ? hd_tensor_elems(y) / (out->m * out->n) : 0;
}

/* Batched product by numpy's rules; a 1-D operand is a row (left) or a column (right).
 * Source: ONNX MatMul-13. */
hd_status k_matmul(const struct hd_kernel *k) {
    const struct hd_tensor *sa = hd_k_in(k, 0), *sb = hd_k_in(k, 1), *sy = hd_k_out(k);
    struct hd_matmul s;
    hd_matmul_shape(k, &s);
    struct product p = {
        .a = k->in[0], .b = k->in[1], .type = sa->dtype, .m = s.m, .n = s.n, .depth = s.depth};
    int64_t mn = s.m * s.n;
    double *acc = hd_new_array(k->arena, double, (size_t)mn + 1);
    uint64_t *whole = hd_new_array(k->arena, uint64_t, (size_t)mn + 1);
    add_scratch(&p, k->arena);
    for (int64_t q = 0; q < s.batches; q++) {
        p.a_first = hd_batch_offset(q, sy->dim, s.batch_y, sa->dim, s.batch_a) * s.m * s.depth;
        p.b_first = hd_batch_offset(q, sy->dim, s.batch_y, sb->dim, s.batch_b) * s.depth * s.n;
        if (hd_k_is_float(p.type)) {
            float_product(&p, acc);
            hd_k_narrow(k->out, sy->dtype, q * mn, mn, acc);
            continue;
        }
        int_product(&p, whole);
        for (int64_t i = 0; i < mn; i++)
            hd_k_put_i64(k->out, sy->dtype, q * mn + i, (int64_t)whole[i]);
    }
    return HD_OK;
}
