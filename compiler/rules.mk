SRCS += compiler/compiler.c compiler/legalize.c $(wildcard compiler/tile/*.c compiler/mem/*.c compiler/sched/*.c compiler/emit/*.c \
        compiler/query/*.c compiler/export/*.c compiler/quantize/*.c)
