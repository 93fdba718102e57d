/* Rates, counters, errors and control of the machine, as its registers show them, on iss and rtl.
 *
 * Rates are differences: a program with twice the work takes so many cycles more. */
#include <stdio.h>
#include <string.h>

#include "test/chip/chip.h"

static const char *device;

static uint64_t unit_reg(struct chip *c, uint32_t base, int unit) {
    return chip_reg64(c, base + 8 * (uint32_t)unit);
}

/* Cycles of a program made from a text with numbers in it. */
static int64_t cycles_of(struct chip *c, const char *format, int a, int b) {
    char text[4096];
    snprintf(text, sizeof text, format, a, b);
    chip_program(c, text);
    chip_equal("error", chip_run(c), HD_ERR_none);
    return (int64_t)chip_reg64(c, HD_REG_cycles);
}

/* ---- rates ----------------------------------------------------------------------------------- */

static void rates_mx(struct chip *c) {
    static const char one[] =
        "mx.gemm n0=%d n1=%d n2=1 n3=1 n4=1 n5=1 xs0=1 ws1=1 nred=2\nseq.halt\n";
    chip_test = "mx";
    int64_t t = cycles_of(c, one, 16, 32);
    chip_equal("a word a cycle, no bubble between iterations", cycles_of(c, one, 16, 96) - t,
               16 * 64);
    static const char pair[] = "mx.gemm n0=100 n1=1 n2=1 n3=1 n4=1 n5=1 xs0=1 nred=1 a=0\n"
                               "mx.gemm n0=%d a=%d\nmx.gemm\nmx.gemm\nseq.halt\n";
    static const char single[] =
        "mx.gemm n0=%d n1=1 n2=1 n3=1 n4=1 n5=1 xs0=1 nred=1 a=%d\nseq.halt\n";
    int64_t four = cycles_of(c, pair, 100, 1), whole = cycles_of(c, single, 400, 0);
    chip_within("cycles between operations, 3 gaps", four - whole, 0, 3 * 4);
    cycles_of(c, single, 400, 0);
    chip_within("busy", (int64_t)unit_reg(c, HD_REG_busy, HD_UNIT_mx), 400, 412);
}

static void rates_vx(struct chip *c) {
    static const struct {
        const char *what, *fields;
        int per_n1; /* cycles of an iteration of loop 1 of 8 */
    } v[] = {
        {"map", "a_kind=2 b_kind=4 d=1024", 8},
        {"map of two operands", "a_kind=2 b_kind=3 alu=1 b_scale=1 b=2048 bs0=1 d=1024", 8},
        {"function behind", "a_kind=2 b_kind=4 fn=1 d=1024", 8},
        {"function before the product", "a_kind=2 b_kind=4 b_imm=1 b_scale=1 fn=5 alu=3 d=1024", 8},
        {"table", "a_kind=2 b_kind=4 lut=1 d=1024", 8},
        {"binary32 of AM", "a_kind=1 b_kind=4 d_kind=1 d=256", 8},
        {"sum along words", "a_kind=2 b_kind=4 red=1 nred=1 d=1024", 8},
        {"maximum across lanes", "a_kind=2 b_kind=4 red=2 lanes=1 nred=1 d_kind=1 d=256", 8},
        {"across lanes, each word", "a_kind=2 b_kind=4 red=1 lanes=1 d_kind=2 d=256", 8},
        {"transposed", "a_kind=2 b_kind=4 d_kind=3 d=1024", 8},
        {"everything", "a_kind=2 b_kind=4 red=1 nred=1 lanes=1 fn=2 lut=2 d=1024", 8},
    };
    for (size_t i = 0; i < sizeof v / sizeof v[0]; i++) {
        char text[512];
        snprintf(
            text, sizeof text,
            "vx.map %s n0=8 n1=%%d n2=1 n3=%%d as0=1 ds0=1 a_scale=1 lo=-128 hi=127\nseq.halt\n",
            v[i].fields);
        chip_test = v[i].what;
        int64_t t = cycles_of(c, text, 8, 1);
        chip_equal("a vector a cycle", cycles_of(c, text, 24, 1) - t, 16 * v[i].per_n1);
    }
    chip_test = "dw";
    static const char dw[] =
        "vx.dw a_kind=2 b_kind=4 n0=3 n1=%d n2=3 n3=%d sx=1 as0=1 as2=64 d=1024 "
        "ds1=1 a_scale=1 lo=-128 hi=127\nseq.halt\n";
    int64_t t = cycles_of(c, dw, 8, 1);
    chip_equal("an input vector a cycle", cycles_of(c, dw, 40, 1) - t, 32 * 3);
    chip_test = "banks";
    static const char same[] =
        "vx.map a_kind=2 b_kind=2 alu=1 a=0 b=%d d=2048 n0=200 n1=%d n2=1 n3=1 "
        "as0=1 bs0=1 ds0=1 a_scale=1 b_scale=1 lo=-128 hi=127\nseq.halt\n";
    int64_t two = cycles_of(c, same, 1024, 1);
    chip_within("no stall with operands in two banks",
                (int64_t)unit_reg(c, HD_REG_stall_bank, HD_UNIT_vx), 0, 0);
    chip_equal("operands in one bank take turns", cycles_of(c, same, 200, 1) - two, 200);
    if (strcmp(device, "iss"))
        chip_equal("and that is counted", (int64_t)unit_reg(c, HD_REG_stall_bank, HD_UNIT_vx), 200);
}

