/* Arena over a chain of blocks. */
#include "runtime/base/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/memory.h"
#include "runtime/base/status.h"

enum { ALIGN = 64, BLOCK_BYTES = 1 << 16 };

struct block {
    struct block *next;
    size_t used, size;
    void *owned; /* of malloc, or NULL */
};

struct hd_arena {
    struct block *head;
};

hd_arena *hd_arena_create(void) {
    hd_arena *a = calloc(1, sizeof *a);
    HD_MEMORY(a);
    return a;
}

/* The bytes that its blocks had. */
static size_t free_blocks(hd_arena *a) {
    size_t total = 0;
    for (struct block *b = a->head, *next; b; b = next) {
        next = b->next;
        total += b->size;
        free(b->owned);
        free(b);
    }
    a->head = NULL;
    return total;
}

void hd_arena_destroy(hd_arena *a) {
    if (a) free_blocks(a);
    free(a);
}

bool hd_arena_reserve(hd_arena *a, size_t bytes) {
    if (a->head && a->head->size - a->head->used >= bytes) return true;
    if (bytes > SIZE_MAX / 2) return false;
    size_t size = ALIGN + (bytes + ALIGN - 1) / ALIGN * ALIGN;
    struct block *b = aligned_alloc(ALIGN, size);
    if (!b) return false;
    *b = (struct block){.next = a->head, .used = ALIGN, .size = size};
    a->head = b;
    return true;
}

void hd_arena_reset(hd_arena *a) {
    if (!a->head) return;
    if (a->head->next && !hd_arena_reserve(a, free_blocks(a))) return;
    *a->head = (struct block){.used = ALIGN, .size = a->head->size};
}

void hd_arena_own(hd_arena *a, void *p) {
    hd_alloc(a, 1);
    struct block *b = aligned_alloc(ALIGN, ALIGN);
    HD_MEMORY(b);
    *b = (struct block){.next = a->head->next, .used = ALIGN, .size = ALIGN, .owned = p};
    a->head->next = b;
}

/* Not zeroed. */
static void *take(hd_arena *a, size_t bytes) {
    HD_ASSERT(bytes < SIZE_MAX / 2);
    size_t need = (bytes + ALIGN - 1) / ALIGN * ALIGN;
    if (!a->head || a->head->size - a->head->used < need) {
        size_t size = ALIGN + (need > BLOCK_BYTES ? need : BLOCK_BYTES);
        struct block *b = aligned_alloc(ALIGN, size);
        HD_MEMORY(b);
        *b = (struct block){.next = a->head, .used = ALIGN, .size = size};
        if (need > BLOCK_BYTES / 2 && a->head) { /* keep filling the old small block */
            b->next = a->head->next;
            a->head->next = b;
            b->used += need;
            return (char *)b + ALIGN;
        }
        a->head = b;
    }
    void *p = (char *)a->head + a->head->used;
    a->head->used += need;
    return p;
}

void *hd_alloc(hd_arena *a, size_t bytes) {
    void *p = take(a, bytes);
    return memset(p, 0, bytes);
}

void *hd_dup(hd_arena *a, const void *src, size_t bytes) {
    void *p = take(a, bytes);
    return bytes ? memcpy(p, src, bytes) : p;
}

char *hd_strndup(hd_arena *a, const char *s, size_t n) {
    char *p = hd_alloc(a, n + 1);
    memcpy(p, s, n);
    return p;
}

char *hd_strdup(hd_arena *a, const char *s) {
    return hd_strndup(a, s, strlen(s));
}

char *hd_sprintf(hd_arena *a, const char *fmt, ...) {
    va_list ap, ap2;
    va_start(ap, fmt);
    va_copy(ap2, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    HD_ASSERT(n >= 0);
    char *p = hd_alloc(a, (size_t)n + 1);
    vsnprintf(p, (size_t)n + 1, fmt, ap2);
    va_end(ap2);
    return p;
}

size_t hd_array_bytes(size_t n, size_t size) {
    HD_ASSERT(size == 0 || n <= SIZE_MAX / 2 / size);
    return n * size;
}

void *hd_grow(hd_arena *a, void *ptr, size_t *cap, size_t need, size_t item_bytes) {
    if (need <= *cap) return ptr;
    size_t new_cap = *cap ? *cap * 2 : 8;
    if (new_cap < need) new_cap = need;
    void *p = take(a, hd_array_bytes(new_cap, item_bytes));
    if (*cap) memcpy(p, ptr, *cap * item_bytes);
    *cap = new_cap;
    return p;
}
