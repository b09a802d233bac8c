//===- VerifyPlacesTest.cpp - Plans of random programs, whole and broken ----------===//
//
// Programs of actions that load, store and compute, in an order of runs that is drawn too, are planned, and
// the verifier of places has nothing to say. Then one result is moved to where another value is needed later:
// of the same action, or of a slot that is stored before and loaded behind. Each must be refused.
//
//===----------------------------------------------------------------------===//
#include "passes/memory/VerifyPlaces.h"

#include "dialects/nn/NnDialect.h"
#include "dialects/sched/SchedDialect.h"
#include "kernels/cpu/Cpu.h"
#include "passes/memory/Memory.h"

#include "absl/strings/str_cat.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

#include <map>
#include <random>
#include <set>

using namespace mlir;

namespace weft {
namespace {

class RandomProgram {
public:
  explicit RandomProgram(unsigned seed) : random(seed) {}

  std::string text() {
    microbatches = 1 + draw(3);
    absl::StrAppend(&out, "sched.program \"p\" microbatches(", microbatches, ") {\n");
    const int slots = 1 + draw(6);
    for (int slot = 0; slot < slots; ++slot) {
      slotSizes.push_back(16 * (1 + draw(4)));
      absl::StrAppend(&out, "  sched.slot \"", slot, "\" ", draw(3) == 0 ? "output" : "carried", " : ",
                      type(slotSizes.back()), "\n");
    }
    const int actions = 2 + draw(4);
    std::vector<std::vector<std::string>> runs(actions);
    for (int action = 0; action < actions; ++action) {
      const bool perMicrobatch = draw(2) == 0;
      absl::StrAppend(&out, "  sched.action \"", action, "\"", perMicrobatch ? " per_microbatch" : "",
                      " {\n");
      writeBody();
      absl::StrAppend(&out, "  }\n");
      for (int run = 0, count = perMicrobatch ? microbatches : 1 + draw(2); run < count; ++run)
        runs[action].push_back(absl::StrCat("  sched.run \"", action, "\"",
                                            perMicrobatch ? absl::StrCat(" ", run) : std::string(), "\n"));
    }
    writeRuns(runs);
    return out + "}\n";
  }

private:
  struct Written {
    std::string name;
    int size;
  };

  int draw(int below) { return static_cast<int>(random() % static_cast<unsigned>(below)); }
  static std::string type(int size) { return absl::StrCat("tensor<", size, "xf32>"); }

  void writeBody() {
    values.clear();
    for (size_t slot = 0; slot < slotSizes.size(); ++slot)
      if (draw(2) == 0)
        add(slotSizes[slot], absl::StrCat("sched.load \"", slot, "\" : ", type(slotSizes[slot])));
    for (int launch = 0, count = 1 + draw(6); launch < count; ++launch)
      writeLaunch();
    for (size_t slot = 0; slot < slotSizes.size(); ++slot)
      if (draw(2) == 0)
        writeStore(slot);
  }

  void writeLaunch() {
    const int kind = values.empty() ? 0 : draw(3);
    if (kind == 0)
      return writeIota(16 * (1 + draw(4)));
    const Written a = values[draw(static_cast<int>(values.size()))],
                  b = values[draw(static_cast<int>(values.size()))];
    if (kind == 1)
      add(a.size, absl::StrCat("sched.launch \"copy\"(", a.name, ") {settings = {}} : (", type(a.size),
                               ") -> ", type(a.size)));
    else
      add(a.size + b.size, absl::StrCat("sched.launch \"concatenate\"(", a.name, ", ", b.name,
                                        ") {settings = {dimension = array<i64: 0>}} : (", type(a.size), ", ",
                                        type(b.size), ") -> ", type(a.size + b.size)));
  }

  void writeIota(int size) {
    add(size, absl::StrCat("sched.launch \"iota\"() {settings = {dimension = array<i64: 0>}} : () -> ",
                           type(size)));
  }

  void writeStore(size_t slot) {
    std::vector<Written> fit;
    for (const Written &value : values)
      if (value.size == slotSizes[slot])
        fit.push_back(value);
    if (fit.empty()) {
      writeIota(slotSizes[slot]);
      fit.push_back(values.back());
    }
    const Written &value = fit[draw(static_cast<int>(fit.size()))];
    absl::StrAppend(&out, "    sched.store \"", slot, "\", ", value.name, " : ", type(value.size), "\n");
  }

  void add(int size, const std::string &op) {
    values.push_back({absl::StrCat("%v", next++), size});
    absl::StrAppend(&out, "    ", values.back().name, " = ", op, "\n");
  }

  /// Any order in which those of each action keep theirs.
  void writeRuns(const std::vector<std::vector<std::string>> &runs) {
    std::vector<size_t> order;
    for (size_t action = 0; action < runs.size(); ++action)
      order.insert(order.end(), runs[action].size(), action);
    std::shuffle(order.begin(), order.end(), random);
    std::vector<size_t> written(runs.size());
    for (size_t action : order)
      out += runs[action][written[action]++];
  }

