//===- ErrorTest.cpp - Every message, word by word ------------------------===//
//
// What is wrong, where, and what would work. Line 11 is the first after the small run.
//
//===----------------------------------------------------------------------===//
#include "ConfigTestSupport.h"

namespace weft {

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

TEST(BadFile, MissingOrAFolder) {
  EXPECT_EQ(errorOf(loadConfig("/nowhere/run.yaml")),
            "/nowhere/run.yaml: cannot be opened: No such file or directory");
  EXPECT_EQ(errorOf(loadConfig("/")), "/: is not a regular file");
}

TEST(BadFile, EmptyOneMissesEveryRequiredKey) {
  std::string message = errorOf(loadText(""));
  EXPECT_THAT(message, testing::HasSubstr("run.yaml: model.hidden_size: is missing. Expected an integer.\n"));
  EXPECT_THAT(message, testing::HasSubstr("run.yaml: data.train: is missing. Expected a list of maps.\n"));
}

TEST(BadFile, NotAMap) {
  EXPECT_EQ(errorOf(loadText("- a\n")), "run.yaml:1: expected a map of sections, got a list.");
  EXPECT_EQ(errorOf(loadText("hello")), "run.yaml:1: expected a map of sections, got hello.");
}

TEST(BadYaml, DuplicateKey) {
  EXPECT_EQ(errorOf(loadText("train:\n  steps: 1\n  seed: 2\n  steps: 3\n")),
            "run.yaml:4: the key steps is given twice, first in line 2. Keep one.");
  EXPECT_EQ(errorOf(loadWith("model: {}\n")),
            "run.yaml:11: the key model is given twice, first in line 1. Keep one.");
}

TEST(BadYaml, SecondDocument) {
  EXPECT_EQ(errorOf(loadWith("---\ntrain: {}\n")), "run.yaml:11: a second document starts here. A run is one "
                                                   "document: remove the `---` line and what follows, "
                                                   "or make it a file of its own.");
}

TEST(BadYaml, AnchorAliasAndTag) {
  EXPECT_EQ(errorOf(loadText("a: &x 1\nb: *x\n")),
            "run.yaml:1: anchors (&name) are not supported. Write the value out where it is used.");
  EXPECT_EQ(errorOf(loadText("train: {steps: !!int 3}\n")),
            "run.yaml:1: tags (tag:yaml.org,2002:int) are not supported. Write the plain value.");
}

TEST(BadYaml, NotYaml) {
  EXPECT_EQ(errorOf(loadText("train: {steps: 3\n")),
            "run.yaml:2: not valid YAML: end of map flow not found.");
  EXPECT_EQ(errorOf(loadText("train: [\n")), "run.yaml:2: not valid YAML: end of sequence flow not found.");
  EXPECT_EQ(errorOf(loadText(std::string("a\0b", 3))),
            "run.yaml:1: holds a zero byte: this is not a text file.");
  EXPECT_EQ(errorOf(loadText("? [a]\n: 3\n")),
            "run.yaml:1: a map or list cannot be a key (is a bracket left open?). Keys are words.");
  EXPECT_EQ(errorOf(loadText(": 3\n")), "run.yaml:1: a key is missing before the colon.");
  EXPECT_EQ(errorOf(loadText(std::string(100, '[') + std::string(100, ']'))),
            "run.yaml:1: nested deeper than 16 levels. No key is.");
}

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

TEST(BadKey, UnknownWithTheNearestKnownOne) {
  EXPECT_EQ(errorOf(loadSmall({"optimizer.weigth_decay=1"})),
            "--set: optimizer.weigth_decay: no such key. Did you mean weight_decay?");
  EXPECT_EQ(errorOf(loadWith("evaluation: {}\n")),
            "run.yaml:11: evaluation: no such key. Known here: model, tokenizer, data, precision, parallel, "
            "optimizer, "
            "lr_schedule, "
            "loss, train, launch, checkpoint, eval, metrics, generate.");
  EXPECT_EQ(errorOf(loadWith("lr_shedule: {}\n")),
            "run.yaml:11: lr_shedule: no such key. Did you mean lr_schedule?");
  EXPECT_EQ(errorOf(loadWith("data.train: []\n")).substr(0, 38), "run.yaml:11: data.train: no such key. ");
}

TEST(BadKey, InAnotherSection) {
  EXPECT_EQ(errorOf(loadSmall({"optimizer.warmup_steps=1"})),
            "--set: optimizer.warmup_steps: no such key. Did you mean lr_schedule.warmup_steps?");
}

TEST(BadKey, InAnElementOfAList) {
  EXPECT_EQ(errorOf(loadSmall({"data.train=[{path: a, wieght: 1}]"})),
            "--set: data.train[0].wieght: no such key. Did you mean weight?");
  EXPECT_EQ(errorOf(loadSmall({"data.train=[{weight: 1}, a]"})),
            "--set: data.train[0].path: is missing. Expected a path.\n"
            "--set: data.train[1]: expected a map, got a.");
}

TEST(BadKey, RequiredButMissing) {
  EXPECT_EQ(
      errorOf(loadWith("lr_schedule: {kind: wsd}\n")),
      "run.yaml:11: lr_schedule.decay_steps: is missing with lr_schedule.kind = wsd. Expected an integer.");
  EXPECT_EQ(errorOf(loadSmall({"model.rope_scaling.rope_type=linear"})),
            "--set: model.rope_scaling.factor: is missing with model.rope_scaling.rope_type = linear or "
            "llama3 or yarn. "
            "Expected a number.");
}

TEST(BadKey, AllMistakesAtOnce) {
  EXPECT_EQ(errorOf(loadWith("eval: {batches: 0, intervall: 3}\nmetrics: 5\n")),
            "run.yaml:11: eval.batches: 0 is out of range. Works: 1 to 1000000.\n"
            "run.yaml:11: eval.intervall: no such key. Did you mean interval?\n"
            "run.yaml:12: metrics: expected a map of keys, got 5.");
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

static std::string errorWith(const std::string &override) { return errorOf(loadSmall({override})); }

TEST(BadValue, OctalLooking) {
  EXPECT_EQ(errorWith("train.steps=010"),
            "--set: train.steps: 010 looks octal, and YAML versions read it differently. "
            "Write 10 if that is meant.");
  EXPECT_EQ(errorWith("train.steps=0o17"), "--set: train.steps: 0o17 looks octal, and YAML versions read it "
                                           "differently. Write 17 if that is meant.");
  EXPECT_EQ(errorWith("optimizer.lr=-007"),
            "--set: optimizer.lr: -007 looks octal, and YAML versions read it "
            "differently. Write -7 if that is meant.");
  EXPECT_EQ(errorWith("launch.memory_limit=00"),
            "--set: launch.memory_limit: 00 looks octal, and YAML versions read it "
            "differently. Write 0 if that is meant.");
}

TEST(BadValue, WrongType) {
  EXPECT_EQ(errorWith("train.steps=many"), "--set: train.steps: expected an integer, got many.");
  EXPECT_EQ(errorWith("train.steps=[1]"), "--set: train.steps: expected an integer, got a list.");
  EXPECT_EQ(errorWith("train.steps=0x10"), "--set: train.steps: expected an integer, got 0x10.");
  EXPECT_EQ(errorWith("train.steps='3'"),
            "--set: train.steps: expected an integer, got the text \"3\". Remove the quotes.");
  EXPECT_EQ(errorWith("train.steps=1e3"), "--set: train.steps: expected an integer, got 1e3. Write 1000.");
  EXPECT_EQ(errorWith("train.steps=1.5"), "--set: train.steps: expected an integer, got 1.5.");
  EXPECT_EQ(errorWith("train.steps=99999999999999999999"),
            "--set: train.steps: 99999999999999999999 does not fit 64 bits.");
  EXPECT_EQ(errorWith("optimizer.lr=fast"), "--set: optimizer.lr: expected a number, got fast.");
  EXPECT_EQ(errorWith("optimizer.lr={a: 1}"), "--set: optimizer.lr: expected a number, got a map.");
  EXPECT_EQ(errorWith("optimizer.lr=.inf"), "--set: optimizer.lr: expected a number, got .inf.");
  EXPECT_EQ(errorWith("optimizer.lr=nan"), "--set: optimizer.lr: expected a number, got nan.");
  EXPECT_EQ(errorWith("optimizer.lr=\"1e-3\""),
            "--set: optimizer.lr: expected a number, got the text \"1e-3\". Remove the quotes.");
  EXPECT_EQ(errorWith("optimizer.lr=1e999"),
            "--set: optimizer.lr: 1e999 is too large or too small for a 64-bit number.");
  EXPECT_EQ(errorWith("model.mlp_bias=yes"),
            "--set: model.mlp_bias: expected true or false, got yes. Write true.");
  EXPECT_EQ(errorWith("model.mlp_bias=Off"),
            "--set: model.mlp_bias: expected true or false, got Off. Write false.");
  EXPECT_EQ(errorWith("model.mlp_bias=2"), "--set: model.mlp_bias: expected true or false, got 2.");
  EXPECT_EQ(errorWith("generate.prompt=[a]"), "--set: generate.prompt: expected text, got a list.");
  EXPECT_EQ(errorWith("optimizer.no_decay=a"), "--set: optimizer.no_decay: expected a list of texts, got a.");
  EXPECT_EQ(errorWith("optimizer.groups=a"), "--set: optimizer.groups: expected a list of maps, got a.");
  EXPECT_EQ(errorWith("optimizer.betas=0.9"),
            "--set: optimizer.betas: expected a list of 2 numbers, got 0.9.");
  EXPECT_EQ(errorWith("optimizer.betas=[1, 2, 3]"),
            "--set: optimizer.betas: expected a list of 2 numbers, got a list of 3.");
  EXPECT_EQ(errorWith("train.dump.steps=[a]"), "--set: train.dump.steps: expected an integer, got a.");
  EXPECT_EQ(errorWith("launch.memory_limit=8 gigs"),
            "--set: launch.memory_limit: expected a size such as 8 GiB, or auto, got 8 gigs.");
  EXPECT_EQ(errorWith("data.train=[{path: ''}]"),
            "--set: data.train[0].path: expected a path, got an empty text.");
  EXPECT_EQ(errorWith("optimizer.kind=[a]"),
            "--set: optimizer.kind: expected a name, got a list. Works: adamw, sgd, lion.");
}

TEST(BadValue, OutOfRange) {
  EXPECT_EQ(errorWith("train.steps=0"), "--set: train.steps: 0 is out of range. Works: 1 to 2147483647.");
  EXPECT_EQ(errorWith("loss.label_smoothing=1"),
            "--set: loss.label_smoothing: 1 is out of range. Works: 0 to less than 1.");
  EXPECT_EQ(errorWith("optimizer.epsilon=0"),
            "--set: optimizer.epsilon: 0 is out of range. Works: more than 0, at most 1.");
  EXPECT_EQ(errorWith("model.rope_theta=1"),
            "--set: model.rope_theta: 1 is out of range. Works: more than 1.");
  EXPECT_EQ(errorWith("optimizer.betas=[0.9, 1]"),
            "--set: optimizer.betas: 1 is out of range. Works: 0 to less than 1.");
  EXPECT_EQ(errorWith("launch.memory_limit=1 KiB"),
            "--set: launch.memory_limit: 1 KiB is out of range. Works: 1048576 or more.");
  EXPECT_EQ(errorWith("launch.threads=0"), "--set: launch.threads: 0 is out of range. Works: 1 to 128.");
}

TEST(BadValue, NoSuchChoice) {
  EXPECT_EQ(errorWith("optimizer.kind=adam"),
            "--set: optimizer.kind: no such choice: adam. Did you mean adamw? Works: adamw, sgd, lion.");
  EXPECT_EQ(errorWith("precision.recipe=mixed"),
            "--set: precision.recipe: no such choice: mixed. Works: fp32, bf16, fp16.");
}

//===----------------------------------------------------------------------===//
// Values that must agree
//===----------------------------------------------------------------------===//

TEST(Disagreement, Heads) {
  EXPECT_EQ(errorWith("model.num_key_value_heads=3"),
            "--set: model.num_key_value_heads: 3 does not divide num_attention_heads (4). Works: 1, 2, 4.");
  EXPECT_EQ(
      errorWith("model.num_attention_heads=5"),
      "--set: model.num_attention_heads: 5 does not divide hidden_size (64), and head_dim is not given. "
      "Works: 1, 2, 4, 8, 16, 32, 64, or a head_dim.");
  EXPECT_EQ(errorWith("model.num_attention_heads=64"),
            "--set: model.num_attention_heads: head_dim is 1 (hidden_size / num_attention_heads), and rotary "
            "embeddings "
            "rotate pairs. Works: an even head_dim, such as 2.");
  EXPECT_EQ(errorWith("model.head_dim=7"),
            "--set: model.head_dim: head_dim is 7, and rotary embeddings rotate pairs. "
            "Works: an even head_dim, such as 8.");
}

TEST(Disagreement, VocabularyAndPositions) {
  EXPECT_EQ(
      errorWith("model.vocab_size=256"),
      "--set: model.vocab_size: 256 is less than the 257 ids of tokenizer bytes (256 bytes and the end of a "
      "document). Works: 257 or more.");
  EXPECT_EQ(errorWith("model.max_position_embeddings=16"),
            "run.yaml:6: data.sequence_length: 32 is over model.max_position_embeddings (16). Works: at most "
            "16, or a "
            "larger model.max_position_embeddings.");
}

TEST(Disagreement, RopeScaling) {
  EXPECT_EQ(
      errorWith("model.rope_scaling={rope_type: llama3, factor: 8, low_freq_factor: 4, high_freq_factor: 4}"),
      "--set: model.rope_scaling.low_freq_factor: 4 is not below high_freq_factor (4). Works: less than 4.");
  EXPECT_EQ(errorWith("model.rope_scaling={rope_type: yarn, factor: 8, beta_slow: 33}"),
            "--set: model.rope_scaling.beta_slow: 33 is not below beta_fast (32). Works: less than 32.");
}

TEST(Disagreement, Batches) {
  EXPECT_EQ(errorWith("train.micro_batch=5"),
            "--set: train.micro_batch: 5 does not divide global_batch (32). Works: 1, 2, 4, 8, 16, 32.");
  EXPECT_EQ(errorWith("train.global_batch=30"), "run.yaml:9: train.micro_batch: 4 does not divide "
                                                "global_batch (30). Works: 1, 2, 3, 5, 6, 10, 15, 30.");
  EXPECT_EQ(errorOf(loadSmall({"train={micro_batch: 1048576, global_batch: 1048576}",
                               "data.sequence_length=4096", "model.max_position_embeddings=4096"})),
            "--set: train.micro_batch: 1048576 samples of 4096 tokens are more than 2147483647 tokens at "
            "once. Works: at "
            "most 524287.");
}

TEST(Disagreement, Schedule) {
  EXPECT_EQ(errorWith("lr_schedule.warmup_steps=101"),
            "--set: lr_schedule.warmup_steps: 101 is over train.steps (100). Works: at most 100.");
  EXPECT_EQ(errorWith("lr_schedule={kind: wsd, warmup_steps: 60, decay_steps: 50}"),
            "--set: lr_schedule.decay_steps: 50 does not fit into train.steps (100) after warmup_steps (60). "
            "Works: at "
            "most 40.");
}

TEST(Disagreement, Stages) {
  EXPECT_EQ(errorWith("data.stages=[{tokens: 80, train: [{path: a}]}]"),
            "--set: data.stages[0].tokens: 80 tokens of the last stage, which goes on to the end of the run. "
            "Works: leave it out, or add a stage.");
  EXPECT_EQ(
      errorWith("data.stages=[{train: [{path: a}]}, {train: []}]"),
      "--set: data.stages[0].tokens: is missing. Expected an integer: only the last stage goes on to the "
      "end of the run.\n"
      "--set: data.stages[1].train: the list is empty. Works: at least one {path: FILE}.");
}

TEST(Disagreement, DataAndDump) {
  EXPECT_EQ(errorWith("data.train=[]"),
            "--set: data.train: the list is empty. Works: at least one {path: FILE}.");
  EXPECT_EQ(
      errorWith("train.dump.steps=[1, 101]"),
      "--set: train.dump.steps: 101 is over train.steps (100): nothing would be written. Works: 1 to 100.");
}

} // namespace weft
