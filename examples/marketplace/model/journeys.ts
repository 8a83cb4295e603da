import { all, journey, step } from "svc-success";
import {
  disputeOpened,
  disputeResolved,
  identityVerified,
  listingPublished,
  messageReceived,
  payoutAdded,
  ratingReceived,
  registered,
  tradeCompleted,
} from "./events.js";
import { buyer, seller } from "./traits.js";

/** What the law and the bank ask of sellers, and then the first listing; in this order, as the site asks for it. */
export const sellerOnboarding = journey("seller_onboarding", {
  start: all(registered.happened(), seller),
  steps: [
    step("verify_identity", identityVerified.happened()),
    step("add_payout", payoutAdded.happened()),
    step("first_listing", listingPublished.happened()),
  ],
  expiresAfter: "21d",
});

/** Liquidity: how long from the first listing to the first sale, and where it stops. Nobody asked: the price. Nobody bought: the photographs. */
export const liquidity = journey("liquidity", {
  start: listingPublished.happened(),
  steps: [
    step("first_question", messageReceived.happened()),
    step("first_sale", tradeCompleted.happened(), { since: "previousStep" }),
    step("first_rating", ratingReceived.happened(), { since: "previousStep" }),
  ],
  expiresAfter: "60d",
});

/** The buyers' side is short: found something, and came back for more. */
export const firstPurchases = journey("first_purchases", {
  start: all(registered.happened(), buyer),
  steps: [
    step("first", tradeCompleted.happened()),
    step("second", tradeCompleted.happened(), { since: "previousStep" }),
  ],
  expiresAfter: "90d",
});

/** From a complaint to its end, as often as it happens. A run that expires is a promise broken: we answer within a week. */
export const dispute = journey("dispute", {
  start: disputeOpened.happened(),
  steps: [step("resolved", disputeResolved.happened())],
  expiresAfter: "7d",
  repeat: true,
});
