// What somebody should look at today. A signal is raised when its condition becomes true, and cleared when it is no longer.
import { all, signal } from "svc-success";
import { score } from "./health.js";
import { account } from "./traits.js";

/** Pays us, and little speaks for it to go on: call before the renewal does. */
export const renewalAtRisk = signal("renewal_at_risk", {
  severity: "critical",
  message: "The subscription renews soon, and the account is in bad health",
  when: all(account.renewsOn.within("30d"), score.band.is("critical")),
});
