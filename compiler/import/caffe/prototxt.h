/* Protobuf's text form as a tree: "name: value", "name { .. }", lists in brackets, # comments. */
#ifndef HD_IMPORT_PROTOTXT_H
#define HD_IMPORT_PROTOTXT_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/arena.h"
#include "runtime/base/status.h"

struct hd_txt { /* one field */
    const char *name;
    const char *value; /* NULL: a message */
    struct hd_txt *first, *last, *next;
    int line;
};

/* *out is a message without a name. The text ends with a zero byte. */
hd_status hd_txt_parse(hd_ctx *ctx, hd_arena *a, const char *text, struct hd_txt *out);

/* The first field of this name from `after` on (NULL: from the first); NULL = none. */
const struct hd_txt *hd_txt_next(const struct hd_txt *message, const struct hd_txt *after,
                                 const char *name);
/* A message that is absent is an empty one. */
const struct hd_txt *hd_txt_message(const struct hd_txt *message, const char *name);
const char *hd_txt_string(const struct hd_txt *message, const char *name, const char *def);
int64_t hd_txt_int(const struct hd_txt *message, const char *name, int64_t def);
float hd_txt_float(const struct hd_txt *message, const char *name, float def);
bool hd_txt_bool(const struct hd_txt *message, const char *name, bool def);
/* Up to max values of a repeated field; the count found. */
int hd_txt_ints(const struct hd_txt *message, const char *name, int64_t *out, int max);

#endif
