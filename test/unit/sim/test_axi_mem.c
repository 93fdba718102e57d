/* The AXI memory cycle by cycle: latency, rate, outstanding bursts, order, rules, jitter, errors.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sim/axi_mem.h"

enum { AXI = 16, BYTES = 8192 };
#define BASE UINT64_C(0x500000000)

struct port {
    hd_axi_mem *mem;
    struct hd_axi_in in;
    uint8_t data[BYTES];
};

static void port_open(struct port *p, uint32_t latency, uint32_t rate, uint32_t outstanding,
                      uint64_t seed) {
    struct hd_mem_config cfg = {latency, rate, outstanding, seed};
    p->mem = hd_axi_mem_create(AXI, &cfg);
    assert_non_null(p->mem);
    for (int i = 0; i < BYTES; i++) p->data[i] = (uint8_t)(i * 7 + i / 256);
    hd_axi_mem_region(p->mem, 0, BASE, p->data, BYTES);
    hd_axi_mem_reset(p->mem, &p->in);
}

static struct hd_axi_out ask(uint64_t addr, unsigned beats, uint8_t id) {
    struct hd_axi_out o = {.araddr = addr,
                           .arlen = (uint8_t)(beats - 1),
                           .arsize = 4,
                           .arburst = 1,
                           .arid = id,
                           .arvalid = true,
                           .rready = true,
                           .bready = true};
    return o;
}

/* Steps with `o`; an address that is taken is no longer valid afterwards. */
static void step(struct port *p, struct hd_axi_out *o) {
    bool taken = o->arvalid && p->in.arready;
    hd_axi_mem_step(p->mem, o, &p->in);
    if (taken) o->arvalid = false;
}

/* Cycle (number of steps before it) in which the address is taken, and those of first and last
 * data. */
static void read_burst(struct port *p, uint64_t addr, unsigned beats, uint64_t *ar, uint64_t *first,
                       uint64_t *last) {
    struct hd_axi_out o = ask(addr, beats, 1);
    unsigned got = 0;
    *ar = UINT64_MAX;
    while (got < beats) {
        uint64_t now = hd_axi_mem_cycle(p->mem);
        if (o.arvalid && p->in.arready) *ar = now;
        if (p->in.rvalid) {
            if (!got) *first = now;
            *last = now;
            assert_memory_equal(p->in.rdata, p->data + (addr - BASE) + got * AXI, AXI);
            assert_int_equal(p->in.rlast, got + 1 == beats);
            got++;
        }
        step(p, &o);
        assert_true(hd_axi_mem_cycle(p->mem) < 10000);
    }
    assert_null(hd_axi_mem_error(p->mem));
}

static void latency_and_rate(void **state) {
    (void)state;
    static const uint32_t rates[] = {16, 32, 8, 4, 12};
    for (int i = 0; i < 5; i++) {
        struct port p;
        uint64_t ar, first, last;
        port_open(&p, 30, rates[i], 16, 0);
        read_burst(&p, BASE + 256, 64, &ar, &first, &last);
        assert_int_equal(first - ar, 30);
        uint32_t rate = rates[i] < AXI ? rates[i] : AXI;
        assert_true(last - first >= 63 * AXI / rate && last - first <= 63 * AXI / rate + 1);
        hd_axi_mem_destroy(p.mem);
    }
}

/* Timing alone drives the same handshakes; without jitter cycles with nothing on the bus are left
 * out.
 */
static void timing_alone(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 8; seed++) {
        struct port p, q;
        port_open(&p, 23, seed % 3 ? 16 : 6, 3, seed);
        port_open(&q, 23, seed % 3 ? 16 : 6, 3, seed);
        uint32_t r = 1, left = 0, skipped = 0;
        struct hd_axi_out o = ask(BASE, 5, 1);
        o.awaddr = BASE, o.awsize = 4, o.awburst = 1;
        for (int c = 0; c < 3000; c++) {
            r = r * 1664525 + 1013904223;
            bool send = r >> 28 == 0 && !o.awvalid && !left;
            if (r >> 30 == 0 && c % 400 < 200) o.arvalid = true;
            if (send && c % 400 < 200) o.awvalid = true, o.awlen = 2;
            o.wvalid = left > 0, o.wlast = left == 1;
            bool ar = o.arvalid && p.in.arready, aw = o.awvalid && p.in.awready;
            bool w = o.wvalid && p.in.wready;
            bool idle = !o.arvalid && !o.awvalid && !o.wvalid;
            if (!idle || hd_axi_mem_next(q.mem) <= hd_axi_mem_cycle(p.mem)) {
                hd_axi_mem_wait(q.mem, hd_axi_mem_cycle(p.mem));
                const struct hd_axi_in *in = hd_axi_mem_drives(q.mem);
                assert_int_equal(in->arready, p.in.arready);
                assert_int_equal(in->awready, p.in.awready);
                assert_int_equal(in->wready, p.in.wready);
                assert_int_equal(in->rvalid, p.in.rvalid);
                assert_int_equal(in->bvalid, p.in.bvalid);
                if (in->rvalid) assert_int_equal(in->rlast, p.in.rlast);
                hd_axi_mem_tick(q.mem, &o);
            } else {
                skipped++;
                assert_false(p.in.rvalid || p.in.bvalid);
            }
            hd_axi_mem_step(p.mem, &o, &p.in);
            if (ar) o.arvalid = false;
            if (aw) o.awvalid = false, left = 3;
            if (w) left--;
        }
        assert_null(hd_axi_mem_error(p.mem));
        assert_true(skipped > 500);
        hd_axi_mem_destroy(p.mem);
        hd_axi_mem_destroy(q.mem);
    }
}

