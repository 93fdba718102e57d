# RUN: heddle help
# EXIT: 0
#= usage: heddle COMMAND ...
#=
#=   compile    compile; print the plan of each layer and what stays on the host
#=   run        run a model on one device; cycles, utilisation and traffic of each layer
#=   compare    run on several devices (or two models), compare the result of every layer; name the first difference
#=   quantize   make an int8 network of a float one: standard ONNX with QuantizeLinear; error of each layer
#=   query      operations that a selector means: heddle query MODEL 'conv[utilization<0.5] > relu'
#=   graph      picture of a network through Graphviz (.svg, .png, .pdf), or its DOT text (.dot)
#=   test       run cases in the ONNX backend-test layout, recursively
#=   asm        assemble a program
#=   disasm     print the programs of a .hdl file, or of an assembled one, as text
#=   check      check a program without running it: encoding, operands, bounds, deadlock
#=   exec       run one program without a model; '#:' lines set memory and name what is printed
#=   opt        run graph passes on a network or on the text form of a graph and print the text; or --stage: go on to a program
#=   convert    write a network of any format that is read (TFLite, Caffe, StableHLO, ONNX) as standard ONNX
#=   devices    devices of this program, and whether they can be used here
#=   machines   machines and their parameters
#=   ops        graph operations, and where they run
#=   bench      cycles of networks (default: the digits network) beside their roofline
#=   demo       the digits network on the simulated machine: accuracy, agreement, cycles
#=   xclbin     write the file that XRT's hardware emulation loads, or print what an xclbin holds
#=   emu-device be the device behind XRT's hardware emulation (XRT starts it; or listen at SOCKET)
#=   help       explain a command; print the manual page, or completion for a shell
#=
#= heddle COMMAND --help explains one. heddle --version prints the version.
#= Exit status: 0 done and correct, 1 wrong input, device failed or results differ, 2 wrong command line.
