/* Threads of device cpu: GNU OpenMP's pool, opened only when more than one thread is asked for.
 *
 * oneDNN brings that pool with it, and a second pool beside it would fight with its spinning
 * threads for the same cores. GOMP_parallel is the entry that GCC compiles `#pragma omp parallel`
 * to; it is called directly so that no file needs -fopenmp and a machine without libgomp still
 * runs, on one thread.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#include "cpu_ref/cpu_int8.h"

static struct pool {
    void (*parallel)(void (*fn)(void *), void *data, unsigned threads, unsigned flags);
    int (*thread)(void);
    void (*set_threads)(int);
} pool; /* the process's, as OpenMP's own is */

struct job {
    void (*fn)(void *, int64_t, int);
    void *arg;
    int64_t n;
    int64_t next; /* atomic */
};

static void work(void *data) {
    struct job *j = data;
    int thread = pool.thread();
    for (;;) {
        int64_t i = __atomic_fetch_add(&j->next, 1, __ATOMIC_RELAXED);
        if (i >= j->n) return;
        j->fn(j->arg, i, thread);
    }
}

static void open_pool(void) {
    /* Long spinning at the end of a parallel region is lost time when cores are shared. */
    setenv("GOMP_SPINCOUNT", "20000", 0);
    void *lib = dlopen("libgomp.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!lib) return;
    *(void **)&pool.thread = dlsym(lib, "omp_get_thread_num");
    *(void **)&pool.set_threads = dlsym(lib, "omp_set_num_threads");
    *(void **)&pool.parallel = dlsym(lib, "GOMP_parallel");
    if (!pool.thread || !pool.set_threads) pool.parallel = NULL;
}

bool hd_cpu_threads_open(int threads) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_pool);
    if (!pool.parallel) return threads == 1;
    pool.set_threads(threads); /* what oneDNN reads; OpenMP keeps it per calling thread */
    return true;
}

void hd_cpu_parallel(int threads, int64_t n, void (*fn)(void *, int64_t, int), void *arg) {
    struct job j = {fn, arg, n, 0};
    if (threads > 1 && n > 1 && pool.parallel) {
        pool.parallel(work, &j, (unsigned)(n < threads ? n : threads), 0);
        return;
    }
    for (int64_t i = 0; i < n; i++) fn(arg, i, 0);
}
