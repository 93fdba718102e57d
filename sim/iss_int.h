/* Inside of the ISS: state of the machine, and what its files call of each other. */
#ifndef HD_SIM_ISS_INT_H
#define HD_SIM_ISS_INT_H

#include "sim/axi_mem.h"
#include "sim/iss.h"

#define HD_NEVER          UINT64_MAX
#define HD_ISS_MAX_CYCLES (UINT64_C(1) << 36) /* no run goes on beyond */

enum { HD_QUEUE_MAX = 16 };

struct queued_op {
    struct hd_op_word op;
    uint32_t pc, n_words;
    uint64_t ready; /* first cycle in which the unit can take it */
};

struct flying_op { /* handed to the engine, not complete */
    uint32_t signal, pc;
    uint16_t tag;
    bool nop;
    uint64_t done;                   /* HD_NEVER until known */
    uint64_t take, start, stall_sem; /* for the probe */
};

enum front_state { FRONT_IDLE, FRONT_SEM, FRONT_OFFER };

/* One unit: queue, sticky words, the operation taken, the operations in its engine. */
struct front {
    struct queued_op queue[HD_QUEUE_MAX];
    uint32_t q_head, q_n;
    struct hd_sticky sticky;
    enum front_state state;
    struct queued_op cur;
    uint64_t ready;       /* state change not before; offered: since when */
    uint64_t engine_free; /* engine can accept from this cycle; HD_NEVER: not known yet */
    struct flying_op fly[HD_N_ops_in_flight];
    uint32_t f_head, f_n;
    uint64_t next;                  /* cycle of the front's next event */
    uint64_t stall_mem, stall_bank; /* counters at the last end, for the probe */
    uint64_t take, stall_sem,
        last_end; /* for the probe: of cur, the counter then; end of the last */
};

struct run_walk { /* a DMA operation as runs of contiguous bytes */
    int64_t run, n[3], i[3];
    int64_t dram, dram_step[3]; /* byte offset in the segment */
    int64_t chip, chip_step[3]; /* byte address on chip */
    int shrink;                 /* log2 of bytes on chip that become one in DRAM */
    bool edge, apart, in_am;    /* apart: runs are not joined; in_am: in AM, not XM */
    int64_t x0, y0, row_bytes, rows, y_step, x_step;
    uint32_t n_joined; /* loops that became part of the run, a cycle each */
    uint64_t left;     /* runs for which the program has time, a cycle each */
    /* One of its runs is an error, or all of it is (bad): what each is held against. */
    bool fails;
    uint8_t bad, seg;
    int64_t chip_bytes;
};

/* ---- engines of LX, LW and ST, register by register as in hw/rtl ---- */
struct dma_run {               /* a run of contiguous bytes on its way through an engine */
    uint64_t addr;             /* bus address of its first byte that goes over the bus */
    int64_t chip, run, lo, hi; /* byte address on chip, bytes, the part that goes over the bus */
    uint32_t beats;            /* 0: padding alone */
    bool in_am, last;          /* last: of its operation */
    uint8_t shrink, err;       /* err: it has no beats */
};

struct run_queue {
    struct dma_run r[HD_N_load_records];
    uint32_t head, n;
};

struct dma_gen { /* address side: hd_lx_gen, hd_lw, hd_st_gen */
    bool joining, walking, b_valid, c_valid, mid, halted; /* halted: a run was an error */
    uint64_t joined;            /* cycle from which the runs of `next` are joined */
    struct run_walk next, walk; /* being joined; walked */
    uint64_t next_base, base;   /* bus addresses of their segments */
    struct dma_run b, c;
    uint64_t at;   /* mid: of c that is left, address */
    uint32_t left; /* and beats */
    uint32_t open; /* bursts */
};

struct load { /* LX and LW */
    struct dma_gen gen;
    struct run_queue runs;
    bool run, prime, out, out_last; /* LX: hd_lx_data */
    int64_t end, lo, hi;            /* from the first byte of the chunk at hand */
    int64_t chip, out_chip;
    uint32_t beats; /* of the run, to come */
    bool in_am, last, out_am;
    uint8_t err;
};

