import path from "node:path";
import { expect } from "vitest";
import { call } from "../../../src/db/api/call.js";
import { compileProject } from "../../../src/dsl-compiler/index.js";
import { newCredential } from "../../../src/http/request/credentials.js";
import { createDatabase, type TestDatabase } from "../../support/database.js";
import { startServiceProcess } from "../../support/service-process.js";

/** A service with its workers in a separate process, and an organization whose projects have the model of examples/retail. */
export interface Shop {
  db: TestDatabase;
  url: string;
  /** Creates a project, in a separate organization if one is named. Returns the variables for a backfill into its test environment. */
  project(slug: string, organization?: string): Promise<Record<string, string>>;
  stop(): Promise<void>;
}

export async function openShop(): Promise<Shop> {
  const db = await createDatabase();
  // Timers fire soon after late events: no test depends on the settling time.
  const service = await startServiceProcess(db.url, { SVC_SETTLE_SECONDS: "1" });
  const owner = async (slug: string) => {
    const token = newCredential("token");
    const document = await call(db.sql, "bootstrap", slug, `owner@${slug}.example`, token.hash);
    const { organizationId } = JSON.parse(document) as { organizationId: string };
    return { SVC_ACCESS_TOKEN: token.text, SVC_ORGANIZATION: organizationId };
  };
  const acme = await owner("acme");
  const compiled = await compileProject(path.resolve(import.meta.dirname, "../../../examples/retail"));
  if (!compiled.ok) throw new Error("examples/retail does not compile");
  const post = async (address: string, by: typeof acme, body: unknown): Promise<unknown> => {
    const headers = {
      authorization: `Bearer ${by.SVC_ACCESS_TOKEN}`,
      "x-svc-organization": by.SVC_ORGANIZATION,
      "content-type": "application/json",
    };
    const answer = await fetch(service.url + address, { method: "POST", headers, body: JSON.stringify(body) });
    expect(answer.status).toBe(201);
    return answer.json();
  };
  return {
    db,
    url: service.url,
    project: async (slug, organization) => {
      const by = organization === undefined ? acme : await owner(organization);
      const { keys } = (await post("/projects", by, { name: slug, slug })) as { keys: { test: string } };
      await post(`/projects/${slug}/config-versions?env=test`, by, { snapshot: compiled.snapshot });
      return { SVC_API_URL: service.url, SVC_API_KEY: keys.test, ...by };
    },
    stop: async () => {
      await service.stop();
      await db.drop();
    },
  };
}

const HEADER = "invoice_no,customer_id,placed_at,lines,units,amount,country";
const HOUR_MS = 3_600_000;

/** Orders as in orders.csv, by customer and time, from two years in the past. */
export function ordersCsv(rows: number, customers = 50): string {
  const each = Math.ceil(rows / customers);
  const lines = Array.from({ length: rows }, (_, i) => {
    const amount = (((i * 1_237) % 90_000) + 10) / (i % 11 === 0 ? -100 : 100);
    const at = new Date(Date.UTC(2011, 0, 1) + (i % each) * 347 * HOUR_MS + i * 1_000);
    const country = i % 7 === 0 ? '"Korea, Republic of"' : "France";
    return `${i + 1},"c ""${Math.floor(i / each)}""",${at.toISOString()},${1 + (i % 5)},${1 + (i % 40)},${amount.toFixed(2)},${country}`;
  });
  return [HEADER, ...lines, ""].join("\r\n");
}
