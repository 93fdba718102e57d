/* The program: picks the command, parses its options, runs it. */
#include <string.h>

#include "compiler/cli/cli.h"

#define ONE(o) CLI_MASK(OPT_##o)

const struct cli_command cli_commands[] = {
    {"compile", "MODEL.onnx -o OUT.hdl",
     "compile; print the plan of each layer and what stays on the host", 1, 1,
     CLI_MACHINE_OPTIONS | ONE(NO_HIDING) | ONE(DUMP) | ONE(JSON) | ONE(OUT) | ONE(KEEP) |
         ONE(SELECT) | ONE(SHAPE) | ONE(INPUTS) | ONE(EMIT),
     NULL, cmd_compile},
    {"run", "MODEL", "run a model on one device; cycles, utilisation and traffic of each layer", 1,
     1,
     CLI_RUN_OPTIONS | ONE(DEVICE) | ONE(SHAPE) | ONE(INPUTS) | ONE(OUTPUTS) | ONE(SEED) |
         ONE(REPEAT) | ONE(DUMP) | ONE(TRACE) | ONE(TRACE_FROM) | ONE(TRACE_CYCLES) |
         ONE(TRACE_LEVEL) | ONE(REPORT) | ONE(KEEP) | ONE(SELECT),
     "iss", cmd_run},
    {"compare", "MODEL [MODEL] --devices A,B,...",
     "run on several devices (or two models), compare the result of every layer; name the first "
     "difference",
     1, 2,
     CLI_RUN_OPTIONS | ONE(DEVICES) | ONE(SHAPE) | ONE(INPUTS) | ONE(SEED) | ONE(SELECT) |
         ONE(BISECT) | ONE(KEEP),
     NULL, cmd_compare},
    {"quantize", "MODEL.onnx -o OUT.onnx",
     "make an int8 network of a float one: standard ONNX with QuantizeLinear; error of each layer",
     1, 1,
     ONE(CALIBRATE) | ONE(RANGE) | ONE(SYMMETRIC) | ONE(ACTIVATIONS) | ONE(BIAS_CORRECTION) |
         ONE(EQUALIZE) | ONE(KEEP) | ONE(SHAPE) | ONE(SEED) | ONE(DEVICE) | ONE(THREADS) |
         ONE(JSON) | ONE(OUT),
     "cpu", cmd_quantize},
    {"query", "MODEL SELECTOR",
     "operations that a selector means: heddle query MODEL 'conv[utilization<0.5] > relu'", 2, 2,
     CLI_RUN_OPTIONS | ONE(DEVICE) | ONE(SHAPE) | ONE(INPUTS) | ONE(SEED) | ONE(STAGE), "iss",
     cmd_query},
    {"graph", "MODEL -o FILE.svg",
     "picture of a network through Graphviz (.svg, .png, .pdf), or its DOT text (.dot)", 1, 1,
     CLI_MACHINE_OPTIONS | ONE(INPUTS) | ONE(STAGE) | ONE(COLOR) | ONE(FOLD) | ONE(SELECT) |
         ONE(OUT),
     NULL, cmd_graph},
    {"test", "DIR...", "run cases in the ONNX backend-test layout, recursively", 1, 1 << 20,
     CLI_RUN_OPTIONS | ONE(DEVICE) | ONE(SHAPE) | ONE(LIST), "iss", cmd_test},
    {"asm", "FILE.txt -o OUT.bin", "assemble a program", 1, 1, CLI_MACHINE_OPTIONS | ONE(OUT), NULL,
     cmd_asm},
    {"disasm", "FILE", "print the programs of a .hdl file, or of an assembled one, as text", 1, 1,
     ONE(OUT), NULL, cmd_disasm},
    {"check", "FILE", "check a program without running it: encoding, operands, bounds, deadlock", 1,
     1, CLI_MACHINE_OPTIONS | ONE(JSON), NULL, cmd_check},
    {"exec", "PROGRAM.txt",
     "run one program without a model; '#:' lines set memory and name what is printed", 1, 1,
     CLI_MACHINE_OPTIONS | CLI_MEM_OPTIONS | ONE(DEVICE) | ONE(DEVICES) | ONE(CYCLES), "iss",
     cmd_exec},
    {"opt", "GRAPH.txt|MODEL.onnx [--pass NAME,...]",
     "run graph passes on a network or on the text form of a graph; print the text", 1, 1,
     ONE(PASS) | ONE(FULL) | ONE(OUT) | ONE(SHAPE) | ONE(INPUTS), NULL, cmd_opt},
    {"devices", "", "devices of this program, and whether they can be used here", 0, 0,
     CLI_MACHINE_OPTIONS | ONE(JSON), NULL, cmd_devices},
    {"machines", "", "machines and their parameters", 0, 0, CLI_MACHINE_OPTIONS | ONE(JSON), NULL,
     cmd_machines},
    {"ops", "", "graph operations, and where they run", 0, 0, ONE(JSON), NULL, cmd_ops},
    {"bench", "[compare|cpu|iss-vs-rtl|memory] [MODEL...]",
     "cycles of networks (default: the digits network) beside their roofline", 0, 1 << 20,
     CLI_RUN_OPTIONS | ONE(DEVICE) | ONE(SEED) | ONE(DEVICES) | ONE(REPEAT) | ONE(CSV) |
         ONE(REPORT) | ONE(INPUTS),
     "iss", cmd_bench},
    {"demo", "[FOLDER]", "the digits network on the simulated machine: accuracy, agreement, cycles",
     0, 1, CLI_RUN_OPTIONS | ONE(DEVICE) | ONE(IMAGES), "rtl", cmd_demo},
    {"xclbin", "write -o OUT.xclbin | info FILE",
     "write the file that XRT's hardware emulation loads, or print what an xclbin holds", 1, 2,
     CLI_MACHINE_OPTIONS | CLI_MEM_OPTIONS | ONE(DEVICE) | ONE(OUT), "rtl", cmd_xclbin},
    {"emu-device", "[SOCKET]",
     "be the device behind XRT's hardware emulation (XRT starts it; or listen at SOCKET)", 0, 1,
     CLI_MACHINE_OPTIONS | CLI_MEM_OPTIONS | ONE(DEVICE), "rtl", cmd_emu_device},
    {0}};

