/* NCCL on a computer without it, for tests: takes note of what is made and given back, refuses what
 * it would refuse, fails where it is told to, and moves when the stream is waited for.
 * hd_nccl_why_not finds these symbols in the program. Behind cuda_stand_in.h. */
#ifndef HD_TEST_GPU_NCCL_STAND_IN_H
#define HD_TEST_GPU_NCCL_STAND_IN_H

#include "test/gpu/cuda_stand_in.h"

enum { NCCL_OPS = 256 };

struct nccl_id {
    char bytes[128];
};
struct nccl_comm {
    int me, n;
};
struct nccl_op {
    const char *from;
    char *to;
    size_t bytes;
};
static struct {
    int calls, fail_at; /* so far; the one that fails, 0 = none */
    int live, aborted, groups, gathers;
    bool in_group, refused; /* a call of the group */
    int n_ops;
    struct nccl_op op[NCCL_OPS];
    /* Bytes to another process, and as many from it; 0 = done. */
    int (*swap)(int with, const void *out, void *in, size_t bytes);
} nccl_seen;

#define NCCL_CALL()                                                                                \
    do {                                                                                           \
        if (++nccl_seen.calls == nccl_seen.fail_at) return 2;                                      \
        emu_needs_context();                                                                       \
    } while (0)

const char *ncclGetErrorString(int status);
const char *ncclGetErrorString(int status) {
    return status == 2 ? "unhandled system error" : "invalid usage";
}
int ncclGetUniqueId(struct nccl_id *out);
int ncclGetUniqueId(struct nccl_id *out) {
    if (++nccl_seen.calls == nccl_seen.fail_at) return 2;
    for (int i = 0; i < 128; i++) out->bytes[i] = (char)(3 * i + 1);
    return 0;
}
int ncclCommInitRank(void **out, int n, struct nccl_id id, int me);
int ncclCommInitRank(void **out, int n, struct nccl_id id, int me) {
    NCCL_CALL();
    for (int i = 0; i < 128; i++)
        if (id.bytes[i] != (char)(3 * i + 1)) emu_wrong("a name of a group that nobody made");
    if (me < 0 || me >= n) return 5;
    struct nccl_comm *c = malloc(sizeof *c);
    *c = (struct nccl_comm){me, n};
    nccl_seen.live++;
    *out = c;
    return 0;
}
int ncclCommDestroy(void *comm);
int ncclCommDestroy(void *comm) {
    emu_needs_context();
    if (emu.at_sync) emu_wrong("a group of processes ends before its moves");
    free(comm);
    nccl_seen.live--;
    return 0;
}
int ncclCommAbort(void *comm);
int ncclCommAbort(void *comm) {
    nccl_seen.aborted++;
    emu.at_sync = NULL;
    return ncclCommDestroy(comm);
}
int ncclGroupStart(void);
int ncclGroupStart(void) {
    NCCL_CALL();
    if (nccl_seen.in_group) emu_wrong("a group in a group");
    if (emu.at_sync) emu_wrong("a group while another is on its way");
    nccl_seen.in_group = true;
    nccl_seen.refused = false;
    nccl_seen.n_ops = 0;
    return 0;
}
static struct nccl_comm *nccl_current;

static int nccl_work(void) {
    for (int i = 0; i < nccl_seen.n_ops; i++) {
        const struct nccl_op *o = &nccl_seen.op[i];
        const struct nccl_comm *c = nccl_current;
        memcpy(o->to + (size_t)c->me * o->bytes, o->from, o->bytes);
        for (int k = 1; k < c->n; k++) {
            int with = c->me ^ k;
            if (nccl_seen.swap(with, o->from, o->to + (size_t)with * o->bytes, o->bytes))
                return 719;
        }
    }
    return 0;
}

int ncclGroupEnd(void);
int ncclGroupEnd(void) {
    if (!nccl_seen.in_group) emu_wrong("the end of a group that did not begin");
    nccl_seen.in_group = false;
    NCCL_CALL();
    if (nccl_seen.refused) return 5;
    nccl_seen.groups++;
    emu.at_sync = nccl_work;
    return 0;
}
int ncclAllGather(const void *from, void *to, size_t n, int type, void *comm, void *stream);
int ncclAllGather(const void *from, void *to, size_t n, int type, void *comm, void *stream) {
    nccl_seen.refused = nccl_seen.calls + 1 == nccl_seen.fail_at;
    NCCL_CALL();
    struct nccl_comm *c = comm;
    if (!nccl_seen.in_group || emu.capturing) emu_wrong("a move outside of a group");
    if (!stream || type || !n || nccl_seen.n_ops == NCCL_OPS) return 4;
    if (!emu_inside((uint64_t)(uintptr_t)from, n) ||
        !emu_inside((uint64_t)(uintptr_t)to, n * (size_t)c->n))
        emu_wrong("a move outside of memory");
    nccl_seen.op[nccl_seen.n_ops++] = (struct nccl_op){from, to, n};
    nccl_seen.gathers++;
    nccl_current = c;
    return 0;
}

#endif
