/* Reader and writer of xclbin files. Layout: XRT's xclbin.h, version 2 ("axlf"), little endian. */
#include "driver/xclbin.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Offsets and sizes of the structs in a file. */
enum {
    AT_UNIQUE = 296,
    AT_LENGTH = 304,
    AT_PATCH = 328,
    AT_MAJOR = 330,
    AT_MINOR = 331,
    AT_MODE = 332,
    AT_PLATFORM = 352,
    AT_UUID = 416,
    AT_N_SECTIONS = 448,
    AT_SECTIONS = 456,
    HEADER_BYTES = 456,
    SECTION_BYTES = 40,
    PLATFORM_BYTES = 64,
    NAME_BYTES = 16,
    BANK_BYTES = 40,
    IP_BYTES = 80,
    LINK_BYTES = 12,
    CLOCK_BYTES = 136,
    ALIGN = 8
};
enum {
    MODE_HW_EMU = 4,
    MEM_DDR4 = 1,
    IP_KERNEL = 1,
    IP_INTERRUPT = 1,
    INTERRUPT_BIT = 1,
    CLOCK_DATA = 1
};
enum { MAX_SECTIONS = 256 };
static const char magic[8] = "xclbin2";

const char *hd_xclbin_section_name(uint32_t kind) {
    static const char *const name[] = {
        "BITSTREAM",
        "CLEARING_BITSTREAM",
        "EMBEDDED_METADATA",
        "FIRMWARE",
        "DEBUG_DATA",
        "SCHED_FIRMWARE",
        "MEM_TOPOLOGY",
        "CONNECTIVITY",
        "IP_LAYOUT",
        "DEBUG_IP_LAYOUT",
        "DESIGN_CHECK_POINT",
        "CLOCK_FREQ_TOPOLOGY",
        "MCS",
        "BMC",
        "BUILD_METADATA",
        "KEYVALUE_METADATA",
        "USER_METADATA",
        "DNA_CERTIFICATE",
        "PDI",
        "BITSTREAM_PARTIAL_PDI",
        "PARTITION_METADATA",
        "EMULATION_DATA",
        "SYSTEM_METADATA",
        "SOFT_KERNEL",
        "ASK_FLASH",
        "AIE_METADATA",
        "ASK_GROUP_TOPOLOGY",
        "ASK_GROUP_CONNECTIVITY",
        "SMARTNIC",
        "AIE_RESOURCES",
        "OVERLAY",
        "VENDER_METADATA",
    };
    return kind < sizeof name / sizeof *name ? name[kind] : "?";
}

const char *hd_xclbin_mode_name(unsigned mode) {
    switch (mode) {
    case 0:
        return "hardware";
    case 1:
        return "partial reconfiguration";
    case 3:
        return "software emulation";
    case MODE_HW_EMU:
        return "hardware emulation";
    default:
        return "other";
    }
}

/* ---- reader --------------------------------------------------------------------------------- */

static uint32_t u32(const uint8_t *p) {
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}
static uint64_t u64(const uint8_t *p) {
    return u32(p) | (uint64_t)u32(p + 4) << 32;
}
static const char *text(hd_arena *a, const uint8_t *p, size_t bytes) {
    return hd_strndup(a, (const char *)p, strnlen((const char *)p, bytes));
}

/* The items of a table section: count at `at`, items of item_bytes behind head bytes. */
static hd_status items(hd_ctx *ctx, const char *file, const struct hd_xclbin_section *s,
                       const uint8_t *p, size_t head, size_t item_bytes, int *out_n) {
    uint64_t n = 0;
    if (s->bytes >= head) n = head == 2 ? p[0] | (uint64_t)p[1] << 8 : u32(p);
    if (s->bytes < head || n > (s->bytes - head) / item_bytes)
        return hd_fail(ctx, HD_INVALID,
                       "%s: section %s has %" PRIu64 " bytes, too few for its %" PRIu64
                       " items of %zu; the file is damaged, make it again",
                       file, hd_xclbin_section_name(s->kind), s->bytes, n, item_bytes);
    *out_n = (int)n;
    return HD_OK;
}

