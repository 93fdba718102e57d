/* Which device and options a network runs best with: ways to run it, what each takes by a model
 * that is fitted to measured runs, and the choice.
 *
 * ways.c lists the ways, measure.c measures them, facts.c says how much work a network is, fit.c is
 * the model, choose.c the command. docs/choose.md.
 */
#ifndef HD_CHOOSE_CHOOSE_H
#define HD_CHOOSE_CHOOSE_H

#include "compiler/schedules/schedules.h"
#include "compiler/session/session.h"

enum { HD_WAYS = 96, HD_FACTS = 20 };

struct hd_way {
    const char *kind;             /* device, precision, threads: ways that share a model */
    const char *variant;          /* machine and batch */
    const char *device, *machine; /* machine NULL: the device has none */
    int threads, batch;
    bool int8;
};
/* One of each combination; devices that are not here have none. --devices, --machine, --threads,
 * --batch and --only say which. */
hd_status hd_ways_list(struct hd_cmd *c, hd_arena *a, struct hd_way *out, int *out_n);

/* A network in both precisions. float_path NULL: it has integers already. int8_path NULL: it cannot
 * be quantised. */
struct hd_choice {
    const char *name; /* with a hash of the file: what the database knows it by */
    const char *float_path, *int8_path;
};
/* A float network is quantised, to a file in `folder`. */
hd_status hd_choice_open(struct hd_cmd *c, hd_arena *a, const char *arg, const char *folder,
                         struct hd_choice *out);
/* HD_UNSUPPORTED: it cannot run that way, say with more samples than the file is for. The options
 * of the command are as before when it returns. */
hd_status hd_choice_model(struct hd_cmd *c, const struct hd_choice *net, const struct hd_way *way,
                          hd_model **out);
/* Of a legal graph, which is borrowed. */
hd_status hd_way_lower(struct hd_cmd *c, hd_graph *g, const struct hd_way *way, hd_model **out);
/* Measures it, and keeps it in the database. out_seconds, of a sample: may be NULL. */
hd_status hd_run_keep(struct hd_cmd *c, hd_arena *a, const char *network, const hd_model *m,
                      const char *path, const struct hd_way *way, struct hd_schedules *db,
                      double *out_seconds);
hd_status hd_choice_keep(struct hd_cmd *c, hd_arena *a, const struct hd_choice *net,
                         const struct hd_way *way, struct hd_schedules *db, double *out_seconds);
/* The same for networks in every way that each can run. */
hd_status hd_choices_keep(struct hd_cmd *c, hd_arena *a, const char *const *models, int n,
                          struct hd_schedules *db);
const char *hd_this_computer(hd_arena *a);
/* Device and precision of a kind of way. */
const char *hd_way_family(hd_arena *a, const char *kind);

/* How much work a model is: what the model of its time adds up. s: a session of a device that plans
 * graphs, whose plan counts, too; NULL = of a machine, whose host steps run golden. */
hd_status hd_facts_of(hd_ctx *ctx, const hd_model *m, hd_session *s, double out[HD_FACTS]);
/* The same of a network in one way. */
hd_status hd_choice_facts(struct hd_cmd *c, const struct hd_choice *net, const struct hd_way *way,
                          double out[HD_FACTS]);
const char *hd_facts_text(hd_arena *a, const double facts[HD_FACTS]);

/* ---- the model: seconds = sum of facts, each times a rate of at least 0 --------------------- */

struct hd_rates {
    double rate[HD_FACTS];
    double error; /* geometric mean of the larger of measured / model and its inverse */
    int rows;
};
/* From the rows of a kind, but those of the network `without` (NULL = all). rows 0: nothing is
 * known. */
struct hd_rates hd_rates_fit(const struct hd_run_row *rows, size_t n, const char *kind,
                             const char *without);
double hd_rates_seconds(const struct hd_rates *f, const double facts[HD_FACTS]);
/* What a way takes, seconds of a sample: by the model (infinite: nothing is known), which is off by
 * that factor on average; and measured, 0: it was not. Ways of a family, a device with a precision,
 * are off alike. */
struct hd_expected {
    const char *family;
    double model, factor, measured;
};
/* Measured; else by the model, times what those of its family that were measured are off. */
double hd_expected_seconds(const struct hd_expected *of, int n, int i);
/* The way to measure next: the one that takes least when it is better than expected by the square
 * of its factor, by the cube where none of its family was measured, unless one that was measured is
 * faster than that. -1: no way may be faster. */
int hd_next_to_measure(const struct hd_expected *of, int n);
bool hd_facts_read(const char *text, double out[HD_FACTS]);

int hd_choose(struct hd_cmd *c); /* the command; the exit status */

#endif
