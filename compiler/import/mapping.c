/* Mapped files: the model, and those beside it that hold data of tensors. */
#define _DEFAULT_SOURCE /* madvise */
#include "compiler/import/mapping.h"
#include "runtime/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* What Git LFS leaves in place of a file that was not fetched. */
static bool is_pointer(const struct hd_mapping *m) {
    static const char start[] = "version https://git-lfs.github.com/spec/";
    return m->bytes >= sizeof start && !memcmp(m->data, start, sizeof start - 1);
}

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
        else if (is_pointer(m)) {
            s = hd_fail(ctx, HD_INVALID,
                        "%s: Git LFS left a pointer in place of the file; run "
                        "'git lfs pull' in its repository",
                        path);
            munmap(m->data, m->bytes);
        }
    }
    close(fd);
    if (s == HD_OK)
        *out = m;
    else
        free(m);
    return s;
}

void hd_mapping_rest_all(void *first) {
    for (struct hd_mapping *m = first; m; m = m->next) madvise(m->data, m->bytes, MADV_DONTNEED);
}

void hd_mapping_close_all(void *first) {
    for (struct hd_mapping *m = first, *next; m; m = next) {
        next = m->next;
        munmap(m->data, m->bytes);
        free(m);
    }
}
