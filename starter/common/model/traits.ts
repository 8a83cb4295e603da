// What is known about an account. Traits show how things are now; what happened is told by events.
import { date, number, oneOf, string, traits } from "svc-success";

export const account = traits({
  companyName: string(),
  plan: oneOf("trial", "starter", "pro"),
  /** Seats the account pays for. */
  seats: number(),
  renewsOn: date(),
});
