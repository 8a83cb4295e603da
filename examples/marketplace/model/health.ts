// Trust weighs as much as trade: a marketplace whose parties do not trust each other has no trade next year. Each component holds for both sides,
// as there is one score; what only sellers do is in no component.
import { daysSince, health, scale, steps } from "svc-success";
import { disputeOpened, ratingReceived, tradeCompleted } from "./events.js";

export const score = health({
  components: {
    recency: {
      weight: 0.25,
      score: steps(
        daysSince(tradeCompleted),
        [
          [14, 100],
          [45, 60],
          [90, 20],
        ],
        0,
      ),
    },
    volume: { weight: 0.25, score: scale(tradeCompleted.count().within("90d"), { from: 0, to: 6 }) },
    /** The worst of the last quarter, not the mean: nine good trades do not make up for one that went wrong. Unrated, nothing speaks for it yet. */
    ratings: { weight: 0.2, score: scale(ratingReceived.min("stars").within("90d"), { from: 1, to: 5 }) },
    disputes: {
      weight: 0.3,
      score: steps(
        disputeOpened.count().within("90d"),
        [
          [0, 100],
          [1, 50],
        ],
        0,
      ),
    },
  },
  bands: { strong: 75, fair: 40, weak: 0 },
});
