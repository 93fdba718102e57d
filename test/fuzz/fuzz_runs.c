/* Any text as the JSON, or the page, of a run: `heddle diff` with itself and with a plain one
 * compares it, or refuses it. And as the journal of a search. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "compiler/explore/explore.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char plain[] =
    "{\"cycles\": 7, \"layers\": [{\"name\": \"a\", \"cycles\": 3, \"bound\": \"memory\"}]}";

static int file(const void *data, size_t size, char path[64]) {
    int fd = memfd_create("run", 0);
    snprintf(path, 64, "/proc/self/fd/%d", fd);
    return fd >= 0 && write(fd, data, size) != (ssize_t)size ? close(fd), -1 : fd;
}

static void diff(char *a, char *b) {
    char *args[] = {a, b};
    struct hd_cmd c = {.ctx = hd_ctx_create(), .name = "diff", .args = args, .n_args = 2};
    c.opt.json = "/dev/null";
    hd_diff(&c);
    hd_ctx_destroy(c.ctx);
}

static void journal(const char *path) {
    struct hd_cmd c = {.ctx = hd_ctx_create(), .name = "sweep"};
    hd_arena *a = hd_arena_create();
    struct hd_nets nets = {0};
    struct hd_space space = {0};
    struct hd_journal *j = NULL;
    hd_status s = hd_journal_open(&c, a, path, &nets, &space, &j);
    if (s == HD_OK) hd_journal_close(&c, j, s);
    hd_arena_destroy(a);
    hd_ctx_destroy(c.ctx);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char a[64], b[64];
    static bool quiet;
    if (!quiet) quiet = freopen("/dev/null", "w", stdout) && freopen("/dev/null", "w", stderr);
    int x = file(data, size, a), y = file(plain, sizeof plain - 1, b);
    if (x >= 0 && y >= 0) {
        diff(a, a);
        diff(a, b);
        diff(b, a);
        journal(a);
    }
    if (x >= 0) close(x);
    if (y >= 0) close(y);
    return 0;
}
