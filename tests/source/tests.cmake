# The test of the source itself, its own test, and the format check.
find_package(Python3 REQUIRED COMPONENTS Interpreter)

add_test(NAME source
  COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/check.py --root ${PROJECT_SOURCE_DIR} --program $<TARGET_FILE:evenkeel>)
add_test(NAME source_selftest COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/selftest.py)
add_test(NAME format COMMAND ${PROJECT_SOURCE_DIR}/scripts/format --check)
add_dependencies(checks evenkeel)

# Every public header compiles on its own. One that has a source of its name is the first that this source includes; for each of the others
# a source is generated, read and thrown away.
if(EVENKEEL_READ_ONLY)
  get_property(modules GLOBAL PROPERTY EVENKEEL_MODULES)
  set(sources)
  set(libraries)
  foreach(module ${modules})
    file(GLOB headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/src/${module}/*.h)
    foreach(header ${headers})
      string(REGEX REPLACE "\\.h$" ".cc" own ${header})
      if(NOT EXISTS ${PROJECT_SOURCE_DIR}/src/${own})
        set(source ${PROJECT_BINARY_DIR}/headers/${header}.cc)
        file(CONFIGURE OUTPUT ${source} CONTENT "#include \"evenkeel/${header}\"\n#include \"evenkeel/${header}\"  // twice does no harm\n")
        list(APPEND sources ${source})
      endif()
    endforeach()
    list(APPEND libraries Evenkeel::${module})
  endforeach()
  add_library(evenkeel_headers OBJECT ${sources})
  target_link_libraries(evenkeel_headers PRIVATE ${libraries} evenkeel_flags)
  add_dependencies(sources evenkeel_headers)
endif()
