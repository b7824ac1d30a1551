#pragma once
// Results: how an operation says no.
//
// There are three kinds of "no" here, and only one of them is this header's:
//   - expected (no node fits): a plain value with reasons, never an Error;
//   - operating (store unreachable, revision moved, bad input): `Result<T>`, below;
//   - bug (a broken invariant): `ensure(...)`, which stops the process, in release builds too.
//
//   Result<Revision> commit(Store& store, const Plan& plan) {
//     auto seen = store.get("config");
//     if (!seen) return fail(seen.error().in("commit"));     // context is added on the way up
//     if (seen->revision != plan.seen) return fail(Code::conflict, "config changed since it was read");
//     ...
//   }
//
// A code exists only if some caller acts on it; the message is for people. `unknown_outcome` is the one that needs care: the
// write may or may not have happened, so the caller reads before it retries.

#include <fmt/format.h>

#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace evenkeel {

enum class Code : std::uint8_t {
  invalid,          // the input is wrong: fix it; trying again cannot help
  not_found,        // what was named does not exist
  conflict,         // it changed since it was read, or exists already: read again, decide again
  refused,          // understood and not done, by a rule that the message names
  denied,           // who asks has no right to it
  too_large,        // over a stated bound: cut it into pieces
  unavailable,      // not reached, or not in time, and certainly not done: try again later
  unknown_outcome,  // sent, and the answer was lost: read before trying again
  cancelled,        // the caller's own stop token or deadline ended it
};

// The code's name as text, for logs and the command line: "unknown_outcome".
std::string_view name(Code code);

// Why an operation did not succeed. Small, copyable, comparable.
struct [[nodiscard]] Error {
  Code code = Code::invalid;
  std::string message;

  // The same error with one more word of context in front: "plan: config: no such key".
  Error in(std::string_view context) const& { return {code, fmt::format("{}: {}", context, message)}; }
  Error in(std::string_view context) && { return {code, message.insert(0, fmt::format("{}: ", context))}; }

  friend bool operator==(const Error&, const Error&) = default;
};

template <class T = void>
using Result = tl::expected<T, Error>;

using tl::unexpected;

inline unexpected<Error> fail(Error error) { return unexpected<Error>(std::move(error)); }

template <class... Args>
unexpected<Error> fail(Code code, fmt::format_string<Args...> text, Args&&... args) {
  return fail(Error{code, fmt::format(text, std::forward<Args>(args)...)});
}

// Stop the process: a promise of the code to itself is broken. `what` is the promise, in words: it is printed with the place.
[[noreturn]] void stop_on_bug(std::string_view what, std::source_location where = std::source_location::current());

inline void ensure(bool holds, std::string_view what, std::source_location where = std::source_location::current()) {
  if (!holds) [[unlikely]]
    stop_on_bug(what, where);
}

}  // namespace evenkeel

template <>
struct fmt::formatter<evenkeel::Code> : fmt::formatter<std::string_view> {
  auto format(evenkeel::Code code, format_context& context) const {
    return formatter<std::string_view>::format(evenkeel::name(code), context);
  }
};

template <>
struct fmt::formatter<evenkeel::Error> : fmt::formatter<std::string_view> {
  auto format(const evenkeel::Error& error, format_context& context) const {
    return fmt::format_to(context.out(), "{} ({})", error.message, evenkeel::name(error.code));
  }
};
