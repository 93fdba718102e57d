/* Models that were compiled before, in the user's cache.
 *
 * The key is all that a model follows from: this very build of the compiler, the graph as imported,
 * with its sizes and its weights, the machine, and the options. */
#define _GNU_SOURCE /* dl_iterate_phdr */
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/compiler.h"
#include "runtime/base/io.h"
#include "runtime/device/cache.h"

struct identity { /* the build ID of the program or library with this function */
    const unsigned char *id;
    size_t bytes;
};

static void look_in(const char *at, size_t bytes, struct identity *out) {
    for (size_t i = 0; i + sizeof(ElfW(Nhdr)) <= bytes;) {
        ElfW(Nhdr) n;
        memcpy(&n, at + i, sizeof n);
        size_t name = i + sizeof n, id = name + ((n.n_namesz + 3u) & ~3u);
        if (id + n.n_descsz > bytes) return;
        if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 && !memcmp(at + name, "GNU", 4))
            *out = (struct identity){(const unsigned char *)at + id, n.n_descsz};
        i = id + ((n.n_descsz + 3u) & ~3u);
    }
}

static int find_identity(struct dl_phdr_info *o, size_t size, void *arg) {
    struct identity *out = arg;
    uintptr_t here = (uintptr_t)&find_identity;
    bool ours = false;
    (void)size;
    for (int i = 0; i < o->dlpi_phnum; i++) {
        uintptr_t from = o->dlpi_addr + o->dlpi_phdr[i].p_vaddr;
        ours = ours || (o->dlpi_phdr[i].p_type == PT_LOAD && here >= from &&
                        here < from + o->dlpi_phdr[i].p_memsz);
    }
    for (int i = 0; ours && i < o->dlpi_phnum; i++)
        if (o->dlpi_phdr[i].p_type == PT_NOTE)
            look_in((const char *)o->dlpi_addr + o->dlpi_phdr[i].p_vaddr, o->dlpi_phdr[i].p_memsz,
                    out);
    return ours;
}

static bool key_of(hd_ctx *ctx, const hd_graph *g, const struct hd_compile_options *opt,
                   unsigned char out[HD_SHA256_BYTES]) {
    struct identity by = {0};
    void *graph = NULL;
    size_t bytes = 0;
    dl_iterate_phdr(find_identity, &by);
    if (!by.bytes || hd_graph_save(ctx, g, &graph, &bytes) != HD_OK) return false;
    const uint32_t numbers[] = {hd_machine_hash(&opt->machine),
                                opt->machine.clock_mhz,
                                opt->machine.cores,
                                opt->mem_latency,
                                opt->latency_hiding,
                                opt->host_only};
    unsigned char part[5 * HD_SHA256_BYTES];
    hd_sha256(by.id, by.bytes, part);
    hd_sha256(graph, bytes, part + HD_SHA256_BYTES);
    hd_sha256(numbers, sizeof numbers, part + 2 * HD_SHA256_BYTES);
    hd_sha256(hd_compile_knobs(opt), sizeof(struct hd_knobs), part + 3 * HD_SHA256_BYTES);
    hd_sha256(opt->machine.name, strlen(opt->machine.name), part + 4 * HD_SHA256_BYTES);
    hd_sha256(part, sizeof part, out);
    free(graph);
    return true;
}

hd_status hd_compile_graph_kept(hd_ctx *ctx, hd_graph *g, const struct hd_compile_options *opt,
                                int mib, hd_model **out) {
    unsigned char key[HD_SHA256_BYTES];
    bool plain = !opt->keep_all && !opt->keep.n && !opt->devices.n && !opt->dump &&
                 !opt->place_all && !opt->bind.check && !opt->layers.text && !opt->plan.text &&
                 !opt->ops.text;
    if (!mib || !plain || !key_of(ctx, g, opt, key)) return hd_compile_graph(ctx, g, opt, out);
    *out = hd_cache_get(HD_CACHE_COMPILED, key);
    if (*out) return HD_OK;
    TRY(hd_compile_graph(ctx, g, opt, out));
    struct hd_buf b = {0};
    hd_model_bytes(*out, &b);
    hd_cache_put(HD_CACHE_COMPILED, key, b.data, b.n, mib);
    hd_buf_free(&b);
    return HD_OK;
}
