// What is done by itself when something happens. Each rule does one thing; each run is logged with what was expected and what was found.
import { addTo, clear, emit, not, raise, removeFrom, rule, traitsChanged } from "svc-success";
import { incidentReported, invoicePaid, paymentFailed, subscriptionCancelled } from "./events.js";
import { paying } from "./lifecycle.js";
import { expansionCandidates, frustrated, highValue, keyAccounts } from "./segments.js";
import { apologyDue, paymentAtRisk } from "./signals.js";
import { account } from "./traits.js";

/** Tell sales that an account outgrows its plan, unless it has reason to be angry, and not more often than every thirty days. */
export const upsell = rule("upsell", {
  on: expansionCandidates.entered(),
  when: not(frustrated.has()),
  cooldown: "30d",
  then: emit("upsell.ready"),
});

/** A large invoice makes a key account. It stays one in a poor month, which a condition on the amount would not let it. */
export const nameKeyAccount = rule("name_key_account", {
  on: invoicePaid.where((invoice) => invoice.amount.atLeast(400)),
  when: highValue.has(),
  then: addTo(keyAccounts),
});

export const dropKeyAccount = rule("drop_key_account", { on: subscriptionCancelled, then: removeFrom(keyAccounts) });

/** The first time an account is on the largest plan somebody says thank you. */
export const wentEnterprise = rule("went_enterprise", {
  on: traitsChanged,
  when: account.plan.is("enterprise"),
  once: true,
  then: emit("account.went_enterprise"),
});

export const chargeRefusedAgain = rule("charge_refused_again", {
  on: paymentFailed.where((charge) => charge.attempt.atLeast(2)),
  then: raise(paymentAtRisk),
});

export const chargePaid = rule("charge_paid", { on: invoicePaid, then: clear(paymentAtRisk) });

export const apologize = rule("apologize", {
  on: incidentReported.where((incident) => incident.severity.is("critical")),
  when: paying,
  then: raise(apologyDue),
});
