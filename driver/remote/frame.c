/* Frames over two descriptors: sent and received whole, or not at all, within a time. */
#include "driver/remote/frame.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

static const struct {
    const char *name;
    bool from_server;
    size_t least, most;
} frames[] = {
#define CLIENT                                          false
#define SERVER                                          true
#define FRAME(name, number, from, least, most, payload) [number] = {#name, from, least, most},
#include "driver/remote/frames.def"
#undef CLIENT
#undef SERVER
};

const char *hd_frame_name(uint32_t kind) {
    return kind < sizeof frames / sizeof *frames ? frames[kind].name : NULL;
}

int64_t hd_remote_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int hd_remote_silence_ms(void) {
    const char *text = getenv("HEDDLE_REMOTE_TIMEOUT");
    int seconds = text ? atoi(text) : 0;
    return seconds >= 1 && seconds <= 3600 ? 1000 * seconds : HD_REMOTE_SILENCE_MS;
}

bool hd_wire_init(struct hd_wire *w, int in, int out, int err, bool serves) {
    *w = (struct hd_wire){.in = in,
                          .out = out,
                          .err = err,
                          .serves = serves,
                          .silence_ms = hd_remote_silence_ms(),
                          .buffer = malloc(HD_FRAME_HEAD + HD_FRAME_BYTES)};
    const int fd[] = {in, out, err};
    for (int i = 0; i < 3; i++)
        if (fd[i] >= 0) fcntl(fd[i], F_SETFL, fcntl(fd[i], F_GETFL) | O_NONBLOCK);
    return w->buffer != NULL;
}

void hd_wire_deinit(struct hd_wire *w) {
    if (w->in >= 0) close(w->in);
    if (w->out >= 0 && w->out != w->in) close(w->out);
    if (w->err >= 0) close(w->err);
    free(w->buffer);
    *w = (struct hd_wire){.in = -1, .out = -1, .err = -1};
}

/* ---- bytes ---------------------------------------------------------------------------------- */

/* Keeps the end of what a command says by its standard error. */
static void listen_to_err(struct hd_wire *w) {
    char part[256];
    ssize_t n = read(w->err, part, sizeof part);
    if (n <= 0) {
        if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
            close(w->err);
            w->err = -1;
        }
        return;
    }
    size_t room = sizeof w->said - 1, more = (size_t)n;
    if (w->n_said + more > room) {
        size_t drop = w->n_said + more - room;
        memmove(w->said, w->said + drop, w->n_said - drop);
        w->n_said -= drop;
    }
    memcpy(w->said + w->n_said, part, more);
    w->n_said += more;
    w->said[w->n_said] = 0;
}

/* Until fd is ready, or `end`. */
static enum hd_wire_io ready(struct hd_wire *w, int fd, short events, int64_t end, int wake) {
    for (;;) {
        int64_t left = end - hd_remote_ms();
        struct pollfd p[3] = {{fd, events, 0}, {w->err, POLLIN, 0}, {wake, POLLIN, 0}};
        if (left < 0) left = 0;
        int n = poll(p, 3, left > 3600000 ? 3600000 : (int)left);
        if (n < 0 && errno != EINTR) return HD_WIRE_END;
        if (n > 0 && p[1].revents) listen_to_err(w);
        if (n > 0 && p[0].revents) return HD_WIRE_OK;
        if (n > 0 && p[2].revents) return HD_WIRE_WOKEN;
        if (hd_remote_ms() >= end) return HD_WIRE_TIMEOUT;
    }
}

static enum hd_wire_io get(struct hd_wire *w, unsigned char *out, size_t bytes, size_t *got,
                           int64_t end) {
    while (*got < bytes) {
        ssize_t n = read(w->in, out + *got, bytes - *got);
        if (n > 0) {
            *got += (size_t)n;
            continue;
        }
        if (n == 0 || (errno != EAGAIN && errno != EINTR)) return HD_WIRE_END;
        enum hd_wire_io s = ready(w, w->in, POLLIN, end, -1);
        if (s) return s;
    }
    return HD_WIRE_OK;
}

/* By send where it is a socket: a peer that is gone is no signal then. */
static ssize_t put_some(int fd, const void *data, size_t bytes) {
    ssize_t n = send(fd, data, bytes, MSG_NOSIGNAL);
    return n < 0 && errno == ENOTSOCK ? write(fd, data, bytes) : n;
}

static enum hd_wire_io put(struct hd_wire *w, const unsigned char *data, size_t bytes,
                           int64_t end) {
    while (bytes) {
        ssize_t n = put_some(w->out, data, bytes);
        if (n > 0) {
            data += n;
            bytes -= (size_t)n;
            continue;
        }
        if (n < 0 && errno != EAGAIN && errno != EINTR) return HD_WIRE_END;
        enum hd_wire_io s = ready(w, w->out, POLLOUT, end, -1);
        if (s) return s;
    }
    return HD_WIRE_OK;
}

