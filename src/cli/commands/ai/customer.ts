import type { Snapshot } from "../../../model/snapshot/types.js";
import type { Backlog, CustomerState, Emission, Event, RuleExecution } from "../../client/answers.js";
import type { ApiAnswer } from "../../client/api.js";
import type { Context } from "../../core/command.js";
import { type ExplainedCustomer, explanationOf } from "../customers/explained.js";
import { readList } from "../../output/list.js";
import { activeVersion, getVersion } from "../config/stored-versions.js";
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
