/* What the compiler is asked for. */
#ifndef HD_OPTIONS_OPTIONS_H
#define HD_OPTIONS_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>

#include "compiler/import/network.h"
#include "compiler/options/knobs.h"
#include "isa/isa.h"

struct hd_name_list { /* of nodes of the legalised graph */
    const char *const *name;
    int n;
};
bool hd_name_listed(const struct hd_name_list *list, const char *name);

/* Text of a stage, and its file's name for messages; text = NULL: none. */
struct hd_stage_text {
    const char *text, *file;
};

enum { HD_DEVICES_TOGETHER = 7 };
struct hd_device_list { /* that one network is placed on */
    const char *const *name;
    int n;         /* 0: the machine, and golden for what it does not run */
    int machine;   /* which of them runs programs; -1 = none */
    const int *on; /* per node: its device, where it can run there; NULL = chosen by cost */
    bool pipeline; /* runs follow each other: what counts is the device with most to do */
};

struct hd_price_memo;
struct hd_compile_options {
    struct hd_machine machine;
    uint32_t mem_latency; /* cycles to the first data that tiles are chosen for; 0 = default */
    const struct hd_knobs *knobs; /* how plans are searched; NULL = as the table says */
    bool latency_hiding;          /* false: every operation waits for the one before it */
    bool keep_all;                /* every layer boundary is also stored in DRAM */
    struct hd_name_list keep;     /* or only the results of these layers */
    struct hd_bind bind;          /* sizes of open dimensions */
    struct hd_device_list devices;
    bool place_all; /* whatever can, goes to the machine, also where it does not pay */
    bool host_only; /* no program: the whole graph is one host step (golden, cpu) */
    int threads;    /* that plans are tried with at most; 0 = as many as there are */
    struct hd_price_memo *prices; /* of this network, also on other machines; NULL = none yet */
    struct hd_stage_text layers, plan, ops; /* read, in place of what would make them */
    const char *dump;                       /* stage name, NULL = none; "all" */
    struct hd_name_list dump_only;          /* only these nodes; empty = all */
    FILE *dump_to;
};

static inline const struct hd_knobs *hd_compile_knobs(const struct hd_compile_options *opt) {
    return opt->knobs ? opt->knobs : &hd_knobs;
}

/* --dump asks for the stage. */
bool hd_dumps(const struct hd_compile_options *opt, const char *stage);

static inline int64_t hd_compile_latency(const struct hd_compile_options *opt) {
    return opt->mem_latency ? opt->mem_latency : HD_DEFAULT_mem_latency;
}

#endif
