/* heddle serve with one client: greeting, questions in their order, signs of life while one takes
 * long, and the end when the client goes. What takes long runs on a thread of its own. */
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver/remote/server.h"
#include "driver/remote/turn.h"
#include "runtime/base/parallel.h"

enum { GREET_TIMES = 6 };

struct job { /* a question that takes long */
    struct hd_server *s;
    uint32_t kind;
    struct hd_buf body;
    int done[2]; /* a pipe: a byte when it is answered */
    pthread_t thread;
    bool held; /* a frame came meanwhile: `next` */
    struct hd_frame next;
};

/* ---- to the client -------------------------------------------------------------------------- */

void hd_serve_say(struct hd_server *s, uint32_t kind, const void *data, size_t bytes) {
    pthread_mutex_lock(&s->sending);
    if (!s->gone && hd_wire_send(&s->wire, kind, s->number, data, bytes)) s->gone = true;
    if (s->gone) atomic_store(&s->stops, true);
    pthread_mutex_unlock(&s->sending);
}

void hd_serve_answer(struct hd_server *s, hd_status status) {
    if (!status) {
        hd_serve_say(s, HD_FRAME_ok, NULL, 0);
        return;
    }
    struct hd_buf b = {0};
    hd_buf_u32(&b, status);
    hd_buf_str(&b, hd_message(s->ctx));
    hd_serve_say(s, HD_FRAME_error, b.data, b.n);
    hd_buf_free(&b);
}

hd_status hd_serve_damaged(struct hd_server *s, const char *what) {
    return hd_fail(s->ctx, HD_INVALID, "heddle serve: %s", what);
}

/* ---- what takes long ------------------------------------------------------------------------ */

static bool stops(void *user) {
    struct hd_server *s = user;
    return atomic_load(&s->stops);
}

/* With a context of its own, which the end of the client's patience cancels. */
static void *job_main(void *arg) {
    struct job *j = arg;
    struct hd_cursor c = {j->body.data, j->body.n, 0, false};
    hd_ctx *before = j->s->ctx;
    j->s->ctx = hd_ctx_create();
    hd_on_wait(j->s->ctx, stops, j->s);
    if (j->kind == HD_FRAME_open) hd_serve_open(j->s, &c);
    if (j->kind == HD_FRAME_load) hd_serve_load(j->s, &c);
    if (j->kind == HD_FRAME_run) hd_serve_run(j->s, &c);
    hd_ctx_destroy(j->s->ctx);
    j->s->ctx = before;
    while (write(j->done[1], "", 1) < 0) continue;
    return NULL;
}

/* A frame while a question is open: only cancel acts now. */
static void meanwhile(struct job *j, enum hd_wire_io io) {
    struct hd_server *s = j->s;
    if (io == HD_WIRE_TIMEOUT) hd_serve_say(s, HD_FRAME_alive, NULL, 0);
    if (io == HD_WIRE_OK) j->held = j->next.kind != HD_FRAME_cancel;
    if (io == HD_WIRE_OK && !j->held) atomic_store(&s->stops, true);
    if (io == HD_WIRE_BAD) s->lied = true;
    if (io == HD_WIRE_END || io == HD_WIRE_BAD) {
        pthread_mutex_lock(&s->sending);
        s->gone = true;
        pthread_mutex_unlock(&s->sending);
        atomic_store(&s->stops, true);
    }
}

/* Until the thread has answered. A device that does not stop takes the process with it. */
static void watch(struct job *j) {
    struct hd_server *s = j->s;
    int64_t since = 0, alive = hd_remote_ms();
    for (;;) {
        enum hd_wire_io io = HD_WIRE_TIMEOUT;
        int64_t left = alive + HD_REMOTE_ALIVE_MS - hd_remote_ms();
        int wait = left < 0 ? 0 : (int)left;
        struct pollfd p = {j->done[0], POLLIN, 0};
        if (!j->held && !s->gone)
            io = hd_wire_receive(&s->wire, wait, j->done[0], &j->next);
        else if (poll(&p, 1, wait) > 0)
            io = HD_WIRE_WOKEN;
        if (io == HD_WIRE_WOKEN) return;
        if (io == HD_WIRE_TIMEOUT) alive = hd_remote_ms();
        meanwhile(j, io);
        if (!atomic_load(&s->stops)) continue;
        if (!since) since = hd_remote_ms();
        if (s->o->may_exit && hd_remote_ms() - since > s->wire.silence_ms) _exit(1);
    }
}

static void take_long(struct job *j, const struct hd_frame *f) {
    struct hd_server *s = j->s;
    char byte;
    j->kind = f->kind;
    j->body.n = 0;
    hd_buf_put(&j->body, f->body.data, f->body.n);
    atomic_store(&s->stops, s->gone);
    if (pthread_create(&j->thread, NULL, job_main, j)) {
        hd_serve_answer(s, hd_fail(s->ctx, HD_NOMEM, "heddle serve: the system gives no thread"));
        return;
    }
    watch(j);
    pthread_join(j->thread, NULL);
    while (read(j->done[0], &byte, 1) < 0) continue;
}

/* ---- questions ------------------------------------------------------------------------------ */

