# What only the built program shows: completion in real shells, and hostile files under a limit of memory. Neither fits a sanitizer's
# build, which takes address space by the terabyte.
add_test(NAME cli.shells COMMAND ${CMAKE_CURRENT_LIST_DIR}/shells.sh $<TARGET_FILE_DIR:evenkeel>)
add_test(NAME cli.limits COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/limits.py $<TARGET_FILE:evenkeel>)
# A live broker and its clients as processes of their own.
add_test(NAME cli.broker_live COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/broker_live.py $<TARGET_FILE:evenkeel>)
set_tests_properties(cli.broker_live PROPERTIES TIMEOUT 300)
# A disk that fills up, a kill, and a time that is over, while `evenkeel plan` writes its result.
add_test(NAME cli.plan_files COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/plan_files.py $<TARGET_FILE:evenkeel>)
# A served store, locks, a view and a cluster's documents in it, and their commands, also at a terminal; the daemon; and nodes by agents.
foreach(live store_live lock_live routes_live operate_live screen_live context_live serve_live agent_live)
  add_test(NAME cli.${live} COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/${live}.py $<TARGET_FILE:evenkeel>)
  set_tests_properties(cli.${live} PROPERTIES TIMEOUT 300)
endforeach()
# What `make run` starts: daemon, nodes and a client.
add_test(NAME cli.demo COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/demo_live.py $<TARGET_FILE:evenkeel>)
set_tests_properties(cli.demo PROPERTIES TIMEOUT 600)
# The same, every node of it restarted by `evenkeel rollout`.
add_test(NAME cli.rollout COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/rollout_live.py $<TARGET_FILE:evenkeel>)
set_tests_properties(cli.rollout PROPERTIES TIMEOUT 900)
