/* Memory of a plan on its device. */
#ifndef HD_GPU_REF_GPU_MEMORY_H
#define HD_GPU_REF_GPU_MEMORY_H

#include "gpu_ref/gpu_plan.h"

/* Places temporaries by when they live, and weights, takes the memory and writes the weights.
 * HD_NOMEM says what is needed and what there is. */
hd_status hd_gpu_memory_plan(struct hd_gpu_plan *p);
void hd_gpu_memory_free(struct hd_gpu_plan *p);

#endif
