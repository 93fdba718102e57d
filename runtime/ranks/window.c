/* Memory of several ranks: see window.h. Rank 0 makes a file that has no name, and tells the others
 * which of its descriptors that is. They open it by /proc. When all have, none needs it: so nothing
 * is left behind by a job that is killed. */
#define _GNU_SOURCE /* memfd_create */
#include "runtime/ranks/window.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct head {
    uint64_t token; /* of this window alone */
    pthread_barrier_t meet;
};

enum { HEAD = 256, BOOT = 40 };
_Static_assert(sizeof(struct head) <= HEAD, "the data lies behind the head");

struct hd_window {
    struct head *head;
    size_t bytes; /* with the head */
};

struct offer { /* of rank 0 */
    char boot[BOOT];
    int64_t pid; /* 0: there is none */
    int32_t fd;
    uint64_t token;
};

/* What a computer calls the time since it was started; empty = unknown. */
static void boot_of(char out[BOOT]) {
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    memset(out, 0, BOOT);
    if (fd < 0) return;
    if (read(fd, out, BOOT - 1) < 0) out[0] = 0;
    close(fd);
}

static bool map(hd_window *w, int fd) {
    void *p = mmap(NULL, w->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    w->head = p == MAP_FAILED ? NULL : p;
    return w->head;
}

static bool start(hd_window *w, int n, uint64_t token) {
    pthread_barrierattr_t shared;
    w->head->token = token;
    if (pthread_barrierattr_init(&shared)) return false;
    bool ok = !pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED) &&
              !pthread_barrier_init(&w->head->meet, &shared, (unsigned)n);
    pthread_barrierattr_destroy(&shared);
    return ok;
}

/* The descriptor, which the caller closes; -1 = there is no such memory. */
static int make(hd_window *w, int n, struct offer *out) {
    struct timespec now;
    int fd = memfd_create("heddle", MFD_CLOEXEC);
    if (fd < 0) return -1;
    clock_gettime(CLOCK_MONOTONIC, &now);
    out->token = ((uint64_t)now.tv_sec << 32 | (uint64_t)now.tv_nsec) ^ (uint64_t)getpid() << 40;
    out->fd = fd;
    if (!posix_fallocate(fd, 0, (off_t)w->bytes) && map(w, fd) && start(w, n, out->token))
        out->pid = getpid();
    return fd;
}

static void unmap(hd_window *w) {
    if (w->head) munmap(w->head, w->bytes);
    w->head = NULL;
}

/* The file may be another's, where ranks have other numbers of processes: then it is none of it. */
static void join(hd_window *w, const struct offer *from) {
    char path[64];
    struct stat is;
    snprintf(path, sizeof path, "/proc/%lld/fd/%d", (long long)from->pid, (int)from->fd);
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) return;
    bool fits = !fstat(fd, &is) && S_ISREG(is.st_mode) && is.st_size == (off_t)w->bytes;
    if (fits && map(w, fd) && w->head->token != from->token) unmap(w);
    close(fd);
}

/* *fd: rank 0's, else -1. */
static hd_status reach(hd_ctx *ctx, hd_ranks *r, hd_window *w, int *fd) {
    int n = hd_ranks_n(r), from = 0;
    struct offer offer = {.pid = 0};
    char boot[BOOT];
    size_t bytes = 0;
    boot_of(boot);
    if (hd_ranks_me(r)) {
        TRY(hd_ranks_receive(ctx, r, 0, &offer, sizeof offer, &from, &bytes));
        if (offer.pid && boot[0] && !memcmp(boot, offer.boot, BOOT)) join(w, &offer);
        return HD_OK;
    }
    memcpy(offer.boot, boot, BOOT);
    *fd = make(w, n, &offer);
    if (!offer.pid) unmap(w);
    for (int i = 1; i < n; i++) TRY(hd_ranks_send(ctx, r, i, &offer, sizeof offer));
    return HD_OK;
}

/* Whether all ranks have it. */
static hd_status agree(hd_ctx *ctx, hd_ranks *r, bool *have) {
    const char *set = getenv("HEDDLE_WINDOW");
    unsigned char mine = *have && !(set && !strcmp(set, "none")), other = 0;
    for (int with = 1; with < hd_ranks_n(r); with *= 2) {
        TRY(hd_ranks_exchange(ctx, r, hd_ranks_me(r) ^ with, &mine, &other, 1));
        mine = mine && other;
    }
    *have = mine;
    return HD_OK;
}

hd_status hd_window_open(hd_ctx *ctx, hd_ranks *r, size_t bytes, hd_window **out) {
    int n = hd_ranks_n(r), fd = -1;
    *out = NULL;
    if (n < 2 || n & (n - 1)) return HD_OK;
    hd_window *w = calloc(1, sizeof *w);
    if (!w) return hd_fail(ctx, HD_NOMEM, "no memory for a window of ranks");
    w->bytes = HEAD + bytes;
    hd_status s = reach(ctx, r, w, &fd);
    bool have = w->head;
    if (s == HD_OK) s = agree(ctx, r, &have);
    if (fd >= 0) close(fd);
    if (s == HD_OK && have)
        *out = w;
    else
        hd_window_close(w);
    return s;
}

void *hd_window_data(hd_window *w) {
    return (char *)w->head + HEAD;
}

void hd_window_meet(hd_window *w) {
    pthread_barrier_wait(&w->head->meet);
}

void hd_window_close(hd_window *w) {
    if (!w) return;
    unmap(w);
    free(w);
}
