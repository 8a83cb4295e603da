// The rhythm of orders and nothing else. Looking around is no purchase, so silence is measured by `orderPlaced.never().within(…)` and not by
// `inactiveFor`, which any event would end.
import { inState, lifecycle } from "svc-success";
import { orderPlaced } from "./events.js";

/** An order after the present state was entered: what brought a shopper here does not bring it back. */
const ordersAgain = orderPlaced.happened().since("state");

export const stages = lifecycle({
  initial: "prospect",
  states: {
    // Has an account and has bought nothing. No time limit: segments tell who has grown cold.
    prospect: { to: { first_order: orderPlaced.happened() } },

    // The most important state of a shop: most who ever leave, leave from here.
    first_order: { to: { repeat: ordersAgain, lapsing: orderPlaced.never().within("60d") } },

    repeat: {
      to: { loyal: orderPlaced.count().atLeast(4).within("120d"), lapsing: orderPlaced.never().within("60d") },
    },

    // Four orders in four months lead in, fewer than three lead out. Were it the same number, one late order would mean out and in again.
    loyal: {
      to: { lapsing: orderPlaced.never().within("60d"), repeat: orderPlaced.count().lessThan(3).within("120d") },
    },

    // Two months without an order. The time for an offer.
    lapsing: { to: { repeat: ordersAgain, lapsed: inState().atLeast("60d") } },

    // Four months without an order. No end: whoever orders is welcome.
    lapsed: { to: { repeat: ordersAgain } },
  },
});
