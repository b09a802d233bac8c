//===- MachineSoftware.cpp - GPUs, libraries and programs that are here ---===//
//
// Libraries are loaded and asked for their versions; a program is found, not started. Loading happens now and
// with dlopen, so `weft doctor` itself runs where none of them is installed.
//
//===----------------------------------------------------------------------===//
#include "tools/weft/MachineReport.h"

#include "hwy/highway.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <initializer_list>
#include <sstream>

namespace weft {

namespace fs = std::filesystem;

namespace {
/// A shared library, loaded as long as this lives.
class Library {
public:
  explicit Library(const char *name) : handle(dlopen(name, RTLD_NOW | RTLD_LOCAL)) {}
  Library(const Library &) = delete;
  Library &operator=(const Library &) = delete;
  ~Library() {
    if (handle)
      dlclose(handle);
  }
  explicit operator bool() const { return handle != nullptr; }

  /// The function of this name as a pointer of the given type, or null.
  template <typename Function> Function function(const char *name) const {
    return handle ? reinterpret_cast<Function>(dlsym(handle, name)) : nullptr;
  }

private:
  void *handle;
};

/// What is called of the CUDA driver: all return 0 on success. Types as in cuda.h.
struct CudaDriver {
  explicit CudaDriver(const Library &library)
      : init(library.function<int (*)(unsigned)>("cuInit")),
        driverVersion(library.function<int (*)(int *)>("cuDriverGetVersion")),
        deviceCount(library.function<int (*)(int *)>("cuDeviceGetCount")),
        deviceName(library.function<int (*)(char *, int, int)>("cuDeviceGetName")),
        deviceMemory(library.function<int (*)(size_t *, int)>("cuDeviceTotalMem_v2")),
        deviceAttribute(library.function<int (*)(int *, int, int)>("cuDeviceGetAttribute")) {}
  bool complete() const {
    return init && driverVersion && deviceCount && deviceName && deviceMemory && deviceAttribute;
  }
  int (*init)(unsigned);
  int (*driverVersion)(int *);
  int (*deviceCount)(int *);
  int (*deviceName)(char *, int, int);
  int (*deviceMemory)(size_t *, int);
  int (*deviceAttribute)(int *, int, int);
};

/// CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR and _MINOR.
constexpr int capabilityMajor = 75, capabilityMinor = 76;
} // namespace

static Finding gpuFinding(const CudaDriver &driver, int device) {
  char name[128] = "unknown";
  size_t bytes = 0;
  int major = 0, minor = 0;
  driver.deviceName(name, sizeof(name), device);
  driver.deviceMemory(&bytes, device);
  driver.deviceAttribute(&major, capabilityMajor, device);
  driver.deviceAttribute(&minor, capabilityMinor, device);
  char text[256];
  std::snprintf(text, sizeof(text), "%s, %.1f GiB, compute capability %d.%d", name,
                static_cast<double>(bytes) / (1024.0 * 1024.0 * 1024.0), major, minor);
  return {"GPUs", "GPU " + std::to_string(device), text, Presence::Found, "", ""};
}

std::vector<Finding> examineGpus() {
  Library library("libcuda.so.1");
  if (!library)
    return {{"GPUs", "NVIDIA driver", "", Presence::Absent, "GPUs: libcuda.so.1 was not found",
             "apt-get install nvidia-driver"}};
  CudaDriver driver(library);
  int status = driver.complete() ? driver.init(0) : -1;
  if (status != 0)
    return {{"GPUs", "NVIDIA driver", "", Presence::Absent,
             "GPUs: the driver library is there, but cuInit gives error " + std::to_string(status) +
                 " (is the kernel module loaded, and the device visible in this container?)",
             ""}};
  int version = 0, count = 0;
  driver.driverVersion(&version);
  driver.deviceCount(&count);
  std::vector<Finding> findings = {
      {"GPUs", "NVIDIA driver",
       "CUDA " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10), Presence::Found,
       "", ""}};
  for (int device = 0; device < count; ++device)
    findings.push_back(gpuFinding(driver, device));
  return findings;
}

