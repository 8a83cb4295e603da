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

/** All that is read of a customer; the lists are the latest, the newest last. */
export interface CustomerRecord {
  state: CustomerState;
  /** The same as it came, which alone has all digits of the traits. */
  answer: ApiAnswer<CustomerState>;
  backlog: Backlog;
  explanation: ExplainedCustomer;
  /** The active model; null where none was deployed. */
  snapshot: Snapshot | null;
  timeline: Emission[];
  events: Event[];
  ruleRuns: RuleExecution[];
}

/** How many entries of each list are told: what led to the present state, and no more than a person reads. */
const LATEST = 30;

/** Reads what there is to know of a customer. */
export async function readCustomer(context: Context, customerId: string): Promise<CustomerRecord> {
  const { api } = context;
  const path = ["customers", customerId];
  // First, because it says where there is no such customer.
  const state = await api.get<CustomerState>(path, ["customerId", "lifecycle", "segments", "traits"]);
  const newest = { customer: customerId, limit: LATEST };
  const [backlog, explanation, snapshot, timeline, events, ruleRuns] = await Promise.all([
    api.get<Backlog>([...path, "backlog"], ["pending", "ahead", "setAside"]),
    explanationOf(context, customerId),
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

/** What decides about the values of this customer. @param allow names whose values may be sent */
export function sanitizerFor({ settings }: Context, snapshot: Snapshot | null, allow: readonly string[]): Sanitizer {
  // The service knows the token, and nobody else does: names that are made with it mean nothing to a provider.
  const key = settings.credentials().accessToken;
  return new Sanitizer({ key, known: textsIn(snapshot), allowed: new Set(allow) });
}

const LATE_MS = 86_400_000;

/** What is, or may be, wrong with a customer and what to do, the most severe first, in sentences without its values and identifiers: they may be sent. */
export function findingsOf({ state, backlog, explanation, snapshot, events, ruleRuns }: CustomerRecord): string[] {
  const { pending, ahead, setAside } = backlog;
  const { configVersion, activeVersion } = explanation;
  const failed = ruleRuns.filter(({ result }) => result === "error").map(({ ruleId }) => ruleId);
  const timesOf = (rule: string) => plural(failed.filter((one) => one === rule).length, "time");
  const undeclared = events.filter(({ event }) => snapshot && !Object.hasOwn(snapshot.events, event)).length;
  const isLate = (one: Event) => Date.parse(one.acceptedAt) - Date.parse(one.occurredAt) > LATE_MS;
  const late = events.filter(isLate).length;
  const waiting = plural(pending, "operation");
  const found = [
    setAside !== null &&
      `Its evaluation failed at ${setAside.at}, and it was set aside: ${waiting} wait until the cause is fixed and it is released (svc customers release).`,
    setAside === null &&
      pending > ahead &&
      `${plural(pending - ahead, "operation")} of it are not evaluated yet: the state is not the last word.`,
    ahead > 0 && `${plural(ahead, "operation")} have a time that has not come; they count from then on.`,
    // One that was never evaluated, as where its first operations set it aside, has no state that could be outdated.
    state.evaluatedThrough !== null &&
      configVersion !== activeVersion &&
      `Its state was computed under ${configVersion ?? "no model"}, and ${activeVersion ?? "none"} is active: svc recompute --customer computes it anew.`,
    ...[...new Set(failed)].map(
      (rule) => `The rule ${rule} could not be run, ${timesOf(rule)} of the latest ${ruleRuns.length} runs of rules.`,
    ),
    undeclared > 0 &&
      `Events of names that the model does not declare, which no condition can read: ${undeclared} of the latest ${events.length}.`,
    late > 0 && `Events that were sent more than a day after they happened: ${late} of the latest ${events.length}.`,
    // The state knows of no event that waits; the list does.
    state.lastEventAt === null && events.length === 0 && "It has no events: only traits are known.",
  ];
  return found.filter((one) => one !== false);
}

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
    sent: sentCustomer(record, sanitizer, SENT_BYTES_MAX),
    restore: (text) => sanitizer.restore(text),
  };
}

/** The same as it may be sent; of the lists as many of the newest entries as make it at most so long. */
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

/** When evaluation of a customer was given up, and why, as it may be sent. */
export function sentSetAside(setAside: Backlog["setAside"], sanitizer: Sanitizer) {
  return setAside && { at: setAside.at, error: sanitizer.value("error", setAside.error) };
}

/** What was emitted about a customer as it may be sent. */
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
      // What is due next may be due at such a date.
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

/** Leaves out the oldest entries of the lists until it is short enough. */
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
  const section = (title: string, body: string) => (body === "" ? "" : `${out.style.bold(title)}\n${body}`);
  const latest = <Row>(what: string, rows: readonly Row[], columns: readonly Column<Row>[]) =>
    section(`Latest ${what} (${rows.length})`, table(out, columns, rows));
  const found =
    findings.length === 0 ? ["  Nothing looks wrong."] : findings.map((one) => `  - ${out.atIn(printable(one))}`);
  return paragraphs([
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
  ]);
}
