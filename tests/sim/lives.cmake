# Random lives, in a test of their own. The other tests of sim come without them.
set(lives RandomLives.KeepTheirPromises)
set(hours 50)
if(EVENKEEL_SANITIZE)
  set(hours 4)
endif()
set_property(TEST ${EVENKEEL_TEST_PREFIX}sim APPEND PROPERTY ENVIRONMENT GTEST_FILTER=-${lives})
add_test(NAME ${EVENKEEL_TEST_PREFIX}sim.lives COMMAND ${EVENKEEL_LAUNCHER} $<TARGET_FILE:sim_test> --gtest_brief=1)
set_tests_properties(${EVENKEEL_TEST_PREFIX}sim.lives PROPERTIES TIMEOUT 1200
  ENVIRONMENT "GTEST_FILTER=${lives};EVENKEEL_SIM_HOURS=${hours};EVENKEEL_SEED=1000")
