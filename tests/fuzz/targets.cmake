# A fuzz target for every parser. RUNS is what fits a test run: together about a minute. `make fuzz` goes on for as long as you like.
evenkeel_fuzz(document RUNS 30000 LIBS Evenkeel::base)
evenkeel_fuzz(scalars RUNS 30000 LIBS Evenkeel::model)
evenkeel_fuzz(cluster RUNS 15000 LIBS Evenkeel::model)
evenkeel_fuzz(command_line RUNS 3000 LIBS Evenkeel::cli)
evenkeel_fuzz(broker_config RUNS 15000 LIBS Evenkeel::broker)
evenkeel_fuzz(broker_trace RUNS 5000 LIBS Evenkeel::broker)
target_sources(fuzz_broker_trace PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/broker/naive_model.cc)
target_include_directories(fuzz_broker_trace PRIVATE ${PROJECT_SOURCE_DIR})
