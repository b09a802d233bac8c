//===- TestObjects.h - The shared objects of tests ------------------------===//
#ifndef WEFT_TESTS_UNIT_OBJECT_TESTOBJECTS_H
#define WEFT_TESTS_UNIT_OBJECT_TESTOBJECTS_H

#include <fstream>
#include <iterator>
#include <string>

namespace weft::testing {

/// The bytes of an object that tests/unit/object/CMakeLists.txt has built.
inline std::string objectBytes(const std::string &name) {
  std::ifstream file(WEFT_TEST_OBJECTS "/" + name + ".so", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

} // namespace weft::testing

#endif // WEFT_TESTS_UNIT_OBJECT_TESTOBJECTS_H
