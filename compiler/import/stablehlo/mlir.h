/* MLIR text, as far as StableHLO modules use it: functions and operations in generic and in pretty
 * form. Attributes and types stay text until someone wants their value. */
#ifndef HD_IMPORT_MLIR_H
#define HD_IMPORT_MLIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/arena.h"
#include "runtime/base/status.h"

struct hd_mlir_attr {
    const char *name, *text; /* "callee": a symbol; "value": a literal; "[]": a list by itself */
};

struct hd_mlir_op;

struct hd_mlir_region {
    const char **args; /* with % */
    size_t n_args, cap_args;
    struct hd_mlir_op *ops;
    size_t n_ops, cap_ops;
};

struct hd_mlir_op {
    const char *name; /* with its dialect */
    int line;
    const char *result; /* with %; NULL = none */
    int n_results;
    const char **operands; /* "%x" or "%x#1" */
    size_t n_operands, cap_operands;
    const char **words; /* bare words: EQ, across, .. */
    size_t n_words, cap_words;
    struct hd_mlir_attr *attrs;
    size_t n_attrs, cap_attrs;
    struct hd_mlir_region *regions;
    size_t n_regions, cap_regions;
    const char **types, **result_types; /* of the signature; (types) -> result types */
    size_t n_types, cap_types, n_result_types, cap_result_types;
};

struct hd_mlir_func {
    const char *name;           /* without @ */
    struct hd_mlir_region body; /* args have types */
    const char **arg_types;
    size_t n_arg_types, cap_arg_types;
};

struct hd_mlir_module {
    struct hd_mlir_func *funcs;
    size_t n_funcs, cap_funcs;
};

/* The text ends with a zero byte. */
hd_status hd_mlir_parse(hd_ctx *ctx, hd_arena *a, const char *text, struct hd_mlir_module *out);

const char *hd_mlir_attr(const struct hd_mlir_op *op, const char *name); /* NULL = absent */
bool hd_mlir_has_word(const struct hd_mlir_op *op, const char *word);
/* The integers of a text, of a dense literal without its type; the count found. */
int hd_mlir_ints(const char *text, int64_t *out, int max);

#endif
