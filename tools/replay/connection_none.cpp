// What stands for connection.cpp where there is no librdmacm.
#include <cerrno>

#include "connection.h"

namespace mtsim::replay {

bool has_connection_manager() { return false; }

struct Connection::Manager {};

Connection::Connection(std::string, Patience) {}
Connection::~Connection() = default;
int Connection::listen(QpAddress&) { return EOPNOTSUPP; }
int Connection::accept(const Own&) { return EOPNOTSUPP; }
int Connection::connect(const QpAddress&, const Own&) { return EOPNOTSUPP; }
int Connection::established() { return EOPNOTSUPP; }
bool Connection::up() { return false; }

}  // namespace mtsim::replay
