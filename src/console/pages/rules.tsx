import type { RuleResult } from "../../engine/state/types.js";
import type { RuleCounts } from "../../http/admin/answers.js";
import type { Rule } from "../../model/snapshot/types.js";
import { formatNumber, titleOf } from "../../words/text.js";
import type { ConsolePage } from "../console-page.js";
import { RuleInWords, toldInList, ToldThere } from "../definition.js";
import { address, NoPart, TextLink } from "../parts.js";
import { type TableColumn, Table } from "../tables.js";
import { DaysForm, daysOf } from "../last-days.js";

const PATH = "rules";

/** What results are called. */
export const RESULTS: Readonly<Record<RuleResult, string>> = {
  pass: "acted",
  error: "failed",
  fail: "not met",
  skip: "rested",
};

/** Every rule: what it does, and how often it did lately. */
export const rulesPage: ConsolePage = {
  path: PATH,
  section: "Rules",
  async answer(visit) {
    const { ask, model } = visit;
    if (model === null || model.rules.length === 0) {
      return { title: "Rules", body: <NoPart model={model} what="rules" /> };
    }
    const days = daysOf(visit);
    const told = toldInList(model.rules);
    const { rules: counts } = await ask("rule-executions/counts", { since: `${days}d` });
    return {
      title: "Rules",
      body: (
        <>
          <DaysForm path={PATH} days={days} />
          <Table
            name="Rules"
            rows={model.rules}
            columns={[
              ["Rule", ({ id }) => <TextLink href={ruleHref(id, days)} text={id} />],
              ...(Object.keys(RESULTS) as RuleResult[]).map((result): TableColumn<Rule> => [
                titleOf(RESULTS[result]),
                ({ id }) => (
                  <Runs
                    of={counts.find(({ ruleId }) => ruleId === id)}
                    result={result}
                    href={ruleHref(id, days, { result })}
                  />
                ),
                "number",
              ]),
              [
                "What it does",
                (rule) =>
                  told.has(rule.id) ? <RuleInWords rule={rule} /> : <ToldThere href={ruleHref(rule.id, days)} />,
                "words",
              ],
            ]}
          />
          <p class="hint">
            Not met: its condition did not hold. Rested: it had acted before, and acts only once or not again so soon. A
            number with +: only the latest runs were counted.
          </p>
        </>
      ),
    };
  },
};

const ruleHref = (id: string, days: number, more: Record<string, string> = {}) =>
  address("rule", { id, ...more, days: String(days) });

function Runs({ of: counts, result, href }: { of: RuleCounts | undefined; result: RuleResult; href: string }) {
  const text = formatNumber(counts?.[result] ?? 0) + (counts?.more.includes(result) ? "+" : "");
  if (text === "0") return <span class="faint">0</span>;
  return (
    <a class={result === "error" ? "critical" : undefined} href={href}>
      {text}
    </a>
  );
}
