/* Rings: the end of XM where tiles of streamed tensors take turns, and its parts.
 *
 * needs: chains (chain.c), what of XM is for streaming (plan.c); hd_part_rings: residency
 * gives: ring_bytes, ring_in, ring_vx of layers
 * destroys: earlier rings
 */
#include "compiler/layer/kind.h"
#include "compiler/plan/plan.h"
#include "runtime/base/num.h"

/* Two tiles of th rows of operand i of a layer, and of what it makes. */
static int64_t bytes_in(const struct hd_lowering *lo, const struct hd_layer *l, int i, int64_t th,
                        int64_t bank) {
    if (l->in[i] < 0) return 0;
    const struct hd_mtensor *x = &lo->tensors[l->in[i]];
    int64_t rows = (th - 1) * l->sy + (l->kh - 1) * l->dy + 1;
    int64_t in = rows * (l->kind->rows ? x->w : x->w + 2 * l->kw + 2 * l->ppw) * x->cp;
    if (l->im2col) in = hd_windows_bytes(l, lo->m, (int)th, l->ow);
    return hd_round_up(2 * in + 128, bank) * (l->shift || l->turned ? 2 : 1);
}

static int64_t bytes_out(const struct hd_lowering *lo, const struct hd_layer *l, int64_t th,
                         int64_t bank) {
    return hd_round_up(2 * th * l->ow * lo->tensors[l->out].cp + 128, bank);
}

/* The parts of the ring of a chain through which a tensor streams, each in banks of its own:
 * operands that MX reads, that VX reads, results. */
static void chain_ring(const struct hd_lowering *lo, const struct hd_tiling *firstt, int64_t bank,
                       int64_t *mx, int64_t *vx, int64_t *out) {
    *mx = *vx = *out = 0;
    for (int i = firstt->chain_first; i <= firstt->chain_last; i++) {
        const struct hd_layer *l = &lo->layers[i];
        const struct hd_tiling *lt = &lo->plan->tilings[i];
        int64_t *part = l->kind->product ? mx : vx;
        int64_t in =
            bytes_in(lo, l, 0, lt->chain_th, bank) + bytes_in(lo, l, 1, lt->chain_th, bank);
        *part = hd_max(*part, in);
        *out = hd_max(*out, bytes_out(lo, l, lt->chain_th, bank));
    }
}

/* An operand of layer l of a chain is there before the chain of layer `first` begins. */
static bool comes_from_before(const struct hd_lowering *lo, const struct hd_layer *first,
                              const struct hd_layer *l) {
    bool any = false;
    for (int i = 0; i < HD_LAYER_INPUTS && l->in[i] >= 0; i++)
        any = any || lo->tensors[l->in[i]].made < first->tag;
    return any;
}

/* In whole banks, where it has two. */
static uint32_t half(uint32_t bytes, int64_t bank) {
    return (uint32_t)hd_floor_to(bytes / 2, bytes < 2 * bank ? HD_XM_ALIGN : bank);
}

struct hd_ring_parts hd_rolling_ring(const struct hd_lowering *lo, const struct hd_tiling *firstt,
                                     const struct hd_tiling *lastt, int64_t unit) {
    const struct hd_layer *first = firstt->l;
    struct hd_ring_parts p = {.out = bytes_out(lo, lastt->l, lastt->chain_th, unit)};
    for (const struct hd_tiling *k = firstt + 1; k <= lastt; k++)
        if (k->l->in[1] >= 0 && comes_from_before(lo, first, k->l))
            p.vx += bytes_in(lo, k->l, 1, k->chain_th, unit);
    if (first->in[1] >= 0) p.vx += bytes_in(lo, first, 1, firstt->chain_th, unit);
    p.in = p.vx + bytes_in(lo, first, 0, firstt->chain_th, unit);
    return p;
}

/* Rings, and which part of each is for streamed inputs: banks of their own where there is room, so
 * that the store unit does not wait for banks that the matrix unit reads. */
void hd_choose_rings(struct hd_lowering *lo) {
    int64_t bank = lo->m->xm_bytes / lo->m->xm_banks;
    for (size_t i = 0; i < lo->n_layers; i++) {
        struct hd_tiling *lt = &lo->plan->tilings[i];
        lt->ring_bytes = lo->plan->xm_ring_bytes;
        lt->ring_in = half(lt->ring_bytes, bank);
        int64_t out, mx, vx;
        lt->ring_vx = 0;
        if (lt->own_ring && !lt->roll_th) {
            chain_ring(lo, &lo->plan->tilings[lt->chain_first], bank, &mx, &vx, &out);
            int64_t more = hd_max(0, (int64_t)lo->plan->xm_ring_bytes - mx - vx - out);
            more = hd_floor_to(more / 2, bank);
            if (mx + vx + out <= lo->m->xm_bytes) {
                lt->ring_bytes = (uint32_t)hd_max(lo->plan->xm_ring_bytes, mx + vx + out);
                lt->ring_in = (uint32_t)(mx + vx + more);
                lt->ring_vx = (uint32_t)vx;
            }
        }
        if (!lt->roll_th) continue;
        /* of a rolling chain the tensors between do not stream */
        const struct hd_tiling *at = &lo->plan->tilings[lt->chain_first],
                               *bt = &lo->plan->tilings[lt->chain_last];
        struct hd_ring_parts p = hd_rolling_ring(lo, at, bt, at->no_room % 2 ? HD_XM_ALIGN : bank);
        lt->ring_bytes = (uint32_t)hd_min(lo->m->xm_bytes, p.in + p.out);
        lt->ring_in = (uint32_t)hd_min(lo->m->xm_bytes, p.in);
        lt->ring_vx = (uint32_t)hd_min(lo->m->xm_bytes, p.vx);
    }
}

/* Where only one direction streams, it gets all of the ring. */
void hd_part_rings(struct hd_lowering *lo) {
    uint32_t bank = lo->m->xm_bytes / lo->m->xm_banks;
    for (size_t i = 0, end; i < lo->n_layers; i = end) {
        bool in = false, out = false, mx = false, vx = false;
        end = (size_t)lo->plan->tilings[i].chain_last + 1;
        for (size_t k = i; k < end; k++) {
            const struct hd_layer *l = &lo->layers[k];
            for (int o = 0; o < HD_LAYER_INPUTS && l->in[o] >= 0; o++) {
                bool streams = hd_layer_streams(lo, l, o);
                in = in || streams;
                mx = mx || (streams && l->kind->product);
                vx = vx || (streams && !l->kind->product);
            }
            in = in || (l->kind->takes_ring && l->kind->takes_ring(l));
            out = out || !lo->plan->places[l->out].resident;
        }
        for (size_t k = i; k < end; k++) {
            struct hd_tiling *lt = &lo->plan->tilings[k];
            lt->ring_in = !out ? lt->ring_bytes : in ? lt->ring_in : 0;
            lt->ring_vx = !mx || !vx ? 0 : lt->ring_vx ? lt->ring_vx : half(lt->ring_in, bank);
        }
    }
}