/* ---- frames --------------------------------------------------------------------------------- */

static void store(unsigned char *p, uint32_t v) {
    for (int i = 0; i < 4; i++) p[i] = (unsigned char)(v >> 8 * i);
}

static uint32_t checksum(const unsigned char *head, const void *data, size_t bytes) {
    return (uint32_t)crc32_z(crc32_z(0, head, 12), bytes ? data : head, bytes);
}

enum hd_wire_io hd_wire_send(struct hd_wire *w, uint32_t kind, uint32_t number, const void *data,
                             size_t bytes) {
    unsigned char head[HD_FRAME_HEAD];
    HD_ASSERT(bytes <= HD_FRAME_BYTES);
    store(head, kind);
    store(head + 4, number);
    store(head + 8, (uint32_t)bytes);
    store(head + 12, checksum(head, data, bytes));
    int64_t end = hd_remote_ms() + w->silence_ms;
    enum hd_wire_io s = put(w, head, sizeof head, end);
    if (!s && bytes) s = put(w, data, bytes, end);
    return s;
}

static enum hd_wire_io bad(struct hd_wire *w, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
static enum hd_wire_io bad(struct hd_wire *w, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(w->why, sizeof w->why, fmt, ap);
    va_end(ap);
    return HD_WIRE_BAD;
}

static enum hd_wire_io no_frame(struct hd_wire *w, const unsigned char *got, size_t n) {
    char text[HD_FRAME_HEAD + 1];
    for (size_t i = 0; i < n; i++) text[i] = (char)(got[i] >= ' ' && got[i] < 127 ? got[i] : '?');
    text[n] = 0;
    return bad(w, "it sent '%s', which begins no frame", text);
}

static enum hd_wire_io check_head(struct hd_wire *w, const unsigned char *h, uint32_t kind,
                                  size_t n) {
    if (!hd_frame_name(kind) || n > HD_FRAME_BYTES) return no_frame(w, h, HD_FRAME_HEAD);
    if (frames[kind].from_server == w->serves)
        return bad(w, "it sent frame '%s', which only the other side may send", frames[kind].name);
    if (n < frames[kind].least || n > frames[kind].most)
        return bad(w, "it sent frame '%s' of %zu bytes, allowed are %zu to %zu", frames[kind].name,
                   n, frames[kind].least, frames[kind].most);
    return HD_WIRE_OK;
}

enum hd_wire_io hd_wire_receive(struct hd_wire *w, int wait_ms, int wake, struct hd_frame *out) {
    unsigned char *h = w->buffer, *body = h + HD_FRAME_HEAD;
    size_t got = 0, got_body = 0;
    enum hd_wire_io s = ready(w, w->in, POLLIN, hd_remote_ms() + wait_ms, wake);
    if (s) return s;
    int64_t end = hd_remote_ms() + w->silence_ms;
    s = get(w, h, HD_FRAME_HEAD, &got, end);
    if (s == HD_WIRE_END && got) return no_frame(w, h, got);
    if (s == HD_WIRE_TIMEOUT) return bad(w, "it stopped in the middle of a frame");
    if (s) return s;
    struct hd_cursor c = {h, HD_FRAME_HEAD, 0, false};
    uint32_t kind = hd_cursor_u32(&c), number = hd_cursor_u32(&c), n = hd_cursor_u32(&c),
             sum = hd_cursor_u32(&c);
    s = check_head(w, h, kind, n);
    if (!s) s = get(w, body, n, &got_body, end);
    if (s == HD_WIRE_TIMEOUT || (s == HD_WIRE_END && got_body < n))
        return bad(w, "it stopped in the middle of frame '%s', %zu of %u bytes", frames[kind].name,
                   got_body, n);
    if (s) return s;
    if (checksum(h, body, n) != sum)
        return bad(w, "frame '%s' has checksum 0x%08x, want 0x%08x", frames[kind].name, sum,
                   checksum(h, body, n));
    *out = (struct hd_frame){kind, number, {body, n, 0, false}};
    return HD_WIRE_OK;
}

void hd_wire_text(struct hd_cursor *c, char *out, size_t room) {
    uint32_t n = hd_cursor_u32(c);
    const char *p = hd_cursor_take(c, n);
    size_t k = 0;
    for (uint32_t i = 0; p && i < n && k + 1 < room; i++)
        out[k++] = (p[i] >= ' ' && p[i] != 127) || p[i] == '\n' || (unsigned char)p[i] >= 0xa0
                       ? p[i]
                       : '?';
    out[k] = 0;
}
