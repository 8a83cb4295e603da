// What shoppers do. Amounts are in euros, after discounts and before refunds: a refund is an event of its own, on the day it is paid.
import { event, number, oneOf, string } from "svc-success";

const category = oneOf("shoes", "coats", "bags", "knitwear", "accessories");

/** The shopper has an account. What the shop knew before, by cookie, is not sent. */
export const accountCreated = event("account_created", { channel: oneOf("search", "social", "friend", "shop") });

export const productViewed = event("product_viewed", { category, price: number() });

export const addedToCart = event("added_to_cart", { category, price: number() });

/** An order was paid. `coupon` is there only where one was used. */
export const orderPlaced = event("order_placed", {
  amount: number(),
  items: number(),
  payment: oneOf("card", "wallet", "invoice"),
  coupon: string().optional(),
});

/** Money went back, for all of an order or a part of it. */
export const refundIssued = event("refund_issued", {
  amount: number(),
  reason: oneOf("does_not_fit", "changed_mind", "damaged", "never_arrived"),
});

export const reviewWritten = event("review_written", { stars: number() });
