//===- Attributes.cpp - Meshes and encodings: text and checks -----------------===//
#include "dialects/dist/DistDialect.h"
#include "dialects/dist/Placement.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace weft::dist;

#define GET_ATTRDEF_CLASSES
#include "dialects/dist/DistAttributes.cpp.inc"

void DistDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/dist/DistAttributes.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// mesh
//===----------------------------------------------------------------------===//

int64_t MeshAttr::getRanks() const {
  int64_t ranks = 1;
  for (int64_t size : getSizes())
    ranks *= size;
  return ranks;
}

int64_t MeshAttr::indexOf(StringRef name) const {
  for (auto [index, known] : llvm::enumerate(getNames()))
    if (known.getValue() == name)
      return static_cast<int64_t>(index);
  return -1;
}

ArrayRef<int64_t> MeshAttr::axesOf(StringRef role) const {
  auto axes = getRoles().getAs<DenseI64ArrayAttr>(role);
  return axes ? axes.asArrayRef() : ArrayRef<int64_t>();
}

int64_t MeshAttr::sizeOf(ArrayRef<int64_t> axes) const {
  int64_t product = 1;
  for (int64_t axis : axes)
    product *= getSizes()[axis];
  return product;
}

LogicalResult MeshAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, ArrayRef<StringAttr> names,
                               ArrayRef<int64_t> sizes, DictionaryAttr roles) {
  constexpr uint64_t kMostRanks = uint64_t(1) << 31;
  if (names.size() != sizes.size())
    return emitError() << "expects one size per axis of a mesh";
  llvm::StringSet<> seen;
  uint64_t ranks = 1;
  for (auto [name, size] : llvm::zip_equal(names, sizes)) {
    if (!seen.insert(name.getValue()).second)
      return emitError() << "mesh has the axis " << name.getValue() << " twice";
    if (size < 1)
      return emitError() << "mesh axis " << name.getValue() << " has size " << size << "; at least 1";
    ranks = llvm::SaturatingMultiply(ranks, static_cast<uint64_t>(size));
  }
  if (ranks > kMostRanks)
    return emitError() << "mesh has more than 2^31 ranks";
  for (NamedAttribute role : roles) {
    auto axes = dyn_cast<DenseI64ArrayAttr>(role.getValue());
    if (!axes)
      return emitError() << "mesh role " << role.getName() << " is not a list of axes";
    for (int64_t axis : axes.asArrayRef())
      if (axis < 0 || axis >= static_cast<int64_t>(names.size()))
        return emitError() << "mesh role " << role.getName() << " names an axis that there is not";
  }
  return success();
}

namespace {
/// `[a, b]`, names of the mesh's axes.
ParseResult parseAxes(AsmParser &parser, MeshAttr mesh, Axes &axes) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
    StringRef name;
    SMLoc location = parser.getCurrentLocation();
    if (parser.parseKeyword(&name))
      return failure();
    int64_t index = mesh.indexOf(name);
    if (index < 0)
      return parser.emitError(location) << "the mesh has no axis " << name;
    axes.push_back(index);
    return success();
  });
}

void printAxes(AsmPrinter &printer, MeshAttr mesh, ArrayRef<int64_t> axes) {
  printer << describe(mesh, axes);
}
} // namespace

