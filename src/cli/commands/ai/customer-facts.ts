import type { Snapshot } from "../../../model/snapshot/types.js";
import { stateInWords } from "../customers/customer-state.js";
import type { Out } from "../../output/out.js";
import { type Column, table } from "../../output/table.js";
import { printable } from "../../output/text.js";
import { whyInWords } from "../customers/explanation.js";
import { type CustomerRecord, findingsOf } from "./customer.js";
import type { Facts } from "./ask.js";
import { type Sanitizer, sentWhy } from "./sanitizer.js";

/** The service takes 256 KiB of facts and question together. */
const SENT_BYTES_MAX = 200 * 1024;

/** What there is to know of a customer: its state, why it is so, what is wrong, and what happened last. */
export function customerFacts(record: CustomerRecord, sanitizer: Sanitizer): Facts {
  const { state, backlog, explanation, timeline, events, ruleRuns } = record;
  const findings = findingsOf(record);
  return {
    task: "debug-customer",
    document: { findings, state, backlog, explanation, timeline, events, ruleRuns },
    text: (out) => inWords(out, record, findings),
    sent: fitting({
      findings,
      ...sentState(record, sanitizer),
      backlog: {
        pending: backlog.pending,
        ahead: backlog.ahead,
        setAside: backlog.setAside && {
          at: backlog.setAside.at,
          error: sanitizer.value("error", backlog.setAside.error),
        },
      },
      why: sentWhy(sanitizer, explanation),
      timeline: timeline.map(({ at, type, source, metadata, cause }) => ({
        at,
        type: sanitizer.name(type),
        source,
        metadata: sanitizer.values(metadata),
        cause: { type: cause.type, ...(cause.id === null ? {} : { id: sanitizer.id("event", cause.id) }) },
      })),
      events: events.map(({ id, event, properties, occurredAt, acceptedAt, status }) => ({
        id: sanitizer.id("event", id),
        event: sanitizer.name(event),
        occurredAt,
        acceptedAt,
        status,
        properties: sanitizer.values(properties),
      })),
      ruleRuns: ruleRuns.map(({ ruleId, result, triggeredBy, executedAt, configVersion, error }) => ({
        rule: ruleId,
        result,
        triggeredBy: sanitizer.name(triggeredBy),
        executedAt,
        configVersion,
        ...(error === null ? {} : { error: sanitizer.value("error", error) }),
      })),
    }),
    restore: (text) => sanitizer.restore(text),
  };
}

/** A customer's state as it may be sent. */
export function sentState(
  { state, snapshot }: CustomerRecord,
  sanitizer: Sanitizer,
): { customer: string; state: object } {
  const { customerId, environment, createdAt, lastEventAt, evaluatedThrough, configVersion, traits, nextDueAt } = state;
  return {
    customer: sanitizer.id("customer", customerId),
    state: {
      environment,
      createdAt,
      lastEventAt,
      evaluatedThrough,
      configVersion,
      lifecycle: state.lifecycle,
      lifecycleEnteredAt: state.lifecycleEnteredAt,
      segments: state.segments,
      health: state.health,
      journeys: state.journeys,
      signals: state.signals.map(({ signalId, severity }) => ({ signal: signalId, severity })),
      // What is due next may be due at such a date.
      ...(hasWithheldDate(snapshot, sanitizer) ? {} : { nextDueAt }),
      traits: sanitizer.values(traits),
    },
  };
}

/** Whether the model has a trait that is a date, and may not be sent. */
function hasWithheldDate(snapshot: Snapshot | null, sanitizer: Sanitizer): boolean {
  return Object.entries(snapshot?.traits ?? {}).some(([name, { type }]) => type === "date" && !sanitizer.allows(name));
}

/** Leaves out the oldest entries of the lists until it is short enough. */
function fitting<T extends { timeline: object[]; events: object[]; ruleRuns: object[] }>(sent: T): T {
  while (Buffer.byteLength(JSON.stringify(sent)) > SENT_BYTES_MAX) {
    const [longest] = [sent.events, sent.timeline, sent.ruleRuns].sort((a, b) => lengthOf(b) - lengthOf(a));
    if (longest!.length === 0) return sent;
    longest!.shift();
  }
  return sent;
}

function lengthOf(list: readonly object[]): number {
  return JSON.stringify(list).length;
}

function inWords(
  out: Out,
  { answer, explanation, timeline, events, ruleRuns }: CustomerRecord,
  findings: readonly string[],
): string {
  const section = (title: string, body: string) => (body === "" ? "" : `${out.style.bold(title)}\n${body}`);
  const latest = <Row>(what: string, rows: readonly Row[], columns: readonly Column<Row>[]) =>
    section(`Latest ${what} (${rows.length})`, table(out, columns, rows));
  const found = findings.length === 0 ? ["  Nothing looks wrong."] : findings.map((one) => `  - ${printable(one)}`);
  return [
    section("Findings", found.join("\n")),
    stateInWords(out, answer),
    whyInWords(out, explanation),
    latest("changes", timeline, [
      { title: "At", value: (one) => out.at(one.at), fixed: true },
      { title: "Type", value: ({ type }) => type, kept: true },
      { title: "What", value: ({ metadata }) => JSON.stringify(metadata) },
    ]),
    latest("events", events, [
      { title: "At", value: ({ occurredAt }) => out.at(occurredAt), fixed: true },
      { title: "Event", value: ({ event }) => event, kept: true },
      { title: "Status", value: ({ status }) => status, fixed: true },
      { title: "Properties", value: ({ properties }) => JSON.stringify(properties) },
    ]),
    latest("runs of rules", ruleRuns, [
      { title: "At", value: ({ executedAt }) => out.at(executedAt), fixed: true },
      { title: "Rule", value: ({ ruleId }) => ruleId, kept: true },
      { title: "Result", value: ({ result }) => result, fixed: true },
      { title: "Triggered by", value: ({ triggeredBy }) => triggeredBy },
      { title: "Error", value: ({ error }) => error ?? "" },
    ]),
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}
