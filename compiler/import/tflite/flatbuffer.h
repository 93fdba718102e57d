/* FlatBuffers, read in place: no copy, no allocation. Every access checks offsets, vtables and
 * lengths against the file; the first that is wrong sets `bad`, and everything after it reads as
 * absent. Tables are reached by fixed paths, so there is no recursion.
 *
 *   struct hd_fb f = hd_fb_open(data, bytes);
 *   struct hd_fb_table model = hd_fb_root(&f);
 *   struct hd_fb_vector v = hd_fb_vector(&f, &model, 2, 4);
 *   for (uint32_t i = 0; i < v.n; i++) { struct hd_fb_table t = hd_fb_element(&f, &v, i); ... }
 *   if (f.bad) ...
 */
#ifndef HD_IMPORT_FLATBUFFER_H
#define HD_IMPORT_FLATBUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hd_fb {
    const uint8_t *data;
    size_t bytes;
    const char *bad; /* what was wrong first; NULL = nothing yet */
};

struct hd_fb_table {
    size_t at, size;             /* of its fields in the file; at = 0: there is no such table */
    size_t vtable, vtable_bytes; /* with its head of 4 bytes */
};

struct hd_fb_vector {
    const uint8_t *data; /* of element 0; NULL when n = 0 */
    uint32_t n;
    uint32_t item_bytes;
};

struct hd_fb hd_fb_open(const void *data, size_t bytes);
struct hd_fb_table hd_fb_root(struct hd_fb *f);
/* A field that is absent gives the default. bytes: 1, 2, 4 or 8, signed. */
int64_t hd_fb_int(struct hd_fb *f, const struct hd_fb_table *t, int field, int bytes, int64_t def);
float hd_fb_float(struct hd_fb *f, const struct hd_fb_table *t, int field, float def);
struct hd_fb_table hd_fb_table(struct hd_fb *f, const struct hd_fb_table *t, int field);
struct hd_fb_vector hd_fb_vector(struct hd_fb *f, const struct hd_fb_table *t, int field,
                                 int item_bytes);
/* Item i < v->n of a vector of signed numbers. */
int64_t hd_fb_item(const struct hd_fb_vector *v, uint32_t i);
float hd_fb_item_float(const struct hd_fb_vector *v, uint32_t i);
/* Table i < v->n of a vector of tables, which has items of 4 bytes. */
struct hd_fb_table hd_fb_element(struct hd_fb *f, const struct hd_fb_vector *v, uint32_t i);

#endif
