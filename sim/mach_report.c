/* Text of a machine that stopped or stands still, from its registers alone, so the same for every
 * backend. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "sim/mach_dev.h"

struct text {
    char *out;
    size_t bytes;
    int at;
};

static void put(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void put(struct text *t, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    size_t at = (size_t)t->at < t->bytes ? (size_t)t->at : t->bytes;
    t->at += vsnprintf(t->out + at, t->bytes - at, fmt, ap);
    va_end(ap);
}

static void put_op(struct text *t, const uint32_t *program, size_t n, unsigned unit, uint32_t pc) {
    struct hd_op_word op;
    const char *why;
    char line[240];
    put(t, "word %" PRIu32, pc);
    if (unit >= HD_UNITS || pc < HD_PROG_HEADER_WORDS || pc >= n) return;
    if (!hd_op_decode((enum hd_unit)unit, program + pc, n - pc, &op, &why)) return;
    hd_op_text(&op, line, sizeof line);
    put(t, ": %s", line);
}

static void put_semaphores(struct text *t, uint32_t mask, uint32_t nonzero) {
    const char *comma = "";
    put(t, ", waits on semaphore ");
    for (int i = 0; i < HD_SEMAPHORES; i++) {
        if (!(mask >> i & 1)) continue;
        put(t, "%s%d%s", comma, i, nonzero >> i & 1 ? "" : " (is 0)");
        comma = ", ";
    }
}

int hd_mach_state(const struct hd_mach_backend *b, void *self, const uint32_t *program, size_t n,
                  char *out, size_t bytes) {
    struct text t = {out, bytes, 0};
    uint32_t nonzero = b->reg_read(self, HD_REG_sem_nonzero);
    for (unsigned u = 0; u < HD_UNITS; u++) {
        uint32_t queue = b->reg_read(self, HD_REG_queue + 4 * u);
        uint32_t mask = b->reg_read(self, HD_REG_wait_mask + 4 * u);
        uint32_t tag = b->reg_read(self, HD_REG_tag + 4 * u);
        if (!queue && !mask && !(tag >> 31)) continue;
        put(&t, "\n  %s: %" PRIu32 " queued", hd_isa_units[u].name, queue);
        if (tag >> 31) put(&t, ", works on layer %" PRIu32, tag & 0xffff);
        if (mask) put_semaphores(&t, mask, nonzero);
        if (queue || mask || u == HD_UNIT_seq) {
            put(&t, "; next is ");
            put_op(&t, program, n, u, b->reg_read(self, HD_REG_next_pc + 4 * u));
        }
    }
    return t.at;
}

int hd_mach_report(const struct hd_mach_backend *b, void *self, const uint32_t *program, size_t n,
                   char *out, size_t bytes) {
    struct text t = {out, bytes, 0};
    uint32_t error = b->reg_read(self, HD_REG_error), unit = b->reg_read(self, HD_REG_error_unit);
    uint64_t cycles = b->reg_read(self, HD_REG_cycles);
    cycles |= (uint64_t)b->reg_read(self, HD_REG_cycles + 4) << 32;
    put(&t, "error %" PRIu32 ", %s", error, hd_error_text(error));
    if (error == HD_ERR_watchdog || error == HD_ERR_limit) {
        if (error == HD_ERR_watchdog)
            put(&t, " (watchdog %" PRIu32, b->reg_read(self, HD_REG_watchdog));
        else
            put(&t, " (%" PRIu64 "; --max-cycles allows more",
                (uint64_t)b->reg_read(self, HD_REG_cycle_limit) * HD_N_limit_unit);
        put(&t, ", cycle %" PRIu64 "). Units that have work:", cycles);
        size_t at = (size_t)t.at < bytes ? (size_t)t.at : bytes;
        t.at += hd_mach_state(b, self, program, n, out + at, bytes - at);
        return t.at;
    }
    put(&t, " (unit %s, cycle %" PRIu64 ") at ", unit < HD_UNITS ? hd_isa_units[unit].name : "?",
        cycles);
    if (error == HD_ERR_encoding) n = 0; /* what stands there is no operation */
    put_op(&t, program, n, unit, b->reg_read(self, HD_REG_error_pc));
    return t.at;
}
