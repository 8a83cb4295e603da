// What is done by itself. Types that are emitted here are what the mail program and the shop's till listen for, by webhooks.
import { addTo, all, clear, emit, not, raise, removeFrom, rule } from "svc-success";
import { orderPlaced, refundIssued, reviewWritten } from "./events.js";
import { goodwill, sendsBack, vip } from "./segments.js";
import { apologyDue, cartWaiting, unhappy, vipSlipping } from "./signals.js";
import { shopper } from "./traits.js";

const ourFault = refundIssued.where((refund) => refund.reason.in("damaged", "never_arrived"));

/** One reminder a week at most, however many carts. */
export const remindOfCart = rule("remind_of_cart", {
  on: cartWaiting.raised(),
  when: all(shopper.mailConsent.is(true), not(sendsBack.has())),
  cooldown: "7d",
  then: emit("mail.cart_reminder"),
});

/** Once in a lifetime: who drops out of the VIPs and comes back knows it already. */
export const welcomeVip = rule("welcome_vip", { on: vip.entered(), once: true, then: emit("letter.vip_welcome") });

export const closeVip = rule("close_vip", { on: vip.exited(), then: emit("perks.end") });

export const winBack = rule("win_back", { on: vipSlipping.raised(), cooldown: "90d", then: emit("letter.win_back") });

export const apologize = rule("apologize", { on: ourFault, then: raise(apologyDue) });

export const oweGoodwill = rule("owe_goodwill", { on: ourFault, then: addTo(goodwill) });

/** The parcel of the next order has a present in it. */
export const payGoodwill = rule("pay_goodwill", { on: orderPlaced, when: goodwill.has(), then: removeFrom(goodwill) });

export const badReview = rule("bad_review", {
  on: reviewWritten.where((review) => review.stars.atMost(2)),
  then: raise(unhappy),
});

export const goodReview = rule("good_review", {
  on: reviewWritten.where((review) => review.stars.atLeast(4)),
  then: clear(unhappy),
});
