/* Legalisation: graph text before and after, for each pattern and for what must stay float. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compiler/compiler.h"
#include "compiler/pass/pass.h"
#include "cpu_ref/golden.h"

/* Scales are powers of two, so that the texts can be read: s1 = 1, s2 = 2, h = 1/2. */
#define SCALES                                                                                     \
    "const s1 f32[] = {1}\nconst s2 f32[] = {2}\nconst h f32[] = {0.5}\nconst z i8[] = "           \
    "{0}\nconst zm i8[] = {-128}\n"                                                                \
    "const zs i16[] = {0}\nconst z3 i8[] = {3}\nconst zu u8[] = {128}\nconst zi i32[] = {0}\n"

struct sample {
    const char *what, *before;
    const char *after; /* the nodes, without names' quotes: lines joined by "; " */
};

static const struct sample samples[] = {
    {"conv with dequantised bias and relu",
     "input x i8[1,1,2,2]\nconst w i8[1,1,1,1] = {5}\nconst b i32[1] = {7}\n"
     "dx ? = dequantize(x, s1, zm)\ndw ? = dequantize(w, h, z)\ndb ? = dequantize(b, h, zi)\n"
     "c ? = conv(dx, dw, db)\nr ? = relu(c)\ny ? = quantize(r, s2, z3)\noutput y",
     "y i8[1,1,2,2] = qconv(x, w, db.i32, w.scale) @c to=\"i8\" y_zp=3 lo=3 hi=127 x_zp=-128"},
    {"conv without bias, clip, uint8 weights around 128",
     "input x i8[1,1,2,2]\nconst w u8[2,1,1,1] = {0,255}\nconst lo f32[] = {-4}\nconst hi f32[] = "
     "{6}\n"
     "dx ? = dequantize(x, s1, z)\ndw ? = dequantize(w, h, zu)\nc ? = conv(dx, dw) pads=[0,0,0,0]\n"
     "r ? = clip(c, lo, hi)\ny ? = quantize(r, s2, z)\noutput y",
     "y i8[1,2,2,2] = qconv(x, w.i8, bias.i32, w.i8.scale) @c to=\"i8\" y_zp=0 lo=-2 hi=3 "
     "pads=[0,0,0,0] x_zp=0"},
    {"int16 in, int16 out, relu",
     "input x i16[1,1,2,2]\nconst w i8[1,1,1,1] = {5}\ndx ? = dequantize(x, s1, zs)\n"
     "dw ? = dequantize(w, h, z)\nc ? = conv(dx, dw)\nr ? = relu(c)\n"
     "y ? = quantize(r, s2, zs)\noutput y",
     "y i16[1,1,2,2] = qconv(x, w, bias.i32, w.scale) @c to=\"i16\" y_zp=0 lo=0 hi=32767 x_zp=0"},
    {"sums of int16 that could leave int32 stay float",
     "input x i16[1,2]\nconst w i8[1,2] = {127,127}\nconst b f32[1] = {1069600000}\n"
     "dx ? = dequantize(x, s1, zs)\ndw ? = dequantize(w, h, z)\n"
     "c ? = gemm(dx, dw, b) transB=1\ny ? = quantize(c, s2, zs)\noutput y",
     "dx f32[1,2] = dequantize(x, s1, zs); dw f32[1,2] = dequantize(w, h, z); "
     "c f32[1,1] = gemm(dx, dw, b) transB=1; y i16[1,1] = quantize(c, s2, zs)"},
    {"int16 and int8 to int8, moved; a table of int16 stays float",
     "input a i16[1,4]\ninput b i8[4,1]\nda ? = dequantize(a, s1, zs)\nta ? = transpose(da) "
     "perm=[1,0]\ndb ? = dequantize(b, s1, z)\nc ? = add(ta, db)\ny ? = quantize(c, s2, z)\n"
     "t ? = tanh(da)\nu ? = quantize(t, s2, zs)\noutput y\noutput u",
     "da f32[1,4] = dequantize(a, s1, zs); t f32[1,4] = tanh(da); u i16[1,4] = quantize(t, s2, "
     "zs); ta.q i16[4,1] = reshape(a) @ta shape=[4,1]; y i8[4,1] = qadd(ta.q, b) @c to=\"i8\" "
     "y_zp=0 lo=-128 hi=127 a_zp=0 b_zp=0 a_scale=0x1p-1 b_scale=0x1p-1"},
    {"transposed conv in groups, output_shape, relu",
     "input x i8[1,2,3]\nconst w i8[2,2,2] = {1,2,3,4,5,6,7,8}\n"
     "dx ? = dequantize(x, s1, z)\ndw ? = dequantize(w, h, z)\n"
     "c ? = convtranspose(dx, dw) group=2 strides=[2] output_shape=[7]\n"
     "r ? = relu(c)\ny ? = quantize(r, s2, z3)\noutput y",
     "y i8[1,4,7] = qconvtranspose(x, w.turned, bias.i32, w.turned.scale) @c to=\"i8\" y_zp=3 lo=3 "
     "hi=127 kernel_shape=[2] strides=[2] dilations=[1] pads=[0,0] output_padding=[1] group=2 "
     "x_zp=0"},
    {"mean over channels and width is a convolution by ones",
     "input x i8[1,3,2,2]\nconst axes i64[2] = {1,-1}\ndx ? = dequantize(x, s1, z3)\n"
     "m ? = reducemean(dx, axes)\ny ? = quantize(m, s2, z)\noutput y",
     "y i8[1,1,2,1] = qconv(x, ones, bias.i32, ones.scale) @m to=\"i8\" y_zp=0 lo=-128 hi=127 "
     "kernel_shape=[1,2] group=1 x_zp=3"},
    {"sum of rows is a product with ones",
     "input x i8[2,4,3]\nconst axes i64[1] = {2}\ndx ? = dequantize(x, s1, z3)\n"
     "m ? = reducesum(dx, axes) keepdims=0\ny ? = quantize(m, s2, z)\noutput y",
     "m.rows.q i8[8,3] = reshape(x) @m.rows shape=[8,3]; m.window.q i8[8,1] = qgemm(m.rows.q, "
     "ones.i8, bias.i32, ones.i8.scale) @m to=\"i8\" y_zp=0 lo=-128 hi=127 x_zp=3; y i8[2,4] = "
     "reshape(m.window.q) @m_6 shape=[2,4]"},
    {"largest of each plane is a pool",
     "input x i8[1,3,2,4]\nconst axes i64[2] = {2,3}\ndx ? = dequantize(x, s1, z3)\n"
     "m ? = reducemax(dx, axes)\ny ? = quantize(m, s1, z3)\noutput y",
     "y i8[1,3,1,1] = qmaxpool(x) @m kernel_shape=[2,4]"},
    {"product with one number per channel",
     "input a i8[1,3,2,2]\ninput b i8[3,1,1]\nda ? = dequantize(a, s1, z3)\n"
     "db ? = dequantize(b, h, z)\np ? = mul(da, db)\ny ? = quantize(p, s2, z)\noutput y",
     "b.rank i8[1,3,1,1] = reshape(b) shape=[1,3,1,1]; y i8[1,3,2,2] = qmul(a, b.rank) @p "
     "to=\"i8\" y_zp=0 lo=-128 hi=127 a_zp=3 b_zp=0 scale=0x1p-2"},
    {"product with one number per pixel, which is copied to all channels",
     "input a i8[1,3,2,2]\ninput b i8[1,1,2,2]\nda ? = dequantize(a, s1, z3)\n"
     "db ? = dequantize(b, h, z)\np ? = mul(da, db)\ny ? = quantize(p, s2, z)\noutput y",
     "b.copies i8[1,3,2,2] = qconv(b, ones, zeros, one) to=\"i8\" x_zp=0 y_zp=0 lo=-128 hi=127; y "
     "i8[1,3,2,2] = qmul(a, b.copies) @p to=\"i8\" y_zp=0 lo=-128 hi=127 a_zp=3 b_zp=0 "
     "scale=0x1p-2"},
    {"gemm behind a flatten of dequantised values",
     "input x i8[1,2,1,1]\nconst w i8[2,3] = {1,2,3,4,5,6}\ndx ? = dequantize(x, s1, z)\n"
     "f ? = reshape(dx) shape=[1,2]\ndw ? = dequantize(w, h, z)\nm ? = gemm(f, dw)\ny ? = "
     "quantize(m, s1, z)\noutput y",
     "f.q i8[1,2] = reshape(x) @f shape=[1,2]; "
     "y i8[1,3] = qgemm(f.q, w.i8, bias.i32, w.i8.scale) @m to=\"i8\" y_zp=0 lo=-128 hi=127 "
     "x_zp=0"},
    {"matmul plus float bias, rank 3",
     "input x i8[2,1,2]\nconst w i8[2,1] = {1,2}\nconst b f32[1] = {0.5}\ndx ? = dequantize(x, s1, "
     "z)\n"
     "dw ? = dequantize(w, h, z)\nm ? = matmul(dx, dw)\na ? = add(b, m)\ny ? = quantize(a, s1, "
     "z)\noutput y",
     "x.rows i8[2,2] = reshape(x) shape=[2,2]; "
     "y.rows i8[2,1] = qgemm(x.rows, w.i8, b.i32, w.i8.scale) @m to=\"i8\" y_zp=0 lo=-128 hi=127 "
     "x_zp=0; "
     "y i8[2,1,1] = reshape(y.rows) shape=[2,1,1]"},
    {"add of two, relu",
     "input a i8[2]\ninput b i8[2]\nda ? = dequantize(a, s1, z3)\ndb ? = dequantize(b, h, z)\ns ? "
     "= add(da, db)\n"
     "r ? = relu(s)\ny ? = quantize(r, s2, zm)\noutput y",
     "y i8[2] = qadd(a, b) @s to=\"i8\" y_zp=-128 lo=-128 hi=127 a_zp=3 b_zp=0 a_scale=0x1p-1 "
     "b_scale=0x1p-2"},
    {"difference of two: a sum with a negative scale",
     "input a i8[2]\ninput b i8[2]\nda ? = dequantize(a, s1, z3)\ndb ? = dequantize(b, h, z)\np ? "
     "= sub(da, db)\ny ? = quantize(p, s2, zm)\noutput y",
     "y i8[2] = qadd(a, b) @p to=\"i8\" y_zp=-128 lo=-128 hi=127 a_zp=3 b_zp=0 a_scale=0x1p-1 "
     "b_scale=-0x1p-2"},
    {"product of two",
     "input a i8[2]\ninput b i8[2]\nda ? = dequantize(a, s1, z3)\ndb ? = dequantize(b, h, z)\np ? "
     "= mul(da, db)\ny ? = quantize(p, s2, zm)\noutput y",
     "y i8[2] = qmul(a, b) @p to=\"i8\" y_zp=-128 lo=-128 hi=127 a_zp=3 b_zp=0 scale=0x1p-2"},
    {"quotient of two",
     "input a i8[2]\ninput b i8[2]\nda ? = dequantize(a, s1, z3)\ndb ? = dequantize(b, h, z)\np ? "
     "= div(da, db)\ny ? = quantize(p, s2, zm)\noutput y",
     "y i8[2] = qdiv(a, b) @p to=\"i8\" y_zp=-128 lo=-128 hi=127 a_zp=3 b_zp=0 scale=0x1p+0"},
    {"average pool over the whole image",
     "input x i8[1,1,2,2]\ndx ? = dequantize(x, s1, z3)\np ? = avgpool(dx) kernel_shape=[2,2]\n"
     "y ? = quantize(p, h, z)\noutput y",
     "y i8[1,1,1,1] = qmean(x) @p to=\"i8\" y_zp=0 lo=-128 hi=127 x_zp=3 x_scale=0x1p+0 "
     "scale=0x1p-1"},
    {"the same where no mean is a tie: sums of integers",
     "input x i8[1,1,2,2]\nconst ys f32[] = {0.1}\ndx ? = dequantize(x, s2, z3)\n"
     "p ? = avgpool(dx) kernel_shape=[2,2]\ny ? = quantize(p, ys, z)\noutput y",
     "y i8[1,1,1,1] = qmean(x) @p to=\"i8\" y_zp=0 lo=-128 hi=127 x_zp=3 x_scale=0x1p+0 "
     "scale=0x1.4p+2"},
    {"the same of scales that allow a tie",
     "input x i8[1,1,2,2]\nconst xs f32[] = {0.75}\nconst ys f32[] = {1.25}\n"
     "dx ? = dequantize(x, xs, z3)\np ? = avgpool(dx) kernel_shape=[2,2]\n"
     "y ? = quantize(p, ys, z)\noutput y",
     "y i8[1,1,1,1] = qmean(x) @p to=\"i8\" y_zp=0 lo=-128 hi=127 x_zp=3 x_scale=0x1.8p-1 "
     "scale=0x1.99999ap-3"},
    {"average pool over a whole signal",
     "input x i8[1,2,6]\ndx ? = dequantize(x, s1, z3)\np ? = avgpool(dx) kernel_shape=[6]\n"
     "y ? = quantize(p, h, z)\noutput y",
     "x_14 i8[1,2,1,6] = reshape(x) shape=[1,2,1,6]; "
     "y_13 i8[1,2,1,1] = qmean(x_14) @p to=\"i8\" y_zp=0 lo=-128 hi=127 x_zp=3 x_scale=0x1p+0 "
     "scale=0x1.555556p-2; "
     "y i8[1,2,1] = reshape(y_13) @y_5 shape=[1,2,1]"},
    {"average pool over parts of the image",
     "input x i8[1,1,2,4]\ndx ? = dequantize(x, s1, z3)\np ? = avgpool(dx) kernel_shape=[2,2] "
     "strides=[2,2]\n"
     "y ? = quantize(p, h, z)\noutput y",
     "y i8[1,1,1,2] = qavgpool(x) @p to=\"i8\" y_zp=0 lo=-128 hi=127 kernel_shape=[2,2] "
     "strides=[2,2] x_zp=3 "
     "scale=0x1p-1"},
    {"linear resize",
     "input x i8[1,1,2]\nconst sc f32[3] = {1,1,2}\ndx ? = dequantize(x, s1, z3)\n"
     "r ? = resize(dx, -, sc) mode=\"linear\"\ny ? = quantize(r, h, z)\noutput y",
     "y i8[1,1,4] = qresize(x, resize.at, resize.by, resize.at_16, resize.by_17) @r to=\"i8\" "
     "y_zp=0 "
     "lo=-128 hi=127 x_zp=3"},
    {"average pool with padding",
     "input x i8[1,1,2,2]\ndx ? = dequantize(x, s1, z3)\np ? = avgpool(dx) kernel_shape=[2,2] "
     "pads=[1,1,0,0]\n"
     "y ? = quantize(p, h, z)\noutput y",
     "y i8[1,1,2,2] = qavgpool(x) @p to=\"i8\" y_zp=0 lo=-128 hi=127 kernel_shape=[2,2] "
     "pads=[1,1,0,0] x_zp=3 scale=0x1p-1"},
    {"max pool, transpose: the movement is done on integers, equal parameters vanish",
     "input x i8[1,1,2,2]\ndx ? = dequantize(x, s1, z)\np ? = maxpool(dx) kernel_shape=[2,2] "
     "pads=[1,1,0,0]\n"
     "t ? = transpose(p) perm=[0,2,3,1]\nq ? = quantize(t, s1, z)\ndq ? = dequantize(q, s1, z)\ny "
     "? = quantize(dq, h, z)\n"
     "output y",
     "p.q i8[1,1,2,2] = qmaxpool(x) @p kernel_shape=[2,2] pads=[1,1,0,0]; "
     "y_19 i8[1,1,2,2] = qrescale(p.q) @y to=\"i8\" y_zp=0 lo=-128 hi=127 x_zp=0 scale=0x1p+1; "
     "y i8[1,2,2,1] = reshape(y_19) @y_12 shape=[1,2,2,1]"},
    {"concat: each part is rescaled on its own",
     "input a i8[1,1]\ninput b i8[1,2]\nda ? = dequantize(a, s1, z)\ndb ? = dequantize(b, s2, z)\n"
     "c ? = concat(da, db) axis=1\ny ? = quantize(c, s1, z)\noutput y",
     "db.q i8[1,2] = qrescale(b) to=\"i8\" y_zp=0 lo=-128 hi=127 x_zp=0 scale=0x1p+1; "
     "y i8[1,3] = concat(a, db.q) @c axis=1"},
    {"pad: its border is the zero point, or the value's integer when a quantize follows",
     "input x i8[2]\nconst p i64[2] = {1,0}\nconst v f32[] = {0.25}\ndx ? = dequantize(x, s1, z3)\n"
     "a ? = pad(dx, p)\nt ? = exp(a)\nb ? = pad(dx, p, v)\ny ? = quantize(b, s1, z3)\noutput t\n"
     "output y",
     "a.q i8[3] = pad(x, p, a.border) @a; a f32[3] = dequantize(a.q, s1, z3) @dx_6; "
     "t f32[3] = exp(a); y i8[3] = pad(x, p, b.border) @b"},
    {"slice, and both results of a split",
     "input x i8[4]\nconst s i64[1] = {1}\nconst e i64[1] = {3}\ndx ? = dequantize(x, s1, z)\n"
     "a ? = slice(dx, s, e)\nb ?, c ? = split(a)\nr ? = relu(b)\ny ? = quantize(r, s1, z)\n"
     "w ? = quantize(c, s2, z)\noutput y\noutput w",
     "a.q i8[2] = slice(x, s, e) @a; b.q i8[1], c.q i8[1] = split(a.q) @b; y i8[1] = qrescale(b.q) "
     "to=\"i8\" y_zp=0 lo=0 hi=127 x_zp=0 scale=0x1p+0; w i8[1] = qrescale(c.q) to=\"i8\" y_zp=0 "
     "lo=-128 hi=127 x_zp=0 scale=0x1p-1"},
    {"nearest resize",
     "input x u8[1,1,1,2]\nconst f f32[4] = {1,1,2,2}\ndx ? = dequantize(x, s1, "
     "zu)\na ? = resize(dx, -, f) mode=\"nearest\"\ny ? = quantize(a, s1, zu)\noutput y",
     "a.q u8[1,1,2,4] = resize(x, -, f) @a mode=\"nearest\"; y u8[1,1,2,4] = qrescale(a.q) "
     "to=\"u8\" y_zp=128 lo=0 hi=255 x_zp=128 scale=0x1p+0"},
    {"x * sigmoid(x) is a table",
     "input x i8[2]\ndx ? = dequantize(x, s1, z)\ns ? = sigmoid(dx)\n"
     "m ? = mul(s, dx)\nr ? = relu(m)\ny ? = quantize(r, s1, z)\noutput y",
     "y i8[2] = qtable(x, r.table) @r"},
    {"a product of two tensors: constant factors go into the scale, uint8 becomes int8",
     "input a i8[2,3]\ninput b u8[3,4]\nconst c f32[] = {0.5}\nda ? = dequantize(a, s1, z3)\n"
     "db ? = dequantize(b, s2, zu)\nm ? = matmul(da, db)\nd ? = div(m, c)\nr ? = relu(d)\n"
     "y ? = quantize(r, s1, z)\noutput y",
     "b.i8 i8[3,4] = qrescale(b) to=\"i8\" x_zp=128; "
     "y i8[2,4] = qmatmul(a, b.i8) @m to=\"i8\" y_zp=0 lo=0 hi=127 a_zp=3 b_zp=0 scale=0x1p+2"},
    {"a gemm of two tensors",
     "input a i8[2,3]\ninput b i8[4,3]\nda ? = dequantize(a, s1, z)\ndb ? = dequantize(b, s1, z)\n"
     "m ? = gemm(da, db) transB=1\ny ? = quantize(m, s1, z)\noutput y",
     "b.t i8[3,4] = transpose(b) perm=[1,0]; "
     "y i8[2,4] = qmatmul(a, b.t) @m to=\"i8\" y_zp=0 lo=-128 hi=127 a_zp=0 b_zp=0 scale=0x1p+0"},
    {"softmax for products only: unsigned, zero point 0",
     "input x i8[2,3]\ninput v i8[3,2]\nconst h8 f32[] = {0x1p-8}\n"
     "dx ? = dequantize(x, s1, z)\np ? = softmax(dx) axis=-1\nq ? = quantize(p, h8, zm)\n"
     "dq ? = dequantize(q, h8, zm)\ndv ? = dequantize(v, s1, z)\nm ? = matmul(dq, dv)\n"
     "y ? = quantize(m, s1, z)\noutput y",
     "q u8[2,3] = qsoftmax(x) @p to=\"u8\" y_zp=0 lo=0 hi=255 axis=1 x_scale=0x1p+0 scale=0x1p+8; "
     "y i8[2,2] = qmatmul(q, v) @m to=\"i8\" y_zp=0 lo=-128 hi=127 a_zp=0 b_zp=0 scale=0x1p-8"},
    {"the same in another shape",
     "input x i8[1,2,3]\ninput v i8[3,2]\nconst h8 f32[] = {0x1p-8}\nconst d i64[2] = {2,3}\n"
     "dx ? = dequantize(x, s1, z)\np ? = softmax(dx) axis=-1\nq ? = quantize(p, h8, zm)\n"
     "r ? = reshape(q, d)\ndr ? = dequantize(r, h8, zm)\ndv ? = dequantize(v, s1, z)\n"
     "m ? = matmul(dr, dv)\ny ? = quantize(m, s1, z)\noutput y",
     "q u8[1,2,3] = qsoftmax(x) @p to=\"u8\" y_zp=0 lo=0 hi=255 axis=2 x_scale=0x1p+0 "
     "scale=0x1p+8; r u8[2,3] = reshape(q, d); "
     "y i8[2,2] = qmatmul(r, v) @m to=\"i8\" y_zp=0 lo=-128 hi=127 a_zp=0 b_zp=0 scale=0x1p-8"},
    {"softmax in another shape that something else reads, too: signed",
     "input x i8[1,2,3]\ninput v i8[3,2]\nconst h8 f32[] = {0x1p-8}\nconst d i64[2] = {2,3}\n"
     "dx ? = dequantize(x, s1, z)\np ? = softmax(dx) axis=-1\nq ? = quantize(p, h8, zm)\n"
     "r ? = reshape(q, d)\ndr ? = dequantize(r, h8, zm)\ndv ? = dequantize(v, s1, z)\n"
     "m ? = matmul(dr, dv)\ny ? = quantize(m, s1, z)\noutput y\noutput r",
     "q i8[1,2,3] = qsoftmax(x) @p to=\"i8\" y_zp=-128 lo=-128 hi=127 axis=2 x_scale=0x1p+0 "
     "scale=0x1p+8; r i8[2,3] = reshape(q, d); "
     "y i8[2,2] = qmatmul(r, v) @m to=\"i8\" y_zp=0 lo=-128 hi=127 a_zp=-128 b_zp=0 "
     "scale=0x1p-8"},
    {"layer norm: scale and bias in steps of the result, epsilon in those of the operand",
     "input x i8[2,2]\nconst w f32[2] = {1,2}\nconst b f32[2] = {0.5,-1}\n"
     "dx ? = dequantize(x, s1, z3)\nn ? = layernorm(dx, w, b) axis=1 epsilon=1.0\n"
     "y ? = quantize(n, s1, z3)\noutput y",
     "y i8[2,2] = qlayernorm(x, w.steps, b.steps) @n to=\"i8\" y_zp=3 lo=-128 hi=127 "
     "epsilon=0x1p+0"},
    {"a function of two tensors stays float",
     "input a i8[2]\ninput b i8[2]\nda ? = dequantize(a, s1, z)\ndb ? = dequantize(b, s1, z)\n"
     "m ? = pow(da, db)\ny ? = quantize(m, s1, z)\noutput y",
     "da f32[2] = dequantize(a, s1, z); db f32[2] = dequantize(b, s1, z); m f32[2] = pow(da, db); "
     "y i8[2] = quantize(m, s1, z)"},
    {"one dequantize read by two, one branch float",
     "input x i8[2]\ndx ? = dequantize(x, s1, z)\nr ? = relu(dx)\ny ? = quantize(r, s1, z)\nt ? = "
     "tanh(dx)\n"
     "output y\noutput t",
     "dx f32[2] = dequantize(x, s1, z); t f32[2] = tanh(dx); "
     "y i8[2] = qrescale(x) to=\"i8\" y_zp=0 lo=0 hi=127 x_zp=0 scale=0x1p+0"},
    {"weights that are not constant stay float",
     "input x i8[1,1,1,1]\ninput w i8[1,1,1,1]\ndx ? = dequantize(x, s1, z)\ndw ? = dequantize(w, "
     "h, z)\n"
     "c ? = conv(dx, dw)\ny ? = quantize(c, s1, z)\noutput y",
     "dx f32[1,1,1,1] = dequantize(x, s1, z); dw f32[1,1,1,1] = dequantize(w, h, z); "
     "c f32[1,1,1,1] = conv(dx, dw); y i8[1,1,1,1] = quantize(c, s1, z)"},
    {"gemm with alpha stays float",
     "input x i8[1,1]\nconst w i8[1,1] = {1}\ndx ? = dequantize(x, s1, z)\ndw ? = dequantize(w, h, "
     "z)\n"
     "c ? = gemm(dx, dw) alpha=0x1p+1\ny ? = quantize(c, s1, z)\noutput y",
     "dx f32[1,1] = dequantize(x, s1, z); dw f32[1,1] = dequantize(w, h, z); "
     "c f32[1,1] = gemm(dx, dw) alpha=0x1p+1; y i8[1,1] = quantize(c, s1, z)"},
    {"identity and cast clutter, on scales too",
     "input x u8[1]\ni ? = identity(s1)\nk ? = cast(x) to=\"u8\"\ndx ? = dequantize(k, i, zu)\no ? "
     "= identity(dx)\n"
     "output o",
     "o f32[1] = dequantize(x, i, zu) @dx"},
};

