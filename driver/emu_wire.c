/* Wire format of XRT's hardware emulation. */
#include "driver/emu_wire.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { CALL_HEAD = 14, ANSWER_HEAD = 9, TAG_SIZE = 0x09, TAG_API = 0x15 };

void hd_emu_call_free(struct hd_emu_call *c) {
    free(c->data);
    *c = (struct hd_emu_call){0};
}

/* ---- fields --------------------------------------------------------------------------------- */

static bool varint(struct hd_cursor *c, uint64_t *out) {
    *out = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        const unsigned char *p = hd_cursor_take(c, 1);
        if (!p) return false;
        *out |= (uint64_t)(*p & 0x7f) << shift;
        if (!(*p & 0x80)) return true;
    }
    return false;
}

bool hd_emu_fields(const void *data, size_t bytes, struct hd_emu_field out[HD_EMU_FIELDS]) {
    struct hd_cursor c = {data, bytes, 0, false};
    memset(out, 0, HD_EMU_FIELDS * sizeof *out);
    while (c.at < c.n) {
        uint64_t tag, n;
        struct hd_emu_field f = {0};
        if (!varint(&c, &tag)) return false;
        switch (tag & 7) {
        case 0:
            if (!varint(&c, &f.v)) return false;
            break;
        case 1:
            f.v = hd_cursor_u64(&c);
            break;
        case 2:
            if (!varint(&c, &n)) return false;
            f.data = hd_cursor_take(&c, n);
            f.n = (size_t)n;
            break;
        case 5:
            f.v = hd_cursor_u32(&c);
            break;
        default:
            return false;
        }
        if (c.bad) return false;
        if (tag >> 3 < HD_EMU_FIELDS) out[tag >> 3] = f;
    }
    return true;
}

static void put_varint(struct hd_buf *b, uint64_t v) {
    do {
        unsigned char byte = (unsigned char)((v & 0x7f) | (v > 0x7f ? 0x80 : 0));
        hd_buf_put(b, &byte, 1);
        v >>= 7;
    } while (v);
}

void hd_emu_put(struct hd_buf *b, unsigned field, uint64_t v) {
    put_varint(b, field << 3);
    put_varint(b, v);
}

unsigned char *hd_emu_put_room(struct hd_buf *b, unsigned field, size_t n) {
    static const unsigned char zero[4096];
    put_varint(b, field << 3 | 2);
    put_varint(b, n);
    size_t at = b->n;
    for (size_t k; n; n -= k) hd_buf_put(b, zero, k = n < sizeof zero ? n : sizeof zero);
    return b->data + at;
}

/* ---- calls -------------------------------------------------------------------------------- */

size_t hd_emu_asked(uint64_t n) {
    const uint64_t most = (uint64_t)HD_EMU_MAX_CALL_MIB << 19;
    return (size_t)(n < most ? n : most);
}

void hd_emu_answer_dead(const struct hd_emu_call *c, struct hd_buf *out) {
    enum { DONE_IDLE = 6 }; /* of ap_ctrl */
    struct hd_emu_field f[HD_EMU_FIELDS];
    out->n = 0;
    if (c->api == HD_EMU_DEBUG_MESSAGES) return;
    bool ok = hd_emu_fields(c->data, c->bytes, f);
    bool bulk = c->api == HD_EMU_TO_DEVICE || c->api == HD_EMU_FROM_DEVICE;
    hd_emu_put(out, 1, ok && bulk ? f[5].v : 1);
    if (!ok) return;
    if (c->api == HD_EMU_FROM_DEVICE) hd_emu_put_room(out, 2, hd_emu_asked(f[5].v));
    if (c->api == HD_EMU_READ_RAM) hd_emu_put_room(out, 2, hd_emu_asked(f[3].v));
    if (c->api != HD_EMU_READ_REG) return;
    size_t n = hd_emu_asked(f[3].v);
    unsigned char *room = hd_emu_put_room(out, 2, n);
    for (size_t i = 0; i < n; i += 4) room[i] = DONE_IDLE;
}

/* ---- messages ------------------------------------------------------------------------------- */

static enum hd_emu_io ready(int fd, short events, int timeout_ms) {
    struct pollfd p = {fd, events, 0};
    int n;
    do {
        n = poll(&p, 1, timeout_ms);
    } while (n < 0 && errno == EINTR);
    return n > 0 ? HD_EMU_OK : n == 0 ? HD_EMU_TIMEOUT : HD_EMU_END;
}

