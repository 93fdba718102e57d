/* Whose turn it is: runs of one computer that share a board, or its cores, come in the order in
 * which they were asked for. Locks of files, so a process that dies gives up its place. */
#ifndef HD_REMOTE_TURN_H
#define HD_REMOTE_TURN_H

#include "runtime/device/hal.h"

struct hd_turn {
    int place, slot; /* locked files, -1 = none */
    char path[320];  /* of the place */
};

/* In `folder`, of `slots` that are called `what`. Waits until it is the turn of the caller; false:
 * it was cancelled first, or the folder cannot be used. */
bool hd_turn_take(struct hd_turn *t, const char *folder, const char *what, int slots, hd_ctx *ctx);
void hd_turn_drop(struct hd_turn *t);
/* Runs that have their turn or wait for it. */
int hd_turn_busy(const char *folder);

#endif
