sched.program "main" microbatches(2) {
  sched.slot "input/x" input : tensor<4xf32> {per_microbatch}
  sched.slot "carried/total" carried : tensor<4xf32>
  sched.slot "output/y" output : tensor<4xf32>
  sched.action "prepare" {
    %zero = nn.constant dense<0.0> : tensor<4xf32>
    sched.store "carried/total", %zero : tensor<4xf32>
  }
  sched.action "add" per_microbatch {
    %x = sched.load "input/x" : tensor<4xf32>
    %t = sched.load "carried/total" : tensor<4xf32>
    %s = nn.add %x, %t : tensor<4xf32>
    sched.store "carried/total", %s : tensor<4xf32>
  }
  sched.action "update" {
    %t = sched.load "carried/total" : tensor<4xf32>
    sched.store "output/y", %t : tensor<4xf32>
  }
  sched.run "prepare"
  sched.run "add" 0
  sched.run "add" 1
  sched.run "update"
}
