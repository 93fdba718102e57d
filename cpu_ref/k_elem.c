/* Cast, batch normalisation. */
#include <math.h>

#include "cpu_ref/kernels.h"

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
