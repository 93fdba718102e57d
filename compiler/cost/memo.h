/* A table of prices found before (memo.c), for whoever plans for many machines. */
#ifndef HD_COMPILER_COST_MEMO_H
#define HD_COMPILER_COST_MEMO_H

#include <stddef.h>

struct hd_price_memo;
/* 24 bytes each, where they are used; processes that are forked later share it. fd: a file that
 * processes share whose entries are as many, or an empty one; -1: none. The file stays open. */
struct hd_price_memo *hd_price_memo_create(size_t entries, int fd);
void hd_price_memo_destroy(struct hd_price_memo *m); /* NULL is fine */

#endif
