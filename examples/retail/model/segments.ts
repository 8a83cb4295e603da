import { all, any, daysSinceFirst, segment } from "svc-success";
import { lineCancelled, lineSold, orderCancelled, orderPlaced } from "./events.js";
import { stages } from "./lifecycle.js";

/** Two thousand pounds in ninety days: one customer in seven gets there at some time. */
export const bigSpenders = segment("big_spenders", { when: orderPlaced.sum("amount").atLeast(2_000).within("90d") });

/** Buys seldom, and then much: worth a visit, not a newsletter. */
export const bulkBuyers = segment("bulk_buyers", {
  when: all(orderPlaced.avg("amount").atLeast(800), orderPlaced.count().atMost(4).within("180d")),
});

/** Has placed one very large order, ever. */
export const oneLargeOrder = segment("one_large_order", { when: orderPlaced.max("amount").atLeast(5_000) });

/** Never spends less than the minimum for free delivery. */
export const aboveMinimum = segment("above_minimum", {
  when: all(orderPlaced.min("amount").atLeast(150), orderPlaced.count().atLeast(3)),
});

/** Ordered from another country the last time. */
export const abroad = segment("abroad", { when: orderPlaced.latest("country").isNot("United Kingdom") });

/** Fills the whole shop with our goods: needs the order lines. */
export const wideRange = segment("wide_range", { when: lineSold.distinct("stockCode").atLeast(100).within("180d") });

/** Sends much back: several orders, or parts of many. The second needs the cancelled lines. */
export const sendsBack = segment("sends_back", {
  when: any(
    orderCancelled.count().atLeast(3).within("90d"),
    lineCancelled.distinct("stockCode").atLeast(20).within("90d"),
  ),
});

/** Customers of the first hour who still buy. */
export const faithful = segment("faithful", {
  when: all(stages.is("regular"), daysSinceFirst(orderPlaced).atLeast(300)),
});
