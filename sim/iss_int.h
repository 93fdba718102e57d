/* Inside of the ISS: state of the machine, and what its files call of each other. */
#ifndef HD_SIM_ISS_INT_H
#define HD_SIM_ISS_INT_H

#include "sim/iss.h"

#define HD_NEVER          UINT64_MAX
#define HD_ISS_MAX_CYCLES (UINT64_C(1) << 36) /* no run goes on beyond */

enum { HD_IN_FLIGHT = 8, HD_QUEUE_MAX = 16, HD_DMA_OPEN = 16 /* bursts of an engine */ };

/* Timing of the hardware that isa tables do not give, in cycles: see the headers of hw/rtl. */
enum hd_iss_timing {
    HD_T_START = 2,   /* start to the first request of fetch */
    HD_T_ARB = 1,     /* a read request to the bus */
    HD_T_DATA = 1,    /* data on the bus to its engine */
    HD_T_WORD = 1,    /* data at fetch to a word that can issue */
    HD_T_HALT = 2,    /* units idle to done */
    HD_T_MX_DONE = 9, /* last iteration to done */
    HD_T_VX_DONE = 20,
    HD_T_VX_DW = 2,         /* later than a plain map: a dw, */
    HD_T_VX_ACROSS = 1,     /* a reduction across lanes, */
    HD_T_VX_FN = 8,         /* a function, */
    HD_T_VX_LUT = 1,        /* a table; */
    HD_T_VX_FN_SWITCH = 15, /* a function behind the alu to one before it, at least */
    HD_T_LX_FIRST = 4,      /* load accepted to its first request */
    HD_T_LX_DONE = 2,       /* last chunk at the engine to done */
    HD_T_LW_DONE = 1,
    HD_T_ST_FIRST = 4,   /* store accepted to its first address */
    HD_T_ST_DATA = 9,    /* store accepted to its first data */
    HD_T_ST_READ = 5,    /* read of XM to its data */
    HD_T_ST_AHEAD = 16,  /* a burst is looked at that long before its data */
    HD_T_ST_CHUNKS = 8,  /* reads of XM that are looked at together, when the first is due */
    HD_T_ST_DONE = 2,    /* last response to done */
    HD_FETCH_CHUNK = 256 /* bytes: longest burst of fetch; its buffer has 4 */
};

struct queued_op {
    struct hd_op_word op;
    uint32_t pc, n_words;
    uint64_t ready; /* first cycle in which the unit can take it */
};

struct flying_op { /* handed to the engine, not complete */
    uint32_t signal, pc;
    uint16_t tag;
    bool nop;
    uint64_t done;                              /* HD_NEVER until known */
    uint64_t take, start, stall_sem, stall_mem; /* for the probe */
};

enum front_state { FRONT_IDLE, FRONT_SEM, FRONT_OFFER };

/* One unit: queue, sticky words, the operation taken, the operations in its engine. */
struct front {
    struct queued_op queue[HD_QUEUE_MAX];
    uint32_t q_head, q_n;
    uint32_t words[HD_PARAM_WORDS];
    enum front_state state;
    struct queued_op cur;
    uint64_t ready;       /* state change not before; offered: since when */
    uint64_t engine_free; /* engine can accept from this cycle; HD_NEVER: not known yet */
    struct flying_op fly[HD_IN_FLIGHT];
    uint32_t f_head, f_n;
    uint64_t next;       /* cycle of the front's next event */
    uint64_t stall_bank; /* counter at the last end, for the probe */
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
};

struct dma_op { /* an operation that a DMA engine has accepted */
    struct run_walk walk;
    uint64_t base;  /* bus address of the segment */
    uint64_t first; /* its first request not before */
    uint32_t fly;   /* index in front.fly */
    uint16_t tag;
};

struct dma { /* address side of LX, LW or ST; the data side is the cycle from which it is free */
    bool active, in_run;
    uint64_t run_work, lead; /* cycles of the run left (LX); of them before the first beat */
    bool has_waiting;
    struct dma_op waiting; /* accepted, behind the one in work */
    struct run_walk walk;
    int64_t lo, hi; /* bytes of the current run that still go over the bus */
    uint64_t base;  /* bus address of the segment */
    uint64_t data_free, last;
    uint64_t ask[HD_DMA_OPEN]; /* a ring: its burst is over, and another may be asked for */
    uint32_t asked;
    uint32_t fly; /* index in front.fly */
    uint16_t tag;
    uint64_t next;
    uint64_t stall_mem;                       /* counter when the operation began */
    struct store_work {                       /* ST: the burst that reads XM */
        uint64_t chunks, offered, data, wait; /* left; cycles of AW, of the first data, lost */
        int64_t chip, bytes;
        uint32_t beats;
    } store;
};

struct fetch_burst {
    uint32_t first_word, n_words;
    uint64_t first, last;
};

