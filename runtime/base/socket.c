/* Unix sockets by path. */
#include "runtime/base/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { BACKLOG = 16 };

static int unix_socket(const char *path, struct sockaddr_un *out) {
    *out = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof out->sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(out->sun_path, path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd >= 0) fcntl(fd, F_SETFD, FD_CLOEXEC);
    return fd;
}

static int closed(int fd) {
    int e = errno;
    close(fd);
    errno = e;
    return -1;
}

int hd_socket_dial(const char *path, int timeout_ms) {
    struct sockaddr_un a;
    for (int ms = 0;; ms += 5) {
        int fd = unix_socket(path, &a);
        if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof a) == 0) return fd;
        closed(fd);
        if (ms >= timeout_ms) return -1;
        nanosleep(&(struct timespec){0, 5000000}, NULL);
    }
}

int hd_socket_listen(const char *path) {
    struct sockaddr_un a;
    int fd = unix_socket(path, &a);
    if (fd < 0) return -1;
    if (bind(fd, (struct sockaddr *)&a, sizeof a) || listen(fd, BACKLOG)) return closed(fd);
    return fd;
}

int hd_socket_accept(int listener, int timeout_ms) {
    struct pollfd p = {listener, POLLIN, 0};
    int n;
    do {
        n = poll(&p, 1, timeout_ms);
    } while (n < 0 && errno == EINTR);
    if (n <= 0) {
        if (n == 0) errno = ETIMEDOUT;
        return -1;
    }
    int fd = accept(listener, NULL, NULL);
    if (fd >= 0) fcntl(fd, F_SETFD, FD_CLOEXEC);
    return fd;
}
