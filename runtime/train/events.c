/* Event files of TensorBoard: see fit.h.
 *
 *   file     records
 *   record   u64 bytes, u32 check of these 8, data, u32 check of the data
 *   data     Event { double wall_time = 1; int64 step = 2; string file_version = 3;
 *            Summary summary = 5 { Value value = 1 { string tag = 1; float simple_value = 2 } } }
 *
 * Source: tensorflow/core/lib/io/record_writer.h, tensorflow/core/util/event.proto. */
#include <string.h>

#include "runtime/base/io.h"
#include "runtime/train/fit.h"

enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };
#define CRC32C_POLYNOMIAL UINT32_C(0x82f63b78) /* Castagnoli's, reflected */
#define CRC_MASK          UINT32_C(0xa282ead8)

struct hd_events {
    hd_arena *arena;
    const char *path;
    struct hd_buf file;
};

/* CRC-32C, turned and moved so that checks of data that holds checks are good ones, too. */
static uint32_t check(const void *data, size_t n) {
    const unsigned char *d = data;
    uint32_t c = ~UINT32_C(0);
    for (size_t i = 0; i < n; i++) {
        c ^= d[i];
        for (int k = 0; k < 8; k++) c = c >> 1 ^ (c & 1 ? CRC32C_POLYNOMIAL : 0);
    }
    c = ~c;
    return (c >> 15 | c << 17) + CRC_MASK;
}

static void record(struct hd_events *e, const struct hd_buf *data) {
    struct hd_buf head = {0};
    hd_buf_u64(&head, data->n);
    hd_buf_put(&e->file, head.data, head.n);
    hd_buf_u32(&e->file, check(head.data, head.n));
    hd_buf_put(&e->file, data->data, data->n);
    hd_buf_u32(&e->file, check(data->data, data->n));
    hd_buf_free(&head);
}

static void varint(struct hd_buf *b, uint64_t v) {
    unsigned char c = 0;
    for (; v > 127; v >>= 7) {
        c = (unsigned char)(v | 128);
        hd_buf_put(b, &c, 1);
    }
    c = (unsigned char)v;
    hd_buf_put(b, &c, 1);
}

static void key(struct hd_buf *b, uint64_t field, uint64_t type) {
    varint(b, field << 3 | type);
}

static void bytes(struct hd_buf *b, uint64_t field, const void *data, size_t n) {
    key(b, field, BYTES);
    varint(b, n);
    hd_buf_put(b, data, n);
}

static void fixed32(struct hd_buf *b, uint64_t field, float v) {
    key(b, field, FIXED32);
    hd_buf_put(b, &v, sizeof v);
}

/* The beginning of an event; its time is the number of the step. */
static void begin(struct hd_buf *b, int64_t step) {
    double time = (double)step;
    key(b, 1, FIXED64);
    hd_buf_put(b, &time, sizeof time);
    if (!step) return;
    key(b, 2, VARINT);
    varint(b, (uint64_t)step);
}

hd_status hd_events_open(hd_ctx *ctx, const char *folder, hd_events **out) {
    static const char version[] = "brain.Event:2";
    hd_arena *a = hd_arena_create();
    hd_events *e = hd_new(a, hd_events);
    struct hd_buf first = {0};
    e->arena = a, e->path = hd_sprintf(a, "%s/events.out.tfevents.heddle", folder);
    hd_status s = hd_file_prepare(ctx, e->path);
    if (s != HD_OK) {
        hd_arena_destroy(a);
        return s;
    }
    begin(&first, 0);
    bytes(&first, 3, version, sizeof version - 1);
    record(e, &first);
    hd_buf_free(&first);
    *out = e;
    return HD_OK;
}

hd_status hd_events_add(hd_ctx *ctx, void *events, const struct hd_fit_event *f) {
    hd_events *e = events;
    struct hd_buf event = {0}, summary = {0};
    begin(&event, f->step);
    for (int i = 0; i < f->n; i++) {
        struct hd_buf value = {0};
        const char *tag = hd_trainer_result(f->t, i);
        bytes(&value, 1, tag, strlen(tag));
        fixed32(&value, 2, f->step_results[i]);
        bytes(&summary, 1, value.data, value.n);
        hd_buf_free(&value);
    }
    bytes(&event, 5, summary.data, summary.n);
    record(e, &event);
    hd_buf_free(&event);
    hd_buf_free(&summary);
    return f->epoch_ends ? hd_file_write(ctx, e->path, e->file.data, e->file.n) : HD_OK;
}

hd_status hd_events_close(hd_ctx *ctx, hd_events *e) {
    if (!e) return HD_OK;
    hd_status s = hd_file_write(ctx, e->path, e->file.data, e->file.n);
    hd_buf_free(&e->file);
    hd_arena_destroy(e->arena);
    return s;
}