struct store {
    struct dma_gen gen;
    bool aw;
    uint32_t aw_beats;
    struct run_queue runs, packs;
    uint8_t burst[HD_N_store_records];  /* beats - 1 */
    bool resp_last[HD_N_store_records]; /* open bursts: last of its operation */
    uint8_t resp_err[HD_N_store_records];
    uint32_t burst_at, n_bursts, resp_at, n_resps;
    bool read, in_am, coming[2], whole[2]; /* granted one and two cycles ago */
    int64_t read_chip;
    uint8_t shrink;
    uint32_t read_left, chunks;
    bool run, prime, out, out_last;
    int64_t end, skip; /* of the run and of bytes before it, from the first byte of the beat */
    uint32_t left, beat, out_bytes;
};

struct read_bus { /* hd_rd_arb */
    struct {
        uint8_t n;
        uint32_t beats[2];
    } asks[3]; /* requests of fetch, LX and LW that wait */
    bool ar;
    uint8_t ar_id;
    uint32_t ar_beats, credit; /* credit: beats that LX may still ask for before LW */
    bool valid[2], last[2];    /* the buffer of two */
    uint8_t id[2];
};

enum { HD_FETCH_BEATS = 64 }; /* at most, in the buffer */

struct fetch {
    uint64_t at, first, end; /* byte offsets in the image: next request; how far it asks before the
                                length of the program is known, and after that */
    uint64_t known;          /* cycle from which it is */
    uint32_t reserved;       /* beats of the buffer */
    uint32_t open;           /* bursts of which beats are still to come */
    uint64_t stop;           /* cycle from which it asks no more */
    uint64_t came[HD_FETCH_BEATS];    /* cycles from which the words of the last beats can issue */
    uint64_t gone[HD_FETCH_BEATS];    /* cycles in which the last beats left */
    uint32_t n_came, n_gone, n_freed; /* so far; freed: no longer reserved */
};

struct words {        /* from the buffer to issue */
    uint32_t in;      /* the next one to leave the buffer */
    uint64_t entered; /* cycle in which the one before did */
    /* cycles in which the last ones did, and in which they were taken */
    uint64_t sent[HD_N_issue_words], taken[HD_N_issue_words];
};

/* ---- MX in time: when it reads and writes which bank ---- */
struct bank_run { /* n reads, or n writes, in one bank */
    uint64_t n;
    int bank;
};
struct bank_list {
    struct bank_run *run;
    size_t n, cap;
};
struct bank_cursor {
    size_t at;
    uint64_t begin;
};
enum { HD_MX_RECENT = 16 };
struct mx_write {
    uint64_t t; /* cycle of the iteration that makes it */
    int64_t at;
};
struct mx_op {
    uint64_t start, iterations, inner; /* first iteration; of them, iterations of an output */
    bool accumulate;
    struct bank_list xm, am; /* by iteration, by output */
    struct bank_cursor at_xm, at_read, at_write;
};

/* ---- VX in time: hd_vx ---- */
enum {
    HD_VX_PLACES = 5,
    HD_VX_HELD = HD_VX_PLACES, /* behind them: a map's operands are in use */
    HD_VX_RESULTS = 128,
    HD_VX_STREAMS = 4,
    HD_VX_A = 0,
    HD_VX_B = 1,
    HD_VX_D = 2,
    HD_VX_P = 3
};
struct vx_result {
    uint64_t ready; /* cycle from which it can be written; HD_NEVER: its block is not complete */
    int64_t at;     /* word of N */
    bool to_am, turned, end;
    uint8_t err; /* instead of a result */
};
struct vx_time {
    bool run, dw, pairs, sums, single, first_pm; /* single: the first iteration is a result */
    bool two, to_am, turns, fn_before, fn_behind;
    bool a_xm, a_am, b_xm, b_am, got_a, got_b;
    bool fails, reads_pm;     /* fails: an iteration is an error, or all of them are (bad) */
    uint8_t bad, taps;        /* taps: words of PM behind P that dw reads */
    uint32_t head, gap, skip; /* dw: columns before the first window, between two, to the next */
    int loops, inner;         /* loops below `inner` are a reduction */
    int64_t n[4], i[4];
    int64_t at[HD_VX_STREAMS][4], step[HD_VX_STREAMS][4]; /* words; at: as in hd_nest */
    uint64_t late[HD_VX_PLACES], from[HD_VX_PLACES + 1];  /* see hd_vx, "of different latency" */
    uint64_t fn_end;                        /* cycle of the last function behind the alu */
    uint32_t n_xm, n_am, n_turn;            /* operations in flight that write XM, AM; turn */
    struct vx_result result[HD_VX_RESULTS]; /* a ring */
    uint32_t first, n_results, block;       /* block: vectors of the block at the end */
};

