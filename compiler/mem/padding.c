/* Padding of several tensors, filled at once.
 *
 * needs: a complete plan (plan.c)
 * gives: per step a range of XM that takes a value (hd_fill), tensors whose padding that is,
 *        tensors whose rows share padding, and places for all residents
 * destroys: the places of residents
 *
 * A tensor that stays keeps its padding around it, which LX fills in two operations or three: 30 to
 * 45 bytes of program with waits and signals. In a brief program that is much beside the weights,
 * and LX has little to do, XM often room. So tensors with one pad value lie side by side, and one
 * run fills all of them, pixels too, before the first is written; nobody else has their places from
 * then on. Tensors that are alike may follow each other in one place: nobody writes its padding.
 *
 * What is padding on the right of a row may be that on the left of the next: a third less to fill,
 * but rows are closer together, so other banks meet. Tried by estimate as well.
 *
 * The run takes longer than the borders alone, and what is written soon waits for it. So it is for
 * the estimate to say with which tensor it begins, and for how many of those behind it.
 */
#include <string.h>

#include "compiler/mem/place.h"
#include "runtime/base/num.h"

enum { FIRST = 3 /* tensors with which a run may begin */, PLACES = 4 };

struct padded {
    int *ids; /* of tensors, in the order in which they are made */
    size_t n;
};

static bool has_padding(const struct hd_mtensor *t) {
    return t->resident && t->base < 0 && !t->roll && (t->pt || t->pb || t->pl || t->pr);
}

static struct padded padded_of(struct hd_lowering *lo, size_t from, size_t to) {
    struct padded p = {hd_new_array(lo->arena, int, lo->n_tensors + 1), 0};
    for (size_t i = 0; i < lo->n_tensors; i++) {
        const struct hd_mtensor *t = &lo->tensors[i];
        if (!has_padding(t) || t->def < (int)from || t->def >= (int)to) continue;
        size_t k = p.n++;
        for (; k > 0 && lo->tensors[p.ids[k - 1]].def > t->def; k--) p.ids[k] = p.ids[k - 1];
        p.ids[k] = (int)i;
    }
    return p;
}

bool hd_mtensors_alike(const struct hd_mtensor *a, const struct hd_mtensor *b) {
    return a->n == b->n && a->h == b->h && a->w == b->w && a->cp == b->cp && a->apart == b->apart &&
           a->pt == b->pt && a->pb == b->pb && a->pl == b->pl && a->pr == b->pr;
}

/* A choice: tensors [first, end) of p that have the value of the first, from byte `at` of XM on. */
struct choice {
    size_t first, end;
    uint32_t at;
};

/* The last of [first, i) in its place, which is alike and gone when tensor i is made; or NULL. */
static struct hd_mtensor *followed(const struct hd_lowering *lo, const struct padded *p,
                                   size_t first, size_t i) {
    const struct hd_mtensor *t = &lo->tensors[p->ids[i]];
    for (size_t k = first; k < i; k++) {
        struct hd_mtensor *o = &lo->tensors[p->ids[k]];
        bool last = o->filled && hd_mtensors_alike(o, t) && o->kept_to < t->use_first;
        for (size_t m = k + 1; m < i; m++)
            last = last && !(lo->tensors[p->ids[m]].filled && lo->tensors[p->ids[m]].xm == o->xm);
        if (last) return o;
    }
    return NULL;
}

static struct hd_fill lay_out(struct hd_lowering *lo, const struct padded *p, struct choice c) {
    const struct hd_mtensor *first = &lo->tensors[p->ids[c.first]];
    struct hd_fill f = {
        .first = lo->layers[first->def].chain_first, .value = first->pad_value, .at = c.at};
    for (size_t i = c.first; i < c.end; i++) {
        struct hd_mtensor *t = &lo->tensors[p->ids[i]], *before;
        if (t->pad_value != f.value) continue;
        before = followed(lo, p, c.first, i);
        t->xm = before ? before->xm : f.at + f.bytes;
        if (before) before->kept_to = t->use_first - 1;
        if (!before) f.bytes += (uint32_t)hd_mtensor_xm_bytes(t);
        t->filled = true, t->kept_to = t->use_last;
        t->kept_from = before ? t->use_first : f.first;
    }
    return f;
}

/* One step [from, to), and its tensors as they were. */
struct step {
    struct hd_lowering *lo;
    size_t from, to;
    struct padded p;
    const struct hd_mtensor *was;
    const int *by_size;
    struct hd_room *spans;
};

