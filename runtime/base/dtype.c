/* Names and sizes of the types of elements. */
#include "runtime/base/dtype.h"

#include <string.h>

static const struct {
    const char *name;
    size_t bytes;
    int onnx;
} dtypes[HD_DTYPES] = {
#define X(id, name, bytes, onnx) [HD_##id] = {name, bytes, onnx},
    HD_DTYPE_LIST(X)
#undef X
};

const char *hd_dtype_name(hd_dtype t) {
    return (unsigned)t < HD_DTYPES ? dtypes[t].name : "?";
}

size_t hd_dtype_bytes(hd_dtype t) {
    return (unsigned)t < HD_DTYPES ? dtypes[t].bytes : 0;
}

int hd_dtype_bits(hd_dtype t) {
    if (t == HD_U4 || t == HD_I4 || t == HD_F4E2M1) return 4;
    return t == HD_U2 || t == HD_I2 ? 2 : (int)hd_dtype_bytes(t) * 8;
}

int hd_dtype_least(hd_dtype t) {
    return t == HD_I8 ? -128 : t == HD_I16 ? -32768 : 0;
}

int hd_dtype_most(hd_dtype t) {
    return hd_dtype_least(t) + (hd_dtype_bytes(t) == 1 ? 255 : 65535);
}

int hd_dtype_from_onnx(int onnx) {
    for (int i = 0; i < HD_DTYPES; i++)
        if (dtypes[i].onnx == onnx) return i;
    return -1;
}

int hd_dtype_to_onnx(hd_dtype t) {
    return (unsigned)t < HD_DTYPES ? dtypes[t].onnx : 0;
}

int hd_dtype_by_name(const char *name) {
    for (int i = 0; name && i < HD_DTYPES; i++)
        if (!strcmp(dtypes[i].name, name)) return i;
    return -1;
}
