/* Which nodes the machine cannot run, why, and what would change it: the text that users read.
 *
 * needs: a legalised, verified graph
 * gives: NULL for a node that the machine can run, else the reason and a hint
 * destroys: nothing
 */
#include "compiler/partition/partition.h"
#include "runtime/base/num.h"

/* A node that becomes no layer. */
static const char *refuses_other(const hd_graph *g, const struct hd_node *n, const char **hint) {
    if (hd_attr_string(n, "rounding", NULL)) {
        *hint = "--rounding float, which this machine computes";
        return "it rounds as TFLite's kernels do; the machine rounds in binary32";
    }
    bool sums = n->op == HD_IR_convinteger || n->op == HD_IR_matmulinteger;
    if (sums || n->op == HD_IR_dynamicquantize) {
        *hint = "make its scales constant: heddle quantize";
        return sums ? "its sums are not quantised by constant scales"
                    : "its scale is known in the run only";
    }
    const struct hd_tensor *y = n->out[0] < 0 ? NULL : &g->tensors[n->out[0]];
    bool border = n->op == HD_IR_quantize || n->op == HD_IR_dequantize;
    if (!border && ((n->n_in && n->in[0] >= 0 && g->tensors[n->in[0]].dtype == HD_I16) ||
                    (y && y->dtype == HD_I16))) {
        *hint = "leave it int8 (heddle quantize without --mixed, or with a lower bound)";
        return "of int16 the machine takes convolutions, dense layers and moves";
    }
    if (y && (y->dtype == HD_I8 || y->dtype == HD_U8)) {
        *hint = n->op == HD_IR_quantize ? "feed integers to the network" : "";
        return n->op == HD_IR_quantize ? "reads float at the border of the network"
                                       : "the back end has no lowering of this operation";
    }
    *hint = "leave it to what reads the results";
    if (n->op == HD_IR_argmax || n->op == HD_IR_argmin)
        return "makes positions; the machine makes bytes";
    *hint = "quantise the node (heddle quantize, or QDQ around it), or leave it at the border of "
            "the network";
    return "computes in float; the machine works on int8";
}

const char *hd_machine_refuses(const struct hd_lowering *lo, int node, const char **out_hint) {
    const hd_graph *g = lo->g;
    const struct hd_node *n = &g->nodes[node];
    struct hd_mtensor a = {0}, b = {0}, first = {0};
    *out_hint = "use a machine with larger memories (--machine, --set)";
    if (lo->too_big[node].why) return hd_refusal_text(&lo->too_big[node], lo->model->arena);
    *out_hint = "";
    const struct hd_kind *k = hd_kind_of(g, n);
    if (!k) return refuses_other(g, n, out_hint);
    const char *why = k->refuses ? k->refuses(lo, node, out_hint) : NULL;
    if (why || k->all_results) return why;
    *out_hint = "int8 or uint8, not constant, of less than 2 GiB, images up to 32767 x 32767";
    for (int i = 0; i < n->n_in; i++) {
        if (n->in[i] < 0) continue;
        if (g->tensors[n->in[i]].data && i > 0 && !hd_takes_constants(g, n)) continue;
        if (!hd_operand_shape(lo, n, i, &a)) return "operand has no machine layout";
        if (i == 0) first = a;
    }
    for (int i = 0; i < n->n_out; i++)
        if (n->out[i] >= 0 && !hd_machine_shape(lo, n->out[i], &b))
            return "result has no machine layout";
    *out_hint = "";
    if (!hd_is_move(g, n) && b.rows != first.rows)
        return "operand and result have different layouts";
    return NULL;
}
