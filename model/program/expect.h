// What a line expects against what came: the defaults are `ok` for a call and SUCCESS for a completion.
#pragma once

#include <cstdint>
#include <string>

#include "program/op.h"
#include "verbs/types.h"

namespace mtsim::program {

/// Of a line that says what it expects.
bool names_error(const Expectation&, int error);
/// `error` is 0 or an errno value.
inline bool allows_error(const Expectation& e, int error) { return e.given ? names_error(e, error) : error == 0; }
bool allows_status(const Expectation&, std::uint64_t wr, verbs::Status);

/// `ok`, `EINVAL|ENOMEM`, `anything`: what allows_error accepts.
std::string expected_errors(const Expectation&);
/// The same of states of a QP and of events.
std::string expected_states(const Expectation&);
std::string expected_events(const Expectation&);
/// The same for the completion of request `wr`.
std::string expected_statuses(const Expectation&, std::uint64_t wr);

}  // namespace mtsim::program
