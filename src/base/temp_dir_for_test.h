// A folder of its own for one test, removed at the end.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

namespace trivet {

class TempDirForTest {
 public:
  TempDirForTest() {
    std::string name = ::testing::TempDir() + "trivet_XXXXXX";
    if (mkdtemp(name.data()) == nullptr) ADD_FAILURE() << "cannot create a folder like " << name;
    path_ = name;
  }
  TempDirForTest(const TempDirForTest&) = delete;
  TempDirForTest& operator=(const TempDirForTest&) = delete;
  ~TempDirForTest() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] std::string path() const { return path_.string(); }
  [[nodiscard]] std::string file(std::string_view name) const { return (path_ / name).string(); }

  /// Writes a file, and the folders on its way; returns its full path.
  std::string write(std::string_view name, std::string_view text) const {
    const std::filesystem::path target = path_ / name;
    std::filesystem::create_directories(target.parent_path());
    std::ofstream out(target, std::ios::binary);
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
    if (!out.flush()) ADD_FAILURE() << "cannot write " << target;
    return target.string();
  }

 private:
  std::filesystem::path path_;
};

}  // namespace trivet
