import { all, inactiveFor, signal } from "svc-success";
import { bigSpenders } from "./segments.js";

/** A big spender has ordered nothing for six weeks, which is long for one. */
export const bigSpenderQuiet = signal("big_spender_quiet", {
  severity: "warning",
  message: "A big spender has ordered nothing for six weeks",
  when: all(bigSpenders.has(), inactiveFor("42d")),
});

/** Raised by a rule; two weeks later it is too late to ask why. */
export const largeReturn = signal("large_return", {
  severity: "info",
  message: "Goods of five hundred pounds or more came back",
  for: "14d",
});
