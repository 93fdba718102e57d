/* Ranks: see ranks.h. */
#include "runtime/ranks/ranks.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "runtime/base/plugin.h"

#define MPI_FILE "libhd_mpi.so"

struct hd_ranks {
    const struct hd_mpi_api *mpi; /* NULL: alone */
    int me, n;
};

/* mpirun tells its processes so: Open MPI, MPICH and its kin, Slurm's srun with PMI. */
static bool started_together(void) {
    const char *n = getenv("OMPI_COMM_WORLD_SIZE");
    if (!n) n = getenv("PMI_SIZE");
    return n && atoi(n) > 1;
}

static hd_status does_not_start(hd_ctx *ctx, const char *why) {
    return hd_fail(ctx, HD_UNSUPPORTED,
                   "mpirun started several processes, and %s: install Debian's libopenmpi-dev and "
                   "openmpi-bin, then build again",
                   why);
}

hd_status hd_ranks_over(hd_ctx *ctx, const struct hd_mpi_api *api, hd_ranks **out) {
    hd_ranks *r = calloc(1, sizeof *r);
    if (!r) return hd_fail(ctx, HD_NOMEM, "no memory for ranks");
    r->mpi = api;
    if (api->version != HD_MPI_API || api->open(&r->me, &r->n)) {
        free(r);
        return does_not_start(ctx, "MPI does not start");
    }
    *out = r;
    return HD_OK;
}

hd_status hd_ranks_open(hd_ctx *ctx, hd_ranks **out) {
    hd_ranks alone = {.n = 1}, *r = malloc(sizeof *r);
    if (!r) return hd_fail(ctx, HD_NOMEM, "no memory for ranks");
    *r = alone;
    if (started_together()) {
        void *lib = hd_plugin_open(MPI_FILE, HD_PLUGIN_GLOBAL);
        const struct hd_mpi_api *api = lib ? dlsym(lib, HD_MPI_ENTRY) : NULL;
        free(r);
        if (api) return hd_ranks_over(ctx, api, out);
        return does_not_start(ctx, "there is no " MPI_FILE);
    }
    *out = r;
    return HD_OK;
}

int hd_ranks_me(const hd_ranks *r) {
    return r->me;
}

int hd_ranks_n(const hd_ranks *r) {
    return r->n;
}

static hd_status status_of(hd_ctx *ctx, int error, const char *what, int with) {
    return error ? hd_fail(ctx, HD_IO, "%s rank %d: MPI error %d", what, with, error) : HD_OK;
}

hd_status hd_ranks_exchange(hd_ctx *ctx, hd_ranks *r, int with, const void *send, void *receive,
                            size_t bytes) {
    return status_of(ctx, r->mpi->exchange(with, send, receive, bytes), "exchanging with", with);
}

hd_status hd_ranks_send(hd_ctx *ctx, hd_ranks *r, int to, const void *data, size_t bytes) {
    return status_of(ctx, r->mpi->send(to, data, bytes), "sending to", to);
}

hd_status hd_ranks_receive(hd_ctx *ctx, hd_ranks *r, int from, void *data, size_t room,
                           int *out_from, size_t *out_bytes) {
    return status_of(ctx, r->mpi->receive(from, data, room, out_from, out_bytes), "receiving from",
                     from);
}

hd_status hd_ranks_waiting(hd_ctx *ctx, hd_ranks *r, int from, bool *out) {
    int is = 0;
    TRY(status_of(ctx, r->mpi->waiting(from, &is), "asking for messages of", from));
    *out = is != 0;
    return HD_OK;
}

void hd_ranks_close(hd_ranks *r) {
    if (r && r->mpi) r->mpi->close();
    free(r);
}

void hd_ranks_abort(hd_ranks *r) {
    if (r && r->mpi) r->mpi->abort();
}
