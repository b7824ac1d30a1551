# The steps of the test `install`; see tests.cmake beside this file for what it is given.
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
    share/zsh/vendor-completions/_evenkeel share/fish/vendor_completions.d/evenkeel.fish)
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
message(STATUS "${output}")
