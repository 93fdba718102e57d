/* Step maker for float products that a library of the GPU's vendor computes: matmul and gemm of
 * f32, with a bias, and a relu behind them. Small ones, and those that the library does not take,
 * are kernels of ours; a step says why. */
#include "compiler/ir/ir.h"
#include "gpu_ref/gpu_library.h"

static int64_t product_of(const struct hd_tensor *t, int to) {
    int64_t n = 1;
    for (int d = 0; d < to; d++) n *= t->dim[d];
    return n;
}

/* Rows of a that b is the same for are rows of one product; else both have the same batches. */
static bool matmul(const struct hd_tensor *a, const struct hd_tensor *b, struct hd_gpu_product *p) {
    if (a->rank < 2 || b->rank < 2) return false;
    p->rows = a->dim[a->rank - 2];
    p->depth = a->dim[a->rank - 1];
    p->columns = b->dim[b->rank - 1];
    int64_t batches = product_of(a, a->rank - 2);
    if (product_of(b, b->rank - 2) == 1) {
        p->batches = 1;
        p->rows *= batches;
        return a->rank >= b->rank;
    }
    p->batches = batches;
    p->stride_a = p->rows * p->depth;
    p->stride_b = p->depth * p->columns;
    bool same = a->rank == b->rank;
    for (int d = 0; same && d < a->rank - 2; d++) same = a->dim[d] == b->dim[d];
    return same;
}

/* c is left out, or a vector along the columns. */
static bool gemm(const struct hd_node *n, const struct hd_tensor *a, const struct hd_tensor *b,
                 const struct hd_tensor *c, struct hd_gpu_product *p) {
    p->transposed_a = hd_attr_int(n, "transA", 0) != 0;
    p->transposed_b = hd_attr_int(n, "transB", 0) != 0;
    p->rows = a->dim[p->transposed_a];
    p->depth = a->dim[!p->transposed_a];
    p->columns = b->dim[!p->transposed_b];
    p->batches = 1;
    p->bias = c != NULL;
    bool plain = hd_attr_float(n, "alpha", 1) == 1 && hd_attr_float(n, "beta", 1) == 1;
    return plain && (!c || (hd_tensor_elems(c) == p->columns && c->dim[c->rank - 1] == p->columns &&
                            c->rank >= 1));
}

static bool fits(const struct hd_gpu_plan *p, const struct hd_node *n, struct hd_gpu_product *out) {
    const struct hd_tensor *t[3] = {NULL, NULL, NULL};
    if (n->op != HD_IR_matmul && n->op != HD_IR_gemm) return false;
    for (int i = 0; i < n->n_in && i < 3; i++) {
        if (n->in[i] < 0) continue;
        t[i] = &p->g->tensors[n->in[i]];
        if (t[i]->dtype != HD_F32) return false;
    }
    *out = (struct hd_gpu_product){0};
    bool is = n->op == HD_IR_gemm ? gemm(n, t[0], t[1], t[2], out) : matmul(t[0], t[1], out);
    return is && hd_node_macs(p->g, n) >= HD_GPU_LIBRARY_MACS;
}

hd_status hd_gpu_products(struct hd_gpu_plan *p, int node, bool *out_taken) {
    const struct hd_node *n = &p->g->nodes[node];
    struct hd_gpu_product of;
    hd_gpu_library *library = NULL;
    struct hd_gpu_library_facts facts = {0};
    if (!p->gpu || p->tuning.only || !p->api->product || !fits(p, n, &of)) return HD_OK;
    const char *why = p->api->no_products();
    int relu = hd_gpu_sole_reader(p, n->out[0], HD_IR_relu);
    struct hd_gpu_library_work w = {
        .n = relu >= 0 ? 2 : 1, .node = {node, relu}, .n_in = of.bias ? 3 : 2};
    for (int i = 0; i < w.n_in; i++) TRY(hd_gpu_need(p, n->in[i], &w.in[i]));
    of.relu = relu >= 0;
    of.precision = p->asked.precision;
    if (!why && p->api->product(p->ctx, p->gpu, &of, &facts, &library) != HD_OK) {
        why = hd_strdup(p->arena, hd_message(p->ctx));
        hd_clear(p->ctx);
    }
    if (why) {
        p->how = hd_sprintf(p->arena, "%s in f32; not by cuBLASLt: %s", p->api->scheme, why);
        return HD_OK;
    }
    hd_gpu_library_step(p, &w, "cuBLASLt", &facts, library);
    *out_taken = true;
    return HD_OK;
}
