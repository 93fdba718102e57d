/* Unix sockets by path. -1 with errno where something fails; all are closed by exec. */
#ifndef HD_BASE_SOCKET_H
#define HD_BASE_SOCKET_H

/* A path is below HD_SOCKET_PATH bytes. */
enum { HD_SOCKET_PATH = 106 };

/* Tries for timeout_ms: the other side may not listen yet. */
int hd_socket_dial(const char *path, int timeout_ms);
int hd_socket_listen(const char *path);
/* The next who dials; timeout_ms < 0 waits for ever. */
int hd_socket_accept(int listener, int timeout_ms);

#endif
