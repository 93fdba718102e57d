/* State of a model: its part of the model file, and the form in which it is saved. */
#include "runtime/device/states.h"

#include <string.h>
#include <zlib.h>

#include "runtime/base/num.h"

#define MAGIC UINT32_C(0x1a534448) /* "HDS\x1a" */

int hd_state_in(const hd_model *m, int i) {
    return m->inputs[m->n_inputs - m->n_states + i];
}

int hd_state_out(const hd_model *m, int i) {
    return m->outputs[m->n_outputs - m->n_states + i];
}

bool hd_state_stays(const hd_model *m, int i) {
    const struct hd_value_info *in = &m->values[hd_state_in(m, i)],
                               *out = &m->values[hd_state_out(m, i)];
    return in->in_arena && out->in_arena && in->arena_offset == out->arena_offset &&
           in->layout == out->layout && in->c_pad == out->c_pad;
}

static size_t bytes_of(const hd_model *m, int i) {
    return hd_value_dense_bytes(&m->values[hd_state_in(m, i)]);
}

/* ---- model file ----------------------------------------------------------------------------- */

void hd_states_put(struct hd_buf *b, const hd_model *m) {
    hd_buf_u32(b, m->network_hash);
    hd_buf_u32(b, (uint32_t)m->n_states);
    for (int i = 0; i < m->n_states; i++) hd_buf_put(b, m->initial[i], bytes_of(m, i));
}

const char *hd_states_get(struct hd_cursor *c, hd_model *m) {
    m->network_hash = hd_cursor_u32(c);
    m->n_states = (int)hd_cursor_u32(c);
    if (c->bad || m->n_states < 0 || m->n_states > m->n_inputs || m->n_states > m->n_outputs)
        return "more states than inputs or outputs";
    m->initial = hd_new_array(m->arena, const void *, (size_t)m->n_states + 1);
    for (int i = 0; i < m->n_states; i++) {
        const struct hd_value_info *in = &m->values[hd_state_in(m, i)],
                                   *out = &m->values[hd_state_out(m, i)];
        if (in->dtype != out->dtype || hd_value_dense_bytes(out) != bytes_of(m, i))
            return "a state that changes its type or shape";
        const void *data = hd_cursor_take(c, bytes_of(m, i));
        if (c->bad) return "ends too early";
        m->initial[i] = hd_dup(m->arena, data, bytes_of(m, i));
    }
    return NULL;
}

/* ---- saved state ---------------------------------------------------------------------------- */

size_t hd_states_bytes(const hd_model *m) {
    size_t n = HD_STATE_HEAD;
    for (int i = 0; i < m->n_states; i++) n += bytes_of(m, i);
    return n;
}

static void put_u32(unsigned char *to, uint32_t v) {
    for (int i = 0; i < 4; i++) to[i] = (unsigned char)(v >> 8 * i);
}

static uint32_t crc_of(const unsigned char *data, size_t bytes) {
    return (uint32_t)crc32_z(0, data + HD_STATE_HEAD, bytes - HD_STATE_HEAD);
}

void hd_states_seal(const hd_model *m, unsigned char *data) {
    size_t bytes = hd_states_bytes(m);
    uint64_t rest = bytes - HD_STATE_HEAD;
    put_u32(data, MAGIC);
    put_u32(data + 4, m->network_hash);
    put_u32(data + 8, (uint32_t)rest);
    put_u32(data + 12, (uint32_t)(rest >> 32));
    put_u32(data + 16, crc_of(data, bytes));
}

hd_status hd_states_check(hd_ctx *ctx, const hd_model *m, const void *data, size_t bytes) {
    struct hd_cursor c = {.data = data, .n = bytes};
    size_t want = hd_states_bytes(m);
    uint32_t magic = hd_cursor_u32(&c), hash = hd_cursor_u32(&c);
    uint64_t rest = hd_cursor_u64(&c);
    uint32_t crc = hd_cursor_u32(&c);
    if (c.bad || magic != MAGIC)
        return hd_fail(ctx, HD_INVALID,
                       "%s: not a saved state: begins with 0x%08x, want 0x%08x; save one with "
                       "this network",
                       m->name, magic, MAGIC);
    if (hash != m->network_hash)
        return hd_fail(ctx, HD_MISMATCH,
                       "%s: the state is of another network (fingerprint 0x%08x), this one is "
                       "0x%08x; save one with this network",
                       m->name, hash, m->network_hash);
    if (rest != bytes - HD_STATE_HEAD || bytes != want)
        return hd_fail(ctx, HD_INVALID, "%s: a state of %zu bytes, want %zu; it was cut short",
                       m->name, bytes, want);
    if (crc_of(data, bytes) != crc)
        return hd_fail(ctx, HD_INVALID, "%s: the state is damaged: checksum 0x%08x, want 0x%08x",
                       m->name, crc_of(data, bytes), crc);
    return HD_OK;
}
