/* Any bytes as tensors: a .npz archive where they begin as one, else an .npy array. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "compiler/tensors/tensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Every element of what was read lies in memory. */
static double sum_of(const struct hd_file_tensor *t) {
    double sum = 0;
    size_t n = 1;
    for (int i = 0; i < t->rank; i++) n *= (size_t)t->dim[i];
    for (size_t i = 0; i < n; i++) sum += hd_element(t->data, t->dtype, i);
    return sum;
}

static void archive(hd_ctx *ctx, hd_arena *a, const uint8_t *data, size_t size) {
    char path[64];
    struct hd_file_tensor *t = NULL;
    int n = 0, fd = memfd_create("npz", 0);
    if (fd < 0) return;
    if (write(fd, data, size) == (ssize_t)size) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        if (hd_load_npz(ctx, a, path, &t, &n) == HD_OK)
            for (int i = 0; i < n; i++) sum_of(&t[i]);
    }
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    hd_ctx *ctx = hd_ctx_create();
    hd_arena *a = hd_arena_create();
    struct hd_file_tensor t;
    if (size > 1 && !memcmp(data, "PK", 2))
        archive(ctx, a, data, size);
    else if (hd_load_npy(ctx, a, data, size, "fuzz", &t) == HD_OK)
        sum_of(&t);
    hd_arena_destroy(a);
    hd_ctx_destroy(ctx);
    return 0;
}
