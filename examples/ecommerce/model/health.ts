// Recency, frequency, money, as shops have sorted their customers since the days of mail order; and what came back. Recency weighs most: it is
// the first to change. Money is counted before refunds, so what comes back weighs more than what was paid, and who sends everything back does not
// thrive. A prospect scores low, as nothing speaks for it yet.
import { daysSince, health, scale, steps } from "svc-success";
import { orderPlaced, refundIssued } from "./events.js";

export const score = health({
  components: {
    /** A month is the rhythm of the regulars; after three nothing is left. */
    recency: {
      weight: 0.35,
      score: steps(
        daysSince(orderPlaced),
        [
          [30, 100],
          [60, 60],
          [90, 20],
        ],
        0,
      ),
    },
    frequency: { weight: 0.2, score: scale(orderPlaced.count().within("180d"), { from: 0, to: 5 }) },
    money: { weight: 0.2, score: scale(orderPlaced.sum("amount").within("180d"), { from: 0, to: 600 }) },
    /** From 0 to three refunds, the other way round: less is better. */
    returns: { weight: 0.25, score: scale(refundIssued.count().within("120d"), { from: 3, to: 0 }) },
  },
  bands: { thriving: 70, fair: 35, poor: 0 },
});