static hd_status hello(struct hd_server *s, struct hd_cursor *c) {
    uint32_t magic = hd_cursor_u32(c), protocol = hd_cursor_u32(c), isa = hd_cursor_u32(c);
    s->greeted = magic == HD_REMOTE_MAGIC && protocol == HD_REMOTE_PROTOCOL && isa == hd_isa_hash();
    return s->greeted ? HD_OK
                      : hd_fail(s->ctx, HD_MISMATCH,
                                "heddle serve: got protocol %u and instruction set 0x%08x, want %d "
                                "and 0x%08x; install the same version on both",
                                protocol, isa, HD_REMOTE_PROTOCOL, hd_isa_hash());
}

static hd_status posted(struct hd_server *s, struct hd_frame *f) {
    switch (f->kind) {
    case HD_FRAME_alloc:
        return hd_serve_alloc(s, &f->body);
    case HD_FRAME_free:
        return hd_serve_free(s, &f->body);
    case HD_FRAME_write:
        return hd_serve_write(s, &f->body);
    case HD_FRAME_model:
        return hd_serve_model(s, &f->body);
    case HD_FRAME_unload:
        return hd_serve_unload(s, &f->body);
    default: /* cancel, of a run that is over */
        return HD_OK;
    }
}

static bool is_posted(uint32_t kind) {
    return kind == HD_FRAME_alloc || kind == HD_FRAME_free || kind == HD_FRAME_write ||
           kind == HD_FRAME_model || kind == HD_FRAME_unload || kind == HD_FRAME_cancel;
}

/* Keeps the first error of what was posted. */
static void keep(struct hd_server *s, hd_status status) {
    if (!status || s->pending) return;
    s->pending = status;
    snprintf(s->why, sizeof s->why, "%s", hd_message(s->ctx));
}

/* False: the connection ends. */
static bool take(struct hd_server *s, struct job *j, struct hd_frame *f) {
    s->number = f->number;
    if (!s->greeted || f->kind == HD_FRAME_hello) {
        hd_status r = f->kind == HD_FRAME_hello && !s->greeted
                          ? hello(s, &f->body)
                          : hd_serve_damaged(s, "hello comes first, and once");
        if (r) hd_serve_answer(s, r);
        return !r;
    }
    if (is_posted(f->kind)) {
        keep(s, posted(s, f));
        return true;
    }
    if (s->pending) {
        hd_fail(s->ctx, s->pending, "%s", s->why);
        hd_serve_answer(s, s->pending);
        s->pending = HD_OK;
    } else if (f->kind == HD_FRAME_devices) {
        hd_serve_devices(s);
    } else if (f->kind == HD_FRAME_read) {
        hd_serve_read(s, &f->body);
    } else {
        take_long(j, f);
    }
    return !s->gone;
}

/* ---- life ----------------------------------------------------------------------------------- */

static void greet(struct hd_server *s) {
    struct hd_buf b = {0};
    hd_buf_u32(&b, HD_REMOTE_MAGIC);
    hd_buf_u32(&b, HD_REMOTE_PROTOCOL);
    hd_buf_u32(&b, hd_isa_hash());
    hd_buf_u32(&b, (uint32_t)hd_cores());
    hd_buf_u32(&b, (uint32_t)hd_turn_busy(s->folder));
    hd_buf_str(&b, s->o->version);
    hd_serve_say(s, HD_FRAME_greeting, b.data, b.n);
    hd_buf_free(&b);
}

static hd_status serve(hd_ctx *ctx, struct hd_server *s, struct job *j) {
    struct hd_frame f;
    greet(s);
    while (!s->gone) {
        enum hd_wire_io io = HD_WIRE_OK;
        int wait = s->greeted ? INT_MAX : GREET_TIMES * s->wire.silence_ms;
        if (j->held)
            f = j->next;
        else
            io = hd_wire_receive(&s->wire, wait, -1, &f);
        j->held = false;
        if (io == HD_WIRE_END) return HD_OK;
        s->lied = io == HD_WIRE_BAD;
        if (io == HD_WIRE_TIMEOUT)
            return hd_fail(ctx, HD_DEVICE, "the client did not say hello within %d s", wait / 1000);
        if (s->lied) break;
        if (!take(s, j, &f) && !s->gone)
            return hd_fail(ctx, HD_INVALID, "the client: %s", hd_message(s->ctx));
    }
    return s->lied ? hd_fail(ctx, HD_INVALID, "the client: %s", s->wire.why) : HD_OK;
}

hd_status hd_serve(hd_ctx *ctx, const struct hd_serve_options *o, int in, int out) {
    struct hd_server s = {.o = o, .ctx = hd_ctx_create(), .a = hd_arena_create()};
    struct job j = {.s = &s, .done = {-1, -1}};
    pthread_mutex_init(&s.sending, NULL);
    hd_status r = hd_wire_init(&s.wire, in, out, -1, true) && pipe(j.done) == 0
                      ? hd_remote_folder(ctx, s.folder, sizeof s.folder)
                      : hd_fail(ctx, HD_NOMEM, "no memory or pipe for a client");
    if (!r) r = serve(ctx, &s, &j);
    hd_serve_end(&s);
    for (int i = 0; i < 2; i++)
        if (j.done[i] >= 0) close(j.done[i]);
    hd_wire_deinit(&s.wire);
    hd_buf_free(&j.body);
    hd_arena_destroy(s.a);
    hd_ctx_destroy(s.ctx);
    pthread_mutex_destroy(&s.sending);
    return r;
}
