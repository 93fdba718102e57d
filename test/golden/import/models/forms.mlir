// Calls, regions, pretty and generic forms, literals in hexadecimal, quantised types.
module @forms attributes {mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xf32>, %arg1: tensor<?x4xf32> {mhlo.sharding = ""}) -> (tensor<f32> {jax.result_info = ""}, tensor<2x4xf32>) {
    %cst = stablehlo.constant dense<"0x0000803F0000004000004040"> : tensor<3xf32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
    %1:2 = call @both(%arg0, %0) : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xi1>)
    %2 = stablehlo.select %1#1, %1#0, %0 : tensor<2x3xi1>, tensor<2x3xf32>
    %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<f32>
    %q = stablehlo.uniform_quantize %arg0 : (tensor<2x3xf32>) -> tensor<2x3x!quant.uniform<i8:f32, 5.000000e-01:-3>>
    %d = stablehlo.uniform_dequantize %q : (tensor<2x3x!quant.uniform<i8:f32, 5.000000e-01:-3>>) -> tensor<2x3xf32>
    %w = "stablehlo.slice"(%arg1) {start_indices = array<i64: 0, 0>, limit_indices = array<i64: 3, 4>, strides = array<i64: 1, 1>} : (tensor<?x4xf32>) -> tensor<3x4xf32>
    %4 = stablehlo.dot_general %d, %w, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
    return %3, %4 : tensor<f32>, tensor<2x4xf32>
  }
  func.func private @both(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xi1>) {
    %i = stablehlo.constant dense<0> : tensor<i32>
    %n = stablehlo.constant dense<2> : tensor<i32>
    %r:2 = stablehlo.while(%a = %i, %b = %arg0) : tensor<i32>, tensor<2x3xf32>
     cond {
      %c = stablehlo.compare LT, %a, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %s = stablehlo.add %a, %one : tensor<i32>
      %t = stablehlo.multiply %b, %arg1 : tensor<2x3xf32>
      stablehlo.return %s, %t : tensor<i32>, tensor<2x3xf32>
    }
    %g = stablehlo.compare GT, %r#1, %arg1, FLOAT : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
    return %r#1, %g : tensor<2x3xf32>, tensor<2x3xi1>
  }
}
