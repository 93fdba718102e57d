#include "test/chip/chip.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int chip_checks, chip_failed;
const char *chip_device, *chip_test;

void chip_expect(bool ok, const char *what, int64_t got, int64_t low, int64_t high) {
    chip_checks++;
    if (ok) return;
    chip_failed++;
    printf("%s, %s: %s: %lld, want %lld..%lld\n", chip_device, chip_test, what, (long long)got,
           (long long)low, (long long)high);
}
void chip_within(const char *what, int64_t got, int64_t low, int64_t high) {
    chip_expect(got >= low && got <= high, what, got, low, high);
}
void chip_equal(const char *what, int64_t got, int64_t want) {
    chip_within(what, got, want, want);
}

enum { SAME_MAX = 4096, FETCHED = 400 };
static int64_t same[SAME_MAX]; /* what the first device said */
static int n_same, at_same;
static const char *first_device, *this_device;

void chip_same(const char *what, int64_t got) {
    if (!first_device) first_device = chip_device;
    if (this_device != chip_device) at_same = 0;
    this_device = chip_device;
    bool first = first_device == chip_device;
    if (at_same == (first ? SAME_MAX : n_same)) {
        fprintf(stderr, "chip: more than %d values to compare\n", at_same);
        exit(2);
    }
    if (first)
        same[n_same++] = got;
    else
        chip_equal(what, got, same[at_same]);
    at_same++;
}

static const uint64_t image_at = UINT64_C(0x123456000), arena_at = UINT64_C(0x9abcde000);

static void must(const struct chip *c, hd_status s, const char *what) {
    if (s == HD_OK) return;
    fprintf(stderr, "chip: %s: %s\n", what, hd_message(c->ctx));
    exit(2);
}

void chip_open(struct chip *c, const struct hd_mach_backend *b, const char *machine,
               uint32_t latency) {
    *c = (struct chip){.ctx = hd_ctx_create(), .b = b};
    must(c, hd_machine_load(c->ctx, machine, &c->m), machine);
    uint32_t axi = hd_axi_bytes(&c->m);
    struct hd_mem_config cfg = {latency, axi, 16, 0};
    struct hd_device_options o = {.machine = c->m};
    c->mem = hd_axi_mem_create(axi, &cfg);
    c->image = calloc(1, CHIP_DRAM), c->arena = calloc(1, CHIP_DRAM);
    if (!c->mem || !c->image || !c->arena) exit(2);
    hd_axi_mem_region(c->mem, 0, image_at, c->image, CHIP_DRAM);
    hd_axi_mem_region(c->mem, 1, arena_at, c->arena, CHIP_DRAM);
    must(c, b->create(c->ctx, &o, c->mem, &c->self), b->scheme);
}

void chip_close(struct chip *c) {
    c->b->destroy(c->self);
    hd_axi_mem_destroy(c->mem);
    free(c->image);
    free(c->arena);
    hd_ctx_destroy(c->ctx);
}

uint32_t chip_reg(struct chip *c, uint32_t offset) {
    return c->b->reg_read(c->self, offset);
}
uint64_t chip_reg64(struct chip *c, uint32_t offset) {
    uint64_t low = chip_reg(c, offset); /* keeps the high half */
    return low | (uint64_t)chip_reg(c, offset + 4) << 32;
}
void chip_set(struct chip *c, uint32_t offset, uint32_t value) {
    c->b->reg_write(c->self, offset, value);
}

uint32_t *chip_program(struct chip *c, const char *text) {
    uint32_t *words;
    size_t n;
    must(c, hd_asm(c->ctx, &c->m, text, "program", &words, &n), text);
    memcpy(c->image, words, n * 4);
    free(words);
    chip_set(c, HD_REG_image_ptr, (uint32_t)image_at);
    chip_set(c, HD_REG_image_ptr + 4, (uint32_t)(image_at >> 32));
    chip_set(c, HD_REG_arena_ptr, (uint32_t)arena_at);
    chip_set(c, HD_REG_arena_ptr + 4, (uint32_t)(arena_at >> 32));
    chip_set(c, HD_REG_image_bytes, CHIP_DRAM);
    chip_set(c, HD_REG_arena_bytes, CHIP_DRAM);
    chip_set(c, HD_REG_code_offset, 0);
    chip_set(c, HD_REG_watchdog, CHIP_WATCHDOG);
    chip_set(c, HD_REG_cycle_limit, 0);
    return (uint32_t *)(void *)c->image;
}

uint32_t chip_run(struct chip *c) {
    chip_set(c, HD_REG_ap_ctrl, 1);
    if (!c->b->run(c->self, 10000000)) fprintf(stderr, "chip: the program does not end\n");
    if (hd_axi_mem_error(c->mem)) {
        fprintf(stderr, "chip: %s\n", hd_axi_mem_error(c->mem));
        exit(1);
    }
    uint32_t error = chip_reg(c, HD_REG_error);
    chip_same("error, the same on iss and rtl", error);
    chip_same("its unit, the same", chip_reg(c, HD_REG_error_unit));
    chip_same("its word, the same", chip_reg(c, HD_REG_error_pc));
    int64_t cycles = (int64_t)chip_reg64(c, HD_REG_cycles);
    bool fetched =
        cycles > FETCHED; /* the ISS does not wait for bytes of fetch that nobody reads */
    if (!error) chip_same("cycles, the same", fetched ? cycles : 0);
    return error;
}
