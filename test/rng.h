/* Random numbers of tests: splitmix64. Same seed, same numbers, on every computer. */
#ifndef HD_TEST_RNG_H
#define HD_TEST_RNG_H

#include <stdint.h>

struct rng {
    uint64_t s;
};

static inline uint32_t rng_next(struct rng *r) {
    uint64_t z = (r->s += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)((z ^ (z >> 31)) >> 16);
}

/* lo..hi, both included. */
static inline int64_t rng_range(struct rng *r, int64_t lo, int64_t hi) {
    return lo + (int64_t)(rng_next(r) % (uint64_t)(hi - lo + 1));
}

/* [lo, hi) in 65,536 steps. */
static inline float rng_float(struct rng *r, float lo, float hi) {
    return lo + (hi - lo) * ((float)(rng_next(r) & 0xffff) / 65536.0f);
}

#endif
