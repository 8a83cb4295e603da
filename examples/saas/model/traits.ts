// What is known about an account. Traits change by identify operations and show how things are now, not how they were.
import { array, boolean, date, number, oneOf, string, traits } from "svc-success";

export const account = traits({
  companyName: string(),
  plan: oneOf("trial", "starter", "pro", "enterprise"),
  /** Seats the account pays for. */
  seats: number(),
  industry: oneOf("software", "retail", "finance", "health", "education", "other"),
  /** ISO 3166 code, such as "DE". */
  country: string(),
  trialEndsOn: date(),
  renewsOn: date(),
  /** Whether a person of ours looks after the account. */
  managed: boolean(),
  /** Add-ons the account has bought. */
  addOns: array(oneOf("sso", "audit_log", "priority_support")),
});
