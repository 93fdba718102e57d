// Complex numbers, computed in the run. Expected values by hand.
func.func @arithmetic() {
  %re = util.unfoldable_constant dense<[3.0, 0.0]> : tensor<2xf32>
  %im = util.unfoldable_constant dense<[4.0, -2.0]> : tensor<2xf32>
  %z = stablehlo.complex %re, %im : tensor<2xcomplex<f32>>
  %c = stablehlo.constant dense<[(1.0, 1.0), (0.0, 1.0)]> : tensor<2xcomplex<f32>>
  %p = stablehlo.multiply %z, %c : tensor<2xcomplex<f32>>
  check.expect_almost_eq_const %p, dense<[(-1.0, 7.0), (2.0, 0.0)]> : tensor<2xcomplex<f32>>
  %q = stablehlo.divide %p, %c : tensor<2xcomplex<f32>>
  check.expect_almost_eq_const %q, dense<[(3.0, 4.0), (0.0, -2.0)]> : tensor<2xcomplex<f32>>
  %a = stablehlo.abs %z : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  check.expect_almost_eq_const %a, dense<[5.0, 2.0]> : tensor<2xf32>
  %s = stablehlo.sqrt %z : tensor<2xcomplex<f32>>
  check.expect_almost_eq_const %s, dense<[(2.0, 1.0), (1.0, -1.0)]> : tensor<2xcomplex<f32>>
  return
}

// -----

func.func @moves() {
  %re = util.unfoldable_constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf64>
  %im = util.unfoldable_constant dense<[[5.0, 6.0], [7.0, 8.0]]> : tensor<2x2xf64>
  %z = stablehlo.complex %re, %im : tensor<2x2xcomplex<f64>>
  %t = stablehlo.transpose %z, dims = [1, 0] : (tensor<2x2xcomplex<f64>>) -> tensor<2x2xcomplex<f64>>
  %d = stablehlo.dot %z, %t : (tensor<2x2xcomplex<f64>>, tensor<2x2xcomplex<f64>>) -> tensor<2x2xcomplex<f64>>
  check.expect_almost_eq_const %d, dense<[[(-56.0, 34.0), (-72.0, 62.0)], [(-72.0, 62.0), (-88.0, 106.0)]]> : tensor<2x2xcomplex<f64>>
  %f = stablehlo.fft %re, type = RFFT, length = [2] : (tensor<2x2xf64>) -> tensor<2x2xcomplex<f64>>
  %r = stablehlo.fft %f, type = IRFFT, length = [2] : (tensor<2x2xcomplex<f64>>) -> tensor<2x2xf64>
  check.expect_almost_eq %r, %re : tensor<2x2xf64>
  return
}

// -----

func.func @solve() {
  %re = util.unfoldable_constant dense<[[2.0, 0.0], [1.0, 1.0]]> : tensor<2x2xf64>
  %im = util.unfoldable_constant dense<[[0.0, 0.0], [1.0, 2.0]]> : tensor<2x2xf64>
  %a = stablehlo.complex %re, %im : tensor<2x2xcomplex<f64>>
  %x = stablehlo.constant dense<[[(1.0, -1.0)], [(2.0, 3.0)]]> : tensor<2x1xcomplex<f64>>
  %b = stablehlo.dot %a, %x : (tensor<2x2xcomplex<f64>>, tensor<2x1xcomplex<f64>>) -> tensor<2x1xcomplex<f64>>
  %y = "stablehlo.triangular_solve"(%a, %b) {left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (tensor<2x2xcomplex<f64>>, tensor<2x1xcomplex<f64>>) -> tensor<2x1xcomplex<f64>>
  check.expect_almost_eq %y, %x : tensor<2x1xcomplex<f64>>
  return
}