enum seq_state { SEQ_NONE, SEQ_SEM, SEQ_BARRIER, SEQ_END };

struct issue {
    uint32_t pc, bundle; /* next word; start of the bundle in work */
    struct hd_op_word ops[HD_UNITS];
    int offset[HD_UNITS];
    int n, at, words; /* operations of the bundle, the one in work, words */
    bool decoded;
    bool wrong;              /* behind those operations it does not decode */
    bool ends, failed;       /* ends: no words are left; failed: it has been reported */
    enum hd_unit wrong_unit; /* whose words those are; seq: a bundle's */
    uint32_t wrong_pc;
    enum seq_state seq;
    uint64_t t; /* cycle of the next word, or of the next step of a SEQ operation */
    uint64_t seq_start, seq_granted; /* of the SEQ operation in work, for the probe */
    uint64_t next;
};

/* The registers of regs.def, those that are computed when they are read excepted. */
struct iss_regs {
    uint32_t ctrl, gie, ier, isr, image_bytes, arena_bytes, code_offset, watchdog, cycle_limit,
        refused;
    uint64_t image_ptr, arena_ptr;
    uint32_t error, error_unit, error_pc;
    uint32_t high; /* half of the counter whose low half was read last */
};

/* An error that shows in cycle `at`; what shows before, or in that cycle of a lower rank, goes
 * first.
 */
struct iss_failure {
    bool is, of_oldest; /* of_oldest: its place is that of the oldest operation in flight */
    uint64_t at;
    unsigned code;
    int rank;
    enum hd_unit unit;
    uint32_t pc;
};

struct iss_totals { /* of the run */
    uint64_t cycles, read_bytes, write_bytes, code_bytes;
    struct hd_unit_counters count[HD_UNITS];
};

struct iss_tags { /* accounting by the tags of operations */
    struct hd_layer_counters *layers;
    int n_layers, cap_layers;
    uint64_t counted_to, no_tag_cycles;
    int last_tag; /* -1 = none yet */
};

struct mx_time {
    struct mx_op op[HD_MX_RECENT];         /* a ring */
    uint32_t n_op;                         /* so far */
    struct mx_write wrote[HD_N_mx_hazard]; /* a ring */
    uint32_t n_wrote;
    uint64_t end; /* cycle behind its last iteration */
};

struct hd_iss {
    struct hd_machine m;
    hd_axi_mem *mem;
    const struct hd_probe *probe; /* NULL = none */
    bool functional;              /* operations take no time, their traffic is not modelled */
    uint8_t *xm, *pm, *tm;
    int8_t *wm;
    int32_t *am;
    size_t xm_bytes;
    struct iss_regs reg;
    struct iss_totals total;
    struct iss_tags tags;

    /* the run */
    bool free_issue;
    bool started, running; /* running: no halt and no error yet */
    struct iss_failure failure;
    uint64_t moves_to;    /* cycle up to which an engine moves without an event */
    uint64_t now, budget; /* budget: cycles that the run may still take */
    const uint32_t *code; /* the program, where it is in DRAM */
    uint32_t code_words;  /* header included; 0: not known yet */
    uint8_t sem[HD_SEMAPHORES];
    struct front front[HD_UNITS]; /* [seq] has no queue */
    struct fetch fetch;
    struct words words;
    struct issue issue;
    struct load load[2]; /* LX, LW */
    struct store store;
    struct read_bus bus;
    struct vx_time vx;
    struct mx_time mx;
    uint64_t tick, ticked; /* the next cycle of the engines that matters; the last one + 1 */
    struct hd_axi_out axi_out;
    int64_t axi;               /* bytes of a beat */
    int xm_shift, am_shift;    /* log2 of the bytes of a bank */
    uint8_t vx_block[64 * 64]; /* vectors of a block that is being transposed */
    int64_t vx_turn;           /* of them, complete */
};

