// What somebody should look at today. A signal is raised once, when its condition becomes true, and cleared when it is no longer.
import { all, inactiveFor, signal } from "svc-success";
import { score } from "./health.js";
import { onboarding } from "./journeys.js";
import { paying, stages } from "./lifecycle.js";

/** The alarm: pays us, and hardly anything speaks for it to go on. */
export const healthCritical = signal("health_critical", {
  severity: "critical",
  message: "A paying account is in bad health: call before the renewal does",
  when: all(paying, score.band.is("critical")),
});

/** The early sign: the account still calls itself active, but little is done. */
export const usageDropping = signal("usage_dropping", {
  severity: "warning",
  message: "Little is done with the product lately",
  when: all(stages.in("activated", "engaged"), score.component("adoption").atMost(20)),
});

/** One person tried the product, invited nobody and went away: a mail with a template for the team may help. */
export const alone = signal("alone_in_onboarding", {
  severity: "info",
  message: "Stopped before the team was invited",
  when: all(onboarding.atStep("invite_team"), inactiveFor("5d")),
});

/** Raised and cleared by rules: a charge was refused again, and has not been paid since. */
export const paymentAtRisk = signal("payment_at_risk", {
  severity: "warning",
  message: "The charge was refused twice",
});

/** Raised by a rule. After a week nobody wants to hear of it any more, so it clears itself. */
export const apologyDue = signal("apology_due", {
  severity: "critical",
  message: "A grave incident touched this account",
  for: "7d",
});
