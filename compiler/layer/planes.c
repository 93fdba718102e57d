/* Weights of 9 bits as sums of bytes.
 *
 * A weight less its zero point lies in -255..255 where the network's weights are uint8, or int8
 * with a zero point; MX and VX multiply by int8. Products add up, so such a weight is the sum of
 * two bytes (three above 254): each byte plane is more words of the same reduction, over the same
 * operand. What is below the largest byte is in plane 0, so that the others are nearly all zeros.
 *
 * needs: constant weights; gives: their planes; destroys: nothing
 */
#include "compiler/layer/layer.h"
#include "runtime/base/num.h"

int hd_weight_planes(const struct hd_tensor *w) {
    if (w->dtype == HD_I8) return 1;
    if (w->dtype != HD_I16) return HD_PLANES + 1;
    const int16_t *v = w->data;
    int64_t least = 0, most = 0;
    for (int64_t i = 0; i < hd_tensor_elems(w); i++)
        least = hd_min(least, v[i]), most = hd_max(most, v[i]);
    return (int)hd_max(1, hd_max(hd_ceil_div(-least, 128), hd_ceil_div(most, 127)));
}

const int8_t *hd_weight_bytes(const struct hd_lowering *lo, const struct hd_tensor *w, int planes) {
    if (w->dtype == HD_I8) return w->data;
    const int16_t *v = w->data;
    int64_t n = hd_tensor_elems(w);
    int8_t *bytes = hd_new_array(lo->arena, int8_t, (size_t)(n * planes) + 1);
    for (int64_t i = 0; i < n; i++)
        for (int64_t p = 0, rest = v[i]; p < planes; p++) {
            int8_t part = (int8_t)hd_max(-128, hd_min(rest, 127));
            bytes[p * n + i] = part, rest -= part;
        }
    return bytes;
}
