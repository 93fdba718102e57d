/* Memory planning: which tensors stay in XM for their whole life, and where tensors lie in XM and
 * in the arena.
 *
 * needs: layers and mtensors (partition)
 * gives: resident / xm, in_arena / arena, the XM ring, tiles and chains of every layer, activation
 *        memory figures
 * destroys: nothing
 *
 * XM is cut in two: the lower part holds resident tensors (place.c), the upper part is a ring of
 * tile buffers for tensors that stream from and to DRAM. Every cut is tried, with chains of
 * layers (chain.c) and without; those with the fewest estimated cycles (cost/estimate.c) are
 * improved layer by layer (refine.c), and the best wins. Plans are tried beside each other, each on
 * a copy (struct attempt), with the same result for any number of threads. The arena is placed by
 * liveness, too, except that what crosses the border of a step keeps its own place.
 */
#include <string.h>

#include "compiler/layer/kind.h"
#include "compiler/search/search.h"
#include "runtime/base/num.h"
#include "runtime/base/parallel.h"

enum { CHAINS = 4, MOST_PLANS = HD_MOST_cuts * CHAINS };

/* A rolling chain that has no room tries a ring without banks of its own, then whole tensors. */
static bool stop_rolling(struct hd_lowering *lo) {
    bool any = false;
    for (size_t i = 0; i < lo->n_layers; i++) {
        const struct hd_layer *l = &lo->layers[i];
        struct hd_tiling *lt = &lo->plan->tilings[i];
        bool room = l->tag == lt->chain_last || lo->plan->places[l->out].resident;
        if (!lt->roll_th || (room && !lo->too_big[l->node].why)) continue;
        lo->plan->tilings[lt->chain_first].no_room++;
        any = true;
        i = (size_t)lt->chain_last;
    }
    return any;
}

/* A chain through which a tensor streams wants a ring of its own. */
static bool wants_ring(struct hd_lowering *lo) {
    bool any = false;
    for (size_t i = 0; i < lo->n_layers; i++) {
        const struct hd_layer *l = &lo->layers[i];
        struct hd_tiling *lt = &lo->plan->tilings[i];
        if (lt->roll_th || lt->own_ring || lt->beside || l->tag == lt->chain_last ||
            lo->plan->places[l->out].resident)
            continue;
        for (int k = lt->chain_first; k <= lt->chain_last; k++)
            lo->plan->tilings[k].own_ring = true;
        any = true;
    }
    return any;
}

static hd_status try_plan(struct hd_lowering *lo, struct hd_room *spans, int plan) {
    int cut = plan / CHAINS;
    hd_status s = HD_OK;
    TRY(hd_continue(lo->ctx));
    hd_choose_chains(lo, (enum hd_chains)(plan % CHAINS));
    const int *ids = hd_by_size(lo);
    lo->plan->xm_ring_bytes = lo->m->xm_bytes / (uint32_t)(hd_knob(lo)->cuts - 1) * (uint32_t)cut;
    hd_choose_rings(lo);
    hd_place_residents(lo, ids, spans);
    for (size_t i = 0; i < lo->n_layers; i++)
        lo->too_big[lo->layers[i].node].why = HD_FITS; /* not by another cut */
    hd_part_rings(lo);
    for (size_t i = 0; i < lo->n_layers; i++) {
        struct hd_tiling *lt = &lo->plan->tilings[i];
        lt->ask_tiles = lt->ask_nb = 0, lt->ask_order = HD_ORDER_ANY;
        struct hd_refusal why = hd_choose_tiles(lo, lt);
        if (why.why) lo->too_big[lt->l->node] = why, s = HD_UNSUPPORTED;
    }
    hd_place_arena(lo, ids, spans);
    if (lo->plan->arena_bytes <= UINT32_MAX) return s;
    int64_t bytes = (int64_t)lo->plan->arena_bytes,
            made = lo->tensors[ids[0]].def; /* the largest */
    lo->too_big[lo->layers[hd_max(made, 0)].node] = HD_REFUSE_N(arena, bytes);
    return HD_UNSUPPORTED;
}

static hd_status plan_with_ring(struct hd_lowering *lo, struct hd_room *spans, int plan) {
    hd_status s;
    for (size_t i = 0; i < lo->n_layers; i++)
        lo->plan->tilings[i].no_room = 0, lo->plan->tilings[i].own_ring = false;
    do s = try_plan(lo, spans, plan);
    while (stop_rolling(lo) || wants_ring(lo)); /* ends: each chain gets one, or rolls less */
    return s;
}

