import { all, inactiveFor, signal } from "svc-success";
import { cart } from "./journeys.js";
import { stages } from "./lifecycle.js";
import { vip } from "./segments.js";

/** Went away with something in the cart: silent for four hours. Cleared by coming back, by the order, or by the end of the day's run. */
export const cartWaiting = signal("cart_waiting", {
  severity: "info",
  message: "Left with something in the cart",
  when: all(cart.is("active"), inactiveFor("4h")),
});

/** The year's spending still says VIP, the rhythm no longer does. Nobody should learn of it from the yearly figures. */
export const vipSlipping = signal("vip_slipping", {
  severity: "critical",
  message: "A VIP has ordered nothing for two months: write by hand",
  when: all(vip.has(), stages.in("lapsing", "lapsed")),
});

/** Raised by a bad review, cleared by a good one. */
export const unhappy = signal("unhappy", { severity: "warning", message: "The last review was a bad one" });

/** Raised by a rule. After two weeks it is too late to say sorry, so it clears itself. */
export const apologyDue = signal("apology_due", {
  severity: "warning",
  message: "Something arrived damaged, or not at all",
  for: "14d",
});
