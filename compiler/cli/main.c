/* main() alone: in Debian's packages the rest is in libheddle.so, which exists for several
 * processors. */
#include "compiler/cli/cli.h"

int main(int argc, char **argv) {
    return hd_program(argc, argv);
}