size_t hd_step_end(const struct hd_lowering *lo, size_t i) {
    int step = lo->layers[i].step;
    while (i < lo->n_layers && lo->layers[i].step == step) i++;
    return i;
}

/* Cycles of the whole plan, of each step apart; INT64_MAX for more than `most`. */
static int64_t plan_cycles(struct hd_lowering *lo, int64_t most, bool refined) {
    int64_t cycles = 0;
    for (size_t i = 0, end; i < lo->n_layers; i = end) {
        end = hd_step_end(lo, i);
        int64_t left = most == INT64_MAX ? most : most - cycles,
                step = left > 0 ? hd_estimate_step(lo, i, end, left, refined) : INT64_MAX;
        if (step == INT64_MAX) return step;
        cycles += step;
    }
    return cycles;
}

void hd_plan_report(struct hd_lowering *lo) {
    hd_model *m = lo->model;
    int64_t top = 0;
    for (size_t i = 0; i < lo->n_tensors; i++) {
        const struct hd_mtensor *t = &lo->tensors[i];
        const struct hd_placement *tp = &lo->plan->places[i];
        if (t->base >= 0 || t->constant) continue;
        m->naive_bytes += hd_mtensor_dram_bytes(t);
        if (tp->resident) top = hd_max(top, tp->xm + hd_mtensor_xm_bytes(tp));
    }
    m->planned_bytes = top + (int64_t)lo->plan->arena_bytes;
    for (size_t l = 0; l < lo->n_layers; l++) {
        int64_t live = 0;
        for (size_t i = 0; i < lo->n_tensors; i++) {
            const struct hd_mtensor *t = &lo->tensors[i];
            if (t->base < 0 && !t->constant && hd_first_use(lo, t) <= (int)l &&
                hd_last_use(lo, t) >= (int)l)
                live += hd_mtensor_dram_bytes(t);
        }
        m->lower_bound_bytes = hd_max(m->lower_bound_bytes, live);
    }
}

/* What a plan decided about tensors and rings, as a number. */
static uint32_t decisions(const struct hd_lowering *lo) {
    uint32_t h = HD_HASH_INIT;
    for (size_t i = 0; i < lo->n_tensors; i++) {
        const bool is[2] = {lo->plan->places[i].resident, lo->plan->places[i].roll > 0};
        h = hd_hash(h, is, sizeof is);
    }
    for (size_t i = 0; i < lo->n_layers; i++)
        h = hd_hash(h, &lo->plan->tilings[i].ring_bytes, sizeof lo->plan->tilings[i].ring_bytes);
    return h;
}

struct hd_window hd_chain_window(const struct hd_lowering *lo, size_t i) {
    const struct hd_layer *l = lo->layers;
    const struct hd_tiling *lt = lo->plan->tilings;
    size_t first = (size_t)lt[i].chain_first, end = (size_t)lt[i].chain_last + 1;
    struct hd_window w = {first, end, first, end};
    if (first > 0 && l[first - 1].step == l[i].step) w.from = (size_t)lt[first - 1].chain_first;
    if (end < lo->n_layers && l[end].step == l[i].step) w.to = (size_t)lt[end].chain_last + 1;
    return w;
}

/* Chains in the window stay between its borders, whatever room others leave them. */
static void keep_borders(struct hd_lowering *lo, const struct hd_window *w) {
    const size_t at[] = {w->from, w->first, w->end, w->to};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++)
        if (at[i] < lo->n_layers) lo->plan->tilings[at[i]].alone = true;
}

/* Rolling chains with tiles of half the rows, or a quarter: the shorter VX is busy with one, the
 * sooner it is there for MX. Or with more slots where that displaces nothing: a smaller part of
 * their rows is written twice. */
