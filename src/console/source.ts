import type { StateDocument } from "../engine/index.js";
import type { Explanation } from "../engine/conditions/leaf.js";
import type { RuleResult } from "../engine/state/types.js";
import type { Change } from "../model/compare/change.js";
import type { Snapshot } from "../model/snapshot/types.js";
import type { ExplainedParts } from "../words/explanation.js";
import type { Backtest, CustomerDifference, Finding, Preview, Recompute } from "./answers/operations.js";
import type { AccessToken, Actor, AuditEntry, Invitation, Key, Member, Usage } from "./answers/organization.js";

/** A part of a list, and where it goes on; null at its end. */
export interface ListPage<Item> {
  data: Item[];
  nextCursor: string | null;
}

/** When and why the evaluation of a customer was given up. */
export type SetAside = { at: string; error: string | null } | null;

type Shown = "customerId" | "lifecycle" | "lifecycleEnteredAt" | "segments" | "health" | "signals" | "lastEventAt";

export type ListedCustomer = Pick<StateDocument, Shown> & { healthWeekAgo: number | null; setAside: SetAside };

/** `at` and `exactFrom` are of a state as it stood at an instant. */
export type CustomerState = StateDocument & { at?: string; exactFrom?: string | null };

export type ExplainedCustomer = ExplainedParts & {
  configVersion: string | null;
  activeVersion: string | null;
  flipsKnown: boolean;
  /** Why there is no explanation. */
  unavailable: { message: string } | null;
};

interface Entry<Kind, Details> {
  at: string;
  kind: Kind;
  cause: Cause | null;
  details: Details;
}

/** How far an emission came at a webhook. */
export interface EmissionDelivery {
  webhookId: string;
  url: string;
  status: "pending" | "delivered" | "failed";
  attempts: number;
}

/** A payload; null where it is too large to be shown. */
type Payload = Record<string, unknown> | null;

/** Something that happened to a customer. */
export type HistoryEntry =
  | Entry<"event", { eventId: string; event: string; properties: Payload }>
  | Entry<"traits", { traits: Payload }>
  | Entry<"transition", { from: string | null; to: string }>
  | Entry<"score", { overall: number | null; band: string | null }>
  | Entry<"rule", { ruleId: string; result: "pass" | "error"; error: string | null; emissionId: string | null }>
  | Entry<"emission", { emissionId: string; eventType: string; metadata: Payload; deliveries: EmissionDelivery[] }>;

export interface HealthScoreChange {
  at: string;
  /** Null where nothing of the score is known any more; band, too. */
  overall: number | null;
  band: string | null;
}

export interface RaisedSignal {
  customerId: string;
  signalId: string;
  severity: "info" | "warning" | "critical";
  message: string | null;
  raisedAt: string;
}

/** What brought something about: the event or job of this id, traits or time alone. */
export interface Cause {
  type: string;
  id: string | null;
}

export interface ListedWebhook {
  id: string;
  url: string;
  eventTypes: string[];
  include: string[];
  format: string;
  createdAt: string;
  failingSince: string | null;
  disabledAt: string | null;
  disabledReason: string | null;
}

export interface ConfigVersion {
  version: string;
  /** Of its snapshot. */
  hash: string;
  author: string;
  createdAt: string;
  /** The environments. */
  active: string[];
  provenance: { commit?: string; ref?: string } | null;
}

export interface Activation {
  version: string;
  previousVersion: string | null;
  kind: "deploy" | "promote" | "rollback";
  actor: string;
  at: string;
}

export interface Difference {
  from: string | null;
  to: string;
  changes: Change[];
}

export interface Webhook extends ListedWebhook {
  /** Counted up to 10,000. */
  pending: number;
  oldestPendingAt: string | null;
  lastDay: { attempts: number; accepted: number; medianLatencyMs: number | null; p95LatencyMs: number | null };
}

export interface Attempt {
  attempt: number;
  at: string;
  latencyMs: number;
  statusCode: number | null;
  error: string | null;
  response: string | null;
}

export interface ListedDelivery {
  id: string;
  eventType: string;
  customerId: string;
  cause: Cause;
  emittedAt: string;
  createdAt: string;
  status: "pending" | "delivered" | "failed";
  attempts: number;
  nextAttemptAt: string | null;
  finishedAt: string | null;
  lastAttempt: Attempt | null;
}

