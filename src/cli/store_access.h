#pragma once
// What the commands that talk to a store have in common: which store, who asks, and how it is opened.
//
// No secret is ever a word of a command line, since process lists show those: a password comes from a file or from the environment.

#include <memory>
#include <optional>
#include <string>

#include "evenkeel/cli/live.h"
#include "evenkeel/store/backends/open.h"
#include "evenkeel/store/blocking.h"

namespace evenkeel::cli {

inline constexpr std::string_view default_store = "etcd://127.0.0.1:2379";

struct StoreReach {
  std::string url;   // empty: EVENKEEL_STORE, else default_store
  std::string user;  // empty: EVENKEEL_STORE_USER, else nobody
  std::string password_file;
  store::Tls tls;
  Duration timeout = 5s;
};
void add_store_reach(CLI::App& command, Session& session, StoreReach& reach);

std::string store_url(const Outside& outside, const StoreReach& reach);

enum class Folder : std::uint8_t { must_be_there, may_be_made };  // of an embedded store

// How to open it: nothing is connected yet. Nothing after the session was told why not.
struct StoreChoice {
  store::Url url;
  store::OpenOptions options;
};
std::optional<StoreChoice> choose_store(Session& session, const Outside& outside, const StoreReach& reach, Folder folder);

// The store, or null after the session was told why not. Starts threads: signals are watched before, if they are.
std::unique_ptr<store::Blocking> open_store(Session& session, Outside& outside, const StoreReach& reach,
                                            Folder folder = Folder::must_be_there);

// Tells the session what a store answered, and what to do if nobody knows whether it was done.
void fail_store(Session& session, const Error& error);

// A prefix as people type it: "/c1" is "/c1/".
std::string prefix_of(std::string word);

}  // namespace evenkeel::cli
