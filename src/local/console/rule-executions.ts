import type { ListPage, RuleCounts, RuleExecution } from "../../http/admin/answers.js";
import type { RuleResult } from "../../engine/state/types.js";
import { causeId } from "../../engine/index.js";
import type { Of } from "../../console/source.js";
import { queryInstant, isoTime, pageOf, type Stand } from "./stand.js";

/** The log of the rules, newest first; by rule, result and since when. */
export function localRuleExecutions(stand: Stand, of: Of): ListPage<RuleExecution> {
  const found = runsOf(stand, of).filter(({ ruleId }) => ruleId === (of["rule"] ?? ruleId));
  return pageOf(
    found.filter(({ result }) => of["result"] === undefined || result === of["result"]),
    of,
  );
}

/** How often each rule of the model ran, by result. */
export function localRuleCounts(stand: Stand, of: Of): { rules: RuleCounts[] } {
  const runs = runsOf(stand, of);
  const rules = stand.engine.snapshot.rules.map(({ id: ruleId }) => {
    const count = (wanted: RuleResult) => runs.filter((run) => run.ruleId === ruleId && run.result === wanted).length;
    return { ruleId, pass: count("pass"), fail: count("fail"), skip: count("skip"), error: count("error"), more: [] };
  });
  return { rules };
}

function runsOf({ population, now }: Stand, of: Of): RuleExecution[] {
  const since = queryInstant(of["since"] ?? "7d", "since", now);
  const runs = population.customerIds.flatMap((customerId) => {
    let emissions = 0;
    const effects = population.effects(customerId);
    return effects.flatMap((effect, index) => {
      if (effect.kind === "emission") emissions++;
      if (effect.kind !== "ruleExecuted" || effect.at < since) return [];
      const { rule: ruleId, result, triggeredBy, error } = effect;
      const cause = { type: effect.cause.kind, id: causeId(effect.cause) };
      const executedAt = isoTime(effect.at);
      const next = effects[index + 1];
      const emissionId =
        next?.kind === "emission" && next.byRule === true ? population.timeline(customerId)[emissions]!.id : null;
      return [{ customerId, ruleId, result, triggeredBy, executedAt, cause, configVersion: null, error, emissionId }];
    });
  });
  return runs.toReversed().toSorted((a, b) => (a.executedAt < b.executedAt ? 1 : a.executedAt > b.executedAt ? -1 : 0));
}
