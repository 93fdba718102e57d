/* heddle serve at a Unix socket: a process for each client, so that one which crashes or hangs is
 * the trouble of its client alone. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "driver/remote/remote.h"
#include "runtime/base/socket.h"

enum { CLIENTS_MAX = 64, LOOK_MS = 200, END_MS = 2000 };

hd_status hd_remote_folder(hd_ctx *ctx, char *out, size_t bytes) {
    const char *xdg = getenv("XDG_RUNTIME_DIR");
    struct stat st;
    int n = xdg && *xdg == '/' ? snprintf(out, bytes, "%s/heddle", xdg)
                               : snprintf(out, bytes, "/tmp/heddle-%ld", (long)getuid());
    if (n < 0 || (size_t)n >= bytes)
        return hd_fail(ctx, HD_INVALID, "XDG_RUNTIME_DIR: its path has more than %zu bytes", bytes);
    if (mkdir(out, 0700) && errno != EEXIST)
        return hd_fail(ctx, HD_IO, "%s: cannot make the folder: %s", out, strerror(errno));
    if (lstat(out, &st) || !S_ISDIR(st.st_mode) || st.st_uid != getuid() || (st.st_mode & 022))
        return hd_fail(ctx, HD_IO,
                       "%s: want a folder that belongs to user %ld and nobody else can write; "
                       "remove what is there, or set XDG_RUNTIME_DIR",
                       out, (long)getuid());
    return HD_OK;
}

/* Takes a name that a server which died has left. */
static hd_status bind_path(hd_ctx *ctx, const char *path, int mode, int *out) {
    struct stat st;
    int other = hd_socket_dial(path, 0);
    if (other >= 0) {
        close(other);
        return hd_fail(ctx, HD_IO, "%s: another heddle serve listens there; choose another path",
                       path);
    }
    if (lstat(path, &st) == 0 && S_ISSOCK(st.st_mode)) unlink(path);
    mode_t mask = umask(0177); /* nobody else before it has its permissions */
    *out = hd_socket_listen(path);
    umask(mask);
    if (*out < 0)
        return hd_fail(ctx, HD_IO, "%s: cannot listen: %s (a path of at most %d bytes)", path,
                       strerror(errno), HD_SOCKET_PATH);
    if (chmod(path, (mode_t)mode))
        return hd_fail(ctx, HD_IO, "%s: cannot set its permissions: %s", path, strerror(errno));
    return HD_OK;
}

/* The client's process. */
static _Noreturn void serve_one(const struct hd_serve_options *o, int fd) {
    hd_ctx *ctx = hd_ctx_create();
    hd_status s = hd_serve(ctx, o, fd, fd);
    if (s) fprintf(stderr, "heddle serve: process %ld: %s\n", (long)getpid(), hd_message(ctx));
    _exit(s ? 1 : 0);
}

static void reap(pid_t *pid, int *n) {
    for (int i = 0; i < *n;)
        if (waitpid(pid[i], NULL, WNOHANG) != 0)
            pid[i] = pid[--*n];
        else
            i++;
}

/* Signals that end the server are blocked, and looked for between clients. */
static void take_clients(const struct hd_serve_options *o, int listener, const sigset_t *ends) {
    const struct timespec now = {0, 0};
    pid_t pid[CLIENTS_MAX];
    int n = 0;
    while (sigtimedwait(ends, NULL, &now) < 0) {
        reap(pid, &n);
        int fd = n < CLIENTS_MAX ? hd_socket_accept(listener, LOOK_MS) : -1;
        if (n == CLIENTS_MAX) nanosleep(&(struct timespec){0, LOOK_MS * 1000000L}, NULL);
        if (fd < 0) continue;
        pid_t child = fork();
        if (child == 0) {
            sigprocmask(SIG_UNBLOCK, ends, NULL);
            close(listener);
            serve_one(o, fd);
        }
        if (child > 0) pid[n++] = child;
        close(fd);
    }
    for (int i = 0; i < n; i++) kill(pid[i], SIGTERM);
    for (int ms = 0; n && ms < END_MS; ms += 10) {
        reap(pid, &n);
        nanosleep(&(struct timespec){0, 10000000}, NULL);
    }
    for (int i = 0; i < n; i++) kill(pid[i], SIGKILL);
}

hd_status hd_serve_socket(hd_ctx *ctx, const struct hd_serve_options *o, const char *path,
                          int mode) {
    sigset_t ends;
    char folder[HD_SOCKET_PATH - 8], own[HD_SOCKET_PATH];
    int listener = -1;
    if (!path) {
        TRY(hd_remote_folder(ctx, folder, sizeof folder));
        snprintf(own, sizeof own, "%s/socket", folder);
        path = own;
    }
    TRY(bind_path(ctx, path, mode, &listener));
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    sigprocmask(SIG_BLOCK, &ends, NULL);
    fprintf(stderr, "heddle serve: listening at %s\n", path);
    take_clients(o, listener, &ends);
    sigprocmask(SIG_UNBLOCK, &ends, NULL);
    close(listener);
    unlink(path);
    return HD_OK;
}
