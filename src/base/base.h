#pragma once
// base: what everything else stands on. It knows nothing of clusters.
//
//   result.h      Result<T>, Error and its codes; ensure() for bugs
//   id.h          strong ids: Name<Tag>, Number<Tag>
//   time.h        Instant, Duration, and durations as text
//   clock.h       the one door through which time enters
//   quantity.h    Quantity, Bytes, Ratio: exact amounts, as text and in memory
//   rng.h         chance that is the same everywhere, split by name
//   hash.h        hashing that may be stored
//   loop.h        where asynchronous work runs: real_loop.h, virtual_loop.h
//   log.h         lines with fields
//   overloaded.h  several functions as one, for std::visit
//   text.h        UTF-8, quoting, did-you-mean, whole numbers
//   file.h        whole files in and out
//   diagnostic.h  what is wrong with a text, where, all of it at once
//   document.h    YAML and JSON as one tree in flat arrays
//   read.h        fields of that tree as typed values
//   write.h       YAML and JSON out, in one canonical form
//
// Include what you use; this header is the index and includes the small ones only.

#include "evenkeel/base/id.h"        // IWYU pragma: export
#include "evenkeel/base/quantity.h"  // IWYU pragma: export
#include "evenkeel/base/result.h"    // IWYU pragma: export
#include "evenkeel/base/time.h"      // IWYU pragma: export
