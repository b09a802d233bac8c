//===- DrawPlacement.cpp - Which rank holds what, as a picture --------------------===//
//
// A row per tensor, a picture per place, a tile per rank: the tile is the whole tensor (the two of its
// dimensions that are split most), and what the rank holds of it is filled.
//
//===----------------------------------------------------------------------===//
#include "compiler/DrawPlacement.h"

#include "dialects/dist/Placement.h"
#include "dialects/nn/NnDialect.h"
#include "dialects/nn/NnOps.h"
#include "passes/place/Place.h"
#include "runtime/executable/Mesh.h"
#include "runtime/support/SvgCanvas.h"

#include "llvm/ADT/MapVector.h"

#include <fnmatch.h>
#include <map>

using namespace mlir;

namespace weft {
namespace {
using dist::Placement;

constexpr double kTile = 30, kGap = 5, kMargin = 16, kNameWidth = 300, kRowGap = 26;
constexpr int64_t kTilesPerLine = 8;
constexpr const char *kColors[] = {"#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#3ca951", "#ff8ab7",
                                   "#a463f2", "#97bbf5", "#9c6b4e", "#9498a0", "#2f4b7c", "#d45087",
                                   "#f95d6a", "#665191", "#00876c", "#c2a5cf"};

struct Picture {
  std::string title;
  Placement placement;
};

struct Row {
  std::string name;
  SmallVector<int64_t> shape;
  std::vector<Picture> pictures;
};

Mesh meshOf(dist::MeshAttr attribute) {
  Mesh mesh;
  for (auto [name, size] : llvm::zip_equal(attribute.getNames(), attribute.getSizes()))
    mesh.axes.push_back({name.getValue().str(), static_cast<uint32_t>(size)});
  return mesh;
}

TensorPlacement tensorPlacement(ArrayRef<int64_t> shape, const Placement &placement) {
  TensorPlacement result{{shape.begin(), shape.end()}, {}};
  for (const dist::Split &split : placement.splits)
    result.dimensions.push_back({{split.axes.begin(), split.axes.end()}, split.zigzag});
  return result;
}

bool matchesAny(const std::vector<std::string> &patterns, const std::string &name) {
  return llvm::any_of(
      patterns, [&](const std::string &pattern) { return fnmatch(pattern.c_str(), name.c_str(), 0) == 0; });
}

class Drawing {
public:
  Drawing(ModuleOp module, dist::MeshAttr attribute) : module(module), mesh(meshOf(attribute)) {}

  void collect(const std::vector<std::string> &patterns) {
    llvm::StringMap<Placement> gradients;
    for (auto step : module.getOps<nn::StepOp>()) {
      auto carry = cast<nn::CarryOp>(step.getMicrobatch().front().getTerminator());
      for (auto [attribute, value] : llvm::zip_equal(carry.getNames(), carry.getValues()))
        if (StringRef name = cast<StringAttr>(attribute).getValue(); name.consume_front("gradient/"))
          gradients.try_emplace(name.rsplit('/').first, dist::placementOf(value));
    }
    for (auto parameter : module.getOps<nn::ParameterOp>()) {
      auto type = cast<RankedTensorType>(parameter.getType());
      auto use = parameter->getAttrOfType<dist::PlacementAttr>(kUseAttribute);
      if (!matchesAny(patterns, parameter.getSymName().str()))
        continue;
      Row row{parameter.getSymName().str(), SmallVector<int64_t>(type.getShape()), {}};
      row.pictures.push_back({"stored", dist::placementOf(type)});
      if (use)
        row.pictures.push_back({"used", dist::placementOf(use)});
      if (auto gradient = gradients.find(parameter.getSymName()); gradient != gradients.end())
        row.pictures.push_back({"gradient", gradient->second});
      rows.push_back(std::move(row));
    }
    module.walk([&](nn::BoundaryOp boundary) {
      std::string name = "boundary " + std::to_string(boundary.getLayer());
      RankedTensorType type = nn::tensorType(boundary.getResult());
      if (!boundary.getBackward() && isa<nn::StepOp>(boundary->getParentOp()) && matchesAny(patterns, name))
        rows.push_back(
            {name, SmallVector<int64_t>(type.getShape()), {{"activation", dist::placementOf(type)}}});
    });
  }

