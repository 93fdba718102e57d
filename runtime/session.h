/* Inside of a session, for the files beside it only. */
#ifndef HD_RUNTIME_SESSION_H
#define HD_RUNTIME_SESSION_H

#include <pthread.h>

#include "runtime/runtime.h"

/* What one request needs beside the device: two of them may be in work at once. */
struct hd_slot {
    void **dense;   /* per value */
    bool *known;    /* per value: it is there, of the last run */
    bool *in_arena; /* per value: there alone, not in dense (state.c) */
    bool *leave;    /* per value: the run leaves it there */
    enum hd_state_at { HD_STATE_IN, HD_STATE_OUT, HD_STATE_LOST } state;
    unsigned char *moved; /* room for all states */
    void *packed;         /* one value in arena form */
    hd_buffer **io;       /* per HOST step: a buffer for each input and output */
    int core;             /* of the machine, that its programs run on */
    hd_buffer arena;      /* there */
    hd_buffer *graph_io;  /* whole graph */
    struct hd_layer_counters *layers;
    uint64_t *step_ns; /* per step, of the last run */
    struct hd_counters total;
};

struct hd_queue;

struct hd_runner { /* an open device */
    const char *name;
    const struct hd_device_ops *ops;
    hd_device *dev;  /* NULL = not open */
    hd_exec **execs; /* per step; NULL = runs elsewhere */
    pthread_mutex_t lock;
};

enum { HD_RUNNERS = 8 };

struct hd_session {
    const hd_model *model;
    struct hd_device_options opt; /* as asked for */
    char *names;                  /* of the devices that were asked for */
    /* The machine, or the only device, is the first. Others run HOST steps: golden, where no device
     * that was named does */
    struct hd_runner runner[HD_RUNNERS];
    int n_runners;
    struct hd_runner
        core[HD_MOST_cores]; /* of the machine, beside runner[0]: core[i] is core i + 1 */
    int n_cores;
    int *runner_of;             /* per step */
    bool whole_graph, in_place; /* in_place: an option of the devices, where it can be had */
    hd_exec *graph;             /* whole graph */
    int *graph_values;          /* ... and its io: values, inputs first */
    int n_graph_io;
    struct hd_slot **slots;
    int n_slots;
    struct hd_slot *last;   /* of the last finished run */
    struct hd_queue *queue; /* NULL = none */
    hd_arena *kept_in;      /* what hd_session_keep was given */
    void *kept;
};

/* A session, and arrays for all that is not empty; HD_INVALID names what is NULL. */
hd_status hd_check_arrays(hd_ctx *ctx, const hd_session *s, const void *const *inputs,
                          const void *const *outputs);

hd_status hd_slot_open(hd_ctx *ctx, hd_session *s, int core, struct hd_slot **out);

/* The device of a runner that a slot uses. */
struct hd_runner *hd_slot_runner(hd_session *s, const struct hd_slot *t, int runner);
/* Opens the machine's further cores, `most` in all; how many there are is s->n_cores + 1. */
hd_status hd_session_cores(hd_ctx *ctx, hd_session *s, int most);

/* ---- whole_graph.c: where the only device runs graphs */
hd_status hd_whole_open(hd_ctx *ctx, hd_session *s);
hd_status hd_whole_buffers(hd_ctx *ctx, const hd_session *s, struct hd_slot *t);
hd_status hd_whole_run(hd_ctx *ctx, hd_session *s, struct hd_slot *t, const void *const *inputs,
                       void *const *outputs);
hd_status hd_whole_value(hd_ctx *ctx, hd_session *s, int value, void *out);

/* ---- state.c: what runs leave for the next one. Before the first run, and each one */
hd_status hd_state_begin(hd_ctx *ctx, hd_session *s, struct hd_slot *t);
hd_status hd_state_before_run(hd_ctx *ctx, hd_session *s, struct hd_slot *t,
                              const void *const *inputs, void *const *outputs);
void hd_state_after_run(hd_session *s, struct hd_slot *t);
/* One value from the arena to dense. */
hd_status hd_slot_fetch(hd_ctx *ctx, hd_session *s, struct hd_slot *t, int value);

/* A part of a run ended; NULL where nobody wants to know. */
struct hd_span_sink {
    void (*span)(void *user, int step, bool on_machine, uint64_t start_ns, uint64_t end_ns);
    void *user;
};
hd_status hd_slot_run(hd_ctx *ctx, hd_session *s, struct hd_slot *slot, const void *const *inputs,
                      void *const *outputs, const struct hd_span_sink *sink);
uint64_t hd_now_ns(void); /* monotonic */

/* Ends the threads; requests that have not begun do not run. */
void hd_queue_close(struct hd_queue *q);

#endif