static void rates_dma(struct chip *c) { /* latency 200 */
    static const char both[] =
        "{ lx.load seg=1 src=0 dst=0 run=%d n1=1 n2=1 n3=1 ; "
        "st.store seg=1 dst=0x8000 src=16384 run=%d n1=1 n2=1 n3=1 }\nseq.halt\n";
    chip_test = "dma";
    int axi = (int)hd_axi_bytes(&c->m);
    int64_t t = cycles_of(c, both, 4096, 4096), more = cycles_of(c, both, 16384, 16384) - t;
    chip_within("loads and stores at once, a beat a cycle each", more, 12288 / axi,
                12288 / axi + 24);
    chip_within("LX waited for memory", (int64_t)unit_reg(c, HD_REG_stall_mem, HD_UNIT_lx), 150,
                300);
    chip_equal("bytes written", (int64_t)chip_reg64(c, HD_REG_write_bytes), 16384);
    chip_within("bytes read",
                (int64_t)(chip_reg64(c, HD_REG_read_bytes) - chip_reg64(c, HD_REG_code_bytes)),
                16384, 16384);
}

/* ---- counters and errors --------------------------------------------------------------------- */

static void counters(struct chip *c) {
    chip_test = "counters";
    cycles_of(c,
              "lx.load sig=0 seg=1 src=0 dst=0 run=%d n1=1 n2=1 n3=1\n"
              "mx.gemm wait=0 n0=%d n1=1 n2=1 n3=1 n4=1 n5=1 xs0=1 nred=1\nseq.halt\n",
              4096, 64);
    int64_t mx = (int64_t)unit_reg(c, HD_REG_stall_sem, HD_UNIT_mx);
    chip_within("MX waited for the semaphore of LX", mx, 4096 / (int64_t)hd_axi_bytes(&c->m), 1000);
    chip_within("LX was busy", (int64_t)unit_reg(c, HD_REG_busy, HD_UNIT_lx), mx, mx + 16);
    chip_equal("ST did nothing", (int64_t)unit_reg(c, HD_REG_busy, HD_UNIT_st), 0);
    chip_equal("no semaphore is left", chip_reg(c, HD_REG_sem_nonzero), 0);
}

static void fails(struct chip *c, const char *what, const char *text, int flip, uint32_t code,
                  int unit, int pc) {
    chip_test = what;
    uint32_t *w = chip_program(c, text);
    if (flip >= 0) w[flip] ^= flip < 4 ? 1 : UINT32_C(1) << 24;
    chip_equal("code", chip_run(c), code);
    if (unit >= 0) chip_equal("unit", chip_reg(c, HD_REG_error_unit), unit);
    if (pc >= 0) chip_equal("word", chip_reg(c, HD_REG_error_pc), pc);
}

