/* LX and LW in time, register by register: the address side that all three DMA engines have
 * (hd_lx_gen, hd_lw, hd_st_gen), and the data sides of loads. */
#include "sim/iss_int.h"

/* ---- address side --------------------------------------------------------------------------- */

void hd_iss_gen_start(hd_iss *iss, struct dma_gen *g, enum hd_unit u, const uint32_t *words,
                      unsigned err) {
    g->joining = true;
    hd_iss_walk(iss, u, words, &g->next);
    g->next.fails = err != HD_ERR_none;
    g->next.bad = (uint8_t)(err ? hd_iss_dma_error(iss, u, words) : HD_ERR_none);
    g->next_base = g->next.seg ? iss->reg.arena_ptr : iss->reg.image_ptr;
    g->joined = iss->now + 1 + g->next.n_joined;
}

/* The run at which the walk is. */
static void run_of(const hd_iss *iss, const struct dma_gen *g, struct dma_run *r) {
    const struct run_walk *w = &g->walk;
    hd_iss_walk_valid(w, &r->lo, &r->hi);
    r->addr = g->base + (uint32_t)(hd_iss_walk_dram(w) + r->lo);
    r->chip = hd_iss_walk_chip(w);
    r->run = w->run;
    uint64_t axi = (uint64_t)iss->axi, bytes = (uint64_t)(r->hi - r->lo);
    r->beats = bytes ? (uint32_t)((bytes + r->addr % axi + axi - 1) / axi) : 0;
    r->in_am = w->in_am;
    r->shrink = (uint8_t)w->shrink;
    r->last = true;
    for (int l = 0; l < 3; l++) r->last = r->last && w->i[l] + 1 >= w->n[l];
    r->err = HD_ERR_none;
    if (!w->fails) return;
    r->err = w->bad ? w->bad : (uint8_t)hd_iss_run_error(iss, w);
    if (r->err) r->beats = 0;
}

uint32_t hd_iss_gen_burst(const hd_iss *iss, const struct dma_gen *g) {
    uint64_t axi = (uint64_t)iss->axi, at = g->mid ? g->at : g->c.addr;
    uint32_t left = g->mid ? g->left : g->c.beats, most = hd_burst_beats(&iss->m);
    uint32_t to_page = (uint32_t)((4096 - at % 4096 + axi - 1) / axi);
    if (most > to_page) most = to_page;
    return left < most ? left : most;
}

void hd_iss_gen_sent(hd_iss *iss, struct dma_gen *g, uint32_t beats) {
    uint64_t axi = (uint64_t)iss->axi, at = g->mid ? g->at : g->c.addr / axi * axi;
    g->left = (g->mid ? g->left : g->c.beats) - beats;
    g->at = at + beats * axi;
    g->mid = g->left > 0;
}

void hd_iss_gen_step(hd_iss *iss, struct dma_gen *g, enum hd_unit u, bool c_done) {
    bool c_ready = !g->c_valid || c_done,
         b_ready = u == HD_UNIT_lx ? !g->b_valid || c_ready : c_ready;
    bool a_adv = g->walking && b_ready;
    struct dma_run run;
    if (a_adv) run_of(iss, g, &run);
    bool fail = u == HD_UNIT_lx ? g->b_valid && c_ready && g->b.err : a_adv && run.err;
    if (fail) { /* nothing follows it */
        g->halted = true;
        iss->front[u].engine_free = HD_NEVER;
    }
    if (c_ready && u == HD_UNIT_lx) {
        g->c_valid = g->b_valid;
        if (g->b_valid) g->c = g->b;
    } else if (c_ready) {
        g->c_valid = a_adv;
        if (a_adv) g->c = run;
    }
    if (b_ready && u == HD_UNIT_lx) {
        g->b_valid = a_adv && !fail;
        if (a_adv) g->b = run;
    }
    bool a_last = a_adv && run.last, a_free = !g->walking || a_last;
    if (a_adv) hd_iss_walk_next(&g->walk);
    if (a_last || g->halted) g->walking = false;
    if (g->halted) g->joining = false;
    if (!g->joining || iss->now < g->joined || !a_free) return;
    g->joining = false;
    g->walking = true;
    g->walk = g->next;
    g->base = g->next_base;
    hd_iss_engine_free(iss, u, iss->now + 1);
}

uint64_t hd_iss_gen_next(const hd_iss *iss, const struct dma_gen *g) {
    if (g->c_valid) return g->c.beats && g->open == HD_N_open_bursts ? HD_NEVER : iss->now + 1;
    if (g->walking || g->b_valid) return iss->now + 1;
    return !g->joining ? HD_NEVER : g->joined > iss->now ? g->joined : iss->now + 1;
}

/* ---- loads ---------------------------------------------------------------------------------- */

bool hd_iss_load_asks(const hd_iss *iss, const struct load *l, uint32_t *out_beats) {
    const struct dma_gen *g = &l->gen;
    if (!g->c_valid || !g->c.beats || g->open == HD_N_open_bursts) return false;
    if (!g->mid && l->runs.n == HD_N_load_records) return false;
    *out_beats = hd_iss_gen_burst(iss, g);
    return true;
}

