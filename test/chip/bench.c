/* AXI4-Lite master of the bench. */
#include "test/chip/bench.h"

#include <stdio.h>

enum { ANSWER_CLOCKS = 1000 };

void bench_wrong(struct bench *b, const char *what, uint64_t got, uint64_t want) {
    if (*b->why) return;
    snprintf(b->why, sizeof b->why, "%s: 0x%llx, want 0x%llx", what, (unsigned long long)got,
             (unsigned long long)want);
}

static void clock_pins(struct bench *b) {
    b->api->pins(b->rtl, &b->pins);
}

void bench_clocks(struct bench *b, int n) {
    for (int i = 0; i < n; i++) {
        clock_pins(b);
        if (b->pins.bvalid || b->pins.rvalid)
            bench_wrong(b, "an answer that nobody asked for", b->pins.rvalid, 0);
    }
}

void bench_reset(struct bench *b) {
    b->pins.rst_n = false;
    for (int i = 0; i < 4; i++) {
        clock_pins(b);
        hostile_reset(&b->mem);
    }
    b->pins.rst_n = true;
    bench_clocks(b, 1);
}

/* ---- one access, or a write and a read at once ----------------------------------------------- */

struct access {
    bool writes, reads;
    uint32_t to, value, from, got;
    unsigned strobes;
    int aw, w, b, ar, r; /* clocks after which valid and ready rise */
    bool aw_done, w_done, b_seen, b_done, ar_done, r_seen, r_done;
};

static int delay(struct bench *b) {
    return b->wild && rng_next(&b->r) % 2 ? (int)rng_range(&b->r, 1, 12) : 0;
}

/* The write's side after a clock. */
static void watch_write(struct bench *b, struct access *x) {
    const struct hd_rtl_pins *p = &b->pins;
    if (x->b_seen && !p->bvalid) bench_wrong(b, "BVALID did not wait for BREADY", 0, 1);
    if (p->bvalid && !(x->aw_done && x->w_done))
        bench_wrong(b, "BVALID before the write was taken", 1, 0);
    if (p->bvalid && p->bresp) bench_wrong(b, "BRESP", p->bresp, 0);
    x->b_seen = p->bvalid;
    x->b_done = x->b_done || (p->bvalid && p->bready);
    x->aw_done = x->aw_done || (p->awvalid && p->awready);
    x->w_done = x->w_done || (p->wvalid && p->wready);
}

static void watch_read(struct bench *b, struct access *x) {
    const struct hd_rtl_pins *p = &b->pins;
    if (x->r_seen && !p->rvalid) bench_wrong(b, "RVALID did not wait for RREADY", 0, 1);
    if (x->r_seen && p->rdata != x->got)
        bench_wrong(b, "RDATA while it waits for RREADY", p->rdata, x->got);
    if (p->rvalid && !x->ar_done) bench_wrong(b, "RVALID before the address was taken", 1, 0);
    x->r_seen = p->rvalid;
    x->got = p->rdata;
    x->r_done = x->r_done || (p->rvalid && p->rready);
    x->ar_done = x->ar_done || (p->arvalid && p->arready);
}

static void run_access(struct bench *b, struct access *x) {
    struct hd_rtl_pins *p = &b->pins;
    x->aw = delay(b), x->w = delay(b), x->b = delay(b) * 2, x->ar = delay(b), x->r = delay(b) * 2;
    x->b_done = !x->writes, x->r_done = !x->reads;
    p->awaddr = (uint16_t)x->to, p->wdata = x->value, p->wstrb = (uint8_t)x->strobes;
    p->araddr = (uint16_t)x->from;
    for (int n = 0; !x->b_done || !x->r_done; n++) {
        p->awvalid = x->writes && !x->aw_done && n >= x->aw;
        p->wvalid = x->writes && !x->w_done && n >= x->w;
        p->bready = !x->b_done && n >= x->b;
        p->arvalid = x->reads && !x->ar_done && n >= x->ar;
        p->rready = !x->r_done && n >= x->r;
        clock_pins(b);
        if (!x->b_done) watch_write(b, x);
        if (!x->r_done) watch_read(b, x);
        if (n < ANSWER_CLOCKS) continue;
        bench_wrong(b, "clocks without an answer to an access of register", x->reads, 0);
        break;
    }
    p->awvalid = p->wvalid = p->bready = p->arvalid = p->rready = false;
    bench_clocks(b, 1);
}

void bench_ask(struct bench *b, uint32_t offset) {
    b->pins.araddr = (uint16_t)offset;
    b->pins.arvalid = true;
    clock_pins(b);
    b->pins.arvalid = false;
}

uint32_t bench_read(struct bench *b, uint32_t offset) {
    struct access x = {.reads = true, .from = offset};
    run_access(b, &x);
    return x.got;
}

void bench_write(struct bench *b, uint32_t offset, uint32_t value, unsigned strobes) {
    bool both = b->wild && rng_next(&b->r) % 4 == 0;
    struct access x = {.writes = true,
                       .reads = both,
                       .to = offset,
                       .value = value,
                       .strobes = strobes,
                       .from = HD_REG_machine_hash};
    run_access(b, &x);
    if (both && x.got != hd_machine_hash(b->m))
        bench_wrong(b, "machine_hash, read during a write", x.got, hd_machine_hash(b->m));
}

void bench_set(struct bench *b, uint32_t offset, uint32_t value) {
    unsigned left = 15;
    while (left) {
        unsigned strobes = b->wild ? rng_next(&b->r) & left : left;
        if (!strobes) continue;
        uint32_t noise = b->wild ? rng_next(&b->r) : 0, keep = 0;
        for (int i = 0; i < 4; i++)
            if (strobes >> i & 1) keep |= UINT32_C(255) << 8 * i;
        bench_write(b, offset, (value & keep) | (noise & ~keep), strobes);
        left &= ~strobes;
    }
    if (!b->wild) return;
    bench_write(b, offset, ~value, 0);
    uint32_t got = bench_read(b, offset);
    if (got != value) bench_wrong(b, "a register written in pieces", got, value);
}