static void errors(struct chip *c) {
    static const char nothing[] = "seq.halt\n";
    static const char load[] = "lx.load seg=1 src=0 dst=0 run=64 n1=1 n2=1 n3=1\nseq.halt\n";
    int first = HD_PROG_HEADER_WORDS + 1; /* word of the first operation, behind its bundle */
    fails(c, "magic", nothing, 0, HD_ERR_magic, HD_UNIT_seq, 0);
    fails(c, "isa", nothing, 1, HD_ERR_isa, HD_UNIT_seq, 0);
    fails(c, "machine", nothing, 2, HD_ERR_machine, HD_UNIT_seq, 0);
    fails(c, "window", "lx.load seg=1 src=0x1fff0 dst=0 run=64 n1=1 n2=1 n3=1\nseq.halt\n", -1,
          HD_ERR_window, HD_UNIT_lx, first);
    fails(c, "range", "seq.barrier\nmx.gemm x=0xffff n0=1 n1=1 n2=1 n3=1 n4=1 n5=1\nseq.halt\n", -1,
          HD_ERR_range, HD_UNIT_mx, -1);
    fails(c, "operand", "vx.map n0=0\nseq.halt\n", -1, HD_ERR_operand, HD_UNIT_vx, first);
    fails(c, "watchdog", "vx.map wait=3 n0=1 n1=1 n2=1 n3=1\nseq.halt\n", -1, HD_ERR_watchdog,
          HD_UNIT_seq, -1);
    chip_equal("VX is the one that waits", chip_reg(c, HD_REG_wait_mask + 4 * HD_UNIT_vx), 8);
    chip_equal("at its operation", chip_reg(c, HD_REG_next_pc + 4 * HD_UNIT_vx), first);
    chip_test = "semaphore";
    static char many[20000] = "";
    if (!*many)
        for (int i = 0; i < 256; i++) strcat(many, "mx.nop sig=5\n");
    strcat(many, "seq.halt\n");
    chip_program(c, many);
    chip_equal("code", chip_run(c), HD_ERR_semaphore);
    chip_equal("unit", chip_reg(c, HD_REG_error_unit), HD_UNIT_mx);
    many[0] = 0;

    fails(c, "window of weights", "lw.load seg=1 src=0x1ff00 dst=0 count=64 n1=1\nseq.halt\n", -1,
          HD_ERR_window, HD_UNIT_lw, first);

    chip_test = "window keeps what is beyond";
    memset(c->arena, 0x5a, CHIP_DRAM);
    chip_program(c, "st.store seg=1 dst=0xfc0 src=0 run=64 n1=2 n2=1 n3=1 d1=64 s1=64\nseq.halt\n");
    chip_set(c, HD_REG_arena_bytes, 0x1000);
    chip_equal("code", chip_run(c), HD_ERR_window);
    int changed = 0;
    for (int i = 0x1000; i < CHIP_DRAM; i++) changed += c->arena[i] != 0x5a;
    chip_equal("bytes changed beyond the window", changed, 0);

    chip_test = "axi"; /* a window that reaches beyond the memory */
    chip_program(c, "lx.load seg=1 src=0x20100 dst=0 run=64 n1=1 n2=1 n3=1\nseq.halt\n");
    chip_set(c, HD_REG_arena_bytes, 0x40000);
    chip_equal("code", chip_run(c), HD_ERR_axi);
    chip_equal("unit", chip_reg(c, HD_REG_error_unit), HD_UNIT_lx);

    chip_test = "after errors";
    chip_program(c, load);
    chip_equal("code", chip_run(c), HD_ERR_none);
}