/** The run of a rule, with how its condition came out. */
export interface RuleRun {
  ruleId: string;
  result: string;
  triggeredBy: string;
  executedAt: string;
  configVersion: string | null;
  error: string | null;
  /** Of some that failed, none. */
  conditions: Explanation | { kind?: never };
  superseded: boolean;
}

export interface Delivery extends ListedDelivery {
  body: Record<string, unknown>;
  ruleExecution: RuleRun | null;
  /** The newest first, a hundred at most. */
  attemptLog: Attempt[];
}

export interface ListedEvent {
  eventId: string;
  customerId: string;
  event: string;
  properties: Record<string, unknown>;
  occurredAt: string;
  acceptedAt: string;
  status: "processed" | "pending";
}

export interface EventDetail extends ListedEvent {
  /** In the order in which it came, a hundred at most. */
  caused: HistoryEntry[];
}

/** How operations violated a schema that was not strict. */
export interface SchemaViolation {
  configVersion: string | null;
  /** Null for traits. */
  event: string | null;
  code: string;
  path: string;
  operations: number;
  firstSeenAt: string;
  lastSeenAt: string;
  lastEventId: string | null;
  lastCustomerId: string | null;
}

export interface ListedEmission {
  id: string;
  customerId: string;
  eventType: string;
  source: string;
  metadata: Record<string, unknown>;
  timestamp: string;
  createdAt: string;
  cause: Cause;
  configVersion: string | null;
}

export interface Emission extends ListedEmission {
  ruleExecution: RuleRun | null;
  deliveries: EmissionDelivery[];
}

/** Operations of a customer that wait, and those of them whose time has not come. */
export interface Backlog {
  pending: number;
  ahead: number;
  setAside: SetAside;
}

/** A page of a segment's members; how many there are in all, and statistics of them on the first page. */
export type SegmentMembers = ListPage<{ customerId: string; enteredAt: string }> & {
  members: number;
  statistics?: SegmentStatistics;
};

export interface SegmentStatistics {
  lifecycle: Record<string, number>;
  health: { scored: number; average: number | null; bands: Record<string, number> };
  lastEvent: { within1d: number; within7d: number; within30d: number; older: number; never: number };
}

/** A line of figures, one for each period; `from` and `to` are states of a transition, null for none. */
export interface TrendSeries {
  metric: string;
  state?: string;
  from?: string | null;
  to?: string;
  webhookId?: string;
  segment?: string;
  signal?: string;
  band?: string;
  values: (number | null)[];
}

/** How often a rule ran with each result; `more` names those of which there are others. */
export type RuleCounts = { ruleId: string; more: RuleResult[] } & Record<RuleResult, number>;

export interface RuleExecution {
  customerId: string;
  ruleId: string;
  result: RuleResult;
  triggeredBy: string;
  executedAt: string;
  error: string | null;
  emissionId: string | null;
}

/** How an environment developed, by periods, each named by its first day. */
export interface Trends {
  /** False while what came before is still to be counted. */
  complete: boolean;
  periods: string[];
  series: TrendSeries[];
}

/** A transition of a customer's lifecycle. */
export interface ListedTransition {
  customerId: string;
  from: string | null;
  to: string;
  at: string;
  cause: { type: string; id: string | null };
}

/** How long customers had been in the states that they left, by the last transitions. */
export interface TransitionTimes {
  transitions: number;
  states: { state: string; left: number; seconds: { median: number } }[];
}

/** Runs of a journey by how they ended, and those under way and expired by the step that they stand or stood at. */
export interface JourneyCounts {
  journeyId: string;
  /** Whether the active version has it. */
  declared: boolean;
  active: number;
  complete: number;
  expired: number;
  steps: { stepId: string; declared: boolean; active: number; expired: number }[];
}

/** Of the runs that were looked at; null where there is nothing to be measured. */
export interface JourneyTimes {
  runs: number;
  secondsToComplete: { median: number } | null;
  steps: { stepId: string; completed: number; secondsFromPrevious: { median: number } }[];
}

/** A run of a journey by a customer. */
export interface ListedRun {
  customerId: string;
  run: number;
  status: "active" | "complete" | "expired";
  currentStep: string;
  startedAt: string;
  completedAt: string | null;
  expiredAt: string | null;
}

