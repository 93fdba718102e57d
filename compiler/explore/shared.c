/* Tables of prices that ranks of one computer share.
 *
 * A rank makes a file without a name and sends its own number and the file's. Others open it among
 * the open files of that process. A label of chance tells whether it is the file that was meant: a
 * rank of another computer finds another process there, or none, and has a table of its own.
 */
#define _GNU_SOURCE /* memfd_create */
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "compiler/cost/memo.h"
#include "compiler/explore/shared.h"

#define LABEL "heddle-prices-%016" PRIx64

struct hd_price_memo *hd_prices_make(struct hd_prices_file *out) {
    char label[64];
    *out = (struct hd_prices_file){.pid = getpid()};
    if (getrandom(&out->label, sizeof out->label, 0) != sizeof out->label) out->label = 0;
    snprintf(label, sizeof label, LABEL, out->label);
    out->fd = memfd_create(label, MFD_CLOEXEC);
    return hd_price_memo_create(HD_EXPLORE_PRICES, out->fd);
}

struct hd_price_memo *hd_prices_share(const struct hd_prices_file *file) {
    char path[64], want[64], is[64];
    snprintf(path, sizeof path, "/proc/%" PRId64 "/fd/%d", file->pid, (int)file->fd);
    snprintf(want, sizeof want, "/memfd:" LABEL " (deleted)", file->label);
    ssize_t n = readlink(path, is, sizeof is);
    bool same = n == (ssize_t)strlen(want) && !memcmp(is, want, (size_t)n);
    int fd = same ? open(path, O_RDWR | O_CLOEXEC) : -1;
    struct hd_price_memo *m = hd_price_memo_create(HD_EXPLORE_PRICES, fd);
    if (fd >= 0) close(fd);
    return m;
}
