/* Folders of emulated devices: locks, and removal of those that nobody holds. */
#define _GNU_SOURCE /* nftw, flock */
#include "driver/emu_left.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PATH_BYTES = 1024, YOUNG_SECONDS = 60 };
static const char log_name[] = "/emulation_debug.log";

bool hd_emu_log_path(char *out, size_t bytes) {
    ssize_t n = readlink("/proc/self/exe", out, bytes - 1);
    if (n <= 0) return false;
    out[n] = 0;
    char *slash = strrchr(out, '/');
    if (!slash || (size_t)(slash - out) + sizeof log_name > bytes) return false;
    strcpy(slash, log_name);
    return true;
}

int hd_emu_claim(const char *folder) {
    char path[PATH_BYTES + 16], log[PATH_BYTES] = "";
    snprintf(path, sizeof path, "%s/owner", folder);
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) return -1;
    hd_emu_log_path(log, sizeof log);
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 && write(fd, log, strlen(log)) == (ssize_t)strlen(log))
        return fd;
    close(fd);
    return -1;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at) {
    (void)st;
    (void)kind;
    (void)at;
    remove(path);
    return 0;
}

void hd_emu_remove(const char *folder) {
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* True when its process is gone; then the log that it names is removed. A folder without the file
 * is one that is being made, unless it is old. */
static bool left_over(const char *folder, const struct stat *st) {
    char path[PATH_BYTES + 16], log[PATH_BYTES];
    snprintf(path, sizeof path, "%s/owner", folder);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) return time(NULL) - st->st_mtime > YOUNG_SECONDS;
    bool left = flock(fd, LOCK_EX | LOCK_NB) == 0;
    ssize_t n = left ? read(fd, log, sizeof log - 1) : 0;
    if (n > (ssize_t)strlen(log_name)) {
        log[n] = 0;
        if (!strcmp(log + n - strlen(log_name), log_name)) unlink(log);
    }
    close(fd);
    return left;
}

void hd_emu_sweep(void) {
    static const char prefix[] = "heddle-xrt-";
    DIR *tmp = opendir("/tmp");
    if (!tmp) return;
    for (struct dirent *e; (e = readdir(tmp));) {
        char folder[PATH_BYTES];
        struct stat st;
        if (strncmp(e->d_name, prefix, strlen(prefix)) != 0 ||
            strlen(e->d_name) != strlen(prefix) + 6)
            continue;
        snprintf(folder, sizeof folder, "/tmp/%.64s", e->d_name);
        if (lstat(folder, &st) || !S_ISDIR(st.st_mode) || st.st_uid != getuid()) continue;
        if (left_over(folder, &st)) hd_emu_remove(folder);
    }
    closedir(tmp);
}