struct fetch {
    uint64_t at, limit; /* byte offsets in the image: next request, end as far as known */
    uint64_t known;     /* cycle in which the header has given the program's length */
    uint32_t reserved;  /* beats */
    struct fetch_burst b[8];
    uint32_t head, n;
    uint64_t next;
};

enum { HD_UNPACK_WORDS = 4 }; /* between hd_unpack and issue */

struct unpack { /* from the words of the stream to those that issue */
    bool packed;
    uint32_t words; /* of the stream */
    /* what they are, as far as bundles are decoded */
    uint32_t to, n_to; /* next word of the stream, next word that issues */
    struct hd_loop ahead;
    uint32_t window[HD_LOOP_WINDOW];
    /* when they come */
    uint32_t at, from; /* of the header, of the rest */
    struct hd_loop now;
    bool looped;        /* the last one came from a loop */
    uint64_t step, out; /* cycle in which it was chosen, in which it went to the queue */
    uint64_t taken[HD_UNPACK_WORDS]; /* cycles in which issue took the last ones */
    uint32_t n_taken;
};

struct bank_run { /* cycles with reads in the same banks of XM; -1 = none */
    uint64_t n;
    int8_t bank[2];
};

struct bank_track { /* reads of an operation, and how far they are */
    struct bank_run *run;
    size_t n, cap, at; /* at: the run in work */
    uint64_t left, t;  /* its cycles left, from cycle t on */
};

enum { HD_LX_RECENT = 32, HD_VX_RECENT = 8 };

struct vx_writes { /* of a VX operation: n in cycles from..to, banks lo..hi in turn */
    uint64_t from, to, n;
    int64_t lo, hi;
};

struct lx_burst { /* chunks that LX writes, in cycles from..to, from byte address chip on */
    uint64_t from, to;
    int64_t chip;
};

enum seq_state { SEQ_NONE, SEQ_SEM, SEQ_BARRIER, SEQ_END };

struct issue {
    uint32_t pc, bundle; /* next word; start of the bundle in work */
    uint32_t code[256];  /* the bundle */
    struct hd_op_word ops[HD_UNITS];
    int offset[HD_UNITS];
    int n, at, words; /* operations of the bundle, the one in work, words */
    bool decoded;
    enum seq_state seq;
    uint64_t t; /* cycle of the next word, or of the next step of a SEQ operation */
    uint64_t seq_start, seq_granted; /* of the SEQ operation in work, for the probe */
    uint64_t next;
};

enum { HD_VX_PLACES = 5 };
struct vx_late { /* of an operation of VX */
    uint64_t at[HD_VX_PLACES];
    bool fn_before, fn_behind, turns;
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

    /* registers */
    uint32_t ctrl, gie, ier, isr, image_bytes, arena_bytes, code_offset, watchdog;
    uint64_t image_ptr, arena_ptr;
    uint32_t error, error_unit, error_pc;
    uint64_t cycles, read_bytes, write_bytes, code_bytes;
    struct hd_unit_counters count[HD_UNITS];

    /* the run */
    bool free_issue;
    bool started, running; /* running: no halt and no error yet */
    uint64_t now, budget;  /* budget: cycles that the run may still take */
    const uint32_t *code;  /* the program, where it is in DRAM */
    uint32_t code_words;   /* that issue, a header of 4 included; 0: not known yet */
    uint8_t sem[HD_SEMAPHORES];
    struct front front[HD_UNITS]; /* [seq] has no queue */
    struct dma dma[HD_UNITS];     /* lx, lw, st */
    struct fetch fetch;
    struct unpack unpack;
    struct issue issue;
    uint64_t vx_xm_end, vx_am_end; /* VX operations in flight that write XM, AM end then */
    /* Iterations after the last may be late by so much at each place where nothing may overtake,
     * from then on: see hd_vx.sv, "operations of different latency". */
    struct vx_late vx_late;
    uint64_t vx_from[HD_VX_PLACES];
    uint64_t vx_turn_end;      /* operations in flight that transpose end then */
    uint64_t vx_fn_end;        /* functions behind the alu have issued by then */
    uint8_t vx_block[64 * 64]; /* vectors of a block that is being transposed */
    int64_t vx_turn;           /* of them, complete */
    uint32_t vx_fly;           /* the operation that issues, index in front.fly */
    uint64_t vx_drain;         /* its latency behind the last iteration */
    bool vx_to_am;
    struct bank_track mx_track, vx_track;
    struct lx_burst lx_recent[HD_LX_RECENT];  /* a ring, the oldest at lx_at */
    struct vx_writes vx_recent[HD_VX_RECENT]; /* likewise */
    uint32_t lx_at, vx_at;

    /* accounting */
    struct hd_layer_counters *layers;
    int n_layers, cap_layers;
    uint64_t counted_to, no_tag_cycles;
    int last_tag; /* -1 = none yet */
};

