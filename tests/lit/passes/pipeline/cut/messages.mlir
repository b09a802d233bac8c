// RUN: weft-opt %s -split-input-file -verify-diagnostics --weft-verify-messages
// What is refused of programs of pipeline ranks.

// A message that both ranks know of: nothing to say.
#mesh = #dist.mesh<p0 = 2 : pipeline = [p0]>
#x = #dist.local<#mesh, 4, []>
module attributes {dist.mesh = #mesh} {
  module @pipeline_rank_0 {
    sched.program "step" microbatches(1) {
      sched.slot "a" in_flight : tensor<4xf32, #x> {per_microbatch}
      sched.action "F" per_microbatch {
        %c = nn.constant dense<1.0> : tensor<4xf32, #x>
        sched.store "a", %c : tensor<4xf32, #x>
      }
      sched.action "send" per_microbatch {
        %v = sched.load "a" : tensor<4xf32, #x>
        dist.send %v to 1 over ["p0"] : tensor<4xf32, #x>
      }
      sched.action "send_wait" per_microbatch {
        dist.send_wait to 1 over ["p0"]
        sched.release "a"
      }
      sched.run "F" 0
      sched.run "send" 0
      sched.run "send_wait" 0
    }
  }
  module @pipeline_rank_1 {
    sched.program "step" microbatches(1) {
      sched.slot "b" in_flight : tensor<4xf32, #x> {per_microbatch}
      sched.slot "c" in_flight : tensor<4xf32, #x> {per_microbatch}
      sched.action "receive" per_microbatch {
        %v = dist.receive from 0 over ["p0"] : tensor<4xf32, #x>
        sched.store "b", %v : tensor<4xf32, #x>
      }
      sched.action "receive_wait" per_microbatch {
        dist.receive_wait from 0 over ["p0"]
      }
      sched.action "F" per_microbatch {
        %v = sched.load "b" : tensor<4xf32, #x>
        %y = nn.negate %v : tensor<4xf32, #x>
        sched.store "c", %y : tensor<4xf32, #x>
      }
      sched.run "receive" 0
      sched.run "receive_wait" 0
      sched.run "F" 0
    }
  }
}

// -----

// Nobody receives it.
#mesh = #dist.mesh<p0 = 2 : pipeline = [p0]>
#x = #dist.local<#mesh, 4, []>
module attributes {dist.mesh = #mesh} {
  module @pipeline_rank_0 {
    sched.program "step" microbatches(1) {
      sched.slot "a" in_flight : tensor<4xf32, #x> {per_microbatch}
      sched.action "F" per_microbatch {
        %c = nn.constant dense<1.0> : tensor<4xf32, #x>
        sched.store "a", %c : tensor<4xf32, #x>
      }
      sched.action "send" per_microbatch {
        %v = sched.load "a" : tensor<4xf32, #x>
        // expected-error @+1 {{'dist.send' op of 'send 0' sends what rank 1 does not receive}}
        dist.send %v to 1 over ["p0"] : tensor<4xf32, #x>
      }
      sched.run "F" 0
      sched.run "send" 0
    }
  }
  module @pipeline_rank_1 {
    sched.program "step" microbatches(1) {
    }
  }
}

// -----

// Nobody sends it.
#mesh = #dist.mesh<p0 = 2 : pipeline = [p0]>
#x = #dist.local<#mesh, 4, []>
module attributes {dist.mesh = #mesh} {
  module @pipeline_rank_0 {
    // expected-note @+1 {{rank 0 is at its end}}
    sched.program "step" microbatches(1) {
      sched.slot "a" in_flight : tensor<4xf32, #x> {per_microbatch}
      sched.action "F" per_microbatch {
        %c = nn.constant dense<1.0> : tensor<4xf32, #x>
        sched.store "a", %c : tensor<4xf32, #x>
      }
      sched.run "F" 0
    }
  }
  module @pipeline_rank_1 {
    sched.program "step" microbatches(1) {
      sched.slot "b" in_flight : tensor<4xf32, #x> {per_microbatch}
      sched.action "receive" per_microbatch {
        %v = dist.receive from 0 over ["p0"] : tensor<4xf32, #x>
        sched.store "b", %v : tensor<4xf32, #x>
      }
      sched.action "receive_wait" per_microbatch {
        // expected-error @+1 {{'dist.receive_wait' op never ends: rank 1 waits in 'receive_wait 0' for rank 0 to send}}
        dist.receive_wait from 0 over ["p0"]
      }
      sched.run "receive" 0
      sched.run "receive_wait" 0
    }
  }
}

// -----

