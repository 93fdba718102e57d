# RUN: heddle opt test/golden/import/models/sequence.onnx --pass fold
#= graph net {
#=   input x f32[2,3]
#=   const split.axis i64[1] = {1}
#=   const split.from i64[1] = {0}
#=   const split.to i64[1] = {1}
#=   const split.from_12 i64[1] = {1}
#=   const split.to_13 i64[1] = {2}
#=   const split.from_15 i64[1] = {2}
#=   const split.to_16 i64[1] = {3}
#=   split.part0 f32[2,1] = slice(x, split.from, split.to, split.axis)
#=   split.part1 f32[2,1] = slice(x, split.from_12, split.to_13, split.axis)
#=   split.part2 f32[2,1] = slice(x, split.from_15, split.to_16, split.axis)
#=   y f32[2,3] = concat(split.part2, split.part0, split.part1) @join axis=1
#=   output y
#= }
