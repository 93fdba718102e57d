/* Types of tensor elements. */
#ifndef HD_BASE_DTYPE_H
#define HD_BASE_DTYPE_H

#include <stddef.h>

/* name, bytes, ONNX TensorProto.DataType. Types below a byte take a byte for each element: i4 and
 * i2 as i8, u4 and u2 as u8, floats of 4 bits in its low half (runtime/base/small.h). */
#define HD_DTYPE_LIST(X)                                                                           \
    X(F32, "f32", 4, 1)                                                                            \
    X(U8, "u8", 1, 2)                                                                              \
    X(I8, "i8", 1, 3)                                                                              \
    X(U16, "u16", 2, 4)                                                                            \
    X(I16, "i16", 2, 5)                                                                            \
    X(I32, "i32", 4, 6)                                                                            \
    X(I64, "i64", 8, 7)                                                                            \
    X(BOOL, "bool", 1, 9)                                                                          \
    X(F16, "f16", 2, 10)                                                                           \
    X(F64, "f64", 8, 11)                                                                           \
    X(U32, "u32", 4, 12)                                                                           \
    X(U64, "u64", 8, 13)                                                                           \
    X(BF16, "bf16", 2, 16)                                                                         \
    X(F8E4M3FN, "f8e4m3fn", 1, 17)                                                                 \
    X(F8E4M3FNUZ, "f8e4m3fnuz", 1, 18)                                                             \
    X(F8E5M2, "f8e5m2", 1, 19)                                                                     \
    X(F8E5M2FNUZ, "f8e5m2fnuz", 1, 20)                                                             \
    X(U4, "u4", 1, 21)                                                                             \
    X(I4, "i4", 1, 22)                                                                             \
    X(F4E2M1, "f4e2m1", 1, 23)                                                                     \
    X(F8E8M0, "f8e8m0", 1, 24)                                                                     \
    X(U2, "u2", 1, 25)                                                                             \
    X(I2, "i2", 1, 26)

typedef enum hd_dtype {
#define X(id, name, bytes, onnx) HD_##id,
    HD_DTYPE_LIST(X)
#undef X
        HD_DTYPES
} hd_dtype;

const char *hd_dtype_name(hd_dtype t);
size_t hd_dtype_bytes(hd_dtype t);
int hd_dtype_bits(hd_dtype t);    /* of an element in a file: 8 for each byte, less below a byte */
int hd_dtype_from_onnx(int onnx); /* -1 when not supported */
int hd_dtype_to_onnx(hd_dtype t);
int hd_dtype_by_name(const char *name); /* -1 when unknown */
/* The least and the largest value of i8, u8, i16 and u16. */
int hd_dtype_least(hd_dtype t);
int hd_dtype_most(hd_dtype t);

#endif
