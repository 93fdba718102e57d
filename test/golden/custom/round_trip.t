# RUN: heddle convert test/golden/custom/cases/correlation/model.onnx -o build/custom_round_trip.onnx && heddle opt build/custom_round_trip.onnx
#= graph net {
#=   input a f32[1,2,2,6]
#=   input b f32[1,2,2,6]
#=   y f32[1,5,2,6] = expression(a, b) @correlation expression="(a: [N,C,H,W], b: [N,C,H,W], taps: int) -> y\x0asum[n,d,i,j] += a[n,c,i,j] * pad(b[n,c,i,j + d - taps/2], 0) where d < taps\x0ay[n,d,i,j] = sum[n,d,i,j] / C" taps=5
#=   output y
#= }
