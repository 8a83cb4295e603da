import type { BacktestReport } from "../../backtest/report-types.js";
import type { CustomerSamples } from "../../backtest/samples.js";
import type { AdminCredentials, EnvironmentRef, Page, Role } from "./access.js";
import type { ExplainedPart, StoredForExplanation, StoredForTimeTravel } from "./customers.js";
import type { ChunkLimits, EvaluationInput, EvaluationResult, Trial } from "./evaluation.js";
import type { KnownTrackingModel, StreamPage, SweptOperations, ValidKey } from "./ingestion.js";
import type { CounterRow, Installation } from "./monitoring.js";
import type { ChangesUnderWay, ExportBegun, ExportHeader, Frozen, ImportBegun, SealedSecret } from "./environments.js";
import type { Constraints, Examination, InvariantViolation } from "./operator.js";
import type {
  AppliedCustomer,
  BacktestInput,
  EventLists,
  ExecutionKey,
  NewBacktest,
  PageEnd,
  RecomputeJob,
  ResultCounts,
} from "./recompute.js";
import type * as signIn from "./sign-in.js";
import type { AttemptResult, NewWebhook, RecordedAttempts, Resending, WebhookChanges } from "./webhooks.js";

/** A value that a caller passes: one argument of the SQL function, or several. */
export interface Parameter<Value> {
  /** Names of the SQL function's arguments, in its order. */
  readonly names: readonly string[];
  readonly values: (value: Value) => readonly unknown[];
  /** SQL that follows each of them in the call, such as a cast. */
  readonly suffix?: string;
}

type Parameters = readonly Parameter<never>[];

/** A function's parameters and result. */
export interface Signature<Taken extends Parameters = Parameters, Answer = unknown> {
  readonly parameters: Taken;
  /** The answer is JSON that is passed on as text: its members keep their order, and its numbers may exceed a double. */
  readonly isText: boolean;
  /** Exists only in the type. */
  readonly answer?: Answer;
}

/** Options of an activation, besides the version. */
export interface ActivationOptions {
  /** The version that must be active, 0 for none, null for any. */
  expected: number | null;
  /** Activates despite warnings about data. */
  force: boolean;
}

interface NewVersion extends ActivationOptions {
  /** Canonical JSON of a validated snapshot. */
  snapshot: string;
  /** SHA-256 of that text, in hexadecimal. */
  hash: string;
  provenance: object | null;
}

/** The answer of a function that returns void. */
type Nothing = "";
type Maybe<Value> = Value | null | undefined;

const arg = <Value>(name: string): Parameter<Value> => ({ names: [name], values: (value) => [value ?? null] });
const text = (name: string) => arg<string>(name);
const maybeText = (name: string) => arg<Maybe<string>>(name);
const number = (name: string) => arg<number>(name);
const bytes = (name: string) => arg<Buffer>(name);
const seconds = (name: string) => ({ ...number(name), suffix: "::float8 * interval '1 second'" });
/** JSON that is already a string. */
const jsonText = (name: string) => ({ ...text(name), suffix: "::text::json" });
const maybeObject = (name: string) => ({ ...maybeText(name), suffix: "::text::jsonb" });

/** Members of an object, each passed as the argument of the same name in snake case. */
const members = <Value extends object>(...keys: readonly (keyof Value & string)[]): Parameter<Value> => ({
  names: keys.map((key) => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)),
  values: (value) => keys.map((key) => value[key] ?? null),
});

/** As `members`, for arguments with other names. */
const renamed = <Value extends object>(names: Readonly<Record<keyof Value & string, string>>): Parameter<Value> => ({
  ...members<Value>(...(Object.keys(names) as (keyof Value & string)[])),
  names: Object.values(names),
});

/** As `members`, for lists of rows, which are passed as JSON, and for strings; an empty one is passed as null. */
const rows = <Value extends Record<keyof Value, { readonly length: number }>>(
  ...keys: readonly (keyof Value & string)[]
): Parameter<Value> => ({
  ...members<Value>(...keys),
  values: (value) => keys.map((key) => (value[key].length === 0 ? null : value[key])),
});

/** Optional filters of a list. */
const filters = <const Name extends string>(...names: readonly Name[]) =>
  members<{ [Key in Name]?: Maybe<string> }>(...names);

