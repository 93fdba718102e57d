/* An update that ranks share: see split.h. */
#include "runtime/train/split.h"

#include <string.h>

#include "runtime/ranks/window.h"

enum { LINE = 64 }; /* bytes of a cache line, which is one rank's */

struct slots { /* of a part's optimiser: among the states */
    int first, n;
};

struct hd_train_split {
    hd_window *window;
    hd_model *m;
    hd_session *s;
    bool first;                 /* this is rank 0 */
    struct hd_shard_part *part; /* elements that this rank updates */
    struct slots *slots;
    int n_parts;
    const void **in;
    void **out;
};

bool hd_train_splits(const struct hd_train_options *o) {
    const struct hd_optimizer_options *p = &o->optimizer;
    return p->kind != HD_OPTIMIZER_lamb && !(p->clip_norm > 0) && !o->precision && !o->devices;
}

/* ---- parts ----------------------------------------------------------------------------------- */

/* Of all weights in a row, where rank r begins, in a weight that begins at `at`. */
static size_t begin(size_t all, int r, int ranks, size_t at, size_t elems) {
    size_t from = all / (size_t)ranks * (size_t)r, line = LINE / sizeof(float);
    if (r == ranks || from >= at + elems) return elems;
    return from <= at ? 0 : (from - at) / line * line;
}

static void find_parts(struct hd_train_split *p, hd_arena *a, const struct hd_train_options *o,
                       const struct hd_trained *t, const size_t *bytes) {
    int me = hd_ranks_me(o->ranks), ranks = hd_ranks_n(o->ranks), slot = 1 + t->n;
    size_t all = 0, at = 0;
    p->part = hd_new_array(a, struct hd_shard_part, (size_t)t->n + 1);
    p->slots = hd_new_array(a, struct slots, (size_t)t->n + 1);
    for (int i = 0; i < t->n; i++) all += bytes[1 + i] / sizeof(float);
    for (int i = 0; i < t->n; i++) {
        size_t elems = bytes[1 + i] / sizeof(float), from = begin(all, me, ranks, at, elems);
        size_t to = begin(all, me + 1, ranks, at, elems);
        int n_slots = i < t->n - t->n_follow ? hd_optimizers[o->optimizer.kind].n_state : 0;
        p->slots[p->n_parts] = (struct slots){slot, n_slots};
        if (to > from) p->part[p->n_parts++] = (struct hd_shard_part){i, from, to - from};
        slot += n_slots, at += elems;
    }
}

/* The update of those alone. */
static hd_status compile(hd_ctx *ctx, struct hd_train_split *p, hd_arena *a, const hd_graph *step,
                         const struct hd_train_options *o, const struct hd_trained *t) {
    struct hd_trained of = *t; /* weights of which this rank has a part */
    int64_t *elems = hd_new_array(a, int64_t, (size_t)p->n_parts + 1);
    of.w = hd_new_array(a, int, (size_t)p->n_parts + 1);
    of.by = hd_new_array(a, float, (size_t)p->n_parts + 1);
    of.n = of.n_follow = 0;
    for (const struct hd_shard_part *k = p->part; k < p->part + p->n_parts; k++) {
        int follows = k->gradient - (t->n - t->n_follow);
        if (follows >= 0) of.by[of.n_follow++] = t->by[follows];
        of.w[of.n] = t->w[k->gradient];
        elems[of.n++] = (int64_t)k->n;
    }
    hd_graph *g = hd_graph_create();
    hd_status s = hd_train_update(ctx, step, o, &of, elems, g);
    p->in = hd_new_array(a, const void *, g->n_inputs + 1);
    p->out = hd_new_array(a, void *, g->n_outputs + 1);
    if (s == HD_OK) s = hd_train_compile(ctx, g, o, &p->m, &p->s);
    hd_graph_destroy(g);
    return s;
}

/* ---- states ---------------------------------------------------------------------------------- */

static size_t lines(size_t bytes) {
    return (bytes + LINE - 1) / LINE * LINE;
}

static void move(const struct hd_train_split *p, const struct hd_train_states *s) {
    char *to = hd_window_data(p->window);
    for (int i = 1; i < s->n; i++) {
        if (p->first) memcpy(to, s->now[i], s->bytes[i]);
        s->now[i] = (float *)to, to += lines(s->bytes[i]);
        s->next[i] = (float *)to, to += lines(s->bytes[i]);
    }
    hd_window_meet(p->window);
}

hd_status hd_train_split_open(hd_ctx *ctx, hd_arena *a, const hd_graph *step,
                              const struct hd_train_options *o, const struct hd_trained *t,
                              const struct hd_train_states *s, struct hd_shards *shards,
                              struct hd_train_split **out) {
    struct hd_train_split *p = hd_new(a, struct hd_train_split);
    size_t bytes = 0;
    for (int i = 1; i < s->n; i++) bytes += 2 * lines(s->bytes[i]);
    *out = NULL;
    TRY(hd_window_open(ctx, o->ranks, bytes, &p->window));
    if (!p->window) return HD_OK;
    *out = p;
    p->first = hd_ranks_me(o->ranks) == 0;
    find_parts(p, a, o, t, s->bytes);
    TRY(compile(ctx, p, a, step, o, t));
    move(p, s);
    hd_shards_own(shards, p->part, p->n_parts);
    return HD_OK;
}

hd_status hd_train_split_run(hd_ctx *ctx, struct hd_train_split *p, const struct hd_train_states *s,
                             const float *const *gradients) {
    const void **in = p->in;
    void **out = p->out;
    *in++ = s->now[0], *out++ = s->next[0];
    for (int i = 0; i < p->n_parts; i++) {
        const struct hd_shard_part *k = &p->part[i];
        *in++ = s->now[1 + k->gradient] + k->from, *out++ = s->next[1 + k->gradient] + k->from;
    }
    for (int i = 0; i < p->n_parts; i++)
        for (int k = p->slots[i].first; k < p->slots[i].first + p->slots[i].n; k++)
            *in++ = s->now[k] + p->part[i].from, *out++ = s->next[k] + p->part[i].from;
    for (int i = 0; i < p->n_parts; i++) *in++ = gradients[p->part[i].gradient] + p->part[i].from;
    TRY(hd_session_run(ctx, p->s, p->in, p->out));
    hd_window_meet(p->window); /* all have made theirs */
    return HD_OK;
}

bool hd_train_split_meet(struct hd_train_split *p) {
    if (p) hd_window_meet(p->window);
    return !p || p->first;
}

void hd_train_split_close(struct hd_train_split *p) {
    if (!p) return;
    hd_session_close(p->s);
    hd_model_destroy(p->m);
    hd_window_close(p->window);
}
