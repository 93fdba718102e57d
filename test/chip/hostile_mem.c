#include "test/chip/hostile_mem.h"

#include <stdio.h>
#include <string.h>

enum { AR, R, AW, W, B };

void hostile_violation(struct hostile_mem *m, const char *what, uint64_t at) {
    if (*m->error) return;
    snprintf(m->error, sizeof m->error, "%s (at 0x%llx, clock %llu)", what, (unsigned long long)at,
             (unsigned long long)m->cycle);
}

void hostile_init(struct hostile_mem *m, uint32_t axi_bytes) {
    *m = (struct hostile_mem){.axi_bytes = axi_bytes, .mid = -1, .first_bad = -1};
}

void hostile_configure(struct hostile_mem *m, const struct hostile_config *cfg, uint64_t seed) {
    m->cfg = *cfg;
    m->r.s = seed;
    m->n_bad = 0;
    m->first_bad = -1;
    memset(m->rests, 0, sizeof m->rests);
}

void hostile_reset(struct hostile_mem *m) {
    memset(m->rd, 0, sizeof m->rd);
    memset(&m->wr, 0, sizeof m->wr);
    memset(&m->resp, 0, sizeof m->resp);
    memset(&m->in, 0, sizeof m->in);
    memset(&m->open, 0, sizeof m->open);
    m->n_early = 0;
    m->wr_bad = false;
    m->mid = -1;
}

uint32_t hostile_open(const struct hostile_mem *m) {
    return m->rd[0].n + m->rd[1].n + m->rd[2].n + m->wr.n + m->resp.n + m->n_early;
}

/* ---- queues, chance -------------------------------------------------------------------------- */

static struct hostile_burst *head_of(struct hostile_queue *q) {
    return &q->b[q->head];
}
static void drop_head(struct hostile_queue *q) {
    q->head = (q->head + 1) % HOSTILE_BURSTS;
    q->n--;
}
static void push(struct hostile_queue *q, struct hostile_burst b) {
    q->b[(q->head + q->n++) % HOSTILE_BURSTS] = b;
}

static uint64_t after_latency(struct hostile_mem *m) {
    uint32_t extra = m->cfg.spread ? rng_next(&m->r) % (m->cfg.spread + 1) : 0;
    return m->cycle + m->cfg.latency + extra;
}

/* A handshake took place in this cycle: when the next one may. */
static void rest(struct hostile_mem *m, int channel) {
    m->rests[channel] = m->cycle + 1 + (m->cfg.pace ? rng_next(&m->r) % (m->cfg.pace + 1) : 0);
}

/* This answer is an error: 2 SLVERR, 3 DECERR; else 0. `what` as in first_bad. A response counts as
 * the beats of a burst. */
static uint8_t answer(struct hostile_mem *m, int what) {
    uint32_t rate = m->cfg.bad * (what == HOSTILE_IDS ? 32 : 1);
    if (m->cfg.good >> what & 1) rate = 0;
    if (!rate || m->n_bad == m->cfg.most_bad || rng_next(&m->r) % 65536 >= rate) return HD_AXI_OKAY;
    m->n_bad++;
    if (m->first_bad < 0) m->first_bad = what;
    return (uint8_t)(2 + rng_next(&m->r) % 2);
}

/* ---- what the machine asks ------------------------------------------------------------------- */

/* The window that a beat touches; NULL: none, or one that is not to be written. */
static struct hostile_window *window_of(struct hostile_mem *m, uint64_t beat, bool write) {
    for (int i = 0; i < HOSTILE_SEGMENTS; i++) {
        struct hostile_window *w = &m->window[i];
        if (beat + m->axi_bytes > w->at && beat < w->at + w->bytes && (!write || w->writable))
            return w;
    }
    return NULL;
}

static void check_burst(struct hostile_mem *m, uint64_t addr, const uint8_t len_size_burst[3],
                        bool write) {
    uint64_t from = addr / m->axi_bytes * m->axi_bytes;
    uint64_t to = from + (len_size_burst[0] + 1u) * (uint64_t)m->axi_bytes;
    if (1u << len_size_burst[1] != m->axi_bytes) hostile_violation(m, "narrow beats", addr);
    if (len_size_burst[2] != 1) hostile_violation(m, "a burst that is not INCR", addr);
    if (from / 4096 != (to - 1) / 4096) hostile_violation(m, "a burst across 4 KiB", addr);
    for (uint64_t at = from; at < to; at += m->axi_bytes)
        if (!window_of(m, at, write))
            hostile_violation(m, write ? "a write outside the windows" : "a read outside", at);
}

