# RUN: heddle run --help
# EXIT: 0
#= usage: heddle run MODEL [option...]
#=
#= run a model on one device; cycles, utilisation and traffic of each layer
#=
#= options:
#=   --device NAME              device to run on; heddle devices lists them. HOST/NAME is one of another computer (default iss)
#=   --devices A,B,...          devices to compare, the first is the reference; of run, test and train: devices that share one network
#=   --machine NAME|FILE        machine (default base); heddle machines lists them
#=   --set KEY=VALUE            change one machine parameter, or one setting of training; may be repeated
#=   --knob NAME=VALUE          how plans are searched; heddle knobs lists names, ranges and effects; may be repeated
#=   --inputs PATH              test_data_set_N folder, .pb, .npy or .npz (default: first data set beside the model, else random)
#=   --shape NAME=N,N,..        sizes of an input, or the size of an open dimension; may be repeated
#=   --value NAME=NUMBER        an input of an ONNX file becomes a constant, all its elements that number; may be repeated
#=   --state OUT=IN             output OUT of a run is input IN of the next one, and stays on the device; may be repeated
#=   --steps N                  run N times, each from the states that the last one left; arrays of --inputs may have an axis of N in front
#=   --load-state FILE          begin with the states that --save-state wrote
#=   --save-state FILE          write the states that the last run left
#=   --rounding float|tflite    of integer layers of a TFLite file: in binary32 (default), or as its kernels do; the second runs on golden and cpu
#=   --outputs OUT.npz          write the outputs
#=   --seed N                   seed of random inputs (default 1)
#=   --repeat N                 run N times; times are the median
#=   --mem-latency CYCLES       simulated DRAM: cycles to first data (default 64)
#=   --mem-bytes-per-cycle B    simulated DRAM: bytes per cycle each way (default: port width)
#=   --mem-outstanding Q        simulated DRAM: open bursts at most (default 16)
#=   --mem-jitter SEED|A..B     simulated DRAM: random timing; A..B runs every seed (compare)
#=   --no-latency-hiding        compile so that every operation waits for the one before it
#=   --cache MIB                keep what is compiled in heddle/compiled of the user's cache, at most so many MiB: the same network for the same sizes is not compiled again (default 0: not so)
#=   --functional               device iss: results only, no cycles; sooner
#=   --max-cycles N             a program that takes more cycles is stopped, with an error (default 2^34; in steps of 256)
#=   --no-fallback              devices opencl, cuda: a node that would run on the host is an error
#=   --db FILE                  schedules that heddle tune measured: devices cpu, opencl and cuda use those that are faster than what they have
#=   --dump import|legalize|prepare|layers|plan|ops|program|all
#=                              print the compiler's state after a stage
#=   --threads N                threads for devices that use several; of serve: runs at once (default: as many as cores)
#=   --json FILE                write the facts as JSON; - is standard output
#=   --trace FILE.json          write a timeline that Perfetto and chrome://tracing open
#=   --trace-from CYCLE         leave out of the trace what ended before
#=   --trace-cycles N           and what began N cycles later
#=   --trace-level op|layer     an event per operation (default), or per unit and layer
#=   --wave FILE.fst            device rtl: write every signal of every cycle for GTKWave, and FILE.gtkw, which groups them by unit
#=   --wave-from CYCLE          leave out of the waveforms what was before
#=   --wave-cycles N            and what is N cycles later
#=   --report FILE.html         write a report: one page that opens in any browser
#=   --select SELECTOR          only these layers in --dump, --trace, --wave and compare (docs/query.md)
#=   --keep SELECTOR            layers whose result is also stored in DRAM; of quantize: nodes that stay float (docs/query.md)
#=   -j, --jobs N               processes beside each other (default 2; of run, on device rtl, 1)
#=   --part-cycles N            with --jobs: cycles of a part of a run, at least (default 262144)
#=   --precision f32|tf32|fp16  operands of float products on device cuda are rounded to this (default f32: not)
#=   -h, --help                 print this
