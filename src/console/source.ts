import type * as answers from "../http/admin/answers.js";
import type { Snapshot } from "../model/snapshot/types.js";

type ListPage<Item> = answers.ListPage<Item>;

/** `configVersion` is null for a model that is not deployed. */
export type Violation = Omit<answers.SchemaViolation, "configVersion"> & { configVersion: string | null };

/**
 * The questions of pages with their answers: GET endpoints of the administrative API, those of a project by their path within it. The service
 * answers all of them, the local engine those that one process without a database can answer.
 */
export interface Answers {
  customers: ListPage<answers.ListedCustomer>;
  "customers/:customerId": answers.CustomerState;
  "customers/:customerId/explanation": answers.ExplainedCustomer;
  "customers/:customerId/history": ListPage<answers.HistoryEntry>;
  "customers/:customerId/health-scores": ListPage<answers.HealthScoreChange>;
  "customers/:customerId/backlog": answers.Backlog;
  "due-customers": ListPage<answers.DueCustomer>;
  signals: ListPage<answers.ListedSignal>;
  "rule-executions": ListPage<answers.RuleExecution>;
  "rule-executions/counts": { rules: answers.RuleCounts[] };
  trends: answers.Trends;
  transitions: ListPage<answers.ListedTransition>;
  "transitions/times": answers.TransitionTimes;
  "segments/:segment": answers.SegmentMembers;
  journeys: { journeys: answers.JourneyCounts[] };
  "journeys/:journeyId/times": answers.JourneyTimes;
  "journeys/:journeyId/runs": ListPage<answers.ListedRun>;
  /** By customer and name. */
  traits: Record<string, Record<string, string>>;
  "config-versions": ListPage<answers.ConfigVersion>;
  "config-versions/:version": answers.ConfigVersion & { snapshot: Snapshot };
  "config-diff": answers.ConfigDiff;
  activations: ListPage<answers.Activation>;
  events: ListPage<answers.Event>;
  "events/:event": answers.EventDetail;
  "schema-violations": ListPage<Violation>;
  quarantine: ListPage<answers.Quarantined> & { operations: number; limit: number; since: string | null };
  emissions: ListPage<answers.ListedEmission>;
  "emissions/:emission": answers.EmissionDetail;
  webhooks: ListPage<answers.Webhook>;
  "webhooks/:webhook": answers.WebhookDetail;
  "webhooks/:webhook/deliveries": ListPage<answers.Delivery>;
  "webhooks/:webhook/deliveries/:delivery": answers.DeliveryDetail;
  diagnostics: { data: answers.Finding[] };
  recomputes: ListPage<answers.Recompute>;
  "recomputes/:recompute": answers.Recompute;
  "recomputes/:recompute/customers": ListPage<answers.JobDifference>;
  "previews/:preview": answers.Preview;
  "previews/:preview/customers": ListPage<answers.JobDifference>;
  backtests: ListPage<answers.BacktestJob>;
  "backtests/:backtest": answers.BacktestJob;
  keys: ListPage<answers.Key>;
  "/whoami": answers.Whoami;
  "/organization/members": ListPage<answers.Member>;
  "/organization/invitations": ListPage<answers.Invitation>;
  "/organization/tokens": ListPage<answers.AccessToken>;
  "/organization/audit-log": ListPage<answers.AuditEntry>;
  "/organization/usage": answers.Usage;
}

export type Question = keyof Answers;

/** Questions that only the service can answer. */
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

/** Parameters of a question's path and its query, as text; undefined ones are left out. */
export type QuestionParams = Readonly<Record<string, string | undefined>>;

/**
 * Changes something by calling an endpoint of the administrative API, named like a question: `POST webhooks/:webhook/resend`. Members of `of` that
 * are not in the path go into the query.
 *
 * @throws {ApiError} as the endpoint does
 */
export type ApiMutation = (endpoint: string, of: QuestionParams, body?: object) => Promise<unknown>;

/** Asks a question. @throws {ApiError} as the endpoint does */
export type ApiQuery = <Name extends Question>(question: Name, of?: QuestionParams) => Promise<Answers[Name]>;
