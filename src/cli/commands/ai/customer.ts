import type { Snapshot } from "../../../model/snapshot/types.js";
import type {
  Backlog,
  CustomerState,
  Emission,
  Event,
  ExplainedCustomer,
  RuleExecution,
} from "../../../http/admin/answers.js";
import type { ApiAnswer } from "../../client/api.js";
import { readList } from "../../client/pages.js";
import type { Context } from "../../core/command.js";
import type { Out } from "../../output/out.js";
import { type Column, table } from "../../output/table.js";
import { paragraphs, plural, printable } from "../../../words/text.js";
import { activeVersion, getVersion } from "../config/stored-versions.js";
import { explanationOf, stateInWords, whyInWords } from "../customers/explanation.js";
import type { Facts } from "./tell.js";
import { pick, Sanitizer, sentWhy, textsIn } from "./sanitizer.js";

/** Everything that is read about a customer; the lists are the latest entries, the newest last. */
export interface CustomerRecord {
  state: CustomerState;
  /** The answer as received: only its text has all digits of the traits. */
  answer: ApiAnswer<CustomerState>;
  backlog: Backlog;
  explanation: ExplainedCustomer;
  /** The active model; null if none was deployed. */
  snapshot: Snapshot | null;
  timeline: Emission[];
  events: Event[];
  ruleRuns: RuleExecution[];
}

/** Entries of each list: enough to show what led to the present state, and no more than a person reads. */
const LATEST = 30;

/** Reads everything about a customer that the facts are made of. @param at the instant of the state and its explanation; now unless given */
export async function readCustomer(context: Context, customerId: string, at?: string): Promise<CustomerRecord> {
  const { api } = context;
  const path = ["customers", customerId];
  // First, because it fails with CUSTOMER_NOT_FOUND.
  const state = await api.get<CustomerState>(path, ["customerId", "lifecycle", "segments", "traits"], { at });
  const newest = { customer: customerId, limit: LATEST };
  const [backlog, explanation, snapshot, timeline, events, ruleRuns] = await Promise.all([
    api.get<Backlog>([...path, "backlog"], ["pending", "ahead", "setAside"]),
    explanationOf(context, customerId, { at }),
    activeSnapshot(context),
    readList<Emission>(api, [...path, "timeline"], { reverse: true, limit: LATEST }),
    readList<Event>(api, ["events"], newest),
    readList<RuleExecution>(api, ["rule-executions"], newest),
  ]);
  return {
    state: state.data,
    answer: state,
    backlog: backlog.data,
    explanation: explanation.data,
    snapshot,
    timeline: timeline.data.data.reverse(),
    events: events.data.data.reverse(),
    ruleRuns: ruleRuns.data.data.reverse(),
  };
}

async function activeSnapshot(context: Context): Promise<Snapshot | null> {
  const active = await activeVersion(context);
  return active === null ? null : (await getVersion(context, active)).snapshot;
}

/** The sanitizer for a customer's values. @param allow names whose values may be sent */
export function sanitizerFor({ settings }: Context, snapshot: Snapshot | null, allow: readonly string[]): Sanitizer {
  // Only the service and this machine know the token: pseudonyms made with it mean nothing to a provider.
  const key = settings.credentials().accessToken;
  return new Sanitizer({ key, known: textsIn(snapshot), allowed: new Set(allow) });
}

const LATE_MS = 86_400_000;

/**
 * Problems and possible problems of a customer and what to do, the most severe first. The sentences contain none of its values or
 * identifiers: they may be sent.
 */
export function findingsOf({ state, backlog, explanation, snapshot, events, ruleRuns }: CustomerRecord): string[] {
  const { pending, ahead, setAside } = backlog;
  const { configVersion, activeVersion } = explanation;
  const failed = ruleRuns.filter(({ result }) => result === "error").map(({ ruleId }) => ruleId);
  const timesOf = (rule: string) => plural(failed.filter((one) => one === rule).length, "time");
  const undeclared = events.filter(({ event }) => snapshot && !Object.hasOwn(snapshot.events, event)).length;
  const isLate = (one: Event) => Date.parse(one.acceptedAt) - Date.parse(one.occurredAt) > LATE_MS;
  const late = events.filter(isLate).length;
  const waiting = plural(pending, "operation");
  const sentences = [
    setAside !== null &&
      `Its evaluation failed at ${setAside.at}, and it was set aside: ${waiting} wait until the cause is fixed and it is released (svc customers release).`,
    setAside === null &&
      pending > ahead &&
      `Not evaluated yet: ${plural(pending - ahead, "operation")} of it. Its state may still change.`,
    ahead > 0 && `Dated in the future: ${plural(ahead, "operation")}, which will count from then on.`,
    // A customer that was never evaluated, for example because its first operations set it aside, has no state that could be outdated.
    state.evaluatedThrough !== null &&
      configVersion !== activeVersion &&
      `Its state was computed under ${configVersion ?? "no model"}, and ${activeVersion ?? "none"} is active: svc recompute --customer recomputes it.`,
    ...[...new Set(failed)].map(
      (rule) => `The rule ${rule} failed ${timesOf(rule)} among the latest ${ruleRuns.length} runs of rules.`,
    ),
    undeclared > 0 &&
      `Events of names that the model does not declare, which no condition can read: ${undeclared} of the latest ${events.length}.`,
    late > 0 && `Events that were sent more than a day after they happened: ${late} of the latest ${events.length}.`,
    // The state does not include events that wait for evaluation; the list does.
    state.lastEventAt === null && events.length === 0 && "It has no events: only traits are known.",
  ];
  return sentences.filter((one) => one !== false);
}

