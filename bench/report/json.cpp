// SPDX-License-Identifier: Apache-2.0
#include "json.hpp"

#include <nlohmann/json.hpp>

namespace diffbench::bench {

namespace {

using nlohmann::ordered_json;

struct ToJson {
  ordered_json operator()(const auto& plain) const { return plain; }
  ordered_json operator()(const Value::List& list) const {
    ordered_json json = ordered_json::array();
    for (const Value& element : list) {
      json.push_back(json_of(element));
    }
    return json;
  }
  ordered_json operator()(const Value::Object& object) const {
    ordered_json json = ordered_json::object();
    for (const Member& member : object) {
      json.emplace(member.key, json_of(member.value));
    }
    return json;
  }
};

} // namespace

ordered_json json_of(const Value& value) { return std::visit(ToJson{}, value.data()); }

Value value_of(const ordered_json& json) {
  switch (json.type()) {
    case ordered_json::value_t::boolean: return json.get<bool>();
    case ordered_json::value_t::number_integer: return json.get<std::int64_t>();
    case ordered_json::value_t::number_unsigned: return json.get<std::uint64_t>();
    case ordered_json::value_t::number_float: return json.get<double>();
    case ordered_json::value_t::string: return json.get<std::string>();
    case ordered_json::value_t::array: return Value::each(json, value_of);
    case ordered_json::value_t::object: {
      Value object = Value::object();
      for (const auto& [key, value] : json.items()) {
        object[key] = value_of(value);
      }
      return object;
    }
    default: return nullptr;
  }
}

} // namespace diffbench::bench
