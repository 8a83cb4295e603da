// Half of all repeated orders come within a month of the one before and three quarters within three months, so a silence of four
// months is unusual. Customers do come back after much longer, so no state is an end.
import { activeWithin, inactiveFor, inState, lifecycle } from "svc-success";
import { purchase } from "./events.js";

export const stages = lifecycle({
  initial: "new",
  states: {
    // One order so far. Most customers of a shop never leave this state but for dormancy.
    new: { to: { repeat: purchase.count().atLeast(2), dormant: inactiveFor("120d") } },

    // Came back at least once.
    repeat: { to: { loyal: purchase.count().atLeast(5).within("180d"), dormant: inactiveFor("120d") } },

    // Buys about once a month. Falls back when the pace slows down to less than half of that.
    loyal: { to: { dormant: inactiveFor("120d"), repeat: purchase.count().lessThan(3).within("180d") } },

    // Silent for four months. Any order in this state is a repeated one, whatever the customer was before.
    dormant: { to: { repeat: activeWithin("30d"), lost: inState().atLeast("240d") } },

    // Silent for a year. No campaign is spent on these customers, but an order is welcome.
    lost: { to: { repeat: activeWithin("30d") } },
  },
});
