SRCS += $(filter-out compiler/cli/%,$(wildcard compiler/*.c compiler/*/*.c))
# The search of plans spends its time in these; they can be debugged and covered all the same.
ifeq ($(BUILD),release)
$(foreach f,$(wildcard compiler/cost/*.c compiler/machine_ops/*.c compiler/kind/*.c),$(eval FLAGS_$f := -O3))
endif
