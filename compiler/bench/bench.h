/* The project's benchmarks, each with its roofline. All give the exit status. */
#ifndef HD_BENCH_BENCH_H
#define HD_BENCH_BENCH_H

#include "compiler/session/session.h"

/* Networks, each beside its roofline. */
int hd_bench_networks(struct hd_cmd *c, char **models, int n);
int hd_bench_cpu(struct hd_cmd *c, char **models, int n);      /* heddle bench cpu */
int hd_bench_compare(struct hd_cmd *c, char **models, int n);  /* heddle bench compare */
int hd_bench_gpu(struct hd_cmd *c, char **models, int n);      /* heddle bench gpu */
int hd_bench_iss(struct hd_cmd *c, char **models, int n);      /* heddle bench iss-vs-rtl */
int hd_bench_memory(struct hd_cmd *c, char **models, int n);   /* heddle bench memory */
int hd_bench_estimate(struct hd_cmd *c, char **models, int n); /* heddle bench estimate */
int hd_bench_tiny(struct hd_cmd *c, char **models, int n);     /* heddle bench tiny */
int hd_bench_zoo(struct hd_cmd *c, char **models, int n);      /* heddle bench zoo */
int hd_bench_choose(struct hd_cmd *c, char **models, int n);   /* heddle bench choose */
bool hd_bench_has_set(const char *set);
int hd_bench_machine(struct hd_cmd *c, const char *set); /* single layers, bench_layers.def */
int hd_bench_speed(struct hd_cmd *c);                    /* heddle bench sim-speed */
int hd_bench_train(struct hd_cmd *c);
/* Runs of networks for heddle choose, in the database of --db. */
hd_status hd_bench_keep(struct hd_cmd *c, const char *const *models, int n);
hd_status hd_bench_keep_layer(struct hd_cmd *c, const char *name, hd_graph *g);

#endif
