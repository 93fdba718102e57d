/* What step makers share whose work a library of the GPU's vendor does: gpu_product.c,
 * gpu_convolution.c. */
#ifndef HD_GPU_REF_GPU_LIBRARY_H
#define HD_GPU_REF_GPU_LIBRARY_H

#include "gpu_ref/gpu_plan.h"

enum { HD_GPU_LIBRARY_NODES = 4, HD_GPU_LIBRARY_OPERANDS = 4 };

/* Smaller ones are kernels of ours: a call costs more than it saves. */
enum { HD_GPU_LIBRARY_MACS = 1 << 20 };

struct hd_gpu_library_work {           /* a node and those behind it, as one call of a library */
    int n, node[HD_GPU_LIBRARY_NODES]; /* the last one's result is the call's */
    int n_in, in[HD_GPU_LIBRARY_OPERANDS]; /* views */
};

/* The node of this operation that alone reads the tensor; -1 = none. */
int hd_gpu_sole_reader(const struct hd_gpu_plan *p, int tensor, enum hd_ir_op op);
/* The step. name: the library's. The plan owns the call then. */
void hd_gpu_library_step(struct hd_gpu_plan *p, const struct hd_gpu_library_work *w,
                         const char *name, const struct hd_gpu_library_facts *facts,
                         hd_gpu_library *library);

#endif
