/* Softmax and layer norm: what works along the channels of each pixel on the vector unit.
 *
 * needs: a qsoftmax or qlayernorm node, mtensors of its operand and result
 * gives: scales of the passes; of a norm its scale and bias in PM words
 * destroys: nothing
 *
 * The passes are those of docs/numerics.md, one vx.map each (sched/rows.c). */
#include <math.h>
#include <string.h>

#include "compiler/tile/layer.h"
#include "runtime/base/num.h"

const char *hd_rows_refuses(const struct hd_lowering *lo, const struct hd_node *n,
                            const char **out_hint) {
    const hd_graph *g = lo->g;
    const struct hd_tensor *x = &g->tensors[n->in[0]];
    int64_t axis = n->op == HD_IR_qsoftmax ? hd_attr_int(n, "axis", -1) : -1;
    if (axis < 0) axis += x->rank;
    if (axis != (lo->rows[n->in[0]] ? x->rank - 1 : 1)) {
        *out_hint = "transpose the tensor, so that it works along the last dimension";
        return "works along another dimension than the channels";
    }
    for (int i = 1; i < n->n_in; i++)
        if (!g->tensors[n->in[i]].data) {
            *out_hint = "export the network with constant scale and bias";
            return "scale or bias is not constant";
        }
    return NULL;
}

/* Vectors of a pixel, and two words for its sums (sched/rows.c). */
int hd_rows_words(const struct hd_lowering *lo, const struct hd_layer *l) {
    return lo->tensors[l->out].bytes / (int)lo->m->n + 2;
}

int hd_rows_passes(const struct hd_layer *l) {
    enum { SOFTMAX = 4, NORM = 5, MEAN = 1 }; /* docs/numerics.md */
    return l->kind == HD_LAYER_SOFTMAX ? SOFTMAX
           : l->kind == HD_LAYER_NORM  ? NORM + (l->centred ? MEAN : 0)
                                       : 1;
}

/* PM words of the channels: bias and scale, both binary32. */
static void pack_params(struct hd_lowering *lo, struct hd_layer *l, const float *scale,
                        const float *bias) {
    size_t vectors = (size_t)lo->tensors[l->out].bytes / lo->m->n;
    l->p_offset = hd_image_reserve(lo, vectors * hd_pm_word_bytes(lo->m));
    uint8_t *p = lo->image + l->p_offset;
    for (int c = 0; c < l->oc; c++, p += 8) {
        memcpy(p, &bias[c], 4);
        memcpy(p + 4, &scale[c], 4);
    }
    l->weight_bytes = l->oc * 8;
}

void hd_tensorize_rows(struct hd_lowering *lo, const struct hd_node *n, struct hd_layer *l) {
    if (n->op == HD_IR_qsoftmax) {
        l->kind = HD_LAYER_SOFTMAX;
        l->a_scale = hd_attr_float(n, "x_scale", 1);
        l->b_scale = ldexpf(1, -hd_softmax_bits(l->oc)) * hd_attr_float(n, "scale", 1);
        return;
    }
    l->kind = HD_LAYER_NORM;
    l->centred = hd_attr_int(n, "centred", 1) != 0;
    if (!l->centred) l->a_imm = -(int32_t)hd_attr_int(n, "x_zp", 0);
    l->a_scale = 1.0f / (float)l->oc;
    l->b_scale = hd_attr_float(n, "epsilon", 0);
    pack_params(lo, l, lo->g->tensors[n->in[1]].data, lo->g->tensors[n->in[2]].data);
}
