/* Normalisation: batch, instance, layer, group, Lp, local response, mean and variance. */
#include <math.h>
#include <string.h>

#include "cpu_ref/k_rows.h"
#include "cpu_ref/walk.h"
#include "runtime/base/num.h"

struct moments {
    double mean, var;
};

/* Two passes, so that a large mean costs no digits. */
static struct moments moments(const double *x, int64_t n) {
    struct moments m = {0, 0};
    for (int64_t i = 0; i < n; i++) m.mean += x[i];
    m.mean /= (double)n;
    for (int64_t i = 0; i < n; i++) m.var += (x[i] - m.mean) * (x[i] - m.mean);
    m.var /= (double)n;
    return m;
}

/* y = scale[c] * (x - mean[c]) / sqrt(var[c] + epsilon) + bias[c], c of dimension 1.
 * Source: ONNX BatchNormalization-15, inference. */
hd_status k_batchnorm(const struct hd_kernel *k) {
    const struct hd_tensor *t = hd_k_in(k, 0);
    const double *scale = hd_k_doubles(k, 1), *bias = hd_k_doubles(k, 2),
                 *mean = hd_k_doubles(k, 3), *var = hd_k_doubles(k, 4);
    double eps = (double)hd_attr_float(k->n, "epsilon", 1e-5f), *x = hd_k_doubles(k, 0);
    int64_t inner = hd_elems_of(t->dim, 2, t->rank), c_all = t->dim[1];
    for (int64_t i = 0; i < t->dim[0] * c_all; i++) {
        int64_t c = i % c_all;
        double a = scale[c] / sqrt(var[c] + eps);
        for (int64_t j = i * inner; j < (i + 1) * inner; j++) x[j] = (x[j] - mean[c]) * a + bias[c];
    }
    hd_k_store(k, 0, x);
    return HD_OK;
}

/* Each image's channel c normalised by itself, then * scale[c] + bias[c].
 * Source: ONNX InstanceNormalization-6. */
hd_status k_instancenorm(const struct hd_kernel *k) {
    const struct hd_tensor *t = hd_k_in(k, 0);
    const double *scale = hd_k_doubles(k, 1), *bias = hd_k_doubles(k, 2);
    double eps = (double)hd_attr_float(k->n, "epsilon", 1e-5f), *x = hd_k_doubles(k, 0);
    int64_t inner = hd_elems_of(t->dim, 2, t->rank);
    for (int64_t i = 0; i < t->dim[0] * t->dim[1]; i++) {
        struct moments m = moments(x + i * inner, inner);
        double a = scale[i % t->dim[1]] / sqrt(m.var + eps), b = bias[i % t->dim[1]];
        for (int64_t j = i * inner; j < (i + 1) * inner; j++) x[j] = (x[j] - m.mean) * a + b;
    }
    hd_k_store(k, 0, x);
    return HD_OK;
}

/* Channels in num_groups groups, each normalised by itself; scale and bias are per group (opset 18)
 * or per channel (opset 21).  Source: ONNX GroupNormalization. */
hd_status k_groupnorm(const struct hd_kernel *k) {
    const struct hd_tensor *t = hd_k_in(k, 0);
    const double *scale = hd_k_doubles(k, 1), *bias = hd_k_doubles(k, 2);
    double eps = (double)hd_attr_float(k->n, "epsilon", 1e-5f), *x = hd_k_doubles(k, 0);
    int64_t plane = hd_elems_of(t->dim, 2, t->rank), groups = hd_attr_int(k->n, "num_groups", 1);
    int64_t cg = t->dim[1] / groups, inner = cg * plane;
    bool per_channel = hd_k_in(k, 1)->dim[0] == t->dim[1];
    for (int64_t i = 0; i < t->dim[0] * groups; i++) {
        struct moments m = moments(x + i * inner, inner);
        double a = 1 / sqrt(m.var + eps);
        for (int64_t j = 0; j < inner; j++) {
            int64_t c = per_channel ? i % groups * cg + j / plane : i % groups;
            x[i * inner + j] = (x[i * inner + j] - m.mean) * a * scale[c] + bias[c];
        }
    }
    hd_k_store(k, 0, x);
    return HD_OK;
}

/* Normalised over the dimensions from axis on (centred=0: by the root of the mean square, without
 * taking the mean off), then * scale + bias. Outputs 1 and 2: the mean and
 * 1 / sqrt(var + epsilon), with those dimensions 1.  Source: ONNX LayerNormalization-17. */
