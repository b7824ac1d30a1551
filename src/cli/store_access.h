#pragma once
// What the commands that talk to a store have in common: which store, who asks, and how it is opened.
//
// No secret is ever a word of a command line, since process lists show those: a password comes from a file or from the environment.
//
// What counts, the first that says something: a flag; the context that --context names; the environment; the context in use; what is usual. Two things keep
// what belongs together together. Who names a store by a flag or in the environment has not asked for the context in use: nothing of it counts then. And
// a context's user, password and TLS files count only for its own store, so that no password goes to another one.

#include <memory>
#include <optional>
#include <string>

#include "evenkeel/cli/contexts.h"
#include "evenkeel/cli/live.h"
#include "evenkeel/store/backends/open.h"
#include "evenkeel/store/blocking.h"

namespace evenkeel::cli {

inline constexpr std::string_view default_store = "etcd://127.0.0.1:2379";

// As flags say it, or settled: then it is all that counts.
struct StoreReach {
  std::string url;
  std::string user;  // empty: nobody
  std::string password_file;
  store::Tls tls;
  Duration timeout = 5s;
  std::string context;  // the name of one; empty: the one in use, if it counts
  bool settled = false;
};
void add_store_reach(CLI::App& command, Session& session, StoreReach& reach);

// Whether the context in use counts. For what runs for long it does not: who changes it for himself would move a node or a daemon elsewhere at its next start.
enum class InUse : std::uint8_t { counts, does_not };
// The context that counts; one without a name says nothing. Paths in it are absolute.
struct ChosenContext {
  std::string name;
  Context says;
  bool named = false;  // by --context
};
std::optional<ChosenContext> choose_context(Session& session, const Outside& outside, const StoreReach& reach,
                                            InUse in_use = InUse::counts);
// With all that counts; the session learns which context has chosen the store.
StoreReach settle(Session& session, const Outside& outside, StoreReach reach, const ChosenContext& context);
// Both; nothing after the session was told what is wrong with contexts.
std::optional<StoreReach> settle(Session& session, const Outside& outside, const StoreReach& reach, InUse in_use = InUse::counts);

enum class Folder : std::uint8_t { must_be_there, may_be_made };  // of an embedded store

// How to open it: nothing is connected yet. Nothing after the session was told why not. What is not settled is settled first.
struct StoreChoice {
  store::Url url;
  store::OpenOptions options;
};
std::optional<StoreChoice> choose_store(Session& session, const Outside& outside, const StoreReach& reach, Folder folder);

// The store, or null after the session was told why not. Starts threads: signals are watched before, if they are.
std::unique_ptr<store::Blocking> open_store(Session& session, Outside& outside, const StoreReach& reach,
                                            Folder folder = Folder::must_be_there);

// Tells the session what a store answered, what to do if nobody knows whether it was done, and of a store that cannot be reached which context it is of.
void fail_store(Session& session, const Error& error);
// "the store is that of context …", if it is one's.
void tell_context(Session& session);

// A prefix as people type it: "/c1" is "/c1/".
std::string prefix_of(std::string word);

}  // namespace evenkeel::cli
