/* Simulated DRAM behind an AXI4 port: contents, and timing that both simulators share.
 *
 * Contents: regions (image, arena, and one for who wants it) at 64-bit bus addresses; the bytes are
 * the caller's plain memory. A read of the rest of the last 64 bytes of a region gives zeros; any
 * other access outside answers DECERR.
 *
 * Timing: the first data beat of a read follows its address handshake by `latency` cycles; each
 * direction moves at most bytes_per_cycle bytes and one beat per cycle; at most `outstanding`
 * bursts per direction are open (address to last data, address to response), then AxREADY stays
 * low. Reads return in the order of their addresses. A write response follows the last data beat by
 * `latency` cycles. With a jitter seed, latencies grow at random and every ready and every new
 * valid is withheld at random.
 *
 * Cycle level, once per clock. The memory is a registered slave: what it drives depends on earlier
 * edges only. model inputs = in; eval();            combinational outputs settle, clock low sample
 * model outputs into `out`; hd_axi_mem_step(mem, &out, &next);    the edge: handshakes are valid &&
 * ready of `out` and old `in` clk = 1; eval();                      the model's registers see the
 * old `in` in = next; clk = 0; eval();           and so on Before the first step, `in` is what
 * hd_axi_mem_reset filled.
 */
#ifndef HD_SIM_AXI_MEM_H
#define HD_SIM_AXI_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    HD_AXI_MAX_BYTES = 64,
    HD_AXI_MAX_BEATS = 256,
    HD_MEM_REGIONS = 3,
    HD_MEM_MAX_OUTSTANDING = 256
};
enum { HD_AXI_OKAY = 0, HD_AXI_DECERR = 3 };

struct hd_mem_config {
    uint32_t latency;         /* cycles, at least 1 */
    uint32_t bytes_per_cycle; /* each direction, at least 1 */
    uint32_t outstanding;     /* bursts per direction, 1..HD_MEM_MAX_OUTSTANDING */
    uint64_t jitter_seed;     /* 0 = none */
};

struct hd_axi_out { /* driven by the master */
    uint64_t araddr, awaddr;
    uint8_t arlen, arsize, arburst, arid; /* as on the wires: len = beats - 1, size = log2 bytes */
    uint8_t awlen, awsize, awburst, awid;
    bool arvalid, rready, awvalid, wvalid, wlast, bready;
    uint64_t wstrb;
    uint8_t wdata[HD_AXI_MAX_BYTES];
};

struct hd_axi_in { /* driven by the memory */
    bool arready, rvalid, rlast, awready, wready, bvalid;
    uint8_t rid, rresp, bid, bresp;
    uint8_t rdata[HD_AXI_MAX_BYTES];
};

typedef struct hd_axi_mem hd_axi_mem;

/* NULL when out of memory. Values of cfg out of range are brought into it. */
hd_axi_mem *hd_axi_mem_create(uint32_t axi_bytes, const struct hd_mem_config *cfg);
void hd_axi_mem_destroy(hd_axi_mem *m);

/* Region `index` is data[0..bytes) at bus address `base` (a multiple of 4096); data NULL = no
 * region. */
void hd_axi_mem_region(hd_axi_mem *m, int index, uint64_t base, void *data, size_t bytes);
/* Closes all bursts, restarts time and jitter, forgets errors; regions stay. */
void hd_axi_mem_reset(hd_axi_mem *m, struct hd_axi_in *in);
/* Later resets restart time at that cycle; 0, as at first, is the start of a run. */
void hd_axi_mem_begin_at(hd_axi_mem *m, uint64_t cycle);
/* Hash of what is open and when it goes on: equal memories in equal states have equal ones. */
uint32_t hd_axi_mem_hash(const hd_axi_mem *m);

/* Answers that many bursts more, in this run and later ones, then none: data, and responses, stay
 * out. UINT64_MAX, as at first: all. */
void hd_axi_mem_answer(hd_axi_mem *m, uint64_t bursts);
/* A burst is open, and none will ever be answered. */
bool hd_axi_mem_is_silent(const hd_axi_mem *m);

/* ---- contents: false when a byte lies outside the regions ---- */
bool hd_axi_mem_read(const hd_axi_mem *m, uint64_t addr, void *out, size_t bytes);
bool hd_axi_mem_write(hd_axi_mem *m, uint64_t addr, const void *data, size_t bytes);
/* Host address of bytes that lie in one region, or NULL. */
void *hd_axi_mem_at(const hd_axi_mem *m, uint64_t addr, size_t bytes);

/* ---- cycle level ---- */
void hd_axi_mem_step(hd_axi_mem *m, const struct hd_axi_out *out, struct hd_axi_in *in);
/* The first violation of the AXI rules by the master, as text with its cycle; NULL = none. */
const char *hd_axi_mem_error(const hd_axi_mem *m);
uint64_t hd_axi_mem_cycle(const hd_axi_mem *m); /* steps since reset */

/* ---- timing alone, for the ISS: no data moves, the master is not checked ---- */
/* As hd_axi_mem_step. Of `out` addresses, strobes and data are not looked at. */
void hd_axi_mem_tick(hd_axi_mem *m, const struct hd_axi_out *out);
/* What it drives in this cycle; data and responses are not set. */
const struct hd_axi_in *hd_axi_mem_drives(const hd_axi_mem *m);
/* The first cycle, this one or a later one, in which it has data or a response if nobody sends it
 * anything; UINT64_MAX = none. With jitter this one while a burst is open. */
uint64_t hd_axi_mem_next(const hd_axi_mem *m);
/* Goes on to `cycle`, at most that one, as if stepped with nothing sent. */
void hd_axi_mem_wait(hd_axi_mem *m, uint64_t cycle);

#endif
