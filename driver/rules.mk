SRCS += $(wildcard driver/*.c driver/remote/*.c)
