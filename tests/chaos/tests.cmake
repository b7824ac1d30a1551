# Real processes that die: tests/chaos/*.py start stores, daemons and nodes, and break them. A node is one process of ledger.cc.
# observer.cc looks on, for bench/failover.py.
foreach(program ledger observer)
  add_executable(${program} ${CMAKE_CURRENT_LIST_DIR}/${program}.cc)
  set_target_properties(${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  target_include_directories(${program} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${program} PRIVATE Evenkeel::node_shell Evenkeel::route Evenkeel::store_backends fmt::fmt evenkeel_flags)
  add_dependencies(checks ${program})
endforeach()

add_test(NAME chaos.witness COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/witness_test.py)
# A short form of `make chaos`: a dozen processes and more each, so one at a time.
foreach(store embedded etcd zookeeper)
  add_test(NAME chaos.${store} COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/chaos.py $<TARGET_FILE:evenkeel> --store ${store} --rounds 6)
  set_tests_properties(chaos.${store} PROPERTIES TIMEOUT 900 RESOURCE_LOCK servers)
endforeach()
add_test(NAME chaos.epoch COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/chaos.py $<TARGET_FILE:evenkeel> --fencing epoch --rounds 6)
set_tests_properties(chaos.epoch PROPERTIES TIMEOUT 900 RESOURCE_LOCK servers)
# One name, two processes; and what becomes of a cluster whose store loses, refuses or does not answer.
foreach(part names store_loss)
  add_test(NAME chaos.${part} COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/${part}.py $<TARGET_FILE:evenkeel>)
  set_tests_properties(chaos.${part} PROPERTIES TIMEOUT 900 RESOURCE_LOCK servers)
endforeach()
