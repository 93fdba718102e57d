/* The model container: create, load. model_save.c writes it. */
#include "runtime/device/model.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "runtime/base/io.h"
#include "runtime/base/num.h"
#include "runtime/device/model_file.h"
#include "runtime/device/states.h"

#define VALUE_BYTES_MAX (UINT64_C(2) << 30) /* as in a graph */

hd_model *hd_model_create(void) {
    hd_arena *a = hd_arena_create();
    hd_model *m = hd_new(a, hd_model);
    m->arena = a;
    m->name = "";
    return m;
}

void hd_model_destroy(hd_model *m) {
    if (m) hd_arena_destroy(m->arena);
}

/* ---- load --------------------------------------------------------------------------------- */

struct loader {
    hd_ctx *ctx;
    const char *file;
    hd_model *m;
    struct hd_cursor section[SECTIONS];
};

static hd_status damaged(struct loader *l, enum section s, const char *what) {
    return hd_fail(l->ctx, HD_INVALID, "%s: section %s: %s; compile the model again", l->file,
                   section_name[s], what);
}

static int *get_list(struct hd_cursor *c, hd_arena *a, int *out_n) {
    int n = hd_cursor_count(c, 4), *list = hd_new_array(a, int, n ? (size_t)n : 1);
    for (int i = 0; i < n; i++) list[i] = (int)hd_cursor_u32(c);
    *out_n = n;
    return list;
}

static hd_status get_header(struct loader *l, const void *data, size_t bytes) {
    struct hd_cursor c = {.data = data, .n = bytes};
    uint32_t magic = hd_cursor_u32(&c), format = hd_cursor_u32(&c);
    l->m->isa_hash = hd_cursor_u32(&c);
    l->m->machine_hash = hd_cursor_u32(&c);
    uint64_t table = hd_cursor_u64(&c);
    uint32_t n_sections = hd_cursor_u32(&c);
    hd_cursor_u32(&c);
    uint64_t total = hd_cursor_u64(&c);
    uint32_t crc = hd_cursor_u32(&c);
    if (bytes < 4 || magic != MAGIC)
        return hd_fail(l->ctx, HD_INVALID, "%s: not a .hdl file: begins with 0x%08x, want 0x%08x",
                       l->file, magic, MAGIC);
    if (bytes < HEADER_BYTES)
        return hd_fail(l->ctx, HD_INVALID, "%s: cut short: %zu bytes, the header has %d", l->file,
                       bytes, HEADER_BYTES);
    if (format != FORMAT)
        return hd_fail(l->ctx, HD_MISMATCH,
                       "%s: file format %u, for instruction set %s; this program reads %d, for %s; "
                       "compile it again: heddle compile MODEL.onnx -o %s",
                       l->file, format, hd_isa_version(l->m->isa_hash), FORMAT, HD_ISA_VERSION_TEXT,
                       l->file);
    if (total != bytes)
        return hd_fail(l->ctx, HD_INVALID, "%s: cut short: %zu bytes, the header says %llu",
                       l->file, bytes, (unsigned long long)total);
    uint32_t got =
        (uint32_t)crc32_z(0, (const unsigned char *)data + HEADER_BYTES, bytes - HEADER_BYTES);
    if (got != crc)
        return hd_fail(l->ctx, HD_INVALID, "%s: damaged: checksum 0x%08x, the header says 0x%08x",
                       l->file, got, crc);
    if (l->m->isa_hash != hd_isa_hash())
        return hd_fail(
            l->ctx, HD_MISMATCH,
            "%s: made for instruction set %s (0x%08x), this program has %s (0x%08x); compile it "
            "again: heddle compile MODEL.onnx -o %s",
            l->file, hd_isa_version(l->m->isa_hash), l->m->isa_hash, HD_ISA_VERSION_TEXT,
            hd_isa_hash(), l->file);
    if (table != HEADER_BYTES || n_sections != SECTIONS)
        return hd_fail(l->ctx, HD_INVALID,
                       "%s: section table at %llu with %u entries, want %d with %d", l->file,
                       (unsigned long long)table, n_sections, HEADER_BYTES, SECTIONS);
    c.at = HEADER_BYTES;
    for (int s = 0; s < SECTIONS; s++) {
        const void *name = hd_cursor_take(&c, 8);
        uint64_t at = hd_cursor_u64(&c), n = hd_cursor_u64(&c);
        if (!name || memcmp(name, section_name[s], 4) || at > bytes || n > bytes - at)
            return damaged(l, (enum section)s, "its entry in the table is wrong");
        l->section[s] =
            (struct hd_cursor){.data = (const unsigned char *)data + at, .n = (size_t)n};
    }
    return HD_OK;
}

