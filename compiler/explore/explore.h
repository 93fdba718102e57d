/* Machines for networks: a space of them, what each costs and brings, those that nothing beats.
 *
 * space.c makes the candidates, nets.c the networks and the price of one on a machine, schedule.c
 * says which is next, workers.c prices many beside each other, far.c those of other ranks,
 * shared.c lets ranks share what they found, journal.c keeps prices, front.c compares.
 * docs/explore.md.
 */
#ifndef HD_EXPLORE_EXPLORE_H
#define HD_EXPLORE_EXPLORE_H

#include "compiler/area/area.h"
#include "compiler/energy/energy.h"
#include "compiler/explore/shared.h"
#include "compiler/session/session.h"
#include "runtime/ranks/ranks.h"

enum { HD_EXPLORE_NETS = 8, HD_EXPLORE_WHY = 160, HD_EXPLORE_OBJECTIVES = 4 };

/* ---- networks and prices (nets.c) ----------------------------------------------------------- */

/* What no plan of a network beats, for all memories: sums over its layers. */
struct hd_least {
    double mx, vx, chain, bytes;
};
struct hd_least_seen;
struct hd_net {
    struct hd_least_seen *seen; /* bounds by array, found before */
    const char *path, *name;    /* of messages, of columns */
    double weight;
    hd_graph *legal; /* for bounds */
    void *prepared;  /* the graph that is lowered, as hd_graph_save writes it; malloc'd */
    size_t prepared_bytes;
    struct hd_price_memo *prices; /* of parts of it, on machines so far: shared by all processes */
    struct hd_prices_file prices_file;
    double macs;
};
struct hd_nets {
    struct hd_net of[HD_EXPLORE_NETS];
    int n;
};
/* Arguments `[WEIGHT*]MODEL`; a float network is quantised first, to a file in `folder`. */
hd_status hd_nets_open(struct hd_cmd *c, hd_arena *a, const char *folder, struct hd_nets *out);
void hd_nets_close(struct hd_nets *nets);
struct hd_least hd_net_least(const struct hd_net *net, const struct hd_machine *m);

/* A network on a machine; an error is a value. */
struct hd_priced {
    char why[HD_EXPLORE_WHY]; /* why it does not run there; "" = it does */
    int64_t cycles, host_ns; /* of its programs by the plan's estimate; of what stays on the host */
    int64_t price_us;        /* of a processor that the price took */
    struct hd_work work;
};
void hd_price(const struct hd_net *net, const struct hd_machine *m, uint32_t latency,
              struct hd_priced *out);
/* Runs it on a device and writes the facts as `heddle run --json` does. */
hd_status hd_confirm(struct hd_cmd *c, const struct hd_net *net, const struct hd_machine *m,
                     const char *device, const char *json);

/* ---- candidates (space.c) ------------------------------------------------------------------- */

struct hd_point {
    struct hd_machine m;
    struct hd_area area;
    struct hd_point *first; /* of those that differ in cores alone, which stand together: its price
                             * is theirs */
    bool priced, removed, in_front;
    bool asked, ahead, in_round;                /* of schedule.c */
    bool confirmed;                             /* it, or another of its `first`, is, or will be */
    const char *why;                            /* it does not count; NULL = it does */
    double least, value[HD_EXPLORE_OBJECTIVES]; /* seconds that it cannot beat; objectives */
    struct hd_priced *net;                      /* prices, of each network; shared with `first` */
};
struct hd_space {
    struct hd_point *at;
    size_t n, n_prices, illegal; /* n_prices: apart from cores; illegal: are no machine */
    struct hd_point **front;
    size_t n_front;
};
/* Of the values of --set and, with `wide`, of space.def. */
hd_status hd_space_make(struct hd_cmd *c, hd_arena *a, bool wide, struct hd_space *out);
/* "k=16 n=16 ..", every parameter. */
const char *hd_machine_text(hd_arena *a, const struct hd_machine *m);

/* ---- boards, limits and objectives (board.c) ------------------------------------------------ */

struct hd_board {
    const char *name, *source; /* NULL = none */
    struct hd_area has;
    double gbs, gbs_all; /* of one port; of all of them together */
    struct hd_energy_table energy;
};
struct hd_limits { /* INFINITY, or 0 where at least is meant: none */
    struct hd_area most;
    double gbs, gbs_all, fps, joule, ms;
    double machines, seconds, within; /* machines priced; time; share by which fronts may differ */
    double gbs_times;                 /* the front for so many times the bandwidth, too; 0 = not */
};
enum hd_objective { /* all are made small */
                    HD_OBJECTIVE_latency,
                    HD_OBJECTIVE_fps,
                    HD_OBJECTIVE_area,
                    HD_OBJECTIVE_dsp,
                    HD_OBJECTIVE_bram,
                    HD_OBJECTIVE_energy,
                    HD_OBJECTIVE_COUNT
};
struct hd_goal {
    struct hd_board board;
    struct hd_limits limits;
    enum hd_objective by[HD_EXPLORE_OBJECTIVES];
    int n;
};
extern const char *const hd_objective_names[HD_OBJECTIVE_COUNT];
hd_status hd_goal_make(struct hd_cmd *c, hd_arena *a, struct hd_goal *out);

/* ---- many prices (workers.c, journal.c) ----------------------------------------------------- */

struct hd_journal;
#define HD_EXPLORE_JOURNAL "journal.jsonl" /* in the folder of -o */
/* Opens or makes it; fills what it has of the space. HD_MISMATCH: it is of another question. */
hd_status hd_journal_open(struct hd_cmd *c, hd_arena *a, const char *path,
                          const struct hd_nets *nets, struct hd_space *space,
                          struct hd_journal **out);
