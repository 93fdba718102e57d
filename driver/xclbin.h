/* xclbin files (XRT's container of a bitstream and what describes it): reader, and writer for
 * hardware emulation. Debian's xclbinutil does not run, and a board needs no more than this. */
#ifndef HD_DRIVER_XCLBIN_H
#define HD_DRIVER_XCLBIN_H

#include "isa/isa.h"
#include "runtime/base/arena.h"
#include "runtime/base/io.h"

#define HD_XCLBIN_KERNEL   HD_KERNEL_NAME
#define HD_XCLBIN_INSTANCE HD_KERNEL_NAME "_"    /* its compute units: ..1, ..2, a core each */
#define HD_EMU_CU_BASE     UINT64_C(0x1800000)   /* registers of the first, in files we write */
#define HD_EMU_CU_STRIDE   UINT64_C(0x10000)     /* to those of the next */
#define HD_EMU_DRAM_BASE   UINT64_C(0x100000000) /* above 32 bits on purpose */
#define HD_EMU_DRAM_BYTES  (UINT64_C(8) << 30)

enum hd_xclbin_kind { /* sections that are looked into; the others are listed */
                      HD_XCLBIN_BITSTREAM = 0,
                      HD_XCLBIN_METADATA = 2,
                      HD_XCLBIN_MEM = 6,
                      HD_XCLBIN_CONNECTIVITY = 7,
                      HD_XCLBIN_IP = 8,
                      HD_XCLBIN_CLOCK = 11
};

struct hd_xclbin_section {
    uint32_t kind;
    const char *name; /* "" for most */
    uint64_t offset, bytes;
};
struct hd_xclbin_bank {
    const char *tag;
    uint64_t base, bytes;
    unsigned type;
    bool used;
};
struct hd_xclbin_ip {
    const char *name; /* kernel:instance */
    uint64_t base;
    uint32_t type, properties;
};
struct hd_xclbin_link { /* argument `arg` of ips[ip] is in banks[bank] */
    uint32_t arg, ip, bank;
};
struct hd_xclbin_clock {
    const char *name;
    unsigned mhz;
};

struct hd_xclbin {
    const char *platform;
    unsigned version[3]; /* of the tools that wrote it */
    unsigned mode;       /* 0 hardware, 3 software emulation, 4 hardware emulation */
    uint8_t uuid[16];
    uint64_t bytes;
    int n_sections, n_banks, n_ips, n_links, n_clocks;
    struct hd_xclbin_section *sections;
    struct hd_xclbin_bank *banks;
    struct hd_xclbin_ip *ips;
    struct hd_xclbin_link *links;
    struct hd_xclbin_clock *clocks;
};

/* Everything in *out is the arena's. `name` is for messages. HD_INVALID: what, where, got. */
hd_status hd_xclbin_parse(hd_ctx *ctx, hd_arena *a, const void *data, size_t bytes,
                          const char *name, struct hd_xclbin *out);
hd_status hd_xclbin_read(hd_ctx *ctx, hd_arena *a, const char *path, struct hd_xclbin *out);
const char *hd_xclbin_section_name(uint32_t kind); /* "?" when unknown */
const char *hd_xclbin_mode_name(unsigned mode);

/* Appends a whole file for hardware emulation of machine m: a compute unit for each core, with the
 * registers of regs.def, and one memory bank. `payload` becomes the BITSTREAM section: a zip with
 * behav_waveform/xsim/simulate.sh, or nothing for hosts that start the device themselves. The same
 * machine and payload give the same bytes. */
void hd_xclbin_emulation(const struct hd_machine *m, const void *payload, size_t bytes,
                         struct hd_buf *out);

#endif