/// oneDNN's dnnl_version_t begins with three ints: major, minor, patch.
static Finding oneDnnFinding() {
  Library library("libdnnl.so.2");
  auto version = library.function<const int *(*)()>("dnnl_version");
  if (!version)
    return {"libraries",
            "oneDNN",
            "",
            Presence::Required,
            "matrix products on the CPU",
            "apt-get install libdnnl2"};
  const int *numbers = version();
  std::ostringstream text;
  text << numbers[0] << '.' << numbers[1] << '.' << numbers[2];
  return {"libraries", "oneDNN", text.str(), Presence::Found, "", ""};
}

static Finding highwayFinding() {
  if (!Library("libhwy.so.1"))
    return {"libraries", "Highway", "", Presence::Required, "vector kernels", "apt-get install libhwy1"};
  std::ostringstream text;
  text << HWY_MAJOR << '.' << HWY_MINOR << '.' << HWY_PATCH;
  return {"libraries", "Highway", text.str(), Presence::Found, "", ""};
}

/// MPI names itself in a buffer of MPI_MAX_LIBRARY_VERSION_STRING (256 in Open MPI, 8192 in MPICH)
/// characters.
static Finding mpiFinding() {
  const char *purpose = "several processes or machines (launch.comm: mpi)";
  for (const char *name : {"libmpi.so.40", "libmpich.so.12"}) {
    Library library(name);
    auto version = library.function<int (*)(char *, int *)>("MPI_Get_library_version");
    if (!version)
      continue;
    std::string text(8192, '\0');
    int length = 0;
    if (version(text.data(), &length) != 0)
      continue;
    text.resize(text.find_first_of(std::string_view(",\n\0", 3)));
    return {"libraries", "MPI", text, Presence::Found, "", ""};
  }
  return {"libraries", "MPI", "", Presence::Absent, purpose, "apt-get install openmpi-bin"};
}

static Finding mlirFinding() {
  for (const char *name : {"libMLIR.so.22.1", "/usr/lib/llvm-22/lib/libMLIR.so.22.1"})
    if (access(name, R_OK) == 0 || (name[0] != '/' && Library(name)))
      return {"libraries", "MLIR", "22.1", Presence::Found, "", ""};
  return {"libraries",
          "MLIR",
          "",
          Presence::Absent,
          "compiling (not needed to run a compiled program)",
          "apt-get install libmlir-22"};
}

std::vector<Finding> examineLibraries() {
  return {oneDnnFinding(), highwayFinding(), mpiFinding(), mlirFinding()};
}

/// The full path of the first of `names` that is executable, in `beside` or on the search path; empty when
/// none is.
static std::string findProgram(std::initializer_list<const char *> names, const std::string &searchPath,
                               const fs::path &beside = {}) {
  for (const char *name : names) {
    if (!beside.empty() && access((beside / name).c_str(), X_OK) == 0)
      return beside / name;
    std::istringstream folders(searchPath);
    std::string folder;
    while (std::getline(folders, folder, ':'))
      if (!folder.empty() && access((fs::path(folder) / name).c_str(), X_OK) == 0)
        return fs::path(folder) / name;
  }
  return {};
}

static Finding programFinding(std::string name, std::string path, std::string purpose, std::string install) {
  Presence presence = path.empty() ? Presence::Absent : Presence::Found;
  return {"programs", std::move(name), std::move(path), presence, std::move(purpose), std::move(install)};
}

std::vector<Finding> examinePrograms(const std::string &searchPath) {
  std::error_code error;
  fs::path self = fs::read_symlink("/proc/self/exe", error);
  return {
      programFinding("weft-compile", findProgram({"weft-compile"}, searchPath, self.parent_path()),
                     "training from a run file (not needed for a compiled program)",
                     "apt-get install weft-compiler, or scripts/build.sh in a checkout"),
      programFinding("ld.lld", findProgram({"ld.lld-22", "ld.lld"}, searchPath), "generated kernels",
                     "apt-get install lld-22"),
      programFinding("mpirun", findProgram({"mpirun", "mpiexec"}, searchPath), "starting several processes",
                     "apt-get install openmpi-bin"),
      programFinding("nvidia-smi", findProgram({"nvidia-smi"}, searchPath), "watching NVIDIA GPUs",
                     "apt-get install nvidia-smi"),
  };
}

} // namespace weft
