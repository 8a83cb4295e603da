import type { BenchDatabase } from "../lib/database.js";
import { startApp, type Backend } from "../lib/children.js";
import { nextEvents } from "../lib/events.js";
import { post, requestBytes, type Target } from "../lib/load.js";
import { measure, type Variant } from "../lib/measure.js";
import type { Row } from "../lib/report.js";

export const CONNECTIONS = 64;

/** Single events over 64 connections, compared with the same application without the database, and with one call per request. */
export async function benchSingleEvents(database: BenchDatabase, rounds: number, requests: number): Promise<Row[]> {
  const backends: Backend[] = ["service", "constant", "one call per request"];
  const apps = await Promise.all(backends.map((backend) => startApp(database, backend)));
  try {
    const variants = apps.map(({ ready }, index) =>
      // The slow one gets fewer, so that its rounds take about as long.
      singlesVariant(
        backends[index]!,
        [{ address: ready, connections: CONNECTIONS }],
        database.key,
        index === 2 ? requests / 4 : requests,
      ),
    );
    const [service, constant, alone] = await measure(variants, rounds, (round) => database.settle(round));
    if (!service || !constant || !alone) throw new Error("nothing was measured");
    const common = {
      work: `single events, ${CONNECTIONS} connections`,
      ours: service.rate,
      unit: "requests/s",
    };
    return [
      {
        ...common,
        against: "the same app, the database call replaced by a constant",
        theirs: constant.rate,
        floor: 0.3,
        aim: 0.5,
        latency: { ours: service.latency, theirs: constant.latency },
        rounds: { ours: service.rates, theirs: constant.rates },
      },
      {
        ...common,
        against: "the same app, one call per request",
        theirs: alone.rate,
        floor: 2.5,
        aim: 4,
        latency: { ours: service.latency, theirs: alone.latency },
        rounds: { ours: service.rates, theirs: alone.rates },
      },
    ];
  } finally {
    for (const app of apps) await app.stop();
  }
}

/** Single keyed events, one request at a time on each connection. */
export function singlesVariant(name: string, targets: Target[], key: string, requests: number): Variant {
  return {
    name,
    prepare: () => nextEvents(requests).map((event) => requestBytes("/v1/events", key, JSON.stringify(event))),
    run: async (bytes, latencies) => {
      await post(targets, bytes as Buffer[], latencies);
      return requests;
    },
  };
}
