SRCS += runtime/ranks/ranks.c runtime/ranks/window.c
# MPI stays out of the program: a plug-in, built where Open MPI's headers are (scripts/deps.sh mpi).
MPI_HEADERS := $(firstword $(wildcard /usr/lib/$(shell uname -m)-linux-gnu/openmpi/include/mpi.h))
ifneq ($(MPI_HEADERS),)
PLUGINS += $(B)/libhd_mpi.so
$(B)/libhd_mpi.so: runtime/ranks/mpi_plugin.c runtime/ranks/ranks.h $(B)/flags
	$(Q)$(call plugin,-isystem $(dir $(MPI_HEADERS)) -lmpi -Xlinker --no-as-needed -lc)
lib tests test-unit: $(B)/libhd_mpi.so
endif
FLAGS_runtime/ranks/mpi_plugin.c := -isystem $(dir $(MPI_HEADERS))