Attribute MeshAttr::parse(AsmParser &parser, Type) {
  SmallVector<StringAttr> names;
  SmallVector<int64_t> sizes;
  SmallVector<NamedAttribute> roles;
  Builder builder(parser.getContext());
  auto parseAxis = [&]() -> ParseResult {
    StringRef name;
    int64_t size;
    if (parser.parseKeyword(&name) || parser.parseEqual() || parser.parseInteger(size))
      return failure();
    names.push_back(builder.getStringAttr(name));
    sizes.push_back(size);
    return success();
  };
  auto parseRole = [&]() -> ParseResult {
    StringRef name;
    Axes axes;
    if (parser.parseKeyword(&name) || parser.parseEqual() ||
        parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
          StringRef axis;
          SMLoc location = parser.getCurrentLocation();
          if (parser.parseKeyword(&axis))
            return failure();
          auto found = llvm::find_if(names, [&](StringAttr known) { return known.getValue() == axis; });
          if (found == names.end())
            return parser.emitError(location) << "the mesh has no axis " << axis;
          axes.push_back(found - names.begin());
          return success();
        }))
      return failure();
    roles.push_back(builder.getNamedAttr(name, builder.getDenseI64ArrayAttr(axes)));
    return success();
  };
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseLess())
    return {};
  if (failed(parser.parseOptionalGreater())) {
    if (parser.parseCommaSeparatedList(parseAxis))
      return {};
    if (succeeded(parser.parseOptionalColon()) && parser.parseCommaSeparatedList(parseRole))
      return {};
    if (parser.parseGreater())
      return {};
  }
  llvm::StringSet<> seen;
  for (NamedAttribute role : roles)
    if (!seen.insert(role.getName().getValue()).second) {
      parser.emitError(location) << "mesh has the role " << role.getName() << " twice";
      return {};
    }
  return parser.getChecked<MeshAttr>(location, parser.getContext(), names, sizes,
                                     builder.getDictionaryAttr(roles));
}

void MeshAttr::print(AsmPrinter &printer) const {
  printer << "<";
  llvm::interleaveComma(llvm::zip_equal(getNames(), getSizes()), printer, [&](auto axis) {
    printer << std::get<0>(axis).getValue() << " = " << std::get<1>(axis);
  });
  if (!getRoles().empty()) {
    printer << " : ";
    llvm::interleaveComma(getRoles(), printer, [&](NamedAttribute role) {
      printer << role.getName().getValue() << " = ";
      printAxes(printer, *this, cast<DenseI64ArrayAttr>(role.getValue()).asArrayRef());
    });
  }
  printer << ">";
}

//===----------------------------------------------------------------------===//
// at
//===----------------------------------------------------------------------===//

LogicalResult PlacementAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, MeshAttr mesh,
                                    ArrayRef<int64_t> ends, ArrayRef<int64_t> axes, ArrayRef<int64_t> zigzag,
                                    ArrayRef<int64_t> sum, ArrayRef<int64_t> max, ArrayRef<int64_t> lse,
                                    ArrayRef<int64_t> tree) {
  if (!mesh)
    return emitError() << "placement without a mesh";
  SmallVector<bool> used(mesh.getSizes().size());
  for (ArrayRef<int64_t> list : {axes, sum, max, lse, tree})
    for (int64_t axis : list) {
      if (axis < 0 || axis >= static_cast<int64_t>(used.size()))
        return emitError() << "placement names an axis that the mesh does not have";
      if (used[axis])
        return emitError() << "placement names the axis " << mesh.getNames()[axis].getValue() << " twice";
      used[axis] = true;
    }
  for (ArrayRef<int64_t> list : {sum, max, lse, tree})
    if (!llvm::is_sorted(list))
      return emitError() << "pending axes are listed in the order of the mesh";
  for (int64_t axis : tree)
    if (!llvm::isPowerOf2_64(static_cast<uint64_t>(mesh.getSizes()[axis])))
      return emitError() << "a tree over " << mesh.getNames()[axis].getValue() << " of "
                         << mesh.getSizes()[axis]
                         << " ranks has no halves: sizes that are powers of two have";
  int64_t last = 0;
  for (int64_t end : ends) {
    if (end < last)
      return emitError() << "placement with dimensions out of order";
    last = end;
  }
  if (last != static_cast<int64_t>(axes.size()))
    return emitError() << "placement with axes of no dimension";
  for (int64_t dimension : zigzag)
    if (dimension < 0 || dimension >= static_cast<int64_t>(ends.size()))
      return emitError() << "zigzag in a dimension that there is not";
  for (int64_t dimension : zigzag)
    if (ends[dimension] == (dimension == 0 ? 0 : ends[dimension - 1]))
      return emitError() << "zigzag of dimension " << dimension << ", which no axis splits";
  return success();
}