static hd_status get_machine(struct loader *l) {
    struct hd_cursor *c = &l->section[MACH];
    hd_model *m = l->m;
    m->name = hd_cursor_str(c, m->arena);
    const char *name = hd_cursor_str(c, m->arena);
    m->machine = hd_machines[0]; /* what an older file does not have, as cores: 1 */
    if (strlen(name) >= sizeof m->machine.name)
        return damaged(l, MACH, "the machine's name is too long");
    memcpy(m->machine.name, name, strlen(name) + 1);
    for (int n = hd_cursor_count(c, 8); n > 0; n--) {
        const char *key = hd_cursor_str(c, m->arena);
        uint32_t v = hd_cursor_u32(c);
        int i = 0;
        while (i < hd_n_machine_params && strcmp(key, hd_machine_params[i].name)) i++;
        if (i == hd_n_machine_params) return damaged(l, MACH, "unknown machine parameter");
        memcpy((char *)&m->machine + hd_machine_params[i].offset, &v, sizeof v);
    }
    if (c->bad) return damaged(l, MACH, "ends too early");
    TRY(hd_note(l->ctx, hd_machine_check(l->ctx, &m->machine), "while loading %s", l->file));
    if (hd_machine_hash(&m->machine) != m->machine_hash)
        return hd_fail(
            l->ctx, HD_MISMATCH,
            "%s: machine %s has fingerprint 0x%08x, the header says 0x%08x; compile again", l->file,
            m->machine.name, hd_machine_hash(&m->machine), m->machine_hash);
    return HD_OK;
}

static hd_status check_value(struct loader *l, const struct hd_value_info *v) {
    size_t bytes = (size_t)v->elem_bytes, arena = (size_t)v->c_pad;
    if (v->elem_bytes < 1 || v->elem_bytes > 8 || (v->elem_bytes & (v->elem_bytes - 1)))
        return damaged(l, VALU, "a value with elements that are not 1, 2, 4 or 8 bytes");
    for (int k = 0; k < v->rank; k++)
        if (v->dim[k] < 0 || !hd_size_mul(bytes, (size_t)v->dim[k], &bytes) ||
            bytes > VALUE_BYTES_MAX)
            return damaged(l, VALU, "a value with a dimension out of range");
    if (v->layout > HD_LAYOUT_ROWS) return damaged(l, VALU, "a value with an unknown layout");
    if (v->layout != HD_LAYOUT_DENSE) {
        int channel = v->layout == HD_LAYOUT_ROWS ? v->rank - 1 : 1;
        if (channel < 0 || channel >= v->rank ||
            (v->elem_bytes > 2 && v->layout != HD_LAYOUT_ROWS) ||
            v->c_pad / v->elem_bytes < v->dim[channel])
            return damaged(
                l, VALU,
                "a value for a machine that is not int8, int16 or rows, or has no channels, "
                "or more than c_pad");
        for (int k = 0; k < v->rank; k++)
            if (k != channel && !hd_size_mul(arena, (size_t)v->dim[k], &arena))
                return damaged(l, VALU, "a value with a dimension out of range");
        bytes = arena;
    }
    if (v->in_arena &&
        (v->arena_offset > l->m->arena_bytes || bytes > l->m->arena_bytes - v->arena_offset))
        return damaged(l, VALU, "a value outside the arena");
    if (v->layer < -1 || v->tensor < 0) return damaged(l, VALU, "a value of no tensor or layer");
    return HD_OK;
}

static hd_status check_list(struct loader *l, enum section s, const int *list, int n) {
    for (int i = 0; i < n; i++)
        if (list[i] < 0 || list[i] >= l->m->n_values)
            return damaged(l, s, "names a value that is not there");
    return HD_OK;
}

