sched.program "main" microbatches(1) {
  sched.slot "input/x" input : tensor<4x6xf32>
  sched.slot "output/y" output : tensor<24xf32>
  sched.action "run" {
    %x = sched.load "input/x" : tensor<4x6xf32>
    %v = sched.view %x : tensor<4x6xf32> -> tensor<24xf32>
    %c = sched.launch "cumulative_sum"(%v) {settings = {dimension = array<i64: 0>}} : (tensor<24xf32>) -> tensor<24xf32>
    sched.store "output/y", %c : tensor<24xf32>
  }
  sched.run "run"
}
