// Fifteen shoppers, named for what they do, from February to August 2026. `data.jsonl` is written from this file.
import { Story } from "../tools/story.js";

/** Where the look at them is taken: `expected.json` says how they stand then. */
export const end = "2026-09-01T00:00:00Z";

const product = (category: string, price: number) => ({ category, price });
const order = (amount: number, more: object = {}) => ({ amount, items: 1, payment: "card", ...more });

/** Most shoppers let the shop write to them. */
function shopper(customerId: string, begins: string, traits: Record<string, unknown> = {}): Story {
  return new Story(customerId, begins)
    .becomes(0, { country: "DE", mailConsent: true, membership: "none", ...traits })
    .does(0, "account_created", { channel: "search" });
}

export const stories = [
  // Looks around for two weeks, and then no more.
  shopper("just-looking", "2026-06-01T18:00:00Z").every(3, 0.01, 13, "product_viewed", product("coats", 240)),

  // Leaves the cart and is reminded; leaves the next one in the same week and is not. Buys in the end, and at once the second time.
  shopper("leaves-the-cart", "2026-07-06T19:00:00Z")
    .does(2, "product_viewed", product("bags", 90))
    .does(2.01, "added_to_cart", product("bags", 90))
    .does(6, "added_to_cart", product("bags", 75))
    .does(6.5, "order_placed", order(75))
    .does(30, "product_viewed", product("bags", 60))
    .does(30.02, "added_to_cart", product("bags", 60))
    .does(30.03, "order_placed", order(60))
    .does(54, "added_to_cart", product("coats", 210)),

  // One order. Nothing brings this one back.
  shopper("one-order-and-gone", "2026-03-02T12:00:00Z", { mailConsent: false })
    .does(0.1, "added_to_cart", product("shoes", 80))
    .does(0.11, "order_placed", order(80)),

  // Opens every newsletter and looks at everything, which is no order: lapses all the same.
  shopper("looks-but-does-not-buy", "2026-04-06T20:00:00Z")
    .does(0.5, "order_placed", order(45))
    .every(6, 3, 140, "product_viewed", product("accessories", 20)),

  // The second order within a month, a review, three categories: all that is asked of an acquaintance.
  shopper("comes-back", "2026-04-20T09:00:00Z")
    .does(0.1, "order_placed", order(60))
    .does(9, "review_written", { stars: 5 })
    .does(20, "product_viewed", product("shoes", 95))
    .does(20.1, "product_viewed", product("knitwear", 70))
    .does(20.2, "product_viewed", product("bags", 120))
    .does(21, "added_to_cart", product("knitwear", 70))
    .does(21.1, "order_placed", order(70))
    .does(65, "order_placed", order(55))
    .does(110, "order_placed", order(90)),

  // The regular: every three weeks, a member whose year is about to end.
  shopper("every-three-weeks", "2026-03-09T17:30:00Z", {
    membership: "member",
    memberUntil: "2026-09-10",
    favourites: ["shoes", "bags"],
  })
    .every(21, 1, 172, "product_viewed", product("shoes", 110))
    .every(21, 1.02, 172, "order_placed", order(125, { items: 2 }))
    .every(63, 10, 172, "review_written", { stars: 4 }),

  // Four large orders, a VIP, and then silence: a letter by hand, and it works.
  shopper("vip-who-stops", "2026-02-16T11:00:00Z", { country: "CH" })
    .every(25, 1, 80, "order_placed", order(290, { items: 3 }))
    .does(160, "product_viewed", product("coats", 380))
    .does(160.5, "order_placed", order(380)),

  // A VIP for some weeks, until most of it came back.
  shopper("vip-no-more", "2026-05-04T08:00:00Z")
    .does(1, "order_placed", order(520, { items: 4 }))
    .does(15, "order_placed", order(540, { items: 3 }))
    .does(25, "refund_issued", { amount: 300, reason: "changed_mind" })
    .does(40, "refund_issued", { amount: 240, reason: "does_not_fit" }),

  // Tries on at home. Leaves carts, too, and is not reminded of them.
  shopper("sends-it-all-back", "2026-05-11T19:00:00Z", { favourites: ["shoes"] })
    .every(12, 1, 40, "order_placed", order(180, { items: 3 }))
    .every(12, 6, 45, "refund_issued", { amount: 180, reason: "does_not_fit" })
    .does(60, "added_to_cart", product("shoes", 130))
    .does(75, "order_placed", order(130)),

  // A parcel arrives broken: an apology, a bad review, a present with the next order, and a good review.
  shopper("damaged-parcel", "2026-06-15T10:00:00Z", { country: "AT" })
    .does(1, "order_placed", order(110))
    .does(6, "refund_issued", { amount: 110, reason: "damaged" })
    .does(6.2, "review_written", { stars: 1 })
    .does(18, "order_placed", order(95))
    .does(28, "review_written", { stars: 5 }),

  // The last parcel never arrived: the apology is still due.
  shopper("lost-parcel", "2026-08-03T10:00:00Z")
    .does(1, "order_placed", order(70))
    .does(20, "refund_issued", { amount: 70, reason: "never_arrived" })
    .does(21, "review_written", { stars: 2 }),

  // Buys when there is a coupon, and only then.
  shopper("waits-for-coupons", "2026-05-20T21:00:00Z")
    .does(1, "order_placed", order(40, { coupon: "SPRING" }))
    .does(45, "order_placed", order(38, { coupon: "SUMMER" }))
    .does(90, "order_placed", order(35, { coupon: "SALE", payment: "wallet" })),

  // Twice a year, a lot at a time, on invoice.
  shopper("fills-the-wardrobe", "2026-03-30T16:00:00Z")
    .does(1, "order_placed", order(260, { items: 6, payment: "invoice" }))
    .does(140, "order_placed", order(310, { items: 7, payment: "invoice" })),

  // Loyal in spring. One order in two months is still good, and no longer loyal.
  shopper("slows-down", "2026-03-02T07:00:00Z")
    .every(10, 0.5, 31, "order_placed", order(50))
    .does(80, "order_placed", order(50))
    .does(135, "order_placed", order(50)),

  // Buys in the shop in town, whose till sends each month's receipts at once.
  shopper("buys-in-town", "2026-06-08T10:00:00Z")
    .arrives(24)
    .does(3, "order_placed", order(65, { payment: "wallet" }))
    .does(10, "order_placed", order(85, { payment: "wallet" }))
    .arrives(55)
    .does(38, "order_placed", order(75, { payment: "wallet" })),
];
