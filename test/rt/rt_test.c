/* The runtime library as its users have it: installed header and libraries only. Usage: rt_test
 * digits.hdl. Under ThreadSanitizer the same, without the count of allocations. */
#include <heddle_rt.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PIXELS = 64, CLASSES = 10, IN_FLIGHT = 8, THREADS = 4 };

#define CHECK(cond)                                                                                \
    do {                                                                                           \
        if (!(cond)) {                                                                             \
            printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #cond, hd_message(ctx));                 \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* ---- allocations ---------------------------------------------------------------------------- */

static atomic_long allocations;
#ifdef __SANITIZE_THREAD__
enum { COUNTS = 0 };
#else
enum { COUNTS = 1 };
void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);
void *__libc_memalign(size_t align, size_t n);
void *malloc(size_t n) {
    atomic_fetch_add(&allocations, 1);
    return __libc_malloc(n);
}
void *calloc(size_t n, size_t size) {
    atomic_fetch_add(&allocations, 1);
    return __libc_calloc(n, size);
}
void *realloc(void *p, size_t n) {
    atomic_fetch_add(&allocations, 1);
    return __libc_realloc(p, n);
}
void *aligned_alloc(size_t align, size_t n) {
    atomic_fetch_add(&allocations, 1);
    return __libc_memalign(align, n);
}
#endif

/* ---- what the tests share ------------------------------------------------------------------- */

static hd_model *model;
static float want[IN_FLIGHT][CLASSES]; /* of image i, by golden */

static void image(int i, float *out) {
    for (int k = 0; k < PIXELS; k++) out[k] = (float)((k * 7 + i * 13) % 17);
}

static hd_session *open(hd_ctx *ctx, const char *device) {
    hd_session *s = NULL;
    CHECK(hd_session_open(ctx, model, device, NULL, &s) == HD_OK);
    return s;
}

static void run(hd_ctx *ctx, hd_session *s, int i, float *out) {
    float x[PIXELS];
    image(i, x);
    CHECK(hd_session_run(ctx, s, (const void *[]){x}, (void *[]){out}) == HD_OK);
}

static void check_runs(hd_ctx *ctx, hd_session *s) {
    float y[CLASSES];
    for (int i = 0; i < IN_FLIGHT; i++) {
        run(ctx, s, i, y);
        CHECK(memcmp(y, want[i], sizeof y) == 0);
    }
}

/* ---- tests ---------------------------------------------------------------------------------- */

static void errors(hd_ctx *ctx) {
    hd_model *m = NULL;
    hd_session *s = NULL;
    struct hd_io_info io;
    CHECK(hd_model_load(ctx, "/nowhere.hdl", &m) == HD_IO && strstr(hd_message(ctx), "nowhere"));
    CHECK(hd_model_load_memory(ctx, "HDL?", 4, "four bytes", &m) == HD_INVALID);
    CHECK(hd_session_open(ctx, model, "toaster", NULL, &s) == HD_UNSUPPORTED);
    CHECK(strstr(hd_message(ctx), "golden") && strstr(hd_message(ctx), "iss"));
    CHECK(hd_device_check(ctx, "iss") == HD_OK);
    CHECK(hd_device_check(ctx, "toaster") == HD_UNSUPPORTED);
    CHECK(hd_model_n_inputs(model) == 1 && hd_model_n_outputs(model) == 1);
    hd_model_input(model, 0, &io);
    CHECK(io.dtype == 1 && io.rank == 4 && io.bytes == PIXELS * sizeof(float));
    hd_model_output(model, 1, &io);
    CHECK(io.bytes == 0);
    hd_session_close(NULL);
    hd_model_destroy(NULL);
}

static void no_allocation(hd_ctx *ctx, const char *device) {
    float x[PIXELS], y[CLASSES];
    const void *in[] = {x};
    void *out[] = {y};
    hd_session *s = open(ctx, device);
    image(0, x);
    CHECK(hd_session_run(ctx, s, in, out) == HD_OK); /* the simulator learns the number of layers */
    long before = atomic_load(&allocations);
    for (int i = 0; i < 20; i++) CHECK(hd_session_run(ctx, s, in, out) == HD_OK);
    long of_runs = atomic_load(&allocations) - before;
    CHECK(hd_session_queue(ctx, s, 2) == HD_OK);
    uint64_t request = 0;
    before = atomic_load(&allocations);
    for (int i = 0; i < 20; i++) {
        CHECK(hd_session_submit(ctx, s, in, out, &request) == HD_OK);
        CHECK(hd_session_wait(ctx, s, request, UINT64_MAX) == HD_OK);
    }
    long of_requests = atomic_load(&allocations) - before;
    if (COUNTS)
        printf("  %s: %ld allocations in 20 runs, %ld in 20 requests\n", device, of_runs,
               of_requests);
    CHECK(of_runs == 0 && of_requests == 0);
    hd_session_close(s);
}

/* True when a host step of one request ran while a machine step of another did. */
static bool overlaps(hd_session *s) {
    static struct hd_span span[1024];
    int n = hd_session_timeline(s, span, 1024);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            if (span[i].request != span[k].request && span[i].on_machine && !span[k].on_machine &&
                span[i].start_ns < span[k].end_ns && span[k].start_ns < span[i].end_ns)
                return true;
    return false;
}

static void in_flight(hd_ctx *ctx) {
    static float x[IN_FLIGHT][PIXELS], y[IN_FLIGHT][CLASSES];
    uint64_t request[IN_FLIGHT] = {0}, extra = 0;
    hd_session *s = open(ctx, "iss");
    CHECK(hd_session_submit(ctx, s, NULL, NULL, &extra) == HD_INVALID); /* no queue yet */
    CHECK(hd_session_queue(ctx, s, 0) == HD_INVALID);
    CHECK(hd_session_queue(ctx, s, IN_FLIGHT) == HD_OK);
    CHECK(hd_session_queue(ctx, s, IN_FLIGHT) == HD_INVALID);
    time_t end = time(NULL) + 10;
    bool seen = false;
    for (int round = 0; round == 0 || (!seen && time(NULL) < end); round++) {
        memset(y, 0, sizeof y);
        for (int i = 0; i < IN_FLIGHT; i++) {
            image(i, x[i]);
            CHECK(hd_session_submit(ctx, s, (const void *[]){x[i]}, (void *[]){y[i]},
                                    &request[i]) == HD_OK);
        }
        CHECK(hd_session_submit(ctx, s, (const void *[]){x[0]}, (void *[]){y[0]}, &extra) ==
              HD_INVALID);
        for (int i = IN_FLIGHT - 1; i >= 0; i--) { /* in any order */
            CHECK(hd_session_wait(ctx, s, request[i], UINT64_MAX) == HD_OK);
            CHECK(memcmp(y[i], want[i], sizeof y[i]) == 0);
            CHECK(hd_session_cycles(s) > 1000);
        }
        seen = overlaps(s);
    }
    CHECK(seen);
    CHECK(hd_session_wait(ctx, s, request[0], 0) == HD_INVALID); /* not in flight any more */
    CHECK(hd_session_wait(ctx, s, 123456, 0) == HD_INVALID);
    struct hd_span span[4];
    CHECK(hd_session_timeline(s, span, 4) == 4 && span[0].end_ns >= span[0].start_ns);
    check_runs(ctx, s);                 /* the plain call, through the queue */
    for (int i = 0; i < IN_FLIGHT; i++) /* and closed with work in flight */
        CHECK(hd_session_submit(ctx, s, (const void *[]){x[i]}, (void *[]){y[i]}, &request[i]) ==
              HD_OK);
    hd_status r = hd_session_wait(ctx, s, request[IN_FLIGHT - 1], 0);
    CHECK(r == HD_OK || r == HD_DEVICE);
    hd_session_close(s);
}

static void *one_thread(void *device) {
    hd_ctx *ctx = hd_ctx_create();
    hd_session *s = open(ctx, device);
    for (int i = 0; i < 5; i++) check_runs(ctx, s);
    hd_session_close(s);
    hd_ctx_destroy(ctx);
    return NULL;
}

static void threads(hd_ctx *ctx) {
    pthread_t t[THREADS];
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&t[i], NULL, one_thread, i % 2 ? (void *)"golden" : (void *)"iss") ==
              0);
    for (int i = 0; i < THREADS; i++) pthread_join(t[i], NULL);
}

int main(int argc, char **argv) {
    hd_ctx *ctx = hd_ctx_create();
    CHECK(argc == 2);
    CHECK(strcmp(hd_rt_version(), HD_RT_VERSION) == 0);
    CHECK(hd_model_load(ctx, argv[1], &model) == HD_OK);
    hd_session *s = open(ctx, "golden");
    for (int i = 0; i < IN_FLIGHT; i++) run(ctx, s, i, want[i]);
    hd_session_close(s);
    s = open(ctx, "iss");
    check_runs(ctx, s);
    hd_session_close(s);
    errors(ctx);
    no_allocation(ctx, "iss");
    no_allocation(ctx, "golden");
    in_flight(ctx);
    threads(ctx);
    hd_model_destroy(model);
    hd_ctx_destroy(ctx);
    printf("  runtime library%s: all right\n", COUNTS ? "" : ", under ThreadSanitizer");
    return 0;
}
