# RUN: heddle exec %s --devices iss,rtl --machine tiny
# Word 6 is the head of lx.nop; op code 9 does not exist. The program has ended before it comes.
#: flip 6 0x48
{ seq.halt ; lx.nop }
