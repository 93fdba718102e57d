SRCS += compiler/check/check.c compiler/check/operands.c compiler/check/access.c compiler/check/tokens.c compiler/check/races.c
