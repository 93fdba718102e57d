/* Devices of other computers: the client, a device like others, and the server behind it. The page
 * is docs/remote.md. */
#ifndef HD_REMOTE_REMOTE_H
#define HD_REMOTE_REMOTE_H

#include "runtime/device/hal.h"

#define HD_REMOTE_FLEET "fleet" /* the host that stands for a file of hosts */

/* ---- client ---- */
/* For names HOST/NAME; hd_device_options.name has it. */
extern const struct hd_device_ops hd_device_remote_programs, hd_device_remote_graphs;

struct hd_remote_entry { /* a device of a host; texts are valid during the call */
    const char *name, *runs, *doc, *more;
    bool available;
};
/* Tells the devices of a host, one by one. */
hd_status hd_remote_devices(hd_ctx *ctx, const char *host,
                            void (*tell)(void *user, const struct hd_remote_entry *e), void *user);

/* Whether the device HOST/NAME can be used: asks that host. */
hd_status hd_remote_check(hd_ctx *ctx, const char *name);

/* ---- server ---- */
#define HD_SERVE_BYTES (UINT64_C(1) << 33)
struct hd_serve_options {
    hd_status (*find)(hd_ctx *ctx, const char *scheme, const struct hd_device_ops **out);
    const struct hd_device_ops *const *devices; /* all of them, ends with NULL */
    const char *version;
    int runs;       /* of simulators and kernels at once; 0 = as there are cores */
    int cache_mib;  /* models that are kept */
    uint64_t bytes; /* of all buffers of a client, and of a model; 0 = HD_SERVE_BYTES */
    bool may_exit;  /* a device that does not stop for a client who is gone: ends the process */
};
/* Serves one client over two descriptors, which it takes, until he goes. Fails when he sent what is
 * no frame, or said nothing. */
hd_status hd_serve(hd_ctx *ctx, const struct hd_serve_options *o, int in, int out);
/* Serves whoever dials the socket at `path`, with these permissions, each in a process of his own;
 * ends by SIGTERM or SIGINT. NULL: socket in the folder of hd_remote_folder. */
hd_status hd_serve_socket(hd_ctx *ctx, const struct hd_serve_options *o, const char *path,
                          int mode);
/* $XDG_RUNTIME_DIR/heddle, else /tmp/heddle-UID: sockets, and who runs now. Made when missing. */
hd_status hd_remote_folder(hd_ctx *ctx, char *out, size_t bytes);

#endif
