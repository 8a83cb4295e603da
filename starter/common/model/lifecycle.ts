// Where each account stands. The first transition whose condition holds is taken, so the order within a state matters.
import { activeWithin, all, any, inactiveFor, inState, lifecycle } from "svc-success";
import { featureUsed, invoicePaid, memberInvited, projectCreated, signedUp, subscriptionCancelled } from "./events.js";

/** Counted since the present state was entered: an account that comes back is not thrown out by its old cancellation. */
const cancelled = subscriptionCancelled.happened().since("state");

/** A team has begun to work. One person who tries the product alone is not there yet. */
const teamAtWork = all(projectCreated.happened(), memberInvited.happened());

export const stages = lifecycle({
  initial: "new",
  states: {
    // Known to us, but not signed up yet.
    new: { to: { trial: signedUp.happened() } },

    // Trying the product. Three silent weeks end the trial.
    trial: { to: { churned: any(cancelled, inactiveFor("21d")), activated: any(teamAtWork, invoicePaid.happened()) } },

    // A team works with it.
    activated: { to: { churned: cancelled, at_risk: inactiveFor("14d") } },

    // Silent for too long. Real use brings it back, one stray login does not; after sixty days we call it lost.
    at_risk: {
      to: {
        churned: any(cancelled, inState().atLeast("60d")),
        activated: all(activeWithin("3d"), featureUsed.count().atLeast(2).within("7d")),
      },
    },

    churned: { terminal: true },
  },
});
