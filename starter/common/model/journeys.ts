// Where accounts are on the way we want them to go. A journey shows who is stuck, and at which step.
import { journey, step } from "svc-success";
import { featureUsed, memberInvited, projectCreated, signedUp } from "./events.js";

/** What a team should have done in its first month, in whatever order. Everything counts from the sign-up on. */
export const onboarding = journey("onboarding", {
  start: signedUp.happened(),
  anyOrder: true,
  steps: [
    step("create_project", projectCreated.happened()),
    step("invite_team", memberInvited.happened()),
    step("try_features", featureUsed.distinct("feature").atLeast(2)),
  ],
  expiresAfter: "30d",
});
