/* What several kinds of layers do alike, and which kind a node becomes. */
#include "compiler/kind/kinds.h"

#include "runtime/base/num.h"

int64_t hd_vectors_once(const struct hd_lowering *lo, const struct hd_layer *l) {
    return (int64_t)lo->tensors[l->out].n * l->oh * l->nts * l->ow;
}

int64_t hd_vectors_of_windows(const struct hd_lowering *lo, const struct hd_layer *l) {
    return hd_vectors_once(lo, l) * l->kh * l->kw;
}

const struct hd_kind *hd_kind_of(const hd_graph *g, const struct hd_node *n) {
    bool product = n->op == HD_IR_qconv || n->op == HD_IR_qgemm;
    bool wide = n->out[0] >= 0 && g->tensors[n->out[0]].dtype == HD_I16;
    for (int i = 0; i < n->n_in; i++) /* weights of 9 bits are no activations */
        wide = wide || (n->in[i] >= 0 && g->tensors[n->in[i]].dtype == HD_I16 &&
                        (i != 1 || (!product && n->op != HD_IR_qconvtranspose)));
    if (wide && !hd_is_move(g, n)) return product ? &hd_kind_wide : NULL;
    switch (n->op) {
#define COMPUTES(op, kind, of_what)                                                                \
    case HD_IR_##op:                                                                               \
        return &hd_kind_##kind;
#include "compiler/kind/machine_ops.def"
    default:
        return hd_is_move(g, n) ? &hd_kind_move : NULL;
    }
}

const char *hd_lacks_functions(const struct hd_lowering *lo, const char **out_hint) {
    if (lo->m->functions) return NULL;
    *out_hint = "use a machine with functions (functions = 1)";
    return "the machine's vector unit has no functions";
}

bool hd_takes_constants(const hd_graph *g, const struct hd_node *n) {
    const struct hd_kind *k = hd_kind_of(g, n);
    return k && k->takes_constants && k->takes_constants(n);
}

bool hd_operand_shape(const struct hd_lowering *lo, const struct hd_node *n, int i,
                      struct hd_mtensor *out) {
    return (!lo->g->tensors[n->in[i]].data || hd_takes_constants(lo->g, n)) &&
           hd_stored_shape(lo, n->in[i], out);
}
