import {
  activeWithin,
  addTo,
  all,
  daysSince,
  defineModel,
  event,
  health,
  inactiveFor,
  inState,
  journey,
  lifecycle,
  number,
  oneOf,
  rule,
  scale,
  segment,
  signal,
  step,
  steps,
  string,
  traits,
} from "../../src/dsl/index.js";
import { lower } from "../../src/dsl-compiler/load/lower.js";
import { compileModel, type Model } from "../../src/engine/index.js";
import { hashSnapshot } from "../../src/model/snapshot/canonical.js";
import { parseSnapshot } from "../../src/model/validate/validate.js";

/** A model of ordinary size, with one or more of every part, over seven events. */
export function benchModel(): Model {
  const signedUp = event("signed_up");
  const login = event("login");
  const projectCreated = event("project_created", {
    template: string().optional(),
    seats: number(),
    source: oneOf("web", "api"),
  });
  const memberInvited = event("member_invited");
  const featureUsed = event("feature_used", { feature: string() });
  const invoicePaid = event("invoice_paid", { amount: number() });
  const pageViewed = event("page_viewed");
  const customer = traits({ plan: oneOf("free", "pro", "enterprise"), seats: number() });

  const powerUsers = segment("power_users", {
    when: all(
      customer.plan.in("pro", "enterprise"),
      projectCreated
        .where((p) => p.seats.atLeast(5))
        .count()
        .atLeast(3)
        .within("30d"),
    ),
  });
  const expansion = segment("expansion_candidates");
  const stages = lifecycle({
    initial: "new",
    states: {
      new: { to: { trial: customer.plan.is("free"), activated: projectCreated.count().atLeast(3) } },
      trial: { to: { activated: projectCreated.count().atLeast(3).within("14d") } },
      activated: { to: { at_risk: inactiveFor("21d") } },
      at_risk: { to: { activated: activeWithin("3d"), churned: inState().atLeast("60d") } },
      churned: { terminal: true },
    },
  });
  const onboarding = journey("onboarding", {
    start: signedUp.happened(),
    steps: [step("create_project", projectCreated.happened()), step("invite_team", memberInvited.count().atLeast(2))],
    expiresAfter: "30d",
  });
  const score = health({
    components: {
      adoption: { weight: 0.5, score: scale(featureUsed.count().within("30d"), { from: 0, to: 20 }) },
      engagement: {
        weight: 0.3,
        score: steps(
          daysSince(login),
          [
            [2, 100],
            [7, 70],
            [21, 30],
          ],
          0,
        ),
      },
      commercial: { weight: 0.2, score: customer.plan.map({ free: 30, pro: 70, enterprise: 100 }) },
    },
    bands: { healthy: 70, at_risk: 40, critical: 0 },
  });
  const upsell = rule("upsell", { on: invoicePaid, when: powerUsers.has(), cooldown: "30d", then: addTo(expansion) });
  const goingQuiet = signal("going_quiet", {
    when: all(stages.is("activated"), inactiveFor("10d")),
    severity: "warning",
  });
  const { snapshot } = lower({
    default: defineModel({
      events: [signedUp, login, projectCreated, memberInvited, featureUsed, invoicePaid, pageViewed],
      traits: customer,
      lifecycle: stages,
      journeys: [onboarding],
      segments: [powerUsers, expansion],
      health: score,
      rules: [upsell],
      signals: [goingQuiet],
    }),
  });
  const parsed = parseSnapshot(snapshot);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return compileModel(parsed.snapshot, hashSnapshot(parsed.snapshot));
}
