// One number from 0 to 100 for how well an account does, and what it is made of.
import { daysSince, health, scale, steps } from "svc-success";
import { featureUsed, loggedIn } from "./events.js";
import { account } from "./traits.js";

export const score = health({
  components: {
    /** Twenty uses a month are about one on each working day: more does not make an account any healthier. */
    adoption: { weight: 0.5, score: scale(featureUsed.count().within("30d"), { from: 0, to: 20 }) },
    /** A weekend of silence is nothing, two weeks are a bad sign. */
    engagement: {
      weight: 0.3,
      score: steps(
        daysSince(loggedIn),
        [
          [3, 100],
          [7, 70],
          [14, 30],
        ],
        0,
      ),
    },
    commercial: { weight: 0.2, score: account.plan.map({ trial: 40, starter: 70, pro: 100 }) },
  },
  bands: { healthy: 70, at_risk: 40, critical: 0 },
});
