// Where accounts are on the ways we want them to go. A journey shows who is stuck, and at which step.
import { journey, step } from "svc-success";
import {
  featureUsed,
  invoicePaid,
  login,
  memberInvited,
  paymentFailed,
  projectCreated,
  reportExported,
  signedUp,
} from "./events.js";

/**
 * A checklist: what a team should have done in its first month. Everything counts from the sign-up, in whatever order it is done; a
 * colleague who is invited before the first project is not forgotten.
 */
export const onboarding = journey("onboarding", {
  start: signedUp.happened(),
  anyOrder: true,
  steps: [
    step("create_project", projectCreated.happened()),
    step("invite_team", memberInvited.count().atLeast(2)),
    step("try_features", featureUsed.distinct("feature").atLeast(3)),
    step("share_report", reportExported.happened()),
  ],
  expiresAfter: "30d",
});

/**
 * A funnel: each step counts only what happened after the one before. A habit that was there before the first project says nothing about
 * the project, so five logins count from the project on, and the invoice from the habit on.
 */
export const conversion = journey("conversion", {
  start: signedUp.happened(),
  steps: [
    step("first_project", projectCreated.happened()),
    step("habit", login.count().atLeast(5), { since: "previousStep" }),
    step("payment", invoicePaid.happened(), { since: "previousStep" }),
  ],
  expiresAfter: "60d",
});

/**
 * From a refused charge to the payment, as often as it happens. A run that expires is a bill that somebody has to talk about; the next
 * refused charge after that starts a new one.
 */
export const dunning = journey("dunning", {
  start: paymentFailed.happened(),
  steps: [step("paid", invoicePaid.happened())],
  expiresAfter: "14d",
  repeat: true,
});
