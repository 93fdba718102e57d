/* The facts of one run, as tables and as JSON. */
#ifndef HD_REPORT_REPORT_H
#define HD_REPORT_REPORT_H

#include <stdio.h>

#include "compiler/command/command.h"
#include "compiler/ir/ir.h"
#include "runtime/runtime.h"

struct hd_part_facts { /* of a step of the model */
    const char *device;
    double seconds; /* of the last run, by the wall clock */
};

struct hd_run_facts {
    const hd_model *model;
    const char *path, *device, *inputs;
    struct hd_counters counters;
    double wall_seconds;
    int runs; /* of --steps: how many, and cycles of them all; the rest is of the last; 0 = one run
               */
    uint64_t all_cycles;
    bool has_cycles;                  /* the device is a machine */
    const struct hd_exec_step *steps; /* of a device that plans the graph itself */
    int n_steps;
    const struct hd_part_facts *parts; /* of several devices, per step of the model; NULL = one */
};

/* Totals over layers. roofline: sum of what no schedule can beat (compiler/roofline); efficiency:
 * its share of the cycles. plan_: the same of the bounds that the plan at hand has, MACs of MX and
 * the bytes that it cannot avoid. least_bytes: bytes of the port that no plan avoids. */
struct hd_totals {
    int64_t macs, roofline_cycles, plan_roofline_cycles, unavoidable_bytes, least_bytes;
    double utilization, efficiency, plan_efficiency;
};
struct hd_layer_facts { /* what plan and run say of one layer */
    const char *name, *op, *bound;
    int64_t cycles, estimate, macs, roofline, plan_roofline, dram_bytes, mx_busy, vx_busy;
    double utilization, efficiency, plan_efficiency;
};
/* What the host did of a run: of the elements that the network's nodes write, and of the time, with
 * the machine at its stated clock. Its steps run on golden, on one core. */
struct hd_host_share {
    int64_t elements, of_elements;
    double seconds, time;
};
hd_status hd_host_share(hd_ctx *ctx, const struct hd_run_facts *r, struct hd_host_share *out);
/* Of layer i; without a run the measured fields are zero. */
struct hd_layer_facts hd_layer_facts(const struct hd_cmd *c, const struct hd_run_facts *r, int i);
struct hd_totals hd_run_totals(const struct hd_cmd *c, const struct hd_run_facts *r);
void hd_print_run(struct hd_cmd *c, const struct hd_run_facts *r, FILE *out);
void hd_print_layers(struct hd_cmd *c, const struct hd_run_facts *r, FILE *out);
void hd_print_host_ops(const hd_model *m, FILE *out);
/* Busy and stalled cycles of every unit. */
json_object *hd_units_json(const struct hd_counters *k);
json_object *hd_run_json(struct hd_cmd *c, const struct hd_run_facts *r);
void hd_print_steps(const struct hd_run_facts *r, FILE *out);
json_object *hd_steps_json(const struct hd_run_facts *r);
/* Nodes of a step on the host, layers of one on the machine; bytes of a list of values. */
int hd_part_nodes(const hd_model *m, int step);
int64_t hd_part_bytes(const hd_model *m, const int *values, int n);
void hd_print_parts(const struct hd_run_facts *r, FILE *out);
json_object *hd_parts_json(const struct hd_run_facts *r);

#endif
