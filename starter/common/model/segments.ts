// Who needs attention, and of which kind. Accounts enter and leave by themselves as their conditions come and go.
import { activeWithin, all, inactiveFor, segment } from "svc-success";
import { featureUsed } from "./events.js";
import { stages } from "./lifecycle.js";
import { account } from "./traits.js";

/** Accounts that get the most out of the product: good references, and the first to ask about a new feature. */
export const powerUsers = segment("power_users", {
  when: all(activeWithin("7d"), featureUsed.distinct("feature").atLeast(3).within("30d")),
});

/** The lifecycle calls them at risk a week later: this is the time to call. */
export const goingQuiet = segment("going_quiet", { when: all(stages.is("activated"), inactiveFor("7d")) });

/** On the small plan, with more seats than it is meant for. */
export const outgrowing = segment("outgrowing", { when: all(account.plan.is("starter"), account.seats.atLeast(10)) });
