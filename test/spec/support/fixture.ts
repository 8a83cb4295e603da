import { afterAll, beforeAll, expect } from "vitest";
import type { AppDeps } from "../../../src/http/app.js";
import type { StateDocument } from "../../../src/engine/index.js";
import { evaluateEnvironment } from "../../../src/tasks/evaluate/evaluate-environment.js";
import { Models } from "../../../src/evaluation/models.js";
import { startIngest, type IngestFixture } from "../../http/ingest/fixture.js";
import { environmentId, type Reply, type RequestOptions, type ServiceOptions } from "../../support/service.js";
import { runLog } from "../../support/run-log.js";

/** An event as svc_inspect.events shows it, without its id. */
export interface StoredEvent {
  environment: string;
  customerId: string;
  event: string;
  properties: unknown;
  occurredAt: string;
  acceptedAt: string;
  status: string;
}

/** A service with the project "app", and helpers for tests of the specification. */
export interface SpecFixture extends IngestFixture {
  /** Sends a request to the administrative API as the owner of the organization. */
  admin(method: string, path: string, options?: RequestOptions): Promise<Reply>;
  /** The document at a path of the project; the request must succeed. */
  read<T>(path: string): Promise<T>;
  /** The stored event whose id an answer contains. */
  storedEvent(reply: Reply): Promise<StoredEvent>;
  /** Evaluates pending operations and due timers, like a worker. */
  evaluate(environment?: "test" | "live"): Promise<void>;
  /** The computed state of a customer from the administrative API. */
  customer(customerId: string): Promise<StateDocument>;
}

/** Runs `startSpec` for all tests of a file. */
export function useSpec(...options: Parameters<typeof startSpec>): SpecFixture {
  const fixture = {} as SpecFixture;
  beforeAll(async () => void Object.assign(fixture, await startSpec(...options)));
  afterAll(() => fixture.service.stop());
  return fixture;
}

/** Starts the complete service on a new database, with the project "app" and a key for each environment. */
export async function startSpec(overrides: Partial<AppDeps> = {}, options: ServiceOptions = {}): Promise<SpecFixture> {
  const fixture = await startIngest(overrides, options);
  const { service, owner } = fixture;
  const { sql } = service.db;
  const models = new Models();
  const admin = (method: string, path: string, options: RequestOptions = {}): Promise<Reply> =>
    service.request(method, path, { by: owner, ...options });
  const read = async <T>(path: string): Promise<T> => {
    const { status, body } = await admin("GET", `/projects/app/${path}`);
    expect(status, JSON.stringify(body)).toBe(200);
    return body as T;
  };
  return {
    ...fixture,
    admin,
    read,
    storedEvent: async (reply) => {
      const rows = await sql<StoredEvent[]>`
        select environment, customer_id as "customerId", event, properties, svc.iso(occurred_at) as "occurredAt",
          svc.iso(accepted_at) as "acceptedAt", status
        from svc_inspect.events where event_id = ${eventIdOf(reply)}`;
      expect(rows).toHaveLength(1);
      return { ...rows[0]! };
    },
    evaluate: async (environment = "test") => {
      const id = await environmentId(sql, "app", environment);
      await evaluateEnvironment({ sql, models, settleSeconds: 0, logger: runLog() }, id);
    },
    customer: (customerId) => read(`customers/${encodeURIComponent(customerId)}?env=test`),
  };
}

/** The id of the single accepted event, from either endpoint. */
export function eventIdOf(reply: Reply): string {
  const { eventId, eventIds } = reply.body as { eventId?: string; eventIds?: string[] };
  const id = eventId ?? eventIds?.[0];
  if (id === undefined) throw new Error(`no event was accepted: ${JSON.stringify(reply.body)}`);
  return id;
}

/** A document whose compact JSON has this many bytes in UTF-8. */
export function documentOf(bytes: number): Record<string, string> {
  const wide = Math.floor((bytes - 8) / 3);
  return { a: "€".repeat(wide) + "x".repeat(bytes - 8 - 3 * wide) };
}

/** 64 KiB. */
export const DOCUMENT_BYTES = 65_536;

/** A name of this many multi-byte characters. */
export const nameOf = (characters: number): string => "ä".repeat(characters);
