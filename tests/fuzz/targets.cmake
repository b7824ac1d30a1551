# A fuzz target for every parser. RUNS is what fits a test run: together about a minute. `make fuzz` goes on for as long as you like.
evenkeel_fuzz(document RUNS 30000 LIBS Evenkeel::base)
evenkeel_fuzz(scalars RUNS 30000 LIBS Evenkeel::model)
evenkeel_fuzz(cluster RUNS 15000 LIBS Evenkeel::model)
evenkeel_fuzz(command_line RUNS 3000 LIBS Evenkeel::cli)
evenkeel_fuzz(broker_config RUNS 15000 LIBS Evenkeel::broker)
