func.func @main(%x: tensor<4xcomplex<f32>>) -> tensor<4xf32> {
  %y = stablehlo.abs %x : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
