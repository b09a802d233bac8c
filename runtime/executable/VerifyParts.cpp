//===- VerifyParts.cpp - Executables that are the parts of one job --------===//
//
// Ranks of different parts meet in checkpoints, where a variable has one owner, and in what they report,
// which is the same on all: so what several parts say of a name must be the same thing.
//
//===----------------------------------------------------------------------===//
#include "runtime/executable/PlanRules.h"
#include "runtime/executable/Verify.h"

#include "absl/container/flat_hash_map.h"

#include <map>

namespace weft {
namespace {

absl::Status verifyCommon(const std::vector<Executable> &parts) {
  const Executable &first = parts.front();
  if (int64_t ranks = first.mesh.pipelineRanks(); ranks != static_cast<int64_t>(parts.size()))
    return broken("the mesh has ", ranks, " pipeline ranks, the executable ", parts.size(),
                  parts.size() == 1 ? " part" : " parts");
  for (size_t part = 1; part < parts.size(); ++part) {
    const Executable &other = parts[part];
    const char *differs = other.weftVersion != first.weftVersion ? "weft version"
                          : other.target != first.target         ? "target"
                          : other.object != first.object         ? "object of generated kernels"
                          : other.mesh != first.mesh             ? "mesh"
                          : other.config != first.config         ? "config"
                          : other.tokenizer != first.tokenizer   ? "tokenizer"
                                                                 : nullptr;
    if (differs)
      return broken("pipeline rank ", part, " has another ", differs, " than pipeline rank 0");
  }
  return absl::OkStatus();
}

/// Whether two parts mean the same by the name of a variable; where they keep it may differ.
bool isSame(const Variable &a, const Variable &b) {
  Variable other = b;
  other.reference = a.reference;
  return a == other;
}

/// Whether two parts are given the same by the name of an input.
bool isSame(const ProgramInput &a, const ProgramInput &b) {
  return a.type == b.type && a.perMicrobatch == b.perMicrobatch && a.placement == b.placement;
}

absl::Status verifyVariables(const std::vector<Executable> &parts) {
  absl::flat_hash_map<std::string, const Variable *> known, byCheckpointName;
  for (size_t part = 0; part < parts.size(); ++part)
    for (const Variable &variable : parts[part].variables) {
      const std::string what = absl::StrCat("variable '", variable.name, "' of pipeline rank ", part);
      auto [found, isNew] = known.try_emplace(variable.name, &variable);
      if (isNew && variable.pipelineOwner != part)
        return broken(what, " belongs to pipeline rank ", variable.pipelineOwner, ", which does not hold it");
      if (!isSame(*found->second, variable))
        return broken(what, " is not that of pipeline rank ", found->second->pipelineOwner);
      auto [named, isNewName] = byCheckpointName.try_emplace(variable.checkpointName, found->second);
      if (named->second != found->second)
        return broken(what, " is saved as '", variable.checkpointName, "', and so is '", named->second->name,
                      "'");
    }
  return absl::OkStatus();
}

absl::Status verifyOutputs(const Program &program, const Program &first, const std::string &what) {
  if (program.outputs.size() != first.outputs.size())
    return broken(what, " has ", program.outputs.size(), " outputs, on pipeline rank 0 ",
                  first.outputs.size());
  for (size_t i = 0; i < first.outputs.size(); ++i) {
    const ProgramOutput &mine = program.outputs[i], &other = first.outputs[i];
    if (mine.name != other.name || mine.type != other.type)
      return broken(what, " has the output '", mine.name, "' : ", mine.type.str(), ", on pipeline rank 0 '",
                    other.name, "' : ", other.type.str());
  }
  return absl::OkStatus();
}

absl::Status verifyPrograms(const std::vector<Executable> &parts) {
  const std::vector<Program> &firsts = parts.front().programs;
  std::map<std::pair<size_t, std::string>, std::pair<const ProgramInput *, size_t>>
      inputs; ///< and of which part
  for (size_t part = 0; part < parts.size(); ++part) {
    const std::vector<Program> &programs = parts[part].programs;
    if (programs.size() != firsts.size())
      return broken("pipeline rank ", part, " has ", programs.size(), " programs, pipeline rank 0 ",
                    firsts.size());
    for (size_t i = 0; i < programs.size(); ++i) {
      const std::string what = absl::StrCat("program '", programs[i].name, "' of pipeline rank ", part);
      if (programs[i].name != firsts[i].name)
        return broken(what, " is '", firsts[i].name, "' on pipeline rank 0");
      if (programs[i].microbatches != firsts[i].microbatches)
        return broken(what, " has ", programs[i].microbatches, " microbatches, on pipeline rank 0 ",
                      firsts[i].microbatches);
      if (absl::Status status = verifyOutputs(programs[i], firsts[i], what); !status.ok())
        return status;
      for (const ProgramInput &input : programs[i].inputs) {
        auto [found, isNew] = inputs.try_emplace({i, input.name}, &input, part);
        if (!isSame(*found->second.first, input))
          return broken(what, ": input '", input.name, "' is not that of pipeline rank ",
                        found->second.second);
      }
    }
  }
  return absl::OkStatus();
}

} // namespace

absl::Status verify(const std::vector<Executable> &parts) {
  if (parts.empty())
    return broken("there is no part");
  for (size_t part = 0; part < parts.size(); ++part)
    if (absl::Status status = verify(parts[part]); !status.ok())
      return parts.size() == 1 ? status : broken("pipeline rank ", part, ": ", status.message());
  if (absl::Status status = verifyCommon(parts); !status.ok())
    return status;
  if (absl::Status status = verifyVariables(parts); !status.ok())
    return status;
  return verifyPrograms(parts);
}

} // namespace weft
