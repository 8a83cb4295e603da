import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { pino } from "pino";
import type { Sql } from "postgres";
import { bootstrap } from "../../src/db/calls-admin.js";
import { connect } from "../../src/db/connect.js";
import { createApp, type AppDeps } from "../../src/http/app.js";
import { answerClientErrors } from "../../src/http/client-error.js";
import { newAccessToken } from "../../src/http/credentials.js";
import { Ingestor } from "../../src/http/ingest/ingestor.js";
import { KeyCheck } from "../../src/http/ingest/key-check.js";
import { ingestRoutes } from "../../src/http/ingest/routes.js";
import type { Snapshot } from "../../src/snapshot/types.js";
import { EMPTY_SNAPSHOT } from "../../src/snapshot/types.js";
import { sealingKey } from "../../src/webhooks/secret.js";
import { createDatabase, type TestDatabase } from "./database.js";

/** Who asks: an access token and its organization. */
export interface Actor {
  token: string;
  organizationId: string;
}

export interface RequestOptions {
  by?: Actor;
  headers?: Record<string, string>;
  /** Sent as JSON, or as it is where it is text or bytes. */
  body?: unknown;
}

export interface Reply {
  status: number;
  headers: Headers;
  body: unknown;
}

/** The whole API over real HTTP, on a database of its own, as the role that the service has. */
export interface Service {
  db: TestDatabase;
  url: string;
  /** Sends a request with the id "req" and reads the answer. */
  request(method: string, path: string, options?: RequestOptions): Promise<Reply>;
  /** A new organization with its owner. */
  owner(slug: string): Promise<Actor>;
  /** A token of another member of the actor's organization. */
  member(of: Actor, role: string): Promise<Actor>;
  stop(): Promise<void>;
}

export const DOCS_URL = "https://docs.example.com";

export async function startService(overrides: Partial<AppDeps> = {}): Promise<Service> {
  const db = await createDatabase();
  const sql = connect(db.url, { max: 4, applicationName: "svc test http", role: "svc_http", pipelineMax: 1 });
  const log = overrides.log ?? pino({ level: "silent" });
  const keys = new KeyCheck(sql);
  const app = createApp({
    log,
    docsUrl: DOCS_URL,
    probes: { started: () => true, unready: () => Promise.resolve([]) },
    admin: { sql, sealingKey: sealingKey("a secret of the tests"), allowPrivateWebhooks: false },
    routes: ingestRoutes({
      backend: new Ingestor(sql, { concurrency: 2, waitingMax: 10_000 }),
      requireKey: (keyHash) => keys.require(keyHash),
      log,
    }),
    ...overrides,
  });
  const handle = app.callback();
  const server = createServer((request, response) => void handle(request, response));
  answerClientErrors(server, DOCS_URL);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    db,
    url,
    request: (method, path, options = {}) => send(url + path, method, options),
    owner: (slug) => createOwner(db.sql, slug),
    member: (of, role) => createMember(db.sql, of, role),
    stop: async () => {
      await close(server);
      await sql.end({ timeout: 5 });
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
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === "" ? undefined : JSON.parse(text) };
}

async function createOwner(sql: Sql, slug: string): Promise<Actor> {
  const token = newAccessToken();
  const document = await bootstrap(sql, slug, `owner@${slug}.example`, token.hash);
  return { token: token.text, organizationId: (JSON.parse(document) as { organizationId: string }).organizationId };
}

async function createMember(sql: Sql, of: Actor, role: string): Promise<Actor> {
  const token = newAccessToken();
  await sql`
    with u as (
      insert into iam.users (user_id, email) values (svc.random_id('usr_'), ${`${role}@${of.organizationId}.example`})
      returning user_id
    ), m as (
      insert into iam.memberships (organization_id, user_id, role) select ${of.organizationId}, user_id, ${role} from u
    )
    insert into iam.access_tokens (token_hash, user_id, organization_id, label, expires_at)
    select ${token.hash}, user_id, ${of.organizationId}, 'test', now() + interval '1 day' from u`;
  return { token: token.text, organizationId: of.organizationId };
}

function close(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve, reject) => server.close((error) => (error ? reject(error) : resolve())));
}

/** The envelope as the service writes it for the request id "req". */
export function envelope(code: string, message: string, more: Record<string, unknown> = {}): unknown {
  return { error: { code, message, requestId: "req", docs: `${DOCS_URL}/api#${code}`, ...more } };
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
