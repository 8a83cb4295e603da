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

/** A service with the project "app", and what tests of the specification ask of it. */
export interface SpecFixture extends IngestFixture {
  /** A request to the administrative API by the owner of the organization. */
  admin(method: string, path: string, options?: RequestOptions): Promise<Reply>;
  /** What it answers of the project, where it has to succeed. */
  read<T>(path: string): Promise<T>;
  /** The stored event that an answer gave the id of. */
  storedEvent(reply: Reply): Promise<StoredEvent>;
  /** Does what a worker does: evaluates all that waits or is due. */
  evaluate(environment?: "test" | "live"): Promise<void>;
  /** The computed state of a customer, as the administrative API answers it. */
  customer(customerId: string): Promise<StateDocument>;
}

/** What `startSpec` starts, for the tests of a file. */
export function useSpec(...options: Parameters<typeof startSpec>): SpecFixture {
  const fixture = {} as SpecFixture;
  beforeAll(async () => void Object.assign(fixture, await startSpec(...options)));
  afterAll(() => fixture.service.stop());
  return fixture;
}

/** Starts the whole service on a database of its own, with the project "app" and a key to each of its environments. */
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

/** The id of the one event that was accepted, whichever endpoint answered. */
export function eventIdOf(reply: Reply): string {
  const { eventId, eventIds } = reply.body as { eventId?: string; eventIds?: string[] };
  const id = eventId ?? eventIds?.[0];
  if (id === undefined) throw new Error(`no event was accepted: ${JSON.stringify(reply.body)}`);
  return id;
}

/** A document whose compact JSON has so many bytes in UTF-8. */
export function documentOf(bytes: number): Record<string, string> {
  const wide = Math.floor((bytes - 8) / 3);
  return { a: "€".repeat(wide) + "x".repeat(bytes - 8 - 3 * wide) };
}

/** 64 KiB. */
export const DOCUMENT_BYTES = 65_536;

/** A name of so many characters that are more than one byte. */
export const nameOf = (characters: number): string => "ä".repeat(characters);