/* What was offered and not taken must stay. */
static void check_held(struct hostile_mem *m, const struct hd_axi_out *o) {
    const struct hd_axi_out *b = &m->open;
    if (b->arvalid &&
        !(o->arvalid && o->araddr == b->araddr && o->arlen == b->arlen && o->arid == b->arid))
        hostile_violation(m, "AR did not wait", b->araddr);
    if (b->awvalid && !(o->awvalid && o->awaddr == b->awaddr && o->awlen == b->awlen))
        hostile_violation(m, "AW did not wait", b->awaddr);
    if (b->wvalid && !(o->wvalid && o->wstrb == b->wstrb && o->wlast == b->wlast &&
                       !memcmp(o->wdata, b->wdata, m->axi_bytes)))
        hostile_violation(m, "W did not wait", b->awaddr);
    m->open = *o;
    m->open.arvalid = o->arvalid && !m->in.arready;
    m->open.awvalid = o->awvalid && !m->in.awready;
    m->open.wvalid = o->wvalid && !m->in.wready;
}

static void take(struct hostile_mem *m, const struct hd_axi_out *o) {
    if (o->arvalid && m->in.arready) {
        check_burst(m, o->araddr, (uint8_t[]){o->arlen, o->arsize, o->arburst}, false);
        if (o->arid >= HOSTILE_IDS) hostile_violation(m, "a read of an unknown id", o->araddr);
        push(&m->rd[o->arid % HOSTILE_IDS],
             (struct hostile_burst){o->araddr, after_latency(m), o->arlen + 1u, 0});
        rest(m, AR);
    }
    if (o->awvalid && m->in.awready) {
        check_burst(m, o->awaddr, (uint8_t[]){o->awlen, o->awsize, o->awburst}, true);
        push(&m->wr, (struct hostile_burst){o->awaddr, 0, o->awlen + 1u, 0});
        rest(m, AW);
    }
    if (o->wvalid && m->in.wready) {
        struct hostile_beat *e = &m->early[(m->early_head + m->n_early++) % HOSTILE_BEATS];
        memcpy(e->data, o->wdata, m->axi_bytes);
        e->strobes = o->wstrb;
        e->last = o->wlast;
        for (uint32_t i = 0; i < m->axi_bytes; i++) m->written_bytes += o->wstrb >> i & 1;
        rest(m, W);
    }
}

static void write_beat(struct hostile_mem *m, uint64_t beat, const struct hostile_beat *e) {
    struct hostile_window *w = window_of(m, beat, true);
    for (uint32_t i = 0; i < m->axi_bytes; i++) {
        if (!(e->strobes >> i & 1)) continue;
        uint64_t at = beat + i;
        if (w && at >= w->at && at < w->at + w->bytes)
            w->data[at - w->at] = e->data[i];
        else
            hostile_violation(m, "a byte written outside the windows", at);
    }
}

/* Write data meets its addresses. */
static void write_data(struct hostile_mem *m) {
    while (m->wr.n && m->n_early) {
        struct hostile_burst *b = head_of(&m->wr);
        const struct hostile_beat *e = &m->early[m->early_head];
        uint64_t from = b->addr / m->axi_bytes * m->axi_bytes;
        write_beat(m, from + (uint64_t)b->done * m->axi_bytes, e);
        bool last = ++b->done == b->beats;
        if (e->last != last) hostile_violation(m, "WLAST is not on the last beat", b->addr);
        m->early_head = (m->early_head + 1) % HOSTILE_BEATS;
        m->n_early--;
        if (!last) continue;
        push(&m->resp, (struct hostile_burst){b->addr, after_latency(m), 1, 0});
        drop_head(&m->wr);
    }
}

/* ---- what the memory answers ----------------------------------------------------------------- */

static bool may_begin(const struct hostile_mem *m, const struct hostile_burst *b) {
    return b->done || m->cfg.answers;
}

