// Whom to write to, and whom not.
import { all, inactiveFor, segment, sequence } from "svc-success";
import { addedToCart, orderPlaced, productViewed, refundIssued } from "./events.js";
import { cart } from "./journeys.js";
import { stages } from "./lifecycle.js";
import { shopper } from "./traits.js";

/** A thousand euros in a year, and not half of it sent back. Refunds are limited by themselves. */
export const vip = segment("vip", {
  when: all(
    orderPlaced.sum("amount").atLeast(1_000).within("365d"),
    refundIssued.sum("amount").lessThan(500).within("365d"),
  ),
});

/** Put something into the cart this week, let it lie for a day, and has bought nothing since. Ends with an order, or by itself. */
export const abandonedCart = segment("abandoned_cart", {
  when: all(cart.is("expired"), addedToCart.happened().within("7d"), orderPlaced.never().since(cart)),
});

/** Has an account for a month, and nothing happens. */
export const coldProspects = segment("cold_prospects", { when: all(stages.is("prospect"), inactiveFor("30d")) });

/** Looked at something and had bought within the hour, at some time: needs no discount. */
export const decidesQuickly = segment("decides_quickly", { when: sequence(productViewed, orderPlaced).within("1h") });

/** Buys with a coupon, and never without one. */
export const couponsOnly = segment("coupons_only", {
  when: all(
    orderPlaced
      .where((order) => order.coupon.exists())
      .count()
      .atLeast(2),
    orderPlaced.where((order) => order.coupon.missing()).never(),
  ),
});

/** Sends most things back. No free delivery for these, and no "we miss you". */
export const sendsBack = segment("sends_back", { when: refundIssued.count().atLeast(3).within("120d") });

/** Buys seldom, but much at a time. */
export const bigBaskets = segment("big_baskets", {
  when: all(orderPlaced.avg("amount").atLeast(200), orderPlaced.min("amount").atLeast(120)),
});

/** The last order was on invoice: what is owed is not yet paid. */
export const onInvoice = segment("on_invoice", { when: orderPlaced.latest("payment").is("invoice") });

/** May be told of new shoes. */
export const shoeNews = segment("shoe_news", {
  when: all(shopper.mailConsent.is(true), shopper.favourites.contains("shoes")),
});

/** The membership ends within two weeks. */
export const membershipEnding = segment("membership_ending", {
  when: all(shopper.membership.is("member"), shopper.memberUntil.within("14d")),
});

/** Filled by a rule, and emptied by another: we owe these a good deed with the next order. See rules.ts. */
export const goodwill = segment("goodwill");
