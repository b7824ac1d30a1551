#include <array>
#include <utility>

#include "evenkeel/sim/run.h"

namespace evenkeel::sim {
namespace {

constexpr std::array<std::pair<Fault, std::string_view>, 13> fault_names{{{Fault::crash, "crash"},
                                                                          {Fault::pause, "pause"},
                                                                          {Fault::cut, "cut"},
                                                                          {Fault::slow, "slow"},
                                                                          {Fault::fail, "fail"},
                                                                          {Fault::store, "store"},
                                                                          {Fault::expire, "expire"},
                                                                          {Fault::clock, "clock"},
                                                                          {Fault::controllers, "controllers"},
                                                                          {Fault::twins, "twins"},
                                                                          {Fault::disks, "disks"},
                                                                          {Fault::rollback, "rollback"},
                                                                          {Fault::operators, "operators"}}};

}  // namespace

std::string_view name(Fault fault) {
  for (const auto& [known, text] : fault_names) {
    if (known == fault) return text;
  }
  return "?";
}

std::vector<Fault> all_faults() {
  std::vector<Fault> all;
  for (const auto& [fault, text] : fault_names) all.push_back(fault);
  return all;
}

}  // namespace evenkeel::sim
