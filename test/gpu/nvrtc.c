/* Whether NVRTC compiles the kernels of networks, without a GPU:
 *
 *   nvrtc ARCH[,ARCH] [--tuned N] FOLDER...
 *
 * ARCH is 80, 90, ... With --tuned the kernels are those of N databases of schedules, each with a
 * choice at random for every kernel that has one. A line for each network (FOLDER/model.onnx) and
 * architecture: kernels, the most registers of a thread, the most shared memory of a block,
 * seconds. Exit 1 when something does not compile, or is beyond what a GPU runs. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "compiler/compiler.h"
#include "gpu_ref/gpu_plan.h"
#include "gpu_ref/nvrtc.h"
#include "test/gpu/stand_in.h"
#include "test/gpu/tuned.h"

enum { MOST_REGISTERS = 255, BLOCK_REGISTERS = 65536, MOST_SHARED = 48 << 10, RESERVED = 1 << 10 };

#define DB "build/nvrtc.db"

static char *source_text;

/* The stand-in's, but it keeps what it is given. */
static hd_status keep_source(hd_ctx *ctx, hd_gpu *g, const char *source, hd_gpu_program **out) {
    (void)ctx;
    free(source_text);
    source_text = strdup(source);
    *out = calloc(1, sizeof **out);
    g->live++;
    return HD_OK;
}

struct use { /* of all kernels of a cubin */
    int kernels, registers;
    size_t shared;
};

/* Section .nv.info is a list of attributes: format, name, u16 of bytes, value. Format 4 has a value
 * of so many bytes, others none behind the u16. */
static void look_at_info(const unsigned char *p, size_t bytes, struct use *out) {
    enum { SIZED = 4, REGCOUNT = 0x2f };
    for (size_t at = 0; at + 4 <= bytes;) {
        size_t n = p[at] == SIZED ? p[at + 2] + 256u * p[at + 3] : 0;
        int registers = 0;
        if (p[at + 1] == REGCOUNT && n == 8 && at + 12 <= bytes)
            memcpy(&registers, p + at + 8, sizeof registers);
        if (registers > out->registers) out->registers = registers;
        at += 4 + n;
    }
}

/* From sm_90 on the section has 1 KiB that CUDA keeps for itself, beside what a block may take. */
static size_t reserved(int arch) {
    return arch >= 90 ? RESERVED : 0;
}

/* A kernel's code is section .text.NAME; its shared memory is section .nv.shared.NAME. */
static bool look(const char *cubin, size_t bytes, struct use *out) {
    const Elf64_Ehdr *h = (const Elf64_Ehdr *)cubin;
    if (bytes < sizeof *h || memcmp(h->e_ident, ELFMAG, SELFMAG)) return false;
    const Elf64_Shdr *s = (const Elf64_Shdr *)(cubin + h->e_shoff);
    const char *names = cubin + s[h->e_shstrndx].sh_offset;
    for (int i = 0; i < h->e_shnum; i++) {
        const char *name = names + s[i].sh_name;
        out->kernels += !strncmp(name, ".text.", 6);
        if (!strncmp(name, ".nv.shared.", 11) && s[i].sh_size > out->shared)
            out->shared = s[i].sh_size;
        if (!strcmp(name, ".nv.info"))
            look_at_info((const unsigned char *)cubin + s[i].sh_offset, s[i].sh_size, out);
    }
    return true;
}

