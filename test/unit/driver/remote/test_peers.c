/* Peers that lie, stall or go: at every point of a conversation, each costs the other end an error
 * with words within the stated time, and nothing else. All of them at once, a thread each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "compiler/compiler.h"
#include "driver/remote/frame.h"
#include "driver/remote/messages.h"
#include "driver/remote/remote.h"
#include "runtime/base/socket.h"
#include "runtime/runtime.h"

#define DIGITS "test/models/digits/model.onnx"
enum { LIMIT_MS = 9000 }; /* 6 times the second of HEDDLE_REMOTE_TIMEOUT, and room */

/* What a peer does in place of its answer. */
enum how {
    HONEST,
    SLOW, /* it answers after twice the silence that counts as death, and says that it works */
    SILENCE,
    GONE,
    GARBAGE,
    HALF_HEAD,
    HALF_BODY,
    BAD_SUM,
    OTHER_NUMBER,
    OTHER_KIND,
    OWN_KIND, /* a frame that the receiver sends */
    NO_STATUS,
    TOO_LONG,
    HOWS
};

static char folder[] = "/tmp/heddle-test-peers-XXXXXX";
static hd_model *digits;

/* ---- a peer --------------------------------------------------------------------------------- */

struct peer {
    struct hd_wire w;
    enum how how;
    uint32_t kind; /* of what it receives, or sends first, that brings out the lie */
};

static void raw(struct peer *p, const void *data, size_t bytes) {
    if (write(p->w.out, data, bytes) < 0) return;
}

static void be_slow(struct peer *p, uint32_t number) {
    for (int i = 0; i < 8; i++) {
        hd_wire_send(&p->w, HD_FRAME_alive, number, NULL, 0);
        nanosleep(&(struct timespec){0, 300000000}, NULL);
    }
}

/* The lie; false: the peer is gone, or silent for good. */
static bool lie(struct peer *p, uint32_t number) {
    unsigned char head[HD_FRAME_HEAD] = {HD_FRAME_data, 0, 0, 0, 1, 0, 0, 0, 200};
    unsigned char zeros[64] = {0}, huge[HD_FRAME_HEAD] = {HD_FRAME_data, [11] = 0x7f};
    bool serves = p->w.serves;
    switch (p->how) {
    case GARBAGE:
        raw(p, "Last login: Monday from 10.0.0.1\r\n", 34);
        return true;
    case HALF_HEAD:
        raw(p, head, 7);
        return false;
    case HALF_BODY:
        if (!serves) head[0] = HD_FRAME_model;
        raw(p, head, sizeof head);
        raw(p, zeros, 50);
        return false;
    case BAD_SUM:
        if (!serves) head[0] = HD_FRAME_model;
        head[8] = 2;
        raw(p, head, sizeof head);
        raw(p, zeros, 2);
        return true;
    case OTHER_NUMBER:
        hd_wire_send(&p->w, HD_FRAME_ok, number + 7, NULL, 0);
        return true;
    case OTHER_KIND:
        hd_wire_send(&p->w, HD_FRAME_memory, number, zeros, 20);
        return true;
    case OWN_KIND:
        hd_wire_send(&p->w, serves ? HD_FRAME_cancel : HD_FRAME_alive, number, NULL, 0);
        return true;
    case NO_STATUS:
        hd_wire_send(&p->w, HD_FRAME_error, number, zeros, 8);
        return true;
    case TOO_LONG:
        raw(p, huge, sizeof huge);
        return true;
    default:
        return false;
    }
}

static void wait_for_end(struct peer *p) {
    char byte[256];
    for (int64_t end = hd_remote_ms() + LIMIT_MS + 2000; hd_remote_ms() < end;) {
        ssize_t n = p->how == GONE ? 0 : read(p->w.in, byte, sizeof byte);
        if (n == 0 || p->w.in < 0) return;
        nanosleep(&(struct timespec){0, 5000000}, NULL);
    }
}

/* ---- a server that lies --------------------------------------------------------------------- */

struct client_case {
    struct peer peer;
    char path[80];
    int listener;
    pthread_t server, client;
    hd_status status;
    int64_t ms;
    char message[400];
};