/* ---- iss.c ---- */
/* Records an error of the operation at pc and stops the machine. */
void hd_iss_error(hd_iss *iss, unsigned code, enum hd_unit unit, uint32_t pc);
struct hd_layer_counters *hd_iss_layer(hd_iss *iss, uint16_t tag);
void hd_iss_wake(hd_iss *iss); /* something changed: every blocked actor looks again */
void hd_iss_set_next(uint64_t *next, uint64_t t); /* lowers *next to t */
void hd_iss_tell_dram(const hd_iss *iss, uint64_t cycle, bool write,
                      uint32_t bytes); /* the probe */

/* ---- iss_fetch.c: fetch, loops ---- */
void hd_iss_fetch_step(hd_iss *iss);
void hd_iss_take_header(hd_iss *iss); /* then how long the program is is known */
/* The next word that issues, or false and an error: the stream is wrong there. */
bool hd_iss_word(hd_iss *iss, uint32_t *out);
/* Issue takes the words up to `end`, one per cycle; false when one is not asked for yet. */
bool hd_iss_take_words(hd_iss *iss, uint32_t end);

/* ---- iss_issue.c: issue, semaphores, units up to the engine ---- */
void hd_iss_issue_step(hd_iss *iss);
void hd_iss_front_step(hd_iss *iss, enum hd_unit u);
void hd_iss_complete(hd_iss *iss, enum hd_unit u);
bool hd_iss_take_semaphores(hd_iss *iss, uint32_t mask); /* all or none */
void hd_iss_signal(hd_iss *iss, uint32_t mask, enum hd_unit u, uint32_t pc);

/* ---- iss_time.c: engines. Accepts the operation in front.cur, whose words are in front.words:
 * checks it, executes it, and sets its completion time or starts the DMA that will. False: it
 * failed. ---- */
bool hd_iss_engine_start(hd_iss *iss, enum hd_unit u, uint32_t slot);
void hd_iss_dma_step(hd_iss *iss, enum hd_unit u);

/* ---- iss_bank.c: banks of XM ---- */
/* An MX operation starts now; a VX operation that takes `cycles` without MX starts in `start`. */
void hd_iss_bank_mx(hd_iss *iss, const uint32_t *words);
void hd_iss_bank_vx(hd_iss *iss, unsigned code, const uint32_t *words, uint64_t start,
                    uint64_t cycles);
/* Cycle from which the VX operation in work lets the next one in; *out_stall are those cycles of it
 * still to come in which MX is in the way. */
uint64_t hd_iss_bank_vx_end(const hd_iss *iss, uint64_t *out_stall);
/* Cycles that ST waits when it reads chunks from byte address `chip` on, beginning in cycle t. */
uint64_t hd_iss_bank_st(const hd_iss *iss, int64_t chip, uint64_t chunks, uint64_t t);
/* LX writes in cycles from..to, beginning at byte address chip, if VX lets it: returns the cycles
 * that it waits for writes of VX known by now. */
uint64_t hd_iss_bank_lx(hd_iss *iss, int64_t chip, uint64_t from, uint64_t to);
/* A VX operation writes XM in cycles from..to: moves the bursts of LX that it stops. Returns by how
 * much the last ones move; *out_first is where that begins. */
uint64_t hd_iss_bank_lx_waits(hd_iss *iss, unsigned code, const uint32_t *words, uint64_t from,
                              uint64_t to, uint64_t *out_first);
void hd_iss_bank_clear(hd_iss *iss);
void hd_iss_bank_free(hd_iss *iss);

/* ---- effects: check, then execute; HD_ERR_none or the error ---- */
unsigned hd_iss_lx(hd_iss *iss, const uint32_t *words);
unsigned hd_iss_lw(hd_iss *iss, const uint32_t *words);
unsigned hd_iss_st(hd_iss *iss, const uint32_t *words);
unsigned hd_iss_mx(hd_iss *iss, const uint32_t *words, uint64_t *out_iterations);
unsigned hd_iss_vx(hd_iss *iss, unsigned code, const uint32_t *words, uint64_t *out_cycles);
/* Runs of a DMA operation, joined. */
void hd_iss_walk(const hd_iss *iss, enum hd_unit u, const uint32_t *words, struct run_walk *w);
/* Valid bytes [*lo, *hi) of the walk's current run; empty when all are padding. */
void hd_iss_walk_valid(const struct run_walk *w, int64_t *lo, int64_t *hi);
bool hd_iss_walk_next(struct run_walk *w);          /* false after the last run */
int64_t hd_iss_walk_dram(const struct run_walk *w); /* of the current run: offset in the segment */
int64_t hd_iss_walk_chip(const struct run_walk *w); /* and byte address on chip */

#endif
