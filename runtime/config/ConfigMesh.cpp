//===- ConfigMesh.cpp - The mesh that a config asks for -------------------===//
//
// Axes are numbered by direction, from 0; a size of 1 has no prime factors, and so no axis.
//
//===----------------------------------------------------------------------===//
#include "runtime/config/ConfigMesh.h"

#include <algorithm>
#include <string>

namespace weft {

std::vector<uint32_t> primeFactors(int64_t number) {
  std::vector<uint32_t> factors;
  for (int64_t factor = 2; factor <= number / factor; ++factor)
    for (; number % factor == 0; number /= factor)
      factors.push_back(static_cast<uint32_t>(factor));
  if (number > 1)
    factors.push_back(static_cast<uint32_t>(number));
  std::reverse(factors.begin(), factors.end());
  return factors;
}

Mesh meshOf(const Config &config) {
  Mesh mesh;
  if (config.parallel.ranks() == 1)
    return mesh;
  auto addAxes = [&](char letter, int64_t size) {
    std::vector<uint32_t> added;
    for (uint32_t factor : primeFactors(size)) {
      std::string name = letter + std::to_string(added.size());
      added.push_back(static_cast<uint32_t>(mesh.axes.size()));
      mesh.axes.push_back({std::move(name), factor});
    }
    return added;
  };
  const std::vector<uint32_t> pipeline = addAxes('p', config.parallel.pipeline.size);
  const std::vector<uint32_t> replicate = addAxes('r', config.parallel.dataReplicate);
  const std::vector<uint32_t> shard = addAxes('d', config.parallel.dataShard);
  const std::vector<uint32_t> context = addAxes('c', config.parallel.context.size);
  const std::vector<uint32_t> tensor = addAxes('t', config.parallel.tensor);
  std::vector<uint32_t> data = replicate;
  data.insert(data.end(), shard.begin(), shard.end());
  mesh.roles = {{"data", data}, {"data_replicate", replicate}, {"data_shard", shard}, {"tensor", tensor}};
  if (!context.empty())
    mesh.roles.push_back({"context", context});
  if (!pipeline.empty())
    mesh.roles.push_back({"pipeline", pipeline});
  return mesh;
}

} // namespace weft
