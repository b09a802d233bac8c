//===- Meetings.h - Collectives between programs of a pipeline --------------===//
//
// A collective over the pipeline axes has its operands in several programs. The k-th of one program meets the
// k-th of the others; it is computed when the last of them has come.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_INTERPRET_MEETINGS_H
#define WEFT_COMPILER_INTERPRET_MEETINGS_H

#include "compiler/interpret/Ranks.h"

#include <map>

namespace weft::interpret {

/// Whether the op is a collective over pipeline axes of the mesh.
bool isMeeting(mlir::Operation *op, const Ranks &ranks);

struct Meeting {
  std::map<int64_t, mlir::Operation *> starts; ///< of the pipeline ranks that have come
  MeshValue operand;                           ///< what each rank brings; null where it has not come
  MeshValue result;                            ///< what each rank gets; empty until all have come
};

class Meetings {
public:
  explicit Meetings(const Ranks &ranks) : ranks(ranks), attended(ranks.pipelineRanks()) {}

  /// Pipeline rank `own` comes to its next collective, `start`. Fails, with a diagnostic, when the others
  /// meet for something else, or if the collective cannot be computed.
  mlir::FailureOr<std::shared_ptr<Meeting>> come(mlir::Operation *start, int64_t own,
                                                 const MeshValue &operand, Types types);

  /// Who has not come: `pipeline ranks 1, 2`.
  std::string absent(const Meeting &meeting) const;

private:
  const Ranks &ranks;
  std::vector<std::shared_ptr<Meeting>> meetings;
  std::vector<size_t> attended; ///< by each pipeline rank
};

} // namespace weft::interpret

#endif // WEFT_COMPILER_INTERPRET_MEETINGS_H
