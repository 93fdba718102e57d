/* Chains: neighbouring layers whose tiles are issued in turn, so that MX and VX work at the same
 * time.
 *
 * needs: layers in order, their weight chunks
 * gives: chain_first, chain_last of every layer
 * destroys: earlier chains
 *
 * A matrix layer next to a depthwise one (expand, depthwise, project) leaves one of the two units
 * idle if they run one after the other, since a queue holds few operations. In a chain each tile of
 * the last layer is preceded by just the tiles of the earlier ones that it needs. All layers of a
 * chain keep their weights on chip together, and their tensors live for the whole chain
 * (mem/plan.c).
 */
#include "compiler/tile/layer.h"
#include "runtime/base/num.h"

static bool chains_well(const struct hd_layer *l) {
    return (l->kind == HD_LAYER_MATMUL || l->kind == HD_LAYER_DEPTHWISE) && l->weights_stay;
}

static bool follows(const struct hd_lowering *lo, const struct hd_layer *a,
                    const struct hd_layer *b) {
    const struct hd_mtensor *between = &lo->tensors[a->out];
    return a->step == b->step && chains_well(a) && chains_well(b) && a->kind != b->kind &&
           b->in[0] == a->out && between->n == 1 && between->h > 1;
}

static int64_t wm_words(const struct hd_layer *l) {
    return l->kind == HD_LAYER_MATMUL ? (int64_t)l->nts * l->red : 0;
}

/* Weights and parameters of layers [first, last] fit on chip side by side. */
static bool fit_together(const struct hd_lowering *lo, size_t first, size_t last) {
    int64_t wm = 0, pm = 0;
    for (size_t i = first; i <= last; i++) {
        wm += wm_words(&lo->layers[i]);
        pm += (int64_t)lo->layers[i].nts * lo->layers[i].pm_words;
    }
    return wm <= hd_wm_words(lo->m) / 8 * 7 && pm <= hd_pm_words(lo->m) / 8 * 7;
}

/* needs / gives / destroys: see the head of this file. */
void hd_choose_chains(struct hd_lowering *lo, bool enabled) {
    for (size_t i = 0; i < lo->n_layers; i++) hd_choose_chunks(lo, &lo->layers[i]);
    for (size_t i = 0, last; i < lo->n_layers; i = last + 1) {
        for (last = i; enabled && last + 1 < lo->n_layers; last++)
            if (!follows(lo, &lo->layers[last], &lo->layers[last + 1]) ||
                !fit_together(lo, i, last + 1))
                break;
        for (size_t k = i; k <= last; k++) {
            lo->layers[k].chain_first = (int)i;
            lo->layers[k].chain_last = (int)last;
        }
    }
}
