SRCS += isa/isa.c isa/room.c isa/machine.c isa/asm.c isa/disasm.c
isa/gen_SRCS := isa/gen.c isa/gen_xrt.c isa/isa.c isa/room.c isa/machine.c runtime/base/status.c
