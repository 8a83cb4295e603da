// Thirteen accounts, named for what becomes of them, from January to May 2026. `data.jsonl` is written from this file.
import { Story } from "../tools/story.js";

/** Where the look at them is taken: `expected.json` says how they stand then. */
export const end = "2026-05-01T00:00:00Z";

const login = { method: "password" };
const euros = (amount: number) => ({ amount, currency: "EUR" });
const uses = (feature: string) => ({ feature });

/** A trial is two weeks long, and begins with what the form asks for. */
function trial(customerId: string, begins: string, traits: Record<string, unknown> = {}): Story {
  const ends = new Date(Date.parse(begins) + 14 * 86_400_000).toISOString();
  return new Story(customerId, begins)
    .becomes(0, { companyName: customerId, plan: "trial", seats: 1, trialEndsOn: ends, ...traits })
    .does(0, "signed_up", { source: "self_serve" });
}

export const stories = [
  // One look, and never again: lost after three silent weeks.
  trial("trial-that-never-started", "2026-01-07T09:10:00Z").does(0.01, "login", login),

  // Signs in for a week, uses nothing, and says no.
  trial("looks-around", "2026-01-12T10:00:00Z", { industry: "education" })
    .every(2, 0.1, 6.1, "login", login)
    .does(5, "support_ticket_opened", { priority: "normal", topic: "gantt charts" })
    .does(9, "subscription_cancelled", { reason: "missing_feature" }),

  // One person who never invites anybody. Keeps coming back, and never pays.
  trial("works-alone", "2026-01-19T08:30:00Z", { industry: "other", country: "FR" })
    .does(0.05, "project_created", { source: "web", template: "roadmap", seats: 1 })
    .every(1, 1, 5, "login", login)
    .every(2, 1.01, 5.01, "feature_used", uses("board"))
    .does(11, "login", { method: "password", mobile: true })
    .every(12, 23, 71, "login", login)
    .does(75, "subscription_cancelled", { reason: "no_longer_needed" }),

  // As it should be: a team within days, all of the onboarding, an invoice, and daily use until today.
  trial("textbook", "2026-03-02T09:00:00Z", { industry: "software", country: "DE" })
    .does(0.1, "login", login)
    .does(1, "project_created", { source: "web", seats: 4 })
    .does(1.1, "member_invited", { role: "editor" })
    .does(1.2, "member_invited", { role: "viewer" })
    .every(2, 2, 58, "login", { method: "magic_link" })
    .every(2, 2.1, 58, "feature_used", uses("board"))
    .every(3, 3.1, 58, "feature_used", uses("timeline"))
    .every(4, 4.1, 58, "feature_used", uses("dashboard"))
    .every(5, 5.1, 58, "feature_used", uses("integration"))
    .does(6, "report_exported", { format: "pdf", rows: 40 })
    .becomes(14, { plan: "starter", seats: 4, trialEndsOn: null, renewsOn: "2026-06-01", managed: true })
    .does(14, "invoice_paid", euros(48))
    .does(44, "invoice_paid", euros(48)),

  // Five good weeks, and then nothing: quiet, at risk, in bad health, and lost after sixty days.
  trial("grows-then-goes-quiet", "2026-01-05T09:00:00Z", { industry: "retail", country: "NL" })
    .does(1, "project_created", { source: "web", seats: 6 })
    .does(1.1, "member_invited", { role: "admin" })
    .does(1.2, "member_invited", { role: "editor" })
    .every(1, 2, 34, "feature_used", uses("board"))
    .every(3, 2.1, 34, "login", login)
    .every(4, 3.1, 34, "feature_used", uses("automation"))
    .becomes(14, { plan: "starter", seats: 6, trialEndsOn: null })
    .does(14, "invoice_paid", euros(72)),

  // A call came at the right time: at risk in February, at work again in March.
  trial("rescued", "2026-01-08T14:00:00Z", { industry: "health", country: "US" })
    .does(0.2, "project_created", { source: "api", seats: 3 })
    .does(0.3, "member_invited", { role: "editor" })
    .every(2, 1, 15, "feature_used", uses("dashboard"))
    .every(3, 1.1, 16, "login", login)
    .becomes(13, { plan: "starter", seats: 3, trialEndsOn: null })
    .does(13, "invoice_paid", euros(36))
    .every(2, 50, 64, "feature_used", uses("dashboard"))
    .every(6, 52.1, 110, "login", login)
    .every(6, 70.2, 110, "feature_used", uses("timeline")),

  // Large projects on the small plan, then power use on the next one, then the largest.
  trial("outgrows-every-plan", "2026-02-02T09:20:00Z", { industry: "software", country: "GB" })
    .does(0.1, "project_created", { source: "web", seats: 12 })
    .does(0.2, "member_invited", { role: "admin" })
    .does(0.3, "member_invited", { role: "editor" })
    .every(1, 1, 87, "feature_used", uses("automation"))
    .every(3, 1.1, 87, "feature_used", uses("api"))
    .every(4, 2.1, 87, "login", { method: "sso" })
    .does(4, "feature_used", uses("integration"))
    .does(10, "report_exported", { format: "csv", rows: 900 })
    .becomes(12, { plan: "starter", seats: 14, trialEndsOn: null, addOns: ["sso"] })
    .does(12, "invoice_paid", euros(168))
    .does(20, "project_created", { source: "api", seats: 25 })
    .becomes(30, { plan: "pro", seats: 30 })
    .does(30, "invoice_paid", euros(870))
    .does(33, "report_exported", { format: "xlsx", rows: 2_400 })
    .becomes(60, { plan: "enterprise", seats: 45, managed: true, addOns: ["sso", "audit_log"] })
    .does(60, "invoice_paid", euros(2_205)),

  // Brought by sales, pays much, has a grave incident, and goes to a competitor before the renewal.
  new Story("key-account-leaves", "2026-01-06T10:00:00Z")
    .becomes(0, {
      companyName: "key-account-leaves",
      plan: "enterprise",
      seats: 80,
      managed: true,
      industry: "finance",
    })
    .does(0, "signed_up", { source: "sales" })
    .becomes(1, { renewsOn: "2026-04-06" })
    .does(1, "project_created", { source: "web", seats: 60 })
    .does(1.1, "member_invited", { role: "admin" })
    .every(1, 2, 60, "feature_used", uses("dashboard"))
    .every(2, 2.2, 60, "login", { method: "sso" })
    .every(30, 3, 63, "invoice_paid", { amount: 3_920, currency: "USD" })
    .does(58, "incident_reported", { severity: "critical", minutes: 95 })
    .does(58.1, "support_ticket_opened", { priority: "urgent", topic: "outage" })
    .does(76, "subscription_cancelled", { reason: "competitor" }),

  // Has every reason to buy more, and every reason to be angry: the rule asks, and sales does not call.
  trial("angry-customer", "2026-02-09T11:00:00Z", { industry: "software" })
    .does(0.1, "project_created", { source: "web", seats: 15 })
    .does(0.2, "member_invited", { role: "editor" })
    .every(1, 1, 24, "feature_used", uses("board"))
    .every(2, 1.1, 24, "login", login)
    .becomes(10, { plan: "pro", seats: 15, trialEndsOn: null })
    .does(10, "invoice_paid", euros(435))
    .does(18, "support_ticket_opened", { priority: "urgent", topic: "lost work" })
    .does(19, "support_ticket_opened", { priority: "urgent" })
    .does(20, "project_created", { source: "web", seats: 11 })
    .every(7, 28, 80, "feature_used", uses("board"))
    .every(7, 28.1, 80, "login", login),

  // A card expires and is replaced; the next one is not.
  trial("card-expires-twice", "2026-01-13T13:00:00Z", { industry: "retail", country: "ES" })
    .does(0.1, "project_created", { source: "web", seats: 2 })
    .does(0.2, "member_invited", { role: "viewer" })
    .every(3, 1, 100, "feature_used", uses("board"))
    .every(4, 1.1, 100, "login", login)
    .becomes(14, { plan: "starter", seats: 2, trialEndsOn: null })
    .does(14, "payment_failed", { amount: 24, reason: "card_expired", attempt: 1 })
    .does(17, "payment_failed", { amount: 24, reason: "card_expired", attempt: 2 })
    .does(19, "invoice_paid", euros(24))
    .does(49, "payment_failed", { amount: 24, reason: "insufficient_funds", attempt: 1 })
    .does(52, "payment_failed", { amount: 24, reason: "declined", attempt: 2 }),

  // Known to sales, and nothing has happened yet: no event, so no trial.
  new Story("lead", "2026-02-20T15:00:00Z").becomes(0, { companyName: "lead", industry: "finance", country: "CH" }),

  // Came from another tool: two months of history arrive on one day in March, and count as if they had come in time.
  new Story("late-import", "2026-01-15T09:00:00Z")
    .arrives(60)
    .becomes(0, { companyName: "late-import", plan: "starter", seats: 5, industry: "education", country: "AT" })
    .does(0, "signed_up", { source: "partner" })
    .does(2, "project_created", { source: "api", seats: 5 })
    .does(2.1, "member_invited", { role: "editor" })
    .every(3, 3, 24, "feature_used", uses("timeline"))
    .every(5, 3.1, 58, "login", login)
    .does(14, "invoice_paid", euros(60))
    .every(2, 46, 58, "feature_used", uses("timeline"))
    .does(62, "feature_used", uses("timeline")),

  // Its only week of work comes a month late, when the account has long been given up. The end of a lifecycle is an end; `svc recompute` would mend it.
  trial("too-late", "2026-02-03T09:00:00Z")
    .arrives(40)
    .does(3, "project_created", { source: "web", seats: 2 })
    .does(3.1, "member_invited", { role: "editor" })
    .every(1, 4, 8, "feature_used", uses("board")),
];
