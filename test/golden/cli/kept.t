# A network with an open batch is compiled once for each size; what was cut short on the disk is compiled again.
# RUN: export XDG_CACHE_HOME=/tmp/heddle_golden_kept; rm -rf $XDG_CACHE_HOME; run() { heddle run test/golden/quantize/batch.onnx --device golden --cache 8 --inputs test/golden/quantize/shapes/test_data_set_$1 --json - > $XDG_CACHE_HOME.json; grep -o '"compile_seconds": 0,' $XDG_CACHE_HOME.json || echo compiled; }
# RUN: run 0; run 0; run 3; run 0; run 3; ls $XDG_CACHE_HOME/heddle/compiled | wc -l
# RUN: truncate -s 100 $XDG_CACHE_HOME/heddle/compiled/*.hdl; run 0; run 0
# RUN: heddle run test/golden/quantize/batch.onnx --device golden --cache 8 --seed 2 --knob bands=5 --inputs test/golden/quantize/shapes/test_data_set_0 > /dev/null; ls $XDG_CACHE_HOME/heddle/compiled | wc -l
#= compiled
#= "compile_seconds": 0,
#= compiled
#= "compile_seconds": 0,
#= "compile_seconds": 0,
#= 2
#= compiled
#= "compile_seconds": 0,
#= 3
