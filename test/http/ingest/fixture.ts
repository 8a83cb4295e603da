import { afterAll, expect } from "vitest";
import type { AppDeps } from "../../../src/http/app.js";
import { hashCredential } from "../../../src/http/request/credentials.js";
import { EMPTY_SNAPSHOT, type Snapshot } from "../../../src/model/snapshot/types.js";
import { startService, type Reply, type ServiceOptions } from "../../support/service.js";
import { expectRefused, type Refusal } from "./answers.js";

export type IngestFixture = Awaited<ReturnType<typeof startIngest>>;

/** Runs `startIngest` until the end of the file. */
export async function useIngest(...given: Parameters<typeof startIngest>): Promise<IngestFixture> {
  const fixture = await startIngest(...given);
  afterAll(() => fixture.service.stop());
  return fixture;
}

/** Starts a service with the project "app", with helpers for tests of ingestion. */
export async function startIngest(overrides: Partial<AppDeps> = {}, options: ServiceOptions = {}) {
  const service = await startService(overrides, options);
  const owner = await service.owner("acme");
  const project = await service.request("POST", "/projects", { by: owner, body: { name: "App", slug: "app" } });
  expect(project.status).toBe(201);
  const { keys } = project.body as { keys: { test: string; live: string } };
  const { sql } = service.db;
  const post = (path: string, body: unknown, headers: Record<string, string> = {}): Promise<Reply> =>
    service.request("POST", path, { body, headers: { Authorization: `Bearer ${keys.test}`, ...headers } });
  /** POST /v1/events with the test key. */
  const single = (body: unknown, headers?: Record<string, string>) => post("/v1/events", body, headers);
  /** The number of rows that ingestion has written, by table, without the usage of keys, whose rows are updated. */
  const stored = async () => {
    type Table = "events" | "traitUpdates" | "idempotencyKeys" | "inbox" | "batches" | "violations";
    const [row] = await sql<[Record<Table, number>]>`
      select
        (select count(*) from svc.events)::integer as events,
        (select count(*) from svc.trait_updates)::integer as "traitUpdates",
        (select count(*) from svc.idempotency_keys)::integer as "idempotencyKeys",
        (select count(*) from svc.inbox)::integer as inbox,
        (select count(*) from svc.ingest_batches)::integer as batches,
        (select count(*) from svc.schema_violations)::integer as violations`;
    return { ...row };
  };
  /** Expects exactly this refusal, and nothing stored. */
  const refuses = async (request: () => Promise<Reply>, status: number, refusal: Refusal): Promise<Reply> => {
    const before = await stored();
    const reply = await request();
    expectRefused(reply, status, refusal);
    expect(await stored()).toEqual(before);
    return reply;
  };
  return {
    ...{ service, owner, keys, post, single, refuses, stored },
    /** Expects this refusal of an operation, a value or JSON text, alone and in a batch; `refusal` gets the prefix of field names. */
    refusesOperation: async (operation: unknown, status: number, refusal: (prefix: string) => Refusal) => {
      const text = typeof operation === "string" ? operation : JSON.stringify(operation);
      await refuses(() => single(text), status, refusal(""));
      await refuses(() => post("/v1/events/batch", batchOf(EVENT, text, EVENT)), status, refusal("events[1]."));
    },
    /** POST /v1/events/batch with the test key; `events` may be any value. */
    batch: (events: unknown, headers?: Record<string, string>) => post("/v1/events/batch", { events }, headers),
    /** The hash of a new key of test. */
    newKey: async () => {
      const request = { by: owner, body: { name: "One of many" } };
      const { body } = await service.request("POST", "/projects/app/keys?env=test", request);
      return hashCredential((body as { secret: string }).secret);
    },
    deploy: async (changes: Partial<Snapshot>, environment: "test" | "live" = "test") => {
      const reply = await service.request("POST", `/projects/app/config-versions?env=${environment}`, {
        by: owner,
        body: { snapshot: { ...EMPTY_SNAPSHOT, ...changes }, force: true },
      });
      expect(reply.status, JSON.stringify(reply.body)).toBe(201);
    },
  };
}

export const EVENT_ID = expect.stringMatching(/^evt_[0-9a-f]{16}$/) as string;

/** The answer to an accepted single event. */
export function taken(duplicate = false, eventId: string = EVENT_ID): unknown {
  return { eventId, accepted: true, queued: true, duplicate };
}

/** The smallest event. */
export const EVENT = '{"customerId":"c","event":"e"}';

/** The body of a batch of operations as JSON texts. */
export const batchOf = (...operations: string[]): string => `{"events":[${operations.join(",")}]}`;

/** A JSON text with one member replaced by a raw literal, for what JSON.stringify cannot write. */
export function eventText(properties: string): string {
  return `{"customerId":"c","event":"e","properties":${properties}}`;
}
