/* What the stand-in for CUDA takes note of. Part of cuda_stand_in.h. */
#ifndef HD_TEST_GPU_EMU_H
#define HD_TEST_GPU_EMU_H

#include <stdbool.h>
#include <stddef.h>

static struct {
    int calls, fail_at, fail_with; /* calls so far; the one that fails, 0 = none; its error */
    bool lost;                     /* every later call fails, too */
    size_t memory_bytes, bytes;    /* of the GPU; taken */
    int live, contexts, launches, graph_launches, compilations;
    int current, devices, ordinal;
    bool capturing;
    const char *wrong;    /* the first thing that a driver would refuse */
    int cc;               /* compute capability */
    int (*at_sync)(void); /* what a library has enqueued; an error. NULL = nothing */
} emu = {.memory_bytes = (size_t)1 << 30, .devices = 1, .cc = 90};

#define EMU_CALL()                                                                                 \
    do {                                                                                           \
        int error_ = emu_call();                                                                   \
        if (error_) return error_;                                                                 \
    } while (0)
static int emu_call(void) {
    if (++emu.calls == emu.fail_at) {
        emu.lost = emu.fail_with == 719;
        return emu.fail_with;
    }
    return emu.lost ? 719 : 0;
}
static void emu_wrong(const char *what) {
    if (!emu.wrong) emu.wrong = what;
}
static void emu_needs_context(void) {
    if (!emu.current) emu_wrong("a call without a context");
}

#endif
