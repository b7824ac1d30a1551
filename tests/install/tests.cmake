# Installs the product below the build folder, then builds and runs a small project that knows it only by find_package.
add_test(NAME install COMMAND ${CMAKE_COMMAND}
  -D root=${PROJECT_SOURCE_DIR} -D build=${PROJECT_BINARY_DIR} -D source=${CMAKE_CURRENT_LIST_DIR}/consumer -D scratch=${PROJECT_BINARY_DIR}/tests/install
  -D compiler=${CMAKE_CXX_COMPILER} -D generator=${CMAKE_GENERATOR} -D version=${PROJECT_VERSION} -P ${CMAKE_CURRENT_LIST_DIR}/run.cmake)
set_tests_properties(install PROPERTIES TIMEOUT 600)