static void read_banks(hd_arena *a, const uint8_t *p, struct hd_xclbin *x) {
    x->banks = hd_new_array(a, struct hd_xclbin_bank, (size_t)x->n_banks + 1);
    for (int i = 0; i < x->n_banks; i++, p += BANK_BYTES)
        x->banks[i] = (struct hd_xclbin_bank){text(a, p + 24, NAME_BYTES), u64(p + 16),
                                              u64(p + 8) << 10, p[0], p[1] != 0};
}

static void read_ips(hd_arena *a, const uint8_t *p, struct hd_xclbin *x) {
    x->ips = hd_new_array(a, struct hd_xclbin_ip, (size_t)x->n_ips + 1);
    for (int i = 0; i < x->n_ips; i++, p += IP_BYTES)
        x->ips[i] = (struct hd_xclbin_ip){text(a, p + 16, 64), u64(p + 8), u32(p), u32(p + 4)};
}

static void read_links(hd_arena *a, const uint8_t *p, struct hd_xclbin *x) {
    x->links = hd_new_array(a, struct hd_xclbin_link, (size_t)x->n_links + 1);
    for (int i = 0; i < x->n_links; i++, p += LINK_BYTES)
        x->links[i] = (struct hd_xclbin_link){u32(p), u32(p + 4), u32(p + 8)};
}

static void read_clocks(hd_arena *a, const uint8_t *p, struct hd_xclbin *x) {
    x->clocks = hd_new_array(a, struct hd_xclbin_clock, (size_t)x->n_clocks + 1);
    for (int i = 0; i < x->n_clocks; i++, p += CLOCK_BYTES)
        x->clocks[i] = (struct hd_xclbin_clock){text(a, p + 8, 128), p[0] | (unsigned)p[1] << 8};
}

static hd_status read_section(hd_ctx *ctx, hd_arena *a, const uint8_t *p, const char *file,
                              const struct hd_xclbin_section *s, struct hd_xclbin *x) {
    switch (s->kind) {
    case HD_XCLBIN_MEM:
        if (x->banks) return HD_OK; /* the first one counts */
        TRY(items(ctx, file, s, p, 8, BANK_BYTES, &x->n_banks));
        read_banks(a, p + 8, x);
        return HD_OK;
    case HD_XCLBIN_IP:
        if (x->ips) return HD_OK;
        TRY(items(ctx, file, s, p, 8, IP_BYTES, &x->n_ips));
        read_ips(a, p + 8, x);
        return HD_OK;
    case HD_XCLBIN_CONNECTIVITY:
        if (x->links) return HD_OK;
        TRY(items(ctx, file, s, p, 4, LINK_BYTES, &x->n_links));
        read_links(a, p + 4, x);
        return HD_OK;
    case HD_XCLBIN_CLOCK:
        if (x->clocks) return HD_OK;
        TRY(items(ctx, file, s, p, 2, CLOCK_BYTES, &x->n_clocks));
        read_clocks(a, p + 2, x);
        return HD_OK;
    default:
        return HD_OK;
    }
}

