# A network that cannot be read costs its row, and the exit status; one in integers is not quantised.
# RUN: heddle bench zoo test/models/digits test/golden/cli/bad/empty.onnx --machine tiny --json - 2> /dev/null | grep -E '"(network|machine|form|error|roofline_cycles|networks|low)"'
# RUN: ! heddle bench zoo test/golden/cli/bad/empty.onnx --machine tiny > /dev/null 2>&1
#=       "machine": "tiny",
#=       "networks": 1,
#=       "low": 0,
#=       "network": "digits",
#=       "machine": "tiny",
#=       "form": "as it is",
#=       "error": null,
#=       "roofline_cycles": 6146,
#=       "network": "empty.onnx",
#=       "machine": "tiny",
#=       "form": "as it is",
#=       "error": "heddle run: test/golden/cli/bad/empty.onnx: the file is empty"
