#include "tools/weft-trials/TrainExecutable.h"

#include "runtime/support/ExitCode.h"

#include "absl/strings/str_cat.h"

#include <cstdio>

namespace weft::trials {

TrainRequest requestFor(const std::string &file, const std::string &name) {
  TrainRequest request;
  request.file = file;
  request.name = name;
  request.compile = [file](const CompileRequest &) {
    return withExitCode(absl::InvalidArgumentError(
                            absl::StrCat(file, ": this trial takes an executable: weft compile makes one")),
                        ExitCode::Config);
  };
  return request;
}

int train(const TrainRequest &request) {
  const absl::Status status = trainRun(request);
  if (!status.message().empty())
    std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
  return static_cast<int>(exitCodeOf(status));
}

} // namespace weft::trials