// It would be read while it comes, or its memory used again.
#mesh = #dist.mesh<p0 = 2 : pipeline = [p0]>
#x = #dist.local<#mesh, 4, []>
module attributes {dist.mesh = #mesh} {
  module @pipeline_rank_0 {
    sched.program "step" microbatches(1) {
      sched.slot "a" in_flight : tensor<4xf32, #x> {per_microbatch}
      sched.action "F" per_microbatch {
        %c = nn.constant dense<1.0> : tensor<4xf32, #x>
        sched.store "a", %c : tensor<4xf32, #x>
      }
      sched.action "send" per_microbatch {
        %v = sched.load "a" : tensor<4xf32, #x>
        dist.send %v to 1 over ["p0"] : tensor<4xf32, #x>
      }
      sched.action "send_wait" per_microbatch {
        dist.send_wait to 1 over ["p0"]
        sched.release "a"
      }
      sched.run "F" 0
      sched.run "send" 0
      sched.run "send_wait" 0
    }
  }
  module @pipeline_rank_1 {
    sched.program "step" microbatches(1) {
      sched.slot "b" in_flight : tensor<4xf32, #x> {per_microbatch}
      sched.action "receive" per_microbatch {
        // expected-error @+1 {{'dist.receive' op begins to receive what nobody waits for: slot "b"}}
        %v = dist.receive from 0 over ["p0"] : tensor<4xf32, #x>
        sched.store "b", %v : tensor<4xf32, #x>
      }
      sched.run "receive" 0
    }
  }
}

// -----

// Read before it has come.
#mesh = #dist.mesh<p0 = 2 : pipeline = [p0]>
#x = #dist.local<#mesh, 4, []>
module attributes {dist.mesh = #mesh} {
  module @pipeline_rank_0 {
    sched.program "step" microbatches(1) {
      sched.slot "a" in_flight : tensor<4xf32, #x> {per_microbatch}
      sched.action "F" per_microbatch {
        %c = nn.constant dense<1.0> : tensor<4xf32, #x>
        sched.store "a", %c : tensor<4xf32, #x>
      }
      sched.action "send" per_microbatch {
        %v = sched.load "a" : tensor<4xf32, #x>
        dist.send %v to 1 over ["p0"] : tensor<4xf32, #x>
      }
      sched.action "send_wait" per_microbatch {
        dist.send_wait to 1 over ["p0"]
        sched.release "a"
      }
      sched.run "F" 0
      sched.run "send" 0
      sched.run "send_wait" 0
    }
  }
  module @pipeline_rank_1 {
    sched.program "step" microbatches(1) {
      sched.slot "b" in_flight : tensor<4xf32, #x> {per_microbatch}
      sched.slot "c" in_flight : tensor<4xf32, #x> {per_microbatch}
      sched.action "receive" per_microbatch {
        // expected-note @+1 {{here it begins to come}}
        %v = dist.receive from 0 over ["p0"] : tensor<4xf32, #x>
        sched.store "b", %v : tensor<4xf32, #x>
      }
      sched.action "receive_wait" per_microbatch {
        dist.receive_wait from 0 over ["p0"]
      }
      sched.action "F" per_microbatch {
        // expected-error @+1 {{'sched.load' op of 'F 0' reads slot "b" before its message was waited for}}
        %v = sched.load "b" : tensor<4xf32, #x>
        %y = nn.negate %v : tensor<4xf32, #x>
        sched.store "c", %y : tensor<4xf32, #x>
      }
      sched.run "receive" 0
      sched.run "F" 0
      sched.run "receive_wait" 0
    }
  }
}

// -----

// Sent from memory that nobody keeps.
#mesh = #dist.mesh<p0 = 2 : pipeline = [p0]>
#x = #dist.local<#mesh, 4, []>
module attributes {dist.mesh = #mesh} {
  module @pipeline_rank_0 {
    sched.program "step" microbatches(1) {
      sched.slot "a" in_flight : tensor<4xf32, #x> {per_microbatch}
      sched.action "F" per_microbatch {
        %c = nn.constant dense<1.0> : tensor<4xf32, #x>
        sched.store "a", %c : tensor<4xf32, #x>
      }
      sched.action "send" per_microbatch {
        %v = sched.load "a" : tensor<4xf32, #x>
        // expected-error @+1 {{'dist.send' op of 'send 0' begins what nobody waits for: its memory would be used again before it is sent}}
        dist.send %v to 1 over ["p0"] : tensor<4xf32, #x>
      }
      sched.run "F" 0
      sched.run "send" 0
    }
  }
  module @pipeline_rank_1 {
    sched.program "step" microbatches(1) {
      sched.slot "b" in_flight : tensor<4xf32, #x> {per_microbatch}
      sched.slot "c" in_flight : tensor<4xf32, #x> {per_microbatch}
      sched.action "receive" per_microbatch {
        %v = dist.receive from 0 over ["p0"] : tensor<4xf32, #x>
        sched.store "b", %v : tensor<4xf32, #x>
      }
      sched.action "receive_wait" per_microbatch {
        dist.receive_wait from 0 over ["p0"]
      }
      sched.action "F" per_microbatch {
        %v = sched.load "b" : tensor<4xf32, #x>
        %y = nn.negate %v : tensor<4xf32, #x>
        sched.store "c", %y : tensor<4xf32, #x>
      }
      sched.run "receive" 0
      sched.run "receive_wait" 0
      sched.run "F" 0
    }
  }
}

