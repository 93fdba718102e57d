SRCS += $(wildcard sim/*.c)
