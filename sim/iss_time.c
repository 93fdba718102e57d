/* Engines in time: when each operation's work ends, and the bursts that loads and stores put on the
 * bus. */
#include "sim/iss_int.h"

static uint64_t later(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

static bool fail(hd_iss *iss, enum hd_unit u, unsigned err) {
    hd_iss_error(iss, err, u, iss->front[u].cur.pc);
    return false;
}

/* ---- MX and VX ------------------------------------------------------------------------------ */

/* Completions come in order: those behind the one at index i of front.fly. */
static void move_later(struct front *f, uint32_t i) {
    uint32_t end = (f->f_head + f->f_n) % HD_IN_FLIGHT;
    for (uint32_t j = (i + 1) % HD_IN_FLIGHT; j != end && j != f->f_head;
         i = j, j = (j + 1) % HD_IN_FLIGHT)
        f->fly[j].done = later(f->fly[j].done, f->fly[i].done + 1);
}

/* The VX operation that issues lets the next one in at cycle `end`. */
static void vx_ends(hd_iss *iss, uint64_t end) {
    struct front *f = &iss->front[HD_UNIT_vx];
    f->engine_free = end;
    f->fly[iss->vx_fly].done = end + iss->vx_drain;
    for (int i = 0; i < HD_VX_PLACES; i++) iss->vx_from[i] = end + iss->vx_late.at[i];
    if (iss->vx_late.fn_behind) iss->vx_fn_end = end;
    if (iss->vx_late.turns) iss->vx_turn_end = end + iss->vx_drain - 1;
    *(iss->vx_to_am ? &iss->vx_am_end : &iss->vx_xm_end) = end + iss->vx_drain - 1;
}

/* An MX operation starts, perhaps under a VX operation. */
static void mx_against_vx(hd_iss *iss, const uint32_t *words) {
    struct front *f = &iss->front[HD_UNIT_vx];
    uint64_t stall, end = f->engine_free;
    hd_iss_bank_mx(iss, words);
    if (end <= iss->now) return;
    uint64_t later_end = hd_iss_bank_vx_end(iss, &stall);
    if (later_end <= end) return;
    iss->count[HD_UNIT_vx].stall_bank += later_end - end;
    vx_ends(iss, later_end);
    move_later(f, iss->vx_fly);
}

static bool start_mx(hd_iss *iss, uint32_t slot) {
    struct front *f = &iss->front[HD_UNIT_mx];
    uint64_t iterations;
    unsigned err = hd_iss_mx(iss, f->words, &iterations);
    if (err) return fail(iss, HD_UNIT_mx, err);
    if (iterations <= iss->budget) mx_against_vx(iss, f->words);
    f->engine_free = iss->now + iterations;
    f->fly[slot].done = f->engine_free + HD_T_MX_DONE;
    return true;
}

/* A VX operation that writes XM in cycles from..to holds LX where both want one bank. */
static void vx_against_lx(hd_iss *iss, unsigned code, const uint32_t *words, uint64_t from,
                          uint64_t to) {
    struct front *f = &iss->front[HD_UNIT_lx];
    struct dma *d = &iss->dma[HD_UNIT_lx];
    uint64_t first = 0, moved = hd_iss_bank_lx_waits(iss, code, words, from, to, &first);
    if (!moved) return;
    iss->count[HD_UNIT_lx].stall_bank += moved;
    d->data_free += moved;
    d->last += moved;
    hd_axi_time_hold_read(iss->mem, d->data_free - HD_T_DATA - 2);
    for (uint32_t i = 0; i < f->f_n; i++) {
        uint64_t *done = &f->fly[(f->f_head + i) % HD_IN_FLIGHT].done;
        if (*done != HD_NEVER && *done > first + HD_T_LX_DONE) *done += moved;
    }
}

static void late_of(unsigned code, const uint32_t *words, struct vx_late *o) {
#define GET(f) hd_field_get(words, HD_F_vx_##f)
    enum { MUL = 3, TURNED = 3 };
    bool dw = code == hd_isa_ops[HD_OP_vx_dw].code, fn = GET(fn) != 0;
    *o = (struct vx_late){.turns = GET(d_kind) == TURNED};
    o->fn_before = fn && GET(alu) == MUL;
    o->fn_behind = fn && !o->fn_before;
    o->at[0] = dw ? HD_T_VX_DW : GET(lanes) ? HD_T_VX_ACROSS : 0;
    o->at[1] = o->at[0] + (o->fn_before ? HD_T_VX_FN : 0);
    o->at[2] = o->at[0] + (fn ? HD_T_VX_FN : 0);
    o->at[3] = o->at[2] + (GET(lut) ? HD_T_VX_LUT : 0);
    o->at[4] = dw ? HD_T_VX_DW : 0; /* before the reduction */
#undef GET
}

/* An operation that reads XM or AM begins when the one in flight that writes it has ended. */
static bool start_vx(hd_iss *iss, uint32_t slot) {
    struct front *f = &iss->front[HD_UNIT_vx];
    uint64_t cycles, begin = iss->now;
    unsigned err = hd_iss_vx(iss, f->cur.op.code, f->words, &cycles);
    if (err) return fail(iss, HD_UNIT_vx, err);
    int64_t a = hd_field_get(f->words, HD_F_vx_a_kind), b = hd_field_get(f->words, HD_F_vx_b_kind);
    int64_t d = hd_field_get(f->words, HD_F_vx_d_kind);
    if (hd_field_get(f->words, HD_F_vx_alu) == 0) b = 4;
    if (a < 2 || b < 2) begin = later(begin, iss->vx_am_end);
    if (a == 2 || a == 3 || b == 2 || b == 3) begin = later(begin, iss->vx_xm_end);
    struct vx_late late;
    late_of(f->cur.op.code, f->words, &late);
    for (int i = 0; i < HD_VX_PLACES; i++)
        if (iss->vx_from[i] > late.at[i]) begin = later(begin, iss->vx_from[i] - late.at[i]);
    if (late.fn_before)
        begin = later(begin, iss->vx_fn_end ? iss->vx_fn_end + HD_T_VX_FN_SWITCH : 0);
    if (!late.turns) begin = later(begin, iss->vx_turn_end);
    iss->vx_late = late;
    iss->vx_fly = slot;
    iss->vx_drain = HD_T_VX_DONE + late.at[3] + (late.turns ? iss->m.n + 1 : 0);
    iss->vx_to_am = d == 1 || d == 2;
    uint64_t stall = 0, end = begin + cycles;
    if (cycles <= iss->budget) {
        hd_iss_bank_vx(iss, f->cur.op.code, f->words, begin, cycles);
        end = hd_iss_bank_vx_end(iss, &stall);
    }
    iss->count[HD_UNIT_vx].stall_bank += stall;
    vx_ends(iss, end);
    if (!iss->vx_to_am && cycles <= iss->budget)
        vx_against_lx(iss, f->cur.op.code, f->words, begin + iss->vx_drain, end + iss->vx_drain);
    return true;
}

/* ---- LX, LW, ST ----------------------------------------------------------------------------- */

static void begin_dma(hd_iss *iss, enum hd_unit u, const struct dma_op *op) {
    struct dma *d = &iss->dma[u];
    d->active = true;
    d->in_run = false;
    d->walk = op->walk;
    d->base = op->base;
    d->fly = op->fly;
    d->tag = op->tag;
    d->stall_mem = iss->count[u].stall_mem;
    d->next = later(op->first, iss->now + 1);
}

static bool start_dma(hd_iss *iss, enum hd_unit u, uint32_t slot) {
    struct front *f = &iss->front[u];
    struct dma *d = &iss->dma[u];
    unsigned err = u == HD_UNIT_lx   ? hd_iss_lx(iss, f->words)
                   : u == HD_UNIT_lw ? hd_iss_lw(iss, f->words)
                                     : hd_iss_st(iss, f->words);
    if (err) return fail(iss, u, err);
    enum hd_field seg = u == HD_UNIT_lx ? HD_F_lx_seg : u == HD_UNIT_lw ? HD_F_lw_seg : HD_F_st_seg;
    struct dma_op op = {.fly = slot, .tag = f->cur.op.tag};
    hd_iss_walk(iss, u, f->words, &op.walk);
    op.base = hd_field_get(f->words, seg) ? iss->arena_ptr : iss->image_ptr;
    op.first = iss->now + op.walk.n_joined + (u == HD_UNIT_st ? HD_T_ST_FIRST : HD_T_LX_FIRST);
    f->fly[slot].done = HD_NEVER;
    /* one operation waits, its runs joined, behind the one whose runs are walked */
    d->has_waiting = d->active;
    f->engine_free = d->active ? HD_NEVER : iss->now + 1 + op.walk.n_joined;
    if (d->active)
        d->waiting = op;
    else
        begin_dma(iss, u, &op);
    return true;
}

/* Aligned chunks of the bus width that bytes [at, at + n) touch. */
static uint64_t chunks(const hd_iss *iss, int64_t at, int64_t n) {
    int64_t axi = hd_axi_bytes(&iss->m);
    return n > 0 ? (uint64_t)((at + n - 1) / axi - at / axi + 1) : 0;
}

/* A burst of a load. work: cycles that its engine needs for it, of them `lead` before its first
 * beat and `tail` after its last. */
static void load_burst(hd_iss *iss, enum hd_unit u, uint32_t beats, int64_t chip, uint64_t work,
                       uint64_t lead, uint64_t tail) {
    struct dma *d = &iss->dma[u];
    struct hd_axi_times t;
    hd_axi_time_read(iss->mem, iss->now + HD_T_ARB, beats, &t);
    uint64_t bytes = (uint64_t)beats * hd_axi_bytes(&iss->m);
    iss->read_bytes += bytes;
    hd_iss_tell_dram(iss, t.first, false, (uint32_t)bytes);
    hd_iss_layer(iss, d->tag)->read_bytes += bytes;
    uint64_t from = later(d->data_free, iss->now + 1), data = t.first + HD_T_DATA;
    iss->count[u].stall_mem += (data > from ? data - from : 0) + (t.last - t.first + 1 - beats);
    d->data_free = later(later(d->data_free + lead, t.first + HD_T_DATA) + work - lead,
                         t.last + HD_T_DATA + 1 + tail);
    if (u == HD_UNIT_lx && !d->walk.in_am) {
        uint64_t wait = hd_iss_bank_lx(iss, chip, d->data_free - work, d->data_free);
        iss->count[u].stall_bank += wait;
        d->data_free += wait;
    }
    if (d->data_free > t.last + HD_T_DATA + 2)
        hd_axi_time_hold_read(iss->mem, d->data_free - HD_T_DATA - 2);
    d->ask[d->asked++ % HD_DMA_OPEN] = later(t.last + HD_T_DATA, d->data_free - 1 - tail) + 1;
    d->last = d->data_free;
    d->next = later(iss->now, t.addr - HD_T_ARB) + 1;
}

static void store_burst(hd_iss *iss, struct dma *d, uint32_t beats, int64_t chip, int64_t bytes) {
    uint64_t data = later(d->data_free, iss->now + HD_T_ST_DATA - HD_T_ST_FIRST) + d->lead;
    uint64_t work = chunks(iss, chip, bytes << d->walk.shrink);
    d->lead = 0;
    d->store = (struct store_work){work, iss->now, data, 0, chip, bytes, beats};
    d->next = later(iss->now, data - HD_T_ST_READ);
}

/* Reads the next chunks of a store's burst; what MX and VX do by then is known now. The last ones
 * put the burst on the bus. */
static void store_read(hd_iss *iss, struct dma *d) {
    struct store_work *s = &d->store;
    struct hd_axi_times t;
    uint64_t work = chunks(iss, s->chip, s->bytes << d->walk.shrink), done = work - s->chunks;
    uint64_t n = s->chunks < HD_T_ST_CHUNKS ? s->chunks : HD_T_ST_CHUNKS;
    int64_t at = s->chip + (int64_t)done * hd_axi_bytes(&iss->m);
    uint64_t due = s->data + s->wait + done - HD_T_ST_READ;
    uint64_t wait = d->walk.in_am ? 0 : hd_iss_bank_st(iss, at, n, due);
    s->wait += wait;
    iss->count[HD_UNIT_st].stall_bank += wait;
    s->chunks -= n;
    d->next = later(iss->now, s->data + s->wait + done + n - HD_T_ST_READ);
    if (s->chunks) return;
    /* saturated, several chunks make a beat: then the last beat is as late as the last of them */
    uint64_t data = s->data + s->wait + (work > s->beats && d->walk.shrink ? work - s->beats : 0);
    hd_axi_time_write(iss->mem, s->offered, data, s->beats, &t);
    iss->write_bytes += (uint64_t)s->bytes;
    hd_iss_tell_dram(iss, data, true, (uint32_t)s->bytes);
    hd_iss_layer(iss, d->tag)->write_bytes += (uint64_t)s->bytes;
    d->data_free = t.last + 1;
    d->last = later(d->last, t.resp);
    d->ask[d->asked++ % HD_DMA_OPEN] = t.resp + 1;
    /* no sooner than its data matters: what MX and VX do then is not known before */
    d->next = later(later(t.addr + 1, d->data_free - HD_T_ST_AHEAD), iss->now);
}

/* One burst of the current run, from d->lo on. */
static void burst(hd_iss *iss, enum hd_unit u) {
    struct dma *d = &iss->dma[u];
    if (d->ask[d->asked % HD_DMA_OPEN] > iss->now) { /* too many are open */
        d->next = d->ask[d->asked % HD_DMA_OPEN];
        return;
    }
    uint64_t axi = hd_axi_bytes(&iss->m);
    uint64_t at = d->base + (uint32_t)(hd_iss_walk_dram(&d->walk) + d->lo);
    uint64_t end = (at / 4096 + 1) * 4096, most = (at / axi + hd_burst_beats(&iss->m)) * axi;
    if (end > most) end = most;
    if (end > at + (uint64_t)(d->hi - d->lo)) end = at + (uint64_t)(d->hi - d->lo);
    uint32_t beats = (uint32_t)((end - 1) / axi - at / axi + 1);
    int64_t chip = hd_iss_walk_chip(&d->walk) + (d->lo << d->walk.shrink), n = (int64_t)(end - at);
    uint64_t work;
    if (u == HD_UNIT_st)
        store_burst(iss, d, beats, chip, n);
    else {
        bool last = d->lo + n == d->hi;
        uint64_t lead = d->lead, rest = u == HD_UNIT_lx ? d->run_work : beats;
        work = last ? rest : lead + beats;
        load_burst(iss, u, beats, chip, work, lead, work - lead - beats);
        d->run_work -= work;
        d->lead = 0;
    }
    d->lo += n;
}

static void end_dma(hd_iss *iss, enum hd_unit u) {
    struct front *f = &iss->front[u];
    struct dma *d = &iss->dma[u];
    uint64_t done = d->last + (u == HD_UNIT_st   ? HD_T_ST_DONE
                               : u == HD_UNIT_lx ? HD_T_LX_DONE
                                                 : HD_T_LW_DONE);
    uint32_t before = (d->fly + HD_IN_FLIGHT - 1) % HD_IN_FLIGHT;
    if (d->fly != f->f_head && f->fly[before].done != HD_NEVER)
        done = later(done, f->fly[before].done + 1);
    f->fly[d->fly].done = later(done, iss->now + 1);
    move_later(f, d->fly); /* nops */
    if (u == HD_UNIT_st && d->last > d->data_free)
        iss->count[u].stall_mem += d->last - d->data_free;
    f->fly[d->fly].stall_mem = iss->count[u].stall_mem - d->stall_mem;
    d->active = false;
    if (d->has_waiting) begin_dma(iss, u, &d->waiting);
    if (d->has_waiting) f->engine_free = iss->now + 1;
    d->has_waiting = false;
    hd_iss_set_next(&f->next, iss->now + 1);
}

static void end_run(hd_iss *iss, enum hd_unit u) {
    struct dma *d = &iss->dma[u];
    d->in_run = false;
    if (hd_iss_walk_next(&d->walk)) return;
    d->next = HD_NEVER;
    end_dma(iss, u);
}

/* Cycles that the data side of LX needs for a run: a chunk each, and one more when the first byte
 * lies further right in its beat than in its chunk. */
static void lx_run(const hd_iss *iss, struct dma *d) {
    int64_t axi = hd_axi_bytes(&iss->m), run = hd_iss_walk_chip(&d->walk), data = run + d->lo;
    uint64_t from = d->base + (uint32_t)(hd_iss_walk_dram(&d->walk) + d->lo);
    bool prime = d->lo < d->hi && data % axi < (int64_t)(from % (uint64_t)axi);
    d->run_work = chunks(iss, run, d->walk.run) + prime;
    d->lead = d->lo < d->hi ? (uint64_t)(data / axi - run / axi) : 0;
}

/* A run of a store whose first byte lies further right in its chunk than in its beat needs a cycle
 * to have two chunks at hand. */
static void st_run(const hd_iss *iss, struct dma *d) {
    int64_t axi = hd_axi_bytes(&iss->m);
    uint64_t to = d->base + (uint32_t)hd_iss_walk_dram(&d->walk);
    d->lead = (int64_t)(to % (uint64_t)axi) < hd_iss_walk_chip(&d->walk) % axi;
}

void hd_iss_dma_step(hd_iss *iss, enum hd_unit u) {
    struct dma *d = &iss->dma[u];
    d->next = HD_NEVER;
    if (d->store.chunks) {
        store_read(iss, d);
        if (d->store.chunks || d->lo < d->hi) return;
        end_run(iss, u);
        return;
    }
    if (!d->in_run) {
        hd_iss_walk_valid(&d->walk, &d->lo, &d->hi);
        d->in_run = true;
        if (u == HD_UNIT_lx) lx_run(iss, d);
        if (u == HD_UNIT_st) st_run(iss, d);
    }
    if (d->lo < d->hi)
        burst(iss, u);
    else { /* padding alone */
        d->data_free =
            later(d->data_free, iss->now) + chunks(iss, hd_iss_walk_chip(&d->walk), d->walk.run);
        d->last = later(d->last, d->data_free);
        d->next = iss->now + 1;
    }
    if (d->lo < d->hi || d->store.chunks) return;
    end_run(iss, u);
}

/* The operation's effects, and it is over. */
static bool start_functional(hd_iss *iss, enum hd_unit u) {
    struct front *f = &iss->front[u];
    uint64_t cycles;
    unsigned err = u == HD_UNIT_lx   ? hd_iss_lx(iss, f->words)
                   : u == HD_UNIT_lw ? hd_iss_lw(iss, f->words)
                   : u == HD_UNIT_mx ? hd_iss_mx(iss, f->words, &cycles)
                   : u == HD_UNIT_vx ? hd_iss_vx(iss, f->cur.op.code, f->words, &cycles)
                                     : hd_iss_st(iss, f->words);
    return !err || fail(iss, u, err);
}

bool hd_iss_engine_start(hd_iss *iss, enum hd_unit u, uint32_t slot) {
    if (iss->functional) return start_functional(iss, u);
    if (u == HD_UNIT_mx) return start_mx(iss, slot);
    if (u == HD_UNIT_vx) return start_vx(iss, slot);
    return start_dma(iss, u, slot);
}