enum hd_emu_io hd_emu_read(int fd, void *out, size_t bytes, int timeout_ms) {
    unsigned char *p = out;
    while (bytes) {
        ssize_t n = recv(fd, p, bytes, MSG_DONTWAIT);
        if (n > 0) {
            p += n;
            bytes -= (size_t)n;
            continue;
        }
        if (n == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR))
            return HD_EMU_END;
        enum hd_emu_io s = ready(fd, POLLIN, timeout_ms);
        if (s) return s;
    }
    return HD_EMU_OK;
}

enum hd_emu_io hd_emu_write(int fd, const void *data, size_t bytes, int timeout_ms) {
    const unsigned char *p = data;
    while (bytes) {
        ssize_t n = send(fd, p, bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n > 0) {
            p += n;
            bytes -= (size_t)n;
            continue;
        }
        if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) return HD_EMU_END;
        enum hd_emu_io s = ready(fd, POLLOUT, timeout_ms);
        if (s) return s;
    }
    return HD_EMU_OK;
}

static void store(unsigned char *p, uint64_t v, int bytes) {
    for (int i = 0; i < bytes; i++) p[i] = (unsigned char)(v >> 8 * i);
}
static uint64_t fetch(const unsigned char *p, int bytes) {
    uint64_t v = 0;
    for (int i = 0; i < bytes; i++) v |= (uint64_t)p[i] << 8 * i;
    return v;
}

enum hd_emu_io hd_emu_get_call(int fd, struct hd_emu_call *out, int timeout_ms) {
    unsigned char h[CALL_HEAD];
    enum hd_emu_io s = hd_emu_read(fd, h, sizeof h, timeout_ms);
    if (s) return s;
    uint64_t n = fetch(h + 1, 8);
    if (h[0] != TAG_SIZE || h[9] != TAG_API || n > (uint64_t)HD_EMU_MAX_CALL_MIB << 20)
        return HD_EMU_BAD;
    if (n > out->cap) {
        unsigned char *grown = realloc(out->data, (size_t)n);
        if (!grown) return HD_EMU_BAD;
        out->data = grown;
        out->cap = (size_t)n;
    }
    out->api = (uint32_t)fetch(h + 10, 4);
    out->bytes = (size_t)n;
    return hd_emu_read(fd, out->data, out->bytes, timeout_ms);
}

enum hd_emu_io hd_emu_put_call(int fd, const struct hd_emu_call *c, int timeout_ms) {
    unsigned char h[CALL_HEAD] = {TAG_SIZE};
    store(h + 1, c->bytes, 8);
    h[9] = TAG_API;
    store(h + 10, c->api, 4);
    enum hd_emu_io s = hd_emu_write(fd, h, sizeof h, timeout_ms);
    return s ? s : hd_emu_write(fd, c->data, c->bytes, timeout_ms);
}

enum hd_emu_io hd_emu_get_answer(int fd, struct hd_buf *out, int timeout_ms) {
    unsigned char h[ANSWER_HEAD], part[16384];
    enum hd_emu_io s = hd_emu_read(fd, h, sizeof h, timeout_ms);
    if (s) return s;
    uint64_t n = fetch(h + 1, 8);
    if (h[0] != TAG_SIZE || n > (uint64_t)HD_EMU_MAX_CALL_MIB << 20) return HD_EMU_BAD;
    out->n = 0;
    while (n && !s) {
        size_t k = n < sizeof part ? (size_t)n : sizeof part;
        s = hd_emu_read(fd, part, k, timeout_ms);
        if (!s) hd_buf_put(out, part, k);
        n -= k;
    }
    return s;
}

enum hd_emu_io hd_emu_put_answer(int fd, const struct hd_buf *b, int timeout_ms) {
    unsigned char h[ANSWER_HEAD] = {TAG_SIZE}; /* no api field: the host reads a fixed 9 bytes */
    store(h + 1, b->n, 8);
    enum hd_emu_io s = hd_emu_write(fd, h, sizeof h, timeout_ms);
    return s ? s : hd_emu_write(fd, b->data, b->n, timeout_ms);
}
