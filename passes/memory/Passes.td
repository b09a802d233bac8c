include "mlir/Pass/PassBase.td"

def Memory : Pass<"weft-memory", "::mlir::ModuleOp"> {
  let summary = "Gives every value a place";
  let description = [{
    Decides the arena: bases (`sched.base`), the place of every variable, slot and constant, and inside each action the
    place of every result and workspace. A stored value is computed in the memory of its slot where nothing reads the
    old value later, and copied at the end of the action otherwise. A result takes over the memory of an operand that
    dies with it, where the kernel allows that. Everything that lives no longer than its program lies in `step`, by lifetime:
    slots from the command that first computes them to the last that reads them, results inside their action, workspaces
    for their command. So gradients appear where activations were. What is in flight has a place for each microbatch, in
    one region: two values share bytes only where the order of runs ends the one before the other begins. All programs
    share the bases; the peak is their sum, known to the byte. Caches lie at the front of `step`, where programs that name
    none have their own values. At the end the plan is held against the program (`weft-verify-places`).

    Before and after:
    ```mlir
    %s = sched.launch "elementwise"(%a, %b) {settings = {...}} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    sched.store "output/y", %s : tensor<8xf32>
    ```
    ```mlir
    %s = sched.launch "elementwise"(%a, %b) {places = [#sched.place<"step", 0>], settings = {...}} : ...
    sched.store "output/y", %s : tensor<8xf32>
    ```
  }];
  let dependentDialects = ["::weft::sched::SchedDialect"];
}

def VerifyPlaces : Pass<"weft-verify-places", "::mlir::ModuleOp"> {
  let summary = "Refuses a plan in which a value is not where it is read";
  let description = [{
    Follows which bytes every command writes, and the order in which actions run, without a word about lifetimes: every
    operand must lie where it was written, unless it was written over; slots must keep what later runs load, outputs and variables
    theirs to the end; and nothing may write what a transfer is under way with. `weft-memory` ends with it. Changes nothing.

    Refused, as the second launch writes over what the third reads:
    ```mlir
    %a = sched.launch "iota"() {places = [#sched.place<"step", 0>], settings = {...}} : () -> tensor<8xf32>
    %b = sched.launch "iota"() {places = [#sched.place<"step", 0>], settings = {...}} : () -> tensor<8xf32>
    %c = sched.launch "elementwise"(%a, %b) {places = [#sched.place<"step", 64>], settings = {...}} : ...
    ```
  }];
}
