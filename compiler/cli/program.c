/* The program but for its main(): picks the command, parses its options, runs it. */
#include <string.h>

#include "compiler/cli/cli.h"
#include "runtime/base/version.h"

#define O(o)     ((cli_option_set)1 << OPT_##o)
#define MACHINE_ (O(MACHINE) | O(SET))
#define MEM_     (O(MEM_LATENCY) | O(MEM_BYTES) | O(MEM_OUTSTANDING) | O(MEM_JITTER))
#define RUN_                                                                                       \
    (MACHINE_ | MEM_ | O(NO_HIDING) | O(FUNCTIONAL) | O(MAX_CYCLES) | O(NO_FALLBACK) | O(DB) |     \
     O(PRECISION) | O(THREADS) | O(JSON))

const struct cli_command cli_commands[] = {
#define COMMAND(...) {__VA_ARGS__},
#include "compiler/cli/commands.def"
    {0}};

const struct cli_command *cli_find_command(const char *name) {
    for (const struct cli_command *cmd = cli_commands; cmd->name; cmd++)
        if (!strcmp(cmd->name, name)) return cmd;
    return NULL;
}

static int unknown(const char *name) {
    fprintf(stderr, "heddle: unknown command '%s'; heddle --help lists them\n", name);
    return HD_EXIT_USAGE;
}

int cmd_help(struct hd_cmd *c) {
    const struct cli_command *cmd = c->n_args ? cli_find_command(c->args[0]) : NULL;
    if (c->n_args && !cmd) return unknown(c->args[0]);
    if (cmd)
        cli_print_help(cmd, stdout);
    else if (c->opt.about.man)
        cli_print_man(stdout);
    else if (c->opt.about.completion)
        cli_print_completion(c->opt.about.completion, stdout);
    else
        cli_print_usage(stdout);
    return HD_EXIT_DONE;
}

static int run(const struct cli_command *cmd, int argc, char **argv) {
    struct hd_cmd c = {.ctx = hd_ctx_create(), .name = cmd->name, .start = hd_seconds()};
    int status = cli_parse(&c, cmd, argc, argv);
    if (status == HD_EXIT_DONE && c.opt.help)
        cli_print_help(cmd, stdout);
    else if (status == HD_EXIT_DONE && (status = cli_check(&c)) == HD_EXIT_DONE)
        status = cmd->run(&c);
    hd_cmd_progress_end(&c);
    fputs(hd_warnings(c.ctx), stderr);
    if ((fflush(stdout) != 0 || ferror(stdout)) && status == HD_EXIT_DONE) {
        fprintf(stderr, "heddle %s: cannot write to standard output\n", cmd->name);
        status = HD_EXIT_FAILED;
    }
    hd_ctx_destroy(c.ctx);
    return status;
}

int hd_program(int argc, char **argv) {
    if (argc < 2) {
        cli_print_usage(stderr);
        return HD_EXIT_USAGE;
    }
    if (!strcmp(argv[1], "--version")) {
        printf("heddle %s, instruction set %d.%d (0x%08x)\n", hd_version(), HD_ISA_VERSION >> 16,
               HD_ISA_VERSION & 0xffff, hd_isa_hash());
        return fflush(stdout) == 0 ? HD_EXIT_DONE : HD_EXIT_FAILED;
    }
    bool help = !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h");
    const struct cli_command *cmd = cli_find_command(help ? "help" : argv[1]);
    return cmd ? run(cmd, argc - 1, argv + 1) : unknown(argv[1]);
}
