//===- StageLayoutTest.cpp - Where a model is cut ---------------------------===//
#include "runtime/config/StageLayout.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace weft {

using testing::ElementsAre;

static std::string errorOf(const std::string &text) {
  absl::StatusOr<StageLayout> layout = parseStages(text);
  return layout.ok() ? "(no error)" : std::string(layout.status().message());
}

//===----------------------------------------------------------------------===//
// Written out
//===----------------------------------------------------------------------===//

TEST(StageLayout, SaysWhatEachStageHas) {
  absl::StatusOr<StageLayout> layout = parseStages("E t*3 | t*4 | t*4 | t*3 L");
  ASSERT_TRUE(layout.ok()) << layout.status();
  EXPECT_THAT(layout->stages, ElementsAre(StageLayers{0, 3, true, false}, StageLayers{3, 4, false, false},
                                          StageLayers{7, 4, false, false}, StageLayers{11, 3, false, true}));
  EXPECT_EQ(layout->text(), "E t*3 | t*4 | t*4 | t*3 L");
}

TEST(StageLayout, BlanksMeanNothingAndLayersAddUp) {
  for (const char *text : {"Et*3|t*2L", " E ttt | t t L ", "E t t*2\t|\nt * 2 L", "E t*1 t *1 t|tt L"})
    EXPECT_EQ(parseStages(text)->text(), "E t*3 | t*2 L") << text;
}

TEST(StageLayout, EmbeddingAndHeadMayStandAlone) {
  absl::StatusOr<StageLayout> layout = parseStages("E | t | L");
  ASSERT_TRUE(layout.ok()) << layout.status();
  EXPECT_THAT(layout->stages, ElementsAre(StageLayers{0, 0, true, false}, StageLayers{0, 1, false, false},
                                          StageLayers{1, 0, false, true}));
  EXPECT_THAT(parseStages("E L")->stages, ElementsAre(StageLayers{0, 0, true, true}));
}

TEST(StageLayoutRefused, PartsThatAreMissingOrOutOfPlace) {
  EXPECT_EQ(errorOf("t*4 | t*4 L"), "column 1: E, the embedding, is missing before t");
  EXPECT_EQ(errorOf("| E t L"), "column 1: E, the embedding, is missing before |");
  EXPECT_EQ(errorOf(""), "column 1: E, the embedding, is missing");
  EXPECT_EQ(errorOf("E t | E t L"), "column 7: E, the embedding, stands once, at the start");
  EXPECT_EQ(errorOf("E t*2 | t*2"), "column 12: L, the final norm and head, is missing at the end");
  EXPECT_EQ(errorOf("E t L | t L"), "column 7: nothing follows L, the final norm and head, but here is |");
  EXPECT_EQ(errorOf("E t L t"), "column 7: nothing follows L, the final norm and head, but here is t");
}

TEST(StageLayoutRefused, StagesWithoutParts) {
  EXPECT_EQ(errorOf("E t | | t L"), "column 7: stage 2 is empty: nothing stands before this |");
  EXPECT_EQ(errorOf("E t | t |"), "column 10: stage 3 of 3 is empty: nothing follows the last |");
}

TEST(StageLayoutRefused, WhatIsNoPart) {
  const std::string parts =
      " is no part of a layout: those are E (embedding), t or t*3 (layers), | (a border), L "
      "(norm and head)";
  EXPECT_EQ(errorOf("E x L"), "column 3: 'x'" + parts);
  EXPECT_EQ(errorOf("e t L"), "column 1: 'e'" + parts);
  EXPECT_EQ(errorOf("E 3 L"), "column 3: '3'" + parts);
  EXPECT_EQ(errorOf("E t 3*t L"), "column 5: '3'" + parts);
  EXPECT_EQ(errorOf("E t | \xC3\xA4 L"), "column 7: '\xC3\xA4'" + parts);
  EXPECT_EQ(errorOf(std::string("E t\0L", 5)), "column 4: '\\000'" + parts);
}

TEST(StageLayoutRefused, NumbersOfLayersThatNobodyHas) {
  EXPECT_EQ(errorOf("E t*0 L"), "column 5: t* takes a number of layers from 1 to 1000000, not 0");
  EXPECT_EQ(errorOf("E t* | L"), "column 6: t* takes a number of layers from 1 to 1000000");
  EXPECT_EQ(errorOf("E t*-1 L"), "column 5: t* takes a number of layers from 1 to 1000000");
  EXPECT_EQ(errorOf("E t*99999999999999999999 L"),
            "column 5: t* takes a number of layers from 1 to 1000000, not 99999999999999999999");
}

