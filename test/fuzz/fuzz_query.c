/* Any text: is refused with a message, or is a selector. Its normal form must read back as the same
 * selector, and must mean the same operations. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/query/query.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int ok) {
    if (!ok) abort();
}

static struct hd_item_attr first[] = {{"cycles", NULL, 10}, {"dtype", "i8", 0}};
static struct hd_item_attr second[] = {{"cycles", NULL, 0.5}};
static const char *const labels[] = {"machine", "q"};
static const struct hd_item item[] = {
    {.type = "scope", .name = "a", .scope = -1, .is_scope = true},
    {.type = "scope", .name = "a/b", .scope = 0, .is_scope = true},
    {.type = "qconv",
     .name = "a/b/c",
     .labels = labels,
     .n_labels = 2,
     .attrs = first,
     .n_attrs = 2,
     .scope = 1},
    {.type = "relu",
     .name = "r",
     .inputs = (int[]){2},
     .n_inputs = 1,
     .attrs = second,
     .n_attrs = 1,
     .scope = -1},
    {.type = "qadd", .name = "a/d", .inputs = (int[]){2, 3}, .n_inputs = 2, .scope = 0},
};
static const struct hd_items items = {item, sizeof item / sizeof item[0], (const char *[]){"share"},
                                      1};

static void round_trip(hd_ctx *ctx, hd_arena *a, const char *text) {
    const struct hd_query *q, *again;
    if (hd_query_parse(ctx, a, text, &q) != HD_OK) {
        must(*hd_message(ctx));
        return;
    }
    const char *normal = hd_query_text(a, q);
    if (strlen(normal) > HD_QUERY_BYTES) return; /* quotes and spaces made it too long */
    must(hd_query_parse(ctx, a, normal, &again) == HD_OK);
    must(!strcmp(hd_query_text(a, again), normal));
    bool hit[8] = {0}, hit_again[8] = {0};
    int n;
    hd_query_attrs(a, q, &n);
    hd_status s = hd_query_match(ctx, q, &items, hit);
    must(s == hd_query_match(ctx, again, &items, hit_again));
    if (s == HD_OK) must(!memcmp(hit, hit_again, sizeof hit));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    hd_ctx *ctx = hd_ctx_create();
    hd_arena *a = hd_arena_create();
    round_trip(ctx, a, hd_strndup(a, (const char *)data, size));
    hd_arena_destroy(a);
    hd_ctx_destroy(ctx);
    return 0;
}
