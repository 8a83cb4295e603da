import { journey, step } from "svc-success";
import { addedToCart, orderPlaced, productViewed, reviewWritten } from "./events.js";

/**
 * From the first thing in the cart to the order, as often as it happens. A run that expires is an abandoned cart, and `journey.expired` says so
 * exactly a day after it was begun. The next thing put into the cart begins the next run.
 */
export const cart = journey("cart", {
  start: addedToCart.happened(),
  steps: [step("order", orderPlaced.happened())],
  expiresAfter: "24h",
  repeat: true,
});

/**
 * From the first order to the second, as a funnel: each step counts only what happened after the one before. The order that starts it is not
 * the order that ends it.
 */
export const comeBack = journey("come_back", {
  start: orderPlaced.happened(),
  steps: [
    step("look", productViewed.happened()),
    step("choose", addedToCart.happened(), { since: "previousStep" }),
    step("order", orderPlaced.happened(), { since: "previousStep" }),
  ],
  expiresAfter: "60d",
});

/** What makes a customer known to us, in whatever order. It has no end: there is no hurry. */
export const acquainted = journey("acquainted", {
  start: orderPlaced.happened(),
  anyOrder: true,
  steps: [
    step("review", reviewWritten.happened()),
    step("three_categories", productViewed.distinct("category").atLeast(3)),
  ],
});