static hd_status get_values(struct loader *l) {
    struct hd_cursor *c = &l->section[VALU];
    hd_model *m = l->m;
    m->arena_bytes = hd_cursor_u64(c);
    if (m->arena_bytes > UINT32_MAX) return damaged(l, VALU, "an arena beyond 4 GiB");
    m->n_values = hd_cursor_count(c, 48);
    m->values = hd_new_array(m->arena, struct hd_value_info, (size_t)m->n_values + 1);
    for (int i = 0; i < m->n_values; i++) {
        struct hd_value_info *v = &m->values[i];
        v->name = hd_cursor_str(c, m->arena);
        v->dtype = (int)hd_cursor_u32(c);
        v->elem_bytes = (int)hd_cursor_u32(c);
        uint32_t rank = hd_cursor_u32(c);
        if (rank > HD_VALUE_RANK) return damaged(l, VALU, "a value with more than 8 dimensions");
        v->rank = (int)rank;
        for (int k = 0; k < v->rank; k++) v->dim[k] = (int64_t)hd_cursor_u64(c);
        v->tensor = (int)hd_cursor_u32(c);
        v->in_arena = hd_cursor_u32(c) != 0;
        v->arena_offset = hd_cursor_u64(c);
        v->layout = (enum hd_layout)hd_cursor_u32(c);
        v->c_pad = (int64_t)hd_cursor_u64(c);
        v->layer = (int)hd_cursor_u32(c);
        if (c->bad) return damaged(l, VALU, "ends too early");
        TRY(check_value(l, v));
    }
    m->inputs = get_list(c, m->arena, &m->n_inputs);
    m->outputs = get_list(c, m->arena, &m->n_outputs);
    if (c->bad) return damaged(l, VALU, "ends too early");
    TRY(check_list(l, VALU, m->inputs, m->n_inputs));
    TRY(check_list(l, VALU, m->outputs, m->n_outputs));
    const char *wrong = hd_states_get(c, m);
    return wrong ? damaged(l, VALU, wrong) : HD_OK;
}

static const char *text_or_null(const char *text) {
    return text && *text ? text : NULL;
}

static hd_status get_steps(struct loader *l) {
    struct hd_cursor *c = &l->section[STEP];
    hd_model *m = l->m;
    m->n_steps = hd_cursor_count(c, 32);
    m->steps = hd_new_array(m->arena, struct hd_step, (size_t)m->n_steps + 1);
    for (int i = 0; i < m->n_steps; i++) {
        struct hd_step *s = &m->steps[i];
        uint32_t kind = hd_cursor_u32(c);
        s->kind = kind == HD_STEP_PROG ? HD_STEP_PROG : HD_STEP_HOST;
        s->code_offset = hd_cursor_u32(c);
        s->code_bytes = hd_cursor_u32(c);
        s->nodes = get_list(c, m->arena, &s->n_nodes);
        s->inputs = get_list(c, m->arena, &s->n_inputs);
        s->outputs = get_list(c, m->arena, &s->n_outputs);
        s->device = text_or_null(hd_cursor_str(c, m->arena));
        s->why = text_or_null(hd_cursor_str(c, m->arena));
        if (c->bad) return damaged(l, STEP, "ends too early");
        if (kind > HD_STEP_PROG) return damaged(l, STEP, "a step of unknown kind");
        TRY(check_list(l, STEP, s->inputs, s->n_inputs));
        TRY(check_list(l, STEP, s->outputs, s->n_outputs));
        for (int k = 0; k < s->n_nodes; k++)
            if (s->nodes[k] < 0) return damaged(l, STEP, "names a node that is not there");
        if (kind == HD_STEP_PROG &&
            (s->code_offset % HD_CODE_ALIGN || s->code_bytes % 4 ||
             s->code_offset > m->image_bytes || s->code_bytes > m->image_bytes - s->code_offset))
            return damaged(l, STEP, "a program outside the image, or not aligned");
    }
    return HD_OK;
}

