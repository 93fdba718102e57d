/* A graph node becomes a layer: what is alike in all kinds of them.
 *
 * needs: a legalised graph, mtensors of the node's operands and result
 * gives: the layer (kind.h, make)
 * destroys: nothing
 */
#include "compiler/partition/partition.h"
#include "runtime/base/num.h"

static void requant_attrs(struct hd_layer *l, const struct hd_node *n) {
    l->y.zp = (int32_t)hd_attr_int(n, "y_zp", 0);
    l->y.lo = (int32_t)hd_attr_int(n, "lo", -128);
    l->y.hi = (int32_t)hd_attr_int(n, "hi", 127);
}

/* needs: hd_machine_refuses() said NULL. See the head of this file. */
hd_status hd_tensorize(struct hd_lowering *lo, int node, int out, int step, struct hd_layer *l) {
    const struct hd_node *n = &lo->g->nodes[node];
    *l = (struct hd_layer){.node = node, .step = step, .tag = (int)lo->n_layers, .state = -1};
    l->kh = l->kw = l->sy = l->sx = l->dy = l->dx = l->uy = l->ux = 1;
    l->groups = l->ppw = l->planes = l->taps = l->pm_words = 1;
    for (int i = 1; i < HD_LAYER_INPUTS; i++) l->in[i] = -1;
    l->in[0] = lo->tensor_of[n->in[0]];
    l->result = hd_joined_result(lo, n->out[out]);
    l->out = lo->tensor_of[l->result];
    const struct hd_mtensor *y = &lo->tensors[l->out];
    l->oh = y->h, l->ow = y->w, l->oc = y->c;
    requant_attrs(l, n);
    l->nts = (int)hd_ceil_div(y->c, lo->m->n);
    l->kind = hd_kind_of(lo->g, n);
    TRY(l->kind->make(lo, n, l));
    hd_join(lo, l, n->out[out]);
    return HD_OK;
}
