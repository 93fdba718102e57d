/* A device of another computer, as its user's end knows it: what was asked for, so that it can be
 * asked for again. Between client.c, client_run.c and fleet.c. */
#ifndef HD_REMOTE_CLIENT_H
#define HD_REMOTE_CLIENT_H

#include "driver/remote/link.h"
#include "driver/remote/messages.h"
#include "runtime/base/sha256.h"
#include "runtime/device/hal.h"

enum { HD_ASK_MS = 60000, HD_LOAD_MS = 600000, HD_OPEN_MS = 900000, HD_REMOTE_BUFFERS = 65536 };

struct hd_remote_buffer {
    size_t bytes;
    bool used;
    bool stale;            /* a run may have written it, and that run cannot be run again */
    bool lost;             /* ... and it was, on a host that died */
    unsigned char *mirror; /* fleet: what was written to it */
};

struct hd_remote_model { /* named by its content while a step of it is loaded */
    const hd_model *model;
    unsigned char key[HD_SHA256_BYTES];
    size_t bytes;
    int uses;
    struct hd_remote_model *next;
};

struct hd_exec {
    hd_device *d;
    struct hd_remote_model *m;
    int step;
    uint32_t id;
    hd_arena *told; /* of the steps that the device told after a run; NULL = none */
    struct hd_exec_step *steps;
    int n_steps;
    struct hd_exec *next;
};

struct hd_remote_run { /* the last */
    hd_exec *exec;     /* NULL = none, or it cannot be run again */
    uint32_t *io, n_io, cap_io;
    uint32_t number;  /* of the question */
    bool open;        /* not done */
    bool quiet;       /* it is run again: nobody is told */
    bool waited;      /* somebody has got its status */
    hd_status status; /* when done */
    char message[2000];
    uint64_t cycles; /* told by `end` */
    bool ended;
    struct hd_buf memory[HD_PROBE_MEMORIES]; /* as they were told last */
    struct hd_probe_eye eye;                 /* looks at them */
};

struct hd_fleet;
struct hd_device {
    struct hd_link link;
    char scheme[32];
    struct hd_device_options opt;
    struct hd_fleet *fleet; /* NULL = one host */
    int tries;              /* hosts since the last answer */
    struct hd_remote_buffer *buffers;
    size_t n_buffers;
    struct hd_remote_model *models;
    hd_exec *execs;
    struct hd_remote_run run;
    hd_fence fences;
    struct hd_counters counters;
    struct hd_layer_counters *layers;
    bool counted;
};

/* ---- client.c ---- */
hd_status hd_remote_open_device(hd_ctx *ctx, hd_device *d); /* on d->link */
hd_status hd_remote_post_buffer(hd_ctx *ctx, hd_device *d, uint32_t index);
hd_status hd_remote_post_bytes(hd_ctx *ctx, hd_device *d, uint32_t index, size_t off,
                               const unsigned char *data, size_t bytes);
hd_status hd_remote_load_exec(hd_ctx *ctx, hd_device *d, hd_exec *x);

/* ---- client_run.c ---- */
hd_status hd_remote_post_run(hd_ctx *ctx, hd_device *d);
/* Until the run is done: its status and message are in d->run then. timeout_ns: then it is
 * cancelled. Fails with the connection only. */
hd_status hd_remote_finish(hd_ctx *ctx, hd_device *d, uint64_t timeout_ns);

/* ---- fleet.c ---- */
hd_status hd_fleet_create(hd_ctx *ctx, struct hd_fleet **out);
void hd_fleet_destroy(struct hd_fleet *f);
hd_status hd_fleet_connect(hd_ctx *ctx, struct hd_fleet *f, struct hd_link *out);
/* *s failed. True: the connection was gone, another host has all that was asked for, *s is HD_OK,
 * and questions are to be asked again. */
bool hd_remote_again(hd_ctx *ctx, hd_device *d, hd_status *s);

#endif
