// The backward pass of max pooling: overlapping windows, a stride, padding that is never chosen.
func.func @pool() {
  %x = util.unfoldable_constant dense<[-4.0, -1.0, -3.0, -2.0, -9.0]> : tensor<5xf32>
  %g = util.unfoldable_constant dense<[1.0, 10.0, 100.0]> : tensor<3xf32>
  %zero = stablehlo.constant dense<0.5> : tensor<f32>
  %y = "stablehlo.select_and_scatter"(%x, %g, %zero) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
  }, {
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %c : tensor<f32>
  }) {window_dimensions = array<i64: 3>, window_strides = array<i64: 2>, padding = dense<1> : tensor<1x2xi64>}
    : (tensor<5xf32>, tensor<3xf32>, tensor<f32>) -> tensor<5xf32>
  check.expect_eq_const %y, dense<[0.5, 11.5, 0.5, 100.5, 0.5]> : tensor<5xf32>
  return
}

// -----

func.func @small_floats() {
  %x = util.unfoldable_constant dense<[0.3, 500.0, -17.0]> : tensor<3xf32>
  %y = stablehlo.convert %x : (tensor<3xf32>) -> tensor<3xf8E5M2>
  %z = stablehlo.convert %y : (tensor<3xf8E5M2>) -> tensor<3xf32>
  check.expect_eq_const %z, dense<[0.3125, 512.0, -16.0]> : tensor<3xf32>
  %c = stablehlo.constant dense<[1.06, 0x39]> : tensor<2xf8E4M3FN>
  %w = stablehlo.convert %c : (tensor<2xf8E4M3FN>) -> tensor<2xf32>
  check.expect_eq_const %w, dense<[1.0, 1.125]> : tensor<2xf32>
  return
}
