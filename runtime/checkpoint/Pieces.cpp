//===- Pieces.cpp - A tensor as boxes that lie in files -------------------===//
//
// Boxes inside the shape that do not overlap, and whose elements add up to the tensor's, cover it exactly.
// Overlap is looked for along the dimension with the most distinct offsets: a box meets only those that begin
// before it ends, so a grid of n boxes costs far fewer than n * n comparisons.
//
//===----------------------------------------------------------------------===//
#include "runtime/checkpoint/Pieces.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <algorithm>
#include <cstring>
#include <set>

namespace weft::checkpoint {
namespace {
bool overlap(const Slice &a, const Slice &b) {
  for (size_t d = 0; d < a.offset.size(); ++d)
    if (a.offset[d] + a.size[d] <= b.offset[d] || b.offset[d] + b.size[d] <= a.offset[d])
      return false;
  return true;
}

size_t mostDividedDimension(size_t rank, const std::vector<const Slice *> &slices) {
  size_t best = 0, bestCount = 0;
  for (size_t d = 0; d < rank; ++d) {
    std::set<int64_t> offsets;
    for (const Slice *slice : slices)
      offsets.insert(slice->offset[d]);
    if (offsets.size() > bestCount) {
      best = d;
      bestCount = offsets.size();
    }
  }
  return best;
}

std::string overlapAmong(size_t rank, std::vector<const Slice *> slices) {
  if (rank == 0)
    return slices.size() > 1 ? "a scalar is stored twice" : "";
  const size_t d = mostDividedDimension(rank, slices);
  std::sort(slices.begin(), slices.end(),
            [d](const Slice *a, const Slice *b) { return a->offset[d] < b->offset[d]; });
  for (size_t i = 0; i < slices.size(); ++i)
    for (size_t j = i + 1; j < slices.size(); ++j) {
      if (slices[j]->offset[d] >= slices[i]->offset[d] + slices[i]->size[d])
        break;
      if (overlap(*slices[i], *slices[j]))
        return absl::StrCat("slices ", slices[i]->str(), " and ", slices[j]->str(), " overlap");
    }
  return "";
}
} // namespace

int64_t Slice::elements() const {
  int64_t count = 1;
  for (int64_t length : size)
    count *= length;
  return count;
}

std::string Slice::str() const {
  std::vector<std::string> ranges;
  for (size_t d = 0; d < offset.size(); ++d)
    ranges.push_back(absl::StrCat(offset[d], "+", size[d]));
  return absl::StrCat("[", absl::StrJoin(ranges, ", "), "]");
}

Slice wholeSlice(const std::vector<int64_t> &shape) { return {std::vector<int64_t>(shape.size(), 0), shape}; }

std::string checkInside(const std::vector<int64_t> &shape, const Slice &slice) {
  if (slice.offset.size() != shape.size() || slice.size.size() != shape.size())
    return absl::StrCat("a slice has ", slice.offset.size(), " dimensions, the tensor ", shape.size());
  for (size_t d = 0; d < shape.size(); ++d)
    if (slice.offset[d] < 0 || slice.size[d] < 0 || slice.offset[d] > shape[d] ||
        slice.size[d] > shape[d] - slice.offset[d])
      return absl::StrCat("slice ", slice.str(), " lies outside of the tensor");
  return "";
}

std::string checkCover(const std::vector<int64_t> &shape, const std::vector<Slice> &slices) {
  std::vector<const Slice *> filled;
  int64_t covered = 0;
  for (const Slice &slice : slices) {
    if (std::string problem = checkInside(shape, slice); !problem.empty())
      return problem;
    if (slice.elements() == 0)
      continue;
    filled.push_back(&slice);
    // Cannot overflow before the overlap of two slices is certain: each has at most as many as the tensor.
    if (__builtin_add_overflow(covered, slice.elements(), &covered))
      return "its slices overlap";
  }
  if (std::string problem = overlapAmong(shape.size(), std::move(filled)); !problem.empty())
    return problem;
  const int64_t elements = wholeSlice(shape).elements();
  return covered == elements ? "" : absl::StrCat("its slices hold ", covered, " of ", elements, " elements");
}

Slice intersection(const Slice &a, const Slice &b) {
  Slice common;
  for (size_t d = 0; d < a.offset.size(); ++d) {
    const int64_t begin = std::max(a.offset[d], b.offset[d]);
    const int64_t end = std::min(a.offset[d] + a.size[d], b.offset[d] + b.size[d]);
    common.offset.push_back(begin);
    common.size.push_back(std::max<int64_t>(end - begin, 0));
  }
  return common;
}

/// Bytes from one element of each dimension to the next.
static std::vector<int64_t> stridesOf(const std::vector<int64_t> &shape, int64_t elementBytes) {
  std::vector<int64_t> strides(shape.size(), elementBytes);
  for (size_t d = shape.size(); d-- > 1;)
    strides[d - 1] = strides[d] * shape[d];
  return strides;
}

bool isCutOf(const std::vector<int64_t> &fine, const std::vector<int64_t> &coarse) {
  if (fine == coarse)
    return true;
  size_t at = 0;
  for (int64_t size : coarse) {
    int64_t product = 1;
    while (product < size && at < fine.size())
      product *= fine[at++];
    if (product != size)
      return false;
  }
  while (at < fine.size() && fine[at] == 1)
    ++at;
  return at == fine.size();
}

BoxWalk::BoxWalk(int64_t elementBytes, std::vector<int64_t> boxSize, const BoxPlace &from, const BoxPlace &to)
    : size(std::move(boxSize)), fromStride(stridesOf(from.shape, elementBytes)),
      toStride(stridesOf(to.shape, elementBytes)), inner(size.size()) {
  current.bytes = elementBytes;
  // Trailing dimensions that both tensors have whole form one run with the last one that either cuts.
  while (inner > 0) {
    --inner;
    current.bytes *= size[inner];
    if (size[inner] != from.shape[inner] || size[inner] != to.shape[inner])
      break;
  }
  for (size_t d = 0; d < size.size(); ++d) {
    finished |= size[d] == 0;
    current.from += from.offset[d] * fromStride[d];
    current.to += to.offset[d] * toStride[d];
  }
  at.assign(inner, 0);
  first = current;
}

bool BoxWalk::next(Run &run) {
  if (finished)
    return false;
  run = current;
  size_t d = inner;
  while (d > 0) {
    --d;
    current.from += fromStride[d];
    current.to += toStride[d];
    if (++at[d] < size[d])
      return true;
    current.from -= size[d] * fromStride[d];
    current.to -= size[d] * toStride[d];
    at[d] = 0;
  }
  finished = true;
  return true;
}

void BoxWalk::seek(int64_t from) {
  if (finished || from < current.from + current.bytes)
    return;
  // The last run that begins at or before `from`: what one step of a dimension skips holds all steps of the
  // later ones, so its digits are the quotients, major to minor, each the largest that there is.
  int64_t left = from - first.from;
  current = first;
  for (size_t d = 0; d < inner; ++d) {
    at[d] = std::min(left / fromStride[d], size[d] - 1);
    left -= at[d] * fromStride[d];
    current.from += at[d] * fromStride[d];
    current.to += at[d] * toStride[d];
  }
  if (Run passed; current.from + current.bytes <= from)
    next(passed);
}

void copyBox(int64_t elementBytes, const std::vector<int64_t> &size, const std::byte *from,
             const BoxPlace &fromPlace, std::byte *to, const BoxPlace &toPlace) {
  BoxWalk walk(elementBytes, size, fromPlace, toPlace);
  for (BoxWalk::Run run; walk.next(run);)
    std::memcpy(to + run.to, from + run.from, static_cast<size_t>(run.bytes));
}

} // namespace weft::checkpoint
