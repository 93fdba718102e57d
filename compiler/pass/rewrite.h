/* Private to compiler/pass: what the rows of patterns.def do. Each returns the tensor to be read
 * instead of the root's result, or -1. */
#ifndef HD_PASS_REWRITE_H
#define HD_PASS_REWRITE_H

#include "compiler/pass/pattern.h"

hd_rewrite hd_rw_operand;         /* x */
hd_rewrite hd_rw_expression;      /* the operation that a custom one is */
hd_rewrite hd_rw_square;          /* x * x, of floats */
hd_rewrite hd_rw_cast_cast;       /* one cast, when m holds every value of x */
hd_rewrite hd_rw_reshape;         /* x in the shape of the result */
hd_rewrite hd_rw_transpose_twice; /* one transpose, or x */
hd_rewrite hd_rw_transpose_ones;  /* dimensions of 1 alone move: a reshape */
hd_rewrite hd_rw_turned_pad;      /* the border of x, behind the reshape of ones */
hd_rewrite hd_rw_padded;          /* root's window takes the border that p puts around x */
hd_rewrite hd_rw_sink;            /* root's operation on x (and y), then transpose or reshape t */
hd_rewrite hd_rw_layernorm;       /* x, [s, [b]] over the last dimensions */
hd_rewrite hd_rw_rmsnorm;         /* x, [s] over the last dimension, without the mean */
hd_rewrite hd_rw_l2norm;          /* of x along $a, or the root's axis; [e] keeps it from 0 */
hd_rewrite hd_rw_apart;           /* x f + (b - m f), m = mean x, as (x - m) f + b */
hd_rewrite hd_rw_deviation;       /* x / y or x y, y made of x's deviation, or its reciprocal */
hd_rewrite hd_rw_norm_affine;     /* a constant factor or summand f of a norm n, in it */
hd_rewrite hd_rw_log_softmax;     /* of x, as p */
hd_rewrite hd_rw_gelu;            /* of x; t: by tanh */
hd_rewrite hd_rw_softmax;         /* of x along $a */
hd_rewrite hd_rw_einsum;          /* of two operands: a matmul, with what moves values around it */
hd_rewrite hd_rw_weights_right;   /* w x, as the transposed product of both transposed */
hd_rewrite hd_rw_weights_flat;    /* x w, weights of one batch as a matrix */
hd_rewrite hd_rw_batchnorm;       /* new w and bias for node y */
hd_rewrite hd_rw_integer;         /* i as a float product of what is dequantised, [bias], when it is
                                     quantised again */
hd_rewrite hd_rw_dynamic;         /* i as a float product of what was quantised to d */
hd_rewrite hd_rw_attention;       /* marks the root: attention="plain" or "masked" */

/* All attributes of node `from`, for node `to`. */
void hd_pass_copy_attrs(hd_graph *g, int to, int from);

#endif