hd_status hd_xclbin_parse(hd_ctx *ctx, hd_arena *a, const void *data, size_t bytes,
                          const char *name, struct hd_xclbin *out) {
    const uint8_t *p = data;
    struct hd_xclbin x = {0};
    if (bytes < HEADER_BYTES || memcmp(p, magic, sizeof magic) != 0)
        return hd_fail(ctx, HD_INVALID,
                       "%s: %zu bytes, begins not as an xclbin of version 2 (\"xclbin2\"); name a "
                       "file that v++ -l or 'heddle xclbin write' made",
                       name, bytes);
    x.bytes = u64(p + AT_LENGTH);
    uint32_t n = u32(p + AT_N_SECTIONS);
    if (x.bytes > bytes || n > MAX_SECTIONS || n > (bytes - HEADER_BYTES) / SECTION_BYTES)
        return hd_fail(ctx, HD_INVALID,
                       "%s: header says %" PRIu64 " bytes and %" PRIu32
                       " sections, the file has %zu bytes; it is cut short, copy it again",
                       name, x.bytes, n, bytes);
    x.platform = text(a, p + AT_PLATFORM, PLATFORM_BYTES);
    x.version[0] = p[AT_MAJOR];
    x.version[1] = p[AT_MINOR];
    x.version[2] = p[AT_PATCH] | (unsigned)p[AT_PATCH + 1] << 8;
    x.mode = p[AT_MODE] | (unsigned)p[AT_MODE + 1] << 8;
    memcpy(x.uuid, p + AT_UUID, sizeof x.uuid);
    x.n_sections = (int)n;
    x.sections = hd_new_array(a, struct hd_xclbin_section, (size_t)n + 1);
    for (uint32_t i = 0; i < n; i++) {
        const uint8_t *h = p + AT_SECTIONS + i * SECTION_BYTES;
        struct hd_xclbin_section s = {u32(h), text(a, h + 4, NAME_BYTES), u64(h + 24), u64(h + 32)};
        if (s.offset > bytes || s.bytes > bytes - s.offset)
            return hd_fail(ctx, HD_INVALID,
                           "%s: section %" PRIu32 " (%s) is bytes %" PRIu64 "+%" PRIu64
                           ", the file has %zu; it is cut short, copy it again",
                           name, i, hd_xclbin_section_name(s.kind), s.offset, s.bytes, bytes);
        x.sections[i] = s;
        TRY(read_section(ctx, a, p + s.offset, name, &s, &x));
    }
    *out = x;
    return HD_OK;
}

hd_status hd_xclbin_read(hd_ctx *ctx, hd_arena *a, const char *path, struct hd_xclbin *out) {
    void *data;
    size_t bytes;
    TRY(hd_file_read(ctx, path, &data, &bytes));
    hd_status s = hd_xclbin_parse(ctx, a, data, bytes, path, out);
    free(data);
    return s;
}

/* ---- writer --------------------------------------------------------------------------------- */

static void put_zeros(struct hd_buf *b, size_t n) {
    static const char zero[64];
    for (size_t k; n; n -= k) hd_buf_put(b, zero, k = n < sizeof zero ? n : sizeof zero);
}

/* A string in a field of `bytes`, the rest zero. */
static void put_text(struct hd_buf *b, const char *s, size_t bytes) {
    size_t n = strlen(s);
    HD_ASSERT(n < bytes);
    hd_buf_put(b, s, n);
    put_zeros(b, bytes - n);
}

