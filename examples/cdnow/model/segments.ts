import { all, segment } from "svc-success";
import { purchase } from "./events.js";
import { stages } from "./lifecycle.js";

/** Two or more purchases, ever. */
export const repeatBuyers = segment("repeat_buyers", { when: purchase.count().atLeast(2) });

/** An order of a hundred dollars or more within half a year. */
export const bigSpenders = segment("big_spenders", {
  when: purchase
    .where((order) => order.amount.atLeast(100))
    .happened()
    .within("180d"),
});

/** Used to buy many discs at a time and has gone silent: worth a letter. */
export const worthWinningBack = segment("worth_winning_back", {
  when: all(stages.in("dormant", "lost"), purchase.where((order) => order.quantity.atLeast(5)).happened()),
});