namespace {
/// The lists behind the mesh: `[d0], zigzag [c0], sum [t0]`.
ParseResult parseLists(AsmParser &parser, Placement &placement) {
  while (succeeded(parser.parseOptionalComma())) {
    Axes axes;
    const auto *kind = llvm::find_if(kPendingKinds, [&](PendingKind kind) {
      return succeeded(parser.parseOptionalKeyword(stringifyPendingKind(kind)));
    });
    bool isDimension = kind == kPendingKinds.end();
    bool zigzag = isDimension && succeeded(parser.parseOptionalKeyword("zigzag"));
    SMLoc location = parser.getCurrentLocation();
    if (parseAxes(parser, placement.mesh, axes))
      return failure();
    if (isDimension) {
      if (placement.isPending())
        return parser.emitError(location) << "the lists of dimensions come before sum, max, lse and tree";
      placement.splits.push_back({axes, zigzag});
      continue;
    }
    Axes &pending = placement.pending(*kind);
    if (!pending.empty() || axes.empty())
      return parser.emitError(location) << "expects one list of pending axes, which is not empty";
    llvm::sort(axes);
    pending = axes;
  }
  return success();
}

void printLists(AsmPrinter &printer, const Placement &placement) {
  for (const Split &split : placement.splits) {
    printer << (split.zigzag ? ", zigzag " : ", ");
    printAxes(printer, placement.mesh, split.axes);
  }
  for (PendingKind kind : kPendingKinds)
    if (const Axes &axes = placement.pending(kind); !axes.empty()) {
      printer << ", " << stringifyPendingKind(kind) << " ";
      printAxes(printer, placement.mesh, axes);
    }
}

ParseResult parseMesh(AsmParser &parser, MeshAttr &mesh) { return parser.parseAttribute(mesh); }
} // namespace

Attribute PlacementAttr::parse(AsmParser &parser, Type) {
  Placement placement;
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseLess() || parseMesh(parser, placement.mesh) || parseLists(parser, placement) ||
      parser.parseGreater())
    return {};
  return attributeOf(placement, [&] { return parser.emitError(location); });
}

namespace weft::dist {
PlacementAttr attributeOf(const Placement &placement, llvm::function_ref<InFlightDiagnostic()> emitError) {
  SmallVector<int64_t> ends, axes, zigzag;
  for (auto [index, split] : llvm::enumerate(placement.splits)) {
    llvm::append_range(axes, split.axes);
    ends.push_back(static_cast<int64_t>(axes.size()));
    if (split.zigzag)
      zigzag.push_back(static_cast<int64_t>(index));
  }
  MLIRContext *context = placement.mesh.getContext();
  if (emitError)
    return PlacementAttr::getChecked(emitError, context, placement.mesh, ends, axes, zigzag, placement.sum,
                                     placement.max, placement.lse, placement.tree);
  return PlacementAttr::get(context, placement.mesh, ends, axes, zigzag, placement.sum, placement.max,
                            placement.lse, placement.tree);
}

Placement placementOf(PlacementAttr attribute) {
  Placement placement;
  placement.mesh = attribute.getMesh();
  int64_t begin = 0;
  for (auto [index, end] : llvm::enumerate(attribute.getEnds())) {
    ArrayRef<int64_t> axes = attribute.getAxes().slice(begin, end - begin);
    placement.splits.push_back(
        {Axes(axes), llvm::is_contained(attribute.getZigzag(), static_cast<int64_t>(index))});
    begin = end;
  }
  placement.sum = Axes(attribute.getSum());
  placement.max = Axes(attribute.getMax());
  placement.lse = Axes(attribute.getLse());
  placement.tree = Axes(attribute.getTree());
  return placement;
}
} // namespace weft::dist

