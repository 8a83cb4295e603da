import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import path from "node:path";
import { rm } from "node:fs/promises";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { aggregate, count, happened, inSegment, snapshotOf, trait } from "../engine/support/builders.js";
import { endServer, temporaryDirectory } from "../support/server.js";
import { declared } from "../tasks/support/environment.js";
import { keepLog } from "../support/run-log.js";

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const PROGRAM = path.join(ROOT, "bin/svc-server.js");

const CUSTOMERS = 20;
const BATCHES = 50;
const BATCH = 100;
const KILLS = 4;

/** Of every part something, and windows that hold more than the engine remembers. */
const MODEL = declared(
  snapshotOf({
    states: {
      new: [["active", count("a", "gte", 10)]],
      active: [["power", inSegment("frequent")]],
      power: [],
    },
    journeys: {
      start: {
        start: happened("login"),
        steps: [
          ["try", count("a", "gte", 5)],
          ["use", aggregate("sum", ["b", "x"], "gte", 20_000)],
        ],
        repeat: true,
      },
    },
    segments: {
      frequent: count("b", "gte", 20),
      pro: trait("plan", "eq", "pro"),
      started: happened("login"),
      picked: null,
    },
    health: {
      components: [
        {
          id: "use",
          weight: 1,
          score: {
            kind: "scale",
            of: { kind: "aggregate", function: "sum", of: { event: "a" }, property: "x", within: "2d" },
            from: 0,
            to: 200_000,
          },
        },
      ],
      bands: [
        { id: "good", from: 50 },
        { id: "poor", from: 0 },
      ],
    },
    rules: {
      pick: {
        on: { kind: "event", of: { event: "b" } },
        cooldown: "6h",
        then: { kind: "addToSegment", segment: "picked" },
      },
      call: { on: { kind: "segmentEntered", segment: "picked" }, then: { kind: "raiseSignal", signal: "hot" } },
    },
    signals: { hot: {} },
  }),
);

let dataDir: string;
const running = new Set<ChildProcess>();

beforeAll(async () => {
  dataDir = await temporaryDirectory();
});
afterAll(async () => {
  await Promise.all([...running].map(kill));
  await endServer(dataDir);
  await rm(dataDir, { recursive: true, force: true });
});

/** The whole run is one backfill: no timer fires before it is over, however long a restart takes. */
const env = () => ({
  ...process.env,
  SVC_DATA_DIR: dataDir,
  SVC_PORT: "0",
  SVC_SETTLE_SECONDS: "3600",
  LOG_LEVEL: "debug",
});

/** Starts the service and waits until it says where it listens. */
async function start(): Promise<{ url: string; child: ChildProcess }> {
  const child = spawn(process.execPath, [PROGRAM, "start"], {
    cwd: ROOT,
    env: env(),
    stdio: ["ignore", "pipe", "pipe"],
  });
  keepLog(child.stderr, `killed-${child.pid}`);
  running.add(child);
  child.once("exit", () => running.delete(child));
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /listening on (\S+)/.exec(line)?.[1];
    if (url !== undefined) return { url, child };
  }
  throw new Error("the service ended before it listened");
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}

/** Batch number `n`: every customer has its events spread over all batches, each with a key. */
function batch(n: number): string {
  const events = Array.from({ length: BATCH }, (_, i) => {
    const position = n * BATCH + i;
    const customerId = `customer-${position % CUSTOMERS}`;
    if (position % 97 === 0) return { type: "identify", customerId, traits: { plan: n % 2 === 0 ? "pro" : "free" } };
    const event = ["login", "a", "b"][Math.floor(position / CUSTOMERS) % 3];
    const timestamp = new Date(Date.parse("2026-01-01T00:00:00Z") + position * 60_000).toISOString();
    return {
      type: "track",
      customerId,
      event,
      properties: { x: position },
      timestamp,
      idempotencyKey: `key-${position}`,
    };
  });
  return JSON.stringify({ events });
}

it(
  "a service that is killed again and again stores every event once and ends in the undisturbed state",
  { timeout: 120_000 },
  async () => {
    const { stdout } = await run(
      process.execPath,
      [PROGRAM, "bootstrap", "--organization", "e2e", "--email", "owner@example.com", "--json"],
      { cwd: ROOT, env: env() },
    );
    const { organizationId, accessToken } = JSON.parse(stdout) as { organizationId: string; accessToken: string };

    let service = await start();
    const admin = async (method: string, route: string, body?: object): Promise<Record<string, unknown>> => {
      const response = await fetch(service.url + route, {
        method,
        headers: {
          authorization: `Bearer ${accessToken}`,
          "x-svc-organization": organizationId,
          "content-type": "application/json",
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`${method} ${route}: ${response.status} ${text}`);
      return JSON.parse(text) as Record<string, unknown>;
    };
    const project = async (slug: string): Promise<string> => {
      const { keys } = (await admin("POST", "/projects", { name: slug, slug })) as { keys: { test: string } };
      await admin("POST", `/projects/${slug}/config-versions?env=test`, { snapshot: MODEL });
      return keys.test;
    };
    /** Sends a batch until it is answered; a connection that broke says nothing about what was stored. */
    const send = async (key: string, body: string): Promise<void> => {
      for (;;) {
        try {
          const response = await fetch(`${service.url}/v1/events/batch`, {
            method: "POST",
            headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
            body,
          });
          if (response.status === 202) return;
          if (response.status < 500 && response.status !== 429)
            throw new Refused(`${response.status} ${await response.text()}`);
        } catch (error) {
          if (error instanceof Refused) throw error;
        }
        await delay(20);
      }
    };
    /** What is derived, once nothing is pending any more; without instants of acceptance and ids of events, which differ. */
    const outcome = async (slug: string) => {
      for (;;) {
        const { events, customers, lifecycle, segments, emissions } = (await admin(
          "GET",
          `/projects/${slug}/overview?env=test`,
        )) as {
          events: { pending: number };
        } & Record<string, unknown>;
        if (events.pending > 0) {
          await delay(50);
          continue;
        }
        const documents = [];
        for (let i = 0; i < CUSTOMERS; i++) {
          const {
            createdAt: _,
            nextDueAt: __,
            ...document
          } = await admin("GET", `/projects/${slug}/customers/customer-${i}?env=test`);
          documents.push(JSON.parse(JSON.stringify(document).replaceAll(/evt_[0-9a-f]+/g, "evt")) as object);
        }
        return { events, customers, lifecycle, segments, emissions, documents };
      }
    };

    const undisturbedKey = await project("undisturbed");
    for (let n = 0; n < BATCHES; n++) await send(undisturbedKey, batch(n));
    const key = await project("disturbed");
    let sent = 0;
    const sender = (async () => {
      for (; sent < BATCHES; sent++) await send(key, batch(sent));
    })();
    for (let kills = 1; kills <= KILLS; kills++) {
      // At a moment of its own each time: while requests and evaluations are under way.
      while (sent < Math.floor((kills * BATCHES) / (KILLS + 1))) await delay(1);
      await kill(service.child);
      service = await start();
    }
    await sender;
    expect(await outcome("disturbed")).toEqual(await outcome("undisturbed"));
  },
);

class Refused extends Error {}