//===----------------------------------------------------------------------===//
// As even as can be
//===----------------------------------------------------------------------===//

TEST(EvenStages, CountEmbeddingAndHeadAsLayers) {
  EXPECT_EQ(evenStages(14, 4).text(), "E t*3 | t*4 | t*4 | t*3 L");
  EXPECT_EQ(evenStages(2, 2).text(), "E t | t L");
  EXPECT_EQ(evenStages(2, 4).text(), "E | t | t | L");
  EXPECT_EQ(evenStages(6, 1).text(), "E t*6 L");
  EXPECT_EQ(evenStages(126, 128).stages.size(), 128u);
}

TEST(EvenStages, WhatDoesNotDivideMakesTheFirstStagesLonger) {
  EXPECT_EQ(evenStages(13, 4).text(), "E t*3 | t*4 | t*4 | t*2 L");
  EXPECT_EQ(evenStages(3, 4).text(), "E t | t | t | L");
}

TEST(EvenStages, HaveEveryLayerOnceAndReadBack) {
  for (int64_t layers = 1; layers <= 40; ++layers)
    for (int64_t stages = 1; stages <= mostStagesOf(layers); ++stages) {
      const StageLayout layout = evenStages(layers, stages);
      ASSERT_EQ(std::ssize(layout.stages), stages);
      int64_t next = 0, least = layers + 2, most = 0;
      for (int64_t stage = 0; stage < stages; ++stage) {
        const StageLayers &own = layout.stages[stage];
        EXPECT_EQ(own.firstLayer, next);
        EXPECT_EQ(own.hasEmbedding, stage == 0);
        EXPECT_EQ(own.hasHead, stage + 1 == stages);
        next += own.layers;
        const int64_t parts = own.layers + own.hasEmbedding + own.hasHead;
        least = std::min(least, parts), most = std::max(most, parts);
      }
      EXPECT_EQ(next, layers);
      EXPECT_GE(least, 1);
      EXPECT_LE(most - least, 1) << layers << " layers on " << stages << " stages";
      EXPECT_EQ(*parseStages(layout.text()), layout);
    }
}

//===----------------------------------------------------------------------===//
// For ranks and a schedule
//===----------------------------------------------------------------------===//

TEST(LayOutStages, AutoIsWhatTheScheduleIsMadeFor) {
  EXPECT_EQ(layOutStages({4, "1f1b", "auto"}, 14)->text(), "E t*3 | t*4 | t*4 | t*3 L");
  EXPECT_EQ(layOutStages({2, "interleaved", "auto"}, 14)->text(), "E t*3 | t*4 | t*4 | t*3 L");
  EXPECT_EQ(layOutStages({2, "zb_v", "auto"}, 2)->text(), "E | t | t | L");
  EXPECT_EQ(layOutStages({2, "auto", "auto"}, 3)->text(), "E t*2 | t L");
  EXPECT_EQ(layOutStages({2, "file:/x", "auto"}, 4, 6)->text(), "E | t | t | t | t | L");
}

TEST(LayOutStages, ALayoutSaysHowManyThereAre) {
  EXPECT_EQ(layOutStages({2, "interleaved", "6"}, 4)->text(), "E | t | t | t | t | L");
  EXPECT_EQ(layOutStages({2, "1f1b", "E t*9|t L"}, 10)->text(), "E t*9 | t L");
  EXPECT_EQ(stagesOfRank({2, "interleaved", "6"}), 3);
  EXPECT_EQ(stagesOfRank({2, "1f1b", "E t | t L"}), 1);
  EXPECT_EQ(stagesOfRank({4, "zb_v", "auto"}), 2);
  EXPECT_EQ(stagesOfRank({4, "auto", "auto"}), 1);
  EXPECT_EQ(stagesOfRank({4, "file:/x", "auto"}), std::nullopt);
  EXPECT_EQ(stagesOfRank({4, "1f1b", "E t |"}), std::nullopt);
}

TEST(LayOutStages, RefusesWhatTheChecksRefuse) {
  EXPECT_FALSE(layOutStages({4, "1f1b", "auto"}, 1).ok()) << "3 parts for 4 stages";
  EXPECT_FALSE(layOutStages({4, "file:/x", "auto"}, 14, 6).ok()) << "6 stages of a file on 4 ranks";
  EXPECT_FALSE(layOutStages({2, "1f1b", "E t | t L"}, 3).ok()) << "a layer is missing";
}

} // namespace weft
