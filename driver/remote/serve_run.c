/* A run for a client: its turn, the device, and what it tells while it runs. */
#include <stdlib.h>
#include <string.h>

#include "driver/remote/server.h"
#include "driver/remote/turn.h"
#include "runtime/base/parallel.h"

enum {
    TOLD_BYTES = HD_FRAME_BYTES / 2, /* of operations before they are sent */
    BLOCK_BYTES = 512                /* of a memory, that changed or not */
};

/* ---- the probe ------------------------------------------------------------------------------ */

static void flush(struct hd_server *s, struct hd_buf *b, uint32_t kind) {
    if (b->n) hd_serve_say(s, kind, b->data, b->n);
    b->n = 0;
}

static void tell_memory(struct hd_server *s, int which, size_t all, const uint8_t *data,
                        size_t from, size_t to) {
    struct hd_buf b = {0};
    for (size_t at = from, k; at < to; at += k) {
        k = to - at < TOLD_BYTES ? to - at : TOLD_BYTES;
        b.n = 0;
        hd_buf_u32(&b, (uint32_t)which);
        hd_buf_u64(&b, all);
        hd_buf_u64(&b, at);
        hd_buf_put(&b, data + at, k);
        hd_serve_say(s, HD_FRAME_memory, b.data, b.n);
    }
    hd_buf_free(&b);
}

/* What differs from what the client has, in blocks; all of it at first. */
static void tell_changes(struct hd_server *s, int which, const uint8_t *data, size_t bytes) {
    struct hd_buf *has = &s->shown[which];
    if (has->n != bytes) {
        has->n = 0;
        hd_buf_put(has, data, bytes);
        tell_memory(s, which, bytes, data, 0, bytes);
        return;
    }
    for (size_t at = 0, end; at < bytes; at = end) {
        end = bytes - at < BLOCK_BYTES ? bytes : at + BLOCK_BYTES;
        if (!memcmp(has->data + at, data + at, end - at)) continue;
        memcpy(has->data + at, data + at, end - at);
        tell_memory(s, which, bytes, data, at, end);
    }
}

/* Before an operation is told: the memory that its unit writes, where the client looks at it. */
static void show(struct hd_server *s, const struct hd_op_record *r) {
    struct hd_probe_state now;
    bool arena = r->unit == HD_UNIT_st, xm = r->unit == HD_UNIT_lx || r->unit == HD_UNIT_vx;
    bool first = !s->shown[HD_PROBE_XM].n;
    if ((!arena && !xm && !first) || !s->eye || !s->eye->look(s->eye->device, &now)) return;
    flush(s, &s->ops_told, HD_FRAME_ops);
    for (int i = 0; i < HD_PROBE_MEMORIES; i++) {
        bool wanted =
            (i == HD_PROBE_XM && (xm || first)) || (i == HD_PROBE_ARENA && (arena || first));
        if (wanted && now.memory[i]) tell_changes(s, i, now.memory[i], now.bytes[i]);
    }
}

static void begin(void *user, int step, const uint32_t *program, size_t n_words,
                  const struct hd_probe_eye *eye) {
    struct hd_server *s = user;
    (void)step, (void)program, (void)n_words;
    s->eye = eye;
    for (int i = 0; i < HD_PROBE_MEMORIES; i++) s->shown[i].n = 0;
}

static void op(void *user, const struct hd_op_record *r) {
    struct hd_server *s = user;
    unsigned char bytes[HD_OP_BYTES];
    if (s->wants & HD_WANTS_MEMORY) show(s, r);
    hd_put_op(bytes, r);
    hd_buf_put(&s->ops_told, bytes, sizeof bytes);
    if (s->ops_told.n > TOLD_BYTES) flush(s, &s->ops_told, HD_FRAME_ops);
}

static void dram(void *user, uint64_t cycle, bool is_write, uint32_t bytes) {
    struct hd_server *s = user;
    hd_buf_u64(&s->dram_told, cycle);
    hd_buf_u32(&s->dram_told, is_write);
    hd_buf_u32(&s->dram_told, bytes);
    if (s->dram_told.n > TOLD_BYTES) flush(s, &s->dram_told, HD_FRAME_dram);
}

