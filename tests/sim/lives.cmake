# Random lives, in tests of their own that run beside each other. The other tests of sim come without them.
set(lives RandomLives.KeepTheirPromises)
set(others -${lives})
if(EVENKEEL_SANITIZE)
  set(others ${others}:Mutations.AreNoticed)  # the stories once more, with rules switched off
endif()
set_property(TEST ${EVENKEEL_TEST_PREFIX}sim APPEND PROPERTY ENVIRONMENT GTEST_FILTER=${others})

# evenkeel_lives(FIRST HOURS): two hours each, from that seed on.
function(evenkeel_lives first hours)
  if(EVENKEEL_SANITIZE)
    set(hours 4)
  endif()
  set(name ${EVENKEEL_TEST_PREFIX}sim.lives${first})
  add_test(NAME ${name} COMMAND ${EVENKEEL_COMPUTES} ${EVENKEEL_LAUNCHER} $<TARGET_FILE:sim_test> --gtest_brief=1)
  set_tests_properties(${name} PROPERTIES TIMEOUT 1200 COST ${EVENKEEL_COST_COMPUTES}
    ENVIRONMENT "GTEST_FILTER=${lives};EVENKEEL_SIM_HOURS=${hours};EVENKEEL_SEED=${first}")
  evenkeel_needs_build(${name})
endfunction()

# A thousand hours. A million: `evenkeel sim --random --hours 2 --runs 500000`.
evenkeel_lives(1000 250)
evenkeel_lives(1125 250)
evenkeel_lives(1250 250)
evenkeel_lives(1375 258)
