// One number for how well an account does, and what it is made of. The weights say what we have seen to matter: accounts that are used
// stay, whatever they pay. A score is no reason to do something by itself; signals.ts says which are.
import { daysSince, health, scale, steps } from "svc-success";
import { featureUsed, login, supportTicketOpened } from "./events.js";
import { account } from "./traits.js";

const urgentTickets = supportTicketOpened.where((ticket) => ticket.priority.is("urgent"));

export const score = health({
  components: {
    /** Forty uses a month are about two on each working day: more is fine, but does not make an account any healthier. */
    adoption: { weight: 0.35, score: scale(featureUsed.count().within("30d"), { from: 0, to: 40 }) },
    /** Who uses one feature replaces it; who uses five has built on the product. */
    breadth: { weight: 0.2, score: scale(featureUsed.distinct("feature").within("30d"), { from: 0, to: 5 }) },
    /** A weekend of silence is nothing, two weeks are a bad sign. */
    engagement: {
      weight: 0.25,
      score: steps(
        daysSince(login),
        [
          [3, 100],
          [7, 70],
          [14, 30],
        ],
        0,
      ),
    },
    commercial: { weight: 0.1, score: account.plan.map({ trial: 40, starter: 60, pro: 80, enterprise: 100 }) },
    support: {
      weight: 0.1,
      score: steps(
        urgentTickets.count().within("30d"),
        [
          [0, 100],
          [1, 60],
        ],
        20,
      ),
    },
  },
  bands: { healthy: 70, at_risk: 40, critical: 0 },
});
