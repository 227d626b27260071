// SPDX-License-Identifier: Apache-2.0
// What a result file holds, before it is text: null, a truth, a number, text, a list, an object.
//
// Results are put together of these, and only what reads or writes files knows a JSON library,
// whose header takes seconds to compile.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace diffbench::bench {

struct Member;

class Value {
 public:
  using List = std::vector<Value>;
  using Object = std::vector<Member>; ///< in the order in which they are written

  Value() noexcept;
  Value(const Value& other);
  Value(Value&& other) noexcept;
  Value& operator=(const Value& other);
  Value& operator=(Value&& other) noexcept;
  ~Value();
  Value(std::nullptr_t) noexcept;
  Value(bool truth);
  /// Not a number, and infinity, are null: JSON has neither, and readers break on a bare NaN.
  Value(double number);
  Value(std::int64_t number);
  Value(std::uint64_t number);
  template <std::integral Integer>
  Value(Integer number)
      : Value(
            static_cast<std::conditional_t<std::is_signed_v<Integer>, std::int64_t, std::uint64_t>>(
                number)) {}
  Value(const char* text);
  Value(std::string text);
  Value(std::string_view text);
  template <typename T>
  Value(const std::vector<T>& elements) : Value(List(elements.begin(), elements.end())) {}
  Value(List list);
  /// Null for what is not known.
  template <typename T>
  Value(const std::optional<T>& known) : Value(known ? Value(*known) : Value()) {}
  /// The name of an enumeration's value.
  template <typename Enum>
  requires std::is_enum_v<Enum> Value(Enum value) : Value(std::string_view(to_string(value))) {}
  /// An object.
  Value(std::initializer_list<Member> members);

  [[nodiscard]] static Value list(std::initializer_list<Value> elements = {});
  /// What `of`, a function or a member, makes of each element.
  template <typename Elements, typename Of>
  [[nodiscard]] static Value each(const Elements& elements, Of of) {
    List list;
    for (const auto& element : elements) {
      list.push_back(std::invoke(of, element));
    }
    return list;
  }
  [[nodiscard]] static Value object();
  void push_back(Value element);
  /// Of the list that this is; none of anything else.
  [[nodiscard]] const List& elements() const;
  /// Of the object, or null, that this is: the member, added last where there is none.
  Value& operator[](std::string_view key);
  /// The same down a path of keys with points between.
  Value& at_path(std::string_view path);
  /// The same without adding any: null where there is no such member.
  [[nodiscard]] const Value& find(std::string_view path) const;
  /// Of the object that this is; nothing where there is no such member.
  void erase(std::string_view key);

  using Data = std::variant<std::nullptr_t, bool, double, std::int64_t, std::uint64_t, std::string,
                            List, Object>;
  [[nodiscard]] const Data& data() const { return data_; }
  /// Of a number; 0 of anything else.
  [[nodiscard]] double number() const;
  /// Of what is neither null nor put together: text as it is, the shortest number that reads back
  /// as the same, true or false.
  [[nodiscard]] std::string plain_text() const;
  [[nodiscard]] bool is_null() const { return std::holds_alternative<std::nullptr_t>(data_); }

 private:
  Data data_;
};

struct Member {
  std::string key;
  Value value;
};

// Here a member is known, and with it what a value holds.
inline Value::Value(std::nullptr_t) noexcept {}
inline Value::Value() noexcept = default;
inline Value::Value(const Value& other) = default;
inline Value::Value(Value&& other) noexcept = default;
inline Value& Value::operator=(const Value& other) = default;
inline Value& Value::operator=(Value&& other) noexcept = default;
inline Value::~Value() = default;
inline Value::Value(bool truth) : data_(truth) {}
inline Value::Value(std::int64_t number) : data_(number) {}
inline Value::Value(std::uint64_t number) : data_(number) {}
inline Value::Value(const char* text) : data_(std::string(text)) {}
inline Value::Value(std::string text) : data_(std::move(text)) {}
inline Value::Value(std::string_view text) : data_(std::string(text)) {}
inline Value::Value(List list) : data_(std::move(list)) {}
inline Value Value::list(std::initializer_list<Value> elements) { return List(elements); }
inline Value Value::object() { return std::initializer_list<Member>(); }
inline void Value::push_back(Value element) { std::get<List>(data_).push_back(std::move(element)); }

} // namespace diffbench::bench
