// What happens in the product. Names are in the past tense, and properties say only what a condition or a reader will ask for.
import { boolean, event, number, oneOf, string } from "svc-success";

/** The account was created. `source` tells a self-served trial from one that sales or a partner brought. */
export const signedUp = event("signed_up", { source: oneOf("self_serve", "sales", "partner") });

/** Somebody of the account signed in. The everyday sign of life. */
export const login = event("login", { method: oneOf("password", "sso", "magic_link"), mobile: boolean().optional() });

/** A project is where the work is done: the first one is the first sign that the product is understood. */
export const projectCreated = event("project_created", {
  source: oneOf("web", "api"),
  template: string().optional(),
  seats: number(),
});

/** A colleague was invited. Accounts with one user leave, accounts with a team stay. */
export const memberInvited = event("member_invited", { role: oneOf("admin", "editor", "viewer") });

/** One of the features that tell how deeply the product is used was used. */
export const featureUsed = event("feature_used", {
  feature: oneOf("board", "timeline", "automation", "integration", "api", "dashboard"),
});

/** A report was exported: the work is shown to somebody outside the product. */
export const reportExported = event("report_exported", { format: oneOf("pdf", "csv", "xlsx"), rows: number() });

/** An invoice was paid. `amount` is in whole units of the currency. */
export const invoicePaid = event("invoice_paid", { amount: number(), currency: oneOf("EUR", "USD", "GBP") });

/** A charge was refused. `attempt` counts from 1 for each invoice. */
export const paymentFailed = event("payment_failed", {
  amount: number(),
  reason: oneOf("card_expired", "insufficient_funds", "declined"),
  attempt: number(),
});

/** Somebody of the account asked for help. */
export const supportTicketOpened = event("support_ticket_opened", {
  priority: oneOf("low", "normal", "urgent"),
  topic: string().optional(),
});

/** Our monitoring saw an incident that touched this account. */
export const incidentReported = event("incident_reported", {
  severity: oneOf("minor", "major", "critical"),
  minutes: number(),
});

/** The account ended its subscription, or let its trial go with a clear no. */
export const subscriptionCancelled = event("subscription_cancelled", {
  reason: oneOf("price", "missing_feature", "no_longer_needed", "competitor", "other"),
});
