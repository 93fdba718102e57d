/* Arena: many small allocations with one owner, freed together. Aborts when memory runs out, so
 * sizes that come from files are checked (hd_size_mul and a limit) before they get here. */
#ifndef HD_BASE_ARENA_H
#define HD_BASE_ARENA_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef struct hd_arena hd_arena;
hd_arena *hd_arena_create(void);
void hd_arena_destroy(hd_arena *a); /* NULL is fine */
/* Makes room for `bytes`, each allocation rounded up to 64, without further memory of the system.
 * False: there is none. */
bool hd_arena_reserve(hd_arena *a, size_t bytes);
/* Forgets all allocations and keeps the room, as one block: the same allocations again need no
 * memory of the system. */
void hd_arena_reset(hd_arena *a);

void hd_arena_own(hd_arena *a, void *p);   /* p is malloc's: it is freed with the arena */
void *hd_alloc(hd_arena *a, size_t bytes); /* zeroed, 64-byte aligned */
void *hd_dup(hd_arena *a, const void *src, size_t bytes);
char *hd_strdup(hd_arena *a, const char *s);
char *hd_strndup(hd_arena *a, const char *s, size_t n);
char *hd_sprintf(hd_arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#define hd_new(a, type)          ((type *)hd_alloc((a), sizeof(type)))
#define hd_new_array(a, type, n) ((type *)hd_alloc((a), hd_array_bytes((n), sizeof(type))))
size_t hd_array_bytes(size_t n, size_t size); /* n * size; asserts that it does not overflow */

/* Grows `ptr` of *cap items so that it holds at least `need`; what is new is not set, so that room
 * which nobody uses costs no memory. The old block stays in the arena. */
void *hd_grow(hd_arena *a, void *ptr, size_t *cap, size_t need, size_t item_bytes);
/* vec_push: T *items; size_t n, cap; -> pointer to the new, zeroed item. */
#define hd_push(a, items, n, cap)                                                                  \
    ((items) = hd_grow((a), (items), &(cap), (n) + 1, sizeof *(items)),                            \
     memset(&(items)[n], 0, sizeof *(items)), &(items)[(n)++])

#endif
