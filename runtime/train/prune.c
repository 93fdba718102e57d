/* Pruning: see prune.h. */
#include "runtime/train/prune.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/pass/channels.h"

struct layer { /* int8 weights around 0 that node `node` reads */
    int node, weights, set;
    int64_t n, per, inner; /* of the channels; places of one; values behind the axis */
    int8_t *v;             /* a copy, the graph's */
    double mean;           /* of the sizes */
};

struct word {
    int set;
    int64_t from, to; /* channels */
    double score;
};

struct prune {
    hd_graph *g;
    hd_arena *a;
    const struct hd_prune_options *o;
    struct hd_channels c;
    struct layer *layer;
    struct word *word;
    size_t n_layers, cap_layers, n_words, cap_words;
    int *left; /* per set: words that are not cut; 0 = a reader has weights of another kind */
};

static const struct hd_node *weights_of(const hd_graph *g, const struct hd_node *n) {
    int t = n->in[1], made = t < 0 ? -1 : g->tensors[t].producer;
    const struct hd_node *d = made < 0 ? NULL : &g->nodes[made];
    if (!d || d->op != HD_IR_dequantize || d->n_in < 3) return NULL;
    const struct hd_tensor *q = &g->tensors[d->in[0]], *z = &g->tensors[d->in[2]];
    for (size_t i = 0; z->data && i < hd_tensor_bytes(z); i++)
        if (((const char *)z->data)[i]) return NULL;
    return q->data && z->data && q->dtype == HD_I8 ? d : NULL;
}

static void add_layer(struct prune *p, int node) {
    const struct hd_node *n = &p->g->nodes[node], *d = weights_of(p->g, n);
    int set = p->c.of[n->in[0]];
    if (!d) {
        if (set >= 0) p->c.set[set].fixed = true;
        return;
    }
    struct layer l = {.node = node, .weights = d->in[0], .set = set, .inner = 1};
    struct hd_tensor *q = &p->g->tensors[l.weights];
    int axis = hd_channel_axis(n);
    for (int k = axis + 1; k < q->rank; k++) l.inner *= q->dim[k];
    l.n = q->dim[axis], l.per = p->c.per[n->in[0]];
    q->data = l.v = hd_dup(p->g->arena, q->data, hd_tensor_bytes(q));
    for (int64_t i = 0; i < hd_tensor_elems(q); i++) l.mean += abs(l.v[i]);
    l.mean = l.mean / (double)hd_tensor_elems(q) + 1e-9;
    *hd_push(p->a, p->layer, p->n_layers, p->cap_layers) = l;
}

static int64_t size(const struct prune *p, const struct layer *l) {
    return hd_tensor_elems(&p->g->tensors[l->weights]);
}

static bool is_in(const struct layer *l, const struct word *w, int64_t i) {
    int64_t c = i / l->inner % l->n / l->per;
    return l->set == w->set && c >= w->from && c < w->to;
}

/* ---- words of channels ---------------------------------------------------------------------- */

static void score(const struct prune *p, struct word *w) {
    double n = 0;
    for (size_t i = 0; i < p->n_layers; i++) {
        const struct layer *l = &p->layer[i];
        for (int64_t k = 0; k < size(p, l) && l->set == w->set; k++)
            if (is_in(l, w, k)) w->score += abs(l->v[k]) / l->mean, n++;
    }
    w->score /= n > 0 ? n : 1;
}

static void add_words(struct prune *p) {
    p->left = hd_new_array(p->a, int, (size_t)p->c.n + 1);
    bool *read = hd_new_array(p->a, bool, (size_t)p->c.n + 1);
    for (size_t i = 0; i < p->n_layers; i++)
        if (p->layer[i].set >= 0) read[p->layer[i].set] = true;
    for (int s = 0; s < p->c.n; s++)
        for (int64_t c = 0; read[s] && !p->c.set[s].fixed && c < p->c.set[s].n; c += p->o->word) {
            int64_t to = c + p->o->word < p->c.set[s].n ? c + p->o->word : p->c.set[s].n;
            struct word w = {.set = s, .from = c, .to = to};
            score(p, &w);
            p->left[s]++;
            *hd_push(p->a, p->word, p->n_words, p->cap_words) = w;
        }
}

static int by_score(const void *a, const void *b) {
    const struct word *x = a, *y = b;
    if (x->score < y->score || x->score > y->score) return x->score < y->score ? -1 : 1;
    return x->set != y->set ? x->set - y->set : (x->from > y->from) - (x->from < y->from);
}

static void cut_words(struct prune *p, struct hd_pruned *out) {
    if (p->n_words) qsort(p->word, p->n_words, sizeof *p->word, by_score);
    int want = (int)(p->o->share * (double)p->n_words + 0.5);
    out->words = (int)p->n_words;
    for (size_t i = 0; i < p->n_words && out->cut < want; i++) {
        const struct word *w = &p->word[i];
        if (p->left[w->set] < 2) continue;
        p->left[w->set]--;
        out->cut++;
        for (size_t k = 0; k < p->n_layers; k++)
            for (int64_t j = 0; j < size(p, &p->layer[k]); j++)
                if (is_in(&p->layer[k], w, j)) p->layer[k].v[j] = 0;
    }
}

/* ---- single weights ------------------------------------------------------------------------- */

/* The smallest of each layer; of equal ones the first. */
static void cut_weights(const struct prune *p) {
    for (size_t i = 0; i < p->n_layers; i++) {
        const struct layer *l = &p->layer[i];
        int64_t n = size(p, l), count[129] = {0}, left = (int64_t)(p->o->share * (double)n + 0.5);
        for (int64_t k = 0; k < n; k++) count[abs(l->v[k])]++;
        int limit = 0;
        while (limit < 128 && left >= count[limit]) left -= count[limit++];
        for (int64_t k = 0; k < n; k++) {
            bool some = abs(l->v[k]) == limit && left > 0;
            left -= some;
            if (some || abs(l->v[k]) < limit) l->v[k] = 0;
        }
    }
}

hd_status hd_prune(hd_ctx *ctx, hd_graph *g, const struct hd_prune_options *o,
                   struct hd_pruned *out) {
    struct prune p = {.g = g, .a = hd_arena_create(), .o = o};
    struct hd_pruned done = {0};
    p.c = hd_channels_find(g, p.a);
    for (size_t i = 0; i < g->n_nodes; i++)
        if (!g->nodes[i].dead && hd_channel_role(g, &g->nodes[i]) == HD_CHANNEL_MIXES)
            add_layer(&p, (int)i);
    if (o->blocks) {
        add_words(&p);
        cut_words(&p, &done);
    } else {
        cut_weights(&p);
    }
    for (size_t i = 0; i < p.n_layers; i++)
        for (int64_t k = 0; k < size(&p, &p.layer[i]); k++, done.weights++)
            done.zero += !p.layer[i].v[k];
    hd_status s = HD_OK;
    if (!done.weights || (o->blocks && !done.cut))
        s = hd_fail(
            ctx, HD_INVALID,
            "%s: nothing to prune: of %d words of %d channels that may go, %d go, and one of "
            "each set stays; take a larger share, or smaller words by --set word=N",
            g->name, done.words, o->word, done.cut);
    hd_arena_destroy(p.a);
    *out = done;
    return s;
}
