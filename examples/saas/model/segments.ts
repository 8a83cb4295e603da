// Who needs attention, and of which kind. Accounts enter and leave by themselves as their conditions come and go.
import { activeWithin, all, any, inactiveFor, segment } from "svc-success";
import {
  featureUsed,
  incidentReported,
  invoicePaid,
  login,
  paymentFailed,
  projectCreated,
  reportExported,
  supportTicketOpened,
} from "./events.js";
import { paying, stages } from "./lifecycle.js";
import { account } from "./traits.js";

/** Accounts that get the most out of the product: good references, and the first to ask about a new feature. */
export const powerUsers = segment("power_users", {
  when: all(
    account.plan.in("pro", "enterprise"),
    featureUsed
      .where((use) => use.feature.in("automation", "integration", "api"))
      .count()
      .atLeast(8)
      .within("30d"),
    reportExported.count().atLeast(1).within("30d"),
  ),
});

/** Accounts that outgrow what they bought: large projects on a small plan, or power users without the big plan. */
export const expansionCandidates = segment("expansion_candidates", {
  when: all(
    stages.in("activated", "engaged"),
    any(
      all(
        account.plan.in("starter", "pro"),
        projectCreated
          .where((project) => project.seats.atLeast(10))
          .count()
          .atLeast(2)
          .within("60d"),
      ),
      all(powerUsers.has(), account.plan.isNot("enterprise")),
    ),
  ),
});

/** A refused charge and no payment at all in two weeks. The cause is mostly an expired card: a mail is enough. */
export const paymentTrouble = segment("payment_trouble", {
  when: all(paymentFailed.happened().within("14d"), invoicePaid.never().within("14d")),
});

/** Still active customers that have become quiet. The lifecycle calls them at risk a few days later: this is the time to call. */
export const goingQuiet = segment("going_quiet", {
  when: all(stages.in("activated", "engaged"), inactiveFor("7d"), paying),
});

/** Trials that end within five days and show real use: the right moment for an offer. */
export const trialEnding = segment("trial_ending", {
  when: all(account.plan.is("trial"), account.trialEndsOn.within("5d"), activeWithin("7d")),
});

/** Accounts that had reason to be angry lately: several urgent tickets, or a grave incident. No upsell calls here. */
export const frustrated = segment("frustrated", {
  when: any(
    supportTicketOpened
      .where((ticket) => ticket.priority.is("urgent"))
      .count()
      .atLeast(2)
      .within("14d"),
    incidentReported
      .where((incident) => incident.severity.is("critical"))
      .happened()
      .within("7d"),
    incidentReported
      .where((incident) => incident.minutes.moreThan(60))
      .count()
      .atLeast(2)
      .within("30d"),
  ),
});

/** Renewals of the next 45 days that somebody of ours should prepare. */
export const renewalDue = segment("renewal_due", {
  when: all(paying, account.renewsOn.within("45d"), any(account.managed.is(true), account.seats.atLeast(50))),
});

/** Accounts that sign in and then do nothing: they want something that they do not find. */
export const lookingAround = segment("looking_around", {
  when: all(stages.is("trial"), login.count().atLeast(3).within("7d"), featureUsed.never().within("7d")),
});

/** What an account has paid in the last quarter, added up: three invoices of a middling one. */
export const highValue = segment("high_value", { when: invoicePaid.sum("amount").atLeast(1_000).within("90d") });

/** Named by a rule, not by a condition: see rules.ts. */
export const keyAccounts = segment("key_accounts");
