/* Tables of prices that ranks of one computer share (shared.c). */
#ifndef HD_EXPLORE_SHARED_H
#define HD_EXPLORE_SHARED_H

#include <stdint.h>

struct hd_price_memo;
enum { HD_EXPLORE_PRICES = 1 << 21 }; /* of parts, for each network: old ones give way */

struct hd_prices_file {
    int64_t pid, fd; /* of the process that made it; fd -1: there is none */
    uint64_t label;
};
/* A new table of HD_EXPLORE_PRICES, and its file, which the caller closes. */
struct hd_price_memo *hd_prices_make(struct hd_prices_file *out);
/* The same table, in another process; on another computer a new one. */
struct hd_price_memo *hd_prices_share(const struct hd_prices_file *file);

#endif
