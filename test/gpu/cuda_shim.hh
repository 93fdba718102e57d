/* CUDA C++ on the host, for the stand-in's compiler: put in front of a kernel's source. A block's
 * threads are fibers of the stand-in, which sets the indexes before it resumes one. */
#include <cmath>
#include <cstdlib>
#include <cstring>
using namespace std;
#define __global__
#define __launch_bounds__(threads)
#define __device__
#define __shared__   static
#define __align__(n) __attribute__((aligned(n)))
struct emu_index {
    unsigned x, y, z;
};
extern "C" {
extern emu_index blockIdx, threadIdx;
void emu_barrier(void);
int emu_warp(const void *mine, int bytes, void *all); /* the lane */
}
#define __syncthreads() emu_barrier()
static inline float __int_as_float(int v) {
    float f;
    memcpy(&f, &v, 4);
    return f;
}
static inline int __float_as_int(float f) {
    int v;
    memcpy(&v, &f, 4);
    return v;
}
/* Fragments as PTX lays them out: "mma.m16n8k32", 8-bit operands. a and b are the registers of a
 * lane; every lane sees those of all. */
template <class A, class B>
static inline void emu_mma_m16n8k32(int *c, const int *a, const int *b) {
    struct {
        int r[6];
    } mine, all[32];
    memcpy(mine.r, a, 16);
    memcpy(mine.r + 4, b, 8);
    int lane = emu_warp(&mine, sizeof mine, all);
    for (int i = 0; i < 4; i++) {
        int row = lane / 4 + 8 * (i / 2), col = lane % 4 * 2 + i % 2;
        for (int k = 0; k < 32; k++) {
            A x;
            B y;
            memcpy(&x, (char *)&all[row % 8 * 4 + k % 16 / 4].r[k / 16 * 2 + row / 8] + k % 4, 1);
            memcpy(&y, (char *)&all[col * 4 + k % 16 / 4].r[4 + k / 16] + k % 4, 1);
            c[i] += (int)x * (int)y;
        }
    }
}
template <class A, class B> static inline int emu_dp4a(int a, int b, int c) {
    A x[4];
    B y[4];
    memcpy(x, &a, 4);
    memcpy(y, &b, 4);
    for (int i = 0; i < 4; i++) c += (int)x[i] * (int)y[i];
    return c;
}

/* Copies are there at once, and come from where 16 bytes may come from. */
template <class T> static inline void hd_copy16(T *to, const T *from) {
    if ((size_t)from % sizeof(T)) abort();
    *to = *from;
}
static inline void hd_copy_commit() {}
template <int n> static inline void hd_copy_wait() {}
static inline int atomicAdd(int *at, int v) {
    int old = *at;
    *at += v;
    return old;
}

#define EMU_INTRINSICS(a, b, A, B)                                                                 \
    static inline void hd_mma_##a##b(int *c, const int *x, const int *y) {                         \
        emu_mma_m16n8k32<A, B>(c, x, y);                                                           \
    }                                                                                              \
    static inline int hd_dp4a_##a##b(int x, int y, int c) {                                        \
        return emu_dp4a<A, B>(x, y, c);                                                            \
    }
EMU_INTRINSICS(s, s, signed char, signed char)
EMU_INTRINSICS(s, u, signed char, unsigned char)
EMU_INTRINSICS(u, s, unsigned char, signed char)
EMU_INTRINSICS(u, u, unsigned char, unsigned char)
