/* Machines: the named ones, machine files, one-key changes, checks and the fingerprint. */
#include "isa/isa.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/clock.h"

const struct hd_param_info hd_machine_params[] = {
#define PARAM(name, tiny, base, big, nano, lean, k26, min, max, fp, doc)                           \
    {#name, doc, offsetof(struct hd_machine, name), min, max, fp},
#include "isa/machine.def"
};
const int hd_n_machine_params = sizeof hd_machine_params / sizeof hd_machine_params[0];

const struct hd_machine hd_machines[] = {
    {
        .name = "tiny",
#define PARAM(name, tiny, base, big, nano, lean, k26, ...) .name = tiny,
#include "isa/machine.def"
    },
    {
        .name = "base",
#define PARAM(name, tiny, base, big, nano, lean, k26, ...) .name = base,
#include "isa/machine.def"
    },
    {
        .name = "big",
#define PARAM(name, tiny, base, big, nano, lean, k26, ...) .name = big,
#include "isa/machine.def"
    },
    {
        .name = "nano",
#define PARAM(name, tiny, base, big, nano, lean, k26, ...) .name = nano,
#include "isa/machine.def"
    },
    {
        .name = "lean",
#define PARAM(name, tiny, base, big, nano, lean, k26, ...) .name = lean,
#include "isa/machine.def"
    },
    {
        .name = "k26",
#define PARAM(name, tiny, base, big, nano, lean, k26, ...) .name = k26,
#include "isa/machine.def"
    },
};
const int hd_n_machines = sizeof hd_machines / sizeof hd_machines[0];

static const char blanks[] = " \t\r\n\v\f";

static uint32_t get(const struct hd_machine *m, const struct hd_param_info *p) {
    uint32_t v;
    memcpy(&v, (const char *)m + p->offset, sizeof v);
    return v;
}

static const struct hd_machine *named(const char *name, size_t len) {
    for (int i = 0; i < hd_n_machines; i++)
        if (strlen(hd_machines[i].name) == len && memcmp(hd_machines[i].name, name, len) == 0)
            return &hd_machines[i];
    return NULL;
}

static void list_params(char *out, size_t bytes) {
    size_t at = 0;
    for (int i = 0; i < hd_n_machine_params && at < bytes; i++)
        at += (size_t)snprintf(out + at, bytes - at, "%s%s", i ? ", " : "",
                               hd_machine_params[i].name);
}

/* Sets the parameter `key`; `where` says whose key and value these are. */
static hd_status set_param(hd_ctx *ctx, struct hd_machine *m, const char *where, const char *key,
                           size_t key_len, const char *value, size_t value_len) {
    const struct hd_param_info *p = NULL;
    for (int i = 0; i < hd_n_machine_params; i++)
        if (strlen(hd_machine_params[i].name) == key_len &&
            memcmp(hd_machine_params[i].name, key, key_len) == 0)
            p = &hd_machine_params[i];
    if (!p) {
        char all[256];
        list_params(all, sizeof all);
        return hd_fail(ctx, HD_INVALID, "%s: no machine parameter '%.*s'; there are %s", where,
                       (int)key_len, key, all);
    }
    char text[32] = "";
    char *end = text;
    if (value_len < sizeof text) memcpy(text, value, value_len);
    errno = 0;
    unsigned long long v = text[0] >= '0' && text[0] <= '9' ? strtoull(text, &end, 0) : 0;
    if (end == text || *end || errno || v < p->min || v > p->max)
        return hd_fail(ctx, HD_INVALID,
                       "%s: %s = '%.*s' is not a number in %" PRIu32 "..%" PRIu32 " (%s)", where,
                       p->name, (int)value_len, value, p->min, p->max, p->doc);
    uint32_t u = (uint32_t)v;
    memcpy((char *)m + p->offset, &u, sizeof u);
    return HD_OK;
}

/* Splits "key = value" without blanks around either; false when there is no '=' or a side is empty.
 */
static bool split(const char *line, size_t len, const char **key, size_t *key_len,
                  const char **value, size_t *value_len) {
    const char *eq = memchr(line, '=', len);
    if (!eq) return false;
    const char *end = line + len, *k = line, *k_end = eq, *v = eq + 1;
    while (k < k_end && strchr(blanks, *k)) k++;
    while (k < k_end && strchr(blanks, k_end[-1])) k_end--;
    while (v < end && strchr(blanks, *v)) v++;
    while (v < end && strchr(blanks, end[-1])) end--;
    *key = k, *key_len = (size_t)(k_end - k);
    *value = v, *value_len = (size_t)(end - v);
    return *key_len && *value_len;
}

static bool is_key(const char *key, size_t len, const char *want) {
    return strlen(want) == len && memcmp(key, want, len) == 0;
}

static hd_status file_line(hd_ctx *ctx, struct hd_machine *m, const char *where, const char *line) {
    size_t len = strcspn(line, "#");
    if (strspn(line, blanks) >= len) return HD_OK;
    const char *key, *value;
    size_t key_len, value_len;
    if (!split(line, len, &key, &key_len, &value, &value_len))
        return hd_fail(ctx, HD_INVALID, "%s: got '%.*s', want key = value", where,
                       (int)strcspn(line, "#\n"), line);
    if (!is_key(key, key_len, "base"))
        return set_param(ctx, m, where, key, key_len, value, value_len);
    const struct hd_machine *from = named(value, value_len);
    if (!from)
        return hd_fail(
            ctx, HD_INVALID,
            "%s: base = '%.*s' is no named machine; there are tiny, base, big, nano, lean, k26",
            where, (int)value_len, value);
    char name[sizeof m->name];
    memcpy(name, m->name, sizeof name);
    *m = *from;
    memcpy(m->name, name, sizeof name);
    return HD_OK;
}

static hd_status load_file(hd_ctx *ctx, FILE *f, const char *path, struct hd_machine *out) {
    char line[512], where[300];
    *out = *named("base", 4);
    const char *slash = strrchr(path, '/');
    snprintf(out->name, sizeof out->name, "%.31s", slash ? slash + 1 : path);
    for (int i = 1; fgets(line, sizeof line, f); i++) {
        snprintf(where, sizeof where, "%.280s:%d", path, i);
        TRY(file_line(ctx, out, where, line));
    }
    if (ferror(f)) return hd_fail(ctx, HD_IO, "%s: cannot read: %s", path, strerror(errno));
    return hd_note(ctx, hd_machine_check(ctx, out), "in machine file %s", path);
}

hd_status hd_machine_load(hd_ctx *ctx, const char *name_or_file, struct hd_machine *out) {
    const struct hd_machine *m = named(name_or_file, strlen(name_or_file));
    if (m) {
        *out = *m;
        return HD_OK;
    }
    FILE *f = fopen(name_or_file, "r");
    if (!f)
        return hd_fail(ctx, HD_INVALID,
                       "machine '%s': not tiny, base, big, nano, lean or k26, and no such file "
                       "(%s); a machine file has "
                       "lines key = value",
                       name_or_file, strerror(errno));
    struct hd_machine got;
    hd_status s = load_file(ctx, f, name_or_file, &got);
    fclose(f);
    if (s == HD_OK) *out = got;
    return s;
}

hd_status hd_machine_set(hd_ctx *ctx, struct hd_machine *m, const char *key_value) {
    const char *key, *value;
    size_t key_len, value_len;
    if (!split(key_value, strlen(key_value), &key, &key_len, &value, &value_len))
        return hd_fail(ctx, HD_INVALID, "machine %s: got '%s', want key=value, e.g. k=8", m->name,
                       key_value);
    char where[64];
    snprintf(where, sizeof where, "machine %s", m->name);
    TRY(set_param(ctx, m, where, key, key_len, value, value_len));
    size_t at = strlen(m->name);
    snprintf(m->name + at, sizeof m->name - at, "+%.*s=%.*s", (int)key_len, key, (int)value_len,
             value);
    return HD_OK;
}

static hd_status check_words(hd_ctx *ctx, const struct hd_machine *m, const char *what,
                             uint32_t bytes, uint32_t word_bytes) {
    if (bytes / word_bytes >= 16) return HD_OK;
    return hd_fail(ctx, HD_INVALID,
                   "machine %s: %s has %" PRIu32 " bytes = %" PRIu32 " words of %" PRIu32
                   " bytes, at least 16 words are needed; enlarge it or shrink k, n or axi_bits",
                   m->name, what, bytes, bytes / word_bytes, word_bytes);
}

hd_status hd_machine_check(hd_ctx *ctx, const struct hd_machine *m) {
    for (int i = 0; i < hd_n_machine_params; i++) {
        const struct hd_param_info *p = &hd_machine_params[i];
        uint32_t v = get(m, p);
        bool power = (v || !p->min) && !(v & (v - 1));
        if (v < p->min || v > p->max || (p->fingerprint && !power))
            return hd_fail(ctx, HD_INVALID,
                           "machine %s: %s = %" PRIu32 ", want %s in %" PRIu32 "..%" PRIu32,
                           m->name, p->name, v, p->fingerprint ? "a power of two" : "a number",
                           p->min, p->max);
    }
    uint32_t row = m->k > m->n ? m->k : m->n;
    if (hd_axi_bytes(m) > row) row = hd_axi_bytes(m);
    TRY(check_words(ctx, m, "a bank of xm_bytes", m->xm_bytes / m->xm_banks, row));
    TRY(check_words(ctx, m, "wm_bytes", m->wm_bytes, hd_wm_word_bytes(m)));
    TRY(check_words(ctx, m, "am_bytes", m->am_bytes, hd_am_word_bytes(m)));
    return check_words(ctx, m, "pm_bytes", m->pm_bytes, hd_pm_word_bytes(m));
}

static uint32_t fnv(uint32_t h, const void *data, size_t bytes) {
    const unsigned char *p = data;
    for (size_t i = 0; i < bytes; i++) h = (h ^ p[i]) * UINT32_C(16777619);
    return h;
}

uint32_t hd_machine_hash(const struct hd_machine *m) {
    uint32_t h = UINT32_C(2166136261);
    for (int i = 0; i < hd_n_machine_params; i++) {
        const struct hd_param_info *p = &hd_machine_params[i];
        if (!p->fingerprint) continue;
        uint32_t v = get(m, p);
        unsigned char le[4] = {v & 255, v >> 8 & 255, v >> 16 & 255, v >> 24};
        h = fnv(fnv(h, p->name, strlen(p->name) + 1), le, sizeof le);
    }
    return h;
}

const struct hd_clock *hd_machine_clock(const struct hd_machine *m) {
    static const struct {
        const char *machine;
        struct hd_clock of;
    } clocks[] = {
#define CLOCK(machine, least, likely, most) {#machine, {least, likely, most}},
#include "isa/clock.def"
    };
    for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++) {
        const struct hd_machine *timed = named(clocks[i].machine, strlen(clocks[i].machine));
        if (timed && hd_machine_hash(timed) == hd_machine_hash(m)) return &clocks[i].of;
    }
    return NULL;
}

const char *hd_machine_clock_note(const struct hd_machine *m) {
    const struct hd_clock *c = hd_machine_clock(m);
    return c && c->likely == m->clock_mhz ? "" : " (assumed)";
}
