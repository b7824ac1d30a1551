# The backends' tests in parts, since together they take minutes. Those that start servers take turns: they are timed by leases and sessions,
# and two of them at once would fight for the processor.
#
#   store_backends          each backend by itself
#   store_backends.one      the conformance suite on every backend, with one server of each kind
#   store_backends.three    the same on three members of etcd and ZooKeeper
#   store_backends.faults   random work while servers are killed, paused and restarted, and the history that it leaves
set(one memory.*:embedded.*:served.*:etcd1.*:zookeeper1.*)
set(three etcd3.*:zookeeper3.*)
set(faults Servers/Faults.*)

set_property(TEST ${EVENKEEL_TEST_PREFIX}store_backends APPEND PROPERTY ENVIRONMENT GTEST_FILTER=-${one}:${three}:${faults})
set(parts one three faults)
set(names ${EVENKEEL_TEST_PREFIX}store_backends)
foreach(part ${parts})
  set(name ${EVENKEEL_TEST_PREFIX}store_backends.${part})
  add_test(NAME ${name} COMMAND ${EVENKEEL_LAUNCHER} $<TARGET_FILE:store_backends_test> --gtest_brief=1)
  set_tests_properties(${name} PROPERTIES ENVIRONMENT "GTEST_FILTER=${${part}}")
  list(APPEND names ${name})
endforeach()
set_tests_properties(${names} PROPERTIES TIMEOUT 1200 RESOURCE_LOCK servers COST ${EVENKEEL_COST_SERVERS})
