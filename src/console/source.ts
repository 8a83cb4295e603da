import type { StateDocument } from "../engine/index.js";
import type { Snapshot } from "../model/snapshot/types.js";
import type { ExplainedParts } from "../words/explanation.js";

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
  cause: { type: string; id: string | null } | null;
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
  | Entry<"score", { overall: number; band: string }>
  | Entry<"rule", { ruleId: string; result: "pass" | "error"; error: string | null; emissionId: string | null }>
  | Entry<"emission", { emissionId: string; eventType: string; metadata: Payload; deliveries: EmissionDelivery[] }>;

export interface HealthScoreChange {
  at: string;
  overall: number;
  band: string;
}

export interface RaisedSignal {
  customerId: string;
  signalId: string;
  severity: "info" | "warning" | "critical";
  message: string | null;
  raisedAt: string;
}

export interface EmissionItem {
  id: string;
  customerId: string;
  eventType: string;
  metadata: Record<string, unknown>;
  timestamp: string;
}

export interface RuleExecution {
  customerId: string;
  ruleId: string;
  result: "pass" | "fail" | "skip" | "error";
  executedAt: string;
  error: string | null;
}

export interface WebhookItem {
  id: string;
  url: string;
  failingSince: string | null;
  disabledAt: string | null;
  disabledReason: string | null;
}

/** Operations of a customer that wait, and those of them whose time has not come. */
export interface Backlog {
  pending: number;
  ahead: number;
  setAside: SetAside;
}

/**
 * What pages ask about an environment: the GET endpoints below `/projects/:project` of the administrative API by their paths, and what pages need of
 * the answers. The service has all of them, the local engine those that one process without a database can have.
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
  emissions: ListPage<EmissionItem>;
  "rule-executions": ListPage<RuleExecution>;
  webhooks: ListPage<WebhookItem>;
  /** By customer and name. */
  traits: Record<string, Record<string, string>>;
  "config-versions/:version": { snapshot: Snapshot };
}

export type Question = keyof Answers;

/** What a question's path names and its query, as text; what is undefined is left out. */
export type Of = Readonly<Record<string, string | undefined>>;

/**
 * Has something changed, by an endpoint of the administrative API below a project: `POST webhooks/:webhook/resend`. Members of `of` that its path
 * does not name are the query's.
 *
 * @throws {ApiError} as the endpoint does
 */
export type Tell = (endpoint: string, of: Of, body?: object) => Promise<unknown>;

/** Asks one of them. @throws {ApiError} as the endpoint does */
export type Ask = <Name extends Question>(question: Name, of?: Of) => Promise<Answers[Name]>;
