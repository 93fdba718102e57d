/* Steps of a vendor's library: see gpu_library.h. */
#include "gpu_ref/gpu_library.h"

int hd_gpu_sole_reader(const struct hd_gpu_plan *p, int tensor, enum hd_ir_op op) {
    if (p->users[tensor] != 1) return -1;
    for (size_t i = 0; i < p->g->n_nodes; i++) {
        const struct hd_node *n = &p->g->nodes[i];
        if (!p->wanted[i] || n->op != op) continue;
        for (int k = 0; k < n->n_in; k++)
            if (n->in[k] == tensor) return (int)i;
    }
    return -1;
}

static const char *how(const struct hd_gpu_plan *p, const char *name, enum hd_precision rounded) {
    if (rounded == HD_PRECISION_f32) return hd_sprintf(p->arena, "%s: %s", p->api->scheme, name);
    return hd_sprintf(p->arena, "%s: %s, operands in %s", p->api->scheme, name,
                      hd_precision_names[rounded]);
}

/* Arguments: two operands, the result, more operands, the workspace. */
void hd_gpu_library_step(struct hd_gpu_plan *p, const struct hd_gpu_library_work *w,
                         const char *name, const struct hd_gpu_library_facts *facts,
                         hd_gpu_library *library) {
    int arg[HD_GPU_LIBRARY_OPERANDS + 2], n_args = w->n_in + 1;
    for (int i = 0; i < w->n_in; i++) arg[i < 2 ? i : i + 1] = w->in[i];
    hd_gpu_step(p, HD_GPU_KERNELS, w->node[0], how(p, name, facts->rounded), 0, NULL, 0, NULL)
        ->n_nodes = w->n;
    for (int i = 0; i < w->n; i++) p->done[w->node[i]] = true;
    arg[2] = hd_gpu_make(p, p->g->nodes[w->node[w->n - 1]].out[0], 0);
    if (facts->workspace_bytes) arg[n_args++] = hd_gpu_make(p, -1, facts->workspace_bytes);
    hd_gpu_call(p, -1, n_args, arg)->library = library;
}