/* Tensors get their places; what the step takes. INT64_MAX: not all that stay on chip have room. */
static int64_t placed(const struct step *s) {
    struct hd_lowering *lo = s->lo;
    hd_place_residents(lo, s->by_size, s->spans, true);
    for (size_t i = 0; i < lo->n_tensors; i++) {
        const struct hd_mtensor *t = &lo->tensors[i], *was = &s->was[i];
        if (t->resident != was->resident || t->roll != was->roll || t->apart != was->apart)
            return INT64_MAX;
    }
    return hd_step_price(lo, s->from, s->to);
}

/* What a choice makes of the step. */
static int64_t attempt(const struct step *s, struct choice c) {
    struct hd_lowering *lo = s->lo;
    memcpy(lo->tensors, s->was, lo->n_tensors * sizeof *s->was);
    lo->fill[lo->layers[s->from].step] = lay_out(lo, &s->p, c);
    return placed(s);
}

/* All tensors whose padding is filled share columns, if that is better. */
static int64_t share_columns(const struct step *s, int64_t least) {
    struct hd_lowering *lo = s->lo;
    for (size_t i = 0; i < s->p.n; i++) {
        struct hd_mtensor *t = &lo->tensors[s->p.ids[i]];
        t->shares = t->def >= 0 && !t->comes_in && !t->has_parts;
    }
    for (size_t i = 0; i < lo->n_tensors; i++) /* what streams has room now, but a plan without */
        lo->tensors[i].never_resident = lo->tensors[i].never_resident || !lo->tensors[i].resident;
    int64_t price = placed(s);
    if (price < least) return price;
    memcpy(lo->tensors, s->was, lo->n_tensors * sizeof *s->was);
    return least;
}

/* Places at which the run may begin: others get the lowest free ones, and operands of a sum want
 * banks of their own. So 0, or behind room for one of the others. */
static size_t places(const struct hd_lowering *lo, size_t from, size_t to, uint32_t out[PLACES]) {
    size_t n = 0;
    out[n++] = 0;
    for (size_t i = 0; i < lo->n_tensors && n < PLACES; i++) {
        const struct hd_mtensor *t = &lo->tensors[i];
        uint32_t bytes = (uint32_t)hd_mtensor_xm_bytes(t);
        bool known =
            !t->resident || t->base >= 0 || t->use_last < (int)from || t->use_first >= (int)to;
        for (size_t k = 0; k < n; k++) known = known || out[k] == bytes;
        if (!known) out[n++] = bytes;
    }
    return n;
}

static void join_step(struct hd_lowering *lo, size_t from, size_t to) {
    struct hd_mtensor *was = hd_new_array(lo->arena, struct hd_mtensor, lo->n_tensors + 1);
    struct step s = {lo, from, to, padded_of(lo, from, to), was, hd_by_size(lo), NULL};
    struct choice best = {0};
    uint32_t at[PLACES];
    size_t n = places(lo, from, to, at);
    int64_t least = hd_step_price(lo, from, to);
    s.spans = hd_new_array(lo->arena, struct hd_room, 2 * lo->n_tensors + 1);
    memcpy(was, lo->tensors, lo->n_tensors * sizeof *was);
    least = share_columns(&s, least);
    memcpy(was, lo->tensors, lo->n_tensors * sizeof *was);
    for (size_t k = 0; k < s.p.n && k < FIRST; k++)
        for (size_t end = s.p.n, room = false; end > k && !room; end--) /* as many as have room */
            for (size_t i = 0; i < n; i++) {
                const struct choice c = {k, end, at[i]};
                int64_t price = attempt(&s, c);
                room = room || price < INT64_MAX;
                if (price < least) best = c, least = price;
            }
    if (best.end) {
        int64_t again = attempt(&s, best);
        HD_ASSERT(again == least);
        return;
    }
    memcpy(lo->tensors, was, lo->n_tensors * sizeof *was);
    lo->fill[lo->layers[from].step] = (struct hd_fill){0};
}

/* needs / gives / destroys: see the head of this file. */
void hd_join_padding(struct hd_lowering *lo) {
    for (size_t from = 0, to; from < lo->n_layers; from = to) {
        to = hd_step_end(lo, from);
        if (lo->model->steps[lo->layers[from].step].estimate <= HD_BRIEF) join_step(lo, from, to);
    }
}
