/* The Verilated hd_top behind a plain C table, the one symbol of the shared object
 * libhd_rtl_NAME.so.
 *
 * The object holds no state of its own: every call takes the model. The memory is the caller's
 * (sim/axi_mem.h); its functions come as pointers, so that the object links against nothing.
 * Registers are reached over AXI4-Lite, which takes clock cycles; the memory steps with every
 * clock. */
#ifndef HD_SIM_RTL_MODEL_H
#define HD_SIM_RTL_MODEL_H

#include "isa/isa.h"
#include "runtime/device/hal.h"
#include "runtime/device/wave.h"
#include "sim/axi_mem.h"

enum { HD_RTL_ABI = 8 }; /* changes with any struct in this header or in axi_mem.h */

struct hd_rtl; /* a model */

struct hd_rtl_memory {
    hd_axi_mem *mem; /* made for axi_bytes of the machine */
    void (*reset)(hd_axi_mem *, struct hd_axi_in *);
    void (*step)(hd_axi_mem *, const struct hd_axi_out *, struct hd_axi_in *);
};

struct hd_rtl_cycle { /* one clock of a run, just before its edge; bit u of a mask = unit u */
    uint64_t cycle;   /* since start */
    uint8_t busy, stall_sem, stall_mem, stall_bank;
    uint8_t active;                   /* an operation is in the unit */
    uint16_t tag[HD_UNITS];           /* of the oldest operation in the unit, valid where active */
    bool taken[HD_UNITS];             /* the front has an operation, whole; of SEQ: never */
    uint32_t taken_pc[HD_UNITS];      /* of the operation taken last; SEQ: in work */
    uint32_t done_pc[HD_UNITS];       /* of the operation that ended last, not of SEQ */
    uint32_t read_bytes, write_bytes; /* over the bus in this cycle */
};
typedef void (*hd_rtl_hook)(void *user, const struct hd_rtl_cycle *c);

struct hd_rtl_pins { /* AXI4-Lite, reset and interrupt in one clock */
    bool rst_n, awvalid, wvalid, bready, arvalid, rready; /* driven by the caller */
    uint8_t wstrb;
    uint16_t awaddr, araddr;
    uint32_t wdata;
    bool awready, wready, bvalid, arready, rvalid, interrupt; /* by the machine, before the edge */
    uint8_t bresp, rresp;
    uint32_t rdata;
};

/* A run that begins in the middle of one: the on-chip memories, as the ISS keeps them, and what the
 * semaphores count. While cycle < until, operation i of unit u waits for cycle release[u][i] before
 * it takes its semaphores; those beyond n_release[u] do not wait. */
enum { HD_RTL_TM = HD_PROBE_ARENA, HD_RTL_MEMORIES };
struct hd_rtl_resume {
    uint64_t cycle; /* that the run's first one is */
    const uint8_t *memory[HD_RTL_MEMORIES];
    size_t bytes[HD_RTL_MEMORIES];
    uint8_t sem[HD_SEMAPHORES];
    int free_sem; /* one that no operation names */
    uint64_t until;
    const uint64_t *release[HD_UNITS];
    size_t n_release[HD_UNITS];
};

struct hd_rtl_snapshot { /* in the middle of a run */
    uint64_t cycles, read_bytes, write_bytes, code_bytes;
    struct hd_unit_counters unit[HD_UNITS];
    uint64_t unassigned; /* cycles before the first layer */
    int last_tag;
    uint32_t control; /* hash: semaphores, fronts, issue, fetch and requests for reads */
};

/* Of a traced model (build/rtl-wave). A cycle is 1 ns in the file. */
struct hd_rtl_wave_api {
    bool (*open)(struct hd_rtl *, const struct hd_wave *); /* false: its result says why */
    void (*begin)(struct hd_rtl *, const uint32_t *program, size_t n_words); /* the next run's */
    void (*close)(struct hd_rtl *);
};

struct hd_rtl_api {
    uint32_t abi;       /* HD_RTL_ABI */
    uint32_t axi_bytes; /* of the model */
    /* NULL when out of memory. The model is out of reset and idle; the memory outlives it. */
    struct hd_rtl *(*create)(const struct hd_rtl_memory *memory);
    void (*destroy)(struct hd_rtl *);
    void (*reg_write)(struct hd_rtl *, uint32_t offset, uint32_t value);
    uint32_t (*reg_read)(struct hd_rtl *, uint32_t offset);
    /* Clocks a started machine until it is idle. False: it passed max_cycles (0 = no limit) and
     * goes on with the next call. */
    bool (*run)(struct hd_rtl *, uint64_t max_cycles);
    /* One clock, AXI4-Lite's and reset pins as given. For tests; between it and reg_write, reg_read
     * and run the pins are to be idle: valids and readys low, rst_n high. */
    void (*pins)(struct hd_rtl *, struct hd_rtl_pins *io);
    /* Called every cycle of later runs; NULL = none. */
    void (*set_hook)(struct hd_rtl *, hd_rtl_hook hook, void *user);
    /* Per-tag accounting of the last run, valid until the next start. */
    const struct hd_layer_counters *(*layers)(struct hd_rtl *, int *out_n);
    uint64_t (*clocks)(const struct hd_rtl *); /* since creation */
    uint64_t (*cycles)(const struct hd_rtl *); /* of the run, or the last one */
    /* Copies an on-chip memory as the ISS keeps it and gives its size; out NULL = the size alone.
     * 0: the model does not show it. */
    size_t (*memory)(const struct hd_rtl *, enum hd_probe_memory which, uint8_t *out);
    /* The next run begins as *r says; what it points to stays until `until`. False: the model does
     * not show a memory. */
    bool (*resume)(struct hd_rtl *, const struct hd_rtl_resume *r);
    void (*snapshot)(const struct hd_rtl *, struct hd_rtl_snapshot *out);
    const struct hd_rtl_wave_api *wave; /* NULL: the model is not traced */
};

#endif
