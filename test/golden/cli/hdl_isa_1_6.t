# RUN: heddle run test/golden/cli/bad/isa_1_6.hdl 2>&1 | sed 's/0x[0-9a-f]*/HASH/g'
# A file that the compiler of ISA 1.6 wrote.
#= heddle run: test/golden/cli/bad/isa_1_6.hdl: file format 5, for instruction set 1.6; this program reads 8, for 2.1; compile it again: heddle compile MODEL.onnx -o test/golden/cli/bad/isa_1_6.hdl