static void answer(struct peer *p, const struct hd_frame *f) {
    struct hd_buf b = {0};
    struct hd_counters none = {0};
    if (f->kind == HD_FRAME_open || f->kind == HD_FRAME_load)
        hd_wire_send(&p->w, HD_FRAME_ok, f->number, NULL, 0);
    if (f->kind == HD_FRAME_read) {
        hd_wire_send(&p->w, HD_FRAME_data, f->number, "12345678", 8);
        hd_wire_send(&p->w, HD_FRAME_ok, f->number, NULL, 0);
    }
    if (f->kind == HD_FRAME_run) {
        hd_buf_u32(&b, HD_OK);
        hd_buf_str(&b, "");
        hd_buf_u32(&b, 1);
        hd_put_counters(&b, &none);
        hd_put_steps(&b, NULL, 0);
        hd_wire_send(&p->w, HD_FRAME_done, f->number, b.data, b.n);
    }
    hd_buf_free(&b);
}

static void greet(struct peer *p) {
    struct hd_buf b = {0};
    const uint32_t word[] = {HD_REMOTE_MAGIC, HD_REMOTE_PROTOCOL, hd_isa_hash(), 2, 0};
    for (int i = 0; i < 5; i++) hd_buf_u32(&b, word[i]);
    hd_buf_str(&b, "lies");
    hd_wire_send(&p->w, HD_FRAME_greeting, 0, b.data, b.n);
    hd_buf_free(&b);
}

static void *false_server(void *arg) {
    struct client_case *c = arg;
    struct peer *p = &c->peer;
    struct hd_frame f;
    int fd = hd_socket_accept(c->listener, LIMIT_MS);
    HD_ASSERT(hd_wire_init(&p->w, fd, fd, -1, true));
    bool lied = p->kind == HD_FRAME_greeting && p->how > SLOW;
    bool on = !lied || lie(p, 0);
    if (!lied) greet(p);
    while (on && hd_wire_receive(&p->w, LIMIT_MS, -1, &f) == HD_WIRE_OK) {
        bool lies = f.kind == p->kind && p->how > SLOW;
        if (f.kind == p->kind && p->how == SLOW) be_slow(p, f.number);
        if (lies)
            on = lie(p, f.number);
        else
            answer(p, &f);
    }
    wait_for_end(p);
    hd_wire_deinit(&p->w);
    return NULL;
}

/* Answers all, but says that a run is in work until it is cancelled. */
static void *patient_server(void *arg) {
    struct client_case *c = arg;
    struct hd_wire *w = &c->peer.w;
    struct hd_frame f;
    int fd = hd_socket_accept(c->listener, LIMIT_MS);
    HD_ASSERT(hd_wire_init(w, fd, fd, -1, true));
    greet(&c->peer);
    while (hd_wire_receive(w, LIMIT_MS, -1, &f) == HD_WIRE_OK) {
        struct hd_frame run = f, next = {0};
        while (f.kind == HD_FRAME_run && next.kind != HD_FRAME_cancel &&
               hd_wire_receive(w, 200, -1, &next) != HD_WIRE_END)
            hd_wire_send(w, HD_FRAME_alive, run.number, NULL, 0);
        answer(&c->peer, &run);
    }
    hd_wire_deinit(w);
    return NULL;
}

static hd_status talk(hd_ctx *ctx, const char *name) {
    const struct hd_device_ops *ops = hd_device_by_scheme(name);
    struct hd_device_options o = {.name = name, .machine = digits->machine};
    hd_device *d = NULL;
    hd_exec *x = NULL;
    hd_buffer b;
    hd_fence fence;
    char bytes[8];
    int step = 0;
    while (digits->steps[step].kind != HD_STEP_PROG) step++;
    TRY(ops->open(ctx, &o, &d));
    hd_status s = ops->alloc(ctx, d, (size_t)digits->arena_bytes, &b);
    if (!s) s = ops->load(ctx, d, digits, step, &x);
    if (!s) s = ops->write(ctx, d, b, 0, "heddle!", 8);
    if (!s) s = ops->submit(ctx, d, x, &b, &fence);
    if (!s) s = ops->wait(ctx, d, fence, UINT64_MAX);
    if (!s) s = ops->read(ctx, d, b, 0, bytes, 8);
    ops->close(d);
    return s;
}

static void *client(void *arg) {
    struct client_case *c = arg;
    hd_ctx *ctx = hd_ctx_create();
    char name[100];
    snprintf(name, sizeof name, "%s/iss", c->path);
    int64_t start = hd_remote_ms();
    c->status = talk(ctx, name);
    c->ms = hd_remote_ms() - start;
    snprintf(c->message, sizeof c->message, "%s", hd_message(ctx));
    hd_ctx_destroy(ctx);
    return NULL;
}

