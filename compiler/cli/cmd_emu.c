/* heddle emu-device: this program as the device behind XRT's hardware emulation. */
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "compiler/cli/cli.h"
#include "driver/emu_dev.h"
#include "driver/emu_left.h"

/* To the program that started us with its socket as our standard input: 0, or length and message.
 */
static void tell_ready(const char *message) {
    size_t n = strlen(message);
    if (n > 1999) n = 1999;
    unsigned char head[4] = {(unsigned char)n, (unsigned char)(n >> 8)};
    hd_emu_write(STDIN_FILENO, head, sizeof head, 1000);
    hd_emu_write(STDIN_FILENO, message, n, 1000);
}

static hd_status serve(struct hd_cmd *c, hd_emu *e) {
    if (!c->n_args) return hd_emu_serve_xrt(c->ctx, e);
    if (strcmp(c->args[0], "-")) return hd_emu_serve_at(c->ctx, e, c->args[0]);
    tell_ready("");
    return hd_emu_serve(c->ctx, e, STDIN_FILENO, -1);
}

/* The host went without a word. When it was killed, its lock ends a little after its socket:
 * removes its folder, which has the file, as soon as that is so. */
static void sweep_after(const char *file) {
    for (int i = 0; i < 20; i++) {
        hd_emu_sweep();
        if (!file || access(file, F_OK) != 0) return;
        nanosleep(&(struct timespec){0, 50000000}, NULL);
    }
}

int cmd_emu_device(struct hd_cmd *c) {
    bool from_stdin = c->n_args && !strcmp(c->args[0], "-");
    struct hd_machine m;
    struct hd_device_options opt;
    hd_emu *e = NULL;
    hd_status s = hd_cmd_machine(c, &m);
    if (!s) {
        hd_cmd_device_options(c, &m, &opt);
        s = hd_emu_create(c->ctx, c->opt.device, &opt, &e);
    }
    if (s && from_stdin) { /* the other side shows it */
        tell_ready(hd_message(c->ctx));
        return HD_EXIT_FAILED;
    }
    if (!s) s = serve(c, e);
    if (from_stdin && !hd_emu_was_closed(e)) sweep_after(c->opt.machine);
    hd_emu_destroy(e);
    return s ? hd_cmd_fail(c) : HD_EXIT_DONE;
}
