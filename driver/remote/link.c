/* The client's end of a connection: command or socket, greeting, questions and answers. */
#include "driver/remote/link.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "isa/isa.h"
#include "runtime/base/socket.h"

extern char **environ;
enum { GREET_TIMES = 6, END_MS = 2000, LOOK_MS = 50 };

/* ---- start ---------------------------------------------------------------------------------- */

static bool is_path(const char *host) {
    return host[0] == '/' || !strncmp(host, "./", 2) || !strncmp(host, "../", 3);
}

/* Nothing that a shell or ssh takes for more than a name. */
static hd_status check_host(hd_ctx *ctx, const char *host) {
    bool ok = *host && *host != '-' && strlen(host) < HD_HOST_BYTES;
    for (const char *p = host; ok && !is_path(host) && *p; p++)
        ok = isalnum((unsigned char)*p) || strchr("._-@:%+", *p);
    return ok ? HD_OK
              : hd_fail(ctx, HD_INVALID,
                        "host '%.80s': want a name of letters, digits and ._-@:%%+ that does not "
                        "begin with -, or the path of a socket that begins with / or ./",
                        host);
}

static hd_status expand(hd_ctx *ctx, const char *host, const char *command, char *out) {
    size_t n = (size_t)snprintf(out, HD_COMMAND_BYTES, "exec ");
    for (const char *p = command; *p && n < HD_COMMAND_BYTES; p++) {
        if (p[0] == '%' && p[1] == 'h') {
            n += (size_t)snprintf(out + n, HD_COMMAND_BYTES - n, "%s", host);
            p++;
        } else {
            out[n++] = *p;
        }
    }
    if (n >= HD_COMMAND_BYTES)
        return hd_fail(ctx, HD_INVALID, "host %s: its command has more than %d bytes; shorten it",
                       host, HD_COMMAND_BYTES - 1);
    out[n] = 0;
    return HD_OK;
}

