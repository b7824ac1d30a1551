#pragma once
// How keys are paths of nodes: below a root, part by part as they are, but for what ZooKeeper does not take.
//
// ZooKeeper refuses some characters that a key may have (C1 controls, private use, all beyond the basic plane): these, and '%' itself, are
// written as %XX for each of their bytes.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace evenkeel::store::zookeeper {

// `root` is "" for ZooKeeper's own, or a path without '/' at its end.
std::string path_of(std::string_view root, std::string_view key);
// A prefix's own node: of "/a/" that of "/a", of "/" the root.
std::string path_of_prefix(std::string_view root, std::string_view prefix);
// None: it is not below the root, or is no name that we would give.
std::optional<std::string> key_of(std::string_view root, std::string_view path);

// The root as a path: "/" for "".
std::string root_path(std::string_view root);
std::string parent_of(std::string_view path);
std::string child_of(std::string_view path, std::string_view name);
// All above it, the topmost first, without "/" itself.
std::vector<std::string> ancestors_of(std::string_view path);
bool is_below(std::string_view path, std::string_view ancestor);

}  // namespace evenkeel::store::zookeeper
