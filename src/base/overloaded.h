#pragma once
// Overloaded: several functions as one, for std::visit.
//
//   std::visit(Overloaded{[&](const Put& put) { … }, [&](const Erase& erase) { … }}, operation);

namespace evenkeel {

template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;  // clang 16 does not find it by itself

}  // namespace evenkeel