/* ---- iss.c ---- */
/* Records an error of the operation at pc and stops the machine. */
void hd_iss_error(hd_iss *iss, unsigned code, enum hd_unit unit, uint32_t pc);
/* The same in time: it shows in cycle t. Of the sequencer, and of the oldest operation of a unit.
 */
void hd_iss_issue_fails(hd_iss *iss, uint64_t t, enum hd_unit unit, uint32_t pc);
void hd_iss_unit_fails(hd_iss *iss, uint64_t t, unsigned code, enum hd_unit u);
void hd_iss_overflows(hd_iss *iss, uint64_t t, enum hd_unit u, uint32_t pc); /* a semaphore */
struct hd_layer_counters *hd_iss_layer(hd_iss *iss, uint16_t tag);
void hd_iss_wake(hd_iss *iss); /* something changed: every blocked actor looks again */
void hd_iss_set_next(uint64_t *next, uint64_t t); /* lowers *next to t */
void hd_iss_tell_dram(const hd_iss *iss, uint64_t cycle, bool write,
                      uint32_t bytes); /* the probe */

/* ---- iss_fetch.c ---- */
/* Whether fetch asks for a burst in this cycle, and for how many beats; it is granted. */
bool hd_iss_fetch_asks(hd_iss *iss, uint32_t *out_beats);
void hd_iss_fetch_granted(hd_iss *iss, uint32_t beats);
void hd_iss_fetch_beat(hd_iss *iss, bool last); /* a beat comes in this cycle */
uint64_t hd_iss_fetch_next(const hd_iss *iss);  /* cycle of its next request, as far as known */
void hd_iss_take_header(hd_iss *iss);           /* then how long the program is is known */
/* Words go on to issue as far as there is room. */
void hd_iss_send_words(hd_iss *iss);
/* Issue takes the words up to `end`, one per cycle; false when one is not asked for yet. */
bool hd_iss_take_words(hd_iss *iss, uint32_t end);

/* ---- iss_issue.c: issue, semaphores, units up to the engine ---- */
void hd_iss_issue_step(hd_iss *iss);
void hd_iss_front_step(hd_iss *iss, enum hd_unit u);
void hd_iss_complete(hd_iss *iss, enum hd_unit u);
bool hd_iss_take_semaphores(hd_iss *iss, uint32_t mask); /* all or none */
/* A count that overflows shows in cycle t. */
void hd_iss_signal(hd_iss *iss, uint32_t mask, enum hd_unit u, uint32_t pc, uint64_t t);

/* ---- iss_time.c: engines. Accepts the operation in front.cur, whose words are in front.words:
 * checks it, executes it, and starts it in time. False: it failed. ---- */
bool hd_iss_engine_start(hd_iss *iss, enum hd_unit u, uint32_t slot);
/* All engines and the memory for one cycle, before anything else of that cycle. */
void hd_iss_tick(hd_iss *iss);
/* The engine of u takes another operation from this cycle on. */
void hd_iss_engine_free(hd_iss *iss, enum hd_unit u, uint64_t t);
/* The oldest operation in the engine of u is done in cycle t. */
void hd_iss_engine_done(hd_iss *iss, enum hd_unit u, uint64_t t);
void hd_iss_time_free(hd_iss *iss);

/* ---- iss_bank.c: MX; -1 = no bank ---- */
/* An operation of so many iterations begins in the next cycle. Returns the cycles it issues. */
uint64_t hd_iss_mx_start(hd_iss *iss, const uint32_t *words, uint64_t iterations);
int hd_iss_mx_reads_xm(hd_iss *iss, uint64_t t);
int hd_iss_mx_reads_am(hd_iss *iss, uint64_t t);
int hd_iss_mx_writes_am(hd_iss *iss, uint64_t t);

