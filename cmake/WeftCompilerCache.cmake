# ccache, set up so that two checkouts in different folders share their objects, files with the precompiled header
# included. All settings are here, in the launcher's environment: the user's own ccache configuration is not needed.
#
#   CCACHE_BASEDIR, CCACHE_NOHASHDIR   paths below the checkout are hashed relative to the build folder
#   CCACHE_SLOPPINESS                  what ccache demands before it accepts a precompiled header
#   CCACHE_PCH_EXTSUM                  the header is hashed by the text of cmake_pch.hxx.pch.sum, written below: its own
#                                      bytes name absolute paths. The header itself is compiled once per checkout.
option(WEFT_CCACHE "Compile through ccache where it is installed" ON)
find_program(WEFT_CCACHE_PROGRAM ccache)

set(WEFT_CCACHE_ACTIVE OFF)
if(WEFT_CCACHE AND WEFT_CCACHE_PROGRAM)
  set(WEFT_CCACHE_ACTIVE ON)
  set(CMAKE_C_COMPILER_LAUNCHER env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_PCH_EXTSUM=1 ${WEFT_CCACHE_PROGRAM})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_C_COMPILER_LAUNCHER})
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # Debug lines name the build folder as ".", so an object from another checkout is the same object.
  add_compile_options(-ffile-compilation-dir=.)
endif()

# Writes the checksum by which ccache knows the precompiled header of `target`: HEADERS, the lists that it includes, the flags,
# the compiler, and when PACKAGES, their CMake files, were installed decide its contents; nothing of the project is included.
function(weft_write_pch_checksum target)
  if(NOT WEFT_CCACHE_ACTIVE)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "HEADERS;PACKAGES" ${ARGN})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ARG_HEADERS} ${ARG_PACKAGES})
  set(headerText "")
  foreach(header ${ARG_HEADERS})
    file(READ ${header} text)
    string(APPEND headerText "${text}")
  endforeach()
  set(packageTimes "")
  foreach(package ${ARG_PACKAGES})
    file(TIMESTAMP ${package} time UTC)
    list(APPEND packageTimes ${time})
  endforeach()
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} --version OUTPUT_VARIABLE compilerVersion COMMAND_ERROR_IS_FATAL ANY)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  string(SHA256 sum "${headerText};${compilerVersion};${LLVM_PACKAGE_VERSION};${packageTimes};${WEFT_LLVM_DEFINITIONS};\
${CMAKE_CXX_STANDARD};${CMAKE_CXX_FLAGS};${CMAKE_CXX_FLAGS_${type}};${WEFT_SANITIZE}")
  set(sumFile ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${target}.dir/cmake_pch.hxx.pch.sum)
  set(known "")
  if(EXISTS ${sumFile})
    file(READ ${sumFile} known)
  endif()
  if(NOT known STREQUAL sum)
    file(WRITE ${sumFile} ${sum})
  endif()
  set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER "")
endfunction()
