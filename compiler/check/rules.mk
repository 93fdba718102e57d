SRCS += compiler/check/check.c compiler/check/operands.c compiler/check/tokens.c
