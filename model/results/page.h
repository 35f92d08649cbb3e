// A page of text under construction: lines, headings and columns of fixed width. Colours take no room.
#pragma once

#include <string>
#include <vector>

namespace mtsim::results {

class Page {
 public:
  static constexpr std::size_t width = 100;

  explicit Page(bool colour) : colour_(colour) {}

  /// Lines longer than the page are cut.
  void line(const std::string& text);
  /// In bold.
  void heading(const std::string& text);
  /// In red.
  void alarm(const std::string& text);
  /// One blank line before the next line, if there is one and something stands above it.
  void gap();
  /// `cells` beneath each other: the first left-aligned in a column of `first` characters, the others right-aligned in `other`.
  void row(const std::vector<std::string>& cells, std::size_t first, std::size_t other);
  void heading_row(const std::vector<std::string>& cells, std::size_t first, std::size_t other);
  /// Two blocks of lines beside each other.
  void beside(const std::vector<std::string>& left, const std::vector<std::string>& right);
  /// `text` in as many lines as it takes, broken at blanks, those after the first indented.
  void paragraph(const std::string& text);

  const std::string& text() const { return text_; }

 private:
  void styled(const std::string& text, const char* style);

  bool colour_;
  bool gap_ = false;
  std::string text_;
};

}  // namespace mtsim::results
