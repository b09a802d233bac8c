//===- StepPlan.h - The actions of a step and what goes between them ------------===//
//
// What every pipeline rank must know of a step before its program can be written: the ops of each action,
// what an action takes from others and leaves to them, and in which slot a stage finds a value, wherever it
// was computed. What belongs to no stage (StageAssignment.h) is in every action that needs it.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_PASSES_PIPELINE_STEPPLAN_H
#define WEFT_PASSES_PIPELINE_STEPPLAN_H

#include "passes/pipeline/StageAssignment.h"
#include "passes/pipeline/schedules/MessageOrder.h"

#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/StringMap.h"

#include <map>
#include <string>

namespace weft {

/// One action of the schedule, for any microbatch.
struct StageActionPlan {
  std::string name; ///< `1BW`
  int stage = 0;
  schedules::ActionKind kind = schedules::ActionKind::Forward;
  std::vector<mlir::Operation *> ops = {};  ///< in the order of the block
  ValueList loads = {};                     ///< computed by other actions
  ValueList stores = {};                    ///< computed here, and loaded or sent elsewhere
  llvm::SmallVector<unsigned> carried = {}; ///< which values of the step's carry

  /// Whether it computes what belongs to this place.
  bool covers(StageAction action) const;
};

class StepPlan {
public:
  /// `schedule` has the stages of `cuts`; both outlive the plan.
  static mlir::FailureOr<StepPlan> of(nn::StepOp step, const StageCuts &cuts,
                                      const schedules::PipelineSchedule &schedule);

  nn::StepOp step;
  const StageAssignment &assignment() const { return places; }
  const std::vector<StageActionPlan> &actions() const { return plans; }
  /// The slot in which a stage finds a value of its own, or one that came to it.
  std::string slotOf(mlir::Value value, int stage) const;
  /// What comes from the neighbor `from` to `stage` in a message; nothing between stages of one rank.
  llvm::ArrayRef<mlir::Value> received(int stage, int from) const;
  /// What stages say to each other.
  schedules::StageMessages messages() const;
  /// Where a carried value is added up, and on which pipeline rank.
  StagePlace placeOfCarried(unsigned index) const { return carriedAt[index]; }
  int rankOfCarried(unsigned index) const { return schedule->rankOf(carriedAt[index].stage); }
  /// The ranks whose actions read a variable.
  llvm::SmallBitVector readersOf(llvm::StringRef variable) const;
  int ranks() const { return schedule->ranks; }
  int rankOf(int stage) const { return schedule->rankOf(stage); }

private:
  StepPlan(nn::StepOp step, StageAssignment places, const schedules::PipelineSchedule &schedule)
      : step(step), places(std::move(places)), schedule(&schedule) {}

  void placeCarried();
  void makeActions();
  void fill(StageActionPlan &plan);
  void connect();
  void findReaders();
  void nameSlots();

  StageAssignment places;
  const schedules::PipelineSchedule *schedule;
  std::vector<StagePlace> carriedAt;
  std::vector<StageActionPlan> plans;
  llvm::DenseMap<mlir::Operation *, int64_t> order; ///< in the block
  llvm::DenseMap<mlir::Value, std::string> slots;   ///< of what actions leave to others
  llvm::StringMap<llvm::SmallBitVector> readers;
};

} // namespace weft

#endif // WEFT_PASSES_PIPELINE_STEPPLAN_H
