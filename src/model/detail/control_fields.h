#pragma once
// The settings of the controller that have one kind and no more to say than their name: read, written and checked by these tables.

#include <string_view>

#include "evenkeel/model/control_spec.h"

namespace evenkeel::detail {

template <class Owner, class T>
struct NamedField {
  std::string_view name;
  T Owner::*member;
};

inline constexpr NamedField<ControlSettings, Duration> settings_durations[] = {
    {"session_ttl", &ControlSettings::session_ttl},
    {"controller_ttl", &ControlSettings::controller_ttl},
    {"rebalance_delay", &ControlSettings::rebalance_delay},
    {"permit", &ControlSettings::permit},
    {"steady", &ControlSettings::steady},
    {"loads_pause", &ControlSettings::loads_pause},
};
inline constexpr NamedField<ControlSettings, Throttle> settings_throttles[] = {
    {"recovery", &ControlSettings::recovery},
    {"balance", &ControlSettings::balance},
    {"recovery_per_node", &ControlSettings::recovery_per_node},
    {"balance_per_node", &ControlSettings::balance_per_node},
    {"recovery_per_zone", &ControlSettings::recovery_per_zone},
    {"balance_per_zone", &ControlSettings::balance_per_zone},
    {"recovery_per_workload", &ControlSettings::recovery_per_workload},
    {"balance_per_workload", &ControlSettings::balance_per_workload},
    {"openings", &ControlSettings::openings},
    {"openings_per_node", &ControlSettings::openings_per_node},
    {"openings_per_zone", &ControlSettings::openings_per_zone},
    {"openings_per_workload", &ControlSettings::openings_per_workload},
};
inline constexpr NamedField<WorkloadControl, Duration> workload_durations[] = {
    {"seal_wait", &WorkloadControl::seal_wait},
    {"hand_over", &WorkloadControl::hand_over},
    {"linger", &WorkloadControl::linger},
    {"transition", &WorkloadControl::transition},
};

}  // namespace evenkeel::detail
