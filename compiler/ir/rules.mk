SRCS += $(wildcard compiler/ir/*.c compiler/import/*.c compiler/import/*/*.c compiler/pass/*.c)
