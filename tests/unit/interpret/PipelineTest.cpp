// Programs of pipeline ranks, side by side: what each mistake between two of them is told to be. That values
// are those of the one program, on meshes and in every schedule, is in tests/lit/tools/weft-run/pipeline.
#include "compiler/interpret/Programs.h"
#include "tests/unit/interpret/Program.h"

namespace weft::interpret {
namespace {

/// Rank 0 sends each microbatch to rank 1, which adds it to a total that starts with `start`; then both sum
/// their terms, 1 and 2, of `terms`.
const char *kProgram = R"(
#mesh = #dist.mesh<p0 = 2 : pipeline = [p0]>
#pair = #dist.local<#mesh, 2, []>
#scalar = #dist.local<#mesh, >
#pending = #dist.local<#mesh, , sum [p0]>
  module attributes {dist.mesh = #mesh} {
  module @pipeline_rank_0 attributes {dist.mesh = #mesh, sched.pipeline_rank = 0 : i64} {
    nn.state @steps : tensor<f64, #scalar> constant
    sched.program "step" microbatches(2) {
      sched.slot "input/x" input : tensor<2xf32, #pair> {per_microbatch}
      sched.slot "output/terms" output : tensor<f64, #scalar>
      sched.slot "twice" in_flight : tensor<2xf32, #pair> {per_microbatch}
      sched.action "0F" per_microbatch {
        %x = sched.load "input/x" : tensor<2xf32, #pair>
        %twice = nn.add %x, %x : tensor<2xf32, #pair>
        sched.store "twice", %twice : tensor<2xf32, #pair>
      }
      sched.action "0F.send" per_microbatch {
        %twice = sched.load "twice" : tensor<2xf32, #pair>
        dist.send %twice to 1 over ["p0"] : tensor<2xf32, #pair>
      }
      sched.action "0F.send_wait" per_microbatch {
        dist.send_wait to 1 over ["p0"]
        sched.release "twice"
      }
      sched.action "update" {
        %one = nn.constant dense<1.0> : tensor<f64, #scalar>
        %term = dist.term %one over ["p0"] : tensor<f64, #scalar> -> tensor<f64, #pending>
        %token = dist.all_reduce.start sum %term over ["p0"] : tensor<f64, #pending> -> !dist.token<tensor<f64, #scalar>>
        %sum = dist.wait %token : !dist.token<tensor<f64, #scalar>>
        sched.store "output/terms", %sum : tensor<f64, #scalar>
        nn.write @steps, %sum : tensor<f64, #scalar>
      }
      sched.run "0F" 0
      sched.run "0F.send" 0
      sched.run "0F" 1
      sched.run "0F.send" 1
      sched.run "0F.send_wait" 0
      sched.run "0F.send_wait" 1
      sched.run "update"
    }
  }
  module @pipeline_rank_1 attributes {dist.mesh = #mesh, sched.pipeline_rank = 1 : i64} {
    nn.state @steps : tensor<f64, #scalar> constant
    nn.state @start : tensor<2xf32, #pair> constant
    sched.program "step" microbatches(2) {
      sched.slot "input/never_read" input : tensor<2xf32, #pair>
      sched.slot "carried/total" carried : tensor<2xf32, #pair>
      sched.slot "output/total" output : tensor<2xf32, #pair>
      sched.slot "output/terms" output : tensor<f64, #scalar>
      sched.slot "from_0" in_flight : tensor<2xf32, #pair> {per_microbatch}
      sched.action "prepare" {
        %start = nn.read @start : tensor<2xf32, #pair>
        sched.store "carried/total", %start : tensor<2xf32, #pair>
      }
      sched.action "1F.receive" per_microbatch {
        %twice = dist.receive from 0 over ["p0"] : tensor<2xf32, #pair>
        sched.store "from_0", %twice : tensor<2xf32, #pair>
      }
      sched.action "1F.receive_wait" per_microbatch {
        dist.receive_wait from 0 over ["p0"]
      }
      sched.action "1F" per_microbatch {
        %twice = sched.load "from_0" : tensor<2xf32, #pair>
        %before = sched.load "carried/total" : tensor<2xf32, #pair>
        %after = nn.add %before, %twice : tensor<2xf32, #pair>
        sched.store "carried/total", %after : tensor<2xf32, #pair>
      }
      sched.action "update" {
        %two = nn.constant dense<2.0> : tensor<f64, #scalar>
        %term = dist.term %two over ["p0"] : tensor<f64, #scalar> -> tensor<f64, #pending>
        %token = dist.all_reduce.start sum %term over ["p0"] : tensor<f64, #pending> -> !dist.token<tensor<f64, #scalar>>
        %sum = dist.wait %token : !dist.token<tensor<f64, #scalar>>
        sched.store "output/terms", %sum : tensor<f64, #scalar>
        nn.write @steps, %sum : tensor<f64, #scalar>
        %total = sched.load "carried/total" : tensor<2xf32, #pair>
        sched.store "output/total", %total : tensor<2xf32, #pair>
      }
      sched.run "prepare"
      sched.run "1F.receive" 0
      sched.run "1F.receive" 1
      sched.run "1F.receive_wait" 0
      sched.run "1F" 0
      sched.run "1F.receive_wait" 1
      sched.run "1F" 1
      sched.run "update"
    }
  }
  }
)";

struct Change {
  std::string from, to;
};

/// kProgram, with a change of its first place (after `behind`) for each entry.
std::string changed(std::vector<Change> changes, const std::string &behind = "") {
  std::string text = kProgram;
  for (const Change &change : changes) {
    size_t at = text.find(change.from, text.find(behind));
    EXPECT_NE(at, std::string::npos) << change.from;
    if (at != std::string::npos)
      text.replace(at, change.from.size(), change.to);
  }
  return text;
}

class Pipeline : public Program {
public:
  /// What a test changes is not verified: the verifier, too, refuses some of it.
  explicit Pipeline(const std::string &text) : Program(text, text == kProgram) {
    variables["steps"] = reals({}, {0}, DType::F64);
    variables["start"] = reals({2}, {100, 200});
  }

