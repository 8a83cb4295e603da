// Half of the orders come within two weeks of the one before, three quarters within six, nine tenths within three months. So three months of
// silence are unusual. The shops buy for Christmas and come back after much longer; no state is an end.
import { activeWithin, inactiveFor, inState, lifecycle } from "svc-success";
import { orderPlaced } from "./events.js";

export const stages = lifecycle({
  initial: "new",
  states: {
    // One order so far.
    new: { to: { returning: orderPlaced.count().atLeast(2), slipping: inactiveFor("90d") } },

    // Came back at least once.
    returning: { to: { regular: orderPlaced.count().atLeast(5).within("120d"), slipping: inactiveFor("90d") } },

    // Orders about every month. Falls back when the pace is less than half of that.
    regular: { to: { slipping: inactiveFor("90d"), returning: orderPlaced.count().lessThan(2).within("120d") } },

    // Silent for three months. An order brings the customer back; a cancelled order is a sign of life, too, but no order.
    slipping: { to: { returning: orderPlaced.happened().within("14d"), lost: inState().atLeast("90d") } },

    // Silent for half a year.
    lost: { to: { returning: activeWithin("14d") } },
  },
});