static hd_status spawn(hd_ctx *ctx, struct hd_link *l, char *text) {
    char *argv[] = {(char *)"sh", (char *)"-c", text, NULL};
    int pair[2], err[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
        return hd_fail(ctx, HD_IO, "host %s: no socket: %s", l->host, strerror(errno));
    if (pipe(err)) {
        close(pair[0]);
        close(pair[1]);
        return hd_fail(ctx, HD_IO, "host %s: no pipe: %s", l->host, strerror(errno));
    }
    const int all[] = {pair[0], pair[1], err[0], err[1]};
    for (int i = 0; i < 4; i++) fcntl(all[i], F_SETFD, FD_CLOEXEC);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, pair[1], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, pair[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, err[1], STDERR_FILENO);
    int e = posix_spawn(&l->pid, "/bin/sh", &files, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    close(pair[1]);
    close(err[1]);
    if (e) l->pid = 0;
    if (!hd_wire_init(&l->wire, pair[0], pair[0], err[0], false))
        return hd_fail(ctx, HD_NOMEM, "host %s: no memory for a connection", l->host);
    return e ? hd_fail(ctx, HD_IO, "host %s: cannot start sh: %s", l->host, strerror(e)) : HD_OK;
}

static hd_status dial(hd_ctx *ctx, struct hd_link *l) {
    int fd = hd_socket_dial(l->host, 0);
    if (fd < 0)
        return hd_fail(ctx, HD_DEVICE,
                       "host %s: cannot reach its socket: %s; start heddle serve --socket %s there",
                       l->host, strerror(errno), l->host);
    return hd_wire_init(&l->wire, fd, fd, -1, false)
               ? HD_OK
               : hd_fail(ctx, HD_NOMEM, "host %s: no memory for a connection", l->host);
}

hd_status hd_link_start(hd_ctx *ctx, struct hd_link *l, const char *host, const char *command) {
    char text[HD_COMMAND_BYTES + HD_HOST_BYTES];
    const char *set = getenv("HEDDLE_REMOTE_COMMAND");
    *l = (struct hd_link){.wire = {.in = -1, .out = -1, .err = -1}};
    TRY(check_host(ctx, host));
    strcpy(l->host, host);
    if (!command || !*command) command = set && *set ? set : HD_REMOTE_COMMAND;
    hd_status s = is_path(host) ? HD_OK : expand(ctx, host, command, text);
    if (!s) s = is_path(host) ? dial(ctx, l) : spawn(ctx, l, text);
    l->open = true;
    if (s) hd_link_close(l);
    return s;
}

/* Waits a moment for the command, then ends it. */
static void end_command(pid_t pid) {
    for (int ms = 0; ms < END_MS; ms += 5) {
        if (waitpid(pid, NULL, WNOHANG) != 0) return;
        nanosleep(&(struct timespec){0, 5000000}, NULL);
    }
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

void hd_link_close(struct hd_link *l) {
    if (!l->open) return;
    l->open = false;
    hd_wire_deinit(&l->wire);
    if (l->pid) end_command(l->pid);
    l->pid = 0;
}

/* ---- errors --------------------------------------------------------------------------------- */

/* What went wrong with the connection, and what the command said of it. */
static hd_status broken(hd_ctx *ctx, struct hd_link *l, enum hd_wire_io io) {
    char said[sizeof l->wire.said] = "", what[sizeof l->wire.why];
    size_t n = l->wire.n_said;
    while (n && isspace((unsigned char)l->wire.said[n - 1])) n--;
    struct hd_buf b = {0};
    hd_buf_u32(&b, (uint32_t)n);
    hd_buf_put(&b, l->wire.said, n);
    hd_wire_text(&(struct hd_cursor){b.data, b.n, 0, false}, said, sizeof said);
    hd_buf_free(&b);
    int seconds = (l->greeted ? l->wire.silence_ms : hd_link_greet_ms(l)) / 1000;
    if (io == HD_WIRE_TIMEOUT)
        snprintf(what, sizeof what, "it owes an answer and said nothing for %d s", seconds);
    else
        snprintf(what, sizeof what, "%s", io == HD_WIRE_BAD ? l->wire.why : "the connection ended");
    bool greeted = l->greeted, command = l->pid != 0;
    hd_link_close(l);
    return hd_fail(ctx, HD_DEVICE, "host %s: %s%s%s; %s", l->host, what,
                   *said ? "; its command says: " : "", said,
                   greeted    ? "open the device again"
                   : !command ? "check that heddle serve --socket listens there"
                              : "check that the command reaches heddle serve --stdio there "
                                "(HEDDLE_REMOTE_COMMAND), and prints nothing else");
}

hd_status hd_link_lies(hd_ctx *ctx, struct hd_link *l, const char *what) {
    snprintf(l->wire.why, sizeof l->wire.why, "it sent %s", what);
    return broken(ctx, l, HD_WIRE_BAD);
}

hd_status hd_link_late(hd_ctx *ctx, struct hd_link *l) {
    snprintf(l->wire.why, sizeof l->wire.why, "it is at work, but has not answered in time");
    return broken(ctx, l, HD_WIRE_BAD);
}

static hd_status refused(hd_ctx *ctx, struct hd_link *l, struct hd_cursor *c) {
    char text[3500];
    uint32_t status = hd_cursor_u32(c);
    hd_wire_text(c, text, sizeof text);
    if (c->bad || status == HD_OK || status >= HD_STATUS_COUNT)
        return hd_link_lies(ctx, l, "an error without a status");
    hd_fail(ctx, (hd_status)status, "%s", text);
    return hd_note(ctx, (hd_status)status, "on host %s", l->host);
}

/* ---- questions ------------------------------------------------------------------------------ */

hd_status hd_link_post(hd_ctx *ctx, struct hd_link *l, uint32_t kind, const void *data,
                       size_t bytes) {
    if (!l->open)
        return hd_fail(ctx, HD_DEVICE, "host %s: the connection is gone; open the device again",
                       l->host);
    enum hd_wire_io io = hd_wire_send(&l->wire, kind, ++l->number, data, bytes);
    return io ? broken(ctx, l, io) : HD_OK;
}

/* Receives, and asks ctx now and then whether to go on. */
static hd_status listen_for(hd_ctx *ctx, struct hd_link *l, int64_t wait_ms, struct hd_frame *out,
                            enum hd_wire_io *out_io) {
    int64_t end = hd_remote_ms() + wait_ms;
    for (;;) {
        int64_t left = end - hd_remote_ms();
        TRY(hd_note(ctx, hd_continue(ctx), "waiting for host %s", l->host));
        *out_io = hd_wire_receive(&l->wire,
                                  left > LOOK_MS ? LOOK_MS
                                  : left > 0     ? (int)left
                                                 : 0,
                                  -1, out);
        if (*out_io != HD_WIRE_TIMEOUT || hd_remote_ms() >= end) return HD_OK;
    }
}

hd_status hd_link_next(hd_ctx *ctx, struct hd_link *l, uint32_t number, int64_t wait_ms,
                       struct hd_frame *out, bool *out_late) {
    int64_t end = wait_ms < 0 ? INT64_MAX / 2 : hd_remote_ms() + wait_ms;
    *out_late = false;
    for (;;) {
        enum hd_wire_io io;
        int64_t left = end - hd_remote_ms();
        bool last = left < l->wire.silence_ms;
        TRY(listen_for(ctx, l, last ? left : l->wire.silence_ms, out, &io));
        bool alive = !io && out->kind == HD_FRAME_alive;
        *out_late = (io == HD_WIRE_TIMEOUT && last) || (alive && hd_remote_ms() >= end);
        if (*out_late) return HD_DEVICE;
        if (io) return broken(ctx, l, io);
        if (alive) continue;
        if (out->kind == HD_FRAME_error) return refused(ctx, l, &out->body);
        if (out->number == number) return HD_OK;
        return hd_link_lies(ctx, l, "the answer to another question");
    }
}

hd_status hd_link_leave(struct hd_link *l, hd_status s) {
    if (s == HD_CANCELLED) hd_link_close(l);
    return s;
}

hd_status hd_link_ask(hd_ctx *ctx, struct hd_link *l, uint32_t kind, const void *data, size_t bytes,
                      uint32_t other, int64_t wait_ms, uint32_t *out_kind) {
    struct hd_frame f;
    bool late;
    TRY(hd_link_post(ctx, l, kind, data, bytes));
    hd_status s = hd_link_next(ctx, l, l->number, wait_ms, &f, &late);
    if (late) return hd_link_late(ctx, l);
    TRY(hd_link_leave(l, s));
    if (f.kind != HD_FRAME_ok && f.kind != other)
        return hd_link_lies(ctx, l, "an answer of another kind");
    if (out_kind) *out_kind = f.kind;
    return HD_OK;
}

/* ---- greeting ------------------------------------------------------------------------------- */

int hd_link_greet_ms(const struct hd_link *l) {
    return (l->pid ? GREET_TIMES : 1) * l->wire.silence_ms;
}

hd_status hd_link_greet(hd_ctx *ctx, struct hd_link *l, int wait_ms) {
    struct hd_frame f;
    enum hd_wire_io io;
    TRY(hd_link_leave(l, listen_for(ctx, l, wait_ms, &f, &io)));
    if (io) return broken(ctx, l, io);
    if (f.kind != HD_FRAME_greeting) return hd_link_lies(ctx, l, "something before its greeting");
    uint32_t magic = hd_cursor_u32(&f.body), protocol = hd_cursor_u32(&f.body),
             isa = hd_cursor_u32(&f.body);
    l->cores = hd_cursor_u32(&f.body);
    l->busy = hd_cursor_u32(&f.body);
    hd_wire_text(&f.body, l->version, sizeof l->version);
    if (magic != HD_REMOTE_MAGIC || f.body.bad)
        return hd_link_lies(ctx, l, "a greeting that is not heddle's");
    if (protocol != HD_REMOTE_PROTOCOL || isa != hd_isa_hash()) {
        hd_link_close(l);
        return hd_fail(ctx, HD_MISMATCH,
                       "host %s: heddle %s there has protocol %u and instruction set 0x%08x, this "
                       "one has %d and 0x%08x; install the same version on both",
                       l->host, l->version, protocol, isa, HD_REMOTE_PROTOCOL, hd_isa_hash());
    }
    l->greeted = true;
    struct hd_buf b = {0};
    hd_buf_u32(&b, HD_REMOTE_MAGIC);
    hd_buf_u32(&b, HD_REMOTE_PROTOCOL);
    hd_buf_u32(&b, hd_isa_hash());
    hd_status s = hd_link_post(ctx, l, HD_FRAME_hello, b.data, b.n);
    hd_buf_free(&b);
    return s;
}
