// A clock that moves when the test says so.
#pragma once

#include <algorithm>

#include "measure/timer.h"

namespace trivet {

class FakeTimer : public Timer {
 public:
  double now() override { return now_; }
  void sleep_until(double moment) override { now_ = std::max(now_, moment); }
  void pass(double seconds) { now_ += seconds; }

 private:
  double now_ = 1000;
};

}  // namespace trivet
