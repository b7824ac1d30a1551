#pragma once
// Executors (shell/session.h) for the two usual cases.

#include <utility>

#include "evenkeel/base/loop.h"
#include "evenkeel/broker/shell/session.h"

namespace evenkeel::broker {

// At once, on the thread whose operation caused the delivery. The least delay; what runs there should be short and must not wait.
inline Executor at_once() {
  return [](std::move_only_function<void()> work) { work(); };
}

// On the loop, which must outlive its last delivery.
inline Executor on(Loop& loop) {
  return [&loop](std::move_only_function<void()> work) { loop.post(std::move(work)); };
}

}  // namespace evenkeel::broker
