# How everything here is compiled, and the functions that declare modules, tests, fuzz targets and benchmarks.
# Adding a .cc file to a module or its tests needs no change here: their folders are globbed. Fuzz targets and benchmarks, one file
# each, are named in tests/fuzz/targets.cmake and bench/CMakeLists.txt.

set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)

# "Release" keeps assertions (no NDEBUG) and enough debug information for a readable stack.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1")
set(CMAKE_CXX_FLAGS_SANITIZE "-O1 -g1 -fno-omit-frame-pointer")

find_program(CCACHE ccache)
if(CCACHE AND NOT EVENKEEL_READ_ONLY)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()

# Options and specs are plain structs of which a caller names only what differs from the default: that is no missing initializer.
add_library(evenkeel_flags INTERFACE)
target_compile_definitions(evenkeel_flags INTERFACE _GLIBCXX_ASSERTIONS)
target_compile_options(evenkeel_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wno-sign-conversion -Wshadow -Wnon-virtual-dtor -Wold-style-cast
  -Woverloaded-virtual -Wcast-qual -Wundef -Wunused -Wno-missing-field-initializers $<$<BOOL:${EVENKEEL_WERROR}>:-Werror>)
if(EVENKEEL_SANITIZE)
  target_compile_options(evenkeel_flags INTERFACE -fsanitize=${EVENKEEL_SANITIZE} -fno-sanitize-recover=all)
  if(EVENKEEL_SANITIZE STREQUAL "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(evenkeel_flags INTERFACE
      -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)  # g++ 12 sees them in its own instrumentation
  endif()
  if(EVENKEEL_SANITIZE MATCHES undefined)
    # These four are tested at every access to memory, which more than doubles the time it takes to compile; the address sanitizer finds
    # nearly all that they would.
    target_compile_options(evenkeel_flags INTERFACE -fno-sanitize=null,alignment,object-size,vptr)
  endif()
  target_link_options(evenkeel_flags INTERFACE -fsanitize=${EVENKEEL_SANITIZE})
