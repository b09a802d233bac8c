//===- MachineHardware.cpp - Processor and memory of this machine ---------===//
//
// Read from /proc and /sys. Of the processor's flags those count that the kernel lists: it leaves out what
// the operating system does not save on a task switch.
//
//===----------------------------------------------------------------------===//
#include "tools/weft/MachineReport.h"

#include <sched.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <limits>
#include <set>
#include <sstream>
#include <utility>

namespace weft {

namespace fs = std::filesystem;

static std::string readText(const fs::path &path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

static std::string trimmed(std::string_view text) {
  size_t first = text.find_first_not_of(" \t\n");
  if (first == std::string_view::npos)
    return {};
  return std::string(text.substr(first, text.find_last_not_of(" \t\n") - first + 1));
}

/// `bytes` in GiB with one digit.
static std::string gibibytes(double bytes) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f GiB", bytes / (1024.0 * 1024.0 * 1024.0));
  return text;
}

namespace {
/// What /proc/cpuinfo says; empty when it is not there.
struct ProcessorInfo {
  std::string model;
  std::set<std::string> flags;
  int threads = 0;
  /// (package, core) of each physical core.
  std::set<std::pair<std::string, std::string>> cores;
};
} // namespace

static ProcessorInfo readProcessorInfo(const fs::path &root) {
  ProcessorInfo info;
  std::istringstream lines(readText(root / "proc/cpuinfo"));
  std::string line, package;
  while (std::getline(lines, line)) {
    size_t colon = line.find(':');
    if (colon == std::string::npos)
      continue;
    std::string key = trimmed(std::string_view(line).substr(0, colon));
    std::string value = trimmed(std::string_view(line).substr(colon + 1));
    if (key == "processor")
      ++info.threads;
    else if (key == "model name")
      info.model = value;
    else if (key == "physical id")
      package = value;
    else if (key == "core id")
      info.cores.emplace(package, value);
    else if (key == "flags" && info.flags.empty()) {
      std::istringstream words(value);
      info.flags.insert(std::istream_iterator<std::string>(words), std::istream_iterator<std::string>());
    }
  }
  return info;
}

static bool hasAll(const std::set<std::string> &flags, std::initializer_list<const char *> wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const char *flag) { return flags.count(flag) != 0; });
}

/// The highest instruction set that kernels are built for and that the processor runs; empty below AVX2.
static std::string instructionSet(const std::set<std::string> &flags) {
  if (!hasAll(flags, {"avx2", "fma", "f16c", "bmi2"}))
    return {};
  if (!hasAll(flags, {"avx512f", "avx512bw", "avx512vl", "avx512dq", "avx512cd"}))
    return "AVX2";
  if (!hasAll(flags, {"avx512_bf16"}))
    return "AVX512";
  return hasAll(flags, {"amx_tile", "amx_int8", "amx_bf16"}) ? "AMX_BF16" : "AVX512_BF16";
}

static Finding instructionSetFinding(const std::set<std::string> &flags) {
  std::string set = instructionSet(flags);
  if (set.empty())
    return {"processor",
            "instruction set",
            "",
            Presence::Required,
            "kernels need AVX2, FMA, F16C and BMI2: use a processor of 2013 or later, or let the virtual "
            "machine pass "
            "the host's processor through",
            ""};
  std::string extensions;
  for (const char *flag : {"avx512_vnni", "avx512_fp16"})
    if (flags.count(flag))
      extensions += std::string(extensions.empty() ? "" : " ") + flag;
  return {"processor",
          "instruction set",
          set + (extensions.empty() ? "" : " (also " + extensions + ")"),
          Presence::Found,
          "",
          ""};
}

/// CPUs that this process may run on, as ranges: "0-3,8".
static std::string affinityRanges(int &count) {
  cpu_set_t set;
  CPU_ZERO(&set);
  count = 0;
  if (sched_getaffinity(0, sizeof(set), &set) != 0)
    return {};
  std::string ranges;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &set))
      continue;
    int last = cpu;
    while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, &set))
      ++last;
    count += last - cpu + 1;
    ranges += (ranges.empty() ? "" : ",") + std::to_string(cpu);
    if (last > cpu)
      ranges += "-" + std::to_string(last);
    cpu = last;
  }
  return ranges;
}

/// Folders of the control groups of this process below /sys/fs/cgroup, from its own to the root (version 2).
static std::vector<fs::path> controlGroups(const fs::path &root) {
  std::istringstream lines(readText(root / "proc/self/cgroup"));
  std::string line;
  fs::path relative;
  while (std::getline(lines, line))
    if (line.rfind("0::/", 0) == 0)
      relative = line.substr(4);
  std::vector<fs::path> folders;
  const fs::path top = root / "sys/fs/cgroup";
  for (;; relative = relative.parent_path()) {
    folders.push_back(relative.empty() ? top : top / relative);
    if (relative.empty())
      return folders;
  }
}

