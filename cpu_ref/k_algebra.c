/* Einsum, determinants, negative log likelihood. */
#include <math.h>
#include <string.h>

#include "compiler/ir/einsum.h"
#include "cpu_ref/kernels.h"
#include "cpu_ref/walk.h"

/* y[out labels] = sum over the other labels of the product of the operands. Floats are summed in
 * double, integers wrap.  Source: ONNX Einsum-12. */
hd_status k_einsum(const struct hd_kernel *k) {
    const struct hd_tensor *x[HD_EINSUM_OPERANDS], *y = hd_k_out(k);
    int n_in = k->n->n_in;
    struct hd_einsum e;
    for (int i = 0; i < n_in; i++) x[i] = hd_k_in(k, i);
    TRY(hd_einsum_parse(k->ctx, hd_attr_string(k->n, "equation", ""), n_in, x, &e));
    struct hd_walk w; /* over all labels: those of the result first */
    hd_walk_init(&w, e.n_labels, e.size);
    for (int i = 0; i < n_in; i++) {
        int64_t dense[HD_MAX_RANK], stride[HD_WALK_RANK] = {0};
        hd_walk_dense(x[i]->rank, x[i]->dim, dense);
        for (int d = 0; d < x[i]->rank; d++) /* a label twice in one operand: its diagonal */
            if (x[i]->dim[d] != 1) stride[e.label[i][d]] += dense[d];
        hd_walk_strides(&w, i, 0, stride);
    }
    int64_t terms = 1, n = hd_tensor_elems(y);
    for (int l = e.n_out; l < e.n_labels; l++) terms *= e.size[l];
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        uint64_t whole = 0;
        for (int64_t j = 0; j < terms; j++, hd_walk_next(&w)) {
            double v = 1;
            uint64_t u = 1;
            for (int o = 0; o < n_in; o++)
                if (hd_k_is_float(y->dtype))
                    v *= hd_k_f64(k->in[o], y->dtype, w.index[o]);
                else
                    u *= (uint64_t)hd_k_i64(k->in[o], y->dtype, w.index[o]);
            sum += v;
            whole += u;
        }
        if (hd_k_is_float(y->dtype))
            hd_k_put_f64(k->out, y->dtype, i, sum);
        else
            hd_k_put_i64(k->out, y->dtype, i, (int64_t)whole);
    }
    return HD_OK;
}

/* Determinant of the n x n matrix a by elimination with row exchanges; destroys a. */
static double determinant(double *a, int64_t n) {
    double det = 1;
    for (int64_t c = 0; c < n; c++) {
        int64_t pivot = c;
        for (int64_t r = c + 1; r < n; r++)
            if (fabs(a[r * n + c]) > fabs(a[pivot * n + c])) pivot = r;
        if (a[pivot * n + c] == 0) return 0;
        for (int64_t j = 0; pivot != c && j < n; j++) {
            double t = a[c * n + j];
            a[c * n + j] = a[pivot * n + j];
            a[pivot * n + j] = t;
        }
        det *= pivot == c ? a[c * n + c] : -a[c * n + c];
        for (int64_t r = c + 1; r < n; r++) {
            double f = a[r * n + c] / a[c * n + c];
            for (int64_t j = c; j < n; j++) a[r * n + j] -= f * a[c * n + j];
        }
    }
    return det;
}

/* x [.., n, n] -> y [..].  Source: ONNX Det-11. */
hd_status k_det(const struct hd_kernel *k) {
    const struct hd_tensor *x = hd_k_in(k, 0);
    int64_t n = x->dim[x->rank - 1], count = hd_tensor_elems(hd_k_out(k));
    double *a = hd_new_array(k->arena, double, (size_t)(n * n) + 1);
    for (int64_t i = 0; i < count; i++) {
        for (int64_t j = 0; j < n * n; j++) a[j] = hd_k_f64(k->in[0], x->dtype, i * n * n + j);
        hd_k_put_f64(k->out, x->dtype, i, determinant(a, n));
    }
    return HD_OK;
}

/* x [N,C,d..] log probabilities, target [N,d..], weight? [C]; y = -weight[t] * x[t], 0 where the
 * target is ignore_index; reduced to its mean by weight, to its sum, or not at all.
 * Source: ONNX NegativeLogLikelihoodLoss-13. */
hd_status k_nllloss(const struct hd_kernel *k) {
    const struct hd_tensor *x = hd_k_in(k, 0), *t = hd_k_in(k, 1), *w = hd_k_in(k, 2);
    const char *reduction = hd_attr_string(k->n, "reduction", "mean");
    const struct hd_attr *ignore = hd_attr_get(k->n, "ignore_index");
    int64_t n = hd_tensor_elems(t), c = x->dim[1], inner = 1;
    for (int d = 2; d < x->rank; d++) inner *= x->dim[d];
    double sum = 0, weights = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t target = hd_k_i64(k->in[1], t->dtype, i);
        bool skip = ignore && target == ignore->i;
        if (!skip && (target < 0 || target >= c))
            return hd_fail(k->ctx, HD_INVALID,
                           "target %lld (element %lld of '%s'), allowed 0..%lld", (long long)target,
                           (long long)i, t->name, (long long)c - 1);
        int64_t at = (i / inner * c + (skip ? 0 : target)) * inner + i % inner;
        double weight = skip ? 0 : w ? hd_k_f64(k->in[2], w->dtype, target) : 1;
        double loss = skip ? 0 : -weight * hd_k_f64(k->in[0], x->dtype, at);
        if (!strcmp(reduction, "none")) hd_k_put_f64(k->out, x->dtype, i, loss);
        sum += loss;
        weights += weight;
    }
    if (!strcmp(reduction, "sum")) hd_k_put_f64(k->out, x->dtype, 0, sum);
    if (!strcmp(reduction, "mean")) hd_k_put_f64(k->out, x->dtype, 0, sum / weights);
    return HD_OK;
}
