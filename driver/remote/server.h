/* One client of heddle serve: its device, its buffers, models and steps. Between serve.c,
 * questions.c and serve_run.c. */
#ifndef HD_REMOTE_SERVER_H
#define HD_REMOTE_SERVER_H

#include <pthread.h>
#include <stdatomic.h>

#include "driver/remote/frame.h"
#include "driver/remote/messages.h"
#include "driver/remote/remote.h"
#include "runtime/base/sha256.h"

enum { HD_SERVE_BUFFERS = 65536, HD_SERVE_EXECS = 65536 };

struct hd_served_model {
    unsigned char key[HD_SHA256_BYTES];
    hd_model *model;
    int uses;
    struct hd_served_model *next;
};
struct hd_served_buffer {
    hd_buffer buffer;
    uint64_t bytes;
};
struct hd_served_exec {
    hd_exec *exec;
    struct hd_served_model *m;
    int step;
};

struct hd_server {
    const struct hd_serve_options *o;
    struct hd_wire wire;
    pthread_mutex_t sending;
    hd_ctx *ctx;
    hd_arena *a;
    char folder[256];
    bool greeted, lied;
    atomic_bool gone;  /* nothing more can be said to the client */
    uint32_t number;   /* of the question in work */
    hd_status pending; /* of what was posted; told with the next question */
    char why[2000];    /* ... its words */
    const char *scheme;
    const struct hd_device_ops *ops;
    struct hd_device_options opt;
    uint32_t wants;
    hd_device *dev;
    struct hd_served_buffer *buffers;
    uint32_t n_buffers;
    struct hd_served_exec *execs;
    uint32_t n_execs;
    uint64_t bytes; /* of all buffers */
    struct hd_served_model *models;
    struct hd_buf incoming; /* a model that is being sent */
    atomic_bool stops;      /* the run in work is to end */
    struct hd_probe probe;
    struct hd_buf ops_told, dram_told;
    const struct hd_probe_eye *eye;         /* of the run in work */
    struct hd_buf shown[HD_PROBE_MEMORIES]; /* as the client has them */
};

/* ---- serve.c ---- */
/* To the client, from any thread; nothing when it is gone. */
void hd_serve_say(struct hd_server *s, uint32_t kind, const void *data, size_t bytes);
/* The answer to the question in work: `ok`, or the error in s->ctx. */
void hd_serve_answer(struct hd_server *s, hd_status status);
hd_status hd_serve_damaged(struct hd_server *s, const char *what); /* a frame that makes no sense */

/* ---- questions.c ---- */
/* Posted ones give a status that the next question is told. */
hd_status hd_serve_alloc(struct hd_server *s, struct hd_cursor *c);
hd_status hd_serve_free(struct hd_server *s, struct hd_cursor *c);
hd_status hd_serve_write(struct hd_server *s, struct hd_cursor *c);
hd_status hd_serve_model(struct hd_server *s, struct hd_cursor *c);
hd_status hd_serve_unload(struct hd_server *s, struct hd_cursor *c);
/* Those that answer themselves. */
void hd_serve_devices(struct hd_server *s);
void hd_serve_read(struct hd_server *s, struct hd_cursor *c);
void hd_serve_open(struct hd_server *s, struct hd_cursor *c);
void hd_serve_load(struct hd_server *s, struct hd_cursor *c);
void hd_serve_end(struct hd_server *s); /* gives back all that the client had */

/* ---- serve_run.c ---- */
void hd_serve_run(struct hd_server *s, struct hd_cursor *c);
void hd_serve_probe(struct hd_server *s); /* fills s->probe by s->wants */

#endif