static hd_status get_layers(struct loader *l) {
    struct hd_cursor *c = &l->section[LAYR];
    hd_model *m = l->m;
    m->n_layers = hd_cursor_count(c, 80);
    m->layers = hd_new_array(m->arena, struct hd_layer_info, (size_t)m->n_layers + 1);
    for (int i = 0; i < m->n_layers; i++) {
        struct hd_layer_info *d = &m->layers[i];
        d->name = hd_cursor_str(c, m->arena);
        d->op = hd_cursor_str(c, m->arena);
        d->macs = (int64_t)hd_cursor_u64(c);
        d->vector_ops = (int64_t)hd_cursor_u64(c);
        d->unavoidable_bytes = (int64_t)hd_cursor_u64(c);
        d->bounds.mx_cycles = (int64_t)hd_cursor_u64(c);
        d->bounds.vx_cycles = (int64_t)hd_cursor_u64(c);
        d->bounds.chain_cycles = (int64_t)hd_cursor_u64(c);
        d->bounds.read_bytes = (int64_t)hd_cursor_u64(c);
        d->bounds.write_bytes = (int64_t)hd_cursor_u64(c);
        d->step = (int)hd_cursor_u32(c);
        d->plan = hd_cursor_str(c, m->arena);
        if (!c->bad && (d->step < 0 || d->step >= m->n_steps))
            return damaged(l, LAYR, "a layer of a step that is not there");
    }
    for (int i = 0; i < m->n_values; i++)
        if (m->values[i].layer >= m->n_layers)
            return damaged(l, VALU, "a value of a layer that is not there");
    return c->bad ? damaged(l, LAYR, "ends too early") : HD_OK;
}

static hd_status get_rest(struct loader *l) {
    hd_model *m = l->m;
    struct hd_cursor *c = &l->section[HOST];
    m->n_host_ops = hd_cursor_count(c, 16);
    m->host_ops = hd_new_array(m->arena, struct hd_host_op, (size_t)m->n_host_ops + 1);
    for (int i = 0; i < m->n_host_ops; i++) {
        struct hd_host_op *h = &m->host_ops[i];
        h->node = hd_cursor_str(c, m->arena);
        h->op = hd_cursor_str(c, m->arena);
        h->reason = hd_cursor_str(c, m->arena);
        h->hint = hd_cursor_str(c, m->arena);
        h->ns = (int64_t)hd_cursor_u64(c);
    }
    if (c->bad) return damaged(l, HOST, "ends too early");
    c = &l->section[STAT];
    m->planned_bytes = (int64_t)hd_cursor_u64(c);
    m->naive_bytes = (int64_t)hd_cursor_u64(c);
    m->lower_bound_bytes = (int64_t)hd_cursor_u64(c);
    m->n_ops = (int64_t)hd_cursor_u64(c);
    m->n_bundles = (int64_t)hd_cursor_u64(c);
    return c->bad ? damaged(l, STAT, "ends too early") : HD_OK;
}

/* [n][h + pt + pb][w + pl + pr][c_pad] bytes; false when a dimension is out of range. */
static bool place_bytes(const struct hd_place *p, bool padded, uint64_t *out) {
    const int limit = 65535 + 256, dim[] = {p->h, p->w, p->c, p->c_pad},
              pad[] = {p->pt, p->pb, p->pl, p->pr};
    size_t bytes = 1;
    if (p->n < 1) return false;
    for (size_t i = 0; i < sizeof dim / sizeof dim[0]; i++)
        if (dim[i] < 1 || dim[i] > limit) return false;
    for (int i = 0; i < 4; i++)
        if (pad[i] < 0 || pad[i] > limit) return false;
    if (p->c * (p->wide ? 2 : 1) > p->c_pad) return false;
    const int stored[] = {p->n, p->h + (padded ? p->pt + p->pb : 0),
                          p->w + (padded ? p->pl + p->pr : 0), p->c_pad};
    for (int i = 0; i < 4; i++)
        if (!hd_size_mul(bytes, (size_t)stored[i], &bytes) || bytes > VALUE_BYTES_MAX) return false;
    *out = bytes;
    return true;
}

