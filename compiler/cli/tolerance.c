/* Tolerance of an output. A quantised output may be one step off, because exporters round
 * differently; a float output behind a dequantize may be one step of its scale off; behind a
 * softmax, what that step can move: two logits moving one step s towards or from each other change
 * a probability by at most tanh(s) / 2.
 */
#include "compiler/cli/tolerance.h"

#include <math.h>

#include "compiler/cli/cli.h"

static bool quantised(enum hd_ir_op op) {
    switch (op) {
    case HD_IR_quantize:
    case HD_IR_qconv:
    case HD_IR_qgemm:
    case HD_IR_qadd:
    case HD_IR_qavgpool:
    case HD_IR_qmean:
    case HD_IR_qrescale:
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
        most = fmax(most, cli_element(t->data, hd_dtype_to_onnx(t->dtype), (size_t)i));
    return most;
}

void cli_output_tolerance(hd_arena *a, const hd_graph *g, int tensor, struct cli_tolerance *out) {
    bool softmax = false;
    hd_dtype type = g->tensors[tensor].dtype;
    bool is_float = type == HD_F32 || type == HD_F64 || type == HD_F16;
    *out = (struct cli_tolerance){1e-7, 1e-3, "rtol 1e-3, atol 1e-7"};
    if (!is_float) *out = (struct cli_tolerance){0, 0, "exact"};
    for (int steps = 0; steps < 64 && g->tensors[tensor].producer >= 0; steps++) {
        const struct hd_node *n = &g->nodes[g->tensors[tensor].producer];
        if (is_float && n->op == HD_IR_dequantize) {
            double step = largest_scale(&g->tensors[n->in[1]]);
            if (step <= 0) return;
            out->relative = 0;
            out->absolute = (softmax ? tanh(step) / 2 : step) * (1 + 1e-6);
            out->text = softmax
                            ? hd_sprintf(a, "%.4g (softmax of 1 step of %.4g)", out->absolute, step)
                            : hd_sprintf(a, "%.4g (1 step)", step);
            return;
        }
        if (!is_float && quantised(n->op)) {
            *out = (struct cli_tolerance){1, 0, "1 (1 step)"};
            return;
        }
        if (is_float && n->op == HD_IR_softmax)
            softmax = true;
        else if (!moves_data(n->op))
            return;
        tensor = n->in[0];
    }
}