/* ---- iss_vx_time.c ---- */
struct hd_iss_banks { /* that are taken in this cycle, by those with priority; bit b = bank b */
    uint64_t xm_read, xm_write;
    uint32_t am_read, am_write;
};
/* err: what hd_iss_vx said of it. */
void hd_iss_vx_start(hd_iss *iss, unsigned code, const uint32_t *words, unsigned err);
void hd_iss_vx_tick(hd_iss *iss, struct hd_iss_banks *taken);
uint64_t hd_iss_vx_next(const hd_iss *iss);

/* ---- iss_load.c, iss_store.c ---- */
/* err: what hd_iss_lx, hd_iss_lw or hd_iss_st said of it. */
void hd_iss_gen_start(hd_iss *iss, struct dma_gen *g, enum hd_unit u, const uint32_t *words,
                      unsigned err);
/* The burst that the run at hand asks for. */
uint32_t hd_iss_gen_burst(const hd_iss *iss, const struct dma_gen *g);
void hd_iss_gen_sent(hd_iss *iss, struct dma_gen *g, uint32_t beats); /* it went out */
/* The rest of a cycle; c_done: the run at hand is through. */
void hd_iss_gen_step(hd_iss *iss, struct dma_gen *g, enum hd_unit u, bool c_done);
uint64_t hd_iss_gen_next(const hd_iss *iss, const struct dma_gen *g);
bool hd_iss_load_asks(const hd_iss *iss, const struct load *l, uint32_t *out_beats);
/* Data side; here: a beat is for it. Returns whether it takes it. */
bool hd_iss_lx_data(hd_iss *iss, bool here, const struct hd_iss_banks *taken);
void hd_iss_lw_data(hd_iss *iss, bool here);
/* Address side: may: could have asked; sent: beats that went out. */
void hd_iss_load_addr(hd_iss *iss, enum hd_unit u, bool room, uint32_t sent);
uint64_t hd_iss_load_next(const hd_iss *iss, enum hd_unit u);
void hd_iss_load_waits(hd_iss *iss, uint64_t cycles); /* nothing came in so many */
void hd_iss_store_tick(hd_iss *iss, struct hd_iss_banks *taken);
uint64_t hd_iss_store_next(const hd_iss *iss);
void hd_iss_store_waits(hd_iss *iss, uint64_t cycles);

/* ---- effects: check, then execute; HD_ERR_none or the error ---- */
unsigned hd_iss_lx(hd_iss *iss, const uint32_t *words);
unsigned hd_iss_lw(hd_iss *iss, const uint32_t *words);
unsigned hd_iss_st(hd_iss *iss, const uint32_t *words);
unsigned hd_iss_mx(hd_iss *iss, const uint32_t *words, uint64_t *out_iterations);
unsigned hd_iss_vx(hd_iss *iss, unsigned code, const uint32_t *words, uint64_t *out_cycles);
/* The first iteration of an operation that hd_iss_mx refuses: which one is out of range. */
uint64_t hd_iss_mx_first_error(const hd_iss *iss, const uint32_t *words);
/* Of a DMA operation: what is wrong with all of it; with the walk's current run, if `fails`. */
unsigned hd_iss_dma_error(const hd_iss *iss, enum hd_unit u, const uint32_t *words);
unsigned hd_iss_run_error(const hd_iss *iss, const struct run_walk *w);
/* Runs of a DMA operation, joined. */
void hd_iss_walk(const hd_iss *iss, enum hd_unit u, const uint32_t *words, struct run_walk *w);
/* Valid bytes [*lo, *hi) of the walk's current run; empty when all are padding. */
void hd_iss_walk_valid(const struct run_walk *w, int64_t *lo, int64_t *hi);
bool hd_iss_walk_next(struct run_walk *w);          /* false after the last run */
int64_t hd_iss_walk_dram(const struct run_walk *w); /* of the current run: offset in the segment */
int64_t hd_iss_walk_chip(const struct run_walk *w); /* and byte address on chip */

#endif