/** The service takes 256 KiB of facts and question together. */
const SENT_BYTES_MAX = 200 * 1024;

/** The facts about a customer: its state, the reasons for it, problems, and what happened last. */
export function customerFacts(record: CustomerRecord, sanitizer: Sanitizer): Facts {
  const { state, backlog, explanation, timeline, events, ruleRuns } = record;
  const findings = findingsOf(record);
  return {
    task: "debug-customer",
    document: { findings, state, backlog, explanation, timeline, events, ruleRuns },
    text: (out) => inWords(out, record, findings),
    sent: sentCustomer(record, sanitizer, SENT_BYTES_MAX),
    restore: (text) => sanitizer.restore(text),
  };
}

/** The same as it may be sent; the oldest list entries are left out until it fits in `bytesMax`. */
export function sentCustomer(record: CustomerRecord, sanitizer: Sanitizer, bytesMax: number) {
  const { backlog, explanation, timeline, events, ruleRuns } = record;
  const sent = {
    findings: findingsOf(record),
    ...sentState(record, sanitizer),
    backlog: { ...pick(backlog, "pending", "ahead"), setAside: sentSetAside(backlog.setAside, sanitizer) },
    why: sentWhy(sanitizer, explanation),
    timeline: timeline.map((one) => sentEmission(one, sanitizer)),
    events: events.map((one) => ({
      id: sanitizer.id("event", one.id),
      event: sanitizer.name(one.event),
      ...pick(one, "occurredAt", "acceptedAt", "status"),
      properties: sanitizer.values(one.properties),
    })),
    ruleRuns: ruleRuns.map(({ ruleId, result, triggeredBy, error, ...run }) => ({
      rule: ruleId,
      result,
      triggeredBy: sanitizer.name(triggeredBy),
      ...pick(run, "executedAt", "configVersion"),
      ...(error === null ? {} : { error: sanitizer.value("error", error) }),
    })),
  };
  return fitting(sent, bytesMax);
}

/** When a customer was set aside, and why, as it may be sent. */
export function sentSetAside(setAside: Backlog["setAside"], sanitizer: Sanitizer) {
  return setAside && { at: setAside.at, error: sanitizer.value("error", setAside.error) };
}

/** An emission as it may be sent. */
export function sentEmission({ at, type, source, metadata, cause }: Emission, sanitizer: Sanitizer) {
  return {
    at,
    type: sanitizer.name(type),
    source,
    metadata: sanitizer.values(metadata),
    cause: { type: cause.type, ...(cause.id === null ? {} : { id: sanitizer.id("event", cause.id) }) },
  };
}

/** A customer's state as it may be sent. */
export function sentState(
  { state, snapshot }: CustomerRecord,
  sanitizer: Sanitizer,
): { customer: string; state: object } {
  const hasWithheldDate = Object.entries(snapshot?.traits ?? {}).some(
    ([name, { type }]) => type === "date" && !sanitizer.allows(name),
  );
  return {
    customer: sanitizer.id("customer", state.customerId),
    state: {
      ...pick(state, "environment", "createdAt", "lastEventAt", "evaluatedThrough", "configVersion"),
      ...pick(state, "lifecycle", "lifecycleEnteredAt", "segments"),
      health: state.health && pick(state.health, "overall", "components", "band"),
      journeys: state.journeys.map((journey) => sentJourney(journey, sanitizer)),
      signals: state.signals.map(({ signalId, severity }) => ({ signal: signalId, severity })),
      // The next timer may be due at a withheld date.
      ...(hasWithheldDate ? {} : pick(state, "nextDueAt")),
      traits: sanitizer.values(state.traits),
    },
  };
}

function sentJourney(journey: CustomerState["journeys"][number], sanitizer: Sanitizer): object {
  const done = Object.entries(journey.stepsData as Record<string, { completedAt: string; triggeredBy: string }>);
  const steps = done.map(([step, { completedAt, triggeredBy }]) => {
    const isEvent = triggeredBy !== "identify" && triggeredBy !== "timer";
    return [step, { completedAt, triggeredBy: isEvent ? sanitizer.id("event", triggeredBy) : triggeredBy }] as const;
  });
  return {
    ...pick(journey, "journeyId", "status", "currentStep", "startedAt", "completedAt", "expiredAt"),
    stepsData: Object.fromEntries(steps),
  };
}

/** Drops the oldest entry of the longest list until the document is short enough. */
function fitting<T extends { timeline: object[]; events: object[]; ruleRuns: object[] }>(sent: T, bytesMax: number): T {
  while (Buffer.byteLength(JSON.stringify(sent)) > bytesMax) {
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
  const section = (title: string, body: string) => `${out.style.bold(title)}\n${body}`;
  const latest = <Row>(what: string, rows: readonly Row[], columns: readonly Column<Row>[]) =>
    rows.length === 0
      ? section(`Latest ${what}`, "  None.")
      : section(`Latest ${what} (${rows.length})`, table(out, columns, rows));
  const sentences =
    findings.length === 0 ? ["  Nothing looks wrong."] : findings.map((one) => `  - ${out.atIn(printable(one))}`);
  return paragraphs([
    section("Findings", sentences.join("\n")),
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
  ]);
}
