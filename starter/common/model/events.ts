// What happens in the product. Names are in the past tense, and properties say only what a condition or a reader will ask for.
import { event, number, oneOf, string } from "svc-success";

/** The account was created. */
export const signedUp = event("signed_up", { source: oneOf("website", "sales", "partner") });

/** Somebody of the account signed in: the everyday sign of life. */
export const loggedIn = event("logged_in");

/** A project is where the work is done: the first one is the first sign that the product is understood. */
export const projectCreated = event("project_created", { template: string().optional() });

/** A colleague was invited. Accounts with a team stay. */
export const memberInvited = event("member_invited", { role: oneOf("admin", "member") });

/** One of the features that tell how deeply the product is used was used. */
export const featureUsed = event("feature_used", { feature: oneOf("board", "report", "automation", "api") });

/** An invoice was paid. `amount` is in whole units of the currency. */
export const invoicePaid = event("invoice_paid", { amount: number(), currency: oneOf("EUR", "USD") });

/** The account ended its subscription. */
export const subscriptionCancelled = event("subscription_cancelled", {
  reason: oneOf("price", "missing_feature", "no_longer_needed", "other"),
});
