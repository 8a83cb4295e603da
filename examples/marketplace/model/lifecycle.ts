// Two lifecycles in one, which part at the first state and meet again at the last. A customer whose side is not known yet waits in `registered`.
import { all, inState, lifecycle } from "svc-success";
import { accountClosed, listingPublished, reinstated, suspended, tradeCompleted } from "./events.js";
import { buyer, seller } from "./traits.js";

const closed = accountClosed.happened();
const suspendedNow = suspended.happened().since("state");
const tradedAgain = tradeCompleted.happened().since("state");

export const stages = lifecycle({
  initial: "registered",
  states: {
    registered: { to: { setting_up: seller, browsing: buyer } },

    // Sellers: nothing is for sale yet.
    setting_up: { to: { gone: closed, listed: listingPublished.happened() } },

    // Something is for sale and nothing was sold. The state in which a marketplace loses its sellers.
    listed: {
      to: {
        gone: closed,
        suspended: suspendedNow,
        selling: tradeCompleted.happened(),
        stalled: inState().atLeast("30d"),
      },
    },

    selling: {
      to: { gone: closed, suspended: suspendedNow, stalled: tradeCompleted.never().within("45d") },
    },

    // Nothing sold for a long time. A sale brings the seller back; ninety days of this make the seller idle.
    stalled: { to: { gone: closed, selling: tradedAgain, idle: inState().atLeast("90d") } },

    // The listings of a reinstated seller are still there; who has sold before goes on to `selling` in the same instant.
    suspended: { to: { gone: closed, listed: reinstated.happened().since("state") } },

    // Buyers: looking around. There is no hurry on this side.
    browsing: { to: { gone: closed, buying: tradeCompleted.happened() } },
    buying: { to: { gone: closed, idle: tradeCompleted.never().within("90d") } },

    // Either side, quiet for months: whoever trades again goes back to the own side.
    idle: { to: { gone: closed, selling: all(seller, tradedAgain), buying: all(buyer, tradedAgain) } },

    gone: { terminal: true },
  },
});