static hd_status improve_rolling(struct hd_lowering *lo, struct hd_room *spans, int plan,
                                 bool slots) {
    struct hd_plan best_plan = hd_plan_copy(lo->plan, lo->arena);
    uint32_t as_is = decisions(lo);
    int most = slots ? hd_knob(lo)->most_slots : hd_knob(lo)->halvings;
    for (size_t i = 0; i < lo->n_layers; i = (size_t)lo->plan->tilings[i].chain_last + 1) {
        struct hd_tiling *lt = &lo->plan->tilings[i];
        int *ask = slots ? &lt->more_slots : &lt->finer;
        if (!lt->roll_th) continue;
        struct hd_window w = hd_chain_window(lo, i);
        keep_borders(lo, &w);
        int64_t least = hd_estimate_layers(lo, w.from, w.to, INT64_MAX);
        hd_plan_assign(&best_plan, lo->plan);
        for (*ask = 1; *ask <= most; *ask += slots ? *ask : 1) {
            hd_status s = plan_with_ring(lo, spans, plan);
            if (s != HD_OK || (slots ? decisions(lo) != as_is : !lt->roll_th)) break;
            int64_t now = hd_estimate_layers(lo, w.from, w.to, least - 1);
            if (now < least) least = now, hd_plan_assign(&best_plan, lo->plan);
        }
        hd_clear(lo->ctx);
        TRY(hd_continue(lo->ctx));
        hd_plan_assign(lo->plan, &best_plan);
    }
    return HD_OK;
}

/* A layer that works on one pixel at a time: it gains little from its chain. */
static bool elementwise(const struct hd_layer *l) {
    return !l->kind->weights && l->kh * l->kw == 1;
}

/* Chains in two, in front of such layers and behind them, and between products, where that is
 * sooner. */
static hd_status part_chains(struct hd_lowering *lo, struct hd_room *spans, int plan) {
    struct hd_plan as_was = hd_plan_copy(lo->plan, lo->arena);
    for (size_t i = 1; i < lo->n_layers; i++) {
        struct hd_tiling *lt = &lo->plan->tilings[i];
        struct hd_window w = hd_chain_window(lo, i);
        bool deep = lt->deep && lt->l->kind->product;
        if (w.first == i || !(deep || elementwise(lt->l) || elementwise(lt[-1].l))) continue;
        int64_t whole = hd_estimate_layers(lo, w.from, w.end, INT64_MAX);
        hd_plan_assign(&as_was, lo->plan);
        keep_borders(lo, &w);
        lt->alone = true;
        if (plan_with_ring(lo, spans, plan) == HD_OK &&
            hd_estimate_layers(lo, w.from, w.end, whole - 1) < whole)
            continue;
        hd_clear(lo->ctx);
        TRY(hd_continue(lo->ctx));
        hd_plan_assign(lo->plan, &as_was);
    }
    return HD_OK;
}

/* The plan, with tiles refined. */
static hd_status refined(struct hd_lowering *lo, struct hd_room *spans, int plan) {
    for (size_t i = 0; i < lo->n_layers; i++)
        lo->plan->tilings[i].more_slots = lo->plan->tilings[i].finer = 0,
        lo->plan->tilings[i].alone = false;
    TRY(plan_with_ring(lo, spans, plan));
    TRY(part_chains(lo, spans, plan));
    TRY(improve_rolling(lo, spans, plan, false));
    TRY(improve_rolling(lo, spans, plan, true));
    for (size_t i = 0; i < lo->n_tensors; i++) {
        lo->plan->places[i].use_first = hd_first_use(lo, &lo->tensors[i]);
        lo->plan->places[i].use_last = hd_last_use(lo, &lo->tensors[i]);
    }
    return hd_refine_tiles(lo);
}

/* It has chains of the kind that it is to have; else another plan is the same. */
static bool is_of_kind(const struct hd_lowering *lo, enum hd_chains kind) {
    bool any = kind < HD_CHAINS_ROLLING;
    for (size_t i = 0; i < lo->n_layers && !any; i++)
        any = kind == HD_CHAINS_DEEP ? lo->plan->tilings[i].deep : lo->plan->tilings[i].roll_th > 0;
    return any;
}

/* Plans that are tried beside each other. */
struct attempts {
    const struct hd_lowering *lo;
    bool refine;
    size_t limit_ops; /* hd_lowering.limit_ops */
    int64_t most;     /* cycles that are worth to be known */
    struct attempt {
        int plan;
        bool ordered;   /* hd_lowering.ordered */
        int64_t cycles; /* INT64_MAX: it is none */
        size_t ops;
        struct hd_plan *found; /* NULL = not wanted; in memory that lives as long as lo */
    } of[2 * MOST_PLANS];
    int n, first;
    hd_arena *scratch[HD_MOST_threads];
};

static hd_status make_plan(struct hd_lowering *lo, int plan, bool refine) {
    struct hd_room *spans = hd_new_array(lo->arena, struct hd_room, 4 * lo->n_tensors + 1);
    return refine ? refined(lo, spans, plan) : plan_with_ring(lo, spans, plan);
}

