/* Simulated DRAM: regions, and the cycle-level AXI slave; for the ISS its timing alone. */
#include "sim/axi_mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/num.h"

struct region {
    uint64_t base;
    uint8_t *data;
    size_t bytes;
};

struct burst {
    uint64_t addr;
    uint64_t ready; /* reads: first data not before; responses: not before */
    uint32_t beats, done;
    uint8_t id, resp;
};

/* Bursts in order; a write moves from address to response inside the same queue. */
struct queue {
    struct burst b[HD_MEM_MAX_OUTSTANDING];
    uint32_t head, n;
};

/* One direction's data rate: positions in bytes, `rate` of them per cycle. */
struct lane {
    uint64_t next;
};

struct hd_axi_mem {
    struct hd_mem_config cfg;
    struct region region[HD_MEM_REGIONS];
    uint32_t axi_bytes, rate;
    uint64_t cycle, begin; /* begin: cycle that a reset restarts at */
    uint64_t answers;      /* bursts that it still answers */
    char error[200];
    bool failed;
    struct queue rd, wr;
    uint32_t wr_data; /* bursts of wr whose data is complete */
    struct lane rd_lane, wr_lane;
    struct hd_axi_in in;    /* what is driven now */
    struct hd_axi_out open; /* the master's last signals; valid = was not taken and must stay */
};

static uint32_t clamp_u32(uint32_t v, uint32_t lo, uint32_t hi) {
    return v < lo ? lo : v > hi ? hi : v;
}

hd_axi_mem *hd_axi_mem_create(uint32_t axi_bytes, const struct hd_mem_config *cfg) {
    hd_axi_mem *m = calloc(1, sizeof *m);
    if (!m) return NULL;
    m->cfg = *cfg;
    m->cfg.latency = clamp_u32(cfg->latency, 1, 1u << 20);
    m->cfg.bytes_per_cycle = clamp_u32(cfg->bytes_per_cycle, 1, 1u << 20);
    m->cfg.outstanding = clamp_u32(cfg->outstanding, 1, HD_MEM_MAX_OUTSTANDING);
    m->answers = UINT64_MAX;
    m->axi_bytes = clamp_u32(axi_bytes, 1, HD_AXI_MAX_BYTES);
    m->rate = m->cfg.bytes_per_cycle < m->axi_bytes ? m->cfg.bytes_per_cycle : m->axi_bytes;
    hd_axi_mem_reset(m, &m->in);
    return m;
}

void hd_axi_mem_destroy(hd_axi_mem *m) {
    free(m);
}

void hd_axi_mem_region(hd_axi_mem *m, int index, uint64_t base, void *data, size_t bytes) {
    m->region[index] = (struct region){base, data, data ? bytes : 0};
}

void hd_axi_mem_answer(hd_axi_mem *m, uint64_t bursts) {
    m->answers = bursts;
}

bool hd_axi_mem_is_silent(const hd_axi_mem *m) {
    bool begun = m->rd.n && m->rd.b[m->rd.head].done;
    return !m->answers && !begun && !m->in.rvalid && !m->in.bvalid && (m->rd.n || m->wr.n);
}

const char *hd_axi_mem_error(const hd_axi_mem *m) {
    return m->failed ? m->error : NULL;
}
uint64_t hd_axi_mem_cycle(const hd_axi_mem *m) {
    return m->cycle;
}

/* ---- contents ------------------------------------------------------------------------------- */

void *hd_axi_mem_at(const hd_axi_mem *m, uint64_t addr, size_t bytes) {
    for (int i = 0; i < HD_MEM_REGIONS; i++) {
        const struct region *r = &m->region[i];
        if (addr >= r->base && addr - r->base <= r->bytes && bytes <= r->bytes - (addr - r->base))
            return r->data ? r->data + (addr - r->base) : NULL;
    }
    return NULL;
}

bool hd_axi_mem_read(const hd_axi_mem *m, uint64_t addr, void *out, size_t bytes) {
    const void *p = hd_axi_mem_at(m, addr, bytes);
    if (p) {
        memcpy(out, p, bytes);
        return true;
    }
    memset(out, 0, bytes);
    for (int i = 0; i < HD_MEM_REGIONS; i++) { /* the rest of a region's last 64 bytes */
        const struct region *r = &m->region[i];
        uint64_t padded = (r->bytes + 63) / 64 * 64;
        if (addr < r->base || addr - r->base > padded || bytes > padded - (addr - r->base))
            continue;
        if (addr - r->base < r->bytes)
            memcpy(out, r->data + (addr - r->base), r->bytes - (addr - r->base));
        return true;
    }
    return false;
}

