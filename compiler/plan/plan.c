/* Plans as values: made, copied, assigned. */
#include <string.h>

#include "compiler/plan/plan.h"

struct hd_plan hd_plan_create(const struct hd_lowering *lo, hd_arena *a) {
    struct hd_plan p = {.n_tilings = lo->n_layers, .n_places = lo->n_tensors};
    p.tilings = hd_new_array(a, struct hd_tiling, p.n_tilings + 1);
    p.places = hd_new_array(a, struct hd_placement, p.n_places + 1);
    for (size_t i = 0; i < p.n_tilings; i++) p.tilings[i].l = &lo->layers[i];
    for (size_t i = 0; i < p.n_places; i++) {
        p.places[i].t = &lo->tensors[i];
        if (lo->tensors[i].constant) p.places[i].arena = lo->tensors[i].image_at;
        p.places[i].first_read = -1;
    }
    for (size_t i = lo->n_layers; i-- > 0;)
        for (int k = 0; k < HD_LAYER_INPUTS; k++)
            if (lo->layers[i].in[k] >= 0) p.places[lo->layers[i].in[k]].first_read = (int)i;
    return p;
}

struct hd_plan hd_plan_copy(const struct hd_plan *p, hd_arena *a) {
    struct hd_plan c = *p;
    c.tilings = hd_dup(a, p->tilings, (p->n_tilings + 1) * sizeof *c.tilings);
    c.places = hd_dup(a, p->places, (p->n_places + 1) * sizeof *c.places);
    return c;
}

void hd_plan_assign(struct hd_plan *out, const struct hd_plan *p) {
    struct hd_tiling *tilings = out->tilings;
    struct hd_placement *places = out->places;
    memcpy(tilings, p->tilings, p->n_tilings * sizeof *tilings);
    memcpy(places, p->places, p->n_places * sizeof *places);
    *out = *p;
    out->tilings = tilings, out->places = places;
}