  std::string draw() {
    int64_t perLine = std::min<int64_t>(mesh.ranks(), kTilesPerLine);
    double pictureWidth = static_cast<double>(perLine) * (kTile + kGap) + kMargin;
    double pictureHeight =
        static_cast<double>((mesh.ranks() + perLine - 1) / perLine) * (kTile + kGap) + kRowGap;
    double width = kMargin + kNameWidth + 3 * pictureWidth + kMargin;
    double height = 2 * kMargin + kRowGap + static_cast<double>(rows.size()) * pictureHeight;
    SvgCanvas canvas(width, height);
    canvas.text({kMargin, kMargin + 8}, title(), {.size = 14, .bold = true});
    double y = kMargin + kRowGap + 14;
    for (const Row &row : rows) {
      canvas.text({kMargin, y + 12}, row.name, {.size = 12});
      canvas.text({kMargin, y + 28}, shapeText(row.shape), {.size = 11, .color = "#777777"});
      double x = kMargin + kNameWidth;
      for (const Picture &picture : row.pictures) {
        drawPicture(canvas, {x, y}, row, picture, perLine);
        x += pictureWidth;
      }
      y += pictureHeight;
    }
    return canvas.finish();
  }

private:
  std::string title() const {
    std::string text = std::to_string(mesh.ranks()) + " ranks:";
    for (const MeshAxis &axis : mesh.axes)
      text += " " + axis.name + " = " + std::to_string(axis.size);
    return text;
  }

  static std::string shapeText(ArrayRef<int64_t> shape) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    llvm::interleave(shape, stream, " x ");
    return text;
  }

  /// The dimensions to draw, down and across: those that some picture splits come first.
  static std::pair<int64_t, int64_t> axesToDraw(const Row &row) {
    SmallVector<int64_t> order;
    for (bool split : {true, false})
      for (int64_t dimension = 0; dimension < static_cast<int64_t>(row.shape.size()); ++dimension)
        if (split == llvm::any_of(row.pictures, [&](const Picture &picture) {
              return !picture.placement.splits[dimension].axes.empty();
            }))
          order.push_back(dimension);
    order.resize(std::min<size_t>(order.size(), 2));
    llvm::sort(order);
    order.resize(2, -1);
    return {order[0], order[1]};
  }

  void drawPicture(SvgCanvas &canvas, SvgPoint at, const Row &row, const Picture &picture, int64_t perLine) {
    canvas.text({at.x, at.y - 4}, picture.title + "  " + dist::describe(picture.placement),
                {.size = 10, .color = "#777777"});
    auto [down, across] = axesToDraw(row);
    TensorPlacement placement = tensorPlacement(row.shape, picture.placement);
    std::map<std::vector<std::pair<int64_t, int64_t>>, size_t>
        colors; // in the order of the first rank of each part
    for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
      std::vector<std::vector<Extent>> parts;
      std::vector<std::pair<int64_t, int64_t>> key;
      for (auto [size, split] : llvm::zip_equal(placement.globalShape, placement.dimensions)) {
        parts.push_back(stretchesOf(mesh, rank, size, split));
        for (const Extent &stretch : parts.back())
          key.emplace_back(stretch.start, stretch.valid);
      }
      size_t color = colors.try_emplace(key, colors.size()).first->second % std::size(kColors);
      SvgPoint corner{at.x + static_cast<double>(rank % perLine) * (kTile + kGap),
                      at.y + static_cast<double>(rank / perLine) * (kTile + kGap)};
      auto spans = [&](int64_t dimension) {
        std::vector<std::pair<double, double>> spans;
        if (dimension < 0 || row.shape[dimension] == 0)
          return std::vector{std::pair(0.0, kTile)};
        double scale = kTile / static_cast<double>(row.shape[dimension]);
        for (const Extent &stretch : parts[dimension])
          spans.emplace_back(static_cast<double>(stretch.start) * scale,
                             static_cast<double>(stretch.valid) * scale);
        return spans;
      };
      canvas.rectangle(corner, kTile, kTile, "#e8e8e8", 1);
      for (auto [top, tall] : spans(down))
        for (auto [left, wide] : spans(across))
          canvas.rectangle({corner.x + left, corner.y + top}, wide, tall, kColors[color],
                           picture.placement.isPending() ? 0.4 : 1);
      if (picture.placement.isPending())
        canvas.text({corner.x + kTile / 2, corner.y + kTile / 2 + 5}, "+",
                    {.size = 14, .anchor = SvgAnchor::Middle, .bold = true});
    }
  }

  ModuleOp module;
  Mesh mesh;
  std::vector<Row> rows;
};
} // namespace

std::string drawPlacement(ModuleOp module, const std::vector<std::string> &patterns) {
  auto attribute = module->getAttrOfType<dist::MeshAttr>(dist::kMeshAttribute);
  Drawing drawing(module, attribute ? attribute
                                    : dist::MeshAttr::get(module.getContext(), {}, {},
                                                          DictionaryAttr::get(module.getContext())));
  if (attribute)
    drawing.collect(patterns);
  return drawing.draw();
}

} // namespace weft