/* The id whose next beat comes; -1 = none. */
static int next_id(struct hostile_mem *m) {
    int found = -1, n = 0;
    if (m->mid >= 0 && !m->cfg.shuffle) return m->mid;
    for (int i = 0; i < HOSTILE_IDS; i++) {
        const struct hostile_burst *b = head_of(&m->rd[i]);
        if (!m->rd[i].n || b->ready > m->cycle || !may_begin(m, b)) continue;
        if (found >= 0 && !m->cfg.shuffle) {
            if (b->ready < head_of(&m->rd[found])->ready) found = i;
        } else if (rng_next(&m->r) % (uint32_t)++n == 0) {
            found = i;
        }
    }
    return found;
}

static void read_beat(const struct hostile_mem *m, uint64_t beat, uint8_t *out) {
    for (uint32_t i = 0; i < m->axi_bytes; i++) {
        out[i] = 0xa5; /* of what no window has, and of errors */
        for (int s = 0; s < HOSTILE_SEGMENTS && !m->in.rresp; s++) {
            const struct hostile_window *w = &m->window[s];
            if (beat + i >= w->at && beat + i < w->at + w->bytes)
                out[i] = w->data[beat + i - w->at];
        }
    }
}

static void drive_read(struct hostile_mem *m, bool taken) {
    if (taken) {
        struct hostile_queue *q = &m->rd[m->in.rid];
        m->mid = m->in.rid;
        if (++head_of(q)->done == head_of(q)->beats) {
            drop_head(q);
            m->mid = -1;
        }
        m->in.rvalid = false;
        m->cycle--, rest(m, R), m->cycle++; /* it was in the cycle before */
    }
    if (m->in.rvalid || m->rests[R] > m->cycle) return;
    int id = next_id(m);
    if (id < 0) return;
    struct hostile_burst *b = head_of(&m->rd[id]);
    if (!b->done && m->cfg.answers != UINT64_MAX) m->cfg.answers--;
    m->in.rvalid = true;
    m->in.rid = (uint8_t)id;
    m->in.rlast = b->done + 1 == b->beats;
    m->in.rresp = answer(m, id);
    read_beat(m, (b->addr / m->axi_bytes + b->done) * m->axi_bytes, m->in.rdata);
}

static void drive_response(struct hostile_mem *m, bool taken) {
    if (taken) {
        drop_head(&m->resp);
        m->in.bvalid = false;
        m->cycle--, rest(m, B), m->cycle++;
    }
    if (m->in.bvalid || m->rests[B] > m->cycle || !m->resp.n || !m->cfg.answers) return;
    if (head_of(&m->resp)->ready > m->cycle) return;
    if (m->cfg.answers != UINT64_MAX) m->cfg.answers--;
    m->in.bvalid = true;
    m->in.bid = 0;
    m->in.bresp = answer(m, HOSTILE_IDS);
}

void hostile_step(hd_axi_mem *self, const struct hd_axi_out *o, struct hd_axi_in *in) {
    struct hostile_mem *m = (struct hostile_mem *)(void *)self;
    bool r = m->in.rvalid && o->rready, b = m->in.bvalid && o->bready;
    check_held(m, o);
    if (r) m->read_bytes += m->axi_bytes;
    take(m, o);
    write_data(m);
    m->cycle++;
    drive_read(m, r);
    drive_response(m, b);
    uint32_t reads = m->rd[0].n > m->rd[1].n ? m->rd[0].n : m->rd[1].n;
    if (m->rd[2].n > reads) reads = m->rd[2].n;
    m->in.arready = reads < HOSTILE_BURSTS - 1 && m->rests[AR] <= m->cycle;
    m->in.awready = m->wr.n + m->resp.n < HOSTILE_BURSTS - 1 && m->rests[AW] <= m->cycle;
    m->in.wready = m->n_early < HOSTILE_BEATS - 1 && m->rests[W] <= m->cycle;
    *in = m->in;
}

void hostile_run_begins(hd_axi_mem *self, struct hd_axi_in *in) {
    struct hostile_mem *m = (struct hostile_mem *)(void *)self;
    if (hostile_open(m)) hostile_violation(m, "a run begins with open bursts", 0);
    m->read_bytes = m->written_bytes = 0;
    *in = m->in;
}