static void print_usage(FILE *out) {
    fprintf(out, "usage: heddle COMMAND ...\n\n");
    for (const struct cli_command *cmd = cli_commands; cmd->name; cmd++)
        fprintf(out, "  %-9s %s\n", cmd->name, cmd->doc);
    fprintf(out, "\nheddle COMMAND --help explains one. heddle --version prints the version.\n"
                 "Exit status: 0 done and correct, 1 wrong input, device failed or results differ, "
                 "2 wrong command "
                 "line.\n");
}

static const struct cli_command *find_command(const char *name) {
    for (const struct cli_command *cmd = cli_commands; cmd->name; cmd++)
        if (!strcmp(cmd->name, name)) return cmd;
    return NULL;
}

int main(int argc, char **argv) {
    if (argc < 2) {
        print_usage(stderr);
        return CLI_USAGE;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
        print_usage(stdout);
        return CLI_DONE;
    }
    if (!strcmp(argv[1], "--version")) {
        printf("heddle 0.1, instruction set %d.%d (0x%08x)\n", HD_ISA_VERSION >> 16,
               HD_ISA_VERSION & 0xffff, hd_isa_hash());
        return CLI_DONE;
    }
    struct cli c = {.command = find_command(argv[1])};
    if (!c.command) {
        fprintf(stderr, "heddle: unknown command '%s'; heddle --help lists them\n", argv[1]);
        return CLI_USAGE;
    }
    c.ctx = hd_ctx_create();
    c.start = cli_now();
    bool help = false;
    int status = cli_parse(&c, argc - 1, argv + 1, &help);
    if (status == CLI_DONE) {
        if (help)
            cli_print_help(c.command, stdout);
        else
            status = c.command->run(&c);
    }
    cli_progress_end(&c);
    if (fflush(stdout) != 0 && status == CLI_DONE) {
        fprintf(stderr, "heddle %s: cannot write to standard output\n", c.command->name);
        status = CLI_FAILED;
    }
    hd_ctx_destroy(c.ctx);
    return status;
}
