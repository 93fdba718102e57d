/* Which activations could be int16 (heddle quantize --mixed). */
#include "compiler/pass/qdq.h"
#include "compiler/quantize/quantize.h"

/* Its integer operation takes and gives int16; of leakyrelu the float one, which rounds once. */
static bool takes_wide(const hd_graph *g, int node) {
    const struct hd_node *n = &g->nodes[node];
    switch (n->op) {
    case HD_IR_conv:
    case HD_IR_convtranspose:
    case HD_IR_gemm:
    case HD_IR_matmul:
        return hd_quant_weights(g, node) >= 0;
    case HD_IR_add:
    case HD_IR_sub:
    case HD_IR_mul:
    case HD_IR_avgpool:
    case HD_IR_relu:
    case HD_IR_clip:
    case HD_IR_leakyrelu:
        return true;
    default:
        return hd_qdq_moved_operands(n) > 0;
    }
}

void hd_quant_find_wide(const hd_graph *g, struct hd_quant_plan *p) {
    for (size_t t = 0; t < p->n_tensors; t++)
        if (p->observe[t]) p->may_be_wide[p->group[t]] = p->like[p->group[t]] < 0;
    for (size_t i = 0; i < p->n_nodes; i++) {
        const struct hd_node *n = &g->nodes[i];
        if (n->dead || p->why[i] || takes_wide(g, (int)i)) continue;
        for (int k = 0; k < n->n_in; k++)
            if (n->in[k] >= 0) p->may_be_wide[p->group[n->in[k]]] = false;
        for (int k = 0; k < n->n_out; k++)
            if (n->out[k] >= 0) p->may_be_wide[p->group[n->out[k]]] = false;
        if (p->layer[i]) p->may_be_wide[p->group[p->result[i]]] = false;
    }
    for (size_t t = 0; t < p->n_tensors; t++)
        if (p->given[t] || p->centred[t] || p->entry[t]) p->may_be_wide[p->group[t]] = false;
}
