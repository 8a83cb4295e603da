import { pino } from "pino";
import { expect, vi } from "vitest";
import { readConfig } from "../../../src/server/config.js";
import { createLogger } from "../../../src/server/log.js";
import { openHttp, type OpenHttp } from "../../../src/server/http-role.js";
import type { Snapshot } from "../../../src/model/snapshot/types.js";
import { DOCS_URL } from "../../support/service.js";
import { startIngest, type IngestFixture } from "../../http/ingest/fixture.js";
import { startWorker } from "../../support/worker-role.js";

export const METRICS_TOKEN = "the-token-of-the-tests-of-metrics";

/** A sample of a scrape. */
export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

/** A service with the project "app", composed as in its processes, with a worker. */
export interface Observed {
  fixture: IngestFixture;
  http: OpenHttp;
  /** The text of a scrape with the token. */
  text: () => Promise<string>;
  scrape: () => Promise<Sample[]>;
  /** The value of the one sample with these labels; undefined if there is none. */
  value: (name: string, labels?: Record<string, string>) => Promise<number | undefined>;
  /** The warnings and errors that the observed process has logged. */
  logged: Record<string, unknown>[];
  /** Sends a batch to the observed process, and waits until it is evaluated. */
  send: (events: readonly object[]) => Promise<void>;
  stop: () => Promise<void>;
}

const SECRET = "a secret of the tests of metrics, long enough";
const logger = pino({ level: "silent" });

export async function startObserved(model: Partial<Snapshot> = {}): Promise<Observed> {
  const fixture = await startIngest({}, { allowPrivateWebhooks: true });
  const { db } = fixture.service;
  await fixture.deploy(model);
  const { config } = readConfig({
    SVC_PORT: "0",
    SVC_DOCS_URL: DOCS_URL,
    SVC_METRICS_TOKEN: METRICS_TOKEN,
  });
  const logged: Record<string, unknown>[] = [];
  const write = (line: string) => void logged.push(JSON.parse(line) as Record<string, unknown>);
  const http = await openHttp(config, createLogger("warn", { write }));
  http.serve({ databaseUrl: db.url, useRoles: true, secret: SECRET });
  const worker = await startWorker(db.url, logger, "a secret of the tests", true);
  const text = async () => {
    const response = await fetch(`${http.address}/metrics`, {
      headers: { Authorization: `Bearer ${config.metricsToken}` },
    });
    expect(response.status).toBe(200);
    return response.text();
  };
  const scrape = async () => readSamples(await text());
  return {
    fixture,
    http,
    text,
    scrape,
    logged,
    value: async (name, labels = {}) => {
      const wanted = Object.entries(labels);
      const found = (await scrape()).filter(
        (sample) => sample.name === name && wanted.every(([label, value]) => sample.labels[label] === value),
      );
      expect(found.length).toBeLessThanOrEqual(1);
      return found[0]?.value;
    },
    send: async (events) => {
      const response = await fetch(`${http.address}/v1/events/batch`, {
        method: "POST",
        headers: { Authorization: `Bearer ${fixture.keys.test}`, "Content-Type": "application/json" },
        body: JSON.stringify({ events }),
      });
      expect(response.status).toBe(202);
      const waiting = () => db.sql`select from svc.inbox where not_before is null`;
      await vi.waitFor(async () => expect(await waiting()).toEqual([]), { timeout: 20_000 });
    },
    stop: async () => {
      await http.stop();
      await worker.stop();
      await fixture.service.stop();
    },
  };
}

/** Parses Prometheus' text format, as far as the service uses it. */
export function readSamples(text: string): Sample[] {
  return text
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => {
      const [, name = "", labels = "", value = ""] = /^([a-z_A-Z0-9]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
      expect([line, name]).not.toEqual([line, ""]);
      const pairs = [...labels.matchAll(/([a-z_A-Z0-9]+)="((?:[^"\\]|\\.)*)"/g)].map(([, label, text]) => [
        label!,
        text!,
      ]);
      return {
        name,
        labels: Object.fromEntries(pairs) as Record<string, string>,
        value: Number(value.replace("Inf", "Infinity")),
      };
    });
}
