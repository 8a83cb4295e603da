import { Engine, type RuleProperties } from "json-rules-engine";

/**
 * The conditions of the benchmark's model as rules of json-rules-engine. It has no memory: counts, ages and the current state are
 * precomputed facts.
 */
export function rulesEngine(): Engine {
  const condition = (
    fact: string,
    operator: string,
    value: unknown,
  ): { fact: string; operator: string; value: unknown } => ({
    fact,
    operator,
    value,
  });
  const rules: [type: string, conditions: ReturnType<typeof condition>[]][] = [
    ["trial", [condition("lifecycle", "equal", "new"), condition("plan", "equal", "free")]],
    ["activated", [condition("lifecycle", "equal", "new"), condition("projects", "greaterThanInclusive", 3)]],
    ["activated", [condition("lifecycle", "equal", "trial"), condition("projects14d", "greaterThanInclusive", 3)]],
    ["at_risk", [condition("lifecycle", "equal", "activated"), condition("inactiveDays", "greaterThanInclusive", 21)]],
    [
      "power_users",
      [condition("plan", "in", ["pro", "enterprise"]), condition("bigProjects30d", "greaterThanInclusive", 3)],
    ],
    ["create_project", [condition("onboarding", "equal", "active"), condition("projects", "greaterThanInclusive", 1)]],
    ["invite_team", [condition("onboarding", "equal", "active"), condition("invitations", "greaterThanInclusive", 2)]],
    ["upsell", [condition("event", "equal", "invoice_paid"), condition("powerUser", "equal", true)]],
    [
      "going_quiet",
      [condition("lifecycle", "equal", "activated"), condition("inactiveDays", "greaterThanInclusive", 10)],
    ],
    ["healthy", [condition("features30d", "greaterThanInclusive", 14)]],
  ];
  const engine = new Engine();
  for (const [type, conditions] of rules) {
    engine.addRule({ conditions: { all: conditions }, event: { type } } satisfies RuleProperties);
  }
  return engine;
}

/** The precomputed facts of an event. */
export function factsOf(event: string, seq: number): Record<string, unknown> {
  return {
    event,
    plan: "pro",
    lifecycle: "activated",
    onboarding: "complete",
    projects: seq,
    projects14d: seq % 20,
    bigProjects30d: seq % 9,
    invitations: seq,
    features30d: seq % 40,
    inactiveDays: 0,
    powerUser: true,
  };
}
