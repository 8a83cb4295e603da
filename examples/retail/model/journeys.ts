import { journey, step } from "svc-success";
import { orderPlaced } from "./events.js";

/** From the first order to a habit, as a funnel. A step needs an order after the one that completed the step before. */
export const habit = journey("habit", {
  start: orderPlaced.happened(),
  steps: [
    step("second_order", orderPlaced.happened()),
    step("third_order", orderPlaced.happened(), { since: "previousStep" }),
    step("large_order", orderPlaced.where((order) => order.amount.atLeast(300)).happened(), { since: "previousStep" }),
  ],
  expiresAfter: "180d",
});
