/* Moves by NCCL: see nccl.h. Source of calls and numbers: nccl.h of NCCL 2. */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include "gpu_ref/nccl.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "gpu_ref/cuda_api.h"

enum { TYPE_BYTES = 0 }; /* ncclInt8 */

struct id { /* ncclUniqueId, which is passed by value */
    char bytes[HD_PEERS_ID];
};

#define NCCL_CALLS(X)                                                                              \
    X(ncclGetUniqueId, (struct id * out))                                                          \
    X(ncclCommInitRank, (void **out, int n, struct id id, int me))                                 \
    X(ncclCommDestroy, (void *comm))                                                               \
    X(ncclCommAbort, (void *comm))                                                                 \
    X(ncclGroupStart, (void))                                                                      \
    X(ncclGroupEnd, (void))                                                                        \
    X(ncclAllGather, (const void *from, void *to, size_t n, int type, void *comm, void *stream))

static struct {
#define X(name, args) int(*name) args;
    NCCL_CALLS(X)
#undef X
    const char *(*ncclGetErrorString)(int status);
} nccl;
static bool is_here;

struct hd_nccl {
    void *comm;
    bool broken; /* others may wait for what never comes */
};

static void open_library(void) {
    static const char *const name[] = {"libnccl.so.2", "libnccl.so"};
    void *lib;
    is_here = hd_cuda_library("ncclCommInitRank", name, 2, &lib);
#define X(name, args)                                                                              \
    if (is_here) {                                                                                 \
        *(void **)&nccl.name = dlsym(lib, #name);                                                  \
        is_here = nccl.name != NULL;                                                               \
    }
    NCCL_CALLS(X)
    X(ncclGetErrorString, )
#undef X
}

const char *hd_nccl_why_not(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const char *off = hd_cuda_library_off("nccl");
    if (off) return off;
    pthread_once(&once, open_library);
    return is_here ? NULL : "libnccl.so.2 is not here, which is NVIDIA's package libnccl2";
}

static hd_status failed(hd_ctx *ctx, const char *call, int status) {
    return hd_fail(ctx, HD_DEVICE,
                   "cuda: %s: status %d (%s); NCCL_DEBUG=WARN says more. Each rank wants a GPU of "
                   "its own; HEDDLE_CUDA_LIBRARIES=none exchanges by MPI",
                   call, status, nccl.ncclGetErrorString(status));
}

hd_status hd_nccl_id(hd_ctx *ctx, void *out) {
    struct id id = {{0}};
    int status = nccl.ncclGetUniqueId(&id);
    if (status) return failed(ctx, "ncclGetUniqueId", status);
    memcpy(out, &id, sizeof id);
    return HD_OK;
}

hd_status hd_nccl_open(hd_ctx *ctx, const void *id, int me, int n, struct hd_nccl **out) {
    struct id of;
    struct hd_nccl *c = calloc(1, sizeof *c);
    if (!c) return hd_fail(ctx, HD_NOMEM, "cuda: no memory for NCCL");
    memcpy(&of, id, sizeof of);
    int status = nccl.ncclCommInitRank(&c->comm, n, of, me);
    if (status) {
        free(c);
        return failed(ctx, "ncclCommInitRank", status);
    }
    *out = c;
    return HD_OK;
}

void hd_nccl_close(struct hd_nccl *c) {
    if (!c) return;
    if (c->broken)
        nccl.ncclCommAbort(c->comm);
    else
        nccl.ncclCommDestroy(c->comm);
    free(c);
}

void hd_nccl_break(struct hd_nccl *c) {
    c->broken = true;
}

/* A group that has begun is ended, whatever happened in it. */
hd_status hd_nccl_gather(hd_ctx *ctx, struct hd_nccl *c, const struct hd_nccl_move *move, int n,
                         void *stream) {
    int status = nccl.ncclGroupStart();
    if (status) return failed(ctx, "ncclGroupStart", status);
    for (int i = 0; i < n && !status; i++)
        status =
            nccl.ncclAllGather((const void *)(uintptr_t)move[i].from, (void *)(uintptr_t)move[i].to,
                               move[i].bytes, TYPE_BYTES, c->comm, stream);
    int end = nccl.ncclGroupEnd();
    c->broken = c->broken || status || end;
    if (status) return failed(ctx, "ncclAllGather", status);
    return end ? failed(ctx, "ncclGroupEnd", end) : HD_OK;
}