/* One of them, on a copy of what plans change; the rest of lo is read only. */
static void try_one(void *arg, int64_t i, int thread) {
    struct attempts *a = arg;
    struct attempt *t = &a->of[a->first + i];
    struct hd_lowering lo = *a->lo;
    lo.ctx = hd_ctx_for_thread(a->lo->ctx);
    lo.arena = hd_arena_create(), lo.scratch = a->scratch[thread];
    struct hd_plan plan = hd_plan_copy(a->lo->plan, lo.arena);
    lo.plan = &plan;
    lo.ordered = t->ordered, lo.limit_ops = a->limit_ops;
    lo.too_big = hd_dup(lo.arena, lo.too_big, lo.g->n_nodes * sizeof *lo.too_big);
    t->cycles = INT64_MAX;
    if (hd_continue(lo.ctx) == HD_OK && make_plan(&lo, t->plan, a->refine) == HD_OK &&
        is_of_kind(&lo, (enum hd_chains)(t->plan % CHAINS))) {
        t->cycles = plan_cycles(&lo, a->most, a->refine), t->ops = lo.most_ops;
        if (t->found) hd_plan_assign(t->found, lo.plan);
    }
    hd_arena_destroy(lo.arena);
    hd_ctx_destroy(lo.ctx);
}

/* Those from `first` on. */
static void try_all(struct attempts *a, int first) {
    int64_t room = hd_knob(a->lo)->ops / hd_max(1, (int64_t)a->lo->most_ops);
    int threads = (int)hd_max(1, hd_min(room, hd_min(hd_cores(), hd_knob(a->lo)->threads)));
    if (a->lo->opt->threads) threads = (int)hd_min(threads, a->lo->opt->threads);
    if (!hd_threads_open(threads)) threads = 1;
    a->first = first;
    for (int i = 0; i < threads; i++) a->scratch[i] = hd_arena_create();
    hd_parallel(threads, a->n - first, try_one, a);
    for (int i = 0; i < threads; i++) hd_arena_destroy(a->scratch[i]);
}

/* The best plan with coarse tiles need not be the best with refined ones, and chains gain most: of
 * each kind of chains the most promising are refined, of a short program, where beginning and
 * end count, all that come near. The longer a program, the less refinement gains, and the nearer
 * they have to be. */
static hd_status best_refined(struct hd_lowering *lo, int64_t *cycles, int best) {
    bool is_long = cycles[best] >= hd_knob(lo)->refine_one;
    int part = hd_knob(lo)->near * (is_long ? 48 : cycles[best] < hd_knob(lo)->whole_step ? 1 : 8);
    int64_t least = INT64_MAX, near = cycles[best] + cycles[best] / part;
    bool brief = lo->most_ops < (size_t)hd_knob(lo)->refine_all;
    int ways = brief ? 2 : 1;
    int most = is_long ? 1 : hd_knob(lo)->plans;
    int tried[CHAINS] = {0};
    struct attempts a = {.lo = lo, .refine = true, .most = INT64_MAX};
    for (int n = 0, plans = CHAINS * hd_knob(lo)->cuts; n < plans; n++) {
        int next = 0;
        for (int plan = 1; plan < plans; plan++)
            if (cycles[plan] < cycles[next]) next = plan;
        int64_t coarse = cycles[next];
        if (coarse > near) break;
        for (int plan = 0; plan < plans; plan++) { /* many cuts make nearly the same plan */
            bool deep = plan % CHAINS == HD_CHAINS_DEEP && next % CHAINS == HD_CHAINS_DEEP;
            if (plan == next || (cycles[plan] == coarse && (!brief || deep)))
                cycles[plan] = INT64_MAX;
        }
        if (!brief && tried[next % CHAINS]++ >= most) continue;
        for (int ordered = 0; ordered < ways; ordered++) {
            struct attempt *t = &a.of[a.n++];
            t->plan = next, t->ordered = ordered;
            t->found = hd_new(lo->arena, struct hd_plan);
            *t->found = hd_plan_copy(lo->plan, lo->arena);
        }
    }
    try_all(&a, 0);
    TRY(hd_continue(lo->ctx));
    struct hd_plan *found = NULL;
    for (int i = 0; i < a.n; i++)
        if (a.of[i].cycles < least)
            found = a.of[i].found, least = a.of[i].cycles, best = a.of[i].plan,
            lo->ordered = a.of[i].ordered;
    if (!found) return make_plan(lo, best, true);
    hd_plan_assign(lo->plan, found);
    for (int i = 0, stuck = 0; i < hd_knob(lo)->sweeps && least < hd_knob(lo)->refine_one; i++) {
        TRY(hd_refine_tiles(lo)); /* what is best depends on the neighbours */
        int64_t now = plan_cycles(lo, INT64_MAX, true);
        if (now < least) {
            hd_plan_assign(found, lo->plan), least = now, stuck = 0;
            continue;
        }
        if (++stuck == ways) break;
        lo->ordered = !lo->ordered; /* from the same plan in the other way */
        hd_plan_assign(lo->plan, found);
    }
    hd_plan_assign(lo->plan, found);
    return HD_OK;
}

