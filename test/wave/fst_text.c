/* Prints an FST file as VCD text with the names of values: fst_text FILE.fst. */
#include <stdio.h>

#include "fstapi.h"

int main(int argc, char **argv) {
    void *r = argc == 2 ? fstReaderOpen(argv[1]) : NULL;
    if (!r) {
        fprintf(stderr, "fst_text: cannot read %s\n", argc == 2 ? argv[1] : "without a file");
        return 1;
    }
    fstReaderSetVcdExtensions(r, 1);
    int ok = fstReaderProcessHier(r, stdout);
    fstReaderSetFacProcessMaskAll(r); /* behind the names: it is theirs */
    ok = ok && fstReaderIterBlocks(r, NULL, NULL, stdout);
    fstReaderClose(r);
    return ok && fflush(stdout) == 0 ? 0 : 1;
}
