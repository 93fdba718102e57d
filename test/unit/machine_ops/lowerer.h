/* A lowerer of a row of layers, in the middle of layer 0. */
#ifndef HD_TEST_UNIT_MACHINE_OPS_LOWERER_H
#define HD_TEST_UNIT_MACHINE_OPS_LOWERER_H

#include "compiler/machine_ops/machine_ops.h"
#include "test/unit/plan/layers.h"

static inline void make_lowerer(struct row *r, struct hd_lowerer *w) {
    make_row(r);
    r->plan.arena_bytes = 1 << 20;
    *w = (struct hd_lowerer){
        .lo = &r->lo, .m = &r->m, .l = &r->layers[0], .lt = &r->plan.tilings[0]};
    w->loaded = hd_new_array(r->lo.arena, int, ROW + 1);
    hd_ops_init(&w->s, &r->lo, r->lo.arena);
}

static inline int64_t field(const struct hd_lowerer *w, size_t op, enum hd_field f) {
    return hd_field_get(w->s.ops[op].words, f);
}

#endif
