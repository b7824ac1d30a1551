# The steps of the test `install`; see tests.cmake beside this file for what it is given.
cmake_minimum_required(VERSION 3.25)
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\nended with ${status}:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${scratch})
set(prefix ${scratch}/prefix)

run(${CMAKE_COMMAND} --install ${build} --prefix ${prefix})
foreach(path bin/evenkeel share/man/man1/evenkeel.1 share/bash-completion/completions/evenkeel
    share/zsh/vendor-completions/_evenkeel share/fish/vendor_completions.d/evenkeel.fish lib/systemd/system/evenkeel.service
    share/evenkeel/prometheus-alerts.yaml share/evenkeel/grafana-dashboard.json share/evenkeel/openapi.yaml)
  if(NOT EXISTS ${prefix}/${path})
    message(FATAL_ERROR "${path} was not installed")
  endif()
  file(SIZE ${prefix}/${path} size)
  if(size EQUAL 0)
    message(FATAL_ERROR "${path} is empty")
  endif()
endforeach()
file(GLOB of_sim RELATIVE ${prefix}/include/evenkeel/sim ${prefix}/include/evenkeel/sim/*)
if(NOT of_sim STREQUAL "testing")
  message(FATAL_ERROR "of sim only testing/ is for users, and installed were: ${of_sim}")
endif()
if(EXISTS ${prefix}/include/evenkeel/cli)
  message(FATAL_ERROR "headers of cli were installed; they are the program's own")
endif()

# What is for users: the headers that docs, examples and the consumer name, and these, which a service may want beside them.
set(roots
  base/address base/base base/overloaded base/read base/version base/write
  broker/broker
  control/control control/rollout control/shell/documents control/survey
  model/model
  node/participant
  place/explain place/floors place/kafka
  route/route route/shell/map_file
  store/backends/embedded/local store/backends/embedded/server store/backends/embedded/users store/backends/etcd/client store/backends/zookeeper/client)
list(TRANSFORM roots REPLACE "(.+)" "evenkeel/\\1.h")
file(GLOB_RECURSE headers RELATIVE ${prefix}/include ${prefix}/include/evenkeel/*.h)
foreach(root_header ${roots})
  if(NOT root_header IN_LIST headers)
    message(FATAL_ERROR "${root_header} is for users, and was not installed")
  endif()
endforeach()
file(GLOB_RECURSE naming ${root}/docs/*.md ${root}/examples/*.cc ${root}/examples/*.h ${source}/*.cc)
foreach(file ${naming})
  file(READ ${file} text)
  string(REGEX MATCHALL "evenkeel/[a-z_/]+\\.h" named "${text}")
  list(APPEND roots ${named})
endforeach()

# Nothing that a header includes is missing, and each is a root, or included by one, directly or not.
set(waiting ${roots})
set(reached)
while(waiting)
  list(POP_FRONT waiting header)
  if(header IN_LIST reached OR NOT header IN_LIST headers)
    continue()
  endif()
  list(APPEND reached ${header})
  file(STRINGS ${prefix}/include/${header} lines REGEX "^#include \"")
  foreach(line ${lines})
    string(REGEX REPLACE "^#include \"([^\"]*)\".*" "\\1" name "${line}")
    if(NOT name IN_LIST headers)
      message(FATAL_ERROR "${header} includes ${name}, which was not installed")
    endif()
    list(APPEND waiting ${name})
  endforeach()
endwhile()
foreach(header ${headers})
  if(NOT header IN_LIST reached)
    message(FATAL_ERROR "${header} was installed, and is for nobody: leave it out in cmake/EvenkeelInstall.cmake, or name it here or in docs")
  endif()
  # Those with a source of the same name are the first that it includes, so that its compilation has shown that they include what they need.
  string(REGEX REPLACE "^evenkeel/(.*)\\.h$" "${root}/src/\\1.cc" implementation ${header})
  if(NOT EXISTS ${implementation})
    run(${compiler} -std=c++23 -fsyntax-only -I ${prefix}/include -x c++ ${prefix}/include/${header})
  endif()
endforeach()

# The installed program says its version, and works from there.
run(${prefix}/bin/evenkeel --version)
string(FIND "${output}" "${version}" at)
if(at EQUAL -1)
  message(FATAL_ERROR "evenkeel --version says '${output}', not ${version}")
endif()

# What was installed must not point back into the tree that it was built from.
file(GLOB_RECURSE configs ${prefix}/*.cmake)
foreach(config ${configs})
  file(READ ${config} text)
  # The folder of this test may lie below the tree; that is where these files are.
  string(REPLACE "${prefix}" "" text "${text}")
  string(FIND "${text}" "${root}" at)
  if(NOT at EQUAL -1)
    string(SUBSTRING "${text}" ${at} 200 text)
    message(FATAL_ERROR "${config} names a path of the tree that it was built from:\n${text}")
  endif()
endforeach()

run(${CMAKE_COMMAND} -S ${source} -B ${scratch}/consumer -G ${generator}
  -D CMAKE_PREFIX_PATH=${prefix} -D CMAKE_CXX_COMPILER=${compiler} -D EVENKEEL_VERSION_WANTED=${version})
run(${CMAKE_COMMAND} --build ${scratch}/consumer)
run(${scratch}/consumer/consumer)
run(${scratch}/consumer/service_test)

# The example of a whole service, as somebody builds it who has copied its folder.
file(COPY ${root}/examples/counter DESTINATION ${scratch})
run(${CMAKE_COMMAND} -S ${scratch}/counter -B ${scratch}/counter/build -G ${generator} -D CMAKE_PREFIX_PATH=${prefix} -D CMAKE_CXX_COMPILER=${compiler})
run(${CMAKE_COMMAND} --build ${scratch}/counter/build)
execute_process(COMMAND ${scratch}/counter/build/counter client RESULT_VARIABLE status ERROR_VARIABLE words)
if(NOT status EQUAL 2 OR NOT words MATCHES "usage: counter")
  message(FATAL_ERROR "counter, built on its own, ended with ${status}:\n${words}")
endif()
message(STATUS "${output}")