void hd_journal_add(struct hd_journal *j, const struct hd_point *p);
size_t hd_journal_found(const struct hd_journal *j);
/* s, or HD_IO when a line could not be written. */
hd_status hd_journal_close(struct hd_cmd *c, struct hd_journal *j, hd_status s);

struct hd_far;
struct hd_work_list { /* what workers do beside each other */
    struct hd_cmd *c;
    const struct hd_nets *nets;
    int jobs;
    struct hd_point **points; /* all of them; or, where next is given: */
    size_t n;
    /* What is done next; NULL: nothing now, and *more: perhaps something later. While any is being
     * done, there may be more in any case. */
    struct hd_point *(*next)(void *user, bool *more);
    void (*done)(void *user, struct hd_point *p); /* priced, or its files are written */
    void *user;
    const char *device, *folder; /* of confirming; device NULL = price */
    struct hd_far *far;          /* other ranks that price, too; NULL = none */
    double until;                /* hd_seconds() at which no more are begun; 0 = never */
};
/* True: all were done; false: Ctrl-C, or the time is over. A worker that crashes or takes too long
 * costs its point, which says so. */
bool hd_work_all(struct hd_work_list *w);
bool hd_interrupted(void);

/* Other ranks, of rank 0 (far.c): NULL where there are none. One slot for each of their jobs. */
hd_status hd_far_open(struct hd_cmd *c, hd_arena *a, hd_ranks *ranks, const struct hd_nets *nets,
                      struct hd_far **out);
bool hd_far_free(const struct hd_far *f);
bool hd_far_busy(const struct hd_far *f);
void hd_far_give(struct hd_far *f, struct hd_point *p); /* where one is free */
struct hd_point *hd_far_take(struct hd_far *f);         /* that was priced; NULL = none now */
hd_status hd_far_close(struct hd_far *f);
/* Rank 0 failed before hd_far_open. */
void hd_far_nothing(hd_ctx *ctx, hd_ranks *ranks);
/* All that a rank but 0 does. */
hd_status hd_far_serve(struct hd_cmd *c, hd_ranks *ranks);

/* ---- fronts (front.c) ----------------------------------------------------------------------- */

/* Of a run; from one end of a run to the next, with all cores at work; of such a run. */
double hd_point_seconds(const struct hd_point *p, const struct hd_nets *nets);
double hd_point_interval(const struct hd_point *p, const struct hd_nets *nets);
double hd_point_joules(const struct hd_point *p, const struct hd_nets *nets,
                       const struct hd_energy_table *t);
/* The ports of its cores ask for no more than the board has, times so much. */
const char *hd_point_port_over(hd_arena *a, const struct hd_point *p, const struct hd_limits *l,
                               double times);
/* Area, port and bounds: why it can be no answer, or NULL; fills p->least. */
const char *hd_point_hopeless(hd_arena *a, struct hd_point *p, const struct hd_nets *nets,
                              const struct hd_goal *g);
/* Of a priced point: objectives, and why it is no answer. */
void hd_point_judge(hd_arena *a, struct hd_point *p, const struct hd_nets *nets,
                    const struct hd_goal *g);
/* A point of the front beats all that p can be, by more than g->limits.within. */
bool hd_front_beats(const struct hd_space *s, const struct hd_point *p, const struct hd_goal *g);
/* A judged point to the front, unless it is beaten; takes out those that it beats. Of equal ones
 * the first stays. */
void hd_front_add(struct hd_space *s, struct hd_point *p, const struct hd_goal *g);

/* ---- which is priced next (schedule.c) ------------------------------------------------------ */

struct hd_schedule;
struct hd_scheduled { /* candidates, apart from cores: that were priced and count, are over limits
                       * or beaten with any number of cores */
    size_t priced, hopeless, beaten, left; /* left: not looked at */
};
/* all: every one, as it stands in the space. */
struct hd_schedule *hd_schedule_make(hd_arena *a, struct hd_space *space,
                                     const struct hd_nets *nets, const struct hd_goal *goal,
                                     bool all);
/* NULL: nothing now, or nothing at all when nothing is being priced. */
struct hd_point *hd_schedule_next(struct hd_schedule *s);
void hd_schedule_done(struct hd_schedule *s, struct hd_point *p);
struct hd_scheduled hd_schedule_count(const struct hd_schedule *s);

/* ---- what is written (output.c) ------------------------------------------------------------- */

struct hd_answer {
    struct hd_cmd *c;
    hd_arena *a;
    const struct hd_nets *nets;
    struct hd_goal goal;
    struct hd_space space;
    const char *folder, *device; /* device: that confirmed, NULL = none */
    struct hd_scheduled count;
    double seconds;
};
/* Points of the front (all: every priced one), the objective that was named first from its best. */
struct hd_point **hd_points(hd_arena *a, const struct hd_space *s, bool all, size_t *out_n);
void hd_answer_print(const struct hd_answer *x, bool all, FILE *out);
json_object *hd_answer_json(const struct hd_answer *x, bool all);
hd_status hd_answer_csv(const struct hd_answer *x, const char *path);
hd_status hd_answer_machines(const struct hd_answer *x);
hd_status hd_answer_page(const struct hd_answer *x, const char *path);
/* title, subtitle, a, b: names; rows: what moved; layers: of runs, else none. Takes data. */
hd_status hd_diff_page(struct hd_cmd *c, json_object *data, const char *path);
const char *hd_confirm_path(hd_arena *a, const char *folder, const struct hd_machine *m,
                            const struct hd_net *net, const char *device);

/* ---- commands; the exit status -------------------------------------------------------------- */

int hd_explore(struct hd_cmd *c);
int hd_sweep(struct hd_cmd *c);
int hd_advise(struct hd_cmd *c);
int hd_diff(struct hd_cmd *c);

#endif
