#pragma once
// The two engines behind one face: a trace's commands played on the scheduler and on the naive model.

#include "evenkeel/broker/detail/trace_runner.h"
#include "evenkeel/broker/scheduler.h"
#include "tests/broker/naive_model.h"

namespace evenkeel::broker {

template <class Engine>
using RunnerOf = detail::Runner<Engine>;
using FastRunner = RunnerOf<Scheduler>;
using NaiveRunner = RunnerOf<NaiveModel>;

}  // namespace evenkeel::broker
