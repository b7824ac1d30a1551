#include "evenkeel/base/file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <thread>

namespace evenkeel {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr Bytes plenty(1 << 20);

class File : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "evenkeel-file-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    dir_ = pattern;
  }
  void TearDown() override { fs::remove_all(dir_); }

  std::string path(const std::string& name) const { return (dir_ / name).string(); }
  void write(const std::string& name, std::string_view content) const { std::ofstream(dir_ / name, std::ios::binary) << content; }
  std::string content(const std::string& name) const {
    std::ostringstream out;
    out << std::ifstream(dir_ / name, std::ios::binary).rdbuf();
    return out.str();
  }
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(dir_)) found.push_back(entry.path().filename().string());
    std::sort(found.begin(), found.end());
    return found;
  }
  mode_t mode(const std::string& name) const {
    struct stat info {};
    EXPECT_EQ(stat(path(name).c_str(), &info), 0);
    return info.st_mode & 07777;
  }

  fs::path dir_;
};

TEST_F(File, ReadsAllBytes) {
  const std::string bytes("a\0\n\xff", 4);
  write("a", bytes);
  EXPECT_EQ(read_file(path("a"), plenty), bytes);
  write("empty", "");
  EXPECT_EQ(read_file(path("empty"), Bytes(0)), "");
}

TEST_F(File, ReadsUpToTheBoundAndNotOver) {
  for (const std::size_t size :
       {std::size_t{1}, std::size_t{65'535}, std::size_t{65'536}, std::size_t{65'537}, std::size_t{200'000}}) {
    const std::string bytes(size, 'x');
    write("a", bytes);
    EXPECT_EQ(read_file(path("a"), Bytes(size)), bytes) << size;
    EXPECT_EQ(read_file(path("a"), Bytes(std::numeric_limits<std::uint64_t>::max())), bytes) << size;
    const auto over = read_file(path("a"), Bytes(size - 1));
    ASSERT_FALSE(over) << size;
    EXPECT_EQ(over.error().code, Code::too_large);
    EXPECT_THAT(over.error().message, HasSubstr("/a\" is larger than"));
  }
}

TEST_F(File, AnEndlessDeviceIsTooLarge) {
  const auto read = read_file("/dev/zero", plenty);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error(), (Error{Code::too_large, "\"/dev/zero\" is larger than 1Mi bytes, the most that is read"}));
}

TEST_F(File, ReadsAPipeToItsEnd) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  const std::string bytes(300'000, 'p');
  const std::jthread writer([&] { write("pipe", bytes); });
  EXPECT_EQ(read_file(path("pipe"), plenty), bytes);
}

