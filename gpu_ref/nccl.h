/* Moves of memory between GPUs by NVIDIA's NCCL, which is optional: opened by dlopen, its symbols
 * stay its own. Moves alone: they change no bit. Sums are not NCCL's, which adds in an order that
 * depends on the number of GPUs. Calls need the GPU's context to be current. */
#ifndef HD_GPU_REF_NCCL_H
#define HD_GPU_REF_NCCL_H

#include <stdint.h>

#include "gpu_ref/gpu.h"

struct hd_nccl; /* a group of processes, each with a GPU of its own */

struct hd_nccl_move { /* to: room for `bytes` of each, in their order */
    uint64_t from, to;
    size_t bytes;
};

/* NULL: the library is here. Else the reason. HEDDLE_CUDA_LIBRARIES may leave it out. */
const char *hd_nccl_why_not(void);
/* HD_PEERS_ID bytes that name a new group: one process makes them, all open with them. */
hd_status hd_nccl_id(hd_ctx *ctx, void *out);
/* All of the group's processes at once, 0 <= me < n. HD_DEVICE: two of them have the same GPU, say.
 */
hd_status hd_nccl_open(hd_ctx *ctx, const void *id, int me, int n, struct hd_nccl **out);
void hd_nccl_close(struct hd_nccl *c); /* NULL is fine */
/* What was enqueued has not arrived: closing waits for nobody. */
void hd_nccl_break(struct hd_nccl *c);
/* Enqueues. All of the group call with the same sizes in the same order. */
hd_status hd_nccl_gather(hd_ctx *ctx, struct hd_nccl *c, const struct hd_nccl_move *move, int n,
                         void *stream);

#endif