/// The smallest memory limit of the control groups in bytes, or infinity.
static double memoryLimit(const fs::path &root) {
  double limit = std::numeric_limits<double>::infinity();
  for (const fs::path &folder : controlGroups(root))
    for (const char *name : {"memory.max", "memory/memory.limit_in_bytes"}) {
      std::string text = trimmed(readText(folder / name));
      char *end = nullptr;
      double bytes = std::strtod(text.c_str(), &end);
      // Version 1 says "no limit" with a number near 2^63.
      if (!text.empty() && *end == '\0' && bytes < 0x1p60)
        limit = std::min(limit, bytes);
    }
  return limit;
}

/// CPUs' worth of time that the control groups allow, or infinity.
static double processorQuota(const fs::path &root) {
  double quota = std::numeric_limits<double>::infinity();
  for (const fs::path &folder : controlGroups(root)) {
    std::istringstream words(readText(folder / "cpu.max"));
    double microseconds = 0, period = 0;
    if (words >> microseconds >> period && period > 0)
      quota = std::min(quota, microseconds / period);
  }
  return quota;
}

static std::string numaNodes(const fs::path &root) {
  int nodes = 0;
  std::error_code error;
  for (const auto &entry : fs::directory_iterator(root / "sys/devices/system/node", error)) {
    std::string name = entry.path().filename();
    nodes += name.size() > 4 && name.rfind("node", 0) == 0 &&
             name.find_first_not_of("0123456789", 4) == std::string::npos;
  }
  return nodes == 0 ? std::string() : std::to_string(nodes);
}

std::vector<Finding> examineProcessor(const fs::path &root) {
  ProcessorInfo info = readProcessorInfo(root);
  std::vector<Finding> findings;
  findings.push_back(
      {"processor", "model", info.model.empty() ? "unknown" : info.model, Presence::Found, "", ""});
  findings.push_back(instructionSetFinding(info.flags));
  int cores = static_cast<int>(info.cores.size());
  findings.push_back({"processor", "cores",
                      (cores == 0 ? std::string() : std::to_string(cores) + " cores, ") +
                          std::to_string(info.threads) + " hardware threads",
                      Presence::Found, "", ""});
  int usable = 0;
  std::string ranges = affinityRanges(usable);
  findings.push_back({"processor", "affinity", std::to_string(usable) + " usable (" + ranges + ")",
                      Presence::Found, "", ""});
  double quota = processorQuota(root);
  if (quota < std::numeric_limits<double>::infinity()) {
    char text[64];
    std::snprintf(text, sizeof(text), "%.1f CPUs (control group)", quota);
    findings.push_back({"processor", "quota", text, Presence::Found, "", ""});
  }
  std::string nodes = numaNodes(root);
  if (!nodes.empty())
    findings.push_back({"processor", "NUMA nodes", nodes, Presence::Found, "", ""});
  return findings;
}

/// A row of /proc/meminfo in bytes, or -1. Rows count in kB, but for numbers of huge pages.
static double meminfo(const std::string &text, const std::string &key) {
  std::istringstream lines(text);
  std::string line;
  while (std::getline(lines, line)) {
    if (line.rfind(key + ":", 0) != 0)
      continue;
    std::istringstream words(line.substr(key.size() + 1));
    double number = -1;
    std::string unit;
    words >> number >> unit;
    return unit == "kB" ? number * 1024 : number;
  }
  return -1;
}

/// The word in brackets of a file such as "always [madvise] never".
static std::string chosenWord(const std::string &text) {
  size_t open = text.find('['), close = text.find(']');
  return open == std::string::npos || close == std::string::npos ? std::string()
                                                                 : text.substr(open + 1, close - open - 1);
}

std::vector<Finding> examineMemory(const fs::path &root) {
  std::string text = readText(root / "proc/meminfo");
  auto amount = [&](const char *key) {
    double bytes = meminfo(text, key);
    return bytes < 0 ? std::string("unknown") : gibibytes(bytes);
  };
  std::vector<Finding> findings;
  findings.push_back({"memory", "total", amount("MemTotal"), Presence::Found, "", ""});
  findings.push_back({"memory", "available", amount("MemAvailable"), Presence::Found, "", ""});
  double limit = memoryLimit(root);
  findings.push_back({"memory", "control group limit",
                      limit < std::numeric_limits<double>::infinity() ? gibibytes(limit) : "none",
                      Presence::Found, "", ""});
  std::string transparent = chosenWord(readText(root / "sys/kernel/mm/transparent_hugepage/enabled"));
  double reserved = meminfo(text, "HugePages_Total");
  findings.push_back({"memory", "huge pages",
                      "transparent: " + (transparent.empty() ? "not supported" : transparent) +
                          (reserved > 0 ? ", reserved: " + std::to_string(static_cast<long>(reserved)) : ""),
                      Presence::Found, "", ""});
  struct statvfs shared;
  if (statvfs((root / "dev/shm").c_str(), &shared) == 0)
    findings.push_back(
        {"memory", "shared (/dev/shm)",
         gibibytes(static_cast<double>(shared.f_bavail) * static_cast<double>(shared.f_frsize)) + " free",
         Presence::Found, "", ""});
  return findings;
}

} // namespace weft
