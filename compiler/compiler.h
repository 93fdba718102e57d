/* The compiler's public face: network file (or graph) in, model out. */
#ifndef HD_COMPILER_COMPILER_H
#define HD_COMPILER_COMPILER_H

#include <stdbool.h>
#include <stdio.h>

#include "compiler/import/network.h"
#include "compiler/ir/ir.h"
#include "isa/isa.h"
#include "runtime/model.h"

struct hd_name_list { /* of nodes of the legalised graph */
    const char *const *name;
    int n;
};
bool hd_name_listed(const struct hd_name_list *list, const char *name);

struct hd_compile_options {
    struct hd_machine machine;
    uint32_t mem_latency;     /* cycles to the first data that tiles are chosen for; 0 = default */
    bool latency_hiding;      /* false: every operation waits for the one before it */
    bool keep_all;            /* every layer boundary is also stored in DRAM */
    struct hd_name_list keep; /* or only the results of these layers */
    struct hd_bind bind;      /* sizes of open dimensions */
    bool place_all;           /* whatever can, goes to the machine, also where it does not pay */
    bool all_turns;           /* rounds of chains are alike where they can be, not where it pays */
    bool host_only;           /* no program: the whole graph is one host step (golden, cpu) */
    const char *dump;         /* stage name, NULL = none; "all" */
    struct hd_name_list dump_only; /* only these nodes; empty = all */
    FILE *dump_to;
};

static inline int64_t hd_compile_latency(const struct hd_compile_options *opt) {
    return opt->mem_latency ? opt->mem_latency : HD_DEFAULT_mem_latency;
}

/* Stage 1 is hd_import() (compiler/import/network.h).
 * Stage 2: constants folded, QDQ and QLinear forms -> q* operations (compiler/pass). In place. */
hd_status hd_legalize(hd_ctx *ctx, hd_graph *g);
/* One pass alone: one of hd_pass_names (compiler/pass/pass.h), "complete" or "legalize". Errors: as
 * hd_pass_run. */
hd_status hd_opt_pass(hd_ctx *ctx, hd_graph *g, const char *name);
/* Stages 3..: legalised graph -> model. Borrows g, and puts movement of data between layouts that
 * meet in it (tile/meet.c), which changes no value. */
hd_status hd_lower(hd_ctx *ctx, hd_graph *g, const struct hd_compile_options *opt, hd_model **out);
/* All of it. */
hd_status hd_compile(hd_ctx *ctx, const char *path, const struct hd_compile_options *opt,
                     hd_model **out);

#endif
