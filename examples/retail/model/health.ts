// Recency, frequency, money: the three numbers by which shops have sorted their customers since the days of mail order; and what comes back.
import { daysSince, health, scale, steps } from "svc-success";
import { orderCancelled, orderPlaced } from "./events.js";

export const score = health({
  components: {
    recency: { weight: 0.4, score: scale(daysSince(orderPlaced), { from: 120, to: 14 }) },
    frequency: { weight: 0.25, score: scale(orderPlaced.count().within("180d"), { from: 0, to: 6 }) },
    money: { weight: 0.25, score: scale(orderPlaced.sum("amount").within("180d"), { from: 0, to: 2_500 }) },
    returns: {
      weight: 0.1,
      score: steps(
        orderCancelled.count().within("90d"),
        [
          [0, 100],
          [2, 60],
        ],
        20,
      ),
    },
  },
  bands: { thriving: 65, fair: 35, poor: 0 },
});
