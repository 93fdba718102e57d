/* heddle serve: the devices of this computer, for others. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler/cli/cli.h"
#include "driver/remote/remote.h"
#include "runtime/base/version.h"

enum { CACHE_MIB = 1024 };

/* Our standard output is the connection; what anything else prints there goes to standard error. */
static hd_status serve_stdio(struct hd_cmd *c, const struct hd_serve_options *o) {
    int in = dup(STDIN_FILENO), out = dup(STDOUT_FILENO);
    if (in < 0 || out < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0 ||
        !freopen("/dev/null", "r", stdin))
        return hd_fail(c->ctx, HD_IO, "standard input or output cannot be used as a connection");
    signal(SIGPIPE, SIG_IGN);
    return hd_serve(c->ctx, o, in, out);
}

int cmd_serve(struct hd_cmd *c) {
    const struct hd_serve_options o = {.find = hd_device_find,
                                       .devices = hd_devices,
                                       .version = hd_version(),
                                       .runs = c->opt.threads,
                                       .cache_mib = CACHE_MIB,
                                       .may_exit = true};
    if (c->opt.serve.stdio && (c->opt.serve.socket || c->opt.serve.mode))
        return hd_cmd_usage(c, "--stdio: serves who started it; leave out --socket and --mode");
    if (c->opt.serve.stdio && isatty(STDIN_FILENO))
        return hd_cmd_usage(c, "--stdio: standard input is a terminal; a client starts this by ssh "
                               "(docs/remote.md), or serve at a socket: --socket PATH");
    int mode = c->opt.serve.mode ? (int)strtol(c->opt.serve.mode, NULL, 8) : 0600;
    hd_status s = c->opt.serve.stdio ? serve_stdio(c, &o)
                                     : hd_serve_socket(c->ctx, &o, c->opt.serve.socket, mode);
    return s ? hd_cmd_fail(c) : HD_EXIT_DONE;
}
