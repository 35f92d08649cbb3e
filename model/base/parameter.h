// A parameter is declared once, beside its use: name, unit, default, range, meaning and the source of the default. Parsing, checking,
// `mtsim describe` and the JSON Schema all come from that one declaration.
//
//   struct LinkParams {
//     std::uint32_t lanes{};
//     Bytes max_payload{};
//     static void declare(Declaration<LinkParams>& d) {
//       d.section("pcie", "The PCIe link between a NIC and its root complex.");
//       d.field("lanes", &LinkParams::lanes).standard("16").range("1", "32").means("Lanes of the link.").source("typical of 100 Gb/s
//       NICs"); d.field("max_payload", &LinkParams::max_payload).standard("256B").range("128B", "4KiB").means("...").source("...");
//     }
//   };
//
// The unit follows from the member's type (Time, Bytes, BitRate, Frequency, counts, double, bool, std::string, or an enum through
// `choice`). Every text (defaults and ranges too) is in the form that YAML takes: `200ns`, `64KiB`, `400Gb/s`, `1.5GHz`.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/quantity_text.h"
#include "base/units.h"

namespace mtsim {

/// One declared parameter, without its type: what describe, the schema and the checks need.
struct Parameter {
  std::string name;                  ///< the last word of its YAML path
  std::string unit;                  ///< "time", "bytes", "rate", "frequency", "count", "number", "bool", "text" or "choice"
  std::string standard;              ///< the default, as YAML would give it
  std::string low, high;             ///< bounds, inclusive; empty where there is none
  std::vector<std::string> choices;  ///< the words allowed, for "choice"
  std::string meaning;
  std::string source;  ///< where the default comes from: a measurement, a document, `estimate (N1)`
  /// Parses `text` into the member of `object`; returns what is wrong with it, or an empty string.
  std::function<std::string(void* object, const std::string& text)> assign;
  /// Below, at or above zero as the value of `a` is smaller than, equal to or larger than that of `b`. Set where values have an order.
  std::function<int(const std::string& a, const std::string& b)> compare;

  /// Assigns `text` and checks the range. Returns the whole complaint (`40 is above the maximum 32`) or an empty string; after a
  /// complaint the member holds the default.
  std::string set(void* object, const std::string& text) const;
  /// What the parameter takes, for people: `time, 1ns to 2us`; `one of: flat, radix`.
  std::string allowed() const;
};

/// A section of the configuration: its YAML path (`nic.mtt_cache`), meaning and parameters.
struct Section {
  std::string path;
  std::string meaning;
  std::vector<Parameter> parameters;
};

template <class Params>
class Declaration {
 public:
  class Field {
   public:
    explicit Field(Parameter& p) : p_(p) {}
    Field& standard(std::string text) {
      p_.standard = std::move(text);
      return *this;
    }
    Field& range(std::string low, std::string high) {
      p_.low = std::move(low);
      p_.high = std::move(high);
      return *this;
    }
    Field& means(std::string text) {
      p_.meaning = std::move(text);
      return *this;
    }
    Field& source(std::string text) {
      p_.source = std::move(text);
      return *this;
    }

   private:
    Parameter& p_;
  };

  void section(std::string path, std::string meaning) {
    section_.path = std::move(path);
    section_.meaning = std::move(meaning);
  }

  template <class T>
  Field field(std::string name, T Params::*member) {
    Parameter& p = add(std::move(name), text::unit_of<T>());
    p.assign = [member](void* object, const std::string& value) { return text::parse(value, static_cast<Params*>(object)->*member); };
    p.compare = [](const std::string& a, const std::string& b) {
      T left{}, right{};
      text::parse(a, left);
      text::parse(b, right);
      return left < right ? -1 : (right < left ? 1 : 0);
    };
    return Field(p);
  }

  /// An enum member: `words` gives the allowed texts and the values they stand for.
  template <class E>
  Field choice(std::string name, E Params::*member, std::vector<std::pair<std::string, E>> words) {
    Parameter& p = add(std::move(name), "choice");
    for (const auto& [word, value] : words) p.choices.push_back(word);
    p.assign = [member, words = std::move(words)](void* object, const std::string& value) -> std::string {
      for (const auto& [word, meaning] : words)
        if (word == value) {
          static_cast<Params*>(object)->*member = meaning;
          return {};
        }
      return "unknown word";
    };
    return Field(p);
  }

  const Section& result() const { return section_; }

 private:
  Parameter& add(std::string name, std::string unit) {
    // References stay valid while a field is being described: each is complete before the next is added.
    section_.parameters.push_back(Parameter{});
    section_.parameters.back().name = std::move(name);
    section_.parameters.back().unit = std::move(unit);
    return section_.parameters.back();
  }
  Section section_;
};

/// The declared section of a parameter struct, made once.
template <class Params>
const Section& section_of() {
  static const Section section = [] {
    Declaration<Params> d;
    Params::declare(d);
    return d.result();
  }();
  return section;
}

/// A struct with every parameter at its declared default.
template <class Params>
Params defaults() {
  Params params{};
  for (const Parameter& p : section_of<Params>().parameters) p.assign(&params, p.standard);
  return params;
}

}  // namespace mtsim
