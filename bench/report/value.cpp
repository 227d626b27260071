// SPDX-License-Identifier: Apache-2.0
#include "value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace diffbench::bench {

Value::Value(double number) {
  if (std::isfinite(number)) {
    data_ = number;
  }
}
Value::Value(std::initializer_list<Member> members) : data_(Object(members)) {}

const Value::List& Value::elements() const {
  static const List none;
  const auto* list = std::get_if<List>(&data_);
  return list != nullptr ? *list : none;
}

Value& Value::operator[](std::string_view key) {
  if (is_null()) {
    data_ = Object();
  }
  auto& object = std::get<Object>(data_);
  const auto found = std::ranges::find(object, key, &Member::key);
  if (found != object.end()) {
    return found->value;
  }
  object.push_back({std::string(key), Value()});
  return object.back().value;
}

Value& Value::at_path(std::string_view path) {
  Value* at = this;
  for (std::size_t point; (point = path.find('.')) != std::string_view::npos;) {
    at = &(*at)[path.substr(0, point)];
    path.remove_prefix(point + 1);
  }
  return (*at)[path];
}

const Value& Value::find(std::string_view path) const {
  static const Value null;
  const auto* object = std::get_if<Object>(&data_);
  if (object == nullptr) {
    return null;
  }
  const std::size_t point = path.find('.');
  const auto found = std::ranges::find(*object, path.substr(0, point), &Member::key);
  if (found == object->end()) {
    return null;
  }
  return point == std::string_view::npos ? found->value : found->value.find(path.substr(point + 1));
}

double Value::number() const {
  return std::visit(
      []<typename T>(const T& data) {
        if constexpr (std::is_arithmetic_v<T>) {
          return static_cast<double>(data);
        }
        return 0.0;
      },
      data_);
}

std::string Value::plain_text() const {
  return std::visit(
      []<typename T>(const T& data) -> std::string {
        if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
          return fmt::format("{}", data);
        }
        return "";
      },
      data_);
}

void Value::erase(std::string_view key) {
  std::erase_if(std::get<Object>(data_), [&](const Member& member) { return member.key == key; });
}

} // namespace diffbench::bench
