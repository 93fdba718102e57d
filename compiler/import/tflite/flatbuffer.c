/* FlatBuffers: bounds-checked access in place. */
#include "compiler/import/tflite/flatbuffer.h"

#include <string.h>

struct hd_fb hd_fb_open(const void *data, size_t bytes) {
    return (struct hd_fb){.data = data, .bytes = bytes};
}

static bool fail(struct hd_fb *f, const char *why) {
    if (!f->bad) f->bad = why;
    return false;
}

/* Little-endian signed number; the caller has checked the range. */
static int64_t number(const uint8_t *p, int bytes) {
    uint64_t v = 0;
    for (int i = 0; i < bytes; i++) v |= (uint64_t)p[i] << (8 * i);
    int unused = 64 - 8 * bytes;
    return (int64_t)(v << unused) >> unused;
}

static bool inside(struct hd_fb *f, size_t at, size_t bytes) {
    if (f->bad) return false;
    if (at > f->bytes || bytes > f->bytes - at) return fail(f, "an offset leaves the file");
    return true;
}

static struct hd_fb_table table_at(struct hd_fb *f, size_t at) {
    struct hd_fb_table t = {0}, none = {0};
    if (!at || !inside(f, at, 4)) return none;
    int64_t vtable = (int64_t)at - number(f->data + at, 4);
    if (vtable < 0 || !inside(f, (size_t)vtable, 4)) {
        fail(f, "a table has no vtable in the file");
        return none;
    }
    t.vtable = (size_t)vtable;
    t.vtable_bytes = (size_t)(number(f->data + t.vtable, 2) & 0xffff);
    t.size = (size_t)(number(f->data + t.vtable + 2, 2) & 0xffff);
    if (t.vtable_bytes < 4 || t.vtable_bytes % 2 || t.size < 4) {
        fail(f, "a vtable has an impossible size");
        return none;
    }
    if (!inside(f, t.vtable, t.vtable_bytes) || !inside(f, at, t.size)) return none;
    t.at = at;
    return t;
}

/* Where an offset at `at` leads; 0 = nowhere. */
static size_t follow(struct hd_fb *f, size_t at) {
    if (!inside(f, at, 4)) return 0;
    size_t to = at + (uint32_t)number(f->data + at, 4);
    if (to == at || !inside(f, to, 4)) {
        fail(f, "an offset leaves the file");
        return 0;
    }
    return to;
}

struct hd_fb_table hd_fb_root(struct hd_fb *f) {
    if (f->bytes < 8) {
        fail(f, "it is cut short");
        return (struct hd_fb_table){0};
    }
    return table_at(f, follow(f, 0));
}

/* Where a field of `bytes` bytes lies; 0 = absent. */
static size_t field_at(struct hd_fb *f, const struct hd_fb_table *t, int field, size_t bytes) {
    size_t slot = 4 + 2 * (size_t)field;
    if (f->bad || !t->at || slot + 2 > t->vtable_bytes) return 0;
    size_t offset = (size_t)(number(f->data + t->vtable + slot, 2) & 0xffff);
    if (!offset) return 0;
    if (offset < 4 || offset + bytes > t->size) {
        fail(f, "a field lies outside its table");
        return 0;
    }
    return t->at + offset;
}

int64_t hd_fb_int(struct hd_fb *f, const struct hd_fb_table *t, int field, int bytes, int64_t def) {
    size_t at = field_at(f, t, field, (size_t)bytes);
    return at ? number(f->data + at, bytes) : def;
}

float hd_fb_float(struct hd_fb *f, const struct hd_fb_table *t, int field, float def) {
    size_t at = field_at(f, t, field, 4);
    float v = def;
    if (at) memcpy(&v, f->data + at, 4);
    return v;
}

struct hd_fb_table hd_fb_table(struct hd_fb *f, const struct hd_fb_table *t, int field) {
    size_t at = field_at(f, t, field, 4);
    return at ? table_at(f, follow(f, at)) : (struct hd_fb_table){0};
}

struct hd_fb_vector hd_fb_vector(struct hd_fb *f, const struct hd_fb_table *t, int field,
                                 int item_bytes) {
    struct hd_fb_vector v = {.item_bytes = (uint32_t)item_bytes}, none = v;
    size_t at = field_at(f, t, field, 4);
    size_t to = at ? follow(f, at) : 0;
    if (!to) return none;
    v.n = (uint32_t)number(f->data + to, 4);
    if ((uint64_t)v.n * v.item_bytes > f->bytes - to - 4) {
        fail(f, "a vector is longer than what is left of the file");
        return none;
    }
    v.data = v.n ? f->data + to + 4 : NULL;
    return v;
}

int64_t hd_fb_item(const struct hd_fb_vector *v, uint32_t i) {
    return number(v->data + (size_t)i * v->item_bytes, (int)v->item_bytes);
}

float hd_fb_item_float(const struct hd_fb_vector *v, uint32_t i) {
    float x;
    memcpy(&x, v->data + (size_t)i * 4, 4);
    return x;
}

struct hd_fb_table hd_fb_element(struct hd_fb *f, const struct hd_fb_vector *v, uint32_t i) {
    return table_at(f, follow(f, (size_t)(v->data - f->data) + 4 * (size_t)i));
}
