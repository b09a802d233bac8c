//===- SchemaField.h - A member of Config, reached by a table -------------===//
//
// The schema is a table of values, Config a set of typed structs. A field function bridges the two: given the
// struct, it returns a typed pointer to one member. fieldOf<&Config::train, &TrainConfig::steps>() binds to
// Config::train.steps; its type follows from the members, so a table entry cannot disagree with the struct.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_CONFIG_SCHEMAFIELD_H
#define WEFT_RUNTIME_CONFIG_SCHEMAFIELD_H

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

namespace weft {

/// A member of an enumeration type, as the index of its choice.
struct ChoiceField {
  void *member;
  int (*get)(const void *member);
  void (*set)(void *member, int choice);
};

/// A member that is a vector of structs.
struct RecordsField {
  void *member;
  size_t (*size)(const void *member);
  void *(*at)(void *member, size_t index);
  void (*resize)(void *member, size_t size);
};

using Field = std::variant<int64_t *, double *, bool *, std::string *, std::optional<int64_t> *,
                           std::optional<double> *, std::array<double, 2> *, std::vector<int64_t> *,
                           std::vector<std::string> *, ChoiceField, RecordsField>;

/// The field inside the struct that the key belongs to (Config, or the struct of a list's element).
using FieldFunction = Field (*)(void *object);

template <class T> inline constexpr bool isRecords = false;
template <class T>
inline constexpr bool isRecords<std::vector<T>> = std::is_class_v<T> && !std::is_same_v<T, std::string>;

template <class T> Field fieldTo(T &member) {
  if constexpr (std::is_enum_v<T>) {
    return ChoiceField{&member, [](const void *m) { return static_cast<int>(*static_cast<const T *>(m)); },
                       [](void *m, int choice) { *static_cast<T *>(m) = static_cast<T>(choice); }};
  } else if constexpr (isRecords<T>) {
    return RecordsField{&member, [](const void *m) { return static_cast<const T *>(m)->size(); },
                        [](void *m, size_t index) -> void * { return &(*static_cast<T *>(m))[index]; },
                        [](void *m, size_t size) { static_cast<T *>(m)->resize(size); }};
  } else {
    return &member;
  }
}

template <class> struct ObjectOfMember;
template <class Object, class Member> struct ObjectOfMember<Member Object::*> {
  using type = Object;
};

template <auto First, auto... Rest, class Object> auto &follow(Object &object) {
  if constexpr (sizeof...(Rest) == 0)
    return object.*First;
  else
    return follow<Rest...>(object.*First);
}

/// A member and the struct with its initial values, whose member is the key's default.
struct FieldBinding {
  FieldFunction field;
  const void *defaults;
};

template <auto First, auto... Rest> FieldBinding fieldOf() {
  using Object = typename ObjectOfMember<decltype(First)>::type;
  static const Object defaults;
  return {[](void *object) { return fieldTo(follow<First, Rest...>(*static_cast<Object *>(object))); },
          &defaults};
}

} // namespace weft

#endif // WEFT_RUNTIME_CONFIG_SCHEMAFIELD_H