void hd_iss_load_addr(hd_iss *iss, enum hd_unit u, bool room, uint32_t sent) {
    struct load *l = &iss->load[u == HD_UNIT_lw];
    struct dma_gen *g = &l->gen;
    bool done = false, record = false;
    if (sent) {
        record = !g->mid;
        hd_iss_gen_sent(iss, g, sent);
        g->open++;
        done = !g->mid;
    } else if (g->c_valid && !g->c.beats) { /* padding alone */
        record = done = room;
    }
    if (record) l->runs.r[(l->runs.head + l->runs.n++) % HD_N_load_records] = g->c;
    hd_iss_gen_step(iss, g, u, done);
}

static int64_t clamp(int64_t v, int64_t hi) {
    return v < 0 ? 0 : v > hi ? hi : v;
}

static void take_run(const hd_iss *iss, struct load *l) {
    l->run = l->runs.n > 0;
    if (!l->run) return;
    const struct dma_run *r = &l->runs.r[l->runs.head];
    int64_t axi = iss->axi, off = r->chip % axi, sa = (int64_t)(r->addr % (uint64_t)axi);
    l->runs.head = (l->runs.head + 1) % HD_N_load_records;
    l->runs.n--;
    l->last = r->last;
    l->in_am = r->in_am;
    l->err = r->err;
    l->chip = r->chip - off;
    l->end = r->run + off;
    l->lo = r->lo + off;
    l->hi = r->hi + off;
    l->beats = r->beats;
    l->prime = l->lo % axi < sa;
}

/* The chunk at hand has data in it. */
static bool has_data(const hd_iss *iss, const struct load *l) {
    return clamp(l->lo, iss->axi) < clamp(l->hi, iss->axi);
}

bool hd_iss_lx_data(hd_iss *iss, bool here, const struct hd_iss_banks *taken) {
    struct load *l = &iss->load[0];
    bool granted = false;
    if (l->out)
        granted = l->out_am ? !(taken->am_write >> (l->out_chip >> iss->am_shift) & 1)
                            : !(taken->xm_write >> (l->out_chip >> iss->xm_shift) & 1);
    bool ok = l->run && !l->err;
    bool free = !l->out || granted, data = ok && has_data(iss, l), needs = data && l->beats;
    bool final = l->end <= iss->axi, prime = data && l->prime;
    bool fire = ok && !prime && free && (!needs || here);
    if (l->run && l->err && !l->out) hd_iss_unit_fails(iss, iss->now + 1, l->err, HD_UNIT_lx);
    bool takes = here && data && (prime || (needs && free));
    iss->total.count[HD_UNIT_lx].stall_mem += ok && (prime || (needs && free)) && !here;
    iss->total.count[HD_UNIT_lx].stall_bank += l->out && !granted;
    if (l->out && granted && l->out_last) hd_iss_engine_done(iss, HD_UNIT_lx, iss->now + 1);
    if (free) l->out = fire;
    if (fire) {
        l->out_last = l->last && final;
        l->out_am = l->in_am;
        l->out_chip = l->chip;
    }
    if (!l->run || (fire && final)) {
        take_run(iss, l);
    } else if (fire || (prime && here)) {
        l->beats -= needs;
        l->prime = l->prime && !prime;
        if (fire) {
            l->chip += iss->axi;
            l->end -= iss->axi;
            l->lo -= iss->axi;
            l->hi -= iss->axi;
        }
    }
    return takes;
}

void hd_iss_lw_data(hd_iss *iss, bool here) {
    struct load *l = &iss->load[1];
    struct dma_run *r = &l->runs.r[l->runs.head];
    iss->total.count[HD_UNIT_lw].stall_mem += l->runs.n && !here;
    if (l->runs.n && r->err) hd_iss_unit_fails(iss, iss->now + 1, r->err, HD_UNIT_lw);
    if (!here || --r->beats) return;
    if (r->last) hd_iss_engine_done(iss, HD_UNIT_lw, iss->now + 1);
    l->runs.head = (l->runs.head + 1) % HD_N_load_records;
    l->runs.n--;
}

uint64_t hd_iss_load_next(const hd_iss *iss, enum hd_unit u) {
    const struct load *l = &iss->load[u == HD_UNIT_lw];
    bool busy = u == HD_UNIT_lx &&
                (l->out || (!l->run && l->runs.n) || (l->run && !(l->beats && has_data(iss, l))));
    if (u == HD_UNIT_lw && l->runs.n) busy = l->runs.r[l->runs.head].err;
    return busy ? iss->now + 1 : hd_iss_gen_next(iss, &l->gen);
}

void hd_iss_load_waits(hd_iss *iss, uint64_t cycles) {
    iss->total.count[HD_UNIT_lx].stall_mem += iss->load[0].run ? cycles : 0;
    iss->total.count[HD_UNIT_lw].stall_mem += iss->load[1].runs.n ? cycles : 0;
}
