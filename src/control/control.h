#pragma once
// control: the controller. What is known about a cluster in; records, targets and the view out, one safe step at a time.
//
//   machine.h           the pure core: documents, answers and the time in; documents to be written out
//   broken.h            rules that tests switch off, to see that it is noticed
//   operate.h           what operators ask, as pure functions: documents in, documents to be written out
//   rollout.h           a rolling restart: whom to ask for a permit next, and who may be stopped now
//   survey.h            how a cluster stands, from its documents alone
//   shell/controller.h  the core on a loop and a store: election, watches, guarded writes, placement, wake-ups
//
// The active controller is elected; every write compares `controller_epoch`, so that a deposed one changes nothing. It holds no truth: what it
// remembers beside the store's documents are moments (since when a seal is open), and a successor that forgets them is only more patient.
// What is safe about one shard is decided by the rules of detail/shard.h, from its record and proofs alone.

#include "evenkeel/control/broken.h"   // IWYU pragma: export
#include "evenkeel/control/machine.h"  // IWYU pragma: export
