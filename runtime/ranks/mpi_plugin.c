/* Plug-in libhd_mpi.so: ranks over MPI. */
#include <limits.h>
#include <mpi.h>
#include <time.h>

#include "runtime/ranks/ranks.h"

/* LARGEST: bytes of a message, since counts of MPI are int. */
enum { TAG = 7, LARGEST = 1 << 30, NAP_NS = 20000 };

static int open(int *out_me, int *out_n) {
    int level, error = MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level);
    if (!error) error = MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (!error) error = MPI_Comm_rank(MPI_COMM_WORLD, out_me);
    if (!error) error = MPI_Comm_size(MPI_COMM_WORLD, out_n);
    return error;
}

static int part(size_t bytes) {
    return bytes > LARGEST ? LARGEST : (int)bytes;
}

/* MPI's own waits keep a core busy, which this rank or another computes on. */
static int wait_both(MPI_Request both[2]) {
    const struct timespec nap = {0, NAP_NS};
    int done = 0, error = MPI_Testall(2, both, &done, MPI_STATUSES_IGNORE);
    while (!error && !done) {
        nanosleep(&nap, NULL);
        error = MPI_Testall(2, both, &done, MPI_STATUSES_IGNORE);
    }
    return error;
}

static int exchange(int with, const void *send, void *receive, size_t bytes) {
    int error = 0;
    for (size_t at = 0; at < bytes && !error; at += LARGEST) {
        MPI_Request both[2];
        int n = part(bytes - at);
        error = MPI_Irecv((char *)receive + at, n, MPI_BYTE, with, TAG, MPI_COMM_WORLD, &both[0]);
        if (!error)
            error = MPI_Isend((const char *)send + at, n, MPI_BYTE, with, TAG, MPI_COMM_WORLD,
                              &both[1]);
        if (!error) error = wait_both(both);
    }
    return error;
}

static int send(int to, const void *data, size_t bytes) {
    return bytes > LARGEST ? MPI_ERR_COUNT
                           : MPI_Send(data, (int)bytes, MPI_BYTE, to, TAG, MPI_COMM_WORLD);
}

static int receive(int from, void *data, size_t room, int *out_from, size_t *out_bytes) {
    MPI_Status s;
    int n = 0, source = from < 0 ? MPI_ANY_SOURCE : from;
    int error = MPI_Recv(data, part(room), MPI_BYTE, source, TAG, MPI_COMM_WORLD, &s);
    if (!error) error = MPI_Get_count(&s, MPI_BYTE, &n);
    if (!error) *out_from = s.MPI_SOURCE, *out_bytes = (size_t)n;
    return error;
}

static int waiting(int from, int *out) {
    return MPI_Iprobe(from < 0 ? MPI_ANY_SOURCE : from, TAG, MPI_COMM_WORLD, out,
                      MPI_STATUS_IGNORE);
}

static void finish(void) {
    MPI_Finalize();
}

static void stop(void) {
    MPI_Abort(MPI_COMM_WORLD, 1);
}

extern const struct hd_mpi_api hd_mpi_api;
const struct hd_mpi_api hd_mpi_api = {HD_MPI_API, open,    exchange, send,
                                      receive,    waiting, finish,   stop};
