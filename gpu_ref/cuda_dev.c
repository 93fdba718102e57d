/* Device cuda. */
#include "gpu_ref/gpu_dev.h"

static const char *no_peers(void) {
    return hd_gpu_cuda.no_peers();
}

static hd_status peers_id(hd_ctx *ctx, void *out) {
    return hd_gpu_cuda.peers_id(ctx, out);
}

static const struct hd_peers_ops peers = {
    .why_not = no_peers, .id = peers_id, .join = hd_gpu_dev_join, .gather = hd_gpu_dev_gather};

HD_GPU_DEVICE(cuda, "kernels on a GPU, by CUDA", &peers);
