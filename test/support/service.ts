import type { Sql } from "postgres";
import { afterAll } from "vitest";
import { call } from "../../src/db/api/call.js";
import { connect } from "../../src/db/connect.js";
import { appRoutes, createApp, type AppDeps } from "../../src/http/app.js";
import type { LanguageModelSettings } from "../../src/ai/language-model.js";
import {
  createAiQuestions,
  createCustomerWork,
  createWebhookTests,
  CUSTOMER_WORK_CONNECTIONS,
} from "../../src/http/admin/slow-work.js";
import { newCredential } from "../../src/http/request/credentials.js";
import { Ingestor, type IngestorOptions, LARGE_CALLS } from "../../src/http/ingest/ingestor.js";
import { KeyCheck } from "../../src/http/ingest/key-check.js";
import { ingestRoutes } from "../../src/http/ingest/routes.js";
import { servicePages } from "../../src/console/service/routes.js";
import type { PageDeps } from "../../src/console/session.js";
import { formKey } from "../../src/console/page-route.js";
import { CLIENT_LIMITS, createHttpServer, type ClientLimits } from "../../src/http/server.js";
import { renderInstallation } from "../../src/metrics/installation.js";
import { ProcessMetrics } from "../../src/metrics/process-metrics.js";
import type { Mailer } from "../../src/mail/mailer.js";
import type { Route } from "../../src/http/route.js";
import { EMPTY_SNAPSHOT, type Snapshot } from "../../src/model/snapshot/types.js";
import { sealingKey } from "../../src/webhooks/secret.js";
import { createDatabase, type TestDatabase } from "./database.js";
import { DeclaredAnswers } from "./declared-answers.js";
import { closeServer, listen } from "./listen.js";
import { runLog } from "./run-log.js";

/** A caller: an access token and its organization. */
export interface Actor {
  token: string;
  organizationId: string;
}

export interface RequestOptions {
  by?: Actor;
  headers?: Record<string, string>;
  /** Sent as JSON; a string or bytes are sent unchanged. */
  body?: unknown;
}

export interface Reply {
  status: number;
  headers: Headers;
  body: unknown;
}

/** The whole API over real HTTP, on a separate database, with the service's database role. */
export interface Service {
  db: TestDatabase;
  url: string;
  routes: readonly Route[];
  /** Sends a request with the id "req" and reads the answer, unless it is a stream of events. Fails if an answer differs from the route's declaration. */
  request(method: string, path: string, options?: RequestOptions): Promise<Reply>;
  /** Creates an organization; returns its owner. */
  owner(slug: string): Promise<Actor>;
  /** Creates another member of the actor's organization. */
  member(of: Actor, role: string): Promise<Actor>;
  stop(): Promise<void>;
}

export const DOCS_URL = "https://docs.example.com";
/** Application name of the connections for large batches. */
export const LARGE_APPLICATION = "svc test http large batches";
/** The base URL of links. */
const PUBLIC_URL = "https://svc.example.com";

/** Options of a test besides the application's parts. */
export interface ServiceOptions {
  /** An existing database, which is also dropped at the end; default: a clone of the template. */
  database?: TestDatabase;
  ingestor?: Partial<IngestorOptions>;
  /** How long a request waits for the check of its key. */
  keyMsMax?: number;
  limits?: Partial<ClientLimits>;
  /** SVC_PUBLIC_URL; default: the address that it listens on. */
  publicUrl?: string;
  /** Silence of the database server after which a connection is closed. */
  silentMsMax?: number;
  /** Default: none. */
  mailer?: Mailer;
  /** Whether webhooks may lead to private addresses; default: false. */
  allowPrivateWebhooks?: boolean;
  /** Time limit for a receiver's answer to the test of a webhook. */
  webhookTestMsMax?: number;
  /** Overrides for the pages. */
  pages?: Partial<PageDeps>;
  /** The language model; default: none. */
  ai?: LanguageModelSettings;
}

/** As `startService`; stopped at the end of the file. */
export async function useService(...given: Parameters<typeof startService>): Promise<Service> {
  const service = await startService(...given);
  afterAll(() => service.stop());
  return service;
}

