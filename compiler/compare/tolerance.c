/* Tolerance of an output.
 *
 * Float: rtol 1e-3 as in ONNX's own tests, and what sums in another order can move a value that
 * cancels: 1e-6 of the largest. Quantised: exporters round differently, so each requantisation may
 * turn one way or the other. Errors of half a step that are independent add up as a random walk:
 * sqrt(d) / 2 steps behind d requantisations, and one step at least. A float output behind a
 * dequantize has that in steps of its scale; behind a softmax, what such steps can move: two logits
 * moving s towards or from each other change a probability by at most tanh(s) / 2. Where scales are
 * made in the run (dynamicquantize), a step is taken as 1/255 of the largest value.
 */
#include "compiler/compare/tolerance.h"

#include <math.h>

#include "compiler/session/session.h"
#include "compiler/tensors/tensors.h"

static bool quantised(enum hd_ir_op op) {
    switch (op) {
    case HD_IR_quantize:
    case HD_IR_qconv:
    case HD_IR_qconvtranspose:
    case HD_IR_qgemm:
    case HD_IR_qadd:
    case HD_IR_qmul:
    case HD_IR_qavgpool:
    case HD_IR_qmean:
    case HD_IR_qlstm:
    case HD_IR_qgru:
    case HD_IR_qrnn:
    case HD_IR_qrescale:
    case HD_IR_qresize:
    case HD_IR_qtable:
    case HD_IR_qmatmul:
    case HD_IR_qsoftmax:
    case HD_IR_qlayernorm:
        return true;
    default:
        return false;
    }
}

static bool moves_data(enum hd_ir_op op) {
    return op == HD_IR_reshape || op == HD_IR_transpose || op == HD_IR_identity ||
           op == HD_IR_relu || op == HD_IR_clip || op == HD_IR_maxpool || op == HD_IR_qmaxpool ||
           op == HD_IR_concat;
}

static double largest_scale(const struct hd_tensor *t) {
    double most = 0;
    for (int64_t i = 0; t->data && i < hd_tensor_elems(t); i++)
        most = fmax(most, hd_element(t->data, hd_dtype_to_onnx(t->dtype), (size_t)i));
    return most;
}

/* Requantisations on the longest path to `tensor`; *out_dynamic: some scale is made in the run. */
static double rounding_steps(hd_arena *a, const hd_graph *g, int tensor, bool *out_dynamic) {
    int *order = hd_new_array(a, int, g->n_nodes + 1);
    int *depth = hd_new_array(a, int, g->n_tensors + 1);
    bool *dynamic = hd_new_array(a, bool, g->n_tensors + 1);
    size_t n = hd_graph_order(g, order);
    for (size_t i = 0; i < n; i++) {
        const struct hd_node *nd = &g->nodes[order[i]];
        int most = 0;
        bool made = nd->op == HD_IR_dynamicquantize;
        for (int k = 0; k < nd->n_in; k++) {
            if (nd->in[k] < 0) continue;
            most = depth[nd->in[k]] > most ? depth[nd->in[k]] : most;
            made = made || dynamic[nd->in[k]];
        }
        for (int k = 0; k < nd->n_out; k++) {
            if (nd->out[k] < 0) continue;
            depth[nd->out[k]] = most + (quantised(nd->op) || nd->op == HD_IR_dynamicquantize);
            dynamic[nd->out[k]] = made;
        }
    }
    *out_dynamic = dynamic[tensor];
    return fmax(1, floor(sqrt((double)depth[tensor]) / 2));
}

static struct hd_tolerance behind_scale(hd_arena *a, double scale, double steps, bool softmax) {
    double step = scale * steps;
    struct hd_tolerance t = {.absolute = (softmax ? tanh(step) / 2 : step) * (1 + 1e-6)};
    t.text = softmax ? hd_sprintf(a, "%.4g (softmax of %g step%s of %.4g)", t.absolute, steps,
                                  steps > 1 ? "s" : "", scale)
                     : hd_sprintf(a, "%.4g (%g step%s)", t.absolute, steps, steps > 1 ? "s" : "");
    return t;
}

void hd_output_tolerance(hd_arena *a, const hd_graph *g, int tensor, struct hd_tolerance *out) {
    bool softmax = false, dynamic = false;
    hd_dtype type = g->tensors[tensor].dtype;
    bool is_float = type == HD_F32 || type == HD_F64 || type == HD_F16 || type == HD_BF16;
    double steps = rounding_steps(a, g, tensor, &dynamic);
    *out = (struct hd_tolerance){1e-7, 1e-3, 1e-6, "rtol 1e-3, atol 1e-7 + 1e-6 of the largest"};
    if (type == HD_BF16) /* files of ONNX have it cut off, not rounded */
        *out = (struct hd_tolerance){1e-7, 0x1p-7, 0, "one step of bfloat16"};
    if (!is_float) *out = (struct hd_tolerance){.text = "exact"};
    if (is_float && dynamic) {
        out->of_largest = steps / 255;
        out->text = hd_sprintf(a, "rtol 1e-3, atol %g/255 of the largest (%g step%s)", steps, steps,
                               steps > 1 ? "s" : "");
        return;
    }
    for (int i = 0; i < 64 && g->tensors[tensor].producer >= 0; i++) {
        const struct hd_node *n = &g->nodes[g->tensors[tensor].producer];
        if (is_float && n->op == HD_IR_dequantize) {
            double scale = largest_scale(&g->tensors[n->in[1]]);
            if (scale > 0) *out = behind_scale(a, scale, steps, softmax);
            return;
        }
        if (!is_float && quantised(n->op)) {
            *out = (struct hd_tolerance){
                .absolute = steps,
                .text = hd_sprintf(a, "%g (%g step%s)", steps, steps, steps > 1 ? "s" : "")};
            return;
        }
        if (is_float && n->op == HD_IR_softmax)
            softmax = true;
        else if (!moves_data(n->op))
            return;
        tensor = n->in[0];
    }
}
