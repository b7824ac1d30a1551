#include "evenkeel/model/exchange.h"

namespace evenkeel {

std::string_view name(Reason reason) {
  switch (reason) {
    case Reason::first:
      return "first";
    case Reason::restart:
      return "restart";
    case Reason::move:
      return "move";
    case Reason::failover:
      return "failover";
    case Reason::balance:
      return "balance";
    case Reason::operator_asked:
      return "operator";
    case Reason::split:
      break;
  }
  return "split";
}

}  // namespace evenkeel
