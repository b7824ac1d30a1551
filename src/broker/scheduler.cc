#include "evenkeel/broker/scheduler.h"

namespace evenkeel::broker {

std::string_view name(Refusal refusal) {
  switch (refusal) {
    case Refusal::none:
      return "OK";
    case Refusal::already_exists:
      return "ALREADY_EXISTS";
    case Refusal::unknown_task:
      return "UNKNOWN_TASK";
    case Refusal::task_in_fly:
      return "TASK_IN_FLY";
    case Refusal::task_in_queue:
      return "TASK_IN_QUEUE";
    case Refusal::oversized:
      return "OVERSIZED";
    case Refusal::queue_full:
      return "QUEUE_FULL";
  }
  return "";
}

std::string_view message(Refusal refusal) {
  switch (refusal) {
    case Refusal::none:
      return "";
    case Refusal::already_exists:
      return "the client has a task of this id; finish or remove it first, or take another id";
    case Refusal::unknown_task:
      return "the client has no task of this id";
    case Refusal::task_in_fly:
      return "the task runs; finish it instead";
    case Refusal::task_in_queue:
      return "the task still waits; remove it instead";
    case Refusal::oversized:
      return "the task needs more than a limit allows, and this broker refuses such tasks; ask for less";
    case Refusal::queue_full:
      return "as many tasks wait in the queue as this broker allows; try again when some were granted";
  }
  return "";
}

}  // namespace evenkeel::broker
