//===- SvgCanvas.h - Shapes to the text of an SVG file --------------------===//
//
// Lines, curves and texts in pixels, origin at the upper left. The file needs no font, style sheet or script
// from elsewhere, and the same shapes give the same bytes.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_SUPPORT_SVGCANVAS_H
#define WEFT_RUNTIME_SUPPORT_SVGCANVAS_H

#include <string>
#include <string_view>
#include <vector>

namespace weft {

struct SvgPoint {
  double x;
  double y;
};

struct SvgStroke {
  std::string color;
  double width = 1;
  double opacity = 1;
  std::string dashes; ///< lengths of dashes and gaps, empty for a solid line
};

enum class SvgAnchor { Start, Middle, End };

struct SvgText {
  double size = 12;
  std::string color = "#333333";
  SvgAnchor anchor = SvgAnchor::Start;
  bool bold = false;
  bool vertical = false; ///< reads from bottom to top
};

class SvgCanvas {
public:
  SvgCanvas(double width, double height);

  void rectangle(SvgPoint corner, double width, double height, const std::string &fill, double opacity);
  void line(SvgPoint from, SvgPoint to, const SvgStroke &stroke);
  /// Points joined in order; fewer than two draw nothing.
  void curve(const std::vector<SvgPoint> &points, const SvgStroke &stroke);
  void dot(SvgPoint center, double radius, const std::string &fill);
  /// `text` may hold any bytes: what XML or UTF-8 does not allow is replaced.
  void text(SvgPoint at, std::string_view text, const SvgText &style);

  /// The whole file.
  std::string finish() const { return body + "</svg>\n"; }

private:
  std::string body;
};

} // namespace weft

#endif // WEFT_RUNTIME_SUPPORT_SVGCANVAS_H
