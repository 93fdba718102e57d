/* Engines in time: starts of operations, and a cycle of everything behind the fronts. Each engine
 * is stepped as its module in hw/rtl is: what it asks for in a cycle depends on registers alone, so
 * all ask first, then all move on. Cycles in which nothing can happen are left out. */
#include <stdlib.h>

#include "sim/iss_int.h"

enum { ID_FETCH, ID_LX, ID_LW, IDS, NOBODY = 3 };

static uint64_t sooner(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* ---- operations ----------------------------------------------------------------------------- */

void hd_iss_engine_free(hd_iss *iss, enum hd_unit u, uint64_t t) {
    iss->front[u].engine_free = t;
    hd_iss_set_next(&iss->front[u].next, t);
}

void hd_iss_engine_done(hd_iss *iss, enum hd_unit u, uint64_t t) {
    struct front *f = &iss->front[u];
    for (uint32_t i = 0; i < f->f_n; i++) {
        uint64_t *done = &f->fly[(f->f_head + i) % HD_N_ops_in_flight].done;
        if (*done != HD_NEVER) continue;
        *done = t;
        return;
    }
}

static unsigned run_op(hd_iss *iss, enum hd_unit u, uint64_t *out_cycles) {
    struct front *f = &iss->front[u];
    *out_cycles = 0;
    return u == HD_UNIT_lx   ? hd_iss_lx(iss, f->sticky.words)
           : u == HD_UNIT_lw ? hd_iss_lw(iss, f->sticky.words)
           : u == HD_UNIT_mx ? hd_iss_mx(iss, f->sticky.words, out_cycles)
           : u == HD_UNIT_vx ? hd_iss_vx(iss, f->cur.op.code, f->sticky.words, out_cycles)
                             : hd_iss_st(iss, f->sticky.words);
}

/* err: what run_op said of it. */
static void start(hd_iss *iss, enum hd_unit u, uint32_t slot, uint64_t cycles, unsigned err) {
    struct front *f = &iss->front[u];
    f->engine_free = f->fly[slot].done = HD_NEVER;
    if (err && u == HD_UNIT_mx)
        cycles = err == HD_ERR_operand ? 0 : hd_iss_mx_first_error(iss, f->sticky.words);
    if (err && u == HD_UNIT_mx && cycles <= iss->budget) {
        if (cycles) cycles = hd_iss_mx_start(iss, f->sticky.words, cycles);
        iss->moves_to = iss->now + cycles + 1 + HD_T_mx_done;
        hd_iss_unit_fails(iss, iss->moves_to, err, u);
    } else if (cycles > iss->budget) { /* does not end */
        if (u == HD_UNIT_mx) hd_iss_mx_start(iss, f->sticky.words, cycles);
        f->engine_free = iss->now + cycles;
        f->fly[slot].done = f->engine_free + HD_T_mx_done;
        iss->moves_to = f->engine_free;
    } else if (u == HD_UNIT_mx) {
        f->engine_free = iss->now + hd_iss_mx_start(iss, f->sticky.words, cycles);
        f->fly[slot].done = f->engine_free + HD_T_mx_done;
        iss->moves_to = f->engine_free;
    } else {
        if (u == HD_UNIT_vx)
            hd_iss_vx_start(iss, f->cur.op.code, f->sticky.words, err);
        else
            hd_iss_gen_start(iss,
                             u == HD_UNIT_st ? &iss->store.gen : &iss->load[u == HD_UNIT_lw].gen, u,
                             f->sticky.words, err);
        hd_iss_set_next(&iss->tick, iss->now + 1);
    }
}

bool hd_iss_engine_start(hd_iss *iss, enum hd_unit u, uint32_t slot) {
    uint64_t cycles;
    unsigned err = run_op(iss, u, &cycles);
    if (!iss->functional)
        start(iss, u, slot, cycles, err);
    else if (err)
        hd_iss_error(iss, err, u, iss->front[u].cur.pc);
    return !err || !iss->functional;
}

void hd_iss_time_free(hd_iss *iss) {
    for (int i = 0; i < HD_MX_RECENT; i++) {
        free(iss->mx.op[i].xm.run);
        free(iss->mx.op[i].am.run);
    }
}

/* ---- a cycle -------------------------------------------------------------------------------- */

static uint64_t bit(int bank) {
    return bank < 0 ? 0 : UINT64_C(1) << bank;
}

/* VX and ST read, VX and LX write; MX comes before all. Returns whether LX takes its beat. */
static bool on_chip(hd_iss *iss, bool lx_beat) {
    bool vx = hd_iss_vx_next(iss) != HD_NEVER, st = hd_iss_store_next(iss) != HD_NEVER;
    bool lx = iss->load[0].run || iss->load[0].out || iss->load[0].runs.n;
    struct hd_iss_banks taken = {0};
    if (vx || st || iss->load[0].out)
        taken = (struct hd_iss_banks){
            .xm_read = bit(hd_iss_mx_reads_xm(iss, iss->now)),
            .am_read = (uint32_t)bit(hd_iss_mx_reads_am(iss, iss->now)),
            .am_write = (uint32_t)bit(hd_iss_mx_writes_am(iss, iss->now)),
        };
    if (vx) hd_iss_vx_tick(iss, &taken);
    if (st || iss->store.n_resps) hd_iss_store_tick(iss, &taken);
    return lx && hd_iss_lx_data(iss, lx_beat, &taken);
}

/* A beat leaves the buffer of two, one comes from the bus. */
static void move_beats(struct read_bus *b, bool taken, const struct hd_axi_in *in) {
    bool full = b->valid[1], comes = in->rvalid && !full;
    if (!b->valid[0] || taken) {
        b->valid[0] = full || comes;
        b->id[0] = full ? b->id[1] : in->rid;
        b->last[0] = full ? b->last[1] : in->rlast;
        b->valid[1] = false;
    } else if (comes) {
        b->valid[1] = true;
        b->id[1] = in->rid;
        b->last[1] = in->rlast;
    }
}

/* The oldest operation of a unit pays for its bytes. */
static void count_bytes(hd_iss *iss, enum hd_unit u, bool write, uint32_t bytes) {
    const struct front *f = &iss->front[u];
    struct hd_layer_counters *l = hd_iss_layer(iss, f->fly[f->f_head].tag);
    *(write ? &l->write_bytes : &l->read_bytes) += bytes;
}

static void count_traffic(hd_iss *iss, const struct hd_axi_in *in) {
    const struct hd_axi_out *out = &iss->axi_out;
    uint32_t axi = (uint32_t)iss->axi;
    if (in->rvalid && out->rready) {
        iss->total.read_bytes += axi;
        if (in->rid == ID_FETCH)
            iss->total.code_bytes += axi;
        else
            count_bytes(iss, in->rid == ID_LX ? HD_UNIT_lx : HD_UNIT_lw, false, axi);
        hd_iss_tell_dram(iss, iss->now, false, axi);
    }
    if (out->wvalid && in->wready) {
        iss->total.write_bytes += iss->store.out_bytes;
        count_bytes(iss, HD_UNIT_st, true, iss->store.out_bytes);
        hd_iss_tell_dram(iss, iss->now, true, iss->store.out_bytes);
    }
}

/* The request that goes to AR next. */
static int pick(const struct read_bus *b) {
    bool lx = b->asks[ID_LX].n, lw = b->asks[ID_LW].n;
    if (b->asks[ID_FETCH].n) return ID_FETCH;
    if (lx && (b->credit >= b->asks[ID_LX].beats[0] + HD_N_burst_cost || !lw)) return ID_LX;
    return lw ? ID_LW : NOBODY;
}

/* It goes, where AR is free. New requests come to the buffers; returns which came, by beats. */
static void move_asks(hd_iss *iss, bool arready, uint32_t out_came[IDS]) {
    struct read_bus *b = &iss->bus;
    for (int i = 0; i < IDS; i++) {
        uint32_t beats = 0;
        bool asks = i == ID_FETCH ? hd_iss_fetch_asks(iss, &beats)
                                  : hd_iss_load_asks(iss, &iss->load[i == ID_LW], &beats);
        out_came[i] = asks && b->asks[i].n < 2 ? beats : 0;
    }
    if (!b->ar || arready) {
        int who = pick(b);
        b->ar = who != NOBODY;
        if (b->ar) {
            b->ar_id = (uint8_t)who;
            b->ar_beats = b->asks[who].beats[0];
            uint32_t cost = b->ar_beats + HD_N_burst_cost;
            if (who == ID_LW) b->credit = cost + (b->asks[ID_LX].n ? b->credit : 0);
            if (who == ID_LX) b->credit -= b->credit < cost ? b->credit : cost;
            b->asks[who].beats[0] = b->asks[who].beats[1];
            b->asks[who].n--;
        }
    }
    for (int i = 0; i < IDS; i++)
        if (out_came[i]) b->asks[i].beats[b->asks[i].n++] = out_came[i];
}

/* What goes out in this cycle, from registers. */
static void drive(hd_iss *iss) {
    struct hd_axi_out *o = &iss->axi_out;
    o->arvalid = iss->bus.ar;
    o->arlen = (uint8_t)(iss->bus.ar_beats - 1);
    o->arid = iss->bus.ar_id;
    o->rready = !iss->bus.valid[1];
    o->awvalid = iss->store.aw;
    o->awlen = (uint8_t)(iss->store.aw_beats - 1);
    o->wvalid = iss->store.out;
    o->bready = true;
}

/* Cycles since the last tick: nothing came. */
static void catch_up(hd_iss *iss) {
    uint64_t cycles = iss->now - iss->ticked;
    if (!cycles) return;
    hd_iss_load_waits(iss, cycles);
    hd_iss_store_waits(iss, cycles);
    hd_axi_mem_wait(iss->mem, iss->now);
}

static uint64_t next_tick(const hd_iss *iss) {
    const struct read_bus *b = &iss->bus;
    if (b->ar || b->valid[0]) return iss->now + 1;
    for (int i = 0; i < IDS; i++)
        if (b->asks[i].n) return iss->now + 1;
    uint64_t t = hd_axi_mem_next(iss->mem);
    t = sooner(t, hd_iss_fetch_next(iss));
    t = sooner(t, hd_iss_vx_next(iss));
    t = sooner(t, hd_iss_load_next(iss, HD_UNIT_lx));
    t = sooner(t, hd_iss_load_next(iss, HD_UNIT_lw));
    return sooner(t, hd_iss_store_next(iss));
}

void hd_iss_tick(hd_iss *iss) {
    struct read_bus *b = &iss->bus;
    catch_up(iss);
    drive(iss);
    const struct hd_axi_in in = {.arready = hd_axi_mem_drives(iss->mem)->arready,
                                 .rvalid = hd_axi_mem_drives(iss->mem)->rvalid,
                                 .rid = hd_axi_mem_drives(iss->mem)->rid,
                                 .rlast = hd_axi_mem_drives(iss->mem)->rlast,
                                 .wready = hd_axi_mem_drives(iss->mem)->wready};
    count_traffic(iss, &in);
    uint32_t came[IDS];
    bool room[2];
    move_asks(iss, in.arready, came);
    for (int i = 0; i < 2; i++) room[i] = iss->load[i].runs.n < HD_N_load_records;

    int beat = b->valid[0] ? b->id[0] : NOBODY; /* at an engine */
    bool lx_takes = on_chip(iss, beat == ID_LX), last = b->last[0];
    hd_iss_lw_data(iss, beat == ID_LW);
    if (beat == ID_FETCH) hd_iss_fetch_beat(iss, last);
    bool taken = beat != NOBODY && (beat != ID_LX || lx_takes);
    if (taken && last && beat != ID_FETCH) iss->load[beat == ID_LW].gen.open--;
    move_beats(b, taken, &in);

    if (came[ID_FETCH]) hd_iss_fetch_granted(iss, came[ID_FETCH]);
    for (int i = 0; i < 2; i++) {
        const struct dma_gen *g = &iss->load[i].gen;
        if (g->joining || g->walking || g->b_valid || g->c_valid)
            hd_iss_load_addr(iss, i ? HD_UNIT_lw : HD_UNIT_lx, room[i], came[ID_LX + i]);
    }
    hd_axi_mem_tick(iss->mem, &iss->axi_out);
    iss->ticked = iss->now + 1;
    iss->tick = next_tick(iss);
}
