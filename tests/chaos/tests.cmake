# Real processes that die: tests/chaos/*.py start stores, daemons and nodes, and break them. A node is one process of ledger.cc.
# observer.cc looks on, for bench/failover.py.
foreach(program ledger observer)
  add_executable(${program} ${CMAKE_CURRENT_LIST_DIR}/${program}.cc)
  set_target_properties(${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  target_include_directories(${program} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${program} PRIVATE Evenkeel::node_shell Evenkeel::route Evenkeel::store_backends fmt::fmt evenkeel_flags)
  add_dependencies(checks ${program})
endforeach()
include(${CMAKE_CURRENT_LIST_DIR}/later.cmake)

# evenkeel_chaos(NAME SCRIPT [word…]): a dozen processes and more each, so one at a time.
function(evenkeel_chaos name script)
  add_test(NAME chaos.${name} COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/${script}.py $<TARGET_FILE:evenkeel> ${ARGN})
  set_tests_properties(chaos.${name} PROPERTIES TIMEOUT 900 RESOURCE_LOCK servers COST ${EVENKEEL_COST_SERVERS})
endfunction()

add_test(NAME chaos.witness COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/witness_test.py)
# A short form of `make chaos`: of each kind of process one dies in a round of its own, and a node stands still or is cut off. Where the store is in a daemon, nobody follows who was lost with it; so it is also tried in a process of its own.
foreach(store embedded etcd zookeeper)
  evenkeel_chaos(${store} chaos --store ${store} --rounds 7)
endforeach()
evenkeel_chaos(epoch chaos --fencing epoch --store served --rounds 7)
# One name, two processes; and what becomes of a cluster whose store loses, refuses or does not answer.
foreach(part names store_loss)
  evenkeel_chaos(${part} ${part})
endforeach()
evenkeel_chaos(names_etcd names the_same_disk --store etcd)
evenkeel_chaos(names_zookeeper names another_disk --store zookeeper)
foreach(store etcd zookeeper)
  evenkeel_chaos(store_loss_${store} store_loss --store ${store})
endforeach()
# Every node is restarted by `evenkeel rollout`.
evenkeel_chaos(rollout_embedded rollout --order random)
evenkeel_chaos(rollout_etcd rollout --order random --store etcd)
evenkeel_chaos(rollout_zookeeper rollout --order zones --store zookeeper)
# Networks that are cut in two, or in one direction.
foreach(fencing session epoch)
  evenkeel_chaos(cuts_${fencing} cuts --fencing ${fencing})
endforeach()
# The same by packets that are lost, with hosts of their own, and cuts between the members of a store.
evenkeel_chaos(namespaces_etcd cuts --network namespaces --store etcd)
evenkeel_chaos(namespaces_epoch cuts --network namespaces --fencing epoch)
# Two versions in one cluster; and documents of a format that this one does not read.
foreach(part versions formats)
  evenkeel_chaos(${part} ${part})
endforeach()
