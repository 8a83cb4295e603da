import type { Snapshot } from "../../../model/snapshot/types.js";
import type {
  Backlog,
  CustomerState,
  Emission,
  Event,
  ExplainedCustomer,
  RuleExecution,
} from "../../client/answers.js";
import type { ApiAnswer } from "../../client/api.js";
import type { Context } from "../../core/command.js";
import { explanationOf } from "../customers/explanation.js";
import { readList } from "../../client/pages.js";
import { activeVersion, getVersion } from "../config/stored-versions.js";
import { plural } from "../../output/text.js";
import { Sanitizer, textsIn } from "./sanitizer.js";

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
/** The timeline begins with the oldest, so the latest are behind all others. */
const TIMELINE_MAX = 2_000;

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
    readList<Emission>(api, [...path, "timeline"], { limit: TIMELINE_MAX }),
    readList<Event>(api, ["events"], newest),
    readList<RuleExecution>(api, ["rule-executions"], newest),
  ]);
  return {
    state: state.data,
    answer: state,
    backlog: backlog.data,
    explanation: explanation.data,
    snapshot,
    timeline: timeline.data.data.slice(-LATEST),
    events: events.data.data.reverse(),
    ruleRuns: ruleRuns.data.data.reverse(),
  };
}

async function activeSnapshot(context: Context): Promise<Snapshot | null> {
  const active = await activeVersion(context, context.settings.environment);
  return active === null ? null : (await getVersion(context, active)).snapshot;
}

/** What decides about the values of this customer. @param allow names whose values may be sent */
export function sanitizerFor({ settings }: Context, snapshot: Snapshot | null, allow: readonly string[]): Sanitizer {
  // The service knows the token, and nobody else does: names that are made with it mean nothing to a provider.
  const key = settings.credentials().accessToken;
  return new Sanitizer({ key, known: textsIn(snapshot), allowed: new Set(allow) });
}

const LATE_MS = 86_400_000;

/**
 * What is, or may be, wrong with a customer, in sentences with what to do, the most severe first; empty where nothing is. None of them has a value of the
 * customer's, or an identifier, so they may be sent as they are.
 */
export function findingsOf({ state, backlog, explanation, snapshot, events, ruleRuns }: CustomerRecord): string[] {
  const { pending, ahead, setAside } = backlog;
  const { configVersion, activeVersion } = explanation;
  const failed = ruleRuns.filter(({ result }) => result === "error").map(({ ruleId }) => ruleId);
  const timesOf = (rule: string) => plural(failed.filter((one) => one === rule).length, "time");
  const undeclared = events.filter(({ event }) => isUndeclared(snapshot, event)).length;
  const late = events.filter(isLate).length;
  const waiting = plural(pending, "operation");
  const found = [
    setAside !== null &&
      `Its evaluation failed at ${setAside.at}, and it was set aside: ${waiting} wait until the cause is mended and it is released (svc customers release).`,
    setAside === null &&
      pending > ahead &&
      `${plural(pending - ahead, "operation")} of it are not evaluated yet: the state is not the last word.`,
    ahead > 0 && `${plural(ahead, "operation")} have a time that has not come; they count from then on.`,
    configVersion !== activeVersion &&
      `Its state was computed under ${configVersion ?? "no model"}, and ${activeVersion ?? "none"} is active: svc recompute --customer computes it anew.`,
    ...[...new Set(failed)].map(
      (rule) => `The rule ${rule} could not be run, ${timesOf(rule)} of the latest ${ruleRuns.length} runs of rules.`,
    ),
    undeclared > 0 &&
      `Events of names that the model does not declare, which no condition can read: ${undeclared} of the latest ${events.length}.`,
    late > 0 && `Events that were sent more than a day after they happened: ${late} of the latest ${events.length}.`,
    state.lastEventAt === null && "It has no events: only traits are known.",
  ];
  return found.filter((one) => one !== false);
}

function isUndeclared(snapshot: Snapshot | null, event: string): boolean {
  return snapshot !== null && !Object.hasOwn(snapshot.events, event);
}

function isLate({ occurredAt, acceptedAt }: Event): boolean {
  return Date.parse(acceptedAt) - Date.parse(occurredAt) > LATE_MS;
}