/* The node lines of the printed graph, joined. */
static void nodes_of(hd_ctx *ctx, const hd_graph *g, char *out, size_t bytes) {
    char *text, *save = NULL;
    size_t n, used = 0;
    FILE *f = open_memstream(&text, &n);
    assert_int_equal(hd_graph_print(ctx, g, false, f), HD_OK);
    fclose(f);
    out[0] = 0;
    for (char *l = strtok_r(text, "\n", &save); l; l = strtok_r(NULL, "\n", &save))
        if (!strncmp(l, "  ", 2) && strchr(l, '(') && strncmp(l, "  const", 7))
            used += (size_t)snprintf(out + used, bytes - used, "%s%s", used ? "; " : "", l + 2);
    free(text);
}

static void patterns(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        char text[2048], got[2048];
        hd_graph *g;
        hd_clear(ctx);
        snprintf(text, sizeof text, "graph g {\n" SCALES "%s\n}", samples[i].before);
        if (hd_graph_parse(ctx, text, "before", &g) != HD_OK || hd_legalize(ctx, g) != HD_OK)
            fail_msg("%s: %s", samples[i].what, hd_message(ctx));
        nodes_of(ctx, g, got, sizeof got);
        if (strcmp(got, samples[i].after))
            fail_msg("%s:\n got %s\nwant %s", samples[i].what, got, samples[i].after);
        hd_graph_destroy(g);
    }
    hd_ctx_destroy(ctx);
}

