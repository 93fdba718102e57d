/* What is printed from the tables: help, manual page, completion for shells. */
#include <string.h>

#include "compiler/cli/cli.h"

void cli_print_usage(FILE *out) {
    fprintf(out, "usage: heddle COMMAND ...\n\n");
    for (const struct cli_command *cmd = cli_commands; cmd->name; cmd++)
        fprintf(out, "  %-10s %s\n", cmd->name, cmd->doc);
    fprintf(out, "\nheddle COMMAND --help explains one. heddle --version prints the version.\n"
                 "Exit status: 0 done and correct, 1 wrong input, device failed or results differ, "
                 "2 wrong command line.\n");
}

/* "-o, --out FILE", for people. */
static void option_text(const struct cli_option *o, char *out, size_t room) {
    int n = o->letter ? snprintf(out, room, "-%c, ", o->letter) : 0;
    snprintf(out + n, room - (size_t)n, "--%s%s%s", o->name, o->arg ? " " : "",
             o->arg ? o->arg : "");
}

void cli_print_help(const struct cli_command *cmd, FILE *out) {
    fprintf(out, "usage: heddle %s%s%s [option...]\n\n%s\n\noptions:\n", cmd->name,
            *cmd->args ? " " : "", cmd->args, cmd->doc);
    for (int i = 0; i < CLI_OPTIONS; i++) {
        char left[80];
        if (!cli_takes(cmd, i)) continue;
        option_text(&cli_options[i], left, sizeof left);
        bool is_long = strlen(left) > 26;
        fprintf(out, "  %-26s%s", left, is_long ? "\n" : " ");
        fprintf(out, "%*s%s", is_long ? 29 : 0, "", cli_options[i].doc);
        if (i == OPT_DEVICE) fprintf(out, " (default %s)", cmd->device);
        fputs("\n", out);
    }
}

/* ---- manual page ---------------------------------------------------------------------------- */

/* Text of a manual page: no minus is a hyphen, no line is a request. */
static void put_roff(const char *text, FILE *out) {
    if (*text == '.' || *text == '\'') fputs("\\&", out);
    for (; *text; text++) {
        if (*text == '-') fputc('\\', out);
        fputs(*text == '\\' ? "\\e" : (char[]){*text, 0}, out);
    }
}

static void put_entry(const char *bold, const char *rest, const char *doc, FILE *out) {
    fputs(".TP\n\\fB", out);
    put_roff(bold, out);
    fputs("\\fR", out);
    if (*rest) fputs(" ", out);
    put_roff(rest, out);
    fputs("\n", out);
    put_roff(doc, out);
    fputs("\n", out);
}

static void put_man_options(const struct cli_command *cmd, FILE *out) {
    bool any = false;
    for (int i = 0; i < CLI_OPTIONS; i++) {
        if (i == OPT_HELP || !cli_takes(cmd, i)) continue;
        fputs(any ? ", " : ".br\nOptions: ", out);
        fputs("\\-\\-", out);
        put_roff(cli_options[i].name, out);
        any = true;
    }
    if (any) fputs("\n", out);
}

void cli_print_man(FILE *out) {
    static const struct {
        const char *name, *doc;
    } variables[] = {
#define VARIABLE(name, doc) {name, doc},
#include "compiler/cli/variables.def"
    };
    fputs(".\\\" Printed by heddle help --man from compiler/cli/*.def; make gen writes it.\n"
          ".TH HEDDLE 1 \"\" \"heddle\" \"Heddle\"\n.SH NAME\n"
          "heddle \\- compile neural networks for the Heddle accelerator, and run them on "
          "simulators and boards\n"
          ".SH SYNOPSIS\n.B heddle\n.I command\n.RI [ argument ...]\n.RI [ option ...]\n"
          ".SH COMMANDS\n",
          out);
    for (const struct cli_command *cmd = cli_commands; cmd->name; cmd++) {
        put_entry(cmd->name, cmd->args, cmd->doc, out);
        put_man_options(cmd, out);
    }
    fputs(".SH OPTIONS\n", out);
    for (int i = 0; i < CLI_OPTIONS; i++) {
        char name[32];
        const struct cli_option *o = &cli_options[i];
        snprintf(name, sizeof name, o->letter ? "--%s, -%c" : "--%s", o->name, o->letter);
        put_entry(name, o->arg ? o->arg : "", o->doc, out);
    }
    fputs(".SH EXIT STATUS\n0 done and correct; 1 the input is wrong, the device failed or results "
          "differ; 2 the command line is wrong.\n.SH ENVIRONMENT\n",
          out);
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        put_entry(variables[i].name, "", variables[i].doc, out);
    fputs(".SH SEE ALSO\n.BR heddle_rt (3)\n", out);
}

