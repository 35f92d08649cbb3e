// Errors that the user made: all of them at once, each with its place. The command prints them and exits with 2.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace mtsim {

class UserError : public std::runtime_error {
 public:
  explicit UserError(std::string message);
  explicit UserError(std::vector<std::string> messages);
  const std::vector<std::string>& messages() const { return messages_; }

 private:
  std::vector<std::string> messages_;
};

/// The known word nearest to `word` by edit distance, or an empty string when none is near enough to be a likely slip.
std::string nearest(std::string_view word, const std::vector<std::string>& known);
/// `; did you mean 'lanes'?` or an empty string.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

}  // namespace mtsim