static void put_format(struct hd_buf *b, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
static void put_format(struct hd_buf *b, const char *fmt, ...) {
    char line[600];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    HD_ASSERT(n >= 0 && (size_t)n < sizeof line);
    hd_buf_put(b, line, (size_t)n);
}

static void put_metadata(struct hd_buf *b, const struct hd_machine *m) {
    struct hd_kernel_arg args[HD_KERNEL_ARGS_MAX];
    int n = hd_kernel_args(args);
    put_format(b,
               "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<project name=\"heddle\">\n"
               " <platform vendor=\"heddle\" boardid=\"emu\" name=\"emu\" featureRomTime=\"0\">\n"
               "  <version major=\"1\" minor=\"0\"/>\n  <description/>\n"
               "  <board name=\"heddle:emu:1.0\" vendor=\"heddle\" fpga=\"none\"/>\n"
               "  <build_flow/>\n  <host architecture=\"x86\"/>\n");
    put_format(b,
               "  <device name=\"fpga0\" fpgaDevice=\"virtexuplus:xcu250:figd2104:-2:e\" "
               "addrWidth=\"0\">\n"
               "   <systemClocks><clock port=\"DATA_CLK\" frequency=\"%" PRIu32
               ".0MHz\"/></systemClocks>\n"
               "   <core name=\"OCL_REGION_0\" target=\"hw_em\" type=\"clc_region\" "
               "clockFreq=\"0MHz\" numComputeUnits=\"%" PRIu32 "\">\n"
               "    <kernelClocks><clock port=\"DATA_CLK\" frequency=\"%" PRIu32
               ".0MHz\"/></kernelClocks>\n",
               m->clock_mhz, m->cores, m->clock_mhz);
    put_format(b, "    <kernel name=\"" HD_XCLBIN_KERNEL
                  "\" language=\"ip\" vlnv=\"heddle:kernel:" HD_XCLBIN_KERNEL
                  ":1.0\" attributes=\"\" preferredWorkGroupSizeMultiple=\"0\" "
                  "workGroupSize=\"1\" interrupt=\"true\" hwControlProtocol=\"ap_ctrl_hs\">\n"
                  "     <compileWorkGroupSize x=\"1\" y=\"1\" z=\"1\"/>\n"
                  "     <maxWorkGroupSize x=\"1\" y=\"1\" z=\"1\"/>\n");
    put_format(b,
               "     <port name=\"M_AXI_GMEM\" mode=\"master\" range=\"0xFFFFFFFFFFFFFFFF\" "
               "dataWidth=\"%" PRIu32 "\" portType=\"addressable\" base=\"0x0\"/>\n"
               "     <port name=\"S_AXI_CONTROL\" mode=\"slave\" range=\"0x1000\" "
               "dataWidth=\"32\" portType=\"addressable\" base=\"0x0\"/>\n",
               m->axi_bits);
    for (int i = 0; i < n; i++) {
        bool buffer = args[i].bits == 64;
        uint32_t size = args[i].bits / 8;
        put_format(b,
                   "     <arg name=\"%s\" addressQualifier=\"%d\" id=\"%d\" port=\"%s\" "
                   "size=\"0x%" PRIx32 "\" offset=\"0x%" PRIx32
                   "\" hostOffset=\"0x0\" hostSize=\"0x%" PRIx32 "\" type=\"%s\"/>\n",
                   args[i].name, buffer, i, buffer ? "M_AXI_GMEM" : "S_AXI_CONTROL", size,
                   args[i].offset, size, buffer ? "char*" : "uint");
    }
    for (uint32_t i = 0; i < m->cores; i++)
        put_format(b,
                   "     <instance name=\"" HD_XCLBIN_INSTANCE "%" PRIu32
                   "\"><addrRemap base=\"0x%" PRIx64
                   "\" range=\"0x1000\" port=\"S_AXI_CONTROL\"/></instance>\n",
                   i + 1, HD_EMU_CU_BASE + i * HD_EMU_CU_STRIDE);
    put_format(b, "    </kernel>\n   </core>\n  </device>\n </platform>\n</project>\n");
}

static void put_banks(struct hd_buf *b) {
    hd_buf_u64(b, 1); /* count, padding */
    hd_buf_u64(b, MEM_DDR4 | 1 << 8);
    hd_buf_u64(b, HD_EMU_DRAM_BYTES >> 10);
    hd_buf_u64(b, HD_EMU_DRAM_BASE);
    put_text(b, "bank0", NAME_BYTES);
}

static void put_ips(struct hd_buf *b, const struct hd_machine *m) {
    char name[64];
    hd_buf_u64(b, m->cores);
    for (uint32_t i = 0; i < m->cores; i++) {
        hd_buf_u32(b, IP_KERNEL);
        hd_buf_u32(b, IP_INTERRUPT | i << INTERRUPT_BIT); /* control protocol 0 = ap_ctrl_hs */
        hd_buf_u64(b, HD_EMU_CU_BASE + i * HD_EMU_CU_STRIDE);
        snprintf(name, sizeof name, HD_XCLBIN_KERNEL ":" HD_XCLBIN_INSTANCE "%" PRIu32, i + 1);
        put_text(b, name, 64);
    }
}

static void put_links(struct hd_buf *b, const struct hd_machine *m) {
    struct hd_kernel_arg args[HD_KERNEL_ARGS_MAX];
    int n = hd_kernel_args(args), buffers = 0;
    for (int i = 0; i < n; i++) buffers += args[i].bits == 64;
    hd_buf_u32(b, (uint32_t)buffers * m->cores);
    for (uint32_t core = 0; core < m->cores; core++)
        for (int i = 0; i < n; i++) {
            if (args[i].bits != 64) continue;
            hd_buf_u32(b, (uint32_t)i);
            hd_buf_u32(b, core);
            hd_buf_u32(b, 0);
        }
}

static void put_clocks(struct hd_buf *b, const struct hd_machine *m) {
    const uint8_t head[10] = {1, 0, (uint8_t)m->clock_mhz, (uint8_t)(m->clock_mhz >> 8),
                              CLOCK_DATA};
    hd_buf_put(b, head, sizeof head);
    put_text(b, "DATA_CLK", 128);
}

static void put_header(struct hd_buf *b, const struct hd_machine *m, uint64_t bytes, size_t n) {
    uint8_t h[HEADER_BYTES] = {0};
    uint32_t id[4] = {0x6c646468, hd_isa_hash(), hd_machine_hash(m), (uint32_t)bytes};
    memcpy(h, magic, sizeof magic);
    memset(h + 8, 0xff, 4 + 28 + 256); /* no signature, reserved, no key */
    for (int i = 0; i < 8; i++) h[AT_LENGTH + i] = (uint8_t)(bytes >> 8 * i);
    h[AT_MAJOR] = 2;
    h[AT_MINOR] = 13;
    h[AT_MODE] = MODE_HW_EMU;
    strcpy((char *)h + AT_PLATFORM, "heddle_emu_1");
    for (int i = 0; i < 16; i++) h[AT_UUID + i] = (uint8_t)(id[i / 4] >> 8 * (i % 4));
    h[AT_UNIQUE] = 1;
    h[AT_N_SECTIONS] = (uint8_t)n;
    hd_buf_put(b, h, sizeof h);
}

void hd_xclbin_emulation(const struct hd_machine *m, const void *payload, size_t bytes,
                         struct hd_buf *out) {
    static const uint32_t kind[] = {HD_XCLBIN_BITSTREAM, HD_XCLBIN_METADATA,     HD_XCLBIN_MEM,
                                    HD_XCLBIN_IP,        HD_XCLBIN_CONNECTIVITY, HD_XCLBIN_CLOCK};
    enum { N = sizeof kind / sizeof *kind };
    struct hd_buf s[N] = {{0}};
    if (bytes) hd_buf_put(&s[0], payload, bytes);
    put_metadata(&s[1], m);
    put_banks(&s[2]);
    put_ips(&s[3], m);
    put_links(&s[4], m);
    put_clocks(&s[5], m);
    uint64_t at = HEADER_BYTES + N * SECTION_BYTES, end = at;
    for (int i = 0; i < N; i++) end += (s[i].n + ALIGN - 1) / ALIGN * ALIGN;
    put_header(out, m, end, N);
    for (int i = 0; i < N; i++) {
        hd_buf_u32(out, kind[i]);
        put_zeros(out, NAME_BYTES + 4);
        hd_buf_u64(out, at);
        hd_buf_u64(out, s[i].n);
        at += (s[i].n + ALIGN - 1) / ALIGN * ALIGN;
    }
    for (int i = 0; i < N; i++) {
        if (s[i].n) hd_buf_put(out, s[i].data, s[i].n);
        put_zeros(out, (ALIGN - s[i].n % ALIGN) % ALIGN);
        hd_buf_free(&s[i]);
    }
}
