#include "runtime/executable/LogicalTime.h"

#include "kernels/collective/Collective.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace weft {
namespace {

/// What a kernel has to do with other pipeline ranks.
struct Tie {
  enum class Kind { None, Sends, Receives, Meets };
  Kind kind = Kind::None;
  size_t peer = 0; ///< of Sends and Receives
};

std::vector<Tie> tiesOf(const Executable &part, size_t place) {
  const Mesh &mesh = part.mesh;
  const std::span<const uint32_t> pipeline = mesh.axesOf(kPipelineRole);
  int64_t rank = 0; // of this place, at 0 on every other axis
  while (mesh.pipelineRank(rank) != static_cast<int64_t>(place))
    ++rank;
  std::vector<Tie> ties;
  for (const KernelEntry &kernel : part.kernels) {
    Tie &tie = ties.emplace_back();
    const std::vector<int64_t> axes = kernel.call.integers("axes").value_or(std::vector<int64_t>());
    const std::vector<uint32_t> which(axes.begin(), axes.end());
    if (!isRankKernel(kernel.call.name) ||
        std::find_first_of(which.begin(), which.end(), pipeline.begin(), pipeline.end()) == which.end())
      continue;
    tie.kind = Tie::Kind::Meets;
    if (!lineStepOf(kernel.call.name))
      continue;
    const std::vector<int64_t> group = mesh.group(rank, which);
    const int64_t peer = kernel.call.integerOr("peer", 0);
    const std::optional<LineStep> step = lineStepOf(kernel.call.name);
    tie.kind = step == LineStep::Send            ? Tie::Kind::Sends
               : step == LineStep::FinishReceive ? Tie::Kind::Receives
                                                 : Tie::Kind::None;
    if (peer < 0 || peer >= static_cast<int64_t>(group.size()))
      tie.kind = Tie::Kind::None;
    else
      tie.peer = static_cast<size_t>(mesh.pipelineRank(group[static_cast<size_t>(peer)]));
  }
  return ties;
}

/// All parts side by side.
class Clocks {
public:
  Clocks(const std::vector<Executable> &parts, size_t program) : parts(parts), program(program) {
    for (size_t part = 0; part < parts.size(); ++part) {
      ties.push_back(tiesOf(parts[part], part));
      places.emplace_back();
    }
  }

  std::vector<std::vector<int64_t>> run() {
    while (true) {
      bool hasMoved = false, isAtEnd = true;
      for (size_t part = 0; part < parts.size(); ++part) {
        hasMoved |= goOn(part);
        isAtEnd &= places[part].starts.size() == items(part).size();
      }
      if (isAtEnd)
        break;
      waits &= hasMoved;
    }
    std::vector<std::vector<int64_t>> times;
    for (Place &place : places)
      times.push_back(std::move(place.starts));
    return times;
  }

private:
  /// Where a rank stands.
  struct Place {
    std::vector<int64_t> starts;   ///< of the items that are over
    uint32_t command = 0;          ///< of the item at hand
    int64_t now = 0;               ///< its time
    std::vector<int64_t> arrivals; ///< when it came to each meeting
    size_t meetings = 0;           ///< that are over
  };

  const std::vector<ScheduleItem> &items(size_t part) const { return parts[part].programs[program].schedule; }

  /// Runs commands up to one that waits. Whether any ran.
  bool goOn(size_t part) {
    Place &place = places[part];
    const Program &source = parts[part].programs[program];
    bool hasMoved = false;
    while (place.starts.size() < source.schedule.size()) {
      const Action &action = source.actions[source.schedule[place.starts.size()].action];
      while (place.command < action.commandCount) {
        const Command &command = source.commands[action.firstCommand + place.command];
        if (command.kind == CommandKind::Launch && !pass(part, ties[part][command.kernel]))
          return hasMoved;
        hasMoved = true;
        ++place.command;
        ++place.now;
      }
      hasMoved = true;
      place.starts.push_back(place.now - place.command);
      place.command = 0;
    }
    return hasMoved;
  }

  /// False if the command has to wait.
  bool pass(size_t part, const Tie &tie) {
    Place &place = places[part];
    switch (tie.kind) {
    case Tie::Kind::None:
      return true;
    case Tie::Kind::Sends:
      sent[{part, tie.peer}].push_back(place.now);
      return true;
    case Tie::Kind::Receives: {
      const std::vector<int64_t> &times = sent[{tie.peer, part}];
      size_t &over = received[{tie.peer, part}];
      if (over < times.size())
        place.now = std::max(place.now, times[over] + 1);
      else if (waits)
        return false;
      ++over;
      return true;
    }
    case Tie::Kind::Meets:
      return meet(place);
    }
    return true;
  }

  bool meet(Place &place) {
    if (place.arrivals.size() == place.meetings)
      place.arrivals.push_back(place.now);
    int64_t last = place.now;
    for (const Place &other : places) {
      if (other.arrivals.size() > place.meetings)
        last = std::max(last, other.arrivals[place.meetings]);
      else if (waits)
        return false;
    }
    place.now = last;
    ++place.meetings;
    return true;
  }

  const std::vector<Executable> &parts;
  size_t program;
  std::vector<std::vector<Tie>> ties; ///< by part, kernel
  std::vector<Place> places;
  std::map<std::pair<size_t, size_t>, std::vector<int64_t>> sent; ///< by sender and receiver: when
  std::map<std::pair<size_t, size_t>, size_t> received;
  bool waits = true;
};

} // namespace

std::vector<std::vector<int64_t>> startTimesOf(const std::vector<Executable> &parts, size_t program) {
  return Clocks(parts, program).run();
}

} // namespace weft