/* ---- completion ----------------------------------------------------------------------------- */

static void put_commands(FILE *out) {
    for (const struct cli_command *cmd = cli_commands; cmd->name; cmd++)
        fprintf(out, "%s ", cmd->name);
}

/* "a|b" as "a b". */
static void put_words(const char *words, FILE *out) {
    for (; *words; words++) fputc(*words == '|' ? ' ' : *words, out);
}

static void print_bash(FILE *out) {
    fputs("# Completion of heddle's commands and options: source this file in bash.\n"
          "_heddle() {\n"
          "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words=\n"
          "    if [ \"$COMP_CWORD\" = 1 ] || [ \"$prev\" = help ]; then\n"
          "        words=\"",
          out);
    put_commands(out);
    fputs("--help --version\"\n        COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
          "        return\n    fi\n    case $prev in\n",
          out);
    for (int i = 0; i < CLI_OPTIONS; i++) {
        const struct cli_option *o = &cli_options[i];
        if (o->kind != CLI_WORD) continue;
        fprintf(out, "    --%s) words=\"", o->name);
        put_words(o->arg, out);
        fputs("\" ;;\n", out);
    }
    fputs("    esac\n    if [ -z \"$words\" ] && [[ $cur == -* ]]; then\n"
          "        case ${COMP_WORDS[1]} in\n",
          out);
    for (const struct cli_command *cmd = cli_commands; cmd->name; cmd++) {
        fprintf(out, "        %s) words=\"", cmd->name);
        for (int i = 0; i < CLI_OPTIONS; i++)
            if (cli_takes(cmd, i)) fprintf(out, "--%s ", cli_options[i].name);
        fputs("\" ;;\n", out);
    }
    fputs("        esac\n    fi\n    if [ -n \"$words\" ]; then\n"
          "        COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n    else\n"
          "        COMPREPLY=($(compgen -f -- \"$cur\"))\n    fi\n}\n"
          "complete -o filenames -F _heddle heddle\n",
          out);
}

/* Within single quotes and a spec of _arguments or _describe. */
static void put_zsh(const char *text, FILE *out) {
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\'", out);
        else if (strchr("[]:\\", *text))
            fputc('\\', out);
        fputc(*text, out);
    }
}

static void put_zsh_option(const struct cli_option *o, FILE *out) {
    fprintf(out, " \\\n            '%s--%s[", o->kind == CLI_LIST ? "*" : "", o->name);
    put_zsh(o->doc, out);
    fputs("]", out);
    if (o->arg) {
        fputs(":", out);
        put_zsh(o->arg, out);
        fputs(":", out);
    }
    if (o->kind == CLI_FILE || o->kind == CLI_OUTPUT) fputs("_files", out);
    if (o->kind == CLI_WORD) {
        fputs("(", out);
        put_words(o->arg, out);
        fputs(")", out);
    }
    fputs("'", out);
}

static void print_zsh(FILE *out) {
    fputs("#compdef heddle\n# Completion of heddle's commands and options: put it in a folder of "
          "$fpath as _heddle.\n_heddle() {\n    local -a commands\n    commands=(\n",
          out);
    for (const struct cli_command *cmd = cli_commands; cmd->name; cmd++) {
        fprintf(out, "        '%s:", cmd->name);
        put_zsh(cmd->doc, out);
        fputs("'\n", out);
    }
    fputs("    )\n    if (( CURRENT == 2 )); then\n        _describe command commands\n"
          "        return\n    fi\n    shift words\n    (( CURRENT-- ))\n    case $words[1] in\n",
          out);
    for (const struct cli_command *cmd = cli_commands; cmd->name; cmd++) {
        fprintf(out, "    %s)\n        _arguments '*:argument:_files'", cmd->name);
        for (int i = 0; i < CLI_OPTIONS; i++)
            if (cli_takes(cmd, i)) put_zsh_option(&cli_options[i], out);
        fputs(" ;;\n", out);
    }
    fputs("    esac\n}\ncompdef _heddle heddle\n", out);
}

void cli_print_completion(const char *shell, FILE *out) {
    if (!strcmp(shell, "bash"))
        print_bash(out);
    else
        print_zsh(out);
}
