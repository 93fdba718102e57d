/* Mapped files: the model, and those beside it that hold data of tensors. */
#include "compiler/import/mapping.h"
#include "runtime/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

hd_status hd_mapping_open(hd_ctx *ctx, const char *path, struct hd_mapping **out) {
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return hd_fail(ctx, HD_IO, "%s: %s", path, strerror(errno));
    struct hd_mapping *m = calloc(1, sizeof *m);
    HD_MEMORY(m);
    hd_status s = HD_OK;
    if (fstat(fd, &st) || !S_ISREG(st.st_mode))
        s = hd_fail(ctx, HD_IO, "%s: not a regular file", path);
    else if (st.st_size == 0)
        s = hd_fail(ctx, HD_INVALID, "%s: the file is empty", path);
    else {
        m->bytes = (size_t)st.st_size;
        m->data = mmap(NULL, m->bytes, PROT_READ, MAP_PRIVATE, fd, 0);
        if (m->data == MAP_FAILED)
            s = hd_fail(ctx, HD_IO, "%s: cannot be mapped: %s", path, strerror(errno));
    }
    close(fd);
    if (s == HD_OK)
        *out = m;
    else
        free(m);
    return s;
}

void hd_mapping_close_all(void *first) {
    for (struct hd_mapping *m = first, *next; m; m = next) {
        next = m->next;
        munmap(m->data, m->bytes);
        free(m);
    }
}
