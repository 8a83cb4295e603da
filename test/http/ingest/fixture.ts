import { expect } from "vitest";
import { EMPTY_SNAPSHOT, type Snapshot } from "../../../src/model/snapshot/types.js";
import {
  envelope,
  startService,
  type Actor,
  type Reply,
  type Service,
  type ServiceOptions,
} from "../../support/service.js";
import type { AppDeps } from "../../../src/http/app.js";

/** A service with the project "app", and what tests of ingestion ask of it. */
export interface IngestFixture {
  service: Service;
  owner: Actor;
  keys: { test: string; live: string };
  /** POST /v1/events with the test key. */
  single(body: unknown, headers?: Record<string, string>): Promise<Reply>;
  /** POST /v1/events/batch with the test key; `events` may be any value. */
  batch(events: unknown, headers?: Record<string, string>): Promise<Reply>;
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Reply>;
  deploy(changes: Partial<Snapshot>, environment?: "test" | "live"): Promise<void>;
  /** How many rows ingestion has written, table by table; what a key has used is a row that changes. */
  stored(): Promise<Stored>;
}

export interface Stored {
  events: number;
  traitUpdates: number;
  idempotencyKeys: number;
  inbox: number;
  batches: number;
  violations: number;
}

export async function startIngest(
  overrides: Partial<AppDeps> = {},
  options: ServiceOptions = {},
): Promise<IngestFixture> {
  const service = await startService(overrides, options);
  const owner = await service.owner("acme");
  const project = await service.request("POST", "/projects", { by: owner, body: { name: "App", slug: "app" } });
  const { keys } = project.body as { keys: { test: string; live: string } };
  const post = (path: string, body: unknown, headers: Record<string, string> = {}): Promise<Reply> =>
    service.request("POST", path, { body, headers: { Authorization: `Bearer ${keys.test}`, ...headers } });
  return {
    service,
    owner,
    keys,
    post,
    single: (body, headers) => post("/v1/events", body, headers),
    batch: (events, headers) => post("/v1/events/batch", { events }, headers),
    deploy: async (changes, environment = "test") => {
      const reply = await service.request("POST", `/projects/app/config-versions?env=${environment}`, {
        by: owner,
        body: { snapshot: { ...EMPTY_SNAPSHOT, ...changes }, force: true },
      });
      expect(reply.status).toBe(201);
    },
    stored: async () => {
      const [row] = await service.db.sql<[Stored]>`
        select
          (select count(*) from svc.events)::integer as events,
          (select count(*) from svc.trait_updates)::integer as "traitUpdates",
          (select count(*) from svc.idempotency_keys)::integer as "idempotencyKeys",
          (select count(*) from svc.inbox)::integer as inbox,
          (select count(*) from svc.ingest_batches)::integer as batches,
          (select count(*) from svc.schema_violations)::integer as violations`;
      return { ...row };
    },
  };
}

export const EVENT_ID = expect.stringMatching(/^evt_[0-9a-f]{16}$/) as string;

/** The answer to a single event that was taken. */
export function taken(duplicate = false, eventId: string = EVENT_ID): unknown {
  return { eventId, accepted: true, queued: true, duplicate };
}

/** Expects a refusal with exactly this envelope, and the tables as they were before. */
export async function expectRefusal(
  fixture: IngestFixture,
  request: () => Promise<Reply>,
  status: number,
  code: string,
  message: string,
  more: Record<string, unknown> = {},
): Promise<Reply> {
  const before = await fixture.stored();
  const reply = await request();
  expect({ status: reply.status, body: reply.body }).toEqual({ status, body: envelope(code, message, more) });
  expect(await fixture.stored()).toEqual(before);
  return reply;
}

/** A JSON text with one member replaced by a raw literal, for what JSON.stringify cannot write. */
export function eventText(properties: string): string {
  return `{"customerId":"c","event":"e","properties":${properties}}`;
}
