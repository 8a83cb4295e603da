import type { RuleResult } from "../../engine/state/types.js";
import type { Effect } from "../../engine/index.js";
import type { QuestionParams } from "../../console/source.js";
import type { ListPage, RuleCounts, RuleExecution } from "../../http/admin/answers.js";
import { compareTexts, pageOf, requireKnown } from "./lists.js";
import { aboutEffect, earliestOf, type PopulationView } from "./population-view.js";

/** The log of rules, newest first; filtered by rule, customer, result and `since`. */
export function localRuleExecutions(view: PopulationView, of: QuestionParams): ListPage<RuleExecution> {
  const found = runsOf(view, of).filter(
    ({ ruleId, customerId }) => ruleId === (of["rule"] ?? ruleId) && customerId === (of["customer"] ?? customerId),
  );
  if (found.length === 0) requireKnown(view.engine, of, { rule: "rule" });
  return pageOf(
    found.filter(({ result }) => of["result"] === undefined || result === of["result"]),
    of,
  );
}

/** How often each rule of the model ran, by result. */
export function localRuleCounts(view: PopulationView, of: QuestionParams): { rules: RuleCounts[] } {
  const runs = runsOf(view, { since: "7d", ...of });
  const rules = view.engine.snapshot.rules.map(({ id: ruleId }) => {
    const count = (wanted: RuleResult) => runs.filter((run) => run.ruleId === ruleId && run.result === wanted).length;
    return { ruleId, pass: count("pass"), fail: count("fail"), skip: count("skip"), error: count("error"), more: [] };
  });
  return { rules };
}

function runsOf(view: PopulationView, of: QuestionParams): RuleExecution[] {
  const { population } = view;
  const since = earliestOf(view, of);
  const runs = population.customerIds.flatMap((customerId) =>
    ruleRuns(population.effects(customerId))
      .filter(({ run }) => run.at >= since)
      .map(({ run, emission }) => {
        const { rule: ruleId, result, triggeredBy, error } = run;
        const { at: executedAt, ...why } = aboutEffect(run);
        const emissionId = emission === null ? null : population.timeline(customerId)[emission]!.id;
        return { customerId, ruleId, result, triggeredBy, executedAt, ...why, error, emissionId };
      }),
  );
  return runs.toReversed().toSorted((a, b) => compareTexts(b.executedAt, a.executedAt));
}

/** The run of a rule, and the place of its emission among those of the customer; null if it made none. */
export interface RuleRun {
  run: Extract<Effect, { kind: "ruleExecuted" }>;
  emission: number | null;
}

/** The runs of rules among the effects of a customer's evaluations, in their order. */
export function ruleRuns(effects: readonly Effect[]): RuleRun[] {
  const runs: RuleRun[] = [];
  let emissions = 0;
  for (const effect of effects) {
    if (effect.kind === "ruleExecuted") runs.push({ run: effect, emission: null });
    if (effect.kind !== "emission") continue;
    // The effects of the rule's action come between its run and its emission.
    if (effect.byRule === true) runs.at(-1)!.emission = emissions;
    emissions += 1;
  }
  return runs;
}