// -----

// Something else is expected.
#mesh = #dist.mesh<p0 = 2 : pipeline = [p0]>
#x = #dist.local<#mesh, 4, []>
module attributes {dist.mesh = #mesh} {
  module @pipeline_rank_0 {
    sched.program "step" microbatches(1) {
      sched.slot "a" in_flight : tensor<4xf32, #x> {per_microbatch}
      sched.action "F" per_microbatch {
        %c = nn.constant dense<1.0> : tensor<4xf32, #x>
        sched.store "a", %c : tensor<4xf32, #x>
      }
      sched.action "send" per_microbatch {
        %v = sched.load "a" : tensor<4xf32, #x>
        // expected-note @+1 {{sent by 'send 0'}}
        dist.send %v to 1 over ["p0"] : tensor<4xf32, #x>
      }
      sched.action "send_wait" per_microbatch {
        dist.send_wait to 1 over ["p0"]
        sched.release "a"
      }
      sched.run "F" 0
      sched.run "send" 0
      sched.run "send_wait" 0
    }
  }
  module @pipeline_rank_1 {
    sched.program "step" microbatches(1) {
      sched.slot "b" in_flight : tensor<4xi32, #x> {per_microbatch}
      sched.action "receive" per_microbatch {
        // expected-error @+1 {{'dist.receive' op of 'receive 0' expects 'tensor<4xi32>', the part of 4 at [] as message 0 from rank 0, which sends rank 1 'tensor<4xf32>', the part of 4 at []}}
        %v = dist.receive from 0 over ["p0"] : tensor<4xi32, #x>
        sched.store "b", %v : tensor<4xi32, #x>
      }
      sched.action "receive_wait" per_microbatch {
        dist.receive_wait from 0 over ["p0"]
      }
      sched.run "receive" 0
      sched.run "receive_wait" 0
    }
  }
}

// -----