static void end(void *user, uint64_t cycles, const struct hd_probe_state *state) {
    struct hd_server *s = user;
    struct hd_buf b = {0};
    flush(s, &s->ops_told, HD_FRAME_ops);
    flush(s, &s->dram_told, HD_FRAME_dram);
    hd_buf_u64(&b, cycles);
    hd_serve_say(s, HD_FRAME_end, b.data, b.n);
    hd_buf_free(&b);
    for (int i = 0; s->wants & HD_WANTS_MEMORY && i < HD_PROBE_MEMORIES; i++)
        if (state->memory[i])
            tell_memory(s, i, state->bytes[i], state->memory[i], 0, state->bytes[i]);
}

void hd_serve_probe(struct hd_server *s) {
    s->probe = (struct hd_probe){.user = s,
                                 .begin = begin,
                                 .op = s->wants & HD_WANTS_OP ? op : NULL,
                                 .dram = s->wants & HD_WANTS_DRAM ? dram : NULL,
                                 .end = s->wants & HD_WANTS_END ? end : NULL,
                                 .looks = s->wants & HD_WANTS_MEMORY};
}

/* ---- the run -------------------------------------------------------------------------------- */

static hd_status run_device(struct hd_server *s, const struct hd_served_exec *x,
                            const hd_buffer *io) {
    struct hd_turn turn;
    hd_fence fence;
    int runs = s->o->runs ? s->o->runs : hd_cores();
    bool board = s->ops->is_board;
    if (!hd_turn_take(&turn, s->folder, board ? "board" : "core", board ? 1 : runs, s->ctx))
        return hd_fail(
            s->ctx, HD_DEVICE,
            "%s: %s, step %d: its time was over before its turn came; others run on this "
            "computer, wait longer",
            s->scheme, x->m->model->name, x->step);
    hd_status r = s->ops->submit(s->ctx, s->dev, x->exec, io, &fence);
    if (!r) r = s->ops->wait(s->ctx, s->dev, fence, UINT64_MAX);
    hd_turn_drop(&turn);
    if (r != HD_CANCELLED) return r;
    return hd_note(s->ctx, HD_DEVICE, "%s: %s, step %d: not done in time, stopped", s->scheme,
                   x->m->model->name, x->step);
}

static hd_status run(struct hd_server *s, struct hd_cursor *c, hd_exec **out_exec) {
    uint32_t id = hd_cursor_u32(c);
    int n = hd_cursor_count(c, 4);
    if (c->bad || id >= s->n_execs || !s->execs[id].exec)
        return hd_serve_damaged(s, "run of a step that is not loaded");
    const struct hd_served_exec *x = &s->execs[id];
    if ((uint32_t)n != hd_remote_io_count(x->m->model, x->step))
        return hd_serve_damaged(s, "run with another number of buffers than the step has");
    hd_buffer *io = calloc((size_t)n + 1, sizeof *io);
    if (!io) return hd_fail(s->ctx, HD_NOMEM, "heddle serve: no memory for a run");
    hd_status r = HD_OK;
    for (int i = 0; i < n && !r; i++) {
        uint32_t index = hd_cursor_u32(c);
        if (index >= s->n_buffers || !s->buffers[index].buffer.id)
            r = hd_serve_damaged(s, "run with a buffer that is not there");
        else
            io[i] = s->buffers[index].buffer;
    }
    if (!r) r = run_device(s, x, io);
    free(io);
    *out_exec = x->exec;
    return r;
}

void hd_serve_run(struct hd_server *s, struct hd_cursor *c) {
    struct hd_counters k = {0};
    const struct hd_exec_step *steps = NULL;
    struct hd_buf b = {0};
    hd_exec *x = NULL;
    s->ops_told.n = s->dram_told.n = 0;
    hd_clear(s->ctx);
    hd_status r = run(s, c, &x);
    flush(s, &s->ops_told, HD_FRAME_ops);
    flush(s, &s->dram_told, HD_FRAME_dram);
    hd_buf_u32(&b, r);
    hd_buf_str(&b, r ? hd_message(s->ctx) : "");
    bool counted = !r && s->ops->counters && s->ops->counters(s->ctx, s->dev, &k) == HD_OK;
    hd_buf_u32(&b, counted);
    if (counted) hd_put_counters(&b, &k);
    int n = !r && s->ops->steps ? s->ops->steps(x, &steps) : 0;
    hd_put_steps(&b, steps, n);
    hd_serve_say(s, HD_FRAME_done, b.data, b.n);
    hd_buf_free(&b);
}
