// Which words and keys each operation of the trace format takes.
#pragma once

#include <cstdint>
#include <string_view>

#include "program/op.h"
#include "program/trace_values.h"
#include "program/trace_words.h"

namespace mtsim::program {

/// What stands right after the name of the operation.
enum class Subject : std::uint8_t {
  none,
  makes,    ///< the name of the object made
  uses,     ///< the name of an object
  child,    ///< fork: the name of the copy
  barrier,  ///< the name of a barrier
  span,     ///< nanoseconds
  flag,     ///< 0 or 1
  advice,   ///< what advise_mr is to do
};

struct Shape {
  Subject subject = Subject::none;
  Wanted wanted = Wanted::buffer;   ///< with `makes` and `uses`
  Keys required = 0, optional = 0;  ///< of post_send: what every opcode takes
  std::string_view form;            ///< how a line looks, for messages
};

const Shape& shape(Kind);
/// The keys that an opcode of post_send takes beyond those of the operation.
const Shape& shape(verbs::Opcode);

}  // namespace mtsim::program
