/* The compiler's public face: ONNX file (or graph) in, model out. */
#ifndef HD_COMPILER_COMPILER_H
#define HD_COMPILER_COMPILER_H

#include <stdbool.h>
#include <stdio.h>

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
    bool latency_hiding;           /* false: every operation waits for the one before it */
    bool keep_all;                 /* every layer boundary is also stored in DRAM */
    struct hd_name_list keep;      /* or only the results of these layers */
    bool host_only;                /* no program: the whole graph is one host step (golden, cpu) */
    const char *dump;              /* stage name, NULL = none; "all" */
    struct hd_name_list dump_only; /* only these nodes; empty = all */
    FILE *dump_to;
};

/* Stage 1: ONNX file -> graph as written (compiler/import). */
hd_status hd_import_onnx(hd_ctx *ctx, const char *path, hd_graph **out);
/* Stage 2: constants folded, QDQ and QLinear forms -> q* operations (compiler/pass). In place. */
hd_status hd_legalize(hd_ctx *ctx, hd_graph *g);
/* Stages 3..: legalised graph -> model. Borrows g. */
hd_status hd_lower(hd_ctx *ctx, const hd_graph *g, const struct hd_compile_options *opt,
                   hd_model **out);
/* All of it. */
hd_status hd_compile(hd_ctx *ctx, const char *onnx_path, const struct hd_compile_options *opt,
                     hd_model **out);

#endif