TEST_F(File, ADashIsStandardInput) {
  write("in", "from stdin");
  const int old = dup(STDIN_FILENO);
  const int in = open(path("in").c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(dup2(in, STDIN_FILENO), STDIN_FILENO);
  close(in);
  EXPECT_EQ(read_file("-", plenty), "from stdin");
  EXPECT_EQ(read_file("-", plenty), "");  // still open, and at its end
  lseek(STDIN_FILENO, 0, SEEK_SET);
  const auto over = read_file("-", Bytes(3));
  ASSERT_FALSE(over);
  EXPECT_EQ(over.error(), (Error{Code::too_large, "\"standard input\" is larger than 3 bytes, the most that is read"}));
  if (old >= 0) {
    dup2(old, STDIN_FILENO);
    close(old);
  }
}

TEST_F(File, SaysWhyItCannotRead) {
  const auto missing = read_file(path("missing"), plenty);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error(), (Error{Code::not_found, "cannot read \"" + path("missing") + "\": No such file or directory"}));
  const auto directory = read_file(dir_.string(), plenty);
  ASSERT_FALSE(directory);
  EXPECT_EQ(directory.error(), (Error{Code::invalid, "cannot read \"" + dir_.string() + "\": it is a directory"}));
  EXPECT_EQ(read_file("", plenty).error().code, Code::invalid);
  write("a", "a");
  EXPECT_EQ(read_file(path("a/b"), plenty).error().code, Code::not_found);
  EXPECT_EQ(read_file(path("a") + std::string("\0b", 2), plenty).error().code, Code::invalid);
  EXPECT_EQ(read_file(path(std::string(5'000, 'x')), plenty).error().code, Code::invalid);
  EXPECT_LT(read_file(path(std::string(5'000, 'x')), plenty).error().message.size(), 1'200U);
}

TEST_F(File, ReplacesAndLeavesNothingElse) {
  ASSERT_TRUE(replace_file(path("a"), "first"));
  EXPECT_EQ(content("a"), "first");
  ASSERT_TRUE(replace_file(path("a"), std::string(200'000, 'x')));
  EXPECT_EQ(content("a"), std::string(200'000, 'x'));
  ASSERT_TRUE(replace_file(path("a"), ""));
  EXPECT_EQ(content("a"), "");
  EXPECT_THAT(names(), ElementsAre("a"));
}

TEST_F(File, ARelativePathWithoutFolderIsInThisOne) {
  const fs::path old = fs::current_path();
  fs::current_path(dir_);
  EXPECT_TRUE(replace_file("here", "x"));
  fs::current_path(old);
  EXPECT_EQ(content("here"), "x");
}

TEST_F(File, PermissionsStayAndNewOnesFollowTheUmask) {
  write("a", "old");
  ASSERT_EQ(chmod(path("a").c_str(), 0751), 0);
  ASSERT_TRUE(replace_file(path("a"), "new"));
  EXPECT_EQ(mode("a"), 0751U);
  ASSERT_EQ(chmod(path("a").c_str(), 0400), 0);
  ASSERT_TRUE(replace_file(path("a"), "newer"));
  EXPECT_EQ(mode("a"), 0400U);
  EXPECT_EQ(content("a"), "newer");
  const mode_t old = umask(027);
  EXPECT_TRUE(replace_file(path("b"), "new"));
  umask(old);
  EXPECT_EQ(mode("b"), 0640U);
}

TEST_F(File, WhatIsPrivateIsItsOwnersAlone) {
  const mode_t old = umask(0);
  EXPECT_TRUE(replace_private_file(path("new/folder/a"), "secret"));
  umask(old);
  EXPECT_EQ(content("new/folder/a"), "secret");
  EXPECT_EQ(mode("new/folder/a"), 0600U);
  EXPECT_EQ(mode("new/folder"), 0700U);
  EXPECT_EQ(mode("new"), 0700U);
  ASSERT_EQ(chmod(path("new").c_str(), 0755), 0);
  ASSERT_EQ(chmod(path("new/folder/a").c_str(), 0644), 0);
  ASSERT_TRUE(replace_private_file(path("new/folder/a"), "more"));
  EXPECT_EQ(mode("new/folder/a"), 0600U) << "whatever it was";
  EXPECT_EQ(mode("new"), 0755U) << "a folder that is there stays as it is";
  write("b", "b");
  EXPECT_EQ(replace_private_file(path("b/c/a"), "x").error().message,
            "cannot make the folder \"" + path("b/c") + "\": Not a directory");
  EXPECT_EQ(replace_private_file("", "x").error().code, Code::invalid);
}

TEST_F(File, AReaderOfTheOldFileKeepsIt) {
  write("a", "old");
  std::ifstream reader(dir_ / "a");
  ASSERT_TRUE(replace_file(path("a"), "new content"));
  std::string seen;
  std::getline(reader, seen);
  EXPECT_EQ(seen, "old");
}

TEST_F(File, ALinkStaysAndWhatItPointsToIsReplaced) {
  fs::create_directory(dir_ / "sub");
  write("sub/real", "old");
  fs::create_symlink("sub/real", dir_ / "link");
  ASSERT_TRUE(replace_file(path("link"), "new"));
  EXPECT_TRUE(fs::is_symlink(dir_ / "link"));
  EXPECT_EQ(content("sub/real"), "new");
  fs::create_symlink("nowhere", dir_ / "dangling");
  const auto refused = replace_file(path("dangling"), "new");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::not_found);
  EXPECT_THAT(refused.error().message, HasSubstr("symbolic link to a file that does not exist"));
  EXPECT_THAT(names(), ElementsAre("dangling", "link", "sub"));
}

TEST_F(File, SaysWhyItCannotWrite) {
  const auto code = [&](const std::string& where) {
    const auto result = replace_file(where, "x");
    return result ? std::string("written") : std::string(name(result.error().code));
  };
  EXPECT_EQ(code(path("no/such/folder")), "not_found");
  EXPECT_EQ(code(dir_.string()), "invalid");
  EXPECT_EQ(code(path("new/")), "invalid");
  EXPECT_EQ(code("/dev/null"), "invalid");
  EXPECT_EQ(code(""), "invalid");
  EXPECT_EQ(code(path("a") + std::string("\0b", 2)), "invalid");
  write("a", "a");
  EXPECT_EQ(code(path("a/b")), "not_found");
  EXPECT_THAT(names(), ElementsAre("a"));
  EXPECT_EQ(replace_file(path("no/file"), "x").error().message,
            "cannot write \"" + path("no/file") + "\": No such file or directory");
}

// A write that breaks off half way, as on a full disk: here at the largest size that the process may write.
TEST_F(File, AFailedWriteLeavesTheOldFileAndNothingElse) {
  write("a", "old");
  rlimit old{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  const auto old_handler = signal(SIGXFSZ, SIG_IGN);
  const rlimit small{100'000, old.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto failed = replace_file(path("a"), std::string(200'000, 'x'));
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &old), 0);
  signal(SIGXFSZ, old_handler);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error(), (Error{Code::unavailable, "cannot write \"" + path("a") + "\": File too large"}));
  EXPECT_EQ(content("a"), "old");
  EXPECT_THAT(names(), ElementsAre("a"));
}

// Leftovers of a process that died, with the very names that would be used now, are stepped over and left alone.
TEST_F(File, LeftoversAreNotInTheWay) {
  const std::string leftover = fmt::format(".evenkeel-{}-0.tmp", getpid());
  write(leftover, "left");
  ASSERT_TRUE(replace_file(path("a"), "new"));
  EXPECT_EQ(content("a"), "new");
  EXPECT_EQ(content(leftover), "left");
  EXPECT_THAT(names(), ElementsAre(leftover, "a"));
}

TEST_F(File, ManyWritersLeaveOneWholeFile) {
  {
    std::vector<std::jthread> writers;
    for (char writer = 'a'; writer < 'e'; ++writer) {
      writers.emplace_back([&, writer] {
        for (int i = 0; i < 10; ++i) EXPECT_TRUE(replace_file(path("shared"), std::string(10'000, writer)));
      });
    }
  }
  const std::string left = content("shared");
  ASSERT_EQ(left.size(), 10'000U);
  EXPECT_EQ(left, std::string(10'000, left.front()));
  EXPECT_THAT(names(), ElementsAre("shared"));
}

}  // namespace
}  // namespace evenkeel