endif()
if(EVENKEEL_FUZZ)
  target_compile_options(evenkeel_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(EVENKEEL_COVERAGE)
  target_compile_options(evenkeel_flags INTERFACE --coverage)
  target_link_options(evenkeel_flags INTERFACE --coverage)
endif()

# evenkeel_sources(VARIABLE FOLDER [EXCLUDE folder…]): the .cc files below FOLDER, but for those below FOLDER/folder, which are another
# target's.
function(evenkeel_sources variable folder)
  cmake_parse_arguments(arg "" "" "EXCLUDE" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/*.cc)
  foreach(excluded ${arg_EXCLUDE})
    list(FILTER sources EXCLUDE REGEX "^${folder}/${excluded}/")
  endforeach()
  set(${variable} ${sources} PARENT_SCOPE)
endfunction()

# Sources of one target are compiled in units of EVENKEEL_UNIT_FILES files each: what their headers declare and instantiate is then compiled
# once for a unit, which takes more than half of the time off a build. So names in anonymous namespaces must differ between the files of a
# target; evenkeel_alone(FILE…) keeps those out of units that cannot share one, with the reason beside it.
if(EVENKEEL_UNIT_FILES GREATER 1)
  set(CMAKE_UNITY_BUILD ON)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE ${EVENKEEL_UNIT_FILES})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # It would take the files of a unit for headers, in which types of anonymous namespaces are a mistake: tests/source holds that.
    target_compile_options(evenkeel_flags INTERFACE -Wno-subobject-linkage)
  endif()
endif()
function(evenkeel_alone)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# Units would hide that a file includes too little. This build makes nothing: its target `sources` reads every file of src/ by itself, by
# clang, which takes a fraction of the time that compiling them one by one would. Its compile_commands.json says how each file is compiled.
if(EVENKEEL_READ_ONLY)
  add_custom_target(sources)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${PROJECT_SOURCE_DIR}/scripts/read_only)
  set(CMAKE_CXX_CREATE_STATIC_LIBRARY "${CMAKE_COMMAND} -E touch <TARGET>")
  set(CMAKE_CXX_LINK_EXECUTABLE "${CMAKE_COMMAND} -E touch <TARGET>")
endif()

# Where files are compiled one by one they find the headers that most of them read precompiled.
function(evenkeel_precompile target)
  if(NOT EVENKEEL_UNIT_FILES GREATER 1 AND NOT EVENKEEL_READ_ONLY)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
endfunction()

# evenkeel_module(NAME [FOLDER folder] [EXCLUDE folder…] [PUBLIC target…] [PRIVATE target…])
# One static library, Evenkeel::NAME, from src/NAME/**.cc. PUBLIC: what its headers include, PRIVATE: what only its .cc files do.
# A part of a module that needs more than the rest may be a library of its own: FOLDER says where it is, EXCLUDE where it is not.
function(evenkeel_module name)
  cmake_parse_arguments(arg "" "FOLDER" "EXCLUDE;PUBLIC;PRIVATE" ${ARGN})
  if(NOT arg_FOLDER)
    set(arg_FOLDER ${name})
  endif()
  evenkeel_sources(sources ${CMAKE_CURRENT_SOURCE_DIR}/${arg_FOLDER} EXCLUDE ${arg_EXCLUDE})
  list(FILTER sources EXCLUDE REGEX "/main\\.cc$")
  add_library(evenkeel_${name} STATIC ${sources})
  add_library(Evenkeel::${name} ALIAS evenkeel_${name})
  set_target_properties(evenkeel_${name} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON)
  target_include_directories(evenkeel_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(evenkeel_${name} PUBLIC cxx_std_23)
  target_link_libraries(evenkeel_${name} PUBLIC ${arg_PUBLIC} PRIVATE ${arg_PRIVATE} $<BUILD_INTERFACE:evenkeel_flags>)
  evenkeel_precompile(evenkeel_${name} <fmt/format.h> <algorithm> <functional> <map> <memory> <string> <tl/expected.hpp> <vector>)
  set_property(GLOBAL APPEND PROPERTY EVENKEEL_MODULES ${name})
  if(EVENKEEL_READ_ONLY)
    add_dependencies(sources evenkeel_${name})
  endif()
endfunction()

# evenkeel_proto(NAME FILE): the static library evenkeel_NAME of what protoc makes of src/FILE.proto, messages and service. Its headers are
# included as "FILE.pb.h" and "FILE.grpc.pb.h". Generated code is compiled without our warnings, and nobody reads it.
function(evenkeel_proto name file)
  set(folder ${PROJECT_BINARY_DIR}/generated/proto)
  set(made ${folder}/${file}.pb.cc ${folder}/${file}.grpc.pb.cc)
  file(MAKE_DIRECTORY ${folder})
  add_custom_command(OUTPUT ${made} ${folder}/${file}.pb.h ${folder}/${file}.grpc.pb.h
    COMMAND protobuf::protoc -I ${CMAKE_CURRENT_SOURCE_DIR} --cpp_out=${folder} --grpc_out=${folder}
      --plugin=protoc-gen-grpc=$<TARGET_FILE:gRPC::grpc_cpp_plugin> ${CMAKE_CURRENT_SOURCE_DIR}/${file}.proto
    DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${file}.proto VERBATIM COMMENT "Generating ${file}.pb.h")
  add_library(evenkeel_${name} STATIC ${made})
  set_target_properties(evenkeel_${name} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON)
  target_include_directories(evenkeel_${name} SYSTEM PUBLIC $<BUILD_INTERFACE:${folder}>)
  target_link_libraries(evenkeel_${name} PUBLIC gRPC::grpc++ protobuf::libprotobuf)
endfunction()

# What must be built before the tests of this build can run: `cmake --build … --target checks`.
add_custom_target(checks)

# evenkeel_build_entry(NAME COST PRESET [TARGET…]): a ctest entry that makes a build, beside those of real servers, which mostly wait: so `make test`
# has to make only the first build by itself. Tests of the sanitizers' builds wait for theirs.
function(evenkeel_build_entry name cost preset)
  add_test(NAME ${name} COMMAND ${PROJECT_SOURCE_DIR}/scripts/aside ${PROJECT_SOURCE_DIR}/scripts/build ${preset} ${ARGN})
  set_tests_properties(${name} PROPERTIES TIMEOUT 5400 RESOURCE_LOCK compilers COST ${cost} FIXTURES_SETUP ${preset})
endfunction()

# The test is of this build, and if that is not the first one, waits for it.
function(evenkeel_needs_build test)
  if(EVENKEEL_SANITIZE AND EVENKEEL_TEST_PREFIX)
    string(REPLACE "." "" preset "${EVENKEEL_TEST_PREFIX}")
    set_tests_properties(${test} PROPERTIES FIXTURES_REQUIRED ${preset})
  endif()
endfunction()

# How a test program of this build is started: sanitizers want a plain layout of memory (see the script).
set(EVENKEEL_LAUNCHER "")
if(EVENKEEL_SANITIZE)
  set(EVENKEEL_LAUNCHER ${PROJECT_SOURCE_DIR}/scripts/sanitized)
endif()

# Tests that only compute give way to those that are timed by real clocks, which run beside them. They take long, so they start early; those
# of real servers take turns and start first (RESOURCE_LOCK servers), or everybody would wait for them in the end.
set(EVENKEEL_COMPUTES nice -n 10)
set(EVENKEEL_COST_COMPUTES 500)
set(EVENKEEL_COST_SERVERS 1000)

# evenkeel_test(MODULE [THREADS] [COMPUTES] [FOLDER folder] [EXCLUDE folder…] [ONLY name…] [LIBS target…] [NEEDS target…])
# One program, tests/MODULE/**.cc, run as the ctest entry MODULE. It may read its stories and data below tests/.
# THREADS: threads matter there, so the thread sanitizer's build has it too; that build has no others.
# COMPUTES: it takes long, and looks at no clock.
# ONLY: of the files these, given without .cc.
# A part of a module's tests that needs more than the rest may be a program of its own, as in evenkeel_module; if the module itself has no
# such part, LIBS names the module.
# NEEDS: what the module's other ctest entries (MODULE.something) run, so that `make check` builds it too.
function(evenkeel_test module)
  cmake_parse_arguments(arg "THREADS;COMPUTES" "FOLDER" "EXCLUDE;ONLY;LIBS;NEEDS" ${ARGN})
  if(EVENKEEL_SANITIZE STREQUAL "thread" AND NOT arg_THREADS)
    return()
  endif()
  if(NOT arg_FOLDER)
    set(arg_FOLDER ${module})
  endif()
  evenkeel_sources(sources ${CMAKE_CURRENT_SOURCE_DIR}/${arg_FOLDER} EXCLUDE ${arg_EXCLUDE})
  if(arg_ONLY)
    list(TRANSFORM arg_ONLY PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/${arg_FOLDER}/ OUTPUT_VARIABLE sources)
    list(TRANSFORM sources APPEND .cc)
  endif()
  add_executable(${module}_test ${sources})
  set_target_properties(${module}_test PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  target_link_libraries(${module}_test PRIVATE $<TARGET_NAME_IF_EXISTS:Evenkeel::${module}> evenkeel_story ${arg_LIBS} GTest::gmock_main rapidcheck evenkeel_flags)
  target_compile_definitions(${module}_test PRIVATE EVENKEEL_TESTS_DIR="${PROJECT_SOURCE_DIR}/tests")
  evenkeel_precompile(${module}_test <fmt/format.h> <gmock/gmock.h> <gtest/gtest.h> <map> <rapidcheck.h> <string> <vector>)
  add_dependencies(checks ${module}_test)
  if(arg_NEEDS)
    add_dependencies(${module}_test ${arg_NEEDS})
  endif()
  set(launcher ${EVENKEEL_LAUNCHER})
  set(cost 0)
  set(timeout 600)
  if(arg_COMPUTES)
    set(launcher ${EVENKEEL_COMPUTES} ${EVENKEEL_LAUNCHER})
    set(cost ${EVENKEEL_COST_COMPUTES})
    set(timeout 1200)
  endif()
  add_test(NAME ${EVENKEEL_TEST_PREFIX}${module} COMMAND ${launcher} $<TARGET_FILE:${module}_test> --gtest_brief=1)
  # How many random values a property is tried on. Each run has its own seed, and a failure prints the one that repeats it.
  set(tries 500)
  if(EVENKEEL_SANITIZE)
    set(tries 100)
  endif()
  set_tests_properties(${EVENKEEL_TEST_PREFIX}${module} PROPERTIES TIMEOUT ${timeout} COST ${cost} ENVIRONMENT RC_PARAMS=max_success=${tries})
  evenkeel_needs_build(${EVENKEEL_TEST_PREFIX}${module})
endfunction()

# All fuzz targets: `cmake --build … --target fuzz_targets`.
add_custom_target(fuzz_targets)

# evenkeel_fuzz(NAME RUNS number LIBS target…)
# tests/fuzz/NAME.cc with its corpus in tests/fuzz/corpus/NAME: that many runs or a minute under ctest, or as long as you like with
# `make fuzz`. Only in the build with the address sanitizer, which is clang's for that.
function(evenkeel_fuzz name)
  cmake_parse_arguments(arg "" "RUNS" "LIBS" ${ARGN})
  add_executable(fuzz_${name} ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/${name}.cc)
  set_target_properties(fuzz_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  target_link_libraries(fuzz_${name} PRIVATE ${arg_LIBS} evenkeel_flags)
  target_include_directories(fuzz_${name} PRIVATE ${PROJECT_SOURCE_DIR})
  add_dependencies(fuzz_targets fuzz_${name})
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  set(corpus ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/corpus/${name})
  set(found ${PROJECT_BINARY_DIR}/corpus/${name})
  # libFuzzer stops at a corpus folder that is not there, and either may have been removed since the build was configured.
  add_test(NAME fuzz.${name}
    COMMAND sh -c "mkdir -p '${found}' '${corpus}' && exec \"$@\"" sh
      ${EVENKEEL_LAUNCHER} $<TARGET_FILE:fuzz_${name}> -runs=${arg_RUNS} -max_total_time=60 -seed=1 -rss_limit_mb=1024 -timeout=10 -artifact_prefix=${found}- ${found} ${corpus})
  set_tests_properties(fuzz.${name} PROPERTIES TIMEOUT 600)
  evenkeel_needs_build(fuzz.${name})
endfunction()

# evenkeel_bench(NAME LIBS target…): bench/NAME.cc becomes build/bench/NAME.
function(evenkeel_bench name)
  cmake_parse_arguments(arg "" "" "LIBS" ${ARGN})
  add_executable(bench_${name} ${CMAKE_CURRENT_SOURCE_DIR}/${name}.cc)
  set_target_properties(bench_${name} PROPERTIES OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
  target_link_libraries(bench_${name} PRIVATE ${arg_LIBS} evenkeel_flags)
endfunction()
