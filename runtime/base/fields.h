/* Text of structs, from tables of their members: printed, read, compared, hashed.
 *
 * A text has one thing a line: words that say which, then NAME=VALUE of each member that is not
 * zero. Behind # stands what only people read. Names of files are words: what is no letter, digit
 * or one of _ . / - is written as %XX. */
#ifndef HD_BASE_FIELDS_H
#define HD_BASE_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "runtime/base/arena.h"
#include "runtime/base/status.h"

struct hd_member {
    const char *name;
    size_t at, bytes;
    bool is_signed, is_float, is_bool;
};
/* A row of a table for member `path` of struct `s`; a path may be inner.member or array[1]. */
#define HD_MEMBER(s, type, path)                                                                   \
    {                                                                                              \
#path, offsetof(s, path), sizeof(type),                                                    \
            _Generic((type)0, int                                                                  \
                     : true, int64_t                                                               \
                     : true, default                                                               \
                     : false),                                                                     \
            _Generic((type)0, float                                                                \
                     : true, default                                                               \
                     : false),                                                                     \
            _Generic((type)0, bool                                                                 \
                     : true, default                                                               \
                     : false)                                                                      \
    }

/* " name=value" of each member that is not zero. */
void hd_members_print(FILE *out, const struct hd_member *m, int n, const void *of);
/* The first that differs; NULL: none does. */
const struct hd_member *hd_members_differ(const struct hd_member *m, int n, const void *a,
                                          const void *b);
/* The value of one. */
void hd_member_text(const struct hd_member *m, const void *of, char *out, size_t bytes);
bool hd_members_equal(const struct hd_member *m, int n, const void *a, const void *b);
uint32_t hd_members_hash(uint32_t h, const struct hd_member *m, int n, const void *of);

/* A name as one word. */
void hd_word_print(FILE *out, const char *name);

/* Reading. Messages are FILE:LINE: what, got, allowed. */
struct hd_lines {
    hd_ctx *ctx;
    const char *p, *file;
    int line;
};
/* Goes to the next line that has something on it; false: there is none. */
bool hd_lines_next(struct hd_lines *r);
/* Nothing is left on the line. */
bool hd_lines_end(struct hd_lines *r);
/* `want`: "a plan's layer", in messages. */
hd_status hd_lines_fail(const struct hd_lines *r, const char *want);
/* The next word of the line, if it is this one. */
bool hd_lines_accept(struct hd_lines *r, const char *word);
/* The next word, a name; owned by the arena. */
hd_status hd_lines_name(struct hd_lines *r, hd_arena *a, const char **out);
hd_status hd_lines_integer(struct hd_lines *r, int64_t lo, int64_t hi, int64_t *out);
/* NUMBER NAME of one of n things, each of which comes once; names[NUMBER] is what it must be. */
hd_status hd_lines_which(struct hd_lines *r, const char *what, const char *const *names, size_t n,
                         bool *seen, size_t *out);
/* They were all there. */
hd_status hd_lines_all(const struct hd_lines *r, const char *what, const bool *seen, size_t n);
/* NAME=VALUE to the end of the line; what is not named stays as it is. */
hd_status hd_lines_members(struct hd_lines *r, const struct hd_member *m, int n, void *of);

#endif
