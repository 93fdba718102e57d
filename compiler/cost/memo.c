/* Prices that were found before: much that the search asks for comes out alike, in one plan, in
 * others, and on other machines. A price is kept under a hash of all that lowering looks at: the
 * layers, their tilings, the places of their tensors, the machine. Sizes of WM and PM are left out:
 * they only say when a ring begins anew. What came round no ring is the same in any memory that is
 * as large as what it took; so an entry has that. Functions of VX say which layers there are, and
 * nothing else. An entry has the number of operations, too: the search goes by it, so a price that
 * was kept has to tell it as one that is found does.
 *
 * The table is shared by the threads of a search, and by processes that were forked since or have
 * its file. It has no lock: an entry is believed only if its words agree, and a lost one costs an
 * estimate.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "compiler/cost/cost.h"
#include "runtime/base/memory.h"

enum { TRIES = 8 };                            /* entries that a key may lie in */
enum { PM_AT = 28, WM_AT = 44, PM_BITS = 16 }; /* of `needs`: operations below, words above */

struct price {
    _Atomic uint64_t check, cycles, needs; /* check: the key and the other two, by exclusive or */
};
struct hd_price_memo {
    struct price *of;
    size_t cap; /* a power of two */
};

struct hd_price_memo *hd_price_memo_create(size_t entries, int fd) {
    struct hd_price_memo *m = calloc(1, sizeof *m);
    HD_MEMORY(m);
    for (m->cap = TRIES; m->cap < entries;) m->cap *= 2;
    if (fd >= 0 && ftruncate(fd, (off_t)(m->cap * sizeof *m->of))) fd = -1;
    m->of = mmap(NULL, m->cap * sizeof *m->of, PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_NORESERVE | (fd < 0 ? MAP_ANONYMOUS : 0), fd, 0);
    HD_MEMORY(m->of != MAP_FAILED);
    return m;
}

