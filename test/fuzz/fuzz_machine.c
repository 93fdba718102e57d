/* Any text as a machine file: is refused with a message, or is a machine that the checks take. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "isa/isa.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[64];
    int fd = memfd_create("machine", 0);
    if (fd < 0) return 0;
    hd_ctx *ctx = hd_ctx_create();
    struct hd_machine m;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (write(fd, data, size) == (ssize_t)size && hd_machine_load(ctx, path, &m) == HD_OK)
        HD_ASSERT(hd_machine_check(ctx, &m) == HD_OK);
    hd_ctx_destroy(ctx);
    close(fd);
    return 0;
}