  mlir::FailureOr<std::vector<Tensor>> run(Observer *observer = nullptr) {
    Interpreter interpreter(Types::Exact, observer);
    return runProgram(interpreter, programsOf(*module).front(),
                      {reals({2, 2}, {1, 2, 3, 4}), reals({2}, {0, 0})}, variables, &written);
  }

  /// What a run of it is refused with.
  std::string refusal() {
    EXPECT_TRUE(mlir::failed(run()));
    EXPECT_EQ(variables["steps"], reals({}, {0}, DType::F64)) << "a run that fails changes nothing";
    return messages;
  }
};

std::string refusalOf(std::vector<Change> changes, const std::string &behind = "") {
  return Pipeline(changed(std::move(changes), behind)).refusal();
}

TEST(Pipeline, IsOneProgram) {
  Pipeline pipeline(kProgram);
  ASSERT_EQ(programsOf(*pipeline.module).size(), 1u);
  mlir::Operation *program = programsOf(*pipeline.module).front();
  EXPECT_EQ(programName(program), "step");
  std::vector<std::string> inputs;
  for (const ProgramInput &input : inputsOf(program))
    inputs.push_back(input.name + " " + input.wholeType()->str());
  EXPECT_EQ(inputs, (std::vector<std::string>{"x tensor<2x2xf32>", "never_read tensor<2xf32>"}));
  EXPECT_EQ(outputNames(program), (std::vector<std::string>{"terms", "total"}));
  mlir::FailureOr<Variables> initial = initialVariables(*pipeline.module, 1);
  ASSERT_TRUE(mlir::succeeded(initial));
  EXPECT_EQ(initial->size(), 2u);

  auto outputs = pipeline.run();
  ASSERT_TRUE(mlir::succeeded(outputs)) << pipeline.messages;
  EXPECT_EQ((*outputs)[0], reals({}, {3}, DType::F64));
  EXPECT_EQ((*outputs)[1], reals({2}, {108, 212}));
  EXPECT_EQ(pipeline.written, std::vector<std::string>{"steps"});
  EXPECT_EQ(pipeline.variables["steps"], reals({}, {3}, DType::F64));
}

/// Values of all ranks are seen, a message as its receiver loads it; a term alone is none.
TEST(Pipeline, ShowsWhatAllRanksCompute) {
  class Names : public Observer {
  public:
    void computed(mlir::Operation *op, llvm::ArrayRef<MeshValue>, llvm::ArrayRef<MeshValue> results,
                  const Ranks &ranks) override {
      ++ops[op->getName().getStringRef().str()];
      for (auto [type, value] : llvm::zip_equal(op->getResultTypes(), results)) {
        auto token = mlir::dyn_cast<dist::TokenType>(type);
        EXPECT_TRUE(ranks.assemble(value, token ? token.getTensor() : type).ok());
      }
    }
    void carried(llvm::StringRef name, mlir::Type type, const MeshValue &value, const Ranks &ranks) override {
      EXPECT_EQ(name, "total");
      EXPECT_EQ(*ranks.assemble(value, type), reals({2}, {108, 212}));
      ++ops["carried"];
    }
    std::map<std::string, int> ops;
  } names;
  Pipeline pipeline(kProgram);
  ASSERT_TRUE(mlir::succeeded(pipeline.run(&names))) << pipeline.messages;
  EXPECT_EQ(names.ops["carried"], 1);
  EXPECT_EQ(names.ops["nn.add"], 4);
  EXPECT_EQ(names.ops["sched.load"], 9);
  EXPECT_EQ(names.ops["dist.all_reduce.start"], 1) << "one sum, over both";
  EXPECT_EQ(names.ops["dist.term"] + names.ops["dist.receive"], 0);
}

TEST(Pipeline, SaysBeforeWhichRunsItHangs) {
  // Rank 1 waits for the second message first, and so does not begin to receive it.
  EXPECT_EQ(refusalOf({{"      sched.run \"1F.receive\" 1\n", ""},
                       {"      sched.run \"1F.receive_wait\" 1\n",
                        "      sched.run \"1F.receive_wait\" 1\n      sched.run \"1F.receive\" 1\n"}}),
            "'dist.receive_wait' op waits for receive 1 from pipeline rank 0, but only 1 have begun on "
            "pipeline rank "
            "1\n");
  // Rank 0 wants its first message to have arrived before it computes the second, rank 1 both to begin.
  EXPECT_EQ(
      refusalOf(
          {{"      sched.run \"1F.receive\" 0\n", ""},
           {"sched.run \"1F.receive\" 1\n      sched.run \"1F.receive_wait\" 0\n      sched.run \"1F\" 0\n"
            "      sched.run \"1F.receive_wait\" 1\n      sched.run \"1F\" 1\n      sched.run \"update\"",
            "sched.run \"update\""}}),
      "'sched.program' op \"step\" cannot go on: pipeline rank 0 stands before \"0F.send_wait\" 0 (send 0 to "
      "pipeline rank 1 has no receive there yet); pipeline rank 1 stands before \"update\" "
      "(dist.all_reduce.start "
      "waits for pipeline rank 0)\n");
}

TEST(Pipeline, SaysWhoDoesNotComeToASum) {
  EXPECT_EQ(
      refusalOf({{"      sched.run \"update\"\n", ""}}),
      "'sched.program' op \"step\" cannot go on: pipeline rank 0 has ended; pipeline rank 1 stands before "
      "\"update\" (dist.all_reduce.start waits for pipeline rank 0)\n");
}

TEST(Pipeline, RefusesSumsOfDifferentThings) {
  std::string other = "%term over [\"p0\"] : tensor<2xf64, #dist.local<#mesh, 2, [], sum [p0]>> -> "
                      "!dist.token<tensor<2xf64, #dist.local<#mesh, 2, []>>>";
  EXPECT_EQ(
      refusalOf({{"%two = nn.constant dense<2.0> : tensor<f64, #scalar>",
                  "%two = nn.constant dense<2.0> : tensor<2xf64, #pair>"},
                 {"dist.term %two over [\"p0\"] : tensor<f64, #scalar> -> tensor<f64, #pending>",
                  "dist.term %two over [\"p0\"] : tensor<2xf64, #pair> -> tensor<2xf64, #dist.local<#mesh, "
                  "2, [], sum "
                  "[p0]>>"},
                 {"%term over [\"p0\"] : tensor<f64, #pending> -> !dist.token<tensor<f64, #scalar>>", other},
                 {"dist.wait %token : !dist.token<tensor<f64, #scalar>>\n        sched.store "
                  "\"output/terms\", %sum : "
                  "tensor<f64, #scalar>\n        nn.write @steps, %sum : tensor<f64, #scalar>",
                  "dist.wait %token : !dist.token<tensor<2xf64, #dist.local<#mesh, 2, []>>>"},
                 {"      sched.slot \"output/terms\" output : tensor<f64, #scalar>\n", ""}},
                "pipeline_rank_1"),
      "'dist.all_reduce.start' op on pipeline rank 0 meets dist.all_reduce.start of pipeline rank 1: "
      "collective 0 over "
      "the pipeline axes must be the same on all of them\n");
}

TEST(Pipeline, RefusesMessagesOfDifferentTypes) {
  EXPECT_EQ(
      refusalOf({{"dist.receive from 0 over [\"p0\"] : tensor<2xf32, #pair>\n        sched.store \"from_0\", "
                  "%twice : tensor<2xf32, #pair>",
                  "dist.receive from 0 over [\"p0\"] : tensor<f32, #scalar>"}}),
      "'dist.receive' op on pipeline rank 1 expects 'tensor<f32>', the part of a scalar at (replicated); "
      "pipeline "
      "rank 0 sends 'tensor<2xf32>', the part of 2 at []\n");
}

TEST(Pipeline, RefusesWhatIsReadBeforeItArrives) {
  EXPECT_EQ(refusalOf({{"      sched.run \"1F.receive_wait\" 0\n      sched.run \"1F\" 0\n",
                        "      sched.run \"1F\" 0\n      sched.run \"1F.receive_wait\" 0\n"}}),
            "'sched.load' op reads slot \"from_0\" of microbatch 0 before its message has arrived: no "
            "dist.receive_wait from pipeline rank 0 stands before\n");
  EXPECT_EQ(
      refusalOf({{"sched.store \"from_0\", %twice", "%four = nn.add %twice, %twice : tensor<2xf32, #pair>\n"
                                                    "sched.store \"from_0\", %four"}}),
      "'nn.add' op uses what dist.receive gives before it has arrived: no dist.receive_wait from pipeline "
      "rank 0 "
      "stands before\n");
}

/// The k-th wait is for the k-th message: one too few is seen by whoever reads the last.
TEST(Pipeline, RefusesWhatIsLeft) {
  EXPECT_EQ(refusalOf({{"      sched.run \"1F.receive_wait\" 1\n      sched.run \"1F\" 1\n", ""}}),
            "'dist.receive' op on pipeline rank 1: message 1 from pipeline rank 0 is never waited for "
            "(dist.receive_wait)\n");
  EXPECT_EQ(refusalOf({{"      sched.run \"0F.send_wait\" 1\n", ""}}),
            "'dist.send' op on pipeline rank 0: message 1 to pipeline rank 1 is never waited for "
            "(dist.send_wait)\n");
  EXPECT_EQ(refusalOf({{"      sched.run \"0F.send_wait\" 1\n", ""},
                       {"      sched.run \"1F.receive\" 1\n", ""},
                       {"      sched.run \"1F.receive_wait\" 1\n      sched.run \"1F\" 1\n", ""}}),
            "'dist.send' op on pipeline rank 0: pipeline rank 1 never receives message 1 from there\n");
  EXPECT_EQ(refusalOf({{"      sched.run \"0F.send\" 1\n", ""},
                       {"      sched.run \"0F.send_wait\" 1\n", ""},
                       {"      sched.run \"1F.receive_wait\" 1\n      sched.run \"1F\" 1\n", ""}}),
            "'dist.receive' op on pipeline rank 1: pipeline rank 0 never sends message 1 to there\n");
}

/// What is sent stays until it has arrived.
TEST(Pipeline, RefusesWhatEndsAValueThatIsBeingSent) {
  EXPECT_EQ(
      refusalOf({{"        dist.send_wait to 1 over [\"p0\"]\n        sched.release \"twice\"\n",
                  "        dist.send_wait to 1 over [\"p0\"]\n"},
                 {"%twice to 1 over [\"p0\"] : tensor<2xf32, #pair>\n",
                  "%twice to 1 over [\"p0\"] : tensor<2xf32, #pair>\n        sched.store \"twice\", %twice : "
                  "tensor<2xf32, #pair>\n"}}),
      "'sched.store' op ends the value of slot \"twice\", which pipeline rank 0 is still sending: no "
      "dist.send_wait to pipeline rank 1 stands before\n");
}

TEST(Pipeline, RefusesAVariableThatRanksLeaveDifferent) {
  EXPECT_EQ(refusalOf({{"nn.write @steps, %sum", "nn.write @steps, %two"}}, "pipeline_rank_1"),
            "'sched.program' op @steps ends with different values on pipeline ranks 0 and 1\n");
  EXPECT_EQ(refusalOf({{"nn.write @steps, %sum : tensor<f64, #scalar>\n", ""}}, "pipeline_rank_1"),
            "'sched.program' op @steps ends with different values on pipeline ranks 0 and 1\n");
}

TEST(Pipeline, RefusesAnOutputThatRanksLeaveDifferent) {
  EXPECT_EQ(refusalOf({{"sched.store \"output/terms\", %sum", "sched.store \"output/terms\", %two"}},
                      "pipeline_rank_1"),
            "'sched.program' op slot output/terms ends with different values on pipeline ranks 0 and 1\n");
  EXPECT_EQ(
      refusalOf({{"sched.store \"output/terms\", %sum : tensor<f64, #scalar>\n", ""}}, "pipeline_rank_1"),
      "'sched.program' op ends without a value in slot \"output/terms\"\n");
}

TEST(Pipeline, RefusesRanksThatAreNoPipeline) {
  EXPECT_EQ(refusalOf({{"sched.pipeline_rank = 1", "sched.pipeline_rank = 2"}}),
            "'sched.program' op \"step\" expects one program per pipeline rank of the mesh, in order from 0 "
            "to 1; rank 1 "
            "has none\n");
  EXPECT_EQ(refusalOf({{"\"step\" microbatches(2)", "\"other\" microbatches(2)"}}, "pipeline_rank_1"),
            "'sched.program' op \"step\" expects one program per pipeline rank of the mesh, in order from 0 "
            "to 1; rank 1 "
            "has none\n");
  EXPECT_EQ(refusalOf({{"\"step\" microbatches(2)", "\"step\" microbatches(3)"}}, "pipeline_rank_1"),
            "'sched.program' op has 3 microbatches, on pipeline rank 0 it has 2\n");
  EXPECT_EQ(refusalOf({{"\"step\" microbatches(2)", "\"step\" microbatches(2)"},
                       {"over [\"p0\"]\n      }\n      sched.action \"1F\"",
                        "over [\"q0\"]\n      }\n      sched.action \"1F\""}}),
            "'dist.receive_wait' op expects all axes of the role pipeline, in their order\n");
  EXPECT_EQ(refusalOf({{"dist.receive from 0", "dist.receive from 1"}}),
            "'dist.receive' op expects another pipeline rank than 1, below 2, got 1\n");
}

/// A release needs the value, like a load.
TEST(Pipeline, RefusesAReleaseOfNothing) {
  EXPECT_EQ(refusalOf({{"%start = nn.read", "sched.release \"from_0\"\n        %start = nn.read"}}),
            "'sched.release' op reads slot \"from_0\" of microbatch 0 before anything is stored there\n");
}

TEST(Pipeline, RefusesOutputsThatAreNoOneValue) {
  const Change slot = {"output/terms\" output : tensor<f64, #scalar>",
                       "output/terms\" output : tensor<f64, #pending>"};
  const Change store = {"\"output/terms\", %sum : tensor<f64, #scalar>",
                        "\"output/terms\", %term : tensor<f64, #pending>"};
  EXPECT_NE(refusalOf({slot}).find("what all ranks see alike has one type"), std::string::npos);
  EXPECT_NE(refusalOf({slot, store, slot, store})
                .find("slot output/terms leaves the program split or pending over the pipeline axes"),
            std::string::npos);
}

TEST(Pipeline, RefusesASumOverSomeOfItsAxes) {
  std::string text = changed({{"p0 = 2 : pipeline = [p0]", "p0 = 2, p1 = 1 : pipeline = [p0, p1]"}});
  for (const char *end : {" : tensor<2xf32", "\n"}) { // of messages
    const std::string one = std::string("over [\"p0\"]") + end,
                      both = std::string("over [\"p0\", \"p1\"]") + end;
    for (size_t at = text.find(one); at != std::string::npos; at = text.find(one, at + 1))
      text.replace(at, one.size(), both);
  }
  EXPECT_EQ(Pipeline(text).refusal(),
            "'dist.all_reduce.start' op goes over pipeline axes, but not over p1: a sum over "
            "the pipeline is one over all of it\n");
}

TEST(Pipeline, RefusesAVariableThatStartsDifferent) {
  Pipeline pipeline(changed({{"nn.state @steps : tensor<f64, #scalar> constant",
                              "nn.state @steps : tensor<f64, #scalar> constant {mean = 1.0}"}},
                            "pipeline_rank_1"));
  EXPECT_TRUE(mlir::failed(initialVariables(*pipeline.module, 1)));
  EXPECT_EQ(pipeline.messages,
            "'nn.state' op @steps starts with another value or type than on a pipeline rank before: "
            "it is one variable, and has one\n");
}

/// Messages belong to actions of programs that run side by side.
TEST(Pipeline, AMessageElsewhereIsRefused) {
  Program program(R"(
#mesh = #dist.mesh<p0 = 2 : pipeline = [p0]>
module attributes {dist.mesh = #mesh} {
  func.func @main(%x: tensor<f32, #dist.local<#mesh, >>) {
    dist.send %x to 1 over ["p0"] : tensor<f32, #dist.local<#mesh, >>
    return
  }
}
)");
  EXPECT_TRUE(mlir::failed(program.call({reals({}, {1})})));
  EXPECT_EQ(program.messages,
            "'dist.send' op runs in an action of one of the programs of a pipeline (in modules with "
            "sched.pipeline_rank), and nowhere else\n");
}

} // namespace
} // namespace weft::interpret
