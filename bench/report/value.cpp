// SPDX-License-Identifier: Apache-2.0
#include "value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace diffbench::bench {

Value::Value() noexcept : data_(nullptr) {}
Value::Value(bool truth) : data_(truth) {}
Value::Value(double number) : data_(nullptr) {
  if (std::isfinite(number)) {
    data_ = number;
  }
}
Value::Value(std::int64_t number) : data_(number) {}
Value::Value(std::uint64_t number) : data_(number) {}
Value::Value(const char* text) : data_(std::string(text)) {}
Value::Value(std::string text) : data_(std::move(text)) {}
Value::Value(std::string_view text) : data_(std::string(text)) {}
Value::Value(List list) : data_(std::make_unique<List>(std::move(list))) {}
Value::Value(std::initializer_list<Member> members) : data_(std::make_unique<Object>(members)) {}
Value::Value(Value&& other) noexcept = default;
Value& Value::operator=(Value&& other) noexcept = default;
Value::~Value() = default;

Value::Value(const Value& other) : data_(nullptr) {
  std::visit(
      [&]<typename T>(const T& data) {
        if constexpr (std::is_copy_constructible_v<T>) {
          data_ = data;
        } else {
          data_ = std::make_unique<typename T::element_type>(*data);
        }
      },
      other.data_);
}

Value& Value::operator=(const Value& other) { return *this = Value(other); }

Value Value::list(std::initializer_list<Value> elements) { return Value(List(elements)); }

void Value::push_back(Value element) {
  std::get<std::unique_ptr<List>>(data_)->push_back(std::move(element));
}

Value& Value::operator[](std::string_view key) {
  if (is_null()) {
    data_ = std::make_unique<Object>();
  }
  Object& object = *std::get<std::unique_ptr<Object>>(data_);
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
  const auto* object = std::get_if<std::unique_ptr<Object>>(&data_);
  if (object == nullptr) {
    return null;
  }
  const std::size_t point = path.find('.');
  const auto found = std::ranges::find(**object, path.substr(0, point), &Member::key);
  if (found == (*object)->end()) {
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
  std::erase_if(*std::get<std::unique_ptr<Object>>(data_),
                [&](const Member& member) { return member.key == key; });
}

} // namespace diffbench::bench
