/* Loops whose rounds may run at the same time. */
#ifndef HD_BASE_PARALLEL_H
#define HD_BASE_PARALLEL_H

#include <stdbool.h>
#include <stdint.h>

/* Processors of this computer that are on, at least 1. */
int hd_cores(void);
/* Starts what is missing to `threads`, the caller among them; false = cannot, use one thread. They
 * stay for the life of the process. */
bool hd_threads_open(int threads);
/* Runs fn(arg, i, thread) for i = 0 .. n-1, thread below `threads`; one after the other when that
 * is 1, or while another thread is in such a loop. */
void hd_parallel(int threads, int64_t n, void (*fn)(void *arg, int64_t i, int thread), void *arg);

#endif