const takes = <const Taken extends Parameters>(...parameters: Taken) => ({
  ...({ parameters, isText: true } as Signature<Taken, string>),
  /** For a function whose answer is not a document to pass on. */
  answers: <Answer>(): Signature<Taken, Answer> => ({ parameters, isText: false }),
});

const by = members<AdminCredentials>("tokenHash", "organizationId");
/** As `by`, for functions that write the audit log. */
const actor = members<AdminCredentials>("tokenHash", "organizationId", "requestId");
const at = renamed<EnvironmentRef>({ project: "project_slug", environment: "environment_name" });
const page = renamed<Page>({ limit: "row_limit", cursor: "cursor" });
/** What is stored of a key. */
interface KeyDigest {
  hash: Buffer;
  hint: string;
}

const keyDigest = (hash: string, hint: string) => renamed<KeyDigest>({ hash, hint });
const newKeys: Parameter<{ test: KeyDigest; live: KeyDigest }> = {
  names: ["test_key_hash", "test_key_hint", "live_key_hash", "live_key_hint"],
  values: ({ test, live }) => [test.hash, test.hint, live.hash, live.hint],
};
const organizationSlug = text("organization_slug");
const project = text("project_slug");
const customer = text("customer_id");
const webhook = text("webhook_id");
const environmentId = number("environment_id");
const workerId = text("worker_id");
const rowLimit = number("row_limit");
const linkHash = bytes("link_hash");
const sessionHash = bytes("session_hash");
const tokenHash = bytes("token_hash");
const userCode = text("user_code");
const maybeRole = arg<Maybe<Role>>("role");
const label = text("label");
const expiresInDays = number("expires_in_days");
const explained = arg<ExplainedPart>("explained");
/** Operations in quarantine: by id, or by filters. */
const quarantineFilter = members<{ ids?: string[]; event?: string; code?: string }>("ids", "event", "code");
const since = arg<Maybe<Date>>("since");
const reverse = arg<boolean>("reverse");
const superseded = arg<boolean>("superseded");
const byId = arg<boolean>("by_id");
const activation = members<ActivationOptions>("expected", "force");
const trial = members<Trial>("environmentId", "workerId");
const chunkSize = renamed<ChunkLimits>({ customers: "customer_limit", operations: "operation_limit" });
const instant = arg<Date | null>("instant");
const evaluation = takes(environmentId, chunkSize, seconds("settle"), instant).answers<EvaluationInput>();
/** A worker's attempt at a recompute. */
const attempt = members<RecomputeJob>("environmentId", "recomputeId", "attempt");
const pageEnd: Parameter<PageEnd> = {
  names: ["after_at", "after_seq"],
  values: ({ lastAt, lastSeq }) => [lastAt ?? "-infinity", lastSeq ?? 0],
};

/**
 * The functions of svc_api that `call` can call, with their parameters in order. Each raises the errors that its SQL function documents.
 * Functions whose rows are mapped have their own TypeScript function in another file of this folder.
 */