static hd_status check_place(struct loader *l, const struct hd_place *p) {
    const hd_model *m = l->m;
    uint64_t xm, arena;
    if (p->tensor < 0 || p->layer < -1 || p->layer >= m->n_layers)
        return damaged(l, PLAC, "a place of no tensor or layer");
    if (!place_bytes(p, true, &xm) || !place_bytes(p, false, &arena))
        return damaged(l, PLAC, "a place with a dimension out of range");
    int columns = p->w + p->pl + p->pr, part = p->apart ? (columns + 1) / 2 : columns;
    if (p->rolling < 0 || p->rolling > (int64_t)p->n * p->h || p->pitch < part * p->c_pad)
        return damaged(l, PLAC, "a place with rows out of range");
    int64_t rows = p->rolling ? p->rolling : (int64_t)p->n * (p->h + p->pt + p->pb);
    if (p->rolling || p->apart) xm = (uint64_t)rows * (uint64_t)p->pitch;
    if (p->apart < 0 || (p->apart && (uint64_t)p->apart < xm))
        return damaged(l, PLAC, "a place with columns out of range");
    xm += (uint64_t)p->apart;
    /* of the last pixel of a part of another tensor */
    uint64_t beside = p->rolling ? 0 : (uint64_t)(p->c_pad - p->c);
    if (p->on_chip && (p->xm_bytes + beside < xm || p->xm_bytes > m->machine.xm_bytes ||
                       p->xm_offset > m->machine.xm_bytes - p->xm_bytes))
        return damaged(l, PLAC, "a place outside XM");
    if (p->in_arena && (p->arena_bytes < arena || p->arena_bytes > m->arena_bytes ||
                        p->arena_offset > m->arena_bytes - p->arena_bytes))
        return damaged(l, PLAC, "a place outside the arena");
    return HD_OK;
}

static hd_status get_places(struct loader *l) {
    struct hd_cursor *c = &l->section[PLAC];
    hd_model *m = l->m;
    m->xm_ring = hd_cursor_u64(c);
    m->n_places = hd_cursor_count(c, PLACE_BYTES);
    m->places = hd_new_array(m->arena, struct hd_place, (size_t)m->n_places + 1);
    for (int i = 0; i < m->n_places; i++) {
        struct hd_place *p = &m->places[i];
        int v[PLACE_INTS];
        for (int k = 0; k < PLACE_INTS; k++) v[k] = (int)hd_cursor_u32(c);
        *p = (struct hd_place){.tensor = v[0],
                               .layer = v[1],
                               .first = v[2],
                               .last = v[3],
                               .comes_in = v[4] != 0,
                               .goes_out = v[5] != 0,
                               .on_chip = v[6] != 0,
                               .in_arena = v[7] != 0,
                               .n = v[8],
                               .h = v[9],
                               .w = v[10],
                               .c = v[11],
                               .c_pad = v[12],
                               .pt = v[13],
                               .pb = v[14],
                               .pl = v[15],
                               .pr = v[16],
                               .pitch = v[17],
                               .rolling = v[18],
                               .apart = v[19],
                               .wide = v[20] != 0};
        p->xm_offset = hd_cursor_u64(c);
        p->xm_bytes = hd_cursor_u64(c);
        p->arena_offset = hd_cursor_u64(c);
        p->arena_bytes = hd_cursor_u64(c);
        if (c->bad) return damaged(l, PLAC, "ends too early");
        TRY(check_place(l, p));
    }
    return c->bad ? damaged(l, PLAC, "ends too early") : HD_OK;
}

static hd_status load_all(struct loader *l, const void *data, size_t bytes) {
    hd_model *m = l->m;
    TRY(get_header(l, data, bytes));
    TRY(get_machine(l));
    m->graph = hd_dup(m->arena, l->section[GRPH].data, l->section[GRPH].n);
    m->graph_bytes = l->section[GRPH].n;
    m->image = hd_dup(m->arena, l->section[IMAG].data, l->section[IMAG].n);
    m->image_bytes = l->section[IMAG].n;
    if (m->image_bytes > UINT32_MAX) return damaged(l, IMAG, "an image beyond 4 GiB");
    TRY(get_values(l));
    TRY(get_steps(l));
    TRY(get_layers(l));
    TRY(get_rest(l));
    return get_places(l);
}

hd_status hd_model_load_memory(hd_ctx *ctx, const void *data, size_t bytes, const char *name,
                               hd_model **out) {
    struct loader l = {.ctx = ctx, .file = name, .m = hd_model_create()};
    hd_status s = load_all(&l, data, bytes);
    if (s == HD_OK)
        *out = l.m;
    else
        hd_model_destroy(l.m);
    return s;
}

hd_status hd_model_load(hd_ctx *ctx, const char *path, hd_model **out) {
    void *data;
    size_t bytes;
    TRY(hd_file_read(ctx, path, &data, &bytes));
    hd_status s = hd_model_load_memory(ctx, data, bytes, path, out);
    free(data);
    return s;
}
