/* Any bytes as what heddle serve answers to a client that opens a device, loads, runs and reads. As
 * in fuzz_remote_server.c, frames mostly have a right header and checksum; and a right number. */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "driver/remote/frame.h"
#include "driver/remote/messages.h"
#include "driver/remote/remote.h"
#include "runtime/base/socket.h"
#include "runtime/runtime.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct peer {
    int listener;
    const uint8_t *data;
    size_t size;
};

static void greet(struct hd_wire *w) {
    struct hd_buf b = {0};
    const uint32_t word[] = {HD_REMOTE_MAGIC, HD_REMOTE_PROTOCOL, hd_isa_hash(), 2, 0};
    for (int i = 0; i < 5; i++) hd_buf_u32(&b, word[i]);
    hd_buf_str(&b, "fuzz");
    hd_wire_send(w, HD_FRAME_greeting, 0, b.data, b.n);
    hd_buf_free(&b);
}

/* All that it says at once; then it reads until the client goes. */
static void *peer(void *arg) {
    struct peer *p = arg;
    struct hd_wire w;
    char rest[4096];
    int fd = hd_socket_accept(p->listener, 5000);
    if (fd < 0 || !hd_wire_init(&w, fd, fd, -1, true)) return NULL;
    if (p->data[0] & 1) greet(&w);
    for (size_t at = 1; at + 4 <= p->size;) {
        size_t n = p->data[at + 2] | (size_t)(p->data[at + 3] & 0x0f) << 8;
        uint32_t kind = p->data[at] & 0x3f, number = p->data[at + 1];
        bool raw = p->data[at] >> 6 == 3;
        at += 4;
        if (n > p->size - at) n = p->size - at;
        if (raw ? write(fd, p->data + at, n) < 0
                : hd_wire_send(&w, kind, number, p->data + at, n) != HD_WIRE_OK)
            break;
        at += n;
    }
    shutdown(fd, SHUT_WR);
    int more = 1;
    while (more > 0 && hd_remote_ms()) {
        ssize_t k = recv(fd, rest, sizeof rest, MSG_DONTWAIT);
        more = k > 0 || (k < 0 && more < 5000) ? more + 1 : 0;
        if (k <= 0) nanosleep(&(struct timespec){0, 100000}, NULL);
    }
    hd_wire_deinit(&w);
    return NULL;
}

static void op(void *user, const struct hd_op_record *r) {
    *(uint64_t *)user += r->end;
}
static void end(void *user, uint64_t cycles, const struct hd_probe_state *state) {
    for (int i = 0; i < HD_PROBE_MEMORIES; i++)
        if (state->bytes[i]) *(uint64_t *)user += cycles + state->memory[i][state->bytes[i] - 1];
}

static void talk(hd_ctx *ctx, const char *name, bool traced) {
    uint32_t code[8] = {0};
    uint64_t sum = 0;
    struct hd_step step = {.kind = HD_STEP_PROG, .code_bytes = sizeof code};
    hd_model m = {.name = "fuzz", .image = code, .image_bytes = sizeof code, .arena_bytes = 64};
    const struct hd_probe probe = {
        .user = &sum, .op = traced ? op : NULL, .end = end, .looks = !traced};
    struct hd_device_options o = {.name = name, .machine = hd_machines[0], .probe = &probe};
    const struct hd_device_ops *ops = &hd_device_remote_programs;
    const struct hd_exec_step *steps;
    struct hd_counters k;
    hd_device *d = NULL;
    hd_exec *x = NULL;
    hd_buffer b;
    hd_fence fence;
    char bytes[64];
    m.machine = o.machine;
    m.steps = &step;
    m.n_steps = 1;
    if (ops->open(ctx, &o, &d)) return;
    if (ops->alloc(ctx, d, 64, &b) == HD_OK && ops->load(ctx, d, &m, 0, &x) == HD_OK &&
        ops->write(ctx, d, b, 0, bytes, 0) == HD_OK &&
        ops->submit(ctx, d, x, &b, &fence) == HD_OK) {
        ops->wait(ctx, d, fence, UINT64_MAX);
        ops->counters(ctx, d, &k);
        hd_device_remote_graphs.steps(x, &steps);
        ops->read(ctx, d, b, 0, bytes, sizeof bytes);
    }
    ops->close(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char folder[] = "/tmp/heddle-fuzz-XXXXXX", path[64], name[80];
    if (size < 1 || size > 1 << 16 || !mkdtemp(folder)) return 0;
    signal(SIGPIPE, SIG_IGN);
    snprintf(path, sizeof path, "%s/s", folder);
    snprintf(name, sizeof name, "%s/iss", path);
    struct peer p = {hd_socket_listen(path), data, size};
    pthread_t thread;
    if (p.listener >= 0 && !pthread_create(&thread, NULL, peer, &p)) {
        hd_ctx *ctx = hd_ctx_create();
        talk(ctx, name, data[0] & 2);
        hd_ctx_destroy(ctx);
        pthread_join(thread, NULL);
        close(p.listener);
    }
    unlink(path);
    rmdir(folder);
    return 0;
}
