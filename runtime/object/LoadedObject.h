//===- LoadedObject.h - Generated kernels in this process -----------------===//
//
// An object that readObject() accepts, mapped by the system's loader from memory: a sealed memfd, whose
// descriptor stays open as long as the object is loaded, since the loader knows objects by their path
// (/proc/self/fd/N), which must mean no other one meanwhile. Equal objects are loaded once in a process:
// virtual ranks share theirs.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_OBJECT_LOADEDOBJECT_H
#define WEFT_RUNTIME_OBJECT_LOADEDOBJECT_H

#include "kernels/common/GeneratedKernel.h"

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

class LoadedObject {
public:
  /// Fails as readObject() does. FailedPrecondition, with what helps, when the system does not let this
  /// process have code from memory; ResourceExhausted when the memory is not there. Safe to call from any
  /// thread.
  static absl::StatusOr<std::shared_ptr<const LoadedObject>> load(std::string_view bytes);

  /// Unloads it: none of its functions may be called any more.
  ~LoadedObject();
  LoadedObject(const LoadedObject &) = delete;
  LoadedObject &operator=(const LoadedObject &) = delete;

  /// Null when it defines no function of this name.
  GeneratedFunction *find(const std::string &symbol) const;

private:
  LoadedObject() = default;
  absl::Status fill(std::string_view bytes);
  absl::Status open(const std::vector<std::string> &names);
  std::string_view bytes() const { return {static_cast<const char *>(image), size}; }

  int descriptor = -1;
  void *image = nullptr; ///< its bytes, as they are in the memfd
  size_t size = 0;
  void *handle = nullptr;
  absl::flat_hash_map<std::string, GeneratedFunction *> functions;
};

} // namespace weft

#endif // WEFT_RUNTIME_OBJECT_LOADEDOBJECT_H