/* Windows belong to their segments; answers that are errors; counts that carry. */
static void edges(struct chip *c) {
    static const struct {
        const char *what, *text;
        uint32_t image_bytes, arena_bytes, code;
        int unit;
    } cases[] = {
        {"LX beyond the image's window",
         "lx.load seg=0 src=0x8000 run=64 n1=1 n2=1 n3=1\nseq.halt\n", 0x1000, CHIP_DRAM,
         HD_ERR_window, HD_UNIT_lx},
        {"LX beyond the arena's window",
         "lx.load seg=1 src=0x8000 run=64 n1=1 n2=1 n3=1\nseq.halt\n", CHIP_DRAM, 0x1000,
         HD_ERR_window, HD_UNIT_lx},
        {"LW beyond the image's window", "lw.load seg=0 src=0x8000 count=1 n1=1\nseq.halt\n",
         0x1000, CHIP_DRAM, HD_ERR_window, HD_UNIT_lw},
        {"LW beyond the arena's window", "lw.load seg=1 src=0x8000 count=1 n1=1\nseq.halt\n",
         CHIP_DRAM, 0x1000, HD_ERR_window, HD_UNIT_lw},
        {"LW where no memory is", "lw.load seg=1 src=0x20100 count=1 n1=1\nseq.halt\n", CHIP_DRAM,
         0x40000, HD_ERR_axi, HD_UNIT_lw},
        {"ST where no memory is", "st.store seg=1 dst=0x20100 run=64 n1=1 n2=1 n3=1\nseq.halt\n",
         CHIP_DRAM, 0x40000, HD_ERR_axi, HD_UNIT_st},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        chip_test = cases[i].what;
        chip_program(c, cases[i].text);
        chip_set(c, HD_REG_image_bytes, cases[i].image_bytes);
        chip_set(c, HD_REG_arena_bytes, cases[i].arena_bytes);
        chip_equal("code", chip_run(c), cases[i].code);
        chip_equal("unit", chip_reg(c, HD_REG_error_unit), cases[i].unit);
    }
    chip_test = "semaphores count to 200";
    char text[8000] = "";
    for (int i = 0; i < 200; i++) strcat(text, "mx.nop sig=5\n");
    strcat(text, "seq.barrier\n");
    for (int i = 0; i < 200; i++) strcat(text, "vx.nop wait=5\n");
    strcat(text, "seq.halt\n");
    chip_program(c, text);
    chip_equal("error", chip_run(c), HD_ERR_none);
    chip_equal("no token is left", chip_reg(c, HD_REG_sem_nonzero), 0);
    chip_test = "interrupt that is not enabled";
    chip_set(c, HD_REG_ier, 0);
    chip_set(c, HD_REG_isr, chip_reg(c, HD_REG_isr));
    chip_equal("error", chip_run(c), HD_ERR_none);
    chip_equal("isr", chip_reg(c, HD_REG_isr), 0);
}

/* MX writes a bank of AM for so long that all results of VX for it wait. */
static void results_wait(struct chip *c) {
    chip_test = "results that wait for a bank of AM";
    int n = (int)c->m.n, vectors = 120, wrong = 0;
    char text[500];
    snprintf(text, sizeof text,
             "lx.load seg=1 src=0 dst=0 run=%d n1=1 n2=1 n3=1\nseq.barrier\n"
             "{ mx.gemm x=1024 n0=900 n1=1 n2=1 n3=1 n4=1 n5=1 a=%d nred=0 ; "
             "vx.map a_kind=2 b_kind=4 d_kind=1 d=0 n0=%d n1=1 n2=1 n3=1 as0=1 ds0=1 a_scale=1 }\n"
             "seq.barrier\nst.store mem=1 seg=1 dst=0x4000 src=0 run=%d n1=1 n2=1 n3=1\nseq.halt\n",
             n * vectors, vectors, vectors, 4 * n * vectors);
    for (int i = 0; i < n * vectors; i++) c->arena[i] = (uint8_t)(i * 7 + i / 256);
    chip_program(c, text);
    chip_equal("error", chip_run(c), HD_ERR_none);
    chip_within("VX waited", (int64_t)unit_reg(c, HD_REG_stall_bank, HD_UNIT_vx), 700, 1000);
    for (int i = 0; i < n * vectors; i++) {
        float got;
        memcpy(&got, c->arena + 0x4000 + 4 * i, sizeof got);
        wrong += got != (float)(int8_t)c->arena[i];
    }
    chip_equal("wrong results", wrong, 0);
}

/* A program whose words are changed: what the sequencer says of it. */
static void refuses(struct chip *c, const char *what, const char *text, int word, uint32_t value,
                    uint32_t code) {
    chip_test = what;
    chip_program(c, text)[word] = value;
    chip_equal("code", chip_run(c), code);
    chip_equal("unit", chip_reg(c, HD_REG_error_unit), HD_UNIT_seq);
}