export const FUNCTIONS = {
  // Access. authorize_request raises unless the token may do an operation of iam.operations(); the operation itself checks again.
  authorize_request: takes(by, text("operation"), maybeText("environment")).answers<Nothing>(),
  whoami: takes(by),
  record_question: takes(actor, at, text("task"), text("model"), number("fact_bytes")).answers<Nothing>(),
  touch_token: takes(tokenHash).answers<Nothing>(),

  // Ingestion. Only the version of a tracking model that is `known`. Both raise SV001 for a key that is not valid.
  authenticate_key: takes(bytes("key_hash")).answers<ValidKey>(),
  get_tracking_model: takes(bytes("key_hash"), arg<number | null>("known")).answers<KnownTrackingModel>(),

  // The organization. Removals and revocations return the removed document.
  list_organizations: takes(tokenHash, page),
  list_members: takes(by, page),
  update_member: takes(actor, text("user_id"), arg<Role>("role")),
  remove_member: takes(actor, text("user_id")),
  list_invitations: takes(by, page),
  create_invitation: takes(actor, text("email"), arg<Role>("role"), linkHash),
  revoke_invitation: takes(actor, text("invitation_id")),
  create_password_reset: takes(actor, text("user_id"), linkHash),
  mail_link: takes(linkHash, bytes("mailed_hash")).answers<Nothing>(),
  list_tokens: takes(by, page),
  create_token: takes(actor, label, maybeRole, expiresInDays, bytes("new_token_hash")),
  revoke_token: takes(actor, text("token_id")),
  list_audit_log: takes(by, maybeText("action"), maybeText("actor"), since, page),
  get_usage: takes(by),
  update_organization: takes(actor, text("time_zone")),

  // Projects and their keys.
  list_projects: takes(by, page),
  get_project: takes(by, project),
  create_project: takes(actor, members<{ name: string; slug: string }>("name", "slug"), newKeys),
  get_overview: takes(by, at),
  get_population: takes(by, at, arg<Date>("at")),
  get_trends: takes(by, at, text("what"), text("every"), maybeText("from"), maybeText("to")),
  list_keys: takes(by, at, page),
  create_key: takes(actor, at, text("name"), keyDigest("key_hash", "hint")),
  rotate_key: takes(actor, at, text("key_id"), number("grace_seconds"), keyDigest("new_key_hash", "new_hint")),
  revoke_key: takes(actor, at, text("key_id")),

  // Configuration. A version is named `v3`, or `latest`; by default the newest version is compared with the one before it.
  check_config: takes(by, at, text("snapshot")),
  deploy_config: takes(actor, at, members<NewVersion>("snapshot", "hash", "provenance", "expected", "force")),
  list_config_versions: takes(by, at, page),
  get_config_version: takes(by, project, text("version_name")),
  diff_config_versions: takes(by, project, maybeText("from_version"), maybeText("to_version")),
  promote_config: takes(actor, project, text("version_name"), activation),
  rollback_config: takes(actor, at, text("version_name"), activation),
  list_activations: takes(by, at, page),
  get_state_limit: takes(by, text("operation"), text("environment_name")).answers<number>(),

  // Customers. Without a customer id, release_customers releases all that were set aside.
  search_customers: takes(
    by,
    at,
    filters("lifecycle", "segment", "health", "signal", "search"),
    maybeObject("traits"),
    arg<Maybe<number>>("inactive_seconds"),
    arg<Maybe<boolean>>("set_aside"),
    maybeText("sort"),
    reverse,
    page,
  ),
  get_customer: takes(by, at, customer),
  list_emissions: takes(by, at, customer, reverse, page),
  customer_backlog: takes(by, at, customer),
  list_due_customers: takes(by, at, page),
  list_history: takes(by, at, customer, arg<Maybe<string[]>>("kinds"), arg<Maybe<Date>>("at"), page),
  list_traits: takes(by, at, arg<string[]>("customer_ids"), arg<string[]>("names")),
  release_customers: takes(actor, at, maybeText("customer_id")),
  erase_customer: takes(actor, at, customer),
  export_customer: takes(actor, at, customer).answers<Nothing>(),
  open_export: takes(by, at, customer),
  fetch_export: takes(text("list"), number("items")).answers<string[]>(),
  get_journey: takes(by, at, customer, text("journey_id")),
  get_segment: takes(by, at, text("segment_id"), page),
  list_members_at: takes(by, at, text("segment_id"), arg<Date>("at"), page),
  search_emissions: takes(by, at, filters("customerId", "eventType", "source"), since, page),
  search_signals: takes(by, at, filters("signalId", "severity"), since, page),
  search_transitions: takes(by, at, filters("left", "entered", "from", "to"), page),
  get_transition_times: takes(by, at),
  get_journeys: takes(by, at, since),
  get_journey_funnel: takes(by, at, text("journey_id"), since),
  get_journey_times: takes(by, at, text("journey_id"), since, number("share")),
  search_journey_runs: takes(by, at, text("journey_id"), filters("status", "step", "completed"), since, page),
  list_transitions: takes(by, at, customer, superseded, page),
  list_health_scores: takes(by, at, customer, superseded, page),
  search_rule_executions: takes(
    by,
    at,
    filters("customerId", "ruleId", "result"),
    since,
    arg<boolean>("detail"),
    superseded,
    page,
  ),
  count_rule_executions: takes(by, at, arg<Date>("since")),
  begin_explanation: takes(by, at, customer, explained).answers<StoredForExplanation>(),
  explanation_snapshot: takes(by, at, number("version"), explained).answers<unknown>(),
  begin_time_travel: takes(by, at, customer, maybeText("version_name")).answers<StoredForTimeTravel>(),
  time_travel_events: takes(by, at, customer, pageEnd, arg<string[]>("property_events")),

  // Events and problems with them: `list_events` may return 13 MB of JSON. A stream without a position begins now.
  list_events: takes(by, at, filters("customerId", "event", "status"), since, page),
  get_event: takes(by, at, text("event_id")),
  stream_events: takes(by, at, filters("customerId", "event"), maybeText("after"), rowLimit).answers<StreamPage>(),
  get_diagnostics: takes(by, at),
  list_quarantined: takes(by, at, filters("quarantineId", "event", "code"), page),
  list_quarantined_calls: takes(by, at, quarantineFilter, maybeText("cursor")),
  // `mapped`: {version, read, operations} as JSON, where the version maps the calls read to the operations, by id.
  release_quarantined: takes(actor, at, quarantineFilter, maybeText("cursor"), maybeObject("mapped")),
  discard_quarantined: takes(actor, at, quarantineFilter, maybeText("cursor")),
  list_schema_violations: takes(by, at, arg<Maybe<number>>("version"), page),

  // Recomputes and previews: of one customer, of all, or with the scope and pins of a dry run (`from_id`).
  create_recompute: takes(actor, at, maybeText("customer_id"), arg<boolean>("dry_run"), maybeText("from_id")),
  list_recomputes: takes(by, at, maybeText("status"), page),
  get_recompute: takes(by, at, text("recompute_id")),
  list_recompute_customers: takes(by, at, text("recompute_id"), byId, page),
  retry_recompute: takes(actor, at, text("recompute_id")),
  cancel_recompute: takes(actor, at, text("recompute_id")),
  create_preview: takes(actor, at, text("snapshot"), text("hash"), arg<Maybe<number>>("sample")),
  get_preview: takes(by, at, text("preview_id")),
  list_preview_customers: takes(by, at, text("preview_id"), byId, page),
  begin_backtest: takes(by, at, arg<boolean>("is_deployed"), maybeText("version_name")).answers<BacktestInput>(),
  create_backtest: takes(
    actor,
    at,
    members<NewBacktest>("versionName", "snapshot", "hash", "question", "sample", "pinnedAt"),
  ),
  list_backtests: takes(by, at, page),
  get_backtest: takes(by, at, text("backtest_id")),
  list_backtest_samples: takes(by, at, text("backtest_id"), page),

  // Webhooks, deliveries and emissions. delete_webhook returns the deleted webhook.
  add_webhook: takes(
    actor,
    at,
    members<NewWebhook>(
      "url",
      "eventTypes",
      "maxEventAge",
      "maxConcurrency",
      "maxPerSecond",
      "include",
      "format",
      "sealedSecret",
    ),
  ),
  list_webhooks: takes(by, at, page),
  get_webhook: takes(by, at, webhook),
  update_webhook: takes(actor, at, webhook, arg<WebhookChanges>("changes")),
  delete_webhook: takes(actor, at, webhook),
  rotate_webhook_secret: takes(actor, at, webhook, number("grace_seconds"), bytes("sealed_secret")),
  list_deliveries: takes(by, at, webhook, filters("status", "eventType", "customerId"), page),
  get_delivery: takes(by, at, webhook, text("delivery_id")),
  resend_delivery: takes(actor, at, webhook, text("delivery_id")),
  resend_deliveries: takes(actor, at, webhook, members<Resending>("since", "until", "statuses", "cursor")),
  get_emission: takes(by, at, text("emission_id")),
  store_public_url: takes(text("url")).answers<Nothing>(),

  // Pages and sign-in.
  current_session: takes(sessionHash).answers<signIn.SessionUser | null>(),
  open_console: takes(
    sessionHash,
    maybeText("organization_slug"),
    maybeText("project_slug"),
    text("environment_name"),
  ).answers<signIn.ConsolePlace>(),
  begin_sign_in: takes(text("email"), text("address")).answers<signIn.BegunSignIn>(),
  finish_sign_in: takes(
    members<signIn.VerifiedSignIn>("email", "address", "userId", "passwordHash", "sessionHash", "previousHash"),
  ).answers<boolean>(),
  sign_out: takes(sessionHash).answers<Nothing>(),
  begin_password_change: takes(sessionHash, text("password_hash"), linkHash).answers<boolean>(),
  request_password_link: takes(text("email"), text("address"), linkHash).answers<signIn.PasswordLinkAsked>(),
  create_sign_in_link: takes(tokenHash, text("client_id"), linkHash).answers<signIn.SignInLink | null>(),
  sign_in_link: takes(linkHash).answers<{ email: string } | null>(),
  use_sign_in_link: takes(linkHash, sessionHash, arg<Buffer | null>("previous_hash")).answers<boolean>(),
  invitation_of_link: takes(linkHash).answers<signIn.InvitationOfLink | null>(),
  accept_invitation: takes(
    members<signIn.Acceptance>("linkHash", "requestId", "previousHash", "sessionHash", "passwordHash"),
  ).answers<boolean>(),
  password_link: takes(linkHash).answers<signIn.PasswordLink | null>(),
  set_password: takes(linkHash, text("password_hash")).answers<boolean>(),
  begin_device_authorization: takes(
    members<signIn.NewDevice>("deviceCodeHash", "userCode", "clientId", "address", "network"),
  ).answers<signIn.DeviceBegun>(),
  redeem_device_code: takes(bytes("device_code_hash"), text("client_id"), tokenHash).answers<signIn.DeviceRedeemed>(),
  find_device_authorization: takes(sessionHash, userCode).answers<signIn.DeviceFound>(),
  decide_device_authorization: takes(sessionHash, userCode, arg<boolean>("approve")).answers<signIn.DeviceDecided>(),
  revoke_session_token: takes(tokenHash, text("client_id")).answers<{ revoked: boolean }>(),

  // For the operator, with direct access to the database: these need the migrating user, not one of the service's roles.
  bootstrap: takes(organizationSlug, text("email"), tokenHash),
  operator_list_users: takes(),
  operator_create_password_link: takes(text("email"), linkHash),
  operator_create_sign_in_link: takes(text("email"), linkHash).answers<signIn.SignInLink>(),
  operator_public_url: takes().answers<string | null>(),
  operator_lock_out_user: takes(text("email")).answers<number>(),
  operator_list_tokens: takes(organizationSlug),
  operator_create_token: takes(organizationSlug, maybeText("email"), label, maybeRole, expiresInDays, tokenHash),
  operator_revoke_token: takes(text("token_id")),
  operator_list_plans: takes(),
  operator_get_plan: takes(text("plan_id")),
  operator_set_plan: takes(text("plan_id"), arg<object>("changes")),
  operator_assign_plan: takes(organizationSlug, text("plan_id")),
  operator_remove_plan: takes(text("plan_id")),
  operator_examine: takes().answers<Examination>(),
  operator_check_indexes: takes(arg<readonly string[]>("indexes")).answers<InvariantViolation[]>(),
  operator_check_constraints: takes(members<Constraints>("foreignKeys", "triggers")).answers<InvariantViolation[]>(),
  operator_freeze_environment: takes(organizationSlug, at).answers<Frozen>(),
  operator_unfreeze_environment: takes(organizationSlug, at).answers<{ frozenAt: string | null }>(),
  operator_delete_environment: takes(organizationSlug, at).answers<{ rows: Record<string, number> }>(),
  operator_changes_under_way: takes(environmentId).answers<ChangesUnderWay>(),
  operator_begin_export: takes(environmentId).answers<ExportBegun>(),
  operator_begin_import: takes(arg<ExportHeader>("header"), organizationSlug, project).answers<ImportBegun>(),
  operator_import_versions: takes(number("project_id")).answers<Nothing>(),
  operator_sealed_secrets: takes(arg<number | null>("environment_id")).answers<SealedSecret[]>(),
  operator_finish_import: takes(environmentId, arg<ExportHeader>("header")).answers<Nothing>(),

  // Workers. A sweep returns how many rows it removed; sweep_iam as a bigint, which is a string here.
  metrics: takes().answers<Installation>(),
  load_snapshot: takes(number("project_id"), number("version")).answers<unknown>(),
  set_aside_customer: takes(environmentId, customer, text("error")).answers<Nothing>(),
  suspect_environment: takes(environmentId, text("reason")).answers<Nothing>(),
  // An evaluation without an instant is as of now. Its customers are locked until the transaction ends, and a chunk must be written back in the
  // same one (else SV010 TRANSACTION_LOST): if a connection is lost, postgres.js may send the rest of its transaction on the next connection.
  begin_chunk: evaluation,
  begin_trial_chunk: evaluation,
  apply_evaluation: takes(
    environmentId,
    members<Pick<EvaluationInput, "version" | "transactionId">>("version", "transactionId"),
    rows<EvaluationResult>(
      "customers",
      "states",
      "transitions",
      "blocked",
      "journeys",
      "memberships",
      "healthScores",
      "ruleExecutions",
      "signals",
      "emissions",
      "changes",
      "consumed",
      "deferred",
    ),
  ).answers<Nothing>(),
  begin_trial: takes(trial, chunkSize).answers<(ChunkLimits & { suspended: string | null }) | null>(),
  end_trial: takes(trial, chunkSize).answers<Nothing>(),
  cancel_trial: takes(trial).answers<Nothing>(),
  // The customers in the chunk of a trial, before anything is done with them; or the reason why it failed.
  record_trial: takes(trial, arg<string[] | null>("customer_ids"), maybeText("reason")).answers<Nothing>(),
  continue_evaluation: takes(environmentId, number("turns")).answers<Nothing>(),
  remove_worker: takes(workerId).answers<Nothing>(),
  sign_off: takes(workerId).answers<Nothing>(),
  record_attempts: takes(arg<readonly AttemptResult[]>("results")).answers<RecordedAttempts>(),
  add_worker_counters: takes(arg<readonly CounterRow[]>("counters")).answers<Nothing>(),
  release_webhooks: takes(workerId).answers<Nothing>(),
  sweep_iam: takes().answers<string>(),
  sweep_webhooks: takes(number("attempt_days"), rowLimit).answers<number>(),
  sweep_recomputes: takes(rowLimit).answers<number>(),
  sweep_operations: takes(environmentId, arg<number | null>("after_batch"), rowLimit).answers<SweptOperations>(),
  sweep_keys: takes(environmentId, rowLimit).answers<number>(),
  sweep_quarantine: takes(environmentId, rowLimit).answers<number>(),
  sweep_logs: takes(environmentId, rowLimit).answers<number>(),
  count_trends: takes(environmentId, rowLimit).answers<number>(),
  recount_usage: takes(environmentId, rowLimit).answers<number>(),

  // Recomputes, called in the session that holds the job; null means no job, or that another attempt owns it. A customer is locked and written in
  // the caller's transaction: rows appended to its logs become current once `apply_recompute` is called in the same one.
  claim_job: takes(number("attempts_max")).answers<RecomputeJob | null>(),
  should_yield_job: takes(environmentId).answers<boolean>(),
  read_recompute_events: takes(
    environmentId,
    customer,
    pageEnd,
    arg<string[]>("property_events"),
    rowLimit,
    number("byte_limit"),
  ).answers<{ events: EventLists; more: boolean } & PageEnd>(),
  read_recompute_executions: takes(environmentId, customer, number("generation"), pageEnd, rowLimit).answers<
    { runs: ExecutionKey[] | null } & PageEnd
  >(),
  lock_customer: takes(environmentId, customer).answers<boolean>(),
  append_recompute_logs: takes(
    members<RecomputeJob>("environmentId", "version"),
    rows<Pick<EvaluationResult, "transitions" | "ruleExecutions">>("transitions", "ruleExecutions"),
  ).answers<Nothing>(),
  apply_recompute: takes(
    members<RecomputeJob>("environmentId", "recomputeId", "attempt", "version"),
    arg<AppliedCustomer>("customer"),
  ).answers<"applied" | "changed" | "gone">(),
  record_recompute_chunk: takes(
    attempt,
    text("last_customer_id"),
    number("done"),
    jsonText("differences"),
    arg<ResultCounts>("counts"),
  ).answers<Nothing>(),
  touch_recompute: takes(attempt).answers<number | null>(),
  finish_recompute: takes(attempt).answers<Nothing>(),
  read_backtest_samples: takes(
    members<RecomputeJob>("environmentId", "recomputeId"),
    rowLimit,
    maybeText("cursor"),
  ).answers<{ data: CustomerSamples[]; nextCursor: string | null }>(),
  finish_backtest: takes(attempt, arg<BacktestReport>("report")).answers<Nothing>(),
  fail_recompute: takes(attempt, text("error"), number("attempts_max"), seconds("pause")).answers<
    "retrying" | "dead_letter" | null
  >(),
  release_recompute: takes(attempt).answers<Nothing>(),
} satisfies Record<string, Signature>;