bool hd_axi_mem_write(hd_axi_mem *m, uint64_t addr, const void *data, size_t bytes) {
    void *p = hd_axi_mem_at(m, addr, bytes);
    if (p) memcpy(p, data, bytes);
    return p != NULL;
}

/* ---- jitter and rates ----------------------------------------------------------------------- */

/* What jitter decides in a cycle. */
enum draw { READ_LATENCY, WRITE_LATENCY, RVALID, BVALID, WREADY, ARREADY, AWREADY, DRAWS };

/* A hash of the cycle, so that it takes no state along: one that comes later is the same. */
static uint32_t random_bits(const hd_axi_mem *m, enum draw what) { /* splitmix64 */
    uint64_t z = (m->cfg.jitter_seed << 32 ^ (m->cycle * DRAWS + (uint64_t)what)) *
                 UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)(z >> 32);
}

/* True when a ready or a new valid is withheld for this cycle. */
static bool withheld(const hd_axi_mem *m, enum draw what) {
    return m->cfg.jitter_seed && random_bits(m, what) % 4 == 0;
}

static uint64_t access_latency(const hd_axi_mem *m, enum draw what) {
    return m->cfg.latency + (m->cfg.jitter_seed ? random_bits(m, what) % 32 : 0);
}

/* Earliest cycle of the next beat, which is not before cycle t. */
static uint64_t lane_cycle(const hd_axi_mem *m, const struct lane *l, uint64_t t) {
    uint64_t p = (l->next + m->rate - 1) / m->rate;
    return p > t ? p : t;
}

/* A beat went in cycle t. */
static void lane_beat(const hd_axi_mem *m, struct lane *l, uint64_t t) {
    uint64_t least = t ? (t - 1) * m->rate + 1 : 0; /* positions that round up to t */
    l->next = (l->next > least ? l->next : least) + m->axi_bytes;
}

void hd_axi_mem_reset(hd_axi_mem *m, struct hd_axi_in *in) {
    m->cycle = m->begin;
    m->failed = false;
    m->rd.n = m->wr.n = m->wr_data = 0;
    m->rd.head = m->wr.head = 0;
    m->rd_lane.next = m->wr_lane.next = 0;
    memset(&m->open, 0, sizeof m->open);
    memset(&m->in, 0, sizeof m->in);
    *in = m->in;
}

void hd_axi_mem_begin_at(hd_axi_mem *m, uint64_t cycle) {
    m->begin = cycle;
}

static uint32_t queue_hash(const struct queue *q, uint32_t h) {
    h = hd_hash(h, &q->n, sizeof q->n);
    for (uint32_t i = 0; i < q->n; i++) { /* not its address: a program may lie elsewhere */
        const struct burst *b = &q->b[(q->head + i) % HD_MEM_MAX_OUTSTANDING];
        const uint64_t v[] = {b->ready, b->beats, b->done, b->id, b->resp};
        h = hd_hash(h, v, sizeof v);
    }
    return h;
}

uint32_t hd_axi_mem_hash(const hd_axi_mem *m) {
    uint64_t first = m->cycle ? (m->cycle - 1) * m->rate + 1 : 0; /* a lane behind it is idle */
    const uint64_t v[] = {m->cycle,
                          m->wr_data,
                          m->in.rvalid,
                          m->in.bvalid,
                          m->in.arready,
                          m->in.awready,
                          m->in.wready,
                          m->rd_lane.next > first ? m->rd_lane.next : 0,
                          m->wr_lane.next > first ? m->wr_lane.next : 0};
    return queue_hash(&m->wr, queue_hash(&m->rd, hd_hash(HD_HASH_INIT, v, sizeof v)));
}

/* ---- cycle level ---------------------------------------------------------------------------- */

static void violation(hd_axi_mem *m, const char *what, uint64_t addr) {
    if (m->failed) return;
    m->failed = true;
    snprintf(m->error, sizeof m->error, "AXI violation in cycle %llu: %s (address 0x%llx)",
             (unsigned long long)m->cycle, what, (unsigned long long)addr);
}