/* Value i of a constant of the graph, by name. */
static double value(const hd_graph *g, const char *name, int i) {
    int t = hd_tensor_by_name(g, name);
    assert_true(t >= 0 && g->tensors[t].data);
    const void *p = g->tensors[t].data;
    switch (g->tensors[t].dtype) {
    case HD_I8:
        return ((const int8_t *)p)[i];
    case HD_I16:
        return ((const int16_t *)p)[i];
    case HD_I32:
        return ((const int32_t *)p)[i];
    default:
        return (double)((const float *)p)[i];
    }
}

static hd_graph *legalized(hd_ctx *ctx, const char *body) {
    char text[2048];
    hd_graph *g;
    snprintf(text, sizeof text, "graph g {\n" SCALES "%s\n}", body);
    if (hd_graph_parse(ctx, text, "t", &g) != HD_OK || hd_legalize(ctx, g) != HD_OK)
        fail_msg("%s", hd_message(ctx));
    return g;
}

static void constants_are_what_numerics_says(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    /* w - 128; bias rint(0.75 / (1 * 0.5)) = rint(1.5) = 2 and rint(-0.25 / 0.5) = rint(-0.5) = 0
     */
    hd_graph *g = legalized(
        ctx, "input x i8[1,1,1,1]\nconst w u8[2,1,1,1] = {0,255}\nconst b f32[2] = {0.75,-0.25}\n"
             "dx ? = dequantize(x, s1, z)\ndw ? = dequantize(w, h, zu)\nc ? = conv(dx, dw, b)\n"
             "y ? = quantize(c, s2, z)\noutput y");
    const char *w8 = g->tensors[g->nodes[g->tensors[g->outputs[0]].producer].in[1]].name;
    assert_true(value(g, w8, 0) == -128 && value(g, w8, 1) == 127);
    assert_true(value(g, "b.i32", 0) == 2 && value(g, "b.i32", 1) == 0);
    hd_graph_destroy(g);
    /* zero point 100: 0 - 100 .. 255 - 100 = 155 does not fit int8, so int16 on the host */
    g = legalized(
        ctx,
        "input x i8[1,2]\nconst w u8[2,2] = {0,255,1,2}\nconst zw u8[] = {100}\ndx ? = "
        "dequantize(x, s1, z)\n"
        "dw ? = dequantize(w, h, zw)\nc ? = matmul(dx, dw)\ny ? = quantize(c, s2, z)\noutput y");
    const struct hd_node *q = &g->nodes[g->tensors[g->outputs[0]].producer];
    assert_int_equal(q->op, HD_IR_qgemm);
    assert_int_equal(g->tensors[q->in[1]].dtype, HD_I16);
    const int16_t *w = g->tensors[q->in[1]].data; /* [N,K]: transposed */
    assert_true(w[0] == -100 && w[1] == -99 && w[2] == 155 && w[3] == -98);
    assert_true(((const float *)g->tensors[q->in[3]].data)[0] == 0.25f); /* (1 * 0.5) / 2 */
    hd_graph_destroy(g);
    hd_ctx_destroy(ctx);
}

