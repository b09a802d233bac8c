//===- DistMessages.td - What ranks of a pipeline tell each other -----------===//
#ifndef WEFT_DIALECTS_DIST_DISTMESSAGES
#define WEFT_DIALECTS_DIST_DISTMESSAGES

include "dialects/dist/DistBase.td"

// Messages go over the axes of the role `pipeline`, to and from the rank with that index along them and the same
// place on all other axes. Between two ranks there is one queue in each direction: the k-th send to a rank meets that
// rank's k-th receive from here, and the k-th wait is for the k-th of them.

def SendOp : DistOp<"send"> {
  let summary = "Begins to send a value to another rank of the pipeline.";
  let description = [{
    Never blocks. The value's memory must stay as it is until the `dist.send_wait` that belongs to it. Every rank sends
    its own part.

    Example:
    ```mlir
    dist.send %x to 1 over ["p0"] : tensor<2x8xf32, #part>
    ```

    Constraints: a local type, neither split nor pending over the axes, which are those of the role `pipeline`; `to` is
    an index along them.
  }];
  let arguments = (ins DistTensor:$operand, I64Attr:$to, StrArrayAttr:$axes);
  let assemblyFormat = "$operand `to` $to `over` $axes attr-dict `:` type($operand)";
  let hasVerifier = 1;
}

def SendWaitOp : DistOp<"send_wait"> {
  let summary = "Waits for the oldest send to a rank that was not waited for.";
  let description = [{
    Returns when the other rank has begun to receive it, and all of it is there.

    Example:
    ```mlir
    dist.send_wait to 1 over ["p0"]
    ```

    Constraints: axes without repetition.
  }];
  let arguments = (ins I64Attr:$to, StrArrayAttr:$axes);
  let assemblyFormat = "`to` $to `over` $axes attr-dict";
  let hasVerifier = 1;
}

def ReceiveOp : DistOp<"receive"> {
  let summary = "Begins to receive a value from another rank of the pipeline.";
  let description = [{
    Never blocks. What it gives is there after the `dist.receive_wait` that belongs to it.

    Example:
    ```mlir
    %x = dist.receive from 0 over ["p0"] : tensor<2x8xf32, #part>
    ```

    Constraints: as dist.send, of its result.
  }];
  let arguments = (ins I64Attr:$from, StrArrayAttr:$axes);
  let results = (outs DistTensor:$result);
  let assemblyFormat = "`from` $from `over` $axes attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def ReceiveWaitOp : DistOp<"receive_wait"> {
  let summary = "Waits for the oldest receive from a rank that was not waited for.";
  let description = [{
    Example:
    ```mlir
    dist.receive_wait from 0 over ["p0"]
    ```

    Constraints: axes without repetition.
  }];
  let arguments = (ins I64Attr:$from, StrArrayAttr:$axes);
  let assemblyFormat = "`from` $from `over` $axes attr-dict";
  let hasVerifier = 1;
}

def TermOp : DistOp<"term", [Pure]> {
  let summary = "An identity: every rank of the pipeline has another term of a sum.";
  let description = [{
    What the ranks of a pipeline compute from their own stages is no replicated value, though nothing splits it. Here it
    becomes what it is: a sum over them that is still to be taken.

    Example:
    ```mlir
    %y = dist.term %x over ["p0"] : tensor<3xf64, #whole> -> tensor<3xf64, #pending>
    ```

    Constraints: local types; the axes are those of the role `pipeline`, the operand is neither split nor pending over
    them, and the result is a pending sum over them.
  }];
  let arguments = (ins DistTensor:$operand, StrArrayAttr:$axes);
  let results = (outs DistTensor:$result);
  let assemblyFormat = "$operand `over` $axes attr-dict `:` type($operand) `->` type($result)";
  let hasVerifier = 1;
}

#endif // WEFT_DIALECTS_DIST_DISTMESSAGES
