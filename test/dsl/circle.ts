/**
 * A model whose parts all read each other before they are declared, as in modules that import each other: conditions given as functions
 * keep both values and types free of circles.
 */
import {
  all,
  daysSince,
  defineModel,
  event,
  health,
  inactiveFor,
  journey,
  lifecycle,
  scale,
  segment,
  signal,
  step,
} from "svc-success";

const login = event("login");

export const stages = lifecycle({
  initial: "trial",
  states: {
    trial: { to: { activated: () => onboarding.is("complete"), lost: inactiveFor("30d") } },
    activated: { to: { at_risk: () => quiet.has(), lost: () => score.band.is("critical") } },
    at_risk: { to: { activated: () => onboarding.atStep("invite"), lost: () => chosen.has() } },
    lost: { terminal: true },
  },
});

export const onboarding = journey("onboarding", {
  start: () => stages.is("trial"),
  steps: [
    step("log_in", login.happened()),
    step("invite", () => quiet.has()),
    step("thrive", () => score.overall.atLeast(70)),
  ],
});

const quiet = segment("quiet", { when: () => all(stages.is("activated"), inactiveFor("10d")) });

const stuck = segment("stuck", {
  when: () => all(onboarding.atStep("invite"), score.component("use").atMost(10), quiet.has()),
});

const chosen = segment("chosen");

export const score = health({
  components: {
    use: { weight: 1, score: () => scale(login.count().since(onboarding), { from: 0, to: 9 }) },
    recent: { weight: 1, score: scale(daysSince(login), { from: 30, to: 0 }) },
  },
  bands: { healthy: 50, critical: 0 },
});

const alarm = signal("alarm", { severity: "critical", when: () => all(stuck.has(), score.band.is("critical")) });

export const model = defineModel({
  events: { login },
  lifecycle: stages,
  journeys: { onboarding },
  segments: { quiet, stuck, chosen },
  health: score,
  signals: { alarm },
});
