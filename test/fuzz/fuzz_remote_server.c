/* Any bytes as what a client says to heddle serve. The first of three bytes picks a frame, the
 * others give its length; most frames get a right header and checksum, so that what is inside is
 * reached. */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "driver/remote/frame.h"
#include "driver/remote/messages.h"
#include "driver/remote/remote.h"
#include "runtime/runtime.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* hello and open of iss, so that the bytes go on from there. */
static void begin(struct hd_wire *w, bool open) {
    struct hd_device_options o = {.machine = hd_machines[0]};
    struct hd_buf b = {0};
    hd_buf_u32(&b, HD_REMOTE_MAGIC);
    hd_buf_u32(&b, HD_REMOTE_PROTOCOL);
    hd_buf_u32(&b, hd_isa_hash());
    hd_wire_send(w, HD_FRAME_hello, 1, b.data, b.n);
    b.n = 0;
    hd_put_options(&b, "iss", &o);
    if (open) hd_wire_send(w, HD_FRAME_open, 2, b.data, b.n);
    hd_buf_free(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const struct hd_serve_options o = {.find = hd_device_find,
                                       .devices = hd_devices,
                                       .version = "fuzz",
                                       .runs = 1,
                                       .bytes = 1 << 24};
    struct hd_wire w;
    int pair[2];
    if (size < 1 || size > 1 << 16) return 0;
    signal(SIGPIPE, SIG_IGN);
    setenv("XDG_RUNTIME_DIR", "/tmp", 1);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) return 0;
    HD_ASSERT(hd_wire_init(&w, pair[0], pair[0], -1, false));
    if (data[0] & 1) begin(&w, data[0] & 2);
    for (size_t at = 1; at + 3 <= size;) {
        size_t n = data[at + 1] | (size_t)(data[at + 2] & 0x0f) << 8;
        uint32_t kind = data[at] & 0x3f;
        bool raw = data[at] >> 6 == 3;
        at += 3;
        if (n > size - at) n = size - at;
        if (raw && write(pair[0], data + at, n) < 0) break;
        if (!raw && hd_wire_send(&w, kind, 3, data + at, n)) break;
        at += n;
    }
    shutdown(pair[0], SHUT_WR);
    hd_ctx *ctx = hd_ctx_create();
    hd_serve(ctx, &o, pair[1], pair[1]);
    hd_ctx_destroy(ctx);
    hd_wire_deinit(&w);
    return 0;
}