namespace {

LogicalResult verifyElement(const Placement &placement, Type element,
                            llvm::function_ref<InFlightDiagnostic()> emitError) {
  if (!placement.sum.empty() && element.isInteger(1))
    return emitError() << "i1 has no sum; nn.cast makes it an integer";
  if (!placement.tree.empty() && !isa<FloatType>(element))
    return emitError() << "a tree fixes how additions are rounded, and those of " << element
                       << " are exact: a plain sum is the same";
  return success();
}

LogicalResult verifyDimensions(const Placement &placement, ArrayRef<int64_t> whole,
                               llvm::function_ref<InFlightDiagnostic()> emitError) {
  if (placement.splits.size() != whole.size())
    return emitError() << "expects one list of axes per dimension: placement " << describe(placement)
                       << " for " << whole.size() << " dimensions";
  for (auto [index, split] : llvm::enumerate(placement.splits))
    if (split.zigzag && whole[index] % (2 * placement.mesh.sizeOf(split.axes)) != 0)
      return emitError() << "zigzag over " << describe(placement.mesh, split.axes)
                         << " does not divide dimension " << index << " (" << whole[index]
                         << "); a multiple of " << 2 * placement.mesh.sizeOf(split.axes) << " does";
  return success();
}
} // namespace

void PlacementAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printer.printAttribute(getMesh());
  printLists(printer, placementOf(*this));
  printer << ">";
}

LogicalResult PlacementAttr::verifyEncoding(ArrayRef<int64_t> shape, Type element,
                                            llvm::function_ref<InFlightDiagnostic()> emitError) const {
  Placement placement = placementOf(*this);
  return failed(verifyElement(placement, element, emitError)) ? failure()
                                                              : verifyDimensions(placement, shape, emitError);
}

//===----------------------------------------------------------------------===//
// local
//===----------------------------------------------------------------------===//

LogicalResult LocalAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                                ArrayRef<int64_t> wholeShape, PlacementAttr placement) {
  for (int64_t size : wholeShape)
    if (size < 0)
      return emitError() << "expects static sizes of the whole tensor";
  return verifyDimensions(placementOf(placement), wholeShape, emitError);
}

Attribute LocalAttr::parse(AsmParser &parser, Type) {
  Placement placement;
  SmallVector<int64_t> whole;
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseLess() || parseMesh(parser, placement.mesh))
    return {};
  // A scalar has no sizes: its pending lists follow at once.
  if (succeeded(parser.parseOptionalComma())) {
    if (succeeded(parser.parseOptionalKeyword("scalar"))) {
      if (parseLists(parser, placement))
        return {};
    } else if (parser.parseDimensionList(whole, /*allowDynamic=*/false, /*withTrailingX=*/false) ||
               parseLists(parser, placement)) {
      return {};
    }
  }
  if (parser.parseGreater())
    return {};
  PlacementAttr attribute = attributeOf(placement, [&] { return parser.emitError(location); });
  return attribute ? parser.getChecked<LocalAttr>(location, parser.getContext(), whole, attribute)
                   : Attribute();
}

void LocalAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printer.printAttribute(getPlacement().getMesh());
  printer << ", ";
  if (getWholeShape().empty())
    printer << "scalar";
  else
    printer.printDimensionList(getWholeShape());
  printLists(printer, placementOf(getPlacement()));
  printer << ">";
}

LogicalResult LocalAttr::verifyEncoding(ArrayRef<int64_t> shape, Type element,
                                        llvm::function_ref<InFlightDiagnostic()> emitError) const {
  Placement placement = placementOf(getPlacement());
  if (failed(verifyElement(placement, element, emitError)))
    return failure();
  if (SmallVector<int64_t> wanted = partShape(getWholeShape(), placement);
      ArrayRef<int64_t>(wanted) != shape) {
    InFlightDiagnostic error = emitError() << "expects the part of a rank, ";
    llvm::interleave(wanted, error, "x");
    error << ", of the whole ";
    llvm::interleave(getWholeShape(), error, "x");
    return error << " at " << describe(placement);
  }
  return success();
}

namespace weft::dist {
Placement placementOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  Attribute encoding = tensor ? tensor.getEncoding() : Attribute();
  if (auto placement = dyn_cast_or_null<PlacementAttr>(encoding))
    return placementOf(placement);
  if (auto local = dyn_cast_or_null<LocalAttr>(encoding))
    return placementOf(local.getPlacement());
  return {};
}
} // namespace weft::dist
