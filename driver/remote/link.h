/* A connection to heddle serve on a host: started, greeted, asked, closed. For the client's files.
 *
 * A host is the name that a command such as ssh takes, or the path of a Unix socket (it begins with
 * / or ./). The command is HEDDLE_REMOTE_COMMAND, run by sh, with the host in place of %h. */
#ifndef HD_REMOTE_LINK_H
#define HD_REMOTE_LINK_H

#include <sys/types.h>

#include "driver/remote/frame.h"

enum { HD_HOST_BYTES = 256, HD_COMMAND_BYTES = 1024 };
#define HD_REMOTE_COMMAND "ssh %h heddle serve --stdio"

struct hd_link {
    struct hd_wire wire;
    char host[HD_HOST_BYTES];
    pid_t pid; /* of the command, 0 = none */
    bool open, greeted;
    uint32_t number;      /* of the last question or post */
    uint32_t cores, busy; /* as greeted */
    char version[64];
};

/* Starts the command, or dials the socket; waits for nothing. command: NULL = as said above. */
hd_status hd_link_start(hd_ctx *ctx, struct hd_link *l, const char *host, const char *command);
/* The greeting, and ours: at most wait_ms. */
hd_status hd_link_greet(hd_ctx *ctx, struct hd_link *l, int wait_ms);
/* How long it may take: by a command it may begin with a password. */
int hd_link_greet_ms(const struct hd_link *l);
void hd_link_close(struct hd_link *l); /* closed already is fine */

/* What fails with the connection closes it: l->open says so afterwards. What the other side refuses
 * fails with its status and words, and leaves it open. */
hd_status hd_link_post(hd_ctx *ctx, struct hd_link *l, uint32_t kind, const void *data,
                       size_t bytes);
/* The next frame of the answer to question `number`; `alive` is taken out. An error is returned as
 * one. wait_ms: for the whole, < 0 = for ever, then HD_DEVICE and *out_late. HD_CANCELLED: ctx was
 * cancelled, and the answer may come yet. */
hd_status hd_link_next(hd_ctx *ctx, struct hd_link *l, uint32_t number, int64_t wait_ms,
                       struct hd_frame *out, bool *out_late);
/* Closes and gives s when the answer to a question is not waited for any more. */
hd_status hd_link_leave(struct hd_link *l, hd_status s);
/* Post, and an answer that is `ok` or a frame of kind `other`. *out_kind: which. */
hd_status hd_link_ask(hd_ctx *ctx, struct hd_link *l, uint32_t kind, const void *data, size_t bytes,
                      uint32_t other, int64_t wait_ms, uint32_t *out_kind);
/* Closes because an answer is late, or because of what the other side sent. */
hd_status hd_link_late(hd_ctx *ctx, struct hd_link *l);
hd_status hd_link_lies(hd_ctx *ctx, struct hd_link *l, const char *what);

#endif
