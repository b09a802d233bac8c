# The two kinds of library of the house. A target is named after its folder: runtime/config -> WeftRuntimeConfig.
#
#   weft_add_library(NAME sources... DEPENDS targets...)        no MLIR header may be seen
#   weft_add_mlir_library(NAME sources... DEPENDS targets...)   with MLIR, and its precompiled header
#   weft_add_executable(NAME sources... DEPENDS targets...)     NAME is the file name of the program
#   weft_add_unit_test(NAME sources... DEPENDS targets...)      a GoogleTest program known to ctest
#   weft_add_fuzzer(NAME sources... DEPENDS targets... CORPUS folders...)   a test that replays the corpus, and with
#                                                              -DWEFT_BUILD_FUZZERS=ON a libFuzzer program

add_library(WeftOptions INTERFACE)
# Whoever uses the installed package gets the headers, C++20, and none of our warnings.
target_include_directories(WeftOptions INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
  $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}> $<INSTALL_INTERFACE:include/weft>)
target_compile_features(WeftOptions INTERFACE cxx_std_20)
target_compile_options(WeftOptions INTERFACE
  "$<BUILD_INTERFACE:-Wall;-Wextra;-Wno-unused-parameter;-Werror=return-type>")
target_compile_definitions(WeftOptions INTERFACE $<BUILD_INTERFACE:WEFT_VERSION="${PROJECT_VERSION}">)
if(WEFT_SANITIZE)
  target_compile_options(WeftOptions INTERFACE -fsanitize=${WEFT_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(WeftOptions INTERFACE -fsanitize=${WEFT_SANITIZE})
endif()
if(WEFT_BUILD_FUZZERS)
  # Every library gives coverage to the fuzzer that links it.
  target_compile_options(WeftOptions INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_link_options(WeftOptions INTERFACE $<BUILD_INTERFACE:-fuse-ld=lld>)
endif()

# Sets `result` to the libraries and programs that a folder and those below it define.
function(weft_targets_below folder result)
  get_property(found DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  get_property(below DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(next ${below})
    weft_targets_below(${next} more)
    list(APPEND found ${more})
  endforeach()
  set(${result} ${found} PARENT_SCOPE)
endfunction()

function(weft_add_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC WeftOptions ${ARG_DEPENDS})
endfunction()

function(weft_use_mlir name)
  target_include_directories(${name} SYSTEM PUBLIC ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
  target_compile_definitions(${name} PUBLIC ${WEFT_LLVM_DEFINITIONS})
  target_link_libraries(${name} PUBLIC MLIR LLVM)
endfunction()

# A precompiled header that many targets share, and the object file `name` that it belongs to: HEADERS are files of cmake/,
# DEPENDS the targets whose headers they include, of these PACKAGES. With a compiler other than clang there is none.
function(weft_add_precompiled_header name)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "HEADERS;DEPENDS;PACKAGES" ${ARGN})
  file(WRITE ${PROJECT_BINARY_DIR}/cmake/${name}.cpp "")
  add_library(${name} STATIC ${PROJECT_BINARY_DIR}/cmake/${name}.cpp)
  target_link_libraries(${name} PUBLIC WeftOptions ${ARG_DEPENDS})
  # Found through the include path, so that the file that CMake writes is the same in every checkout.
  list(TRANSFORM ARG_HEADERS REPLACE "(.+)" "<cmake/\\1>" OUTPUT_VARIABLE includes)
  target_precompile_headers(${name} PRIVATE ${includes})
  list(TRANSFORM ARG_HEADERS PREPEND ${PROJECT_SOURCE_DIR}/cmake/)
  weft_write_pch_checksum(${name} HEADERS ${ARG_HEADERS} PACKAGES ${ARG_PACKAGES})
endfunction()

# What REUSE_FROM would do, with a path relative to the build folder, where Ninja compiles: ccache does not rewrite the
# absolute paths of CMake's own spelling, and would miss in every other checkout.
function(weft_use_precompiled_header name precompiled)
  get_target_property(isWithout ${name} DISABLE_PRECOMPILE_HEADERS)
  if(isWithout OR NOT TARGET ${precompiled})
    return()
  endif()
  set(header CMakeFiles/${precompiled}.dir/cmake_pch.hxx.pch)
  target_compile_options(${name} PRIVATE "SHELL:-include-pch ${header}" -Winvalid-pch)
  get_target_property(sources ${name} SOURCES)
  get_target_property(folder ${name} SOURCE_DIR)
  foreach(source ${sources})
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${folder})
    set_property(SOURCE ${source} TARGET_DIRECTORY ${name} APPEND PROPERTY OBJECT_DEPENDS ${PROJECT_BINARY_DIR}/${header})
  endforeach()
  add_dependencies(${name} ${precompiled})
  get_target_property(type ${name} TYPE)
  if(type STREQUAL "EXECUTABLE")
    # The header is compiled with -fPIC; clang refuses it in a file compiled with the -fPIE of executables.
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${name} PRIVATE -fPIC)
  endif()
endfunction()

# 20 s of a file of dialects/ become 6, two thirds are left of one of runtime/, and 5 s of 9 of a command.
set(abslHeaders absl::flat_hash_map absl::status absl::statusor absl::strings absl::str_format)
weft_add_precompiled_header(WeftRuntimePch HEADERS RuntimePrecompiled.h
  DEPENDS ${abslHeaders} PACKAGES ${absl_DIR}/abslConfig.cmake)
weft_add_precompiled_header(WeftCommandPch HEADERS RuntimePrecompiled.h CommandPrecompiled.h
  DEPENDS ${abslHeaders} CLI11::CLI11 PACKAGES ${absl_DIR}/abslConfig.cmake ${CLI11_CONFIG})
if(WEFT_BUILD_COMPILER)
  weft_add_precompiled_header(WeftMlirPch HEADERS MlirPrecompiled.h PACKAGES ${MLIR_DIR}/MLIRConfig.cmake)
  if(TARGET WeftMlirPch)
    weft_use_mlir(WeftMlirPch)
  endif()
endif()

function(weft_add_mlir_library name)
  weft_add_library(${name} ${ARGN})
  weft_use_mlir(${name})
  weft_use_precompiled_header(${name} WeftMlirPch)
endfunction()

function(weft_add_executable name)
  cmake_parse_arguments(ARG "MLIR" "" "DEPENDS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE WeftOptions ${ARG_DEPENDS})
  if(ARG_MLIR)
    target_include_directories(${name} SYSTEM PRIVATE ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
    target_compile_definitions(${name} PRIVATE ${WEFT_LLVM_DEFINITIONS})
    target_link_libraries(${name} PRIVATE MLIR LLVM)
  endif()
endfunction()

function(weft_add_unit_test name)
  if(NOT WEFT_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "DEPENDS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/unit)
  target_link_libraries(${name} PRIVATE WeftOptions ${ARG_DEPENDS} GTest::gtest GTest::gmock GTest::gtest_main)
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST NO_PRETTY_VALUES PROPERTIES LABELS unit)
endfunction()

function(weft_add_fuzzer name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;CORPUS" ${ARGN})
  # In every build a test replays the corpus; the fuzzer itself needs libFuzzer in every library.
  if(WEFT_BUILD_TESTS AND ARG_CORPUS)
    add_executable(${name}-replay ${ARG_UNPARSED_ARGUMENTS} ${PROJECT_SOURCE_DIR}/tests/fuzz/ReplayCorpus.cpp)
    set_target_properties(${name}-replay PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/fuzz)
    target_link_libraries(${name}-replay PRIVATE WeftOptions ${ARG_DEPENDS})
    if(WEFT_BUILD_FUZZERS)
      target_link_options(${name}-replay PRIVATE -fsanitize=fuzzer-no-link)
    endif()
    add_test(NAME FuzzCorpus.${name} COMMAND ${name}-replay ${ARG_CORPUS})
    set_tests_properties(FuzzCorpus.${name} PROPERTIES LABELS unit)
  endif()
  if(NOT WEFT_BUILD_FUZZERS)
    return()
  endif()
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/fuzz)
  target_compile_options(${name} PRIVATE -fsanitize=fuzzer)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  target_link_libraries(${name} PRIVATE WeftOptions ${ARG_DEPENDS})
endfunction()