static void outstanding(void **state) {
    (void)state;
    struct port p;
    port_open(&p, 50, 16, 3, 0);
    int taken = 0;
    for (int c = 0; c < 40; c++) { /* before the first data */
        struct hd_axi_out o = ask(BASE + (uint64_t)(taken % 4) * 64, 4, 2);
        taken += p.in.arready;
        hd_axi_mem_step(p.mem, &o, &p.in);
    }
    assert_int_equal(taken, 3);
    hd_axi_mem_destroy(p.mem);
}

static void jitter(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed < 20; seed++) {
        struct port p;
        uint64_t ar, first, last;
        port_open(&p, 5, 16, 4, seed);
        for (int i = 0; i < 10; i++)
            read_burst(&p, BASE + (uint64_t)i * 512, 20, &ar, &first, &last);
        hd_axi_mem_destroy(p.mem);
    }
}

static void write_burst(void **state) {
    (void)state;
    struct port p;
    port_open(&p, 20, 16, 4, 0);
    struct hd_axi_out o = {.awaddr = BASE + 64,
                           .awlen = 2,
                           .awsize = 4,
                           .awburst = 1,
                           .awvalid = true,
                           .wvalid = true,
                           .wstrb = 0xfff0,
                           .bready = true};
    uint64_t last_w = 0, resp = 0;
    int beat = 0;
    memset(o.wdata, 0xee, AXI);
    while (!resp) {
        uint64_t now = hd_axi_mem_cycle(p.mem);
        bool aw = o.awvalid && p.in.awready, w = o.wvalid && p.in.wready;
        if (p.in.bvalid) resp = now;
        hd_axi_mem_step(p.mem, &o, &p.in);
        if (aw) o.awvalid = false;
        if (w) {
            last_w = now;
            o.wvalid = ++beat < 3;
            o.wlast = beat == 2;
            o.wstrb = 0xffff;
        }
        assert_true(now < 1000);
    }
    assert_int_equal(resp - last_w, 20);
    assert_null(hd_axi_mem_error(p.mem));
    assert_int_equal(p.data[64 + 3], (uint8_t)((64 + 3) * 7));
    for (int i = 68; i < 64 + 48; i++) assert_int_equal(p.data[i], 0xee);
    assert_int_equal(p.data[64 + 48], (uint8_t)((64 + 48) * 7));
    hd_axi_mem_destroy(p.mem);
}

static void rules(void **state) {
    (void)state;
    struct hd_axi_out bad[5];
    for (int i = 0; i < 5; i++) bad[i] = ask(BASE, 4, 0);
    bad[0].arsize = 3;
    bad[1].arburst = 0;
    bad[2].araddr = BASE + 4096 - 32;
    bad[3].arlen = 255, bad[3].araddr = BASE + 16;
    bad[4] = (struct hd_axi_out){.awaddr = BASE,
                                 .awlen = 1,
                                 .awsize = 4,
                                 .awburst = 1,
                                 .awvalid = true,
                                 .wvalid = true,
                                 .wlast = true};
    for (int i = 0; i < 5; i++) {
        struct port p;
        port_open(&p, 4, 16, 4, 0);
        for (int c = 0; c < 8 && !hd_axi_mem_error(p.mem); c++) {
            bool aw = bad[i].awvalid && p.in.awready;
            step(&p, &bad[i]);
            if (aw) bad[i].awvalid = false;
        }
        assert_non_null(hd_axi_mem_error(p.mem));
        hd_axi_mem_destroy(p.mem);
    }
    struct port p; /* valid taken back */
    port_open(&p, 4, 16, 4, 0);
    struct hd_axi_out o = ask(BASE, 4, 0);
    hd_axi_mem_step(p.mem, &o, &p.in); /* ready is low after reset */
    o.arvalid = false;
    hd_axi_mem_step(p.mem, &o, &p.in);
    assert_non_null(hd_axi_mem_error(p.mem));
    hd_axi_mem_destroy(p.mem);
}

static void outside(void **state) {
    (void)state;
    struct port p;
    port_open(&p, 4, 16, 4, 0);
    struct hd_axi_out o = ask(BASE + BYTES, 1, 0);
    while (!p.in.rvalid) step(&p, &o);
    assert_int_equal(p.in.rresp, HD_AXI_DECERR);
    uint8_t b[32];
    hd_axi_mem_region(p.mem, 0, BASE, p.data, 100); /* the last 64 bytes are whole for reads */
    assert_true(hd_axi_mem_read(p.mem, BASE + 96, b, 32));
    assert_int_equal(b[3], p.data[99]);
    assert_int_equal(b[4], 0);
    assert_false(hd_axi_mem_read(p.mem, BASE + 128, b, 1));
    assert_false(hd_axi_mem_write(p.mem, BASE + 100, b, 1));
    hd_axi_mem_destroy(p.mem);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(latency_and_rate), cmocka_unit_test(timing_alone),
        cmocka_unit_test(outstanding),      cmocka_unit_test(jitter),
        cmocka_unit_test(write_burst),      cmocka_unit_test(rules),
        cmocka_unit_test(outside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
