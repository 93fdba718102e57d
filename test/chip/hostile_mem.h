/* A memory that does to the machine what AXI4 allows, and worse: reads of different ids come out of
 * order and interleaved, everything stalls at random, write data is taken before its address,
 * single beats answer SLVERR or DECERR, and at some point it may answer nothing more.
 *
 * It judges what it is asked: bursts by the rules of AXI, and every byte by the windows that it was
 * told. The first violation is kept as text. */
#ifndef HD_TEST_HOSTILE_MEM_H
#define HD_TEST_HOSTILE_MEM_H

#include "sim/axi_mem.h"
#include "test/rng.h"

enum { HOSTILE_IDS = 3, HOSTILE_BURSTS = 64, HOSTILE_BEATS = 256, HOSTILE_SEGMENTS = 2 };

struct hostile_window {
    uint64_t at, bytes; /* what the machine may touch */
    bool writable;
    uint8_t *data; /* of the byte at `at` */
};

struct hostile_config {
    uint32_t latency, spread; /* cycles to the first beat and to a response: latency..+spread */
    uint32_t pace;            /* cycles between two handshakes of a channel: 0..pace at random */
    bool shuffle;             /* ids come out of order, and interleaved */
    uint32_t bad;             /* of 65,536 beats and responses, those that are errors */
    uint32_t most_bad;        /* and no more of them than that */
    uint32_t good;            /* bit i: no errors for reads of id i, bit 3: for writes */
    uint64_t answers;         /* bursts that are answered, UINT64_MAX = all */
};

struct hostile_burst {
    uint64_t addr, ready;
    uint32_t beats, done;
};
struct hostile_queue {
    struct hostile_burst b[HOSTILE_BURSTS];
    uint32_t head, n;
};
struct hostile_beat { /* of write data that came before its address */
    uint8_t data[HD_AXI_MAX_BYTES];
    uint64_t strobes;
    bool last;
};

struct hostile_mem {
    struct hostile_config cfg;
    struct hostile_window window[HOSTILE_SEGMENTS];
    struct rng r;
    uint32_t axi_bytes;
    uint64_t cycle;
    struct hostile_queue rd[HOSTILE_IDS], wr; /* wr: until its data is here */
    struct hostile_queue resp;
    struct hostile_beat early[HOSTILE_BEATS];
    uint32_t early_head, n_early;
    bool wr_bad;       /* of the burst at the head of wr: outside */
    int mid;           /* id of the burst that goes on, -1 = none */
    uint64_t rests[5]; /* AR, R, AW, W, B: no handshake before that cycle */
    struct hd_axi_in in;
    struct hd_axi_out open;             /* valid = was not taken, so it must stay */
    uint64_t read_bytes, written_bytes; /* in this run: whole beats, strobed bytes */
    uint32_t n_bad;
    int first_bad; /* what it was: id of a read, HOSTILE_IDS = a write; -1 = none yet */
    char error[200];
};

void hostile_init(struct hostile_mem *m, uint32_t axi_bytes);
/* How it behaves from here on; open bursts stay. */
void hostile_configure(struct hostile_mem *m, const struct hostile_config *cfg, uint64_t seed);
/* The machine was reset from outside, and the bus with it. */
void hostile_reset(struct hostile_mem *m);
/* Bursts that are not over. */
uint32_t hostile_open(const struct hostile_mem *m);
void hostile_violation(struct hostile_mem *m, const char *what, uint64_t at);

/* For struct hd_rtl_memory. */
void hostile_run_begins(hd_axi_mem *m, struct hd_axi_in *in);
void hostile_step(hd_axi_mem *m, const struct hd_axi_out *out, struct hd_axi_in *in);

#endif
