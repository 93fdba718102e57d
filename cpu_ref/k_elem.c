/* Elementwise operations: arithmetic with broadcasting, activations, cast, batch normalisation,
 * softmax. */
#include <math.h>

#include "cpu_ref/kernels.h"

enum arith { ADD, SUB, MUL, DIV };

static float arith_f32(enum arith op, float a, float b) {
    return op == ADD ? a + b : op == SUB ? a - b : op == MUL ? a * b : a / b;
}

/* Integers wrap; division truncates and by zero gives 0. */
static int64_t arith_int(enum arith op, int64_t a, int64_t b) {
    uint64_t x = (uint64_t)a, y = (uint64_t)b;
    if (op == DIV) return b == 0 ? 0 : b == -1 ? (int64_t)(0 - x) : a / b;
    return (int64_t)(op == ADD ? x + y : op == SUB ? x - y : x * y);
}

static hd_status binary(const struct hd_kernel *k, enum arith op) {
    const struct hd_tensor *y = hd_k_out(k), *sa = hd_k_in(k, 0), *sb = hd_k_in(k, 1);
    int64_t n = hd_tensor_elems(y);
    for (int64_t i = 0; i < n; i++) {
        int64_t a = hd_k_broadcast(i, y, sa), b = hd_k_broadcast(i, y, sb);
        if (y->dtype == HD_F32)
            ((float *)k->out)[i] =
                arith_f32(op, ((const float *)k->in[0])[a], ((const float *)k->in[1])[b]);
        else if (y->dtype == HD_I32)
            ((int32_t *)k->out)[i] = (int32_t)(uint32_t)arith_int(
                op, ((const int32_t *)k->in[0])[a], ((const int32_t *)k->in[1])[b]);
        else
            ((int64_t *)k->out)[i] =
                arith_int(op, ((const int64_t *)k->in[0])[a], ((const int64_t *)k->in[1])[b]);
    }
    return HD_OK;
}

/* Source: ONNX Add-14, Sub-14, Mul-14, Div-14. */
hd_status k_add(const struct hd_kernel *k) {
    return binary(k, ADD);
}
hd_status k_sub(const struct hd_kernel *k) {
    return binary(k, SUB);
}
hd_status k_mul(const struct hd_kernel *k) {
    return binary(k, MUL);
}
hd_status k_div(const struct hd_kernel *k) {
    return binary(k, DIV);
}

static hd_status unary(const struct hd_kernel *k, double (*f)(double)) {
    int64_t n = hd_tensor_elems(hd_k_out(k));
    for (int64_t i = 0; i < n; i++)
        ((float *)k->out)[i] = (float)f((double)((const float *)k->in[0])[i]);
    return HD_OK;
}

static double relu(double x) {
    return x < 0 ? 0 : x;
} /* NaN stays NaN */
static double sigmoid(double x) {
    return 1 / (1 + exp(-x));
}

hd_status k_relu(const struct hd_kernel *k) {
    return unary(k, relu);
}
hd_status k_sigmoid(const struct hd_kernel *k) {
    return unary(k, sigmoid);
}
hd_status k_tanh(const struct hd_kernel *k) {
    return unary(k, tanh);
}

/* x, min?, max?.  Source: ONNX Clip-13. */
hd_status k_clip(const struct hd_kernel *k) {
    const float *x = k->in[0];
    float lo = k->n->n_in > 1 && k->in[1] ? *(const float *)k->in[1] : -INFINITY;
    float hi = k->n->n_in > 2 && k->in[2] ? *(const float *)k->in[2] : INFINITY;
    int64_t n = hd_tensor_elems(hd_k_out(k));
    for (int64_t i = 0; i < n; i++) {
        float v = x[i] < lo ? lo : x[i];
        ((float *)k->out)[i] = v > hi ? hi : v;
    }
    return HD_OK;
}

/* y = exp(x - max) / sum along `axis`, in double.  Source: ONNX Softmax-13. */
hd_status k_softmax(const struct hd_kernel *k) {
    const struct hd_tensor *t = hd_k_in(k, 0);
    const float *x = k->in[0];
    float *y = k->out;
    int64_t axis = hd_attr_int(k->n, "axis", -1), inner = 1;
    if (axis < 0) axis += t->rank;
    int64_t size = t->dim[axis];
    for (int64_t d = axis + 1; d < t->rank; d++) inner *= t->dim[d];
    int64_t outer = size * inner > 0 ? hd_tensor_elems(t) / (size * inner) : 0;
    for (int64_t o = 0; o < outer; o++)
        for (int64_t i = 0; i < inner; i++) {
            const float *p = x + o * size * inner + i;
            double max = -INFINITY, sum = 0;
            for (int64_t j = 0; j < size; j++) max = fmax(max, (double)p[j * inner]);
            for (int64_t j = 0; j < size; j++) sum += exp((double)p[j * inner] - max);
            for (int64_t j = 0; j < size; j++)
                y[o * size * inner + i + j * inner] =
                    (float)(exp((double)p[j * inner] - max) / sum);
        }
    return HD_OK;
}

/* y = scale * (x - mean) / sqrt(var + epsilon) + bias per channel.  Source: ONNX
 * BatchNormalization-15. */
hd_status k_batchnorm(const struct hd_kernel *k) {
    const struct hd_tensor *t = hd_k_in(k, 0);
    const float *x = k->in[0], *scale = k->in[1], *bias = k->in[2], *mean = k->in[3],
                *var = k->in[4];
    double epsilon = (double)hd_attr_float(k->n, "epsilon", 1e-5f);
    int64_t c = t->dim[1], inner = 1, n = hd_tensor_elems(t);
    for (int d = 2; d < t->rank; d++) inner *= t->dim[d];
    for (int64_t i = 0; i < n; i++) {
        int64_t j = i / inner % c;
        double v = ((double)x[i] - (double)mean[j]) / sqrt((double)var[j] + epsilon);
        ((float *)k->out)[i] = (float)((double)scale[j] * v + (double)bias[j]);
    }
    return HD_OK;
}

/* Float to integer truncates and saturates, NaN gives 0 (ONNX leaves both open); integers wrap.
 * Source: ONNX Cast-13. */
hd_status k_cast(const struct hd_kernel *k) {
    hd_dtype from = hd_k_in(k, 0)->dtype, to = hd_k_out(k)->dtype;
    int64_t n = hd_tensor_elems(hd_k_out(k));
    for (int64_t i = 0; i < n; i++)
        if (hd_k_is_float(from) || hd_k_is_float(to))
            hd_k_put_f64(k->out, to, i, hd_k_f64(k->in[0], from, i));
        else
            hd_k_put_i64(k->out, to, i, hd_k_i64(k->in[0], from, i));
    return HD_OK;
}
