/* Prices that were found before: much that the search asks for comes out alike, in one plan and in
 * others. A price is kept under a hash of all that lowering looks at: the layers, their tilings,
 * the places of their tensors. Shared by the threads of a search. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/cost/cost.h"

struct price {
    uint64_t key; /* 0 = free */
    int64_t cycles;
};
struct hd_price_memo {
    pthread_mutex_t lock;
    struct price *of; /* open addressing */
    size_t n, cap;
};

struct hd_price_memo *hd_price_memo_create(void) {
    struct hd_price_memo *m = calloc(1, sizeof *m);
    HD_ASSERT(m != NULL);
    pthread_mutex_init(&m->lock, NULL);
    return m;
}

void hd_price_memo_destroy(struct hd_price_memo *m) {
    pthread_mutex_destroy(&m->lock);
    free(m->of);
    free(m);
}

static uint64_t mix(uint64_t h, const void *data, size_t bytes) {
    const char *at = data;
    for (; bytes; at += 8) {
        uint64_t v = 0;
        size_t n = bytes < 8 ? bytes : 8;
        memcpy(&v, at, n);
        h = (h ^ v) * UINT64_C(0x9E3779B97F4A7C15);
        h ^= h >> 29;
        bytes -= n;
    }
    return h;
}

/* Where a tensor lies, and the whole that it is a part of. */
static uint64_t mix_place(uint64_t h, const struct hd_lowering *lo, int id) {
    for (; id >= 0; id = lo->tensors[id].base) {
        struct hd_placement p = lo->plan->places[id];
        p.use_first = p.use_last = 0; /* of placing alone */
        h = mix(h, &p, sizeof p);
    }
    return h;
}

uint64_t hd_price_key(const struct hd_lowering *lo, size_t first, size_t end) {
    const size_t window[2] = {first, end};
    uint64_t h = mix(0, window, sizeof window);
    for (size_t i = first; i < end; i++) {
        struct hd_tiling t = lo->plan->tilings[i];
        t.ask_tiles = t.ask_nb = 0, t.ask_order = HD_ORDER_ANY; /* tiling followed them */
        t.no_room = t.finer = t.more_slots = 0, t.own_ring = false;
        h = mix(h, &t, sizeof t);
        for (int k = 0; k < HD_LAYER_INPUTS && t.l->in[k] >= 0; k++)
            h = mix_place(h, lo, t.l->in[k]);
        h = mix_place(h, lo, t.l->out);
    }
    return h ? h : 1;
}

static struct price *slot(const struct hd_price_memo *m, uint64_t key) {
    size_t at = key & (m->cap - 1);
    while (m->of[at].key && m->of[at].key != key) at = (at + 1) & (m->cap - 1);
    return &m->of[at];
}

bool hd_price_memo_get(struct hd_price_memo *m, uint64_t key, int64_t *out) {
    bool found = false;
    pthread_mutex_lock(&m->lock);
    if (m->cap) {
        const struct price *p = slot(m, key);
        found = p->key != 0;
        if (found) *out = p->cycles;
    }
    pthread_mutex_unlock(&m->lock);
    return found;
}

static void grow(struct hd_price_memo *m) {
    struct hd_price_memo more = {.cap = m->cap ? 2 * m->cap : 1024};
    more.of = calloc(more.cap, sizeof *more.of);
    HD_ASSERT(more.of != NULL);
    for (size_t i = 0; i < m->cap; i++)
        if (m->of[i].key) *slot(&more, m->of[i].key) = m->of[i];
    free(m->of);
    m->of = more.of, m->cap = more.cap;
}

void hd_price_memo_put(struct hd_price_memo *m, uint64_t key, int64_t cycles) {
    pthread_mutex_lock(&m->lock);
    if (2 * m->n >= m->cap) grow(m);
    struct price *p = slot(m, key);
    m->n += !p->key;
    *p = (struct price){key, cycles};
    pthread_mutex_unlock(&m->lock);
}
