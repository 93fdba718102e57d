/* Step maker for what moves nothing: results that are the bytes of their operand. */
#include "gpu_ref/gpu_plan.h"

bool hd_gpu_moves(const struct hd_node *n) {
    return n->op == HD_IR_reshape || n->op == HD_IR_squeeze || n->op == HD_IR_unsqueeze ||
           n->op == HD_IR_flatten || n->op == HD_IR_identity || n->op == HD_IR_bitcast;
}

hd_status hd_gpu_move(struct hd_gpu_plan *p, int node, bool *out_taken) {
    const struct hd_node *n = &p->g->nodes[node];
    if (!hd_gpu_moves(n) || n->in[0] < 0 || n->out[0] < 0) return HD_OK;
    const struct hd_tensor *x = &p->g->tensors[n->in[0]], *y = &p->g->tensors[n->out[0]];
    int from;
    if (hd_tensor_bytes(x) != hd_tensor_bytes(y)) return HD_OK;
    TRY(hd_gpu_need(p, n->in[0], &from));
    hd_gpu_alias(p, n->out[0], from);
    *out_taken = true;
    return HD_OK;
}
