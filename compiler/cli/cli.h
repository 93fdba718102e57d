/* The command line: tables of commands and options, what is printed from them, the commands. */
#ifndef HD_CLI_CLI_H
#define HD_CLI_CLI_H

#include <stdio.h>

#include "compiler/choose/choose.h"
#include "compiler/command/command.h"
#include "compiler/explore/explore.h"
#include "compiler/ir/ir.h"
#include "compiler/tune/tune.h"
#include "runtime/device/model.h"

enum cli_option_kind {
    CLI_FLAG,
    CLI_TEXT,
    CLI_WORD,
    CLI_FILE,
    CLI_NUMBER,
    CLI_LIST,
    CLI_SEEDS,
    CLI_OUTPUT,
    CLI_SELECTOR,
    CLI_DEVICES
};
enum cli_option_id {
#define OPTION(id, ...) OPT_##id,
#include "compiler/cli/options.def"
    CLI_OPTIONS
};
__extension__ typedef unsigned __int128 cli_option_set; /* a bit per option */
_Static_assert(CLI_OPTIONS <= 128, "a command has its options as bits of one word");

struct cli_option { /* a row of options.def */
    const char *name, *arg, *doc;
    char letter;
    enum cli_option_kind kind;
    size_t offset, size; /* in struct hd_options */
    uint64_t min, max;
};
extern const struct cli_option cli_options[CLI_OPTIONS];

struct cli_command { /* a row of commands.def */
    const char *name;
    int (*run)(struct hd_cmd *c); /* gives the exit status */
    const char *args;
    int min_args, max_args;
    const char *device;
    cli_option_set options;
    const char *doc;
};
extern const struct cli_command cli_commands[];               /* ends with a NULL name */
const struct cli_command *cli_find_command(const char *name); /* NULL = there is none */
bool cli_takes(const struct cli_command *cmd, int option);

/* Fills c->opt and c->args. HD_EXIT_DONE, or HD_EXIT_USAGE after a message. */
int cli_parse(struct hd_cmd *c, const struct cli_command *cmd, int argc, char **argv);

/* What can be said of the options before anything is done: files can be written, selectors parse,
 * devices are known. HD_EXIT_DONE, or HD_EXIT_FAILED after a message. */
int cli_check(struct hd_cmd *c);

/* The whole program: its exit status. */
int hd_program(int argc, char **argv);

void cli_print_usage(FILE *out);
void cli_print_help(const struct cli_command *cmd, FILE *out);
void cli_print_man(FILE *out);
void cli_print_completion(const char *shell, FILE *out); /* bash or zsh */

/* Every program that leaves the compiler passes the static check (cmd_compile.c). */
hd_status cli_check_programs(struct hd_cmd *c, const hd_model *m);
/* heddle opt --stage (cmd_stage.c): from the graph of a stage to a program; parsed: g was read from
 * text, so it is that stage's graph, else a network as written. */
hd_status cli_go_on(struct hd_cmd *c, hd_graph *g, bool parsed);

#define COMMAND(name, function, ...) int function(struct hd_cmd *c);
#include "compiler/cli/commands.def"

struct hd_run_facts;
/* run_steps.c: --steps, --load-state and --save-state. */
hd_status cli_load_state(struct hd_cmd *c, hd_session *s);
hd_status cli_save_state(struct hd_cmd *c, hd_arena *a, hd_session *s);
hd_status cli_run_steps(struct hd_cmd *c, hd_arena *a, hd_session *s, struct hd_run_facts *r,
                        void *const *out);

/* train_script.c: heddle train SCRIPT.py. */
struct cli_script {
    uint32_t seed; /* of first weights */
    int64_t batch; /* samples of a shard */
    int rank;      /* of a sample, and its sizes */
    const int64_t *dim;
};
bool cli_is_script(const char *path);
/* What function network(g, x) of a Python script makes: the network that is trained and the one
 * that runs, both for a batch, and that for one sample. They are the caller's, also after an error;
 * NULL = not made. Errors: HD_INVALID, Python told why on stderr; HD_IO, it does not start. */
hd_status cli_script_networks(struct hd_cmd *c, const char *path, const struct cli_script *o,
                              hd_graph **train, hd_graph **score, hd_graph **run);

#endif