static void servers(void **state) {
    (void)state;
    static const uint32_t kinds[] = {HD_FRAME_greeting, HD_FRAME_open, HD_FRAME_load, HD_FRAME_run,
                                     HD_FRAME_read};
    enum { KINDS = sizeof kinds / sizeof *kinds };
    static struct client_case all[KINDS * HOWS];
    for (int i = 0; i < KINDS * HOWS; i++) {
        struct client_case *c = &all[i];
        c->peer = (struct peer){.how = (enum how)(i % HOWS), .kind = kinds[i / HOWS]};
        snprintf(c->path, sizeof c->path, "%s/%d", folder, i);
        c->listener = hd_socket_listen(c->path);
        assert_true(c->listener >= 0);
        assert_int_equal(pthread_create(&c->server, NULL, false_server, c), 0);
        assert_int_equal(pthread_create(&c->client, NULL, client, c), 0);
    }
    for (int i = 0; i < KINDS * HOWS; i++) {
        struct client_case *c = &all[i];
        pthread_join(c->client, NULL);
        pthread_join(c->server, NULL);
        close(c->listener);
        unlink(c->path);
        bool honest = c->peer.how <= SLOW;
        if (honest == (c->status != HD_OK) || c->ms > LIMIT_MS || (!honest && !c->message[0]))
            fail_msg("at %s, lie %d: status %d after %d ms: %s", hd_frame_name(c->peer.kind),
                     c->peer.how, c->status, (int)c->ms, c->message);
    }
}

static bool after_a_while(void *user) {
    return ++*(int *)user > 30;
}

/* A context that is cancelled ends its wait at once, the run there, and not the connection. */
static void cancelled(void **state) {
    (void)state;
    static struct client_case c;
    hd_ctx *ctx = hd_ctx_create(), *next = hd_ctx_create();
    char name[100];
    int asked = 0;
    snprintf(c.path, sizeof c.path, "%s/patient", folder);
    snprintf(name, sizeof name, "%s/iss", c.path);
    c.listener = hd_socket_listen(c.path);
    assert_true(c.listener >= 0);
    assert_int_equal(pthread_create(&c.server, NULL, patient_server, &c), 0);
    const struct hd_device_ops *ops = hd_device_by_scheme(name);
    struct hd_device_options o = {.name = name, .machine = digits->machine};
    hd_device *d;
    hd_exec *x;
    hd_buffer b;
    hd_fence fence;
    char bytes[8];
    int step = 0;
    while (digits->steps[step].kind != HD_STEP_PROG) step++;
    assert_int_equal(ops->open(ctx, &o, &d), HD_OK);
    assert_int_equal(ops->alloc(ctx, d, (size_t)digits->arena_bytes, &b), HD_OK);
    assert_int_equal(ops->load(ctx, d, digits, step, &x), HD_OK);
    assert_int_equal(ops->submit(ctx, d, x, &b, &fence), HD_OK);
    hd_on_wait(ctx, after_a_while, &asked);
    int64_t start = hd_remote_ms();
    assert_int_equal(ops->wait(ctx, d, fence, UINT64_MAX), HD_CANCELLED);
    assert_in_range(hd_remote_ms() - start, 1200, 4000); /* longer than silence may last */
    assert_int_equal(ops->read(next, d, b, 0, bytes, 8), HD_OK);
    assert_memory_equal(bytes, "12345678", 8);
    ops->close(d);
    pthread_join(c.server, NULL);
    close(c.listener);
    unlink(c.path);
    hd_ctx_destroy(ctx);
    hd_ctx_destroy(next);
}

/* ---- a client that lies --------------------------------------------------------------------- */

struct server_case {
    struct peer peer;
    int served, theirs;
    pthread_t server, client;
    hd_status status;
    int64_t ms;
};

static void *server(void *arg) {
    struct server_case *c = arg;
    hd_ctx *ctx = hd_ctx_create();
    const struct hd_serve_options o = {
        .find = hd_device_find, .devices = hd_devices, .version = "test"};
    int64_t start = hd_remote_ms();
    c->status = hd_serve(ctx, &o, c->served, c->served);
    c->ms = hd_remote_ms() - start;
    hd_ctx_destroy(ctx);
    return NULL;
}

static void say(struct peer *p, uint32_t kind, const struct hd_buf *b) {
    static uint32_t number;
    hd_wire_send(&p->w, kind, __atomic_add_fetch(&number, 1, __ATOMIC_RELAXED), b->data, b->n);
}

