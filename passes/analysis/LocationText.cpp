#include "passes/analysis/LocationText.h"

#include "llvm/ADT/Twine.h"

using namespace mlir;

namespace weft {

std::string locationText(Location location) {
  if (auto name = dyn_cast<NameLoc>(location))
    return name.getName().str();
  if (auto fused = dyn_cast<FusedLoc>(location)) {
    std::string text;
    for (Location part : fused.getLocations())
      if (std::string inner = locationText(part); !inner.empty())
        text += (text.empty() ? "" : " + ") + inner;
    return text;
  }
  if (auto file = dyn_cast<FileLineColLoc>(location))
    return (file.getFilename().getValue() + ":" + Twine(file.getLine())).str();
  return "";
}

} // namespace weft