/* Where the program lies, and its header. */
static void images(struct chip *c) {
    static const char plain[] = "seq.nop\nseq.halt\n";
    static const struct {
        const char *what;
        uint32_t reg, value, code;
    } places[] = {
        {"image without room for a header", HD_REG_image_bytes, 8, HD_ERR_window},
        {"program behind the window", HD_REG_code_offset, CHIP_DRAM, HD_ERR_window},
        {"program off its line", HD_REG_code_offset, 4, HD_ERR_range},
        {"image off its line", HD_REG_image_ptr, 0x23456010, HD_ERR_range},
        {"image where no memory is", HD_REG_image_ptr + 4, 0x77, HD_ERR_axi},
    };
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        chip_test = places[i].what;
        chip_program(c, plain);
        chip_set(c, places[i].reg, places[i].value);
        chip_equal("code", chip_run(c), places[i].code);
        chip_equal("unit", chip_reg(c, HD_REG_error_unit), HD_UNIT_seq);
    }
    refuses(c, "program longer than the window", plain, 3, CHIP_DRAM / 4 + 1, HD_ERR_window);
    refuses(c, "program of more than 4 GiB", plain, 3, 0x40000008, HD_ERR_window);
    refuses(c, "program shorter than its header", plain, 3, 3, HD_ERR_encoding);
    refuses(c, "program without a bundle", plain, 3, HD_PROG_HEADER_WORDS, HD_ERR_encoding);
    refuses(c, "program without halt", plain, 3, HD_PROG_HEADER_WORDS + 2, HD_ERR_encoding);
    refuses(c, "program that ends in mid-bundle", plain, 3, HD_PROG_HEADER_WORDS + 3,
            HD_ERR_encoding);
    refuses(c, "program of ISA 1.6", plain, 0, 0x314c4448, HD_ERR_magic);
    refuses(c, "reserved bits of a bundle", plain, 4, 0x41, HD_ERR_encoding);
    refuses(c, "reserved bits of an operation", plain, 5, 0x40, HD_ERR_encoding);
    refuses(c, "words that SEQ does not have", plain, 5, 0x100, HD_ERR_encoding);
}

/* ---- control --------------------------------------------------------------------------------- */

static const char copy[] =
    "lx.load sig=0 seg=1 src=0 dst=0 run=256 n1=1 n2=1 n3=1\n"
    "vx.map wait=0 sig=1 a_kind=2 b_kind=4 d=512 n0=16 n1=1 n2=1 n3=1 as0=1 "
    "ds0=1 a_scale=2 lo=-128 hi=127\n"
    "st.store wait=1 seg=1 dst=0x2000 src=0x1000 run=128 n1=1 n2=1 n3=1\nseq.halt\n";
static const char fill[] = "st.store seg=1 dst=0x3000 src=0 run=2048 n1=1 n2=1 n3=1\n"
                           "mx.gemm n0=1000 n1=1 n2=1 n3=1 n4=1 n5=1 xs0=1 nred=1\nseq.halt\n";

static int64_t run_copy(struct chip *c) {
    for (int i = 0; i < 256; i++) c->arena[i] = (uint8_t)(i % 50);
    memset(c->arena + 0x2000, 0, 128);
    chip_program(c, copy);
    chip_equal("error", chip_run(c), HD_ERR_none);
    int wrong = 0;
    for (int i = 0; i < 16 * (int)c->m.n && i < 128; i++)
        wrong += c->arena[0x2000 + i] != i % 50 * 2;
    chip_equal("wrong bytes", wrong, 0);
    return (int64_t)chip_reg64(c, HD_REG_cycles);
}

static void control(struct chip *c) {
    chip_test = "run twice, two programs in turn";
    int64_t first = run_copy(c);
    chip_equal("cycles of the second run", run_copy(c), first);
    for (int i = 0; i < 3; i++) {
        chip_program(c, fill);
        chip_equal("error", chip_run(c), HD_ERR_none);
        chip_equal("cycles after another program", run_copy(c), first);
    }

    chip_test = "done and interrupt";
    chip_program(c, copy);
    chip_reg(c, HD_REG_ap_ctrl);
    chip_set(c, HD_REG_gie, 1);
    chip_set(c, HD_REG_ier, 1);
    chip_equal("isr before", chip_reg(c, HD_REG_isr), 0);
    chip_run(c);
    chip_equal("done, idle, ready", chip_reg(c, HD_REG_ap_ctrl), 14);
    chip_equal("done is cleared by the read", chip_reg(c, HD_REG_ap_ctrl) & 2, 0);
    chip_equal("isr after", chip_reg(c, HD_REG_isr), 1);
    chip_set(c, HD_REG_isr, 1);
    chip_equal("isr when written", chip_reg(c, HD_REG_isr), 0);
    chip_set(c, HD_REG_gie, 0);
    chip_set(c, HD_REG_ier, 0);

    chip_test = "start before done was read";
    chip_program(c, fill);
    chip_equal("error", chip_run(c), HD_ERR_none);
    chip_set(c, HD_REG_ap_ctrl, 1);
    chip_equal("start, not done, not ready", chip_reg(c, HD_REG_ap_ctrl), 1);
    chip_expect(c->b->run(c->self, 100000), "it ends", 0, 1, 1);
    chip_reg(c, HD_REG_ap_ctrl);

    chip_test = "two units wait for one token each";
    chip_program(c, "{ lx.nop wait=7 ; mx.nop wait=7 }\nvx.nop sig=7\nvx.nop sig=7\nseq.halt\n");
    chip_equal("error", chip_run(c), HD_ERR_none);
    chip_equal("no token is left", chip_reg(c, HD_REG_sem_nonzero), 0);
}