static void say_open(struct peer *p) {
    struct hd_device_options o = {.machine = hd_machines[0]};
    struct hd_buf b = {0};
    hd_put_options(&b, "iss", &o);
    say(p, HD_FRAME_open, &b);
    hd_buf_free(&b);
}

/* Says hello, opens, and asks what has no answer; lies in place of `kind`. */
static void *false_client(void *arg) {
    struct server_case *c = arg;
    struct peer *p = &c->peer;
    static const uint32_t asks[] = {HD_FRAME_hello, HD_FRAME_open,  HD_FRAME_alloc, HD_FRAME_write,
                                    HD_FRAME_read,  HD_FRAME_run,   HD_FRAME_load,  HD_FRAME_unload,
                                    HD_FRAME_free,  HD_FRAME_model, HD_FRAME_cancel};
    HD_ASSERT(hd_wire_init(&p->w, c->theirs, c->theirs, -1, false));
    bool on = true;
    for (size_t i = 0; on && i < sizeof asks / sizeof *asks; i++) {
        struct hd_buf b = {0};
        if (asks[i] == HD_FRAME_hello) {
            hd_buf_u32(&b, HD_REMOTE_MAGIC);
            hd_buf_u32(&b, HD_REMOTE_PROTOCOL);
            hd_buf_u32(&b, hd_isa_hash());
        }
        for (int k = 0; i > 1 && k < 12; k++) hd_buf_u32(&b, 0x7ffffff0u);
        if (asks[i] == HD_FRAME_alloc) b.n = 12;
        if (asks[i] == HD_FRAME_read) b.n = 20;
        if (asks[i] == HD_FRAME_unload || asks[i] == HD_FRAME_free) b.n = 4;
        if (asks[i] == HD_FRAME_cancel) b.n = 0;
        if (p->kind == asks[i] && p->how > SLOW)
            on = lie(p, 0);
        else if (asks[i] == HD_FRAME_open)
            say_open(p);
        else
            say(p, asks[i], &b);
        hd_buf_free(&b);
    }
    if (p->how == SILENCE && p->kind == HD_FRAME_hello) wait_for_end(p);
    if (p->how >= GARBAGE) wait_for_end(p); /* a connection that ends tells the server less */
    hd_wire_deinit(&p->w);
    return NULL;
}

static void clients(void **state) {
    (void)state;
    static const uint32_t kinds[] = {HD_FRAME_hello, HD_FRAME_open, HD_FRAME_run};
    enum { KINDS = sizeof kinds / sizeof *kinds };
    static struct server_case all[KINDS * HOWS];
    for (int i = 0; i < KINDS * HOWS; i++) {
        struct server_case *c = &all[i];
        int pair[2];
        c->peer = (struct peer){.how = (enum how)(i % HOWS), .kind = kinds[i / HOWS]};
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
        c->served = pair[0];
        c->theirs = pair[1];
        assert_int_equal(pthread_create(&c->server, NULL, server, c), 0);
        assert_int_equal(pthread_create(&c->client, NULL, false_client, c), 0);
    }
    for (int i = 0; i < KINDS * HOWS; i++) {
        struct server_case *c = &all[i];
        pthread_join(c->server, NULL);
        pthread_join(c->client, NULL);
        enum how how = c->peer.how;
        bool tells = how >= GARBAGE && how < OTHER_NUMBER; /* what is no frame at all */
        if (c->ms > LIMIT_MS || (tells && !c->status))
            fail_msg("lie %d at %s: status %d after %d ms", how, hd_frame_name(c->peer.kind),
                     c->status, (int)c->ms);
    }
}

/* ---------------------------------------------------------------------------------------------- */

static int prepare(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    struct hd_compile_options o = {.latency_hiding = true};
    signal(SIGPIPE, SIG_IGN);
    setenv("HEDDLE_REMOTE_TIMEOUT", "1", 1);
    if (!mkdtemp(folder) || hd_machine_load(ctx, "tiny", &o.machine) ||
        hd_compile(ctx, DIGITS, &o, &digits))
        return -1;
    setenv("XDG_RUNTIME_DIR", folder, 1);
    hd_ctx_destroy(ctx);
    return 0;
}

static int clean(void **state) {
    (void)state;
    char command[64];
    hd_model_destroy(digits);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(servers), cmocka_unit_test(cancelled),
                                       cmocka_unit_test(clients)};
    return cmocka_run_group_tests(tests, prepare, clean);
}
