#include "tests/store/backends/processes.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "evenkeel/base/clock.h"

namespace evenkeel::test {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void give_up(std::string_view what) { throw std::runtime_error(fmt::format("{}: {}", what, std::strerror(errno))); }

// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int operator*() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }

 private:
  int number_;
};

// In the child, between fork and exec: nothing here may allocate or lock.
[[noreturn]] void become(char* const* arguments, int output, pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(126);  // it died before the line above
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  const int nothing = ::open("/dev/null", O_RDONLY);
  ::dup2(nothing, 0);
  ::dup2(output, 1);
  ::dup2(output, 2);
  ::close_range(3, ~0U, 0);
  ::execvp(arguments[0], arguments);
  ::_exit(127);
}

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// The inodes of sockets that listen at a port, as /proc/net/tcp and tcp6 list them:
//   sl  local_address rem_address st tx:rx tr:when retransmits uid timeout inode
std::set<std::string> listeners(std::uint16_t port) {
  std::set<std::string> found;
  for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream in(table);
    std::string line;
    std::getline(in, line);
    while (std::getline(in, line)) {
      std::istringstream words(line);
      std::string slot, local, remote, state, queues, timer, retransmits, user, timeout, inode;
      words >> slot >> local >> remote >> state >> queues >> timer >> retransmits >> user >> timeout >> inode;
      const std::string suffix = fmt::format(":{:04X}", port);
      if (state == "0A" && local.ends_with(suffix)) found.insert(fmt::format("socket:[{}]", inode));
    }
  }
  return found;
}

}  // namespace

TempFolder::TempFolder(Where where) {
  const char* set = std::getenv("TMPDIR");
  std::string base = where == Where::memory && ::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
  if (set != nullptr && *set != '\0') base = set;
  std::string pattern = base + "/evenkeel-test-XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) give_up(pattern);
  path_ = pattern;
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

Process::Process(std::vector<std::string> command, std::string output)
    : command_(std::move(command)), output_(std::move(output)) {
  const Descriptor file(::open(output_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!file) give_up(output_);
  std::vector<char*> arguments;
  for (std::string& word : command_) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ < 0) give_up("fork");
  if (pid_ == 0) become(arguments.data(), *file, parent);
  ::setpgid(pid_, pid_);  // here as well, so that it holds when this returns; in the child, so that it holds there
}

Process::~Process() { kill(); }

bool Process::running() {
  if (status_) return false;
  int status = 0;
  if (::waitpid(pid_, &status, WNOHANG) == 0) return true;
  status_ = status;
  return false;
}

void Process::kill() {
  if (!running()) return;
  ::kill(-pid_, SIGKILL);
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  status_ = status;
}

void Process::pause() {
  if (!running()) return;
  ::kill(-pid_, SIGSTOP);
  int status = 0;
  while (::waitpid(pid_, &status, WUNTRACED) < 0 && errno == EINTR) {
  }
  if (!WIFSTOPPED(status)) status_ = status;
}

void Process::resume() {
  if (running()) ::kill(-pid_, SIGCONT);
}

void Process::terminate() {
  if (running()) ::kill(pid_, SIGTERM);
}

int Process::wait(Duration at_most) {
  try {
    wait_until(
        fmt::format("the end of {}", command_[0]), at_most, [&] { return !running(); }, [&] { return output_tail(); });
  } catch (...) {
    kill();
    throw;
  }
  return WIFEXITED(*status_) ? WEXITSTATUS(*status_) : 128 + WTERMSIG(*status_);
}

std::string Process::output_tail() const {
  constexpr std::streamoff bytes_max = 4096;
  std::ifstream in(output_, std::ios::binary | std::ios::ate);
  const std::streamoff size = in.tellg();
  if (size <= 0) return fmt::format("{}: no output", fmt::join(command_, " "));
  in.seekg(std::max<std::streamoff>(0, size - bytes_max));
  std::ostringstream text;
  text << in.rdbuf();
  return fmt::format("{}:\n{}", fmt::join(command_, " "), text.str());
}

std::uint16_t free_port() {
  constexpr int tries = 1000;
  std::random_device dice;
  for (int i = 0; i < tries; ++i) {
    const auto port = static_cast<std::uint16_t>(15'000 + dice() % 17'000);
    const Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_in address = loopback(port);
    if (socket && ::bind(*socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return port;
  }
  throw std::runtime_error("no port of 127.0.0.1 is free");
}

bool listens(pid_t pid, std::uint16_t port) {
  const std::set<std::string> sockets = listeners(port);
  if (sockets.empty()) return false;
  std::error_code error;
  for (fs::directory_iterator at(fmt::format("/proc/{}/fd", pid), error), end; !error && at != end; at.increment(error)) {
    std::error_code closed;
    if (sockets.contains(fs::read_symlink(at->path(), closed).string())) return true;
  }
  return false;
}

std::optional<std::string> ask(std::uint16_t port, std::string_view question, Duration at_most) {
  const BootClock clock;
  const Instant until = later(clock.now(), at_most);
  const auto wait_for = [&](int socket, short event) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - clock.now()).count();
    pollfd one = {socket, event, 0};
    return left > 0 && ::poll(&one, 1, static_cast<int>(left)) == 1;
  };
  const Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const sockaddr_in address = loopback(port);
  if (!socket) return std::nullopt;
  if (::connect(*socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 && errno != EINPROGRESS)
    return std::nullopt;
  while (!question.empty()) {
    if (!wait_for(*socket, POLLOUT)) return std::nullopt;
    const ssize_t sent = ::send(*socket, question.data(), question.size(), MSG_NOSIGNAL);
    if (sent < 0) return std::nullopt;
    question.remove_prefix(static_cast<std::size_t>(sent));
  }
  std::string answer;
  while (wait_for(*socket, POLLIN)) {
    char buffer[4096];
    const ssize_t got = ::recv(*socket, buffer, sizeof buffer, 0);
    if (got < 0) return std::nullopt;
    if (got == 0) return answer;
    answer.append(buffer, static_cast<std::size_t>(got));
  }
  return std::nullopt;
}

void wait_until(std::string_view what, Duration at_most, const std::function<bool()>& holds,
                const std::function<std::string()>& detail) {
  const BootClock clock;
  const Instant until = later(clock.now(), at_most);
  while (!holds()) {
    if (clock.now() >= until)
      throw std::runtime_error(
          fmt::format("{} did not come within {}{}", what, evenkeel::format(at_most), detail ? "\n" + detail() : ""));
    std::this_thread::sleep_for(10ms);
  }
}

std::string evenkeel_program() { return (fs::read_symlink("/proc/self/exe").parent_path().parent_path() / "evenkeel").string(); }

}  // namespace evenkeel::test