/* Per-channel weights: scales and biases follow the channel. A bias scale off by more than 1e-3 is
 * rescaled. */
static void channels_have_their_own_scale(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    hd_graph *g = legalized(
        ctx, "input x i8[1,2]\nconst w i8[2,2] = {1,2,3,4}\nconst ws f32[2] = {0.5,0.25}\n"
             "const wz i8[2] = {0,0}\nconst b i32[2] = {10,-3}\nconst bs f32[2] = {0.5,0.5}\n"
             "const bz i32[2] = {0,0}\ndx ? = dequantize(x, s2, z)\ndw ? = dequantize(w, ws, wz) "
             "axis=0\n"
             "db ? = dequantize(b, bs, bz) axis=0\nc ? = gemm(dx, dw, db) transB=1\n"
             "y ? = quantize(c, s1, z)\noutput y");
    const struct hd_node *q = &g->nodes[g->tensors[g->outputs[0]].producer];
    const int32_t *b = g->tensors[q->in[2]].data;
    const float *s = g->tensors[q->in[3]].data;
    assert_true(s[0] == 1.0f && s[1] == 0.5f);
    assert_int_equal(b[0], 5);  /* 10 * 0.5 / (2 * 0.5) */
    assert_int_equal(b[1], -3); /* scales agree: 2 * 0.25 = 0.5 */
    hd_graph_destroy(g);
    hd_ctx_destroy(ctx);
}

static void unknown_pass_is_refused(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    hd_graph *g = hd_graph_create();
    assert_int_equal(hd_opt_pass(ctx, g, "magic"), HD_INVALID);
    assert_non_null(strstr(hd_message(ctx), "allowed legalize, complete, prepare, axes, fold, "));
    hd_graph_destroy(g);
    hd_ctx_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns),
        cmocka_unit_test(constants_are_what_numerics_says),
        cmocka_unit_test(channels_have_their_own_scale),
        cmocka_unit_test(unknown_pass_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
