/* A host that knows XRT's C interface and the register table, but none of our driver: loads the
 * xclbin of its argument, lets XRT start the device (with a second argument, finds it listening),
 * reads the fingerprints, moves a buffer. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "isa/isa.h"

/* XRT's emulation sleeps for seconds where it means to wait; this one returns after 1 ms for each.
 */
unsigned sleep(unsigned seconds) {
    nanosleep(&(struct timespec){seconds / 1000, (long)(seconds % 1000) * 1000000}, NULL);
    return 0;
}

#define CALLS(X)                                                                                   \
    X(void *, xrtDeviceOpen, (unsigned))                                                           \
    X(int, xrtDeviceClose, (void *))                                                               \
    X(int, xrtDeviceLoadXclbinFile, (void *, const char *))                                        \
    X(int, xrtDeviceGetXclbinUUID, (void *, unsigned char *))                                      \
    X(void *, xrtPLKernelOpenExclusive, (void *, const unsigned char *, const char *))             \
    X(int, xrtKernelClose, (void *))                                                               \
    X(int, xrtKernelArgGroupId, (void *, int))                                                     \
    X(int, xrtKernelReadRegister, (void *, uint32_t, uint32_t *))                                  \
    X(void *, xrtBOAlloc, (void *, size_t, uint64_t, uint32_t))                                    \
    X(int, xrtBOFree, (void *))                                                                    \
    X(void *, xrtBOMap, (void *))                                                                  \
    X(int, xrtBOSync, (void *, int, size_t, size_t))                                               \
    X(int, xrtIniStringSet, (const char *, const char *))

struct calls {
#define X(result, name, args) result(*name) args;
    CALLS(X)
#undef X
};

#define CHECK(x)                                                                                   \
    do {                                                                                           \
        if (!(x)) {                                                                                \
            fprintf(stderr, "plain_host: line %d: %s\n", __LINE__, #x);                            \
            fflush(NULL);                                                                          \
            _exit(1); /* XRT does not survive exit() with handles open */                          \
        }                                                                                          \
    } while (0)

static void load(struct calls *c) {
    void *lib = dlopen("libxrt_coreutil.so.2", RTLD_NOW | RTLD_LOCAL), *symbol;
    CHECK(lib);
#define X(result, name, args)                                                                      \
    CHECK((symbol = dlsym(lib, #name)));                                                           \
    memcpy(&c->name, &symbol, sizeof symbol);
    CALLS(X)
#undef X
}

static void settings(struct calls *c, bool listens) {
    enum { PACKET = 256 << 10 };
    char number[16], *pad = malloc(PACKET + 512); /* the first message must be the longest */
    CHECK(pad);
    memset(pad, 'x', PACKET + 511);
    pad[PACKET + 511] = 0;
    snprintf(number, sizeof number, "%d", PACKET);
    c->xrtIniStringSet("Emulation.packet_size", number);
    c->xrtIniStringSet("Emulation.print_infos_in_console", "false");
    c->xrtIniStringSet("Emulation.keep_run_dir", "false");
    c->xrtIniStringSet("Debug.pad", pad);
    if (listens) c->xrtIniStringSet("Emulation.dont_run", "true");
    free(pad);
}

static void move_buffer(struct calls *c, void *device, void *kernel) {
    enum { BYTES = 3 << 20 };
    void *b = c->xrtBOAlloc(device, BYTES, 0, (uint32_t)c->xrtKernelArgGroupId(kernel, 1));
    CHECK(b);
    unsigned char *p = c->xrtBOMap(b);
    CHECK(p);
    for (int i = 0; i < BYTES; i++) p[i] = (unsigned char)(i * 31 + i / 4096);
    CHECK(c->xrtBOSync(b, 0, BYTES, 0) == 0);
    memset(p, 0, BYTES);
    CHECK(c->xrtBOSync(b, 1, BYTES, 0) == 0);
    for (int i = 0; i < BYTES; i++) CHECK(p[i] == (unsigned char)(i * 31 + i / 4096));
    CHECK(c->xrtBOFree(b) == 0);
}

int main(int argc, char **argv) {
    struct calls c;
    unsigned char uuid[16];
    uint32_t isa = 0, machine = 0;
    CHECK(argc == 2 || argc == 3);
    load(&c);
    settings(&c, argc == 3);
    void *device = c.xrtDeviceOpen(0);
    CHECK(device);
    CHECK(c.xrtDeviceLoadXclbinFile(device, argv[1]) == 0);
    CHECK(c.xrtDeviceGetXclbinUUID(device, uuid) == 0);
    void *kernel = c.xrtPLKernelOpenExclusive(device, uuid, "hd_kernel:{hd_kernel_1}");
    CHECK(kernel);
    CHECK(c.xrtKernelReadRegister(kernel, HD_REG_isa_hash, &isa) == 0);
    CHECK(c.xrtKernelReadRegister(kernel, HD_REG_machine_hash, &machine) == 0);
    CHECK(isa == hd_isa_hash());
    CHECK(machine == hd_machine_hash(&hd_machines[1])); /* base */
    move_buffer(&c, device, kernel);
    CHECK(c.xrtKernelClose(kernel) == 0);
    CHECK(c.xrtDeviceClose(device) == 0);
    printf("fingerprints right, 3 MiB there and back\n");
    return 0;
}
