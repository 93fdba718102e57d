/* Files and byte strings: whole-file read, atomic write, bounds-checked cursor, growing buffer.
 * All numbers in files are little endian. */
#ifndef HD_BASE_IO_H
#define HD_BASE_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "runtime/base/arena.h"
#include "runtime/base/status.h"

enum { HD_FILE_MAX_MIB = 4096 }; /* larger files are refused before anything is allocated */

/* *out is malloc'd with one zero byte behind the end (so text needs no copy); the caller frees it.
 */
hd_status hd_file_read(hd_ctx *ctx, const char *path, void **out, size_t *out_bytes);
/* A file that has its name only when it is complete: path.tmp.PID, which close renames. Standard
 * output ("-"), devices and pipes are written as they are. */
struct hd_out {
    FILE *f; /* write here; errors are looked for by close */
    char *path, *tmp;
    int why; /* errno of a write that failed, when the writer knows */
};
hd_status hd_out_open(hd_ctx *ctx, const char *path, struct hd_out *out);
/* s is what the caller has come to: unless it is HD_OK, nothing is left. Gives s, or HD_IO. */
hd_status hd_out_close(hd_ctx *ctx, struct hd_out *out, hd_status s);
hd_status hd_file_write(hd_ctx *ctx, const char *path, const void *data, size_t bytes);

/* HD_IO when a file of this name cannot be written, asked before long work. */
hd_status hd_file_writable(hd_ctx *ctx, const char *path);
/* The same, and makes the folders that are missing. */
hd_status hd_file_prepare(hd_ctx *ctx, const char *path);

/* Folder of the shared library that holds this code, without the last slash; for one in a folder
 * glibc-hwcaps/NAME, the folder which that is in. False: the program itself holds it. */
bool hd_library_folder(char *out, size_t bytes);

/* Reads move forward; the first one past the end sets `bad`, and everything after it gives zero. */
struct hd_cursor {
    const unsigned char *data;
    size_t n, at;
    bool bad;
};

/* The next `bytes` bytes, or NULL (and bad) when they are not there. */
const void *hd_cursor_take(struct hd_cursor *c, uint64_t bytes);
uint32_t hd_cursor_u32(struct hd_cursor *c);
uint64_t hd_cursor_u64(struct hd_cursor *c);
/* A length-prefixed string, copied to the arena; "" when bad. Embedded zero bytes are bad. */
const char *hd_cursor_str(struct hd_cursor *c, hd_arena *a);
/* A count of items that take at least item_bytes each in what is left; bad when they cannot fit. */
int hd_cursor_count(struct hd_cursor *c, size_t item_bytes);

struct hd_buf { /* zeroed to begin; aborts when out of memory */
    unsigned char *data;
    size_t n, cap;
};

void hd_buf_put(struct hd_buf *b, const void *data, size_t bytes);
void hd_buf_u32(struct hd_buf *b, uint32_t v);
void hd_buf_u64(struct hd_buf *b, uint64_t v);
void hd_buf_str(struct hd_buf *b, const char *s); /* NULL as "" */
void hd_buf_free(struct hd_buf *b);

#endif
