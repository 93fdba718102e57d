/* Processes as ranks, with a transport over sockets in the place of MPI. */
#ifndef HD_TEST_UNIT_TRAIN_ON_RANKS_H
#define HD_TEST_UNIT_TRAIN_ON_RANKS_H

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/ranks/ranks.h"

enum { MOST = 8, SHARED = 1 << 22, MOST_SECONDS = 60 };

/* LINKS: sockets of two ranks: for MPI, for what tests put beside it. */
enum { LINK_MPI, LINK_OTHER, LINKS };
static struct {
    int me, n, to[LINKS][MOST][MOST]; /* to[..][a][b]: a's end of their socket */
    bool broken;
} net;

static int net_open(int *out_me, int *out_n) {
    *out_me = net.me, *out_n = net.n;
    return 0;
}

static bool all(int fd, const void *out, void *in, size_t bytes) {
    while (bytes) {
        ssize_t n = out ? write(fd, out, bytes) : read(fd, in, bytes);
        if (n <= 0) return false;
        bytes -= (size_t)n;
        if (out) out = (const char *)out + n;
        if (in) in = (char *)in + n;
    }
    return true;
}

static int net_swap(int link, int with, const void *out, void *in, size_t bytes) {
    int fd = net.to[link][net.me][with];
    bool first = net.me < with;
    bool ok = !first || all(fd, out, NULL, bytes);
    ok = ok && all(fd, NULL, in, bytes);
    return !(ok && (first || all(fd, out, NULL, bytes)));
}

static int net_exchange(int with, const void *out, void *in, size_t bytes) {
    return net.broken ? 42 : net_swap(LINK_MPI, with, out, in, bytes);
}

static int net_send(int to, const void *data, size_t bytes) {
    return !all(net.to[LINK_MPI][net.me][to], data, NULL, bytes);
}

/* A message has as many bytes as there is room. */
static int net_receive(int from, void *data, size_t room, int *out_from, size_t *out_bytes) {
    *out_from = from, *out_bytes = room;
    return !all(net.to[LINK_MPI][net.me][from], NULL, data, room);
}

static void nothing(void) {}

static const struct hd_mpi_api api = {.version = HD_MPI_API,
                                      .open = net_open,
                                      .exchange = net_exchange,
                                      .send = net_send,
                                      .receive = net_receive,
                                      .close = nothing,
                                      .abort = nothing};

/* Runs fn in n processes; what they write to *out, SHARED bytes, is of rank 0. */
static void on_ranks(int n, void (*fn)(hd_ctx *, hd_ranks *, char *out), char *out) {
    pid_t pid[MOST];
    net.n = n;
    for (int i = 0; i < LINKS * n * n; i++) {
        int link = i / (n * n), a = i / n % n, b = i % n, both[2];
        if (b >= a) continue;
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, both), 0);
        net.to[link][a][b] = both[0], net.to[link][b][a] = both[1];
    }
    for (int i = 0; i < n; i++) {
        pid[i] = fork();
        if (pid[i]) continue;
        alarm(MOST_SECONDS); /* a rank that waits for what never comes has failed */
        hd_ctx *ctx = hd_ctx_create();
        hd_ranks *ranks = NULL;
        net.me = i;
        if (hd_ranks_over(ctx, &api, &ranks) != HD_OK) _exit(2);
        char *mine = i ? malloc(SHARED) : out;
        fn(ctx, ranks, mine);
        if (i) free(mine);
        hd_ranks_close(ranks);
        hd_ctx_destroy(ctx);
        exit(0); /* ThreadSanitizer makes it another status, where it found something */
    }
    int failed = 0;
    for (int i = 0; i < n; i++) {
        int status = 0;
        waitpid(pid[i], &status, 0);
        failed += status != 0;
    }
    for (int i = 0; i < LINKS * n * n; i++)
        if (i % n != i / n % n) close(net.to[i / (n * n)][i / n % n][i % n]);
    assert_int_equal(failed, 0);
}

static char *shared(void) {
    int fd = open("/dev/zero", O_RDWR); /* new memory, which processes share */
    char *p = mmap(NULL, SHARED, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_true(p != MAP_FAILED);
    close(fd);
    return p;
}

static void check_ok(hd_ctx *ctx, hd_status s) {
    if (s == HD_OK) return;
    fprintf(stderr, "%s\n", hd_message(ctx));
    exit(3);
}

#endif
