// A progress bar on standard error for long work, only where that is a terminal.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace trivet::cli {

/// Draws at most ten times a second; wipes itself when destroyed.
class Progress {
 public:
  Progress(std::string label, std::int64_t total);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  void advance(std::int64_t steps = 1);

 private:
  void draw() const;

  std::string label_;
  std::int64_t total_;
  std::int64_t done_ = 0;
  bool visible_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace trivet::cli