  std::mt19937 random;
  std::string out;
  int microbatches = 1, next = 0;
  std::vector<int> slotSizes;
  std::vector<Written> values;
};

class Places : public ::testing::Test {
protected:
  Places() {
    context.loadDialect<nn::NnDialect, sched::SchedDialect>();
    context.disableMultithreading();
    // Memory asks kernels what they may write over.
    EXPECT_EQ(cpu::useInstructionSet(cpu::supportedInstructionSets().front()), absl::OkStatus());
  }

  OwningOpRef<ModuleOp> plan(const std::string &text) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return {};
    PassManager manager(&context);
    manager.addPass(createMemory());
    if (failed(manager.run(*module)))
      return {};
    return module;
  }

  bool isRefused(ModuleOp module) {
    ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) { return success(); });
    return failed(verifyPlaces(module));
  }

  /// Whether the verifier refuses the plan where the first result of `launch` lies at `place`. It lies where
  /// it was afterwards.
  bool isRefusedWith(ModuleOp module, sched::LaunchOp launch, sched::PlaceAttr place) {
    const ArrayAttr before = *launch.getPlaces();
    SmallVector<mlir::Attribute> places(before.begin(), before.end());
    places.front() = place;
    launch.setPlacesAttr(ArrayAttr::get(&context, places));
    const bool refused = isRefused(module);
    launch.setPlacesAttr(before);
    return refused;
  }

  MLIRContext context;
};

sched::PlaceAttr placeOf(sched::LaunchOp launch) { return cast<sched::PlaceAttr>((*launch.getPlaces())[0]); }

TEST_F(Places, AResultOverOneThatIsReadLaterIsRefused) {
  int broken = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    const std::string text = RandomProgram(seed).text();
    OwningOpRef<ModuleOp> module = plan(text);
    ASSERT_TRUE(module) << text;
    EXPECT_FALSE(isRefused(*module)) << text;
    module->walk([&](sched::LaunchOp first) {
      for (Operation *reader : first->getUsers())
        for (Operation *between = first->getNextNode(); isa<sched::LaunchOp>(reader) && between != reader;
             between = between->getNextNode())
          if (auto launch = dyn_cast<sched::LaunchOp>(between)) {
            EXPECT_TRUE(isRefusedWith(*module, launch, placeOf(first))) << text;
            ++broken;
          }
    });
  }
  EXPECT_GT(broken, 300);
}

/// The runs of a program, and what the actions load and store.
struct Order {
  explicit Order(sched::ProgramOp program) {
    for (auto action : program.getBody().front().getOps<sched::ActionOp>()) {
      actions[action.getName().str()] = action;
      for (auto load : action.getBody().front().getOps<sched::LoadOp>())
        loads[action.getName().str()].insert(load.getSlot().str());
      for (auto store : action.getBody().front().getOps<sched::StoreOp>())
        stores[action.getName().str()].insert(store.getSlot().str());
    }
    for (auto run : program.getBody().front().getOps<sched::RunOp>())
      runs.push_back(run.getAction().str());
  }

  /// Actions that run while the slot holds a value that is loaded, or left as an output, behind them, and
  /// store none themselves.
  std::set<std::string> whileKept(sched::SlotOp slot) {
    std::set<std::string> found, since;
    bool isStored = false;
    const std::string name = slot.getName().str();
    for (const std::string &action : runs) {
      if (isStored && loads[action].count(name) != 0)
        found.insert(since.begin(), since.end());
      if (stores[action].count(name) != 0)
        isStored = true, since.clear();
      else
        since.insert(action);
    }
    if (isStored && slot.getKind() == sched::SlotKind::output)
      found.insert(since.begin(), since.end());
    return found;
  }

  std::map<std::string, sched::ActionOp> actions;
  std::map<std::string, std::set<std::string>> loads, stores;
  std::vector<std::string> runs;
};

TEST_F(Places, AResultOverASlotThatIsLoadedLaterIsRefused) {
  int broken = 0;
  for (unsigned seed = 1000; seed < 1300; ++seed) {
    const std::string text = RandomProgram(seed).text();
    OwningOpRef<ModuleOp> module = plan(text);
    ASSERT_TRUE(module) << text;
    auto program = *module->getOps<sched::ProgramOp>().begin();
    Order order(program);
    for (auto slot : program.getBody().front().getOps<sched::SlotOp>())
      for (const std::string &action : order.whileKept(slot))
        for (auto launch : order.actions[action].getBody().front().getOps<sched::LaunchOp>()) {
          EXPECT_TRUE(isRefusedWith(*module, launch, *slot.getPlace()))
              << "a launch of action " << action << " over slot " << slot.getName().str() << " of\n"
              << text;
          ++broken;
        }
  }
  EXPECT_GT(broken, 300);
}

} // namespace
} // namespace weft
