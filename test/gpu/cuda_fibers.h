/* The threads of a block as fibers. Part of cuda_stand_in.h. */
#ifndef HD_TEST_GPU_CUDA_FIBERS_H
#define HD_TEST_GPU_CUDA_FIBERS_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "test/gpu/emu.h"

enum { EMU_ARGS = 24, EMU_THREADS = 1024, EMU_STACK = 64 << 10 };

struct emu_index {
    unsigned x, y, z;
};
extern struct emu_index blockIdx, threadIdx;
struct emu_index blockIdx, threadIdx;
void emu_barrier(void);
int emu_warp(const void *mine, int bytes, void *all);

enum emu_state { EMU_READY, EMU_AT_BARRIER, EMU_AT_WARP, EMU_DONE };
struct emu_fiber {
    ucontext_t context;
    enum emu_state state;
    const void *mine;
};
struct emu_op { /* a launch or a copy in a graph */
    void *function, *arg[EMU_ARGS];
    unsigned grid[3], block[3];
    void *to;
    const void *from;
    size_t bytes;
    void (*later)(void *what); /* work of a library */
    void *what;
};
static struct emu_fiber emu_fiber[EMU_THREADS];
static ucontext_t emu_scheduler;
static int emu_now;
static char *emu_stacks;
static const struct emu_op *emu_running;

void emu_barrier(void) {
    emu_fiber[emu_now].state = EMU_AT_BARRIER;
    swapcontext(&emu_fiber[emu_now].context, &emu_scheduler);
}
int emu_warp(const void *mine, int bytes, void *all) {
    int first = emu_now / 32 * 32;
    for (int pass = 0; pass < 2; pass++) { /* all have written; all have read */
        emu_fiber[emu_now].mine = mine;
        emu_fiber[emu_now].state = EMU_AT_WARP;
        swapcontext(&emu_fiber[emu_now].context, &emu_scheduler);
        for (int i = 0; i < 32 && !pass; i++)
            memcpy((char *)all + i * bytes, emu_fiber[first + i].mine, (size_t)bytes);
    }
    return emu_now % 32;
}
static void emu_thread(void) {
    void *const *a = emu_running->arg;
    typedef void kernel(void *, void *, void *, void *, void *, void *, void *, void *, void *,
                        void *, void *, void *, void *, void *, void *, void *, void *, void *,
                        void *, void *, void *, void *, void *, void *);
    kernel *k;
    *(void **)&k = emu_running->function;
    k(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13], a[14],
      a[15], a[16], a[17], a[18], a[19], a[20], a[21], a[22], a[23]);
    emu_fiber[emu_now].state = EMU_DONE;
    swapcontext(&emu_fiber[emu_now].context, &emu_scheduler);
}
static bool emu_all(int first, int n, enum emu_state want) {
    for (int i = first; i < first + n; i++)
        if (emu_fiber[i].state != want) return false;
    return true;
}
/* Lets those go on that all have come; false: nobody can. */
static bool emu_release(int n) {
    bool any = false;
    if (emu_all(0, n, EMU_AT_BARRIER)) {
        for (int i = 0; i < n; i++) emu_fiber[i].state = EMU_READY;
        return true;
    }
    for (int w = 0; w < n; w += 32) {
        if (n - w < 32 || !emu_all(w, 32, EMU_AT_WARP)) continue;
        for (int i = w; i < w + 32; i++) emu_fiber[i].state = EMU_READY;
        any = true;
    }
    return any;
}
/* Not in a loop: a variable of one may be lost where getcontext returns again. */
static void emu_begin(struct emu_fiber *f, char *stack) {
    getcontext(&f->context);
    f->context.uc_stack.ss_sp = stack;
    f->context.uc_stack.ss_size = EMU_STACK;
    f->context.uc_link = NULL;
    makecontext(&f->context, emu_thread, 0);
    f->state = EMU_READY;
}
static void emu_block(const struct emu_op *op) {
    int bx = (int)op->block[0], by = (int)op->block[1], n = bx * by * (int)op->block[2];
    if (!emu_stacks) emu_stacks = malloc((size_t)EMU_THREADS * EMU_STACK);
    for (int i = 0; i < n; i++) emu_begin(&emu_fiber[i], emu_stacks + (size_t)i * EMU_STACK);
    do
        for (emu_now = 0; emu_now < n; emu_now++) {
            threadIdx = (struct emu_index){(unsigned)(emu_now % bx), (unsigned)(emu_now / bx % by),
                                           (unsigned)(emu_now / bx / by)};
            if (emu_fiber[emu_now].state == EMU_READY)
                swapcontext(&emu_scheduler, &emu_fiber[emu_now].context);
        }
    while (emu_release(n));
    if (!emu_all(0, n, EMU_DONE)) emu_wrong("threads of a block wait for ever");
}
static void emu_do(const struct emu_op *op) {
    if (op->later) {
        op->later(op->what);
        return;
    }
    if (!op->function) {
        memcpy(op->to, op->from, op->bytes);
        return;
    }
    emu_running = op;
    for (blockIdx.z = 0; blockIdx.z < op->grid[2]; blockIdx.z++)
        for (blockIdx.y = 0; blockIdx.y < op->grid[1]; blockIdx.y++)
            for (blockIdx.x = 0; blockIdx.x < op->grid[0]; blockIdx.x++) emu_block(op);
}

#endif
