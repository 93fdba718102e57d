/* heddle xclbin write | info FILE: files for hardware emulation, and what any xclbin holds. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zip.h>

#include "compiler/cli/cli.h"
#include "compiler/command/table.h"
#include "driver/xclbin.h"

/* ---- write ---------------------------------------------------------------------------------- */

/* The script by which XRT starts the device: this program, with the options of the command line.
 * XRT does not notice that a device died, hence the kill. */
static const char *script(struct hd_cmd *c, hd_arena *a) {
    char self[2048];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = 0;
    const struct hd_options *o = &c->opt;
    char *s = hd_sprintf(a, "#!/bin/sh\n'%s' emu-device --device '%s' --machine '%s'",
                         n > 0 ? self : "heddle", o->device, o->machine ? o->machine : "base");
    for (int i = 0; i < o->sets.n; i++) s = hd_sprintf(a, "%s --set '%s'", s, o->sets.text[i]);
    if (o->mem.latency) s = hd_sprintf(a, "%s --mem-latency %" PRIu32, s, o->mem.latency);
    if (o->mem.bytes_per_cycle)
        s = hd_sprintf(a, "%s --mem-bytes-per-cycle %" PRIu32, s, o->mem.bytes_per_cycle);
    if (o->mem.outstanding)
        s = hd_sprintf(a, "%s --mem-outstanding %" PRIu32, s, o->mem.outstanding);
    if (o->mem.jitter) s = hd_sprintf(a, "%s --mem-jitter %" PRIu64, s, o->mem.jitter_seed);
    return hd_sprintf(a, "%s || kill $PPID\n", s);
}

static bool add_script(zip_t *z, const char *text) {
    static const char name[] = "behav_waveform/xsim/simulate.sh";
    zip_source_t *file = zip_source_buffer(z, text, strlen(text), 0);
    if (!file) return false;
    zip_int64_t i = zip_file_add(z, name, file, ZIP_FL_ENC_UTF_8);
    if (i < 0) {
        zip_source_free(file);
        return false;
    }
    zip_uint64_t at = (zip_uint64_t)i;
    return zip_file_set_external_attributes(z, at, 0, ZIP_OPSYS_UNIX, 0100755u << 16) == 0 &&
           zip_file_set_mtime(z, at, 315532800, 0) == 0; /* 1980: the same bytes every time */
}

/* A zip with the script, in memory; the arena's. */
static bool zip_of(hd_arena *a, const char *text, void **out, size_t *out_bytes) {
    zip_error_t error;
    zip_stat_t st;
    zip_error_init(&error);
    zip_source_t *all = zip_source_buffer_create(NULL, 0, 0, &error);
    zip_t *z = all ? zip_open_from_source(all, ZIP_TRUNCATE, &error) : NULL;
    if (!z) {
        zip_source_free(all);
        return false;
    }
    zip_source_keep(all);
    bool ok = add_script(z, text);
    if (ok)
        ok = zip_close(z) == 0;
    else
        zip_discard(z);
    ok = ok && zip_source_stat(all, &st) == 0 && zip_source_open(all) == 0;
    if (ok) {
        *out = hd_alloc(a, st.size);
        *out_bytes = st.size;
        ok = zip_source_read(all, *out, st.size) == (zip_int64_t)st.size;
        zip_source_close(all);
    }
    zip_source_free(all);
    return ok;
}

static hd_status write_file(struct hd_cmd *c, hd_arena *a) {
    struct hd_machine m;
    struct hd_buf b = {0};
    void *payload;
    size_t bytes;
    TRY(hd_cmd_machine(c, &m));
    if (!zip_of(a, script(c, a), &payload, &bytes))
        return hd_fail(c->ctx, HD_NOMEM, "%s: no memory for its start script", c->opt.out);
    hd_xclbin_emulation(&m, payload, bytes, &b);
    hd_status s = hd_file_write(c->ctx, c->opt.out, b.data, b.n);
    hd_buf_free(&b);
    return s;
}

