# What users get: the program with its man page and completions, and the libraries with their headers and CMake package.
#
# Two components, which become two Debian packages: `program` (evenkeel) and `development` (libevenkeel-dev).
# A module is installed once services link it; cli never is, it is the program's own.
include(CMakePackageConfigHelpers)

set(EVENKEEL_INSTALLED_MODULES base model broker broker_rpc place store store_backends locks route control node node_shell testing)

# The main build alone is installed: the others are slower by design, and would only run their program here to no use.
if(EVENKEEL_SANITIZE OR EVENKEEL_COVERAGE)
  return()
endif()

# 1. The program, and what it says about itself.

# evenkeel_says(FILE argument…): FILE, below build/share/, is what `evenkeel argument…` prints.
set(said)
function(evenkeel_says file)
  set(output ${PROJECT_BINARY_DIR}/share/${file})
  cmake_path(GET output PARENT_PATH folder)
  file(MAKE_DIRECTORY ${folder})
  add_custom_command(OUTPUT ${output} COMMAND evenkeel ${ARGN} > ${output} DEPENDS evenkeel VERBATIM
    COMMENT "Generating ${file}")
  set(said ${said} ${output} PARENT_SCOPE)
endfunction()

evenkeel_says(man/man1/evenkeel.1 man)
evenkeel_says(bash-completion/completions/evenkeel completion bash)
evenkeel_says(zsh/vendor-completions/_evenkeel completion zsh)
evenkeel_says(fish/vendor_completions.d/evenkeel.fish completion fish)

# All that `make install` and `make deb` take: no tests, no benchmarks.
add_custom_target(product ALL DEPENDS ${said})
add_dependencies(product evenkeel)

install(TARGETS evenkeel RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
install(DIRECTORY ${PROJECT_BINARY_DIR}/share/ DESTINATION ${CMAKE_INSTALL_DATADIR} COMPONENT program)
install(FILES LICENSE packaging/copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/evenkeel COMPONENT program)
# For who runs the daemon (docs/deploy.md). systemd looks below the usual prefixes, and for the program too.
install(FILES packaging/evenkeel.service DESTINATION lib/systemd/system COMPONENT program)
install(FILES packaging/prometheus-alerts.yaml packaging/grafana-dashboard.json docs/openapi.yaml DESTINATION ${CMAKE_INSTALL_DATADIR}/evenkeel COMPONENT program)

# 2. The libraries.

foreach(module ${EVENKEEL_INSTALLED_MODULES})
  add_dependencies(product evenkeel_${module})
  install(TARGETS evenkeel_${module} EXPORT Evenkeel ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
  # A library that is a part of a module has its headers with the module's. Some are for nobody else; the test `install` holds that no others of that kind come along.
  if(IS_DIRECTORY ${PROJECT_SOURCE_DIR}/src/${module})
    install(DIRECTORY src/${module}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/evenkeel/${module} COMPONENT development
      FILES_MATCHING PATTERN "*.h" PATTERN "wire.h" EXCLUDE PATTERN "later.h" EXCLUDE REGEX "/node/shell$" EXCLUDE PATTERN "detail" EXCLUDE)
  endif()
endforeach()
# Of detail/ what public headers need, and nothing else. Nobody includes them by name.
foreach(header base/detail/timer_queue.h)
  cmake_path(GET header PARENT_PATH folder)
  install(FILES src/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/evenkeel/${folder} COMPONENT development)
endforeach()
# What of sim is for users.
install(DIRECTORY src/sim/testing/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/evenkeel/sim/testing COMPONENT development
  FILES_MATCHING PATTERN "*.h" PATTERN "detail" EXCLUDE)
# What the generated messages are compiled to is linked by broker_rpc, store_backends and node_shell; who wants the messages makes them from their
# description.
install(TARGETS evenkeel_broker_proto evenkeel_mvcc_proto evenkeel_etcd_proto evenkeel_pulse_proto EXPORT Evenkeel ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
install(FILES src/broker/shell/rpc/broker.proto DESTINATION ${CMAKE_INSTALL_DATADIR}/evenkeel/proto COMPONENT development)
install(FILES packaging/copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libevenkeel-dev COMPONENT development)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Evenkeel)
configure_package_config_file(cmake/EvenkeelConfig.cmake.in ${PROJECT_BINARY_DIR}/EvenkeelConfig.cmake INSTALL_DESTINATION ${package_dir})
# Before 1.0 a new minor version may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/EvenkeelConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/EvenkeelConfig.cmake ${PROJECT_BINARY_DIR}/EvenkeelConfigVersion.cmake
  DESTINATION ${package_dir} COMPONENT development)
install(EXPORT Evenkeel NAMESPACE Evenkeel:: FILE EvenkeelTargets.cmake DESTINATION ${package_dir} COMPONENT development)

# 3. The Debian packages.

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME evenkeel)
set(CPACK_PACKAGE_VENDOR "The Evenkeel authors")
set(CPACK_PACKAGE_CONTACT "The Evenkeel authors <maintainers@evenkeel.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "keeps a cluster's work on an even keel")
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL program development)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)

set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME evenkeel)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_CONTROL_EXTRA
  ${PROJECT_SOURCE_DIR}/packaging/debian/postinst ${PROJECT_SOURCE_DIR}/packaging/debian/prerm ${PROJECT_SOURCE_DIR}/packaging/debian/postrm)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION
  "Evenkeel decides which node of a cluster holds each replica of each shard, and moves
replicas there without breaking what is being served. This package has its command line
and its daemon, with a unit for systemd.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libevenkeel-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
  "libfmt-dev (>= 9), libspdlog-dev (>= 1:1.10), libexpected-dev, libyaml-dev, libxxhash-dev, prometheus-cpp-dev, libgrpc++-dev, libprotobuf-dev, librocksdb-dev, libzookeeper-mt-dev, libssl-dev, pkg-config")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION
  "Static libraries, headers and the CMake package of Evenkeel, for C++ services that become nodes
of a cluster: find_package(Evenkeel), then link Evenkeel::model and the others. Evenkeel::broker is a node's
resource broker, Evenkeel::broker_rpc its service and client over gRPC; Evenkeel::locks are locks and elections over
a store of Evenkeel::store_backends; Evenkeel::node_shell makes a service a node, Evenkeel::route finds who serves,
Evenkeel::testing is a cluster in one process for a service's own tests.")

include(CPack)
