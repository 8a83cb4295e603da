import { Agent, request } from "node:http";
import { populate, type PopulationSize } from "../test/support/population.js";
import { startApp } from "./lib/children.js";
import type { BenchDatabase } from "./lib/database.js";
import { latencyOf } from "./lib/measure.js";
import type { Row } from "./lib/report.js";

const P99_MS_MAX = 50;
const WARM_UP = 10;

/** What is asked for, below /projects/bench. The rows of `orientation` have no bound: they take as long as a segment has members. */
const READS: { path: string; orientation?: boolean }[] = [
  { path: "/events" },
  { path: "/events?limit=200" },
  { path: "/events?since=7d" },
  { path: "/events?type=login" },
  { path: "/events?type=account_closed" },
  { path: "/events?customer=customer-000123" },
  { path: "/events?customer=customer-000000" },
  { path: "/events?customer=customer-000000&type=account_closed" },
  { path: "/events?status=processed" },
  { path: "/events?status=pending" },
  { path: "/events?status=pending&type=login&since=7d" },
  { path: "/rule-executions" },
  { path: "/rule-executions?detail=true&limit=200" },
  { path: "/rule-executions?rule=rule_3" },
  { path: "/rule-executions?rule=seldom" },
  { path: "/rule-executions?result=error" },
  { path: "/rule-executions?rule=rule_4&result=fail&since=7d" },
  { path: "/rule-executions?customer=customer-000010" },
  { path: "/rule-executions?customer=customer-000010&superseded=true" },
  { path: "/emissions" },
  { path: "/emissions?since=7d&eventType=segment.entered" },
  { path: "/signals" },
  { path: "/journeys/onboarding" },
  { path: "/customers" },
  { path: "/customers?limit=200" },
  { path: "/customers?lifecycle=active" },
  { path: "/customers?lifecycle=trial" },
  { path: "/customers?segment=paying" },
  { path: "/customers?segment=chosen&lifecycle=active" },
  { path: "/customers?segment=paying&lifecycle=active" },
  { path: "/customers?segment=paying&lifecycle=new" },
  { path: "/customers?inactive=7d" },
  { path: "/customers?inactive=7d&lifecycle=trial" },
  { path: "/customers?inactive=7d&lifecycle=active" },
  { path: "/customers?inactive=7d&segment=paying" },
  { path: "/customers?inactive=7d&segment=paying&lifecycle=new" },
  { path: "/customers?setAside=true" },
  { path: "/customers/customer-000123" },
  { path: "/customers/customer-000123/timeline" },
  { path: "/customers/customer-000123/backlog" },
  { path: "/customers/customer-000123/journeys/onboarding" },
  { path: "/segments/few" },
  { path: "/segments/chosen" },
  { path: "/segments/paying", orientation: true },
  { path: "/segments/everyone", orientation: true },
  { path: "/segments/paying/members?at=30d", orientation: true },
  { path: "/population?at=30d", orientation: true },
];

/** The p99 of each list and detail over HTTP, beside what it should keep to. */
export async function benchReads(database: BenchDatabase, size: PopulationSize, requests: number): Promise<Row[]> {
  await populate(database.sql, database.environmentId, size);
  await database.settle(0);
  const app = await startApp(database, "service");
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  try {
    const rows: Row[] = [];
    for (const { path, orientation } of READS) {
      const latencies: number[] = [];
      for (let n = -WARM_UP; n < requests; n++) {
        const startedAt = performance.now();
        await get(agent, `${app.ready}/projects/bench${path}`, database);
        if (n >= 0) latencies.push(performance.now() - startedAt);
      }
      const latency = latencyOf(latencies)!;
      rows.push({
        work: `GET …${path}`,
        against: `p99 of ${P99_MS_MAX} ms`,
        ours: latency.p99,
        theirs: P99_MS_MAX,
        unit: "ms",
        less: true,
        floor: orientation ? null : 1,
        aim: orientation ? null : 0.4,
        latency: { ours: latency },
      });
    }
    return rows;
  } finally {
    agent.destroy();
    await app.stop();
  }
}

/** Reads an answer to its end; any status but 200 is a failure. */
function get(agent: Agent, url: string, { token, organizationId }: BenchDatabase): Promise<void> {
  const headers = { Authorization: `Bearer ${token}`, "X-Svc-Organization": organizationId };
  return new Promise((resolve, reject) => {
    request(url, { agent, headers }, (response) => {
      response.on("error", reject);
      response.on("end", () =>
        response.statusCode === 200 ? resolve() : reject(new Error(`${url} answered ${response.statusCode}`)),
      );
      response.resume();
    })
      .on("error", reject)
      .end();
  });
}