/** An operation that was accepted and violates the schema. */
export interface Quarantined {
  quarantineId: string;
  /** Null where a call of the tracking API names none. */
  customerId: string | null;
  /** Null for traits. */
  event: string | null;
  operation: Record<string, unknown>;
  quarantinedAt: string;
  code: string;
  message: string;
  /** The first twenty. */
  violations: { code: string; message: string; path: string }[];
}

/**
 * What pages ask: the GET endpoints of the administrative API by their paths, those of the project below it, and what pages need of the answers. The
 * service has all of them, the local engine those that one process without a database can have.
 */
export interface Answers {
  customers: ListPage<ListedCustomer>;
  "customers/:customerId": CustomerState;
  "customers/:customerId/explanation": ExplainedCustomer;
  "customers/:customerId/history": ListPage<HistoryEntry>;
  "customers/:customerId/health-scores": ListPage<HealthScoreChange>;
  "customers/:customerId/backlog": Backlog;
  "due-customers": ListPage<{ customerId: string; nextDueAt: string }>;
  signals: ListPage<RaisedSignal>;
  "rule-executions": ListPage<RuleExecution>;
  "rule-executions/counts": { rules: RuleCounts[] };
  trends: Trends;
  transitions: ListPage<ListedTransition>;
  "transitions/times": TransitionTimes;
  "segments/:segment": SegmentMembers;
  journeys: { journeys: JourneyCounts[] };
  "journeys/:journeyId/times": JourneyTimes;
  "journeys/:journeyId/runs": ListPage<ListedRun>;
  /** By customer and name. */
  traits: Record<string, Record<string, string>>;
  "config-versions": ListPage<ConfigVersion>;
  "config-versions/:version": ConfigVersion & { snapshot: Snapshot };
  "config-diff": Difference;
  activations: ListPage<Activation>;
  events: ListPage<ListedEvent>;
  "events/:event": EventDetail;
  "schema-violations": ListPage<SchemaViolation>;
  quarantine: ListPage<Quarantined> & { operations: number; limit: number; since: string | null };
  emissions: ListPage<ListedEmission>;
  "emissions/:emission": Emission;
  webhooks: ListPage<ListedWebhook>;
  "webhooks/:webhook": Webhook;
  "webhooks/:webhook/deliveries": ListPage<ListedDelivery>;
  "webhooks/:webhook/deliveries/:delivery": Delivery;
  diagnostics: { data: Finding[] };
  recomputes: ListPage<Recompute>;
  "recomputes/:recompute": Recompute;
  "recomputes/:recompute/customers": ListPage<CustomerDifference>;
  "previews/:preview": Preview;
  "previews/:preview/customers": ListPage<CustomerDifference>;
  backtests: ListPage<Backtest>;
  "backtests/:backtest": Backtest;
  keys: ListPage<Key>;
  "/whoami": Actor;
  "/organization/members": ListPage<Member>;
  "/organization/invitations": ListPage<Invitation>;
  "/organization/tokens": ListPage<AccessToken>;
  "/organization/audit-log": ListPage<AuditEntry>;
  "/organization/usage": Usage;
}

export type Question = keyof Answers;

/** What only the service is asked: what one process without a database does not have. */
export type ServiceQuestion = Extract<
  Question,
  | "activations"
  | "diagnostics"
  | "keys"
  | "quarantine"
  | `config-${string}`
  | `webhooks${string}`
  | `recomputes${string}`
  | `previews/${string}`
  | `backtests${string}`
  | `/${string}`
>;

/** What a question's path names and its query, as text; what is undefined is left out. */
export type Of = Readonly<Record<string, string | undefined>>;

/**
 * Has something changed, by an endpoint of the administrative API, named as questions are: `POST webhooks/:webhook/resend`. Members of `of` that its
 * path does not name are the query's.
 *
 * @throws {ApiError} as the endpoint does
 */
export type Tell = (endpoint: string, of: Of, body?: object) => Promise<unknown>;

/** Asks one of them. @throws {ApiError} as the endpoint does */
export type Ask = <Name extends Question>(question: Name, of?: Of) => Promise<Answers[Name]>;
