/* Where elements of a plan's tensors lie. A device with matrix instructions of bytes wants the
 * reduced range last in memory: images of bytes have their channels last, and weights the dimension
 * that products reduce. Kernels made of expressions follow (hd_expr_permute); tensors that others
 * read or write, and those of the caller, lie as ONNX says. */
#ifndef HD_GPU_REF_GPU_LAYOUT_H
#define HD_GPU_REF_GPU_LAYOUT_H

#include "compiler/expr/expr.h"
#include "gpu_ref/gpu_plan.h"

/* Fills p->channels_last. */
void hd_gpu_layout(struct hd_gpu_plan *p);
/* f takes and gives tensors as they lie. operand: the graph's tensor of each parameter, -1 = none;
 * result likewise. */
void hd_gpu_lay_out(const struct hd_gpu_plan *p, struct hd_expr *f, const int *operand,
                    const int *result, int n_results);
/* The same for constant factors of sums of products, behind hd_expr_split_sums. dimension_last[i]:
 * what lies last now of parameter i, -1 = it lies as it is. */
void hd_gpu_lay_out_weights(struct hd_gpu_plan *p, struct hd_expr *f, const int *operand,
                            int *dimension_last);
/* A tensor's elements with the dimension last, or back from there. */
void hd_gpu_reorder(const struct hd_tensor *t, int dimension, bool back, const void *from,
                    void *to);

#endif
