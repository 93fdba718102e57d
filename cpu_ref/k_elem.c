/* Cast, batch normalisation. */
#include <math.h>

#include "cpu_ref/kernels.h"

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