// Each of three ranks sends after it was sent something.
#mesh = #dist.mesh<p0 = 3 : pipeline = [p0]>
#x = #dist.local<#mesh, 4, []>
module attributes {dist.mesh = #mesh} {
  module @pipeline_rank_0 {
    sched.program "step" microbatches(1) {
      sched.slot "a" in_flight : tensor<4xf32, #x> {per_microbatch}
      sched.slot "b" in_flight : tensor<4xf32, #x> {per_microbatch}
      sched.action "F" per_microbatch {
        %c = nn.constant dense<1.0> : tensor<4xf32, #x>
        sched.store "a", %c : tensor<4xf32, #x>
      }
      sched.action "send" per_microbatch {
        %v = sched.load "a" : tensor<4xf32, #x>
        dist.send %v to 1 over ["p0"] : tensor<4xf32, #x>
      }
      sched.action "send_wait" per_microbatch {
        dist.send_wait to 1 over ["p0"]
        sched.release "a"
      }
      sched.action "receive" per_microbatch {
        %v = dist.receive from 2 over ["p0"] : tensor<4xf32, #x>
        sched.store "b", %v : tensor<4xf32, #x>
      }
      sched.action "receive_wait" per_microbatch {
        // expected-error @+1 {{'dist.receive_wait' op never ends: rank 0 waits in 'receive_wait 0' for rank 2 to send}}
        dist.receive_wait from 2 over ["p0"]
      }
      sched.run "F" 0
      sched.run "receive" 0
      sched.run "receive_wait" 0
      sched.run "send" 0
      sched.run "send_wait" 0
    }
  }
  module @pipeline_rank_1 {
    sched.program "step" microbatches(1) {
      sched.slot "a" in_flight : tensor<4xf32, #x> {per_microbatch}
      sched.slot "b" in_flight : tensor<4xf32, #x> {per_microbatch}
      sched.action "F" per_microbatch {
        %c = nn.constant dense<1.0> : tensor<4xf32, #x>
        sched.store "a", %c : tensor<4xf32, #x>
      }
      sched.action "send" per_microbatch {
        %v = sched.load "a" : tensor<4xf32, #x>
        dist.send %v to 2 over ["p0"] : tensor<4xf32, #x>
      }
      sched.action "send_wait" per_microbatch {
        dist.send_wait to 2 over ["p0"]
        sched.release "a"
      }
      sched.action "receive" per_microbatch {
        %v = dist.receive from 0 over ["p0"] : tensor<4xf32, #x>
        sched.store "b", %v : tensor<4xf32, #x>
      }
      sched.action "receive_wait" per_microbatch {
        // expected-note @+1 {{rank 1 waits in 'receive_wait 0' for rank 0 to send}}
        dist.receive_wait from 0 over ["p0"]
      }
      sched.run "F" 0
      sched.run "receive" 0
      sched.run "receive_wait" 0
      sched.run "send" 0
      sched.run "send_wait" 0
    }
  }
  module @pipeline_rank_2 {
    sched.program "step" microbatches(1) {
      sched.slot "a" in_flight : tensor<4xf32, #x> {per_microbatch}
      sched.slot "b" in_flight : tensor<4xf32, #x> {per_microbatch}
      sched.action "F" per_microbatch {
        %c = nn.constant dense<1.0> : tensor<4xf32, #x>
        sched.store "a", %c : tensor<4xf32, #x>
      }
      sched.action "send" per_microbatch {
        %v = sched.load "a" : tensor<4xf32, #x>
        dist.send %v to 0 over ["p0"] : tensor<4xf32, #x>
      }
      sched.action "send_wait" per_microbatch {
        dist.send_wait to 0 over ["p0"]
        sched.release "a"
      }
      sched.action "receive" per_microbatch {
        %v = dist.receive from 1 over ["p0"] : tensor<4xf32, #x>
        sched.store "b", %v : tensor<4xf32, #x>
      }
      sched.action "receive_wait" per_microbatch {
        // expected-note @+1 {{rank 2 waits in 'receive_wait 0' for rank 1 to send}}
        dist.receive_wait from 1 over ["p0"]
      }
      sched.run "F" 0
      sched.run "receive" 0
      sched.run "receive_wait" 0
      sched.run "send" 0
      sched.run "send_wait" 0
    }
  }
}

// -----

// One rank does not come to a collective of the pipeline.
#mesh = #dist.mesh<p0 = 2 : pipeline = [p0]>
#x = #dist.local<#mesh, 4, []>
module attributes {dist.mesh = #mesh} {
  module @pipeline_rank_0 {
    sched.program "step" microbatches(1) {
      sched.slot "n" carried : tensor<f32, #dist.local<#mesh, >>
      sched.action "exchange" {
        %c = nn.constant dense<1.0> : tensor<f32, #dist.local<#mesh, >>
        %t = dist.term %c over ["p0"] : tensor<f32, #dist.local<#mesh, >> -> tensor<f32, #dist.local<#mesh, , sum [p0]>>
        // expected-error @+1 {{'dist.all_reduce.start' op never ends: rank 0 waits in 'exchange' for all ranks to come to dist.all_reduce.start}}
        %s = dist.all_reduce.start sum %t over ["p0"] : tensor<f32, #dist.local<#mesh, , sum [p0]>> -> !dist.token<tensor<f32, #dist.local<#mesh, >>>
        %r = dist.wait %s : !dist.token<tensor<f32, #dist.local<#mesh, >>>
        sched.store "n", %r : tensor<f32, #dist.local<#mesh, >>
      }
      sched.run "exchange"
    }
  }
  module @pipeline_rank_1 {
    // expected-note @+1 {{rank 1 is at its end}}
    sched.program "step" microbatches(1) {
      sched.slot "n" carried : tensor<f32, #dist.local<#mesh, >>
      sched.action "exchange" {
        %c = nn.constant dense<1.0> : tensor<f32, #dist.local<#mesh, >>
        %t = dist.term %c over ["p0"] : tensor<f32, #dist.local<#mesh, >> -> tensor<f32, #dist.local<#mesh, , sum [p0]>>
        %s = dist.all_reduce.start sum %t over ["p0"] : tensor<f32, #dist.local<#mesh, , sum [p0]>> -> !dist.token<tensor<f32, #dist.local<#mesh, >>>
        %r = dist.wait %s : !dist.token<tensor<f32, #dist.local<#mesh, >>>
        sched.store "n", %r : tensor<f32, #dist.local<#mesh, >>
      }
    }
  }
}
