# `cmake --install` in two components, and the packages that CPack makes of them.
#
#   runtime    bin/weft: all that a training node needs. No MLIR, LLVM or Python.
#   compiler   the other programs, headers, static libraries, and the CMake package `Weft` (examples/consumer uses it).
#
# The tree may be moved: programs find libraries relative to themselves (lib/ beside bin/), the CMake package too.
# Included last: it installs every library that kernels/, runtime/, dialects/, passes/ and compiler/ defined.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(packageFolder ${CMAKE_INSTALL_LIBDIR}/cmake/Weft)
set(headerFolder ${CMAKE_INSTALL_INCLUDEDIR}/weft)

set(houseFolders kernels runtime)
if(WEFT_BUILD_COMPILER)
  list(APPEND houseFolders dialects passes compiler)
endif()
set(libraries WeftOptions)
foreach(folder ${houseFolders})
  weft_targets_below(${PROJECT_SOURCE_DIR}/${folder} targets)
  foreach(target ${targets})
    get_target_property(type ${target} TYPE)
    if(type MATCHES "^(STATIC|SHARED|INTERFACE)_LIBRARY$")
      list(APPEND libraries ${target})
    endif()
  endforeach()
endforeach()
install(TARGETS ${libraries} EXPORT WeftTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT compiler
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime)

weft_targets_below(${PROJECT_SOURCE_DIR}/tools programs)
foreach(program ${programs})
  get_target_property(type ${program} TYPE)
  if(type STREQUAL "EXECUTABLE")
    set_target_properties(${program} PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}"
                          INSTALL_RPATH_USE_LINK_PATH ON)
    set(component compiler)
    if(program STREQUAL "weft")
      set(component runtime)
    endif()
    install(TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT ${component})
  endif()
endforeach()

foreach(folder ${houseFolders})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder} DESTINATION ${headerFolder} COMPONENT compiler
          FILES_MATCHING PATTERN "*.h" PATTERN "*.td")
  install(DIRECTORY ${PROJECT_BINARY_DIR}/${folder} DESTINATION ${headerFolder} COMPONENT compiler
          FILES_MATCHING PATTERN "*.h" PATTERN "*.inc" PATTERN "CMakeFiles" EXCLUDE)
endforeach()
foreach(component runtime compiler)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/NOTICE
          DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/weft-${component} COMPONENT ${component})
endforeach()

install(EXPORT WeftTargets NAMESPACE Weft:: DESTINATION ${packageFolder} COMPONENT compiler)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/WeftConfig.cmake.in ${PROJECT_BINARY_DIR}/cmake/WeftConfig.cmake
                              INSTALL_DESTINATION ${packageFolder} PATH_VARS CMAKE_INSTALL_BINDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmake/WeftConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cmake/WeftConfig.cmake ${PROJECT_BINARY_DIR}/cmake/WeftConfigVersion.cmake
        DESTINATION ${packageFolder} COMPONENT compiler)

# `cpack` in the build folder: one .tar.gz and one .deb for each component.
set(CPACK_GENERATOR TGZ DEB)
set(CPACK_PACKAGE_NAME weft)
set(CPACK_PACKAGE_VENDOR "The weft authors")
set(CPACK_PACKAGE_CONTACT "The weft authors <weft@invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL runtime compiler)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
foreach(component RUNTIME COMPILER)
  string(TOLOWER ${component} name)
  set(CPACK_DEBIAN_${component}_PACKAGE_NAME weft-${name})
  set(CPACK_ARCHIVE_${component}_FILE_NAME weft-${name}-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
endforeach()
set(CPACK_DEBIAN_RUNTIME_PACKAGE_RECOMMENDS "openmpi-bin")
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "Trains with compiled programs: the program weft")
set(CPACK_COMPONENT_COMPILER_DESCRIPTION "Compiles models into programs: weft-compile, its tools, and the CMake package Weft")
set(CPACK_DEBIAN_COMPILER_PACKAGE_DEPENDS "weft-runtime (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_COMPILER_PACKAGE_RECOMMENDS "libmlir-22-dev, llvm-22-dev, libabsl-dev, nlohmann-json3-dev, libyaml-cpp-dev, libspdlog-dev, libhwy-dev, libxxhash-dev, libpcre2-dev, libicu-dev, libsentencepiece-dev, libdnnl-dev, libopenmpi-dev")
include(CPack)
