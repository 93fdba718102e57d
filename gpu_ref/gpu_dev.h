/* The device table of a GPU, for any driver: everything but probe and open, which know which. */
#ifndef HD_GPU_REF_GPU_DEV_H
#define HD_GPU_REF_GPU_DEV_H

#include "gpu_ref/gpu.h"
#include "runtime/device/hal.h"

hd_status hd_gpu_dev_probe(const struct hd_gpu_api *api, struct hd_device_info *out);
hd_status hd_gpu_dev_open(hd_ctx *ctx, const struct hd_gpu_api *api,
                          const struct hd_device_options *opt, hd_device **out);
void hd_gpu_dev_close(hd_device *d);
hd_status hd_gpu_dev_alloc(hd_ctx *ctx, hd_device *d, size_t bytes, hd_buffer *out);
void hd_gpu_dev_free(hd_device *d, hd_buffer b);
hd_status hd_gpu_dev_write(hd_ctx *ctx, hd_device *d, hd_buffer b, size_t off, const void *src,
                           size_t bytes);
hd_status hd_gpu_dev_read(hd_ctx *ctx, hd_device *d, hd_buffer b, size_t off, void *dst,
                          size_t bytes);
hd_status hd_gpu_dev_load(hd_ctx *ctx, hd_device *d, const hd_model *m, int step, hd_exec **out);
void hd_gpu_dev_unload(hd_device *d, hd_exec *x);
hd_status hd_gpu_dev_submit(hd_ctx *ctx, hd_device *d, hd_exec *x, const hd_buffer *io,
                            hd_fence *out);
hd_status hd_gpu_dev_wait(hd_ctx *ctx, hd_device *d, hd_fence fence, uint64_t timeout_ns);
int hd_gpu_dev_steps(hd_exec *x, const struct hd_exec_step **out);
hd_status hd_gpu_dev_join(hd_ctx *ctx, hd_device *d, const void *id, int me, int n);
hd_status hd_gpu_dev_gather(hd_ctx *ctx, hd_device *d, hd_device *source,
                            const struct hd_peers_move *move, int n);

/* Device NAME over hd_gpu_NAME. with: its struct hd_peers_ops, or NULL. */
#define HD_GPU_DEVICE(name, text, with)                                                            \
    static hd_status probe(hd_ctx *ctx, const struct hd_device_options *opt,                       \
                           struct hd_device_info *out) {                                           \
        (void)ctx, (void)opt;                                                                      \
        return hd_gpu_dev_probe(&hd_gpu_##name, out);                                              \
    }                                                                                              \
    static hd_status open_it(hd_ctx *ctx, const struct hd_device_options *opt, hd_device **out) {  \
        return hd_gpu_dev_open(ctx, &hd_gpu_##name, opt, out);                                     \
    }                                                                                              \
    extern const struct hd_device_ops hd_device_##name;                                            \
    const struct hd_device_ops hd_device_##name = {                                                \
        .scheme = #name,                                                                           \
        .doc = text,                                                                               \
        .sections = HD_RUNS_GRAPH,                                                                 \
        .probe = probe,                                                                            \
        .open = open_it,                                                                           \
        .close = hd_gpu_dev_close,                                                                 \
        .alloc = hd_gpu_dev_alloc,                                                                 \
        .free = hd_gpu_dev_free,                                                                   \
        .write = hd_gpu_dev_write,                                                                 \
        .read = hd_gpu_dev_read,                                                                   \
        .load = hd_gpu_dev_load,                                                                   \
        .unload = hd_gpu_dev_unload,                                                               \
        .submit = hd_gpu_dev_submit,                                                               \
        .wait = hd_gpu_dev_wait,                                                                   \
        .steps = hd_gpu_dev_steps,                                                                 \
        .peers = (with),                                                                           \
    }

#endif
