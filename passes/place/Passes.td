include "mlir/Pass/PassBase.td"

def SeedPlacements : Pass<"weft-seed-placements", "::mlir::ModuleOp"> {
  let summary = "Turns a parallelism plan into a few placements";
  let description = [{
    The module's `dist.mesh` says the ranks and their roles; without it nothing happens. What a plan says becomes
    attributes that `weft-place` starts from, and that may be written by hand instead:

    * of a parameter `dist.use`: its `nn.tensor_dimension` split over the role `tensor` (as many axes as divide it, if
      `nn.whole_parts` says that a part is whole units such as heads), and `dist.storage`: with `zero` of at least 1 the
      use, split further over `data_shard` and `context` (in its `nn.row_dimension` if it says one); of optimizer state `dist.storage`: its parameter's;
    * of a cache `dist.storage`: its `nn.tensor_dimension` split as a parameter's;
    * of the step `dist.inputs`: per-microbatch inputs, the batch split over `data`, the sequence (dimension 1) over
      `context`; of a function's arguments likewise `dist.at`;
    * of layer boundaries `dist.at`: the same, with `sequence` the sequence further over `tensor`;
    * of attentions, with `context=all_to_all`, `dist.at`: the first operand's heads split over `tensor` and `context`,
      its sequence whole. With `context=gather` they have none: queries are split as the sequence is, keys and values
      needed whole. With `context=ring` they are marked `ring`, but for those of fewer queries than keys: keys and
      values are split as the queries are, and travel.

    With `context=gather` and `context=ring` the sequence is split in zigzag where its length allows it, which balances causal work.

    Before and after, with zero=1:
    ```mlir
    nn.parameter @w : tensor<8x4xf32> constant {nn.tensor_dimension = 0}
    ```
    ```mlir
    nn.parameter @w : tensor<8x4xf32> constant {dist.storage = #dist.at<#mesh, [t0, d0], []>,
                                               dist.use = #dist.at<#mesh, [t0], []>, nn.tensor_dimension = 0}
    ```
  }];
  let options = [
    Option<"zero", "zero", "int64_t", "0", "what is split over data_shard and context: 1 optimizer state and master parameters, 2 also gradients, 3 also parameters between uses">,
    Option<"sequence", "sequence", "bool", "false", "split activations between tensor-parallel regions along the sequence">,
    Option<"context", "context", "std::string", "\"gather\"", "how the positions of context ranks meet in attentions: gather (keys and values), ring (keys and values travel around) or all_to_all (heads for positions)">
  ];
  let dependentDialects = ["::weft::dist::DistDialect", "::weft::nn::NnDialect"];
}

def Place : Pass<"weft-place", "::mlir::ModuleOp"> {
  let summary = "Completes a few placements to one for every value";
  let description = [{
    Seeds spread through sharding rules to a fixed point (passes/place/Propagate.h); every type then gets its placement,
    and `dist.reshard` stands wherever two neighbors disagree. Pending sums are deferred: gradients are carried over
    microbatches pending, and reduced once in update; with `dist.zero` of 2 and 3 they are scattered to their storage per
    microbatch, and what is pending over other axes still waits. Leaves of the canonical sum (nn.leaf) wait for update under
    every level. Parameters are gathered from storage once a step, in
    prepare, unless `dist.zero` is 3: then where a layer uses them, in each direction.

    An attention with `dist.at` takes its first operand at that placement, whatever is around it.

    A reduction over a dimension that a parameter's use splits, and that is neither a sum nor a maximum, is first written
    as statistics that merge: `nn.linear_cross_entropy` of a weight whose vocabulary is split becomes
    `nn.linear_cross_entropy_statistics`, whose log-sum-exp is then pending (`lse [t0]`), and element-wise ops.

    Before and after, w split over t0:
    ```mlir
    %y = nn.einsum "bh,fh->bf" (%x, %w) : (tensor<4x8xf32>, tensor<6x8xf32>) -> tensor<4x6xf32>
    ```
    ```mlir
    %y = nn.einsum "bh,fh->bf" (%x, %w) : (tensor<4x8xf32, #dist.at<#mesh, [], []>>, tensor<6x8xf32, #dist.at<#mesh, [t0], []>>)
      -> tensor<4x6xf32, #dist.at<#mesh, [], [t0]>>
    ```
  }];
  let options = [
    Option<"explain", "explain", "bool", "false", "say at each op, as `dist.reason`, which seeds split it">
  ];
  let dependentDialects = ["::weft::dist::DistDialect", "::weft::nn::NnDialect"];
}
