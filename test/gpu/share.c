/* What of networks runs in kernels of a GPU, from their plans alone:
 *
 *   share [--nodes PERCENT] [--macs PERCENT] [--device cuda] FOLDER...
 *
 * A line for each network (FOLDER/model.onnx), the reasons of what stays on the host, and the sum.
 * Exit 1 when the sum is below what is asked for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/compiler.h"
#include "gpu_ref/gpu_plan.h"
#include "test/gpu/stand_in.h"

struct reason {
    char text[120];
    int nodes;
};
static bool for_cuda; /* its language, and schedules of its instructions */
static struct reason reasons[256];
static int n_reasons;

static void because(const char *op, const char *how) {
    char text[120];
    snprintf(text, sizeof text, "%s: %s", op, how);
    text[strcspn(text, "\n")] = 0;
    int i = 0;
    while (i < n_reasons && strcmp(reasons[i].text, text)) i++;
    if (i == 256) return;
    if (i == n_reasons) snprintf(reasons[n_reasons++].text, sizeof reasons[0].text, "%s", text);
    reasons[i].nodes++;
}

static hd_status plan(hd_ctx *ctx, const char *folder, struct hd_gpu_share *out) {
    struct hd_compile_options o = {0};
    struct hd_host_io io;
    struct hd_gpu_api api = stand_in_api;
    struct hd_gpu_plan *p;
    hd_model *m;
    hd_graph *g;
    char path[4096];
    if (for_cuda) api.dialect = &hd_dialect_cuda;
    stand_in.limits.mma = stand_in.limits.dot8 = for_cuda;
    snprintf(path, sizeof path, "%s/model.onnx", folder);
    TRY(hd_machine_load(ctx, "base", &o.machine));
    TRY(hd_compile(ctx, path, &o, &m));
    hd_arena *a = hd_arena_create();
    TRY(hd_graph_load(ctx, m->graph, m->graph_bytes, &g));
    TRY(hd_host_choose_io(ctx, a, m, -1, g, &io));
    TRY(hd_gpu_plan_create(ctx, &api, &stand_in, g, m, &io, NULL, 0, NULL, NULL, &p));
    *out = hd_gpu_plan_share(p);
    for (size_t i = 0; i < p->n_steps; i++)
        if (p->steps[i].kind == HD_GPU_HOST)
            because(hd_ir_ops[g->nodes[p->steps[i].node].op].name, p->steps[i].how);
    int launches = 0;
    for (size_t i = 0; i < p->n_steps; i++)
        for (int k = 0; k < p->steps[i].n_calls; k++) launches += !p->steps[i].call[k].once;
    printf(
        "%-36s %5lld of %5lld nodes  %7.3f %% of %12lld MACs  %3d kernels, %4d launches, weights "
        "%zu, temporaries %zu bytes\n",
        strrchr(folder, '/') ? strrchr(folder, '/') + 1 : folder, (long long)out->device_nodes,
        (long long)out->nodes,
        out->macs ? 100.0 * (double)out->device_macs / (double)out->macs : 100,
        (long long)out->macs, hd_kernels_count(p->kernels), launches, p->memory.weight_bytes,
        p->memory.temporary_bytes);
    hd_gpu_plan_destroy(p);
    hd_graph_destroy(g);
    hd_arena_destroy(a);
    hd_model_destroy(m);
    return HD_OK;
}

int main(int argc, char **argv) {
    double nodes = 0, macs = 0;
    int first = 1, failed = 0;
    struct hd_gpu_share all = {0}, one;
    for (; first + 1 < argc && !strncmp(argv[first], "--", 2); first += 2) {
        if (!strcmp(argv[first], "--device"))
            for_cuda = !strcmp(argv[first + 1], "cuda");
        else
            *(!strcmp(argv[first], "--nodes") ? &nodes : &macs) = atof(argv[first + 1]);
    }
    for (int i = first; i < argc; i++) {
        hd_ctx *ctx = hd_ctx_create();
        memset(&one, 0, sizeof one);
        if (plan(ctx, argv[i], &one) != HD_OK) {
            printf("%s: %s\n", argv[i], hd_message(ctx));
            failed++;
        }
        all.nodes += one.nodes, all.device_nodes += one.device_nodes;
        all.macs += one.macs, all.device_macs += one.device_macs;
        hd_ctx_destroy(ctx);
    }
    for (int i = 0; i < n_reasons; i++) printf("  %4d %s\n", reasons[i].nodes, reasons[i].text);
    double has_nodes = all.nodes ? 100.0 * (double)all.device_nodes / (double)all.nodes : 0;
    double has_macs = all.macs ? 100.0 * (double)all.device_macs / (double)all.macs : 0;
    printf("in kernels of the device: %.2f %% of %lld nodes, %.4f %% of %lld MACs\n", has_nodes,
           (long long)all.nodes, has_macs, (long long)all.macs);
    if (stand_in.wrong) printf("a driver would refuse: %s\n", stand_in.wrong);
    return failed || stand_in.wrong || has_nodes < nodes || has_macs < macs;
}
