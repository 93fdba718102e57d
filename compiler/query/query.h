/* Selectors: which operations of a network are meant, in the manner of CSS. docs/query.md has the
 * language.
 *
 *   const struct hd_query *q;
 *   TRY(hd_query_parse(ctx, arena, "conv[utilization<0.5] > relu", &q));
 *   bool *hit = hd_new_array(arena, bool, items.n);
 *   TRY(hd_query_match(ctx, q, &items, hit));
 */
#ifndef HD_COMPILER_QUERY_H
#define HD_COMPILER_QUERY_H

#include <stdbool.h>
#include <stddef.h>

#include "runtime/base/arena.h"
#include "runtime/base/status.h"

enum { HD_QUERY_NESTING = 16, HD_QUERY_BYTES = 4096 }; /* of :not(), of the text */

struct hd_item_attr {
    const char *name;
    const char *text; /* NULL = a number */
    double number;
};

/* An operation, or a scope: a part of names that end in '/'. */
struct hd_item {
    const char *type; /* "scope" for scopes */
    const char *name;
    const char *const *labels;
    int n_labels;
    struct hd_item_attr *attrs;
    int n_attrs;
    const int *inputs; /* items whose results it reads */
    int n_inputs;
    int scope; /* item that encloses it, -1 = none */
    bool is_scope;
};

/* An operation stands behind those whose results it reads, a scope before its members. */
struct hd_items {
    const struct hd_item *item;
    int n;
    const char *const *known; /* attributes that may be asked for though no item has them */
    int n_known;
};

struct hd_query;

/* The query lives in the arena. Errors: HD_INVALID with the place in the text and what was wanted
 * there. */
hd_status hd_query_parse(hd_ctx *ctx, hd_arena *a, const char *text, const struct hd_query **out);
/* The query in its normal form, which reads back as the same query. */
const char *hd_query_text(hd_arena *a, const struct hd_query *q);
/* Names of the attributes that it asks for, each once, but for `name`, which every row begins with;
 * *out_n of them. */
const char *const *hd_query_attrs(hd_arena *a, const struct hd_query *q, int *out_n);

/* out[i] of every item; of scopes that match, the operations in them are taken instead. Errors:
 * HD_INVALID for an attribute that no item has and items->known does not list, or a comparison with
 * a number of one that is text. */
hd_status hd_query_match(hd_ctx *ctx, const struct hd_query *q, const struct hd_items *items,
                         bool *out);

/* ---- between parse.c and match.c ---- */

enum hd_query_op { /* has: the attribute is there */
#define OP(name, text) HD_QUERY_##name,
#include "compiler/query/ops.def"
                   HD_QUERY_OPS
};
extern const char *const hd_query_op_text[HD_QUERY_OPS];

struct hd_query_test { /* one condition of a compound */
    enum { HD_TEST_NAME, HD_TEST_LABEL, HD_TEST_ATTR, HD_TEST_NOT } kind;
    const char *name; /* of the item, the label or the attribute */
    enum hd_query_op op;
    const char *value;
    bool is_number;
    double number;
    const struct hd_query *inner; /* of :not() */
    struct hd_query_test *next;
};

struct hd_query_compound {
    char combinator;  /* to the compound before: '>', ' ' or 0 for the first */
    const char *type; /* NULL = any */
    struct hd_query_test *tests;
    struct hd_query_compound *next;
};

struct hd_query { /* alternatives, separated by commas */
    struct hd_query_compound *first;
    struct hd_query *next;
};

#endif
