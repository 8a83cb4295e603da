import type { RuleResult } from "../../engine/state/types.js";
import type { ListPage, RuleCounts, RuleExecution } from "../../http/admin/answers.js";
import type { Rule } from "../../model/snapshot/types.js";
import { formatNumber, printable, titleOf } from "../../words/text.js";
import { type ConsolePage, expectedRefusal, queryParam, type View, type Visit } from "../console-page.js";
import { RuleDefinition, RuleInWords, idsDefinedInList, DefinitionLink } from "../definition.js";
import {
  address,
  At,
  Customer,
  customerHref,
  Empty,
  NoPart,
  PageLinks,
  ProblemNote,
  Text,
  TextLink,
} from "../parts.js";
import { Table, type TableColumn } from "../tables.js";
import { DaysForm, daysOf, SpanField } from "../trends.js";
import { ApiError } from "../../http/errors.js";
import { missing } from "../list-page.js";
import { Choose, InputField } from "../forms.js";

const LIST = "rules";
const ENTRY = "rule";
const LIMIT = 50;

/** Labels of results. */
const RESULTS: Readonly<Record<RuleResult, string>> = {
  pass: "acted",
  error: "failed",
  fail: "not met",
  skip: "skipped",
};

/** All rules: what each does, and how often it acted lately. */
export const rulesPage: ConsolePage = {
  path: LIST,
  section: "Rules",
  async answer(visit) {
    const { ask, model } = visit;
    if (model === null || model.rules.length === 0) {
      return { title: "Rules", body: <NoPart model={model} what="rules" /> };
    }
    const days = daysOf(visit);
    const defined = idsDefinedInList(model.rules);
    const { rules: counts } = await ask("rule-executions/counts", { since: `${days}d` });
    return {
      title: "Rules",
      body: (
        <>
          <DaysForm path={LIST} days={days} />
          <Table
            name="Rules"
            rows={model.rules}
            columns={[
              ["Rule", ({ id }) => <TextLink href={ruleHref(id, days)} text={id} />],
              ...(Object.keys(RESULTS) as RuleResult[]).map((result): TableColumn<Rule> => [
                titleOf(RESULTS[result]),
                ({ id }) => (
                  <Count
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
                  defined.has(rule.id) ? (
                    <RuleInWords rule={rule} />
                  ) : (
                    <DefinitionLink href={ruleHref(rule.id, days)} />
                  ),
                "words",
              ],
            ]}
          />
          <p class="hint">
            Not met: its condition did not hold. Skipped: it had acted before, and acts only once or not again so soon.
            A number with +: only the latest runs were counted.
          </p>
        </>
      ),
    };
  },
};

const ruleHref = (id: string, days: number, more: Record<string, string> = {}) =>
  address(ENTRY, { id, ...more, days: String(days) });

function Count({ of: counts, result, href }: { of: RuleCounts | undefined; result: RuleResult; href: string }) {
  const text = formatNumber(counts?.[result] ?? 0) + (counts?.more.includes(result) ? "+" : "");
  if (text === "0") return <span class="faint">0</span>;
  return (
    <a class={result === "error" ? "critical" : undefined} href={href}>
      {text}
    </a>
  );
}

/** A rule: what it does, and its latest runs. */
export const rulePage: ConsolePage = {
  path: ENTRY,
  async answer(visit) {
    const { query, model } = visit;
    const rule = query.get("id") ?? "";
    const declared = model?.rules.find(({ id }) => id === rule);
    const found = await runsOf(visit, rule);
    if (found instanceof ApiError && found.detail.field === "rule") return none(rule);
    const view: View = {
      title: `Rule ${printable(rule)}`,
      body: (
        <>
          {declared === undefined ? (
            <Empty>The active model no longer has this rule.</Empty>
          ) : (
            <RuleDefinition rule={declared} />
          )}
          <h2>Runs</h2>
          <Filters rule={rule} query={query} />
          {found instanceof ApiError ? <ProblemNote error={found} /> : <Runs found={found} query={query} />}
        </>
      ),
    };
    if (found instanceof ApiError) return { ...view, status: found.status };
    return { ...view, customerIds: found.data.map(({ customerId }) => customerId) };
  },
};

/** The requested page of runs, or the error for an invalid query. */
function runsOf({ ask, query }: Visit, rule: string) {
  // Today links to the runs since its own instant.
  const since = queryParam(query, "since") ?? `${daysOf({ query })}d`;
  const [result, cursor] = [queryParam(query, "result"), queryParam(query, "cursor")];
  return ask("rule-executions", { rule, result, since, limit: String(LIMIT), cursor }).catch(expectedRefusal);
}

function none(rule: string): View {
  const says = (
    <p role="alert">
      The active model has no rule "<Text>{rule}</Text>", and none of that name ran in this period.
    </p>
  );
  return missing("No such rule", says, { href: LIST, text: "All rules" });
}

function Filters({ rule, query }: { rule: string; query: URLSearchParams }) {
  const choices = Object.entries(RESULTS).map(([value, text]) => ({ value, text }));
  return (
    <form class="filters" action={ENTRY} method="get">
      <input type="hidden" name="id" value={rule} />
      <Choose label="Result" name="result" query={query} choices={choices} />
      {queryParam(query, "since") === undefined ? (
        <SpanField days={daysOf({ query })} />
      ) : (
        <InputField label="Since" name="since" query={query} placeholder="7d or 2026-03-01" maxLength={64} />
      )}
      <button>Show</button>
    </form>
  );
}

function Runs({ found: { data, nextCursor }, query }: { found: ListPage<RuleExecution>; query: URLSearchParams }) {
  return (
    <>
      {data.length === 0 ? (
        <Empty>
          {nextCursor === null ? "It has no such runs in this period." : "The search continues on the next page."}
        </Empty>
      ) : (
        <Table name="Runs" rows={data} columns={COLUMNS} />
      )}
      <PageLinks path={ENTRY} query={query} next={nextCursor} />
    </>
  );
}

const CLASSES: Readonly<Record<RuleResult, string>> = { pass: "good", error: "critical", fail: "faint", skip: "faint" };

const COLUMNS: TableColumn<RuleExecution>[] = [
  ["When", ({ executedAt }) => <At iso={executedAt} />],
  ["Customer", ({ customerId }) => <Customer id={customerId} />],
  ["Result", (run) => <Result of={run} />],
  ["Triggered by", ({ triggeredBy }) => <Text>{triggerInWords(triggeredBy)}</Text>],
];

function Result({ of: { customerId, result, error, emissionId } }: { of: RuleExecution }) {
  return (
    <>
      <span class={CLASSES[result]}>{RESULTS[result]}</span>
      {error === null ? null : (
        <span class="critical">
          : <Text>{error}</Text>
        </span>
      )}
      {emissionId === null ? null : (
        <>
          {" "}
          and <a href={`${customerHref(customerId, { kind: "emission" })}#${emissionId}`}>emitted</a>
        </>
      )}
    </>
  );
}

/** `event:login` as `event "login"`, `segment.entered:paying` as `segment "paying" entered`. */
function triggerInWords(triggeredBy: string): string {
  const [, what, turn, name] = /^(\w+)(?:\.(\w+))?:(.*)$/s.exec(triggeredBy) ?? [];
  if (what === undefined || name === undefined) return "changed traits";
  return `${what} ${JSON.stringify(name)}${turn === undefined ? "" : ` ${turn}`}`;
}
