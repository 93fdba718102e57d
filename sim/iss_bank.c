/* Banks of XM in time: which bank MX and VX read in which cycle. VX waits where MX reads the bank
 * that it wants, ST where one of them does, LX where VX writes the bank that it writes.
 *
 * An operation's reads are runs of cycles in one bank (two for VX: operands A and B), in the order
 * of its loops. MX never waits, so its runs are fixed when it starts; the end of the VX operation
 * in work is computed from what is known then, and again when an MX operation starts under it. */
#include <stdlib.h>
#include <string.h>

#include "sim/iss_int.h"

enum { LOOPS = 6, STREAMS = 2, NO_BANK = -1, RUNS_MAX = 1 << 20 };

struct reads { /* loop nest of reads, loop 0 innermost; addresses in bytes */
    int loops;
    int64_t n[LOOPS], step[STREAMS][LOOPS], at[STREAMS];
    bool used[STREAMS];
    int64_t lo[STREAMS][LOOPS + 1], hi[STREAMS][LOOPS + 1]; /* reach of the loops below */
};

static void add_run(struct bank_track *k, uint64_t n, int a, int b) {
    struct bank_run *last = k->n ? &k->run[k->n - 1] : NULL;
    if (last && ((last->bank[0] == a && last->bank[1] == b) || k->n == RUNS_MAX)) {
        last->n += n;
        return;
    }
    if (k->n == k->cap) {
        size_t cap = k->cap * 2 + 64;
        struct bank_run *p = realloc(k->run, cap * sizeof *p);
        HD_ASSERT(p != NULL);
        k->run = p;
        k->cap = cap;
    }
    k->run[k->n++] = (struct bank_run){n, {(int8_t)a, (int8_t)b}};
}

/* Bank of all reads of stream s in the loops below `loops`, NO_BANK when it reads none; false when
 * they are in several. */
static bool one_bank(const struct reads *r, int s, int loops, int64_t at, int64_t bytes, int *out) {
    *out = NO_BANK;
    if (!r->used[s]) return true;
    int64_t lo = (at + r->lo[s][loops]) / bytes, hi = (at + r->hi[s][loops]) / bytes;
    *out = (int)lo;
    return lo == hi;
}

static void add_reads(struct bank_track *k, const struct reads *r, int loops, int64_t bytes,
                      int64_t a, int64_t b) {
    int in_a, in_b;
    if (one_bank(r, 0, loops, a, bytes, &in_a) && one_bank(r, 1, loops, b, bytes, &in_b)) {
        uint64_t n = 1;
        for (int l = 0; l < loops; l++) n *= (uint64_t)r->n[l];
        add_run(k, n, in_a, in_b);
        return;
    }
    int l = loops - 1;
    for (int64_t i = 0; i < r->n[l]; i++)
        add_reads(k, r, l, bytes, a + i * r->step[0][l], b + i * r->step[1][l]);
}

static void track(const hd_iss *iss, struct bank_track *k, struct reads *r, uint64_t start) {
    for (int s = 0; s < STREAMS; s++)
        for (int l = 0; l < r->loops; l++) {
            int64_t d = (r->n[l] - 1) * r->step[s][l];
            r->lo[s][l + 1] = r->lo[s][l] + (d < 0 ? d : 0);
            r->hi[s][l + 1] = r->hi[s][l] + (d > 0 ? d : 0);
        }
    k->n = k->at = 0;
    k->t = start;
    add_reads(k, r, r->loops, iss->m.xm_bytes / iss->m.xm_banks, r->at[0], r->at[1]);
    k->left = k->run[0].n;
}

/* Moves to cycle t a track that nothing stops. */
static void pass(struct bank_track *k, uint64_t t) {
    while (k->at < k->n && k->t < t) {
        uint64_t n = t - k->t < k->left ? t - k->t : k->left;
        k->t += n;
        k->left -= n;
        if (!k->left && ++k->at < k->n) k->left = k->run[k->at].n;
    }
}

/* Moves VX on, up to cycle `to` or the end of its runs; adds to *stall what it waits for MX. Copies
 * of the tracks serve to look ahead. */
static void advance(struct bank_track *vx, struct bank_track *mx, uint64_t to, uint64_t *stall) {
    while (vx->at < vx->n && vx->t < to) {
        pass(mx, vx->t);
        bool reads = mx->at < mx->n && mx->t <= vx->t;
        uint64_t n = to - vx->t; /* cycles in which nothing changes */
        const int8_t *want = vx->run[vx->at].bank;
        if (mx->at < mx->n) {
            uint64_t same = reads ? mx->left : mx->t - vx->t;
            if (same < n) n = same;
        }
        int bank = reads ? mx->run[mx->at].bank[0] : NO_BANK;
        if (bank != NO_BANK && (want[0] == bank || want[1] == bank)) {
            vx->t += n;
            *stall += n;
            continue;
        }
        if (vx->left < n) n = vx->left;
        vx->t += n;
        vx->left -= n;
        if (!vx->left && ++vx->at < vx->n) vx->left = vx->run[vx->at].n;
    }
}