static void check_address(hd_axi_mem *m, const char *channel, uint64_t addr, unsigned len,
                          unsigned size, unsigned burst) {
    char text[100];
    uint64_t start = addr / m->axi_bytes * m->axi_bytes;
    const char *what = NULL;
    if (1u << size != m->axi_bytes)
        what = "beat size is not the full bus width";
    else if (burst != 1)
        what = "burst type is not INCR";
    else if (len + 1 > HD_AXI_MAX_BEATS)
        what = "more than 256 beats";
    else if (start / 4096 != (start + (uint64_t)(len + 1) * m->axi_bytes - 1) / 4096)
        what = "burst crosses 4 KiB";
    if (!what) return;
    snprintf(text, sizeof text, "%s: %s", channel, what);
    violation(m, text, addr);
}

/* A valid that was not taken must stay, with the same payload. */
static void check_stable(hd_axi_mem *m, const struct hd_axi_out *o) {
    const struct hd_axi_out *b = &m->open;
    if (b->arvalid &&
        (!o->arvalid || o->araddr != b->araddr || o->arlen != b->arlen || o->arid != b->arid))
        violation(m, "ARVALID or its payload changed before ARREADY", b->araddr);
    if (b->awvalid &&
        (!o->awvalid || o->awaddr != b->awaddr || o->awlen != b->awlen || o->awid != b->awid))
        violation(m, "AWVALID or its payload changed before AWREADY", b->awaddr);
    if (b->wvalid && (!o->wvalid || o->wstrb != b->wstrb || o->wlast != b->wlast ||
                      memcmp(o->wdata, b->wdata, m->axi_bytes) != 0))
        violation(m, "WVALID or its payload changed before WREADY", b->awaddr);
    m->open = *o;
    m->open.arvalid = o->arvalid && !m->in.arready;
    m->open.awvalid = o->awvalid && !m->in.awready;
    m->open.wvalid = o->wvalid && !m->in.wready;
}

static struct burst *queue_at(struct queue *q, uint32_t i) {
    return &q->b[(q->head + i) % HD_MEM_MAX_OUTSTANDING];
}
static void queue_pop(struct queue *q) {
    q->head = (q->head + 1) % HD_MEM_MAX_OUTSTANDING;
    q->n--;
}

/* data: the bytes move, too, and the master is checked; else this is about time alone. */
static void take_address(hd_axi_mem *m, const struct hd_axi_out *o, bool data) {
    if (o->arvalid && m->in.arready) {
        if (data) check_address(m, "AR", o->araddr, o->arlen, o->arsize, o->arburst);
        *queue_at(&m->rd, m->rd.n++) = (struct burst){
            o->araddr,  m->cycle + access_latency(m, READ_LATENCY), o->arlen + 1u, 0, o->arid,
            HD_AXI_OKAY};
    }
    if (o->awvalid && m->in.awready) {
        if (data) check_address(m, "AW", o->awaddr, o->awlen, o->awsize, o->awburst);
        *queue_at(&m->wr, m->wr.n++) =
            (struct burst){o->awaddr, 0, o->awlen + 1u, 0, o->awid, HD_AXI_OKAY};
    }
}

static void take_write_data(hd_axi_mem *m, const struct hd_axi_out *o, bool data) {
    if (!o->wvalid || !m->in.wready) return;
    struct burst *b = queue_at(&m->wr, m->wr_data);
    uint64_t at = b->addr / m->axi_bytes * m->axi_bytes + (uint64_t)b->done * m->axi_bytes;
    for (uint32_t i = 0; data && i < m->axi_bytes; i++)
        if (o->wstrb >> i & 1 && !hd_axi_mem_write(m, at + i, &o->wdata[i], 1))
            b->resp = HD_AXI_DECERR;
    b->done++;
    lane_beat(m, &m->wr_lane, m->cycle);
    if (data && o->wlast != (b->done == b->beats))
        violation(m, "WLAST is not on the last beat", b->addr);
    if (b->done == b->beats) {
        b->ready = m->cycle + access_latency(m, WRITE_LATENCY);
        m->wr_data++;
    }
}