/* round 0: by rules of thumb. */
static hd_status plan(hd_ctx *ctx, const char *folder, int round, int *out_threads) {
    struct hd_compile_options o = {0};
    struct hd_gpu_api api = stand_in_api;
    struct hd_host_io io;
    struct hd_gpu_plan *p;
    struct hd_gpu_tuning tuning = {0};
    struct tuned sum = {0, 0};
    struct rng r = {(uint64_t)round};
    hd_model *m;
    hd_graph *g;
    char path[4096];
    api.dialect = &hd_dialect_cuda;
    stand_in.limits.mma = stand_in.limits.dot8 = true;
    api.build = keep_source;
    snprintf(path, sizeof path, "%s/model.onnx", folder);
    TRY(hd_machine_load(ctx, "base", &o.machine));
    TRY(hd_compile(ctx, path, &o, &m));
    hd_arena *a = hd_arena_create();
    TRY(hd_graph_load(ctx, m->graph, m->graph_bytes, &g));
    TRY(hd_host_choose_io(ctx, a, m, -1, g, &io));
    if (round) {
        TRY(tuned_db(ctx, &api, &stand_in.limits, g, m, &r, DB, &sum));
        TRY(hd_schedules_open(ctx, DB, false, &tuning.db));
        printf("%d of %d kernels with a choice of database %d\n", sum.steps, sum.works, round);
        if (2 * sum.steps < sum.works)
            return hd_fail(ctx, HD_INVALID, "few of the choices fit their kernels");
    }
    TRY(hd_gpu_plan_create(ctx, &api, &stand_in, g, m, &io, NULL, 0, NULL, &tuning, &p));
    for (size_t i = 0; i < p->n_steps; i++)
        for (int c = 0; c < p->steps[i].n_calls; c++) {
            const int *b = p->steps[i].call[c].block;
            if (b[0] * b[1] * b[2] > *out_threads) *out_threads = b[0] * b[1] * b[2];
        }
    hd_gpu_plan_destroy(p);
    hd_schedules_close(tuning.db);
    unlink(DB);
    hd_graph_destroy(g);
    hd_arena_destroy(a);
    hd_model_destroy(m);
    return HD_OK;
}

static hd_status compile(hd_ctx *ctx, const char *folder, int arch, int threads) {
    struct use u = {0};
    struct timespec t[2];
    size_t bytes;
    char *code = NULL;
    clock_gettime(CLOCK_MONOTONIC, &t[0]);
    TRY(hd_nvrtc_compile(ctx, source_text, arch, false, &code, &bytes));
    clock_gettime(CLOCK_MONOTONIC, &t[1]);
    bool elf = look(code, bytes, &u);
    free(code);
    printf(
        "%-36s sm_%d  %4d kernels  %3d registers, %5zu bytes shared, blocks of %4d at most, %.1f "
        "s\n",
        strrchr(folder, '/') ? strrchr(folder, '/') + 1 : folder, arch, u.kernels, u.registers,
        u.shared, threads,
        (double)(t[1].tv_sec - t[0].tv_sec) + (double)(t[1].tv_nsec - t[0].tv_nsec) * 1e-9);
    if (!elf || !u.kernels || u.registers < 1)
        return hd_fail(ctx, HD_DEVICE, "the code is no cubin with kernels");
    if (u.registers > MOST_REGISTERS || u.shared > MOST_SHARED + reserved(arch) ||
        u.registers * threads > BLOCK_REGISTERS)
        return hd_fail(ctx, HD_DEVICE, "a block does not fit on an SM");
    return HD_OK;
}

static bool one(const char *archs, const char *folder, int round) {
    hd_ctx *ctx = hd_ctx_create();
    int threads = 1;
    free(source_text);
    source_text = NULL;
    hd_status s = plan(ctx, folder, round, &threads);
    if (round) threads = 1; /* what has too many registers is no choice: heddle tune finds out */
    for (const char *a = archs; a && s == HD_OK && source_text; a = strchr(a, ',')) {
        a += *a == ',';
        s = compile(ctx, folder, atoi(a), threads);
    }
    if (s != HD_OK) printf("%s: %s\n", folder, hd_message(ctx));
    hd_ctx_destroy(ctx);
    return s == HD_OK;
}

int main(int argc, char **argv) {
    bool tuned = argc > 3 && !strcmp(argv[2], "--tuned");
    int failed = 0, first = tuned ? 4 : 2, rounds = tuned ? atoi(argv[3]) : 1;
    if (argc <= first || rounds < 1) return 2;
    if (hd_nvrtc_why_not()) {
        printf("not checked: %s\n", hd_nvrtc_why_not());
        return 0;
    }
    for (int i = first; i < argc; i++)
        for (int k = 0; k < rounds; k++) failed += !one(argv[1], argv[i], tuned ? k + 1 : 0);
    free(source_text);
    return failed != 0;
}