/* Cycles of coarse plans, by their number; INT64_MAX: it is none, or was not tried. */
struct coarse {
    int64_t cycles[MOST_PLANS];
    int best; /* -1: there is none */
};

/* Tries those from `first` on. */
static hd_status look_at(struct attempts *a, int first, struct coarse *c) {
    try_all(a, first);
    TRY(hd_continue(a->lo->ctx));
    for (int i = 0; i < a->n; i++) {
        c->cycles[a->of[i].plan] = a->of[i].cycles;
        if (a->of[i].cycles < INT64_MAX && (c->best < 0 || a->of[i].cycles <= c->cycles[c->best]))
            c->best = a->of[i].plan;
    }
    return HD_OK;
}

/* Of a long program, from `first` on: each second cut, and no chains of whole tensors, which are
 * what rolling ones without room become. */
static void leave_out(struct attempts *a, int first) {
    int n = first;
    for (int i = first; i < a->n; i++) {
        int cut = a->of[i].plan / CHAINS, kind = a->of[i].plan % CHAINS;
        if (cut % 2 == 0 && kind != HD_CHAINS_WHOLE) a->of[n++] = a->of[i];
    }
    a->n = n;
}

/* Then the cuts beside the best one. */
static hd_status look_beside(struct attempts *a, struct coarse *c) {
    const int plans = CHAINS * hd_knob(a->lo)->cuts, first = a->n;
    for (int plan = c->best - CHAINS; plan <= c->best + CHAINS; plan += 2 * CHAINS)
        if (plan >= 0 && plan < plans) a->of[a->n++] = (struct attempt){.plan = plan};
    return look_at(a, first, c);
}

static hd_status search_plans(struct hd_lowering *lo) {
    struct coarse c = {.best = -1};
    bool any_chain = false;
    hd_choose_chains(lo, HD_CHAINS_DEEP);
    for (size_t i = 0; i < lo->n_layers; i++)
        any_chain = any_chain || lo->plan->tilings[i].chain_last > lo->plan->tilings[i].chain_first;
    struct attempts a = {.lo = lo, .most = INT64_MAX};
    const int plans = CHAINS * hd_knob(lo)->cuts;
    for (int plan = plans - 1; plan >= 0; plan--) { /* each cut, chains of a kind */
        c.cycles[plan] = INT64_MAX;
        if (plan % CHAINS == HD_CHAINS_NONE || any_chain) a.of[a.n++].plan = plan;
    }
    int alone = 0; /* until one tells how many operations there are; the largest ring needs least */
    for (; alone < a.n && !lo->most_ops; alone++)
        try_one(&a, alone, 0), lo->most_ops = a.of[alone].ops;
    a.limit_ops = (size_t)hd_max(2 * (int64_t)lo->most_ops, hd_knob(lo)->ops);
    const int64_t found = alone ? a.of[alone - 1].cycles : INT64_MAX;
    bool is_long = found < INT64_MAX && found >= hd_knob(lo)->refine_one;
    if (found < INT64_MAX) a.most = found + found / hd_knob(lo)->near; /* no other is refined */
    if (is_long) leave_out(&a, alone);
    TRY(look_at(&a, alone, &c));
    if (c.best < 0) /* the message of the plan that has all of XM for streaming */
        return make_plan(lo, a.of[0].plan, false);
    if (is_long) TRY(look_beside(&a, &c));
    return best_refined(lo, c.cycles, c.best);
}

/* needs / gives / destroys: see the head of this file. */
hd_status hd_plan_memory(struct hd_lowering *lo) {
    struct hd_price_memo *own = NULL;
    if (lo->layers_text)
        lo->prices = lo->opt->prices, lo->prices_of = hd_prices_of(lo, lo->layers_text);
    else
        lo->prices = own = hd_price_memo_create(hd_knob(lo)->prices, -1);
    hd_status s = search_plans(lo);
    hd_price_memo_destroy(own);
    lo->prices = NULL;
    return s;
}
