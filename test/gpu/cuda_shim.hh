/* CUDA C++ on the host, for the stand-in's compiler: put in front of a kernel's source. A block's
 * threads are fibers of the stand-in, which sets the indexes before it resumes one. */
#include <cmath>
#include <cstring>
using namespace std;
#define __global__
#define __device__
#define __shared__ static
struct emu_index {
    unsigned x, y, z;
};
extern "C" {
extern emu_index blockIdx, threadIdx;
void emu_barrier(void);
void emu_warp(const void *mine, int bytes, void *all);
}
#define __syncthreads() emu_barrier()
static inline float __int_as_float(int v) {
    float f;
    memcpy(&f, &v, 4);
    return f;
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
    emu_warp(&mine, sizeof mine, all);
    int lane = threadIdx.x % 32;
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
