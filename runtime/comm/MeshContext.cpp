#include "runtime/comm/MeshContext.h"

#include "absl/strings/str_cat.h"

namespace weft {
namespace {

class MeshContext final : public RankContext {
public:
  MeshContext(Mesh meshOfRanks, Communicator &ofRank) : mesh(std::move(meshOfRanks)), communicator(ofRank) {}

  int64_t rank() const override { return communicator.rank(); }
  uint32_t axisCount() const override { return static_cast<uint32_t>(mesh.axes.size()); }
  int64_t axisSize(uint32_t axis) const override { return mesh.axes[axis].size; }
  int64_t size(std::span<const uint32_t> axes) const override { return mesh.sizeOf(axes); }
  int64_t index(std::span<const uint32_t> axes) const override { return mesh.indexOf(rank(), axes); }
  absl::StatusOr<std::shared_ptr<Exchange>> exchange(std::span<const uint32_t> axes) const override {
    return communicator.exchange(mesh.group(rank(), axes));
  }
  absl::StatusOr<std::shared_ptr<Line>> line(std::span<const uint32_t> axes, int64_t index) const override {
    return communicator.line(mesh.group(rank(), axes)[static_cast<size_t>(index)]);
  }
  absl::Status status() const override { return communicator.exchangeStatus(); }

private:
  Mesh mesh;
  Communicator &communicator;
};

} // namespace

absl::StatusOr<std::unique_ptr<RankContext>> createRankContext(Mesh mesh, Communicator &communicator) {
  if (mesh.ranks() != communicator.size())
    return absl::InvalidArgumentError(
        absl::StrCat("a mesh of ", mesh.ranks(), " ranks, and a communicator of ", communicator.size()));
  return std::make_unique<MeshContext>(std::move(mesh), communicator);
}

} // namespace weft
