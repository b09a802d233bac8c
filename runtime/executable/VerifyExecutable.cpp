#include "kernels/collective/Collective.h"
#include "runtime/executable/PlanRules.h"
#include "runtime/executable/Verify.h"

#include "absl/container/flat_hash_set.h"

#include <algorithm>
#include <cmath>

namespace weft {

absl::StatusOr<uint64_t> checkedBytes(const TensorType &type) {
  if (type.dtype > DType::F64)
    return broken("unknown element type ", static_cast<int>(type.dtype));
  if (type.shape.size() > kMaximumRank)
    return broken("rank ", type.shape.size(), ", at most ", kMaximumRank, " is allowed");
  uint64_t bytes = static_cast<uint64_t>(byteSize(type.dtype));
  for (int64_t size : type.shape) {
    if (size < 1)
      return broken(type.str(), " has a dimension of size ", size, ", sizes start at 1");
    if (static_cast<uint64_t>(size) > kMaximumBytes / bytes)
      return broken(type.str(), " is larger than 2^56 bytes");
    bytes *= static_cast<uint64_t>(size);
  }
  return bytes;
}

absl::Status checkRange(const MemoryPlan &plan, const Range &range, bool inSlot) {
  const Reference &reference = range.reference;
  if (reference.base >= plan.bases.size())
    return broken("base ", reference.base, " of ", plan.bases.size());
  const MemoryBase &base = plan.bases[reference.base];
  if (reference.offset % kAlignment != 0)
    return broken("offset ", reference.offset, " in base '", base.name, "' is not a multiple of ",
                  kAlignment);
  if (base.within != kNone && !inSlot)
    return broken("base '", base.name, "' is one value per microbatch, which actions per microbatch reach");
  uint64_t limit = inSlot ? base.slotBytes : base.bytes();
  if (reference.offset > limit || range.bytes > limit - reference.offset)
    return broken(range.bytes, " bytes at offset ", reference.offset, " pass the end of ",
                  inSlot ? "a slot of " : "", "base '", base.name, "' (", limit, " bytes)");
  return absl::OkStatus();
}

namespace {

absl::Status verifyBase(const MemoryBase &base) {
  if (static_cast<uint8_t>(base.kind) >= kBaseKinds)
    return broken("base '", base.name, "': unknown kind ", static_cast<int>(base.kind));
  if (base.slotCount < 1)
    return broken("base '", base.name, "': slot_count is 0, a base has at least 1 slot");
  if (base.slotBytes % kAlignment != 0)
    return broken("base '", base.name, "': slot_bytes ", base.slotBytes, " is not a multiple of ",
                  kAlignment);
  if (base.slotBytes > kMaximumBytes / base.slotCount)
    return broken("base '", base.name, "': larger than 2^56 bytes");
  bool isConstants = base.kind == BaseKind::Constants;
  if (isConstants && base.slotCount != 1)
    return broken("base '", base.name, "': constants have 1 slot, not ", base.slotCount);
  uint64_t expected = isConstants ? base.slotBytes : 0;
  if (base.contents.size() != expected)
    return broken("base '", base.name, "': ", base.contents.size(), " bytes of contents, expected ",
                  expected);
  return absl::OkStatus();
}

/// A base within a region: what its slots may be, each by itself. That no two share bytes while both are
/// needed, verifyInFlight() says.
absl::Status verifyWithin(const MemoryPlan &plan, const MemoryBase &base) {
  if (base.within == kNone)
    return base.offsets.empty() ? absl::OkStatus()
                                : broken("base '", base.name, "': ", base.offsets.size(),
                                         " offsets, but it lies within no other base");
  if (base.within >= plan.bases.size())
    return broken("base '", base.name, "': lies within base ", base.within, " of ", plan.bases.size());
  const MemoryBase &region = plan.bases[base.within];
  if (base.kind != BaseKind::Slots || region.kind != BaseKind::Slots)
    return broken("base '", base.name, "' of kind ", std::string(name(base.kind)), " lies within base '",
                  region.name, "' of kind ", std::string(name(region.kind)), ", both must be slots");
  if (region.within != kNone || region.slotCount != 1)
    return broken("base '", base.name, "' lies within base '", region.name,
                  "', which must have 1 slot and lie within no other base");
  if (base.offsets.size() != base.slotCount)
    return broken("base '", base.name, "': ", base.offsets.size(), " offsets for ", base.slotCount, " slots");
  for (uint64_t offset : base.offsets) {
    if (offset % kAlignment != 0)
      return broken("base '", base.name, "': offset ", offset, " in base '", region.name,
                    "' is not a multiple of ", kAlignment);
    if (offset > region.slotBytes || base.slotBytes > region.slotBytes - offset)
      return broken("base '", base.name, "': ", base.slotBytes, " bytes at offset ", offset,
                    " pass the end of base '", region.name, "' (", region.slotBytes, " bytes)");
  }
  return absl::OkStatus();
}

/// A snapshot has the layout of the parameters, so there is one of each.
absl::Status verifySnapshot(const MemoryPlan &plan) {
  const MemoryBase *snapshot = nullptr;
  uint64_t parameters = 0, bases = 0;
  for (const MemoryBase &base : plan.bases) {
    if (base.kind == BaseKind::Parameters) {
      parameters = base.bytes();
      ++bases;
    }
    if (base.kind != BaseKind::Snapshot)
      continue;
    if (snapshot != nullptr)
      return broken("base '", base.name, "': a second snapshot beside '", snapshot->name, "'");
    snapshot = &base;
  }
  if (snapshot != nullptr && (bases != 1 || snapshot->bytes() != parameters))
    return broken("base '", snapshot->name, "': ", snapshot->bytes(),
                  " bytes, and the one base of parameters that it is a copy of would have ", parameters);
  return absl::OkStatus();
}

absl::Status verifyMemory(const MemoryPlan &plan) {
  absl::flat_hash_set<std::string> names;
  uint64_t total = 0;
  for (const MemoryBase &base : plan.bases) {
    if (absl::Status status = verifyBase(base); !status.ok())
      return status;
    if (base.name.empty() || !names.insert(base.name).second)
      return broken("base '", base.name, "': names of bases must be unique and not empty");
    total += base.bytes();
    if (total > kMaximumBytes)
      return broken("base '", base.name, "': with it the plan is larger than 2^56 bytes");
  }
  for (const MemoryBase &base : plan.bases)
    if (absl::Status status = verifyWithin(plan, base); !status.ok())
      return status;
  if (absl::Status status = verifySnapshot(plan); !status.ok())
    return status;
  uint64_t inside = 0, outside = 0;
  for (const MemoryRow &row : plan.rows) {
    uint64_t &sum = row.outsideArena ? outside : inside;
    if (row.bytes > kMaximumBytes - sum)
      return broken("memory row ", row.category, " '", row.name,
                    "': with it the table is larger than 2^56 bytes");
    sum += row.bytes;
  }
  if (inside != total)
    return broken("memory: the rows inside the arena add up to ", inside, " bytes, the bases to ", total);
  return absl::OkStatus();
}

absl::Status verifyInitializer(const Variable &variable) {
  const Initializer &initializer = variable.initializer;
  if (static_cast<uint8_t>(initializer.kind) >= kInitializerKinds)
    return broken("variable '", variable.name, "': unknown initializer ", static_cast<int>(initializer.kind));
  std::string kind(name(initializer.kind));
  const std::vector<double> &numbers = initializer.numbers;
  if (numbers.size() != initializerNumbers(initializer.kind))
    return broken("variable '", variable.name, "': initializer ", kind, " takes ",
                  initializerNumbers(initializer.kind), " numbers, not ", numbers.size());
  if (!std::all_of(numbers.begin(), numbers.end(), [](double number) { return std::isfinite(number); }))
    return broken("variable '", variable.name, "': initializer ", kind, " has a number that is not finite");
  bool isNormal =
      initializer.kind == InitializerKind::Normal || initializer.kind == InitializerKind::TruncatedNormal;
  if (isNormal && numbers[1] < 0)
    return broken("variable '", variable.name, "': initializer ", kind, " has standard deviation ",
                  numbers[1]);
  bool isBounded =
      initializer.kind == InitializerKind::TruncatedNormal || initializer.kind == InitializerKind::Uniform;
  if (isBounded && numbers[numbers.size() - 2] > numbers.back())
    return broken("variable '", variable.name, "': initializer ", kind, " has lowest value ",
                  numbers[numbers.size() - 2], " above highest value ", numbers.back());
  return absl::OkStatus();
}

/// Checks that no two of `ranges`, of named things, share memory.
template <typename Named>
absl::Status verifyApart(std::vector<std::pair<Range, const Named *>> &ranges, const char *what) {
  std::sort(ranges.begin(), ranges.end(), [](const auto &left, const auto &right) {
    const Reference &a = left.first.reference, &b = right.first.reference;
    return std::pair(a.base, a.offset) < std::pair(b.base, b.offset);
  });
  for (size_t i = 1; i < ranges.size(); ++i)
    if (ranges[i - 1].first.overlaps(ranges[i].first))
      return broken(what, " '", ranges[i - 1].second->name, "' and '", ranges[i].second->name,
                    "' share memory");
  return absl::OkStatus();
}

absl::Status verifyVariables(const Executable &executable) {
  absl::flat_hash_set<std::string> names, checkpointNames;
  std::vector<std::pair<Range, const Variable *>> ranges;
  for (const Variable &variable : executable.variables) {
    std::string what = absl::StrCat("variable '", variable.name, "'");
    if (variable.name.empty() || !names.insert(variable.name).second)
      return broken(what, ": names of variables must be unique and not empty");
    if (variable.checkpointName.empty() || !checkpointNames.insert(variable.checkpointName).second)
      return broken(what, ": checkpoint name '", variable.checkpointName, "' must be unique and not empty");
    absl::StatusOr<uint64_t> bytes = checkedBytes(variable.type);
    if (!bytes.ok())
      return broken(what, ": ", bytes.status().message());
    Range range{variable.reference, *bytes};
    if (absl::Status status = checkRange(executable.memory, range, false); !status.ok())
      return broken(what, ": ", status.message());
    const MemoryBase &base = executable.memory.bases[variable.reference.base];
    if (base.kind != BaseKind::Parameters)
      return broken(what, ": base '", base.name, "' is of kind ", std::string(name(base.kind)),
                    ", variables live in parameters");
    if (absl::Status status = checkPlacement(executable.mesh, variable.placement, variable.type);
        !status.ok())
      return broken(what, ": ", status.message());
    for (const DimensionSplit &split : variable.placement.dimensions)
      if (split.zigzag)
        return broken(what, ": it is stored in zigzag; the parts of variables are contiguous");
    if (absl::Status status = verifyInitializer(variable); !status.ok())
      return status;
    if (variable.pipelineOwner >= executable.mesh.pipelineRanks())
      return broken(what, ": it belongs to pipeline rank ", variable.pipelineOwner, " of ",
                    executable.mesh.pipelineRanks());
    ranges.push_back({range, &variable});
  }
  return verifyApart(ranges, "variables");
}

absl::Status verifyCaches(const Executable &executable) {
  absl::flat_hash_set<std::string> names;
  std::vector<std::pair<Range, const Cache *>> ranges;
  for (const Cache &cache : executable.caches) {
    std::string what = absl::StrCat("cache '", cache.name, "'");
    if (cache.name.empty() || !names.insert(cache.name).second)
      return broken(what, ": names of caches must be unique and not empty");
    absl::StatusOr<uint64_t> bytes = checkedBytes(cache.type);
    if (!bytes.ok())
      return broken(what, ": ", bytes.status().message());
    Range range{cache.reference, *bytes};
    if (absl::Status status = checkRange(executable.memory, range, false); !status.ok())
      return broken(what, ": ", status.message());
    const MemoryBase &base = executable.memory.bases[cache.reference.base];
    if (base.kind != BaseKind::Step)
      return broken(what, ": base '", base.name, "' is of kind ", std::string(name(base.kind)),
                    ", caches live in step");
    ranges.push_back({range, &cache});
  }
  return verifyApart(ranges, "caches");
}

/// Ranks send to each other along the pipeline: those that run one executable have the same peer there.
absl::Status verifyPeer(const Mesh &mesh, const KernelCall &call) {
  if (!lineStepOf(call.name))
    return absl::OkStatus();
  const std::span<const uint32_t> pipeline = mesh.axesOf(kPipelineRole);
  const absl::StatusOr<std::vector<int64_t>> axes = call.integers("axes");
  if (!axes.ok() || !std::equal(axes->begin(), axes->end(), pipeline.begin(), pipeline.end()))
    return broken("its axes are not those of the role pipeline");
  const int64_t peer = call.integerOr("peer", -1), ranks = mesh.sizeOf(pipeline);
  return peer >= 0 && peer < ranks ? absl::OkStatus()
                                   : broken("peer ", peer, " is none of ", ranks, " pipeline ranks");
}

absl::StatusOr<std::vector<uint64_t>> verifyKernel(const Mesh &mesh, const KernelEntry &kernel,
                                                   size_t index) {
  std::string what = absl::StrCat("kernel ", index, " '", kernel.call.name, "'");
  if (kernel.call.name.empty())
    return broken(what, ": a kernel has a name");
  if (kernel.workspaceBytes > kMaximumBytes)
    return broken(what, ": workspace of ", kernel.workspaceBytes, " bytes, at most 2^56 are allowed");
  std::vector<uint64_t> sizes;
  for (const std::vector<TensorType> *types : {&kernel.call.operands, &kernel.call.results})
    for (const TensorType &type : *types) {
      absl::StatusOr<uint64_t> bytes = checkedBytes(type);
      if (!bytes.ok())
        return broken(what, ": ", bytes.status().message());
      sizes.push_back(*bytes);
    }
  auto axes = kernel.call.attributes.find("axes");
  if (isRankKernel(kernel.call.name) && axes != kernel.call.attributes.end())
    if (absl::Status status = checkAxes<int64_t>(mesh, axes->second.integers); !status.ok())
      return broken(what, ": ", status.message());
  if (absl::Status status = verifyPeer(mesh, kernel.call); !status.ok())
    return broken(what, ": ", status.message());
  return sizes;
}

} // namespace

absl::Status verify(const Executable &executable) {
  if (executable.target.instructionSet.empty())
    return broken("target: no instruction set is named");
  if (absl::Status status = verifyMesh(executable.mesh); !status.ok())
    return status;
  if (absl::Status status = verifyMemory(executable.memory); !status.ok())
    return status;
  if (absl::Status status = verifyVariables(executable); !status.ok())
    return status;
  if (absl::Status status = verifyCaches(executable); !status.ok())
    return status;
  std::vector<std::vector<uint64_t>> kernelBytes;
  for (size_t i = 0; i < executable.kernels.size(); ++i) {
    absl::StatusOr<std::vector<uint64_t>> bytes = verifyKernel(executable.mesh, executable.kernels[i], i);
    if (!bytes.ok())
      return bytes.status();
    kernelBytes.push_back(*std::move(bytes));
  }
  if (absl::Status status = verifyObject(executable); !status.ok())
    return status;
  absl::flat_hash_set<std::string> names;
  for (const Program &program : executable.programs) {
    if (program.name.empty() || program.name.size() > 255 || !names.insert(program.name).second)
      return broken("program '", program.name.substr(0, 255),
                    "': names of programs must be unique and 1 to 255 bytes long");
    if (absl::Status status = verifyProgram(executable, program, kernelBytes); !status.ok())
      return status;
  }
  return absl::OkStatus();
}

} // namespace weft
