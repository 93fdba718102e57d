/* By layer: a cycle belongs to the layer of the oldest operation of MX, else of VX, else to the one
 * before; those before the first operation to its layer (sim/iss.c counts so). */
#include "compiler/cost/by_layer.h"

struct work { /* operations of a unit, in order */
    const struct hd_ops *s;
    const double *start, *done;
    int unit, next; /* next: the oldest that is not done */
};

/* The tag of the operation at work at `at`, -1 = none; *end: at most until then that is so. */
static int tag_at(struct work *w, double at, double *end) {
    int n = w->s->count[w->unit];
    while (w->next < n &&
           (w->done[w->next] <= at || !w->s->ops[w->s->by_number[w->unit][w->next]].code))
        w->next++;
    if (w->next == n) return -1;
    bool works = w->start[w->next] <= at;
    double changes = works ? w->done[w->next] : w->start[w->next];
    if (changes < *end) *end = changes;
    return works ? w->s->ops[w->s->by_number[w->unit][w->next]].tag : -1;
}

void hd_cycles_by_layer(const struct hd_ops *s, double *const start[HD_UNITS],
                        double *const done[HD_UNITS], double end, int64_t *out) {
    struct work mx = {.s = s, start[HD_UNIT_mx], done[HD_UNIT_mx], HD_UNIT_mx},
                vx = {.s = s, start[HD_UNIT_vx], done[HD_UNIT_vx], HD_UNIT_vx};
    int last = -1;
    double until, counted = 0;
    for (double at = 0; at < end; at = until) {
        until = end;
        int of_mx = tag_at(&mx, at, &until), of_vx = tag_at(&vx, at, &until);
        if (of_mx >= 0 || of_vx >= 0) last = of_mx >= 0 ? of_mx : of_vx;
        if (last < 0) continue;
        out[last] += (int64_t)(until - counted);
        counted += (double)(int64_t)(until - counted);
    }
}
