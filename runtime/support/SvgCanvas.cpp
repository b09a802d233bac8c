//===- SvgCanvas.cpp - Shapes to the text of an SVG file ------------------===//
//
// Coordinates are written with two decimals: a hundredth of a pixel is below what is seen.
//
//===----------------------------------------------------------------------===//
#include "runtime/support/SvgCanvas.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace weft {
namespace {

std::string strokeAttributes(const SvgStroke &stroke) {
  std::string attributes = absl::StrFormat("stroke=\"%s\" stroke-width=\"%g\" stroke-opacity=\"%g\"",
                                           stroke.color, stroke.width, stroke.opacity);
  if (!stroke.dashes.empty())
    absl::StrAppend(&attributes, " stroke-dasharray=\"", stroke.dashes, "\"");
  return attributes;
}

/// Length of the UTF-8 character at `at`, 0 when there is none.
size_t characterAt(std::string_view text, size_t at) {
  auto byte = [&](size_t i) { return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0u; };
  auto continues = [&](size_t i) { return (byte(i) & 0xC0) == 0x80; };
  unsigned lead = byte(0);
  if (lead < 0x80)
    return 1;
  if (lead >= 0xC2 && lead < 0xE0)
    return continues(1) ? 2 : 0;
  // Overlong forms, surrogates and what lies beyond U+10FFFF begin with these pairs.
  bool isAllowedPair = !(lead == 0xE0 && byte(1) < 0xA0) && !(lead == 0xED && byte(1) >= 0xA0) &&
                       !(lead == 0xF0 && byte(1) < 0x90) && !(lead == 0xF4 && byte(1) >= 0x90);
  if (lead >= 0xE0 && lead < 0xF0)
    return isAllowedPair && continues(1) && continues(2) ? 3 : 0;
  if (lead >= 0xF0 && lead < 0xF5)
    return isAllowedPair && continues(1) && continues(2) && continues(3) ? 4 : 0;
  return 0;
}

std::string escaped(std::string_view text) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    size_t length = characterAt(text, at);
    if (length == 0 || (length == 1 && static_cast<unsigned char>(text[at]) < 0x20)) {
      result += "\xEF\xBF\xBD"; // the replacement character
      ++at;
      continue;
    }
    switch (text[at]) {
    case '<':
      result += "&lt;";
      break;
    case '>':
      result += "&gt;";
      break;
    case '&':
      result += "&amp;";
      break;
    default:
      result += text.substr(at, length);
    }
    at += length;
  }
  return result;
}

} // namespace

SvgCanvas::SvgCanvas(double width, double height)
    : body(absl::StrFormat(
          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" height=\"%g\" viewBox=\"0 0 %g %g\" "
          "font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\">\n",
          width, height, width, height)) {}

void SvgCanvas::rectangle(SvgPoint corner, double width, double height, const std::string &fill,
                          double opacity) {
  absl::StrAppendFormat(
      &body, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\" fill-opacity=\"%g\"/>\n",
      corner.x, corner.y, width, height, fill, opacity);
}

void SvgCanvas::line(SvgPoint from, SvgPoint to, const SvgStroke &stroke) {
  absl::StrAppendFormat(&body, "<line x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\" %s/>\n", from.x, from.y,
                        to.x, to.y, strokeAttributes(stroke));
}

void SvgCanvas::curve(const std::vector<SvgPoint> &points, const SvgStroke &stroke) {
  if (points.size() < 2)
    return;
  absl::StrAppend(&body, "<polyline fill=\"none\" stroke-linejoin=\"round\" stroke-linecap=\"round\" ",
                  strokeAttributes(stroke), " points=\"");
  for (SvgPoint point : points)
    absl::StrAppendFormat(&body, "%.2f,%.2f ", point.x, point.y);
  body.back() = '"';
  absl::StrAppend(&body, "/>\n");
}

void SvgCanvas::dot(SvgPoint center, double radius, const std::string &fill) {
  absl::StrAppendFormat(&body, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"%g\" fill=\"%s\" stroke=\"#ffffff\"/>\n",
                        center.x, center.y, radius, fill);
}

void SvgCanvas::text(SvgPoint at, std::string_view text, const SvgText &style) {
  const char *anchor = style.anchor == SvgAnchor::Start    ? "start"
                       : style.anchor == SvgAnchor::Middle ? "middle"
                                                           : "end";
  std::string turn =
      style.vertical ? absl::StrFormat(" transform=\"rotate(-90 %.2f %.2f)\"", at.x, at.y) : "";
  absl::StrAppendFormat(
      &body, "<text x=\"%.2f\" y=\"%.2f\" font-size=\"%g\" fill=\"%s\" text-anchor=\"%s\"%s%s>%s</text>\n",
      at.x, at.y, style.size, style.color, anchor, style.bold ? " font-weight=\"bold\"" : "", turn,
      escaped(text));
}

} // namespace weft
