# RUN: heddle opt test/golden/import/models/sequence_position.onnx
# EXIT: 1
#= heddle opt: node 'at' (SequenceAt): position 'at' is known in the run only; give values with --inputs (quantize: --calibrate)
#=   while importing test/golden/import/models/sequence_position.onnx