static void registers(struct chip *c) {
    chip_test = "what is written is read";
    static const struct {
        uint32_t reg, mask;
    } written[] = {{HD_REG_gie, 1},
                   {HD_REG_ier, 3},
                   {HD_REG_image_ptr, UINT32_MAX},
                   {HD_REG_image_ptr + 4, UINT32_MAX},
                   {HD_REG_arena_ptr, UINT32_MAX},
                   {HD_REG_arena_ptr + 4, UINT32_MAX},
                   {HD_REG_image_bytes, UINT32_MAX},
                   {HD_REG_arena_bytes, UINT32_MAX},
                   {HD_REG_code_offset, UINT32_MAX},
                   {HD_REG_watchdog, UINT32_MAX}};
    enum { N = sizeof written / sizeof written[0] };
    for (uint32_t turn = 0; turn < 2; turn++) {
        for (uint32_t i = 0; i < N; i++)
            chip_set(c, written[i].reg, (turn ? ~0x9e3779b9U : 0x9e3779b9U) * (i + 1));
        for (uint32_t i = 0; i < N; i++)
            chip_equal("register", chip_reg(c, written[i].reg),
                       (turn ? ~0x9e3779b9U : 0x9e3779b9U) * (i + 1) & written[i].mask);
    }
    chip_set(c, HD_REG_gie, 0);
    chip_set(c, HD_REG_ier, 0);
    chip_equal("version", chip_reg(c, HD_REG_isa_version), HD_ISA_VERSION);
    chip_equal("isa", chip_reg(c, HD_REG_isa_hash), chip_program(c, copy)[1]);
    chip_equal("machine", chip_reg(c, HD_REG_machine_hash), chip_program(c, copy)[2]);
}

static void reset(struct chip *c) {
    chip_test = "reset in mid-run";
    int64_t first = run_copy(c);
    for (int at = 20; at < 800; at += 37) {
        chip_program(c, fill);
        chip_set(c, HD_REG_ap_ctrl, 1);
        if (c->b->run(c->self, (uint64_t)at)) continue; /* over already */
        chip_set(c, HD_REG_soft_reset, 1);
        if (at % 2) chip_set(c, HD_REG_soft_reset, 1); /* again, while it drains */
        chip_expect(c->b->run(c->self, 100000), "idle after reset", at, at, at);
        chip_equal("idle, not done", chip_reg(c, HD_REG_ap_ctrl) & 6, 4);
        chip_equal("cycles after the reset", run_copy(c), first);
    }
}

int main(int argc, char **argv) {
    static const struct hd_mach_backend *const all[] = {&hd_mach_iss, &hd_mach_rtl};
    const char *machine = argc > 1 ? argv[1] : "tiny";
    for (size_t d = 0; d < sizeof all / sizeof all[0]; d++) {
        struct chip c;
        chip_device = device = all[d]->scheme;
        chip_open(&c, all[d], machine, 64);
        rates_mx(&c);
        rates_vx(&c);
        counters(&c);
        errors(&c);
        images(&c);
        edges(&c);
        results_wait(&c);
        control(&c);
        registers(&c);
        reset(&c);
        chip_ends(&c);
        chip_close(&c);
        chip_open(&c, all[d], machine, 200);
        rates_dma(&c);
        chip_close(&c);
    }
    printf("chip: machine %s, %d checks on iss and rtl, %d failed\n", machine, chip_checks,
           chip_failed);
    return chip_failed != 0;
}
