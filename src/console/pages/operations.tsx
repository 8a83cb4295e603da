import type { Finding, Trends, Usage } from "../../http/admin/answers.js";
import { SeriesLines } from "../charts/series-lines.js";
import type { ConsolePage } from "../console-page.js";
import { DaysForm, daysOf, trendSpan, valuesOf } from "../trends.js";
import { Ago, IncompleteTrendsNote, Empty, LinkLine, MaybeLink, Section, Text } from "../parts.js";
import { Recomputes } from "./recomputes.js";
import { formatNumber, plural } from "../../words/text.js";
import { Table } from "../tables.js";
import { ShareBar } from "../charts/in-cells.js";

const PATH = "operations";
const RECOMPUTES_SHOWN = "5";

/** Problems and waiting work, accepted operations, recomputes, and usage of the plan. */
export const operationsPage: ConsolePage = {
  path: PATH,
  section: "Operations",
  inService: true,
  async answer(visit) {
    const { ask, may } = visit;
    const [{ data: findings }, trends, recomputes, usage] = await Promise.all([
      ask("diagnostics"),
      ask("trends", { what: "operations", ...trendSpan(visit) }),
      ask("recomputes", { limit: RECOMPUTES_SHOWN }),
      ask("/organization/usage"),
    ]);
    return {
      title: "Operations",
      customerIds: recomputes.data.flatMap(({ customerId }) => customerId ?? []),
      body: (
        <>
          <Section id="diagnostics" title="Diagnostics">
            {findings.length === 0 ? (
              <Empty>Nothing is wrong, and nothing is waiting.</Empty>
            ) : (
              <Findings findings={findings} />
            )}
          </Section>
          <Accepted trends={trends} days={daysOf(visit)} />
          <Section id="recomputes" title="Recomputes">
            {recomputes.data.length === 0 ? (
              <Empty>There are no recomputes yet.</Empty>
            ) : (
              <Recomputes recomputes={recomputes.data} />
            )}
            <LinkLine href="recomputes" text="All recomputes and dry runs" />
          </Section>
          <Section id="usage" title="Plan">
            <PlanUsage usage={usage} />
          </Section>
          {may("list_audit_log") ? <LinkLine href="audit-log" text="Audit log: who changed what" /> : null}
        </>
      ),
    };
  },
};

const SEVERITIES: Readonly<Record<Finding["severity"], string>> = {
  problem: "critical",
  warning: "warning",
  info: "faint",
};

/** The page to look at for each finding. */
const PLACES: Readonly<Record<string, string>> = {
  CONFIGURATION_MISSING: "model",
  CUSTOMERS_SET_ASIDE: "customers?setAside=true",
  EVENTS_NEVER_RECEIVED: "events",
  EVENTS_UNDECLARED: "violations",
  KEYS_NEVER_USED: "keys",
  OPERATIONS_QUARANTINED: "quarantine",
  OPERATIONS_WAITING: "events?status=pending",
  RECOMPUTES_GIVEN_UP: "recomputes?status=dead_letter",
  REMOVED_PARTS_IN_USE: "recomputes",
  RULES_FAILING: "rules",
  SCHEMA_VIOLATIONS: "violations",
  STATES_NEVER_REACHED: "lifecycle",
  STATE_OUTDATED: "recomputes",
  WEBHOOKS_DISABLED: "deliveries",
  WEBHOOKS_FAILING: "deliveries",
};

/** The names of what a finding is about, such as events; figures are in its message. */
function namesIn(details: Finding["details"]): string[] {
  return Object.values(details).flatMap((value) =>
    Array.isArray(value) ? value.filter((each) => typeof each === "string") : [],
  );
}

function Findings({ findings }: { findings: readonly Finding[] }) {
  return (
    <ul>
      {findings.map(({ code, severity, message, fix, details }) => (
        <li key={code}>
          <span class={SEVERITIES[severity]}>{severity}</span>{" "}
          <MaybeLink href={PLACES[code] ?? null}>
            <Text>{message}</Text>
          </MaybeLink>
          <br />
          <Text>{fix}</Text>
          {namesIn(details).length === 0 ? null : (
            <>
              <br />
              <span class="faint">
                <Text>{namesIn(details).join(", ")}</Text>
              </span>
            </>
          )}
        </li>
      ))}
    </ul>
  );
}

/** Accepted operations by day or week. */
function Accepted({ trends, days }: { trends: Trends; days: number }) {
  const lines = ["events", "identifies"].map((metric) => ({ name: metric, values: valuesOf(trends, { metric }) }));
  return (
    <Section id="accepted" title="Accepted operations">
      <DaysForm path={PATH} days={days} />
      <IncompleteTrendsNote trends={trends} />
      {lines.every(({ values }) => values.every((value) => value === 0)) ? (
        <Empty>Nothing was accepted in this period.</Empty>
      ) : (
        <SeriesLines
          id="operations"
          title={`Events and identifies accepted over the last ${days} days`}
          periods={trends.periods}
          lines={lines}
        />
      )}
    </Section>
  );
}

/** The organization's usage of its plan. */
function PlanUsage({ usage }: { usage: Usage }) {
  const { plan, resetsAt, used, limits } = usage;
  const rows = [
    ["Events this month", "monthlyEvents", null],
    ["Projects", "projects", null],
    ["Members and open invitations", "members", "members"],
    ["Access tokens", "tokens", "tokens"],
  ] as const;
  return (
    <>
      <p>
        The plan is{" "}
        <strong>
          <Text>{plan}</Text>
        </strong>
        . The count of events begins again <Ago iso={resetsAt} />; events are kept{" "}
        {limits.retentionDays === null ? "for ever" : `for ${plural(limits.retentionDays, "day")}`}.
      </p>
      <Table
        name="Usage of the plan"
        rows={rows}
        columns={[
          ["What", ([text, , href]) => <MaybeLink href={href}>{text}</MaybeLink>],
          ["Used", ([, name]) => formatNumber(used[name]), "number"],
          ["Limit", ([, name]) => (limits[name] === null ? "no limit" : formatNumber(limits[name])), "number"],
          ["Share", ([, name]) => (limits[name] ? <ShareBar share={Math.min(1, used[name] / limits[name])} /> : null)],
        ]}
      />
    </>
  );
}
