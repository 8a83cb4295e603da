import type { RuleResult } from "../../engine/state/types.js";
import type { RuleCounts } from "../../http/admin/answers.js";
import type { Rule } from "../../model/snapshot/types.js";
import { formatNumber, titleOf } from "../../words/text.js";
import type { ConsolePage } from "../console-page.js";
import { RuleInWords } from "../definition.js";
import { address, NoPart, Table, TextLink } from "../parts.js";
import { daysOf, SpanField } from "../last-days.js";

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
    const { rules: counts } = await ask("rule-executions/counts", { since: `${days}d` });
    return {
      title: "Rules",
      body: (
        <>
          <form class="filters" action={PATH} method="get">
            <SpanField days={days} />
            <button class="second">Show</button>
          </form>
          <Table
            name="Rules"
            columns={[
              { heading: "Rule" },
              ...Object.values(RESULTS).map((result) => ({ heading: titleOf(result), isNumber: true })),
              { heading: "What it does" },
            ]}
          >
            {model.rules.map((rule) => (
              <Row rule={rule} counts={counts.find(({ ruleId }) => ruleId === rule.id)} days={days} key={rule.id} />
            ))}
          </Table>
          <p class="hint">
            Not met: its condition did not hold. Rested: it had acted before, and acts only once or not again so soon. A
            number with +: only the latest runs were counted.
          </p>
        </>
      ),
    };
  },
};

function Row({ rule, counts, days }: { rule: Rule; counts: RuleCounts | undefined; days: number }) {
  const of = (more: Record<string, string> = {}) => address("rule", { id: rule.id, ...more, days: String(days) });
  return (
    <tr>
      <td>
        <TextLink href={of()} text={rule.id} />
      </td>
      {(Object.keys(RESULTS) as RuleResult[]).map((result) => {
        const runs = counts?.[result] ?? 0;
        const text = formatNumber(runs) + (counts?.more.includes(result) ? "+" : "");
        return (
          <td class="number" key={result}>
            {text === "0" ? (
              <span class="faint">0</span>
            ) : (
              <a class={result === "error" ? "critical" : undefined} href={of({ result })}>
                {text}
              </a>
            )}
          </td>
        );
      })}
      <td class="words">
        <RuleInWords rule={rule} />
      </td>
    </tr>
  );
}
