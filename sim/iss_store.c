/* ST in time, register by register: hd_st_gen's addresses, hd_st_data, and the responses. */
#include "sim/iss_int.h"

static struct dma_run *put(struct run_queue *q) {
    return &q->r[(q->head + q->n++) % HD_N_load_records];
}
static struct dma_run *take(struct run_queue *q) {
    struct dma_run *r = &q->r[q->head];
    q->head = (q->head + 1) % HD_N_load_records;
    q->n--;
    return r;
}

/* Bytes in DRAM that become one place on chip: a chunk holds axi >> shrink of them. */
static void take_read(const hd_iss *iss, struct store *s) {
    s->read = s->runs.n > 0;
    if (!s->read) return;
    const struct dma_run *r = take(&s->runs);
    int64_t axi = iss->axi, so = (r->chip >> r->shrink) % axi, chunk = axi >> r->shrink;
    *put(&s->packs) = *r;
    s->in_am = r->in_am;
    s->shrink = r->shrink;
    s->read_chip = r->chip / axi * axi;
    s->read_left = (uint32_t)((r->run + (so & (chunk - 1)) + chunk - 1) / chunk);
}

/* Reads the next chunk if there is room for it and its bank is free. */
static void read(hd_iss *iss, struct store *s, struct hd_iss_banks *taken, uint32_t chunks) {
    bool want = s->read && chunks + s->coming[0] + s->coming[1] < HD_N_store_chunks, granted = want;
    bool room = s->packs.n < HD_N_store_records;
    if (want)
        granted = s->in_am ? !(taken->am_read >> (s->read_chip >> iss->am_shift) & 1)
                           : !(taken->xm_read >> (s->read_chip >> iss->xm_shift) & 1);
    iss->total.count[HD_UNIT_st].stall_bank += want && !granted;
    int64_t most = (1 << s->shrink) - 1, part = s->read_chip / iss->axi & most;
    s->chunks += s->coming[1] && s->whole[1];
    s->coming[1] = s->coming[0];
    s->whole[1] = s->whole[0];
    s->coming[0] = granted;
    s->whole[0] = s->read_left == 1 || part == most;
    if (room && (!s->read || (granted && s->read_left == 1))) {
        take_read(iss, s);
    } else if (granted) {
        s->read_chip += iss->axi;
        s->read_left--;
    }
}

static void take_pack(const hd_iss *iss, struct store *s, bool there) {
    s->run = there;
    if (!there) return;
    const struct dma_run *r = take(&s->packs);
    int64_t axi = iss->axi, so = (r->chip >> r->shrink) % axi,
            da = (int64_t)(r->addr % (uint64_t)axi);
    s->skip = da;
    s->end = r->run + da;
    s->left = (uint32_t)((r->run + so + axi - 1) / axi);
    s->prime = da < so;
}

/* Makes beats of chunks. there: a run waits to be packed, chunks: that are here. */
static void pack(hd_iss *iss, struct store *s, bool there, uint32_t chunks, bool wready) {
    bool free = !s->out || wready, final = s->end <= iss->axi, needs = s->left > 0;
    bool prime = s->run && s->prime;
    bool fire = s->run && !prime && s->n_bursts && free && (!needs || chunks);
    bool took = chunks && (prime || (fire && needs));
    if (free) s->out = fire;
    if (fire) {
        bool burst_end = s->beat == s->burst[s->burst_at];
        s->out_last = burst_end;
        s->out_bytes = (uint32_t)((final ? s->end : iss->axi) - s->skip);
        s->beat = burst_end ? 0 : s->beat + 1;
        if (burst_end) {
            s->burst_at = (s->burst_at + 1) % HD_N_store_records;
            s->n_bursts--;
        }
    }
    s->chunks -= took;
    if (!s->run || (fire && final)) {
        take_pack(iss, s, there);
        return;
    }
    s->left -= took;
    if (took) s->prime = false;
    if (!fire) return;
    s->skip = 0;
    s->end -= iss->axi;
}

/* Sends the next address if everything that hears of it has room. */
static void address(hd_iss *iss, struct store *s, uint32_t runs, uint32_t resps, bool awready) {
    struct dma_gen *g = &s->gen;
    bool free = !s->aw || awready;
    bool go = g->c_valid && !g->c.err && free && resps < HD_N_store_records &&
              (g->mid || runs < HD_N_store_records);
    bool done = false;
    if (g->c_valid && g->c.err && resps < HD_N_store_records) {
        s->resp_err[(s->resp_at + s->n_resps++) % HD_N_store_records] = g->c.err;
        done = true;
    }
    if (free) s->aw = go;
    if (go) {
        uint32_t beats = hd_iss_gen_burst(iss, g);
        if (!g->mid) *put(&s->runs) = g->c;
        hd_iss_gen_sent(iss, g, beats);
        done = !g->mid;
        s->aw_beats = beats;
        s->burst[(s->burst_at + s->n_bursts++) % HD_N_store_records] = (uint8_t)(beats - 1);
        uint32_t at = (s->resp_at + s->n_resps++) % HD_N_store_records;
        s->resp_last[at] = g->c.last && done;
        s->resp_err[at] = HD_ERR_none;
    }
    hd_iss_gen_step(iss, g, HD_UNIT_st, done);
}

void hd_iss_store_tick(hd_iss *iss, struct hd_iss_banks *taken) {
    struct store *s = &iss->store;
    const struct hd_axi_in *in = hd_axi_mem_drives(iss->mem);
    uint32_t runs = s->runs.n, resps = s->n_resps, chunks = s->chunks;
    bool packs = s->packs.n > 0;
    iss->total.count[HD_UNIT_st].stall_mem +=
        (s->out && !in->wready) || (!s->out && !s->n_bursts && resps);
    if (resps && s->resp_err[s->resp_at])
        hd_iss_unit_fails(iss, iss->now + 1, s->resp_err[s->resp_at], HD_UNIT_st);
    if (in->bvalid) {
        if (s->resp_last[s->resp_at]) hd_iss_engine_done(iss, HD_UNIT_st, iss->now + 1);
        s->resp_at = (s->resp_at + 1) % HD_N_store_records;
        s->n_resps--;
    }
    read(iss, s, taken, chunks);
    pack(iss, s, packs, chunks, in->wready);
    address(iss, s, runs, resps, in->awready);
}

uint64_t hd_iss_store_next(const hd_iss *iss) {
    const struct store *s = &iss->store;
    bool busy = s->aw || s->read || s->coming[0] || s->coming[1] || s->chunks || s->run || s->out ||
                s->packs.n || s->runs.n || (s->n_resps && s->resp_err[s->resp_at]);
    if (!busy && s->gen.c_valid && s->n_resps == HD_N_store_records) return HD_NEVER;
    return busy ? iss->now + 1 : hd_iss_gen_next(iss, &s->gen);
}

void hd_iss_store_waits(hd_iss *iss, uint64_t cycles) {
    const struct store *s = &iss->store;
    iss->total.count[HD_UNIT_st].stall_mem += !s->out && !s->n_bursts && s->n_resps ? cycles : 0;
}
