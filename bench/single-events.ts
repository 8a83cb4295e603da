import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { BenchDatabase } from "./lib/database.js";
import { nextEvents } from "./lib/events.js";
import { postAll } from "./lib/load.js";
import { measure, type Variant } from "./lib/measure.js";
import type { Row } from "./lib/report.js";

const CONNECTIONS = 64;

/** Single events over 64 connections, beside the same application without the database, and with one call per request. */
export async function benchSingleEvents(database: BenchDatabase, rounds: number, requests: number): Promise<Row[]> {
  const apps = await Promise.all(
    ["service", "constant", "one call per request"].map((name) => startApp(name, database)),
  );
  try {
    const variants = apps.map(({ name, address }): Variant<string[]> => ({
      name,
      prepare: () => nextEvents(requests).map((event) => JSON.stringify(event)),
      run: async (bodies) => {
        await postAll(address, "/v1/events", database.key, bodies, CONNECTIONS);
        return requests;
      },
    }));
    const [service, constant, alone] = await measure(variants, rounds);
    if (!service || !constant || !alone) throw new Error("nothing was measured");
    const work = `single events, ${CONNECTIONS} connections`;
    const common = { work, ours: service.rate, unit: "requests/s" };
    return [
      {
        ...common,
        against: "the same app, the database call replaced by a constant",
        theirs: constant.rate,
        floor: 0.3,
        aim: 0.5,
        rounds: { ours: service.rates, theirs: constant.rates },
      },
      {
        ...common,
        against: "the same app, one call per request",
        theirs: alone.rate,
        floor: 2.5,
        aim: 4,
        rounds: { ours: service.rates, theirs: alone.rates },
      },
    ];
  } finally {
    for (const { process: child } of apps) {
      child.kill();
      await once(child, "exit");
    }
  }
}

interface App {
  name: string;
  address: URL;
  process: ChildProcess;
}

async function startApp(name: string, { url }: BenchDatabase): Promise<App> {
  const child = spawn(process.execPath, [...process.execArgv, new URL("./app.ts", import.meta.url).pathname], {
    env: { ...process.env, BENCH_BACKEND: name, BENCH_DATABASE_URL: url },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  return { name, address: new URL(line), process: child };
}
