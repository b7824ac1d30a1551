#pragma once
// sim: a whole cluster in one deterministic process, with faults.
//
//   story.h       a cluster's life as text: what happens when, what is expected
//   edit.h        what a story's actions make of the cluster's spec
//   simulation.h  real controllers, participants and routers over the memory store on virtual time, and checkers of every promise
//   run.h         stories played from beginning to end, and stories made up from a seed

#include "evenkeel/sim/edit.h"        // IWYU pragma: export
#include "evenkeel/sim/run.h"         // IWYU pragma: export
#include "evenkeel/sim/simulation.h"  // IWYU pragma: export
#include "evenkeel/sim/story.h"       // IWYU pragma: export
