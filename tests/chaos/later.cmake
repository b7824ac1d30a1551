# A later version of the daemon and of a node, for versions.py: evenkeel_later and ledger_later. They are this version but for what they write: every document
# and every pulse has fields that this version does not know, `live` names another version, which reads a higher format (src/base/later.h).
#
# Only what writes documents is compiled again. Objects stand before libraries on the linker's line, so that these are taken, and those of the
# libraries that define the same are not.
set(src ${PROJECT_SOURCE_DIR}/src)
add_library(later_nodes OBJECT
  ${src}/locks/detail/record.cc ${src}/model/config_documents.cc ${src}/model/documents.cc ${src}/node/shell/pulse_line.cc ${src}/store/detail/beat.cc)
add_library(later_daemons OBJECT ${src}/serve/pulse_server.cc)
foreach(objects later_nodes later_daemons)
  target_compile_definitions(${objects} PRIVATE EVENKEEL_LATER)
  target_link_libraries(${objects} PRIVATE Evenkeel::node_shell Evenkeel::serve evenkeel_pulse_proto evenkeel_flags)
endforeach()

add_executable(ledger_later $<TARGET_OBJECTS:ledger> $<TARGET_OBJECTS:later_nodes>)
target_link_libraries(ledger_later PRIVATE Evenkeel::node_shell Evenkeel::route Evenkeel::store_backends evenkeel_pulse_proto fmt::fmt evenkeel_flags)
add_executable(evenkeel_later $<TARGET_OBJECTS:evenkeel> $<TARGET_OBJECTS:later_nodes> $<TARGET_OBJECTS:later_daemons>)
target_link_libraries(evenkeel_later PRIVATE Evenkeel::cli evenkeel_flags)
foreach(program ledger_later evenkeel_later)
  set_target_properties(${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests LINKER_LANGUAGE CXX)
  add_dependencies(checks ${program})
endforeach()
