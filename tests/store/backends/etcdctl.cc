#include "tests/store/backends/etcdctl.h"

#include <fmt/format.h>

#include <fstream>
#include <sstream>

namespace evenkeel::test {
namespace {

constexpr Duration etcdctl_at_most = 60s;  // a bound for what hangs

// What etcdctl's client logs, with times, is not what it says.
std::string without_log(const std::string& text) {
  std::istringstream in(text);
  std::string kept, line;
  while (std::getline(in, line)) {
    if (!line.starts_with("{\"level\"")) kept += line + "\n";
  }
  return kept;
}

}  // namespace

std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void write_text(const std::string& path, std::string_view text) {
  std::ofstream(path, std::ios::binary).write(text.data(), static_cast<std::streamsize>(text.size()));
}

std::string Etcdctl::Running::out() const { return text_of(files_ + ".out"); }
std::string Etcdctl::Running::error() const { return without_log(text_of(files_ + ".err")); }

void Etcdctl::Running::wait_for(std::string_view text) {
  wait_until(
      fmt::format("etcdctl to say {}", text), etcdctl_at_most, [&] { return out().find(text) != std::string::npos; },
      [&] { return out() + error(); });
}

Said Etcdctl::Running::finish() {
  const int code = process_->wait(etcdctl_at_most);
  return {code, out(), error()};
}

Etcdctl::Etcdctl(std::string endpoint, std::vector<std::string> flags)
    : endpoint_(std::move(endpoint)), flags_(std::move(flags)) {}

std::unique_ptr<Etcdctl::Running> Etcdctl::start(std::vector<std::string> words, const std::string& input) {
  auto running = std::make_unique<Running>();
  running->files_ = fmt::format("{}/{}", folder_.path(), count_++);
  write_text(running->files_ + ".in", input);
  std::vector<std::string> command = {
      "sh", "-c", R"(exec etcdctl "$@" <"$0.in" >"$0.out" 2>"$0.err")", running->files_, "--endpoints", endpoint_};
  command.insert(command.end(), flags_.begin(), flags_.end());
  command.insert(command.end(), words.begin(), words.end());
  running->process_ = std::make_unique<Process>(std::move(command), running->files_ + ".log");
  return running;
}

Said Etcdctl::run(std::vector<std::string> words, const std::string& input) { return start(std::move(words), input)->finish(); }

}  // namespace evenkeel::test