void hd_iss_bank_mx(hd_iss *iss, const uint32_t *words) {
    struct reads r = {.loops = 6, .used = {true, false}};
    uint64_t stall = 0;
    for (int l = 0; l < r.loops; l++) {
        r.n[l] = hd_field_get(words, (enum hd_field)(HD_F_mx_n0 + 4 * l));
        r.step[0][l] = hd_field_get(words, (enum hd_field)(HD_F_mx_xs0 + 4 * l)) * iss->m.k;
    }
    r.at[0] = hd_field_get(words, HD_F_mx_x) * iss->m.k;
    advance(&iss->vx_track, &iss->mx_track, iss->now, &stall);
    track(iss, &iss->mx_track, &r, iss->now);
}

static bool in_xm(int64_t kind) {
    return kind == 2 || kind == 3;
}

void hd_iss_bank_vx(hd_iss *iss, unsigned code, const uint32_t *words, uint64_t start,
                    uint64_t cycles) {
#define GET(f) hd_field_get(words, HD_F_vx_##f)
    int64_t lanes = iss->m.n;
    struct reads r = {.loops = 4, .n = {GET(n0), GET(n1), GET(n2), GET(n3)}};
    r.used[0] = in_xm(GET(a_kind));
    r.used[1] = GET(alu) != 0 && in_xm(GET(b_kind)); /* of a sum: as if B were read all the time */
    r.at[0] = GET(a) * lanes, r.at[1] = GET(b) * lanes;
    for (int l = 0; l < r.loops; l++) {
        r.step[0][l] = hd_field_get(words, (enum hd_field)(HD_F_vx_as0 + l)) * lanes;
        if (l >= GET(nred))
            r.step[1][l] = hd_field_get(words, (enum hd_field)(HD_F_vx_bs0 + l)) * lanes;
    }
    if (code == hd_isa_ops[HD_OP_vx_dw].code) { /* rows, columns, vectors of channels */
        bool pairs = in_xm(GET(b_kind));        /* B lags by a column where windows are 3 wide */
        r.loops = 3;
        r.n[0] = GET(n2), r.n[2] = GET(n3);
        r.n[1] = pairs ? GET(n1) + GET(n0) - 2 : (GET(n1) - 1) * GET(sx) + GET(n0);
        r.used[1] = pairs;
        r.step[1][0] = GET(bs2) * lanes, r.step[1][1] = GET(bs0) * lanes;
        r.step[1][2] = GET(bs3) * lanes;
        r.step[0][0] = GET(as2) * lanes, r.step[0][1] = GET(as0) * lanes;
        r.step[0][2] = GET(as3) * lanes;
    }
    struct bank_track *k = &iss->vx_track;
    track(iss, k, &r, start);
    uint64_t sum = 0;
    for (size_t i = 0; i < k->n; i++) {
        /* operands in one bank take turns */
        const int8_t *bank = k->run[i].bank;
        if (GET(nred) == 0 && bank[0] != NO_BANK && bank[0] == bank[1]) k->run[i].n *= 2;
        sum += k->run[i].n;
    }
    if (sum < cycles) add_run(k, cycles - sum, NO_BANK, NO_BANK);
    k->left = k->run[0].n;
#undef GET
}

uint64_t hd_iss_bank_vx_end(const hd_iss *iss, uint64_t *out_stall) {
    struct bank_track vx = iss->vx_track, mx = iss->mx_track;
    *out_stall = 0;
    advance(&vx, &mx, HD_NEVER, out_stall);
    return vx.t;
}

/* Whether ST has to wait in cycle t for bank `bank`, and for how many cycles that stays so. */
static bool taken(struct bank_track *vx, struct bank_track *mx, uint64_t t, int bank,
                  uint64_t *out_n) {
    uint64_t stall = 0;
    bool yes = false;
    advance(vx, mx, t, &stall);
    pass(mx, t);
    *out_n = HD_NEVER - t;
    if (mx->at < mx->n) {
        bool reads = mx->t <= t;
        *out_n = reads ? mx->left : mx->t - t;
        yes = reads && mx->run[mx->at].bank[0] == bank;
    }
    if (vx->at < vx->n) {
        bool reads = vx->t <= t;
        uint64_t n = reads ? vx->left : vx->t - t;
        if (n < *out_n) *out_n = n;
        const int8_t *b = vx->run[vx->at].bank;
        yes |= reads && (b[0] == bank || b[1] == bank);
    }
    return yes;
}