hd_status k_layernorm(const struct hd_kernel *k) {
    const struct hd_tensor *t = hd_k_in(k, 0), *ts = hd_k_in(k, 1), *tb = hd_k_in(k, 2);
    const double *scale = hd_k_doubles(k, 1), *bias = hd_k_doubles(k, 2);
    double eps = (double)hd_attr_float(k->n, "epsilon", 1e-5f), *x = hd_k_doubles(k, 0);
    int64_t axis = hd_attr_int(k->n, "axis", -1), n;
    axis = axis < 0 ? axis + t->rank : axis;
    int64_t outer = hd_elems_of(t->dim, 0, axis), inner = hd_elems_of(t->dim, axis, t->rank);
    double *mean = hd_new_array(k->arena, double, (size_t)outer + 1);
    double *inv = hd_new_array(k->arena, double, (size_t)outer + 1);
    bool centred = hd_attr_int(k->n, "centred", 1) != 0;
    for (int64_t o = 0; o < outer; o++) {
        struct moments m = moments(x + o * inner, inner);
        if (!centred) m.var += m.mean * m.mean, m.mean = 0;
        mean[o] = m.mean;
        inv[o] = 1 / sqrt(m.var + eps);
        for (int64_t i = 0; i < inner; i++) {
            n = o * inner + i;
            x[n] = (x[n] - m.mean) * inv[o] * scale[hd_k_broadcast(n, t, ts)];
            if (bias) x[n] += bias[hd_k_broadcast(n, t, tb)];
        }
    }
    hd_k_store(k, 0, x);
    hd_k_store(k, 1, mean);
    hd_k_store(k, 2, inv);
    return HD_OK;
}

/* x / (|x_1|^p + ..)^(1/p) along axis, p = 1 or 2; a norm of 0 leaves 0.
 * Source: ONNX LpNormalization-1. */
hd_status k_lpnorm(const struct hd_kernel *k) {
    const struct hd_tensor *t = hd_k_in(k, 0);
    int64_t axis = hd_attr_int(k->n, "axis", -1), p = hd_attr_int(k->n, "p", 2);
    axis = axis < 0 ? axis + t->rank : axis;
    int64_t outer = hd_elems_of(t->dim, 0, axis), n = t->dim[axis];
    int64_t inner = hd_elems_of(t->dim, axis + 1, t->rank);
    double *x = hd_k_doubles(k, 0);
    for (int64_t i = 0; i < outer * inner; i++) {
        double *v = x + i / inner * n * inner + i % inner, sum = 0;
        for (int64_t j = 0; j < n; j++)
            sum += p == 1 ? fabs(v[j * inner]) : v[j * inner] * v[j * inner];
        if (p == 2) sum = sqrt(sum);
        for (int64_t j = 0; j < n; j++) v[j * inner] = sum != 0 ? v[j * inner] / sum : 0;
    }
    hd_k_store(k, 0, x);
    return HD_OK;
}

/* y = x / (bias + alpha / size * sum of squares of `size` channels around)^beta.
 * Source: ONNX LRN-13. */
hd_status k_lrn(const struct hd_kernel *k) {
    const struct hd_tensor *t = hd_k_in(k, 0);
    double alpha = (double)hd_attr_float(k->n, "alpha", 1e-4f),
           beta = (double)hd_attr_float(k->n, "beta", 0.75f),
           bias = (double)hd_attr_float(k->n, "bias", 1);
    int64_t size = hd_attr_int(k->n, "size", 1), c_all = t->dim[1];
    int64_t inner = hd_elems_of(t->dim, 2, t->rank), n = hd_tensor_elems(t);
    const double *x = hd_k_doubles(k, 0);
    double *y = hd_new_array(k->arena, double, (size_t)n + 1);
    for (int64_t i = 0; i < n; i++) {
        int64_t c = i / inner % c_all, first = hd_max(0, c - (size - 1) / 2);
        int64_t last = hd_min(c_all - 1, c + size / 2);
        double sum = 0;
        for (int64_t q = first; q <= last; q++) {
            double v = x[i + (q - c) * inner];
            sum += v * v;
        }
        y[i] = x[i] / pow(bias + alpha / (double)size * sum, beta);
    }
    hd_k_store(k, 0, y);
    return HD_OK;
}

/* (x - mean) / (sqrt(var) + 1e-9) over `axes`.  Source: ONNX MeanVarianceNormalization-13. */
hd_status k_mvn(const struct hd_kernel *k) {
    const struct hd_tensor *t = hd_k_in(k, 0);
    int64_t axes[HD_MAX_RANK], n = hd_tensor_elems(t), groups = 1;
    int n_axes = hd_attr_ints(k->n, "axes", axes, HD_MAX_RANK, 0);
    bool over[HD_MAX_RANK] = {false};
    for (int i = 0; i < n_axes; i++) over[axes[i] < 0 ? axes[i] + t->rank : axes[i]] = true;
    for (int d = 0; d < t->rank; d++) groups *= over[d] ? 1 : t->dim[d];
    double *x = hd_k_doubles(k, 0), count = groups ? (double)n / (double)groups : 1;
    int64_t *group = hd_new_array(k->arena, int64_t, (size_t)n + 1);
    double *mean = hd_new_array(k->arena, double, (size_t)groups + 1);
    double *var = hd_new_array(k->arena, double, (size_t)groups + 1);
    for (int64_t i = 0; i < n; i++) {
        int64_t rest = i, step = 1;
        for (int d = t->rank - 1; d >= 0; rest /= t->dim[d], d--) {
            if (over[d]) continue;
            group[i] += rest % t->dim[d] * step;
            step *= t->dim[d];
        }
        mean[group[i]] += x[i] / count;
    }
    for (int64_t i = 0; i < n; i++) {
        double v = x[i] - mean[group[i]];
        var[group[i]] += v * v / count;
    }
    for (int64_t i = 0; i < n; i++) x[i] = (x[i] - mean[group[i]]) / (sqrt(var[group[i]]) + 1e-9);
    hd_k_store(k, 0, x);
    return HD_OK;
}
