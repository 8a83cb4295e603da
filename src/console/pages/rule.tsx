import type { ListPage, RuleExecution } from "../../http/admin/answers.js";
import { ApiError } from "../../http/errors.js";
import { printable } from "../../words/text.js";
import { type ConsolePage, given, expectedRefusal, type View, type Visit } from "../console-page.js";
import { missing } from "../missing.js";
import { RuleDefinition } from "../definition.js";
import { At, Customer, customerHref, Empty, PageLinks, ProblemNote, Text } from "../parts.js";
import { Choose } from "../forms.js";
import { type TableColumn, Table } from "../tables.js";
import type { RuleResult } from "../../engine/state/types.js";
import { daysOf, SpanField } from "../last-days.js";
import { RESULTS } from "./rules.js";

const PATH = "rule";
const LIMIT = 50;

/** One rule: what it does, and its latest runs. */
export const rulePage: ConsolePage = {
  path: PATH,
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
            <Empty>The active model has no such rule any more.</Empty>
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

/** The part of the log that is asked for, or what is wrong with that. */
function runsOf({ ask, query }: Visit, rule: string) {
  const since = `${daysOf({ query })}d`;
  const [result, cursor] = [given(query, "result"), given(query, "cursor")];
  return ask("rule-executions", { rule, result, since, limit: String(LIMIT), cursor }).catch(expectedRefusal);
}

function none(rule: string): View {
  const says = (
    <p role="alert">
      The active model has no rule "<Text>{rule}</Text>", and none of that name ran in these days.
    </p>
  );
  return missing("No such rule", says, { href: "rules", text: "All rules" });
}

function Filters({ rule, query }: { rule: string; query: URLSearchParams }) {
  const choices = Object.entries(RESULTS).map(([value, text]) => ({ value, text }));
  return (
    <form class="filters" action={PATH} method="get">
      <input type="hidden" name="id" value={rule} />
      <Choose label="Result" name="result" query={query} choices={choices} />
      <SpanField days={daysOf({ query })} />
      <button>Show</button>
    </form>
  );
}

function Runs({ found: { data, nextCursor }, query }: { found: ListPage<RuleExecution>; query: URLSearchParams }) {
  return (
    <>
      {data.length === 0 ? (
        <Empty>
          {nextCursor === null ? "It did not run like this in these days." : "The search goes on with the next page."}
        </Empty>
      ) : (
        <Table name="Runs" rows={data} columns={COLUMNS} />
      )}
      <PageLinks path={PATH} query={query} next={nextCursor} />
    </>
  );
}

const CLASSES: Readonly<Record<RuleResult, string>> = { pass: "good", error: "critical", fail: "faint", skip: "faint" };

const COLUMNS: TableColumn<RuleExecution>[] = [
  ["When", ({ executedAt }) => <At iso={executedAt} />],
  ["Customer", ({ customerId }) => <Customer id={customerId} />],
  ["Result", (run) => <Result of={run} />],
  ["Because of", ({ triggeredBy }) => <Text>{triggerInWords(triggeredBy)}</Text>],
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