uint64_t hd_iss_bank_st(const hd_iss *iss, int64_t chip, uint64_t chunks, uint64_t t) {
    struct bank_track vx = iss->vx_track, mx = iss->mx_track;
    int64_t axi = hd_axi_bytes(&iss->m), bytes = iss->m.xm_bytes / iss->m.xm_banks;
    uint64_t waited = 0;
    while (chunks) {
        int64_t bank = chip / bytes;
        uint64_t n, here = (uint64_t)((bank + 1) * bytes - chip / axi * axi) / (uint64_t)axi;
        if (here > chunks) here = chunks;
        if (taken(&vx, &mx, t, (int)bank, &n)) {
            waited += n;
            t += n;
            continue;
        }
        if (n > here) n = here;
        t += n;
        chunks -= n;
        chip += (int64_t)n * axi;
    }
    return waited;
}

/* Cycles that a burst of LX waits for the writes of a VX operation. Writes go through their banks
 * in order, so each bank has its part of the time. */
static uint64_t lx_wait(const hd_iss *iss, const struct lx_burst *b, const struct vx_writes *w) {
    int64_t bytes = iss->m.xm_bytes / iss->m.xm_banks, bank = b->chip / bytes;
    if (bank < w->lo || bank > w->hi) return 0;
    uint64_t banks = (uint64_t)(w->hi - w->lo + 1), i = (uint64_t)(bank - w->lo);
    uint64_t from = w->from + (w->to - w->from) * i / banks;
    uint64_t to = w->from + (w->to - w->from) * (i + 1) / banks;
    uint64_t begin = b->from > from ? b->from : from, end = b->to < to ? b->to : to;
    if (begin >= end) return 0;
    /* VX writes in w->n of its cycles, LX has the others, until VX is through */
    uint64_t all = w->to - w->from, most = (to - begin) * (w->n < all ? w->n : all) / all;
    uint64_t wait = all > w->n ? (end - begin) * w->n / (all - w->n) : most;
    return wait < most ? wait : most;
}

uint64_t hd_iss_bank_lx(hd_iss *iss, int64_t chip, uint64_t from, uint64_t to) {
    struct lx_burst b = {from, to, chip};
    uint64_t waited = 0;
    for (uint32_t i = 0; i < HD_VX_RECENT; i++) {
        uint64_t n = lx_wait(iss, &b, &iss->vx_recent[(iss->vx_at + i) % HD_VX_RECENT]);
        b.to += n;
        waited += n;
    }
    iss->lx_recent[iss->lx_at] = b;
    iss->lx_at = (iss->lx_at + 1) % HD_LX_RECENT;
    return waited;
}

static void writes_of(const hd_iss *iss, unsigned code, const uint32_t *words,
                      struct vx_writes *w) {
    int64_t bytes = iss->m.xm_bytes / iss->m.xm_banks, nred = hd_field_get(words, HD_F_vx_nred);
    bool dw = code == hd_isa_ops[HD_OP_vx_dw].code;
    w->lo = w->hi = hd_field_get(words, HD_F_vx_d) * iss->m.n;
    w->n = 1;
    for (int l = 0; l < 4; l++) {
        int64_t n = hd_field_get(words, (enum hd_field)(HD_F_vx_n0 + l));
        int64_t step = hd_field_get(words, (enum hd_field)(HD_F_vx_ds0 + l)) * iss->m.n;
        if (dw ? l % 2 == 0 : l < nred) continue;
        w->n *= (uint64_t)n;
        *(step < 0 ? &w->lo : &w->hi) += (n - 1) * step;
    }
    w->lo /= bytes, w->hi /= bytes;
}

uint64_t hd_iss_bank_lx_waits(hd_iss *iss, unsigned code, const uint32_t *words, uint64_t from,
                              uint64_t to, uint64_t *out_first) {
    uint64_t moved = 0;
    struct vx_writes w = {.from = from, .to = to};
    writes_of(iss, code, words, &w);
    iss->vx_recent[iss->vx_at] = w;
    iss->vx_at = (iss->vx_at + 1) % HD_VX_RECENT;
    for (uint32_t i = 0; i < HD_LX_RECENT; i++) {
        struct lx_burst *b = &iss->lx_recent[(iss->lx_at + i) % HD_LX_RECENT];
        if (b->to <= from) continue;
        if (moved) b->from += moved;
        b->to += moved;
        uint64_t wait = lx_wait(iss, b, &w);
        if (wait && !moved) *out_first = b->from > from ? b->from : from;
        b->to += wait;
        moved += wait;
    }
    return moved;
}

void hd_iss_bank_clear(hd_iss *iss) {
    memset(iss->lx_recent, 0, sizeof iss->lx_recent);
    memset(iss->vx_recent, 0, sizeof iss->vx_recent);
    iss->mx_track.n = iss->mx_track.at = iss->vx_track.n = iss->vx_track.at = 0;
}

void hd_iss_bank_free(hd_iss *iss) {
    free(iss->mx_track.run);
    free(iss->vx_track.run);
}
