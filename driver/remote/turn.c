/* A queue of processes in a folder. A place is a file whose name has the time at which it was
 * taken, locked by who waits or runs; a slot is a file that a run locks. */
#define _GNU_SOURCE /* flock */
#include "driver/remote/turn.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { NAME_BYTES = 96 };
static const struct timespec moment = {0, 2000000};
static const char place_prefix[] = "place-";

/* -1: another process has it, or removed the file between open and lock. */
static int lock(const char *path) {
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    struct stat s;
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &s) == 0 && s.st_nlink) return fd;
    if (fd >= 0) close(fd);
    return -1;
}

/* Whether the process of a place lives; the file of one that died is removed. */
static bool lives(const char *folder, const char *name) {
    char path[320];
    int n = snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = n < (int)sizeof path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0) return false;
    bool left = flock(fd, LOCK_EX | LOCK_NB) == 0;
    if (left) unlink(path);
    close(fd);
    return !left;
}

/* Places of `what` ("" = of all) that live and are before `name` (NULL = all). */
static int before(const char *folder, const char *what, const char *name) {
    char prefix[NAME_BYTES];
    int n = snprintf(prefix, sizeof prefix, "%s%s%s", place_prefix, what, *what ? "-" : ""),
        found = 0;
    DIR *dir = opendir(folder);
    if (!dir) return 0;
    for (struct dirent *e; (e = readdir(dir));)
        if (!strncmp(e->d_name, prefix, (size_t)n) && (!name || strcmp(e->d_name, name) < 0))
            found += lives(folder, e->d_name);
    closedir(dir);
    return found;
}

int hd_turn_busy(const char *folder) {
    return before(folder, "", NULL);
}

/* Also for children that have the descriptor, too. */
static void unlock(int fd) {
    flock(fd, LOCK_UN);
    close(fd);
}

void hd_turn_drop(struct hd_turn *t) {
    if (t->place >= 0) unlink(t->path);
    if (t->place >= 0) unlock(t->place);
    if (t->slot >= 0) unlock(t->slot);
    t->place = t->slot = -1;
}

bool hd_turn_take(struct hd_turn *t, const char *folder, const char *what, int slots, hd_ctx *ctx) {
    struct timespec now;
    char name[NAME_BYTES], path[320];
    clock_gettime(CLOCK_MONOTONIC, &now);
    *t = (struct hd_turn){.place = -1, .slot = -1};
    snprintf(name, sizeof name, "%s%s-%012" PRIu64 "%09ld-%ld", place_prefix, what,
             (uint64_t)now.tv_sec, now.tv_nsec, (long)getpid());
    if (snprintf(t->path, sizeof t->path, "%s/%s", folder, name) >= (int)sizeof t->path)
        return false;
    for (int i = 0; i < 50 && t->place < 0; i++) { /* one who looks may hold it for a moment */
        t->place = lock(t->path);
        if (t->place < 0) nanosleep(&moment, NULL);
    }
    if (t->place < 0) return false;
    for (;;) {
        int first = before(folder, what, name);
        for (int i = 0; first < slots && i < slots; i++) {
            if (snprintf(path, sizeof path, "%s/slot-%s-%d", folder, what, i) >= (int)sizeof path)
                break;
            t->slot = lock(path);
            if (t->slot >= 0) return true;
        }
        if (hd_continue(ctx) != HD_OK) {
            hd_turn_drop(t);
            return false;
        }
        nanosleep(&moment, NULL);
    }
}
