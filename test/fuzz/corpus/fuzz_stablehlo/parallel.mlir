// Processes side by side. Two replicas of two partitions: process 2 r + p.
module {
  func.func @f(%x : tensor<2xf32>) -> (tensor<2xf32>, tensor<1xf32>, tensor<4xf32>, tensor<2xf32>) {
    %sum = "stablehlo.all_reduce"(%x) ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %c = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %c : tensor<f32>
    }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<2xf32>
    %part = "stablehlo.reduce_scatter"(%x) ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %c = stablehlo.maximum %a, %b : tensor<f32>
        stablehlo.return %c : tensor<f32>
    }) {scatter_dimension = 0 : i64, replica_groups = dense<[[0, 3], [2, 1]]> : tensor<2x2xi64>,
        channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, use_global_device_ids} : (tensor<2xf32>) -> tensor<1xf32>
    %all = "stablehlo.all_to_all"(%x) {split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 2 : i64,
        replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<2xf32>
    %both = "stablehlo.all_gather"(%all) {all_gather_dim = 0 : i64, replica_groups = dense<[[0], [1]]> : tensor<2x1xi64>,
        channel_handle = #stablehlo.channel_handle<handle = 2, type = 0>} : (tensor<2xf32>) -> tensor<4xf32>
    %moved = "stablehlo.collective_permute"(%x) {source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<2xf32>
    return %sum, %part, %both, %moved : tensor<2xf32>, tensor<1xf32>, tensor<4xf32>, tensor<2xf32>
  }
  func.func @main() {
    %0 = util.unfoldable_constant dense<[1.0, 2.0]> : tensor<2xf32>
    %1 = util.unfoldable_constant dense<[3.0, 4.0]> : tensor<2xf32>
    %2 = util.unfoldable_constant dense<[5.0, 6.0]> : tensor<2xf32>
    %3 = util.unfoldable_constant dense<[7.0, 8.0]> : tensor<2xf32>
    %r:16 = "interpreter.run_parallel"(%0, %1, %2, %3) {programs = [[@f, @f], [@f, @f]]} : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) ->
      (tensor<2xf32>, tensor<1xf32>, tensor<4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<4xf32>, tensor<2xf32>,
       tensor<2xf32>, tensor<1xf32>, tensor<4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<4xf32>, tensor<2xf32>)
    check.expect_eq_const %r#0, dense<[6.0, 8.0]> : tensor<2xf32>
    check.expect_eq_const %r#4, dense<[10.0, 12.0]> : tensor<2xf32>
    check.expect_eq_const %r#1, dense<[7.0]> : tensor<1xf32>
    check.expect_eq_const %r#5, dense<[6.0]> : tensor<1xf32>
    check.expect_eq_const %r#9, dense<[5.0]> : tensor<1xf32>
    check.expect_eq_const %r#13, dense<[8.0]> : tensor<1xf32>
    check.expect_eq_const %r#2, dense<[6.0, 2.0, 8.0, 4.0]> : tensor<4xf32>
    check.expect_eq_const %r#10, dense<[5.0, 1.0, 7.0, 3.0]> : tensor<4xf32>
    check.expect_eq_const %r#3, dense<[0.0, 0.0]> : tensor<2xf32>
    check.expect_eq_const %r#11, dense<[1.0, 2.0]> : tensor<2xf32>
    return
  }
}
