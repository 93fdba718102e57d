/* Rows of values as doubles, and back. */
#include "cpu_ref/k_rows.h"

#include <math.h>

#define NUMBERS(X)                                                                                 \
    X(HD_F32, float)                                                                               \
    X(HD_F64, double)                                                                              \
    X(HD_U8, uint8_t)                                                                              \
    X(HD_I8, int8_t)                                                                               \
    X(HD_U16, uint16_t)                                                                            \
    X(HD_I16, int16_t)                                                                             \
    X(HD_I32, int32_t)                                                                             \
    X(HD_U32, uint32_t)                                                                            \
    X(HD_I64, int64_t)                                                                             \
    X(HD_U64, uint64_t)                                                                            \
    X(HD_BOOL, uint8_t)

void hd_k_widen(const void *data, hd_dtype t, int64_t first, int64_t count, double *out) {
    switch (t) {
#define X(id, type)                                                                                \
    case id:                                                                                       \
        for (int64_t i = 0; i < count; i++) out[i] = (double)((const type *)data)[first + i];      \
        return;
        NUMBERS(X)
#undef X
    default:
        HD_ASSERT(false); /* the runner widens f16 */
    }
}

/* The largest double below 2^63 or 2^64 keeps the conversion defined. */
static double limited(double v, hd_dtype t) {
    static const double lo[HD_DTYPES] = {
        [HD_I8] = -0x1p7, [HD_I16] = -0x1p15, [HD_I32] = -0x1p31, [HD_I64] = -0x1p63};
    static const double hi[HD_DTYPES] = {[HD_I8] = 0x1p7 - 1,
                                         [HD_U8] = 0x1p8 - 1,
                                         [HD_I16] = 0x1p15 - 1,
                                         [HD_U16] = 0x1p16 - 1,
                                         [HD_I32] = 0x1p31 - 1,
                                         [HD_U32] = 0x1p32 - 1,
                                         [HD_I64] = 0x1.fffffffffffffp62,
                                         [HD_U64] = 0x1.fffffffffffffp63,
                                         [HD_BOOL] = 1};
    if (t == HD_F32 || t == HD_F64) return v;
    if (isnan(v)) return 0;
    return v < lo[t] ? lo[t] : v > hi[t] ? hi[t] : v;
}

void hd_k_narrow(void *data, hd_dtype t, int64_t first, int64_t count, const double *v) {
    switch (t) {
#define X(id, type)                                                                                \
    case id:                                                                                       \
        for (int64_t i = 0; i < count; i++) ((type *)data)[first + i] = (type)limited(v[i], id);   \
        return;
        NUMBERS(X)
#undef X
    default:
        HD_ASSERT(false);
    }
}

double *hd_k_doubles(const struct hd_kernel *k, int i) {
    const struct hd_tensor *t = hd_k_in(k, i);
    if (!t) return NULL;
    int64_t n = hd_tensor_elems(t);
    double *v = hd_new_array(k->arena, double, (size_t)n + 1);
    hd_k_widen(k->in[i], t->dtype, 0, n, v);
    return v;
}

void hd_k_store(const struct hd_kernel *k, int i, const double *v) {
    const struct hd_tensor *t = hd_k_out_n(k, i);
    if (hd_k_out_data(k, i)) hd_k_narrow(k->outs[i], t->dtype, 0, hd_tensor_elems(t), v);
}
