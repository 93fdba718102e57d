/* The whole life of a plan on device cuda, for tests: opened, planned, run, and all given back.
 * Behind cuda_stand_in.h. */
#ifndef HD_TEST_GPU_CUDA_LIFE_H
#define HD_TEST_GPU_CUDA_LIFE_H

#include "gpu_ref/gpu_plan.h"
#include "test/gpu/cuda_stand_in.h"
#include "test/unit/cpu_ref/nets.h"

struct world {
    hd_ctx *ctx;
    hd_graph *g;
    hd_model *m;
    struct hd_host_io io;
    hd_arena *a;
};

/* Opens, plans, runs four times (once with times, then with another buffer), gives all back. */
static hd_status whole_life(struct world *w) {
    const struct hd_gpu_api *api = &hd_gpu_cuda;
    struct hd_gpu_plan *p = NULL;
    hd_gpu_mem *buffer[64] = {NULL}, *other = NULL;
    hd_gpu *g = NULL;
    int n = w->io.n_in + w->io.n_out;
    TRY(api->open(w->ctx, &g));
    hd_status s = hd_gpu_plan_create(w->ctx, api, g, w->g, w->m, &w->io, NULL, 0, NULL, NULL, &p);
    for (int i = 0; i < n && s == HD_OK; i++) {
        int value = i < w->io.n_in ? w->io.in[i] : w->io.out[i - w->io.n_in];
        s = api->alloc(w->ctx, g, hd_value_dense_bytes(&w->m->values[value]), &buffer[i]);
    }
    if (s == HD_OK) s = api->alloc(w->ctx, g, 1 << 16, &other);
    for (int run = 0; run < 4 && s == HD_OK; run++) {
        if (run == 3) {
            api->free(g, buffer[0]);
            buffer[0] = other;
            other = NULL;
        }
        s = hd_gpu_plan_run(w->ctx, p, buffer, run == 1);
    }
    hd_gpu_plan_destroy(p);
    for (int i = 0; i < n; i++)
        if (buffer[i]) api->free(g, buffer[i]);
    if (other) api->free(g, other);
    api->close(g);
    return s;
}

#endif
