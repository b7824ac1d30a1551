# Random lives, a thousand hours in the optimized build, in parts that run beside each other. The other tests of sim come without them.
set(lives RandomLives.KeepTheirPromises)
set(hours 500)
if(EVENKEEL_SANITIZE)
  set(hours 10)
endif()
set_property(TEST ${EVENKEEL_TEST_PREFIX}sim APPEND PROPERTY ENVIRONMENT GTEST_FILTER=-${lives})
foreach(part 1 2)
  set(name ${EVENKEEL_TEST_PREFIX}sim.lives${part})
  add_test(NAME ${name} COMMAND ${EVENKEEL_LAUNCHER} $<TARGET_FILE:sim_test> --gtest_brief=1)
  set_tests_properties(${name} PROPERTIES TIMEOUT 1200
    ENVIRONMENT "GTEST_FILTER=${lives};EVENKEEL_SIM_HOURS=${hours};EVENKEEL_SEED=${part}000000")
endforeach()