export async function startService(overrides: Partial<AppDeps> = {}, options: ServiceOptions = {}): Promise<Service> {
  const db = options.database ?? (await createDatabase());
  const { silentMsMax } = options;
  const sql = connect(db.url, {
    max: 4,
    applicationName: "svc test http",
    role: "svc_http",
    pipelineMax: 0,
    ...(silentMsMax === undefined ? {} : { silentMsMax }),
  });
  const large = {
    url: db.url,
    options: { max: LARGE_CALLS, applicationName: LARGE_APPLICATION, role: "svc_http", pipelineMax: 0 },
  };
  const backend = new Ingestor(sql, large, { concurrency: 2, waitingMax: 10_000, ...options.ingestor });
  const work = connect(db.url, {
    max: CUSTOMER_WORK_CONNECTIONS,
    applicationName: "svc test http work",
    role: "svc_http",
  });
  const log = overrides.log ?? runLog();
  const keys = new KeyCheck(sql, options.keyMsMax);
  const key = sealingKey("a secret of the tests");
  const webhookTests = createWebhookTests({
    key,
    allowPrivate: options.allowPrivateWebhooks ?? false,
    ...(options.webhookTestMsMax === undefined ? {} : { timeoutMs: options.webhookTestMsMax }),
  });
  const metrics = new ProcessMetrics({ version: "0.0.0" });
  const mailer = options.mailer ?? null;
  let url = "";
  const oauth = { sql, publicUrl: () => options.publicUrl ?? url, anyHost: options.publicUrl === undefined };
  const deps: AppDeps = {
    log,
    docsUrl: DOCS_URL,
    metrics: { token: null, process: metrics, installation: () => renderInstallation(null) },
    probes: { started: () => true, unready: () => Promise.resolve([]) },
    oauth,
    pages: servicePages({ ...oauth, key: formKey("a secret of the tests"), mailer, log, ...options.pages }),
    admin: {
      sql,
      sealingKey: key,
      allowPrivateWebhooks: options.allowPrivateWebhooks ?? false,
      publicUrl: () => PUBLIC_URL,
      mailer,
      work: createCustomerWork(work),
      webhookTests,
      ai: options.ai === undefined ? null : createAiQuestions(options.ai),
    },
    routes: ingestRoutes({
      backend,
      requireKey: (keyHash) => keys.require(keyHash),
      log,
      outcomes: metrics,
    }),
    ...overrides,
  };
  const limits = { ...CLIENT_LIMITS, ...options.limits };
  const server = createHttpServer(createApp(deps).callback(), DOCS_URL, limits, log);
  url = await listen(server);
  const routes = appRoutes(deps);
  const declared = new DeclaredAnswers(routes);
  return {
    db,
    url,
    routes,
    request: async (method, path, options = {}) => {
      const reply = await send(url + path, method, options);
      declared.check(method, path, reply.status, reply.body);
      return reply;
    },
    owner: (slug) => createOwner(db.sql, slug),
    member: (of, role) => createMember(db.sql, of, role),
    stop: async () => {
      await closeServer(server);
      await Promise.all([sql.end({ timeout: 1 }), work.end({ timeout: 1 }), backend.end(), webhookTests.close()]);
      await db.drop();
    },
  };
}

async function send(url: string, method: string, { by, headers, body }: RequestOptions): Promise<Reply> {
  const raw = body === undefined || typeof body === "string" || body instanceof Uint8Array;
  const response = await fetch(url, {
    method,
    headers: {
      "X-Request-ID": "req",
      ...(by && { Authorization: `Bearer ${by.token}`, "X-Svc-Organization": by.organizationId }),
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: raw ? (body as string | Uint8Array<ArrayBuffer>) : JSON.stringify(body) }),
  });
  if (response.headers.get("Content-Type")?.startsWith("text/event-stream") === true) {
    await response.body?.cancel();
    return { status: response.status, headers: response.headers, body: undefined };
  }
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === "" ? undefined : JSON.parse(text) };
}

async function createOwner(sql: Sql, slug: string): Promise<Actor> {
  const token = newCredential("token");
  const document = await call(sql, "bootstrap", slug, `owner@${slug}.example`, token.hash);
  return { token: token.text, organizationId: (JSON.parse(document) as { organizationId: string }).organizationId };
}

