/* Banks that the operations of MX and VX read, and how long VX waits for them: MX comes first, so
 * an iteration of VX whose operand lies in the bank that MX reads waits until MX has left it. */
#ifndef HD_COMPILER_SCHED_BANKS_H
#define HD_COMPILER_SCHED_BANKS_H

#include "compiler/cost/cost.h"

enum { HD_BANK_RUNS = 64 };

/* Banks in the order of iterations: n of them read a word of one of `banks`. */
struct hd_bank_runs {
    int n_runs;
    struct hd_bank_run {
        double n;
        uint64_t banks; /* bit b: bank b of XM; HD_BANK_AM + b: of AM */
    } run[HD_BANK_RUNS];
};

/* An operation that comes first where others want its bank: of MX, or before stores of VX. */
struct hd_bank_user {
    bool any; /* something that may concern others */
    double start, end;
    struct hd_bank_runs xm;
    uint64_t am;    /* banks of AM that it adds to, */
    double am_part; /* in this part of its cycles */
    double part;    /* of its cycles in which it reads */
};

/* An operation of VX at work. */
struct hd_vx_reads {
    double b_part;   /* B is read in this part of its iterations */
    uint64_t banks;  /* of both operands, in all */
    uint64_t writes; /* banks of AM that its results go to, */
    double each;     /* cycles of an iteration, at least */
    double results;  /* so many of an iteration, */
    int late;        /* each so many cycles after its iteration */
    double room;     /* results on their way, at most */
    struct hd_bank_runs operand[2];
};

enum { HD_VX_LATEST = 64 };

/* How far it is: at `at` so many iterations are left, of each operand's run so many are done. Of
 * results that go to AM so many are on their way; those whose time has come wait for MX to leave
 * their bank. */
struct hd_vx_place {
    double at, left, done[2];
    int run[2];
    double on_their_way, waiting, ready[HD_VX_LATEST]; /* by cycle */
};

/* What the last operations of MX write to AM: in these cycles, a word in this part of them. */
struct hd_am_writers {
    struct {
        double from, to, part;
        uint64_t banks;
    } op[HD_N_ops_in_flight];
    int next;
};

void hd_bank_user_of_mx(const struct hd_machine *m, const struct hd_slot_op *op, double start,
                        double end, struct hd_bank_user *out);
/* Of an iteration of VX. Those of a dw pass the lanes with the last row of a window alone. */
double hd_vx_least_cycles(const struct hd_machine *m, const struct hd_slot_op *op,
                          int64_t iterations);
void hd_vx_reads_of(const struct hd_machine *m, const struct hd_slot_op *op, int64_t iterations,
                    struct hd_vx_reads *out);

/* Returns the words that it writes. */
double hd_am_writers_add(struct hd_am_writers *w, const struct hd_slot_op *op, double start,
                         double end);

/* Goes on until `until` or the last iteration, beside one operation of MX; p->at: where it stops.
 * w: NULL for what writes no AM. */
void hd_vx_go_on(const struct hd_vx_reads *v, struct hd_vx_place *p, const struct hd_bank_user *mx,
                 const struct hd_am_writers *w, double until);
/* Without iterations until `until` or the last write to AM. */
void hd_vx_drain(const struct hd_vx_reads *v, struct hd_vx_place *p, const struct hd_am_writers *w,
                 double until);

#endif