static void drive_read(hd_axi_mem *m, bool taken, bool data) {
    if (taken) {
        struct burst *b = queue_at(&m->rd, 0);
        lane_beat(m, &m->rd_lane, m->cycle - 1);
        if (++b->done == b->beats) queue_pop(&m->rd);
        m->in.rvalid = false;
    }
    if (m->in.rvalid || !m->rd.n) return;
    struct burst *b = queue_at(&m->rd, 0);
    if (!b->done && !m->answers) return;
    if (lane_cycle(m, &m->rd_lane, b->ready) > m->cycle || withheld(m, RVALID)) return;
    uint64_t at = b->addr / m->axi_bytes * m->axi_bytes + (uint64_t)b->done * m->axi_bytes;
    if (!b->done && m->answers != UINT64_MAX) m->answers--;
    m->in.rvalid = true;
    m->in.rid = b->id;
    m->in.rlast = b->done + 1 == b->beats;
    if (data)
        m->in.rresp =
            hd_axi_mem_read(m, at, m->in.rdata, m->axi_bytes) ? HD_AXI_OKAY : HD_AXI_DECERR;
}

static void drive_write(hd_axi_mem *m, bool taken) {
    if (taken) {
        queue_pop(&m->wr);
        m->wr_data--;
        m->in.bvalid = false;
    }
    if (!m->in.bvalid && m->wr_data) {
        const struct burst *b = queue_at(&m->wr, 0);
        if (m->answers && b->ready <= m->cycle && !withheld(m, BVALID)) {
            if (m->answers != UINT64_MAX) m->answers--;
            m->in.bvalid = true;
            m->in.bid = b->id;
            m->in.bresp = b->resp;
        }
    }
    m->in.wready = m->wr_data < m->wr.n && lane_cycle(m, &m->wr_lane, m->cycle) <= m->cycle &&
                   !withheld(m, WREADY);
}

static void drive_ready(hd_axi_mem *m) {
    m->in.arready = m->rd.n < m->cfg.outstanding && !withheld(m, ARREADY);
    m->in.awready = m->wr.n < m->cfg.outstanding && !withheld(m, AWREADY);
}

static void edge(hd_axi_mem *m, const struct hd_axi_out *out, bool data) {
    bool r_taken = m->in.rvalid && out->rready, b_taken = m->in.bvalid && out->bready;
    if (data) check_stable(m, out);
    take_address(m, out, data);
    take_write_data(m, out, data);
    m->cycle++; /* what is driven from here on can be taken in this cycle */
    drive_read(m, r_taken, data);
    drive_write(m, b_taken);
    drive_ready(m);
}

void hd_axi_mem_step(hd_axi_mem *m, const struct hd_axi_out *out, struct hd_axi_in *in) {
    edge(m, out, true);
    *in = m->in;
}

/* ---- timing alone --------------------------------------------------------------------------- */

void hd_axi_mem_tick(hd_axi_mem *m, const struct hd_axi_out *out) {
    edge(m, out, false);
}

const struct hd_axi_in *hd_axi_mem_drives(const hd_axi_mem *m) {
    return &m->in;
}

uint64_t hd_axi_mem_next(const hd_axi_mem *m) {
    bool random = m->answers && m->cfg.jitter_seed && (m->rd.n || m->wr.n);
    if (random || m->in.rvalid || m->in.bvalid) return m->cycle;
    uint64_t t = UINT64_MAX;
    if (!m->answers && !(m->rd.n && m->rd.b[m->rd.head].done)) return t;
    if (m->rd.n) t = lane_cycle(m, &m->rd_lane, m->rd.b[m->rd.head].ready);
    if (m->wr_data && m->wr.b[m->wr.head].ready < t) t = m->wr.b[m->wr.head].ready;
    return t > m->cycle ? t : m->cycle;
}

static void drive_idle(hd_axi_mem *m) {
    drive_read(m, false, false);
    drive_write(m, false);
    drive_ready(m);
}

void hd_axi_mem_wait(hd_axi_mem *m, uint64_t cycle) {
    if (cycle <= m->cycle) return;
    /* without bursts what was driven in between is seen by nobody; else jitter may drive any cycle
     */
    if (!m->cfg.jitter_seed || (!m->rd.n && !m->wr.n)) m->cycle = cycle - 1;
    while (m->cycle < cycle) {
        m->cycle++;
        drive_idle(m);
    }
}