void hd_price_memo_destroy(struct hd_price_memo *m) {
    if (m) munmap(m->of, m->cap * sizeof *m->of);
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

/* Where a tensor lies, and the whole that it is a part of. from >= 0: what it is, not which, by
 * layers behind `from`, and not where in DRAM. */
static uint64_t mix_place(uint64_t h, const struct hd_lowering *lo, int id, int from) {
    for (; id >= 0; id = lo->tensors[id].base) {
        struct hd_placement p = lo->plan->places[id];
        struct hd_mtensor t = lo->tensors[id];
        p.t = NULL, p.use_first = p.use_last = p.first_read = 0; /* of placing alone */
        t.tensor = t.pad_value = 0, t.image_at = 0, t.base = t.base >= 0;
        t.made -= from, t.def -= from, t.last -= from;
        if (from >= 0) p.words = p.arena = 0;
        h = from < 0 ? mix(h, &id, sizeof id) : mix(h, &t, sizeof t);
        h = mix(h, &p, sizeof p);
    }
    return h;
}

/* What a layer computes, but for the values of its constants. */
static uint64_t mix_layer(uint64_t h, const struct hd_lowering *lo, struct hd_layer l) {
    const struct hd_node *n = &lo->g->nodes[l.node];
    h = mix(h, &n->op, sizeof n->op);
    for (int i = 0; i < n->n_attrs; i++)
        h = mix(h, n->attrs[i].ints, n->attrs[i].ints ? (size_t)n->attrs[i].n * 8 : 0);
    l.kind = NULL, l.own = NULL, l.node = l.step = l.tag = l.result = l.state = l.out = 0;
    memset(l.in, 0, sizeof l.in);
    l.pad_value = 0, l.a_imm = 0, l.a_scale = 0, l.y = (struct hd_bytes){.table = l.y.table};
    return mix(h, &l, sizeof l);
}

static uint64_t mix_layers(uint64_t h, const struct hd_lowering *lo, size_t first, size_t end,
                           int from) {
    for (size_t i = first; i < end; i++) {
        struct hd_tiling t = lo->plan->tilings[i];
        const struct hd_layer *l = t.l;
        t.l = NULL;
        t.ask_tiles = t.ask_nb = 0, t.ask_order = HD_ORDER_ANY; /* tiling followed them */
        t.no_room = t.finer = t.more_slots = 0, t.own_ring = false;
        t.chain_first -= from, t.chain_last -= from;
        h = mix(h, &t, sizeof t);
        if (from >= 0) h = mix_layer(h, lo, *l);
        for (int k = 0; k < HD_LAYER_INPUTS && l->in[k] >= 0; k++)
            h = mix_place(h, lo, l->in[k], from);
        h = mix_place(h, lo, l->out, from);
    }
    return h;
}

uint64_t hd_prices_of(const struct hd_lowering *lo, const char *layers) {
    struct hd_machine m = *lo->m;
    const int64_t asked[2] = {lo->opt->latency_hiding, hd_compile_latency(lo->opt)};
    memset(m.name, 0, sizeof m.name);
    m.wm_bytes = m.pm_bytes = m.clock_mhz = m.cores = m.functions = 0;
    layers += strcspn(layers, "\n"); /* behind the name of the machine */
    return mix(mix(mix(0, &m, sizeof m), asked, sizeof asked), layers, strlen(layers));
}

uint64_t hd_price_key(const struct hd_lowering *lo, size_t first, size_t end) {
    const size_t window[2] = {first, end}; /* it and lo->prices_of say which layers */
    return mix_layers(mix(lo->prices_of, window, sizeof window), lo, first, end, -1);
}

uint64_t hd_window_key(const struct hd_lowering *lo, size_t first, size_t chain, size_t end) {
    bool begins = first == 0 || lo->layers[first - 1].step != lo->layers[first].step;
    const size_t window[3] = {chain - first, end - first, begins};
    return mix_layers(mix(0, window, sizeof window), lo, first, end, (int)first);
}

static struct price *slot(const struct hd_price_memo *m, uint64_t key) {
    return &m->of[key & (m->cap - 1)];
}

static bool find(const struct hd_price_memo *m, uint64_t key, struct hd_price *out) {
    for (size_t i = 0; i < TRIES; i++) {
        const struct price *p = slot(m, key + i);
        uint64_t check = p->check, cycles = p->cycles, needs = p->needs;
        if ((check ^ cycles ^ needs) != key || !cycles) continue;
        out->cycles = (int64_t)cycles, out->wm = (uint32_t)(needs >> WM_AT);
        out->pm = (uint32_t)(needs >> PM_AT) & ((1u << PM_BITS) - 1);
        out->ops = (uint32_t)needs & ((1u << PM_AT) - 1);
        return true;
    }
    return false;
}

/* Of what came round a ring: in memories of this size alone. */
static uint64_t key_in(uint64_t key, const struct hd_machine *m, bool wm_round, bool pm_round) {
    const uint32_t size[2] = {wm_round ? m->wm_bytes : 0, pm_round ? m->pm_bytes : 0};
    return mix(key, size, sizeof size);
}

bool hd_price_memo_get(const struct hd_price_memo *m, uint64_t key, const struct hd_machine *on,
                       int64_t most, struct hd_price *out) {
    for (int round = 0; round < 4; round++) {
        if (!find(m, key_in(key, on, round & 1, round & 2), out) || out->wm > hd_wm_words(on) ||
            out->pm > hd_pm_words(on))
            continue;
        if (out->cycles < 0 && -out->cycles < most) return false;
        if (out->cycles < 0 || out->cycles > most) out->cycles = INT64_MAX;
        return true;
    }
    return false;
}

void hd_price_memo_put(struct hd_price_memo *m, uint64_t key, const struct hd_machine *on,
                       struct hd_price price) {
    uint64_t cycles = (uint64_t)price.cycles,
             needs = (uint64_t)price.wm << WM_AT | (uint64_t)price.pm << PM_AT |
                     (price.ops >> PM_AT ? (1u << PM_AT) - 1 : price.ops);
    key = key_in(key, on, price.wm_round, price.pm_round);
    struct price *p = slot(m, key);
    for (size_t i = 0; p->cycles && (p->check ^ p->cycles ^ p->needs) != key && i < TRIES; i++)
        p = slot(m, key + i);
    p->check = key ^ cycles ^ needs;
    p->cycles = cycles;
    p->needs = needs;
}