async function createMember(sql: Sql, of: Actor, role: string): Promise<Actor> {
  const token = newCredential("token");
  await sql`
    with u as (
      insert into iam.users (user_id, email) values (svc.random_id('usr_'), ${`${role}@${of.organizationId}.example`})
      returning user_id
    ), m as (
      insert into iam.memberships (organization_id, user_id, role) select ${of.organizationId}, user_id, ${role} from u
    )
    insert into iam.access_tokens (token_hash, token_id, kind, user_id, organization_id, label, expires_at)
    select ${token.hash}, svc.random_id('tok_'), 'headless', user_id, ${of.organizationId}, 'test', now() + interval '1 day' from u`;
  return { token: token.text, organizationId: of.organizationId };
}

/** The `fix` of errors, for codes where it is always the same. */
const FIXES: Readonly<Record<string, string>> = {
  INVALID_API_KEY: "Send the header `Authorization: Bearer <API key>` with a key of this project that is not revoked.",
  INVALID_SESSION: "Sign in again, or check SVC_ACCESS_TOKEN.",
  ORGANIZATION_NOT_FOUND:
    "Check the header X-Svc-Organization. The token's user must be a member; a headless token must belong to this organization.",
  ORGANIZATION_REQUIRED: "Send the organization's ID in it.",
  PLAN_REQUIRED: "Ask the operator of this service for a plan that includes it; the data stays where it is.",
  FORBIDDEN: "Ask an owner or administrator of the organization to do it, or for a role that permits it.",
  PROJECT_NOT_FOUND: "Check the slug and the organization; GET /projects lists its projects.",
  CUSTOMER_NOT_FOUND:
    "Check the id, which is case-sensitive, and the environment; GET /projects/:project/customers lists all of them.",
  WEBHOOK_NOT_FOUND: "Check the id and the environment; GET /projects/:project/webhooks lists all of them.",
  NOT_FOUND:
    "Check the path: GET /openapi.json lists all. Events are sent to POST /v1/events and POST /v1/events/batch.",
  REQUEST_TIMEOUT: "Send the whole request within 60 seconds. Sending it again is safe with an idempotency key.",
  PAYLOAD_TOO_LARGE: "Send less, or split it into several requests.",
  UNSUPPORTED_MEDIA_TYPE: "Send the header Content-Type: application/json, and the body in UTF-8.",
  HEADERS_TOO_LARGE: "Send fewer or shorter headers; at most 16 KiB are read.",
  MALFORMED_JSON: "Send one JSON document in UTF-8 as the body.",
  VALIDATION_ERROR: "Correct what the error reports, then send the request again.",
  SLUG_TAKEN: "Choose another slug.",
  SERVICE_UNAVAILABLE: "Send the same request again after the number of seconds in Retry-After.",
  INTERNAL_ERROR: "Send the request again; report the request ID if it keeps failing.",
};

/** The error envelope that the service writes for the request id "req". */
export function envelope(code: string, message: string, more: Record<string, unknown> = {}): unknown {
  const fix = FIXES[code];
  const members = fix === undefined ? more : { fix, ...more };
  return { error: { code, message, requestId: "req", docs: `${DOCS_URL}/api#${code}`, ...members } };
}

/** A small model: two states, two segments, one strict event. */
export function snapshot(changes: Partial<Snapshot> = {}): Snapshot {
  return {
    ...EMPTY_SNAPSHOT,
    strictSchema: true,
    events: { login: { properties: { seats: { type: "number" } } } },
    traits: { plan: { type: "string", enum: ["free", "pro"] } },
    lifecycle: {
      initial: "new",
      states: [
        {
          name: "new",
          transitions: [{ to: "active", when: { kind: "count", of: { event: "login" }, operator: "gte", value: 1 } }],
        },
        { name: "active", transitions: [] },
      ],
    },
    segments: [
      { id: "paying", when: { kind: "trait", trait: "plan", operator: "eq", value: "pro" } },
      { id: "chosen" },
    ],
    ...changes,
  };
}

/** The internal id of an environment, for fixtures written by SQL. */
export async function environmentId(sql: Sql, project: string, environment: "test" | "live"): Promise<number> {
  const [row] = await sql<[{ id: number }]>`
    select e.environment_id as id from svc.environments as e join svc.projects as p on p.project_id = e.project_id
    where p.slug = ${project} and e.name = ${environment}`;
  return row.id;
}

/** Numbers an environment's calls and emissions from 1 on, for tests that contain ids; by default they begin at random. */
export async function numberFromOne(sql: Sql, id: number): Promise<void> {
  await sql`select setval(svc.batch_seq(${id}), 1, false), setval(svc.evaluation_seq(${id}), 1, false)`;
}
