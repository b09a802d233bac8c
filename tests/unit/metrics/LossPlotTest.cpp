//===- LossPlotTest.cpp - Loss curves of runs as an SVG file --------------===//
#include "runtime/metrics/LossPlot.h"
#include "runtime/support/SvgCanvas.h"

#include "SampleMetrics.h"

#include <gtest/gtest.h>

#include <cmath>

namespace weft {
namespace {

PlotRun fallingRun(const std::string &name, int64_t steps) {
  PlotRun run{name, {}};
  for (int64_t step = 1; step <= steps; ++step) {
    run.metrics.push_back(sampleMetrics(step, 2 + 3 * std::exp(-static_cast<double>(step) / 50)));
    if (step % 50 == 0)
      run.metrics.back().valLoss = 2.1;
  }
  return run;
}

size_t count(const std::string &text, const std::string &part) {
  size_t found = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size())
    ++found;
  return found;
}

TEST(LossPlot, ShowsBothCurvesOfEachRunWithALegend) {
  std::string svg = *lossPlotSvg({fallingRun("first", 300), fallingRun("second <b>", 200)}, {});
  EXPECT_EQ(count(svg, "<polyline"), 6u);         // pale, smoothed and validation, twice
  EXPECT_EQ(count(svg, "<circle"), 6u + 4u + 2u); // measurements, and the legend's
  EXPECT_NE(svg.find("first, training: 2.0"), std::string::npos);
  EXPECT_NE(svg.find("second &lt;b&gt;, validation: 2.1<"), std::string::npos);
  EXPECT_NE(svg.find(">step<"), std::string::npos);
  EXPECT_NE(svg.find(">loss (nats per token)<"), std::string::npos);
  EXPECT_TRUE(svg.starts_with("<svg "));
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
}

TEST(LossPlot, IsTheSameBytesEachTime) {
  EXPECT_EQ(*lossPlotSvg({fallingRun("a", 100)}, {}), *lossPlotSvg({fallingRun("a", 100)}, {}));
}

TEST(LossPlot, StepsMayBeLogarithmic) {
  std::string svg = *lossPlotSvg({fallingRun("a", 300)}, {.logarithmicSteps = true});
  EXPECT_NE(svg.find(">200<"), std::string::npos);
  EXPECT_NE(svg.find(">5<"), std::string::npos);
  EXPECT_EQ(svg.find(">250<"), std::string::npos);
}

TEST(LossPlot, ALossThatIsNotFiniteLeavesAGap) {
  PlotRun run = fallingRun("a", 100);
  run.metrics[50].loss = std::nan("");
  std::string svg = *lossPlotSvg({run}, {});
  EXPECT_EQ(count(svg, "<polyline"), 5u); // two pieces, each pale and smoothed, and validation
  EXPECT_EQ(svg.find("nan"), std::string::npos);
}

TEST(LossPlot, OneStepAndALevelCurveCanBeDrawn) {
  for (const PlotRun &run : {fallingRun("a", 1), PlotRun{"b", {sampleMetrics(1, 2), sampleMetrics(2, 2)}}})
    for (bool logarithmic : {false, true}) {
      std::string svg = *lossPlotSvg({run}, {.logarithmicSteps = logarithmic});
      EXPECT_EQ(svg.find("nan"), std::string::npos);
      EXPECT_EQ(svg.find("inf"), std::string::npos);
    }
}

TEST(LossPlot, LongRunsAreThinnedAndKeepTheirSpikes) {
  PlotRun run = fallingRun("a", 200'000);
  run.metrics[123'456].loss = 9;
  std::string svg = *lossPlotSvg({run}, {});
  EXPECT_LT(svg.size(), 200'000u);
  // 9 is the highest loss: 5 % below the upper edge of the plot.
  double spike = 478 - (9 - 2 + 0.05 * 7) / (1.1 * 7) * 450;
  char text[32];
  std::snprintf(text, sizeof(text), ",%.2f", spike);
  EXPECT_NE(svg.find(text), std::string::npos) << text;
}

TEST(LossPlot, NothingToDrawIsSaid) {
  EXPECT_EQ(lossPlotSvg({{"a", {}}}, {}).status().message(),
            "there is no finite loss to draw: the runs have not finished a step");
}

TEST(LossPlot, IsWrittenWholeOrNotAtAll) {
  TestFolder folder;
  ASSERT_TRUE(writeLossPlot({fallingRun("a", 10)}, folder.path("loss.svg"), {}).ok());
  EXPECT_TRUE(folder.read("loss.svg").ends_with("</svg>\n"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.root), {}), 1);
  EXPECT_FALSE(writeLossPlot({fallingRun("a", 10)}, folder.path("no/loss.svg"), {}).ok());
}

TEST(SvgCanvas, BytesThatXmlDoesNotAllowAreReplaced) {
  SvgCanvas canvas(10, 10);
  canvas.text({1, 2}, "a<&>\x01\xff\xC3\xA9\xED\xA0\x80", {});
  std::string svg = canvas.finish();
  EXPECT_NE(svg.find(">a&lt;&amp;&gt;\uFFFD\uFFFD\u00e9\uFFFD\uFFFD\uFFFD</text>"), std::string::npos) << svg;
}

} // namespace
} // namespace weft
