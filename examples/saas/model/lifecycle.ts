// Where each account stands. The first transition whose condition holds is taken, so the order within a state matters: what ends
// the relationship stands first (from any state a cancellation), then what is good news, then what is a warning.
import { activeWithin, all, any, inactiveFor, inState, lifecycle, not } from "svc-success";
import { featureUsed, invoicePaid, memberInvited, projectCreated, signedUp, subscriptionCancelled } from "./events.js";
import { account } from "./traits.js";

/** Counted since the present state was entered, so that an account that comes back is not thrown out by its old cancellation. */
const cancelled = subscriptionCancelled.happened().since("state");

/** Activated: a team has begun to work. One person who tries the product alone is not there yet. */
const teamAtWork = all(projectCreated.happened(), memberInvited.happened());

/** Engaged: used on most days. Twelve uses in two weeks is about one on every working day. */
const usedDaily = featureUsed.count().atLeast(12).within("14d");

export const stages = lifecycle({
  initial: "new",
  states: {
    // Known to us, by an identify from sales for example, but not signed up yet.
    new: { to: { trial: signedUp.happened() } },

    // Trying the product. A trial that ends without a team or an invoice is lost after three silent weeks.
    trial: {
      to: {
        churned: all(inactiveFor("21d"), not(invoicePaid.happened())),
        activated: any(teamAtWork, invoicePaid.happened()),
      },
    },

    // A team works with it, though not every day.
    activated: {
      to: {
        engaged: all(usedDaily, invoicePaid.happened()),
        at_risk: inactiveFor("14d"),
      },
    },

    // A paying account that uses the product daily. When daily use ends it falls back without alarm; silence is the alarm.
    engaged: {
      to: {
        at_risk: inactiveFor("10d"),
        activated: featureUsed.count().lessThan(4).within("14d"),
      },
    },

    // Silent for too long. Real use brings it back, one stray login does not; after sixty days here we call it lost.
    at_risk: {
      to: {
        churned: inState().atLeast("60d"),
        activated: all(activeWithin("3d"), featureUsed.count().atLeast(2).within("7d")),
      },
    },

    // The end of the story. A returning company is a new account; `country` and `companyName` find the old one.
    churned: { terminal: true },
  },
  // Whatever else the account does, it has left us. Before the sign-up there is nothing to cancel.
  anyState: { to: { churned: cancelled }, except: ["new"] },
});

/** Accounts that pay us now, whatever they do in the product. */
export const paying = all(account.plan.in("starter", "pro", "enterprise"), stages.isNot("churned"));