/* ---- info ----------------------------------------------------------------------------------- */

static void print_tables(const struct hd_xclbin *x) {
    static const char *const control[] = {"ap_ctrl_hs", "ap_ctrl_chain", "user managed",
                                          "ap_ctrl_me", "adapter"};
    struct hd_table t;
    hd_table_init(&t, "lrl");
    hd_table_cells(&t, (const char *[]){"section", "bytes", "name"}, 3);
    for (int i = 0; i < x->n_sections; i++) {
        hd_table_cell(&t, "%s", hd_xclbin_section_name(x->sections[i].kind));
        hd_table_cell(&t, "%" PRIu64, x->sections[i].bytes);
        hd_table_cell(&t, "%s", x->sections[i].name);
    }
    hd_table_print(&t, stdout);
    hd_table_init(&t, "lrrl");
    hd_table_cells(&t, (const char *[]){"bank", "base", "MiB", "used"}, 4);
    for (int i = 0; i < x->n_banks; i++) {
        hd_table_cell(&t, "%d %s", i, x->banks[i].tag);
        hd_table_cell(&t, "0x%" PRIx64, x->banks[i].base);
        hd_table_cell(&t, "%" PRIu64, x->banks[i].bytes >> 20);
        hd_table_cell(&t, "%s", x->banks[i].used ? "yes" : "no");
    }
    printf("\n");
    hd_table_print(&t, stdout);
    hd_table_init(&t, "lrll");
    hd_table_cells(&t, (const char *[]){"compute unit", "registers", "control", "argument:bank"},
                   4);
    for (int i = 0; i < x->n_ips; i++) {
        unsigned k = x->ips[i].properties >> 8 & 0xff;
        char links[200] = "";
        size_t at = 0;
        for (int j = 0; j < x->n_links && at + 24 < sizeof links; j++)
            if (x->links[j].ip == (uint32_t)i)
                at += (size_t)snprintf(links + at, sizeof links - at, "%" PRIu32 ":%" PRIu32 " ",
                                       x->links[j].arg, x->links[j].bank);
        hd_table_cell(&t, "%s", x->ips[i].name);
        hd_table_cell(&t, "0x%" PRIx64, x->ips[i].base);
        hd_table_cell(&t, "%s", k < sizeof control / sizeof *control ? control[k] : "?");
        hd_table_cell(&t, "%s", links);
    }
    printf("\n");
    hd_table_print(&t, stdout);
}

static hd_status info(struct hd_cmd *c, hd_arena *a) {
    struct hd_xclbin x;
    TRY(hd_xclbin_read(c->ctx, a, c->args[1], &x));
    printf("platform  %s\nmode      %s\ntools     %u.%u.%u\nuuid      ", x.platform,
           hd_xclbin_mode_name(x.mode), x.version[0], x.version[1], x.version[2]);
    for (int i = 0; i < 16; i++) printf("%02x", x.uuid[i]);
    for (int i = 0; i < x.n_clocks; i++)
        printf("\nclock     %s %u MHz", x.clocks[i].name, x.clocks[i].mhz);
    printf("\n\n");
    print_tables(&x);
    return HD_OK;
}

int cmd_xclbin(struct hd_cmd *c) {
    bool writes = !strcmp(c->args[0], "write");
    if (!writes && strcmp(c->args[0], "info"))
        return hd_cmd_usage(c, "got '%s', want write or info", c->args[0]);
    if (writes && (c->n_args != 1 || !c->opt.out || !strcmp(c->opt.out, "-")))
        return hd_cmd_usage(c, "write takes no argument, and needs a file: -o OUT.xclbin");
    if (!writes && c->n_args != 2)
        return hd_cmd_usage(c, "info needs a file: heddle xclbin info FILE");
    hd_arena *a = hd_arena_create();
    hd_status s = writes ? write_file(c, a) : info(c, a);
    hd_arena_destroy(a);
    return s == HD_OK ? HD_EXIT_DONE : hd_cmd_fail(c);
}
