/* Processes that work on one thing together, started by mpirun. A process that was started alone is
 * the only rank, and needs no MPI.
 *
 *   hd_ranks *r = NULL;
 *   TRY(hd_ranks_open(ctx, &r));
 *   if (hd_ranks_me(r) == 0) ..
 *   hd_ranks_close(r);
 *
 * MPI is in a plug-in, libhd_mpi.so, built where Open MPI's mpi.h is installed. A rank that dies
 * ends the others: mpirun sees to that. */
#ifndef HD_RANKS_RANKS_H
#define HD_RANKS_RANKS_H

#include <stddef.h>

#include "runtime/base/status.h"

typedef struct hd_ranks hd_ranks;

/* Once in a process. Errors: HD_UNSUPPORTED, mpirun started several and there is no plug-in. */
hd_status hd_ranks_open(hd_ctx *ctx, hd_ranks **out);
/* The same over a transport of the caller's. */
struct hd_mpi_api;
hd_status hd_ranks_over(hd_ctx *ctx, const struct hd_mpi_api *api, hd_ranks **out);
int hd_ranks_me(const hd_ranks *r); /* 0 .. n - 1 */
int hd_ranks_n(const hd_ranks *r);
/* Sends `bytes` to a rank while as many come from it. Both call; any thread may, one at a time. It
 * sleeps where it waits, since a core may be what the other rank needs. */
hd_status hd_ranks_exchange(hd_ctx *ctx, hd_ranks *r, int with, const void *send, void *receive,
                            size_t bytes);
/* A message to a rank; one from a rank, or from any (-1): *out_from, *out_bytes, at most `room`. */
hd_status hd_ranks_send(hd_ctx *ctx, hd_ranks *r, int to, const void *data, size_t bytes);
hd_status hd_ranks_receive(hd_ctx *ctx, hd_ranks *r, int from, void *data, size_t room,
                           int *out_from, size_t *out_bytes);
/* Whether one from a rank, or from any (-1), is there. Waiting ranks ask and sleep: MPI's own waits
 * keep a core busy. */
hd_status hd_ranks_waiting(hd_ctx *ctx, hd_ranks *r, int from, bool *out);
/* Waits for all. After an error of one rank: ends all with this message. NULL is fine. */
void hd_ranks_close(hd_ranks *r);
void hd_ranks_abort(hd_ranks *r);

/* The plug-in: one symbol, HD_MPI_ENTRY, of this type. Functions give 0, or an error of MPI. */
#define HD_MPI_ENTRY "hd_mpi_api"
enum { HD_MPI_API = 2 };
struct hd_mpi_api {
    int version;
    int (*open)(int *out_me, int *out_n);
    int (*exchange)(int with, const void *send, void *receive, size_t bytes);
    int (*send)(int to, const void *data, size_t bytes);
    int (*receive)(int from, void *data, size_t room, int *out_from, size_t *out_bytes);
    int (*waiting)(int from, int *out);
    void (*close)(void);
    void (*abort)(void);
};

#endif
