import { emit, raise, rule } from "svc-success";
import { orderCancelled } from "./events.js";
import { bigSpenders } from "./segments.js";
import { largeReturn } from "./signals.js";

export const askWhy = rule("ask_why", {
  on: orderCancelled.where((order) => order.amount.atMost(-500)),
  then: raise(largeReturn),
});

/** Once a quarter at most: the letter is printed on good paper. */
export const thank = rule("thank", { on: bigSpenders.entered(), cooldown: "90d", then: emit("letter.thank_you") });
