// dist.ring, on a mesh of two by three ranks: what stays meets every block once, merged values stay, home
// values come back to whoever sent the block.
#include "tests/unit/interpret/Program.h"

namespace weft::interpret {
namespace {

/// Every x meets every k: y_s = sum over t of x_s k_t, and going home h_t = sum over s of x_s k_t.
std::string allPairs(const std::string &split, const std::string &axes) {
  std::string types = "#mesh = #dist.mesh<d0 = 2, c0 = 3 : data = [d0], context = [c0]>\n"
                      "!x = tensor<SIZExf32, #dist.local<#mesh, 12, SPLIT>>\n"
                      "!block = tensor<SIZExf32, #dist.local<#mesh, SIZE, []>>\n"
                      "!home = tensor<SIZExf32, #dist.local<#mesh, SIZE, [], sum SUM>>\n";
  std::string body = R"(
func.func @main(%x: !x, %k: !x) -> (!x, !x) {
  %y, %h = dist.ring over AXES stays(%x : !x) travels(%k : !x) merged(!x) home(!x) first {
  ^bb0(%x0: !x, %k0: !block):
    %y0 = nn.einsum "s,t->s" (%x0, %k0) : (!x, !block) -> !x
    %h0 = nn.einsum "s,t->t" (%x0, %k0) : (!x, !block) -> !home
    dist.yield %y0, %h0 : !x, !home
  } next {
  ^bb0(%x0: !x, %k0: !block, %y0: !x, %h0: !home):
    %y1 = nn.einsum "s,t->s" (%x0, %k0) : (!x, !block) -> !x
    %h1 = nn.einsum "s,t->t" (%x0, %k0) : (!x, !block) -> !home
    %y2 = nn.add %y0, %y1 : !x
    %h2 = nn.add %h0, %h1 : !home
    dist.yield %y2, %h2 : !x, !home
  }
  return %y, %h : !x, !x
})";
  auto replace = [](std::string text, const std::string &from, const std::string &to) {
    for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
    return text;
  };
  bool isWhole = axes.find(',') != std::string::npos;
  std::string text = replace(types + body, "SIZE", isWhole ? "2" : "4");
  text = replace(text, "SUM", isWhole ? "[d0, c0]" : "[c0]");
  return replace(replace(text, "SPLIT", split), "AXES", axes);
}

class Ring : public ::testing::TestWithParam<std::pair<const char *, const char *>> {};

TEST_P(Ring, MeetsEveryBlockOnceAndBringsHomeWhatBelongsToIt) {
  Program program(allPairs(GetParam().first, GetParam().second));
  auto results = program.call({reals({12}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}),
                               reals({12}, {1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2})});
  ASSERT_TRUE(mlir::succeeded(results)) << program.messages;
  EXPECT_EQ((*results)[0], reals({12}, {18, 36, 54, 72, 90, 108, 126, 144, 162, 180, 198, 216}));
  EXPECT_EQ((*results)[1], reals({12}, {78, 78, 78, 78, 78, 78, 156, 156, 156, 156, 156, 156}));
}

INSTANTIATE_TEST_SUITE_P(Splits, Ring,
                         ::testing::Values(std::pair("[c0]", "[\"c0\"]"),
                                           std::pair("zigzag [c0]", "[\"c0\"]"),
                                           std::pair("[d0, c0]", "[\"d0\", \"c0\"]"),
                                           std::pair("[c0, d0]", "[\"c0\", \"d0\"]")));

} // namespace
} // namespace weft::interpret
