# Random lives, in a test of their own. The other tests of sim come without them.
set(lives RandomLives.KeepTheirPromises)
set(others -${lives})
set(hours 60)
if(EVENKEEL_SANITIZE)
  set(hours 4)
  set(others ${others}:Mutations.AreNoticed)  # the stories once more, with rules switched off
endif()
set_property(TEST ${EVENKEEL_TEST_PREFIX}sim APPEND PROPERTY ENVIRONMENT GTEST_FILTER=${others})
add_test(NAME ${EVENKEEL_TEST_PREFIX}sim.lives COMMAND ${EVENKEEL_LAUNCHER} $<TARGET_FILE:sim_test> --gtest_brief=1)
set_tests_properties(${EVENKEEL_TEST_PREFIX}sim.lives PROPERTIES TIMEOUT 1200
  ENVIRONMENT "GTEST_FILTER=${lives};EVENKEEL_SIM_HOURS=${hours};EVENKEEL_SEED=1000")
