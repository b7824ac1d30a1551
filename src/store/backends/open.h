#pragma once
// Which store: a URL says it.
//
//   memory:                          of this process alone
//   embedded:DIR                     a folder on this host, which one process at a time opens
//   etcd://h1:2379,h2:2379/prefix    etcd 3.4 or later, or `evenkeel store serve`; keys go below /prefix
//   zk://h1:2181,h2:2181/chroot      ZooKeeper 3.5 or later
//
// Names and passwords are never part of a URL, since process lists and logs show those: they come from `Access`, which the command line fills
// from files and the environment. `etcds://` is etcd over TLS.

#include <memory>
#include <string>
#include <string_view>

#include "evenkeel/base/log.h"
#include "evenkeel/store/store.h"

namespace evenkeel::store {

struct Tls {
  std::string authority;    // PEM file of the authorities to trust; empty: the system's
  std::string certificate;  // PEM files of our own, for servers that ask for one
  std::string key;
  std::string server_name;  // to expect instead of the endpoint's host
  friend bool operator==(const Tls&, const Tls&) = default;
};

struct Access {
  std::string user;
  std::string password;
  Tls tls;
};

struct OpenOptions {
  Access access;
  Duration timeout = 5s;     // of a call: connecting and trying other endpoints included
  Duration lease_ttl = 10s;  // of ephemeral keys
  Log* log = nullptr;        // may be null
};

struct Url {
  std::string scheme;                  // memory, embedded, etcd, etcds, zk
  std::vector<std::string> endpoints;  // host:port
  std::string path;                    // a folder, or a prefix without '/' at its end
};

Result<Url> parse_url(std::string_view text);
std::string format(const Url& url);

// Opens the backend; nothing is connected yet, so a server that cannot be reached is seen at the first call.
// Folders are opened at once: Code::conflict if another process has it, invalid if it is of another version or damaged.
Result<std::unique_ptr<Store>> open(Loop& loop, const Url& url, const OpenOptions& options);
Result<std::unique_ptr<Store>> open(Loop& loop, std::string_view url, const OpenOptions& options);

}  // namespace evenkeel::store
