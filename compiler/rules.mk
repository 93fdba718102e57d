SRCS += compiler/compiler.c $(wildcard compiler/tile/*.c compiler/mem/*.c compiler/sched/*.c compiler/emit/*.c \
        compiler/query/*.c compiler/export/*.c compiler/quantize/*.c)
