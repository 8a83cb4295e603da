import { Agent, request } from "node:http";
import { call } from "../src/db/api/call.js";
import { newCredential } from "../src/http/request/credentials.js";
import { populate, type PopulationSize } from "../test/support/population.js";
import { startApp } from "./lib/children.js";
import type { BenchDatabase } from "./lib/database.js";
import { latencyOf } from "./lib/measure.js";
import type { Row } from "./lib/report.js";

const P99_MS_MAX = 50;
const TRENDS_P99_MS_MAX = 150;
const TRAVEL_P99_MS_MAX = 100;
const WARM_UP = 10;
/** Requests for rows of orientation, which may take seconds. */
const ORIENTATION_REQUESTS = 10;

/** One year. */
const YEAR = `from=${new Date(Date.now() - 364 * 86_400_000).toISOString().slice(0, 10)}`;

/** The requests, below /projects/bench. Those for `orientation` have no limit, because their time grows with the data. */
const READS: { path: string; msMax?: number; orientation?: boolean }[] = [
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
  { path: "/journeys/onboarding", orientation: true },
  { path: "/customers" },
  { path: "/customers?limit=200" },
  { path: "/customers?lifecycle=active" },
  { path: "/customers?lifecycle=trial" },
  { path: "/customers?segment=paying" },
  { path: "/customers?segment=chosen&lifecycle=active" },
  { path: "/customers?segment=paying&lifecycle=active" },
  { path: "/customers?segment=power_users&lifecycle=new" },
  { path: "/customers?inactive=7d" },
  { path: "/customers?inactive=7d&lifecycle=trial" },
  { path: "/customers?inactive=7d&lifecycle=active" },
  { path: "/customers?inactive=7d&segment=paying" },
  { path: "/customers?inactive=7d&segment=power_users&lifecycle=new" },
  { path: "/customers?setAside=true" },
  { path: "/customers/customer-000123" },
  { path: "/customers/customer-000123/history" },
  { path: "/customers/customer-000123/timeline" },
  { path: "/customers/customer-000123/backlog" },
  { path: "/customers/customer-000123/journeys/onboarding" },
  { path: "/segments/few" },
  { path: "/segments/chosen" },
  { path: "/segments/paying", orientation: true },
  { path: "/segments/everyone", orientation: true },
  { path: "/segments/paying/members?at=30d", orientation: true },
  { path: "/population?at=30d", orientation: true },
  ...["lifecycle", "flows", "segments", "health", "active", "operations"].map((what) => {
    return { path: `/trends?what=${what}&${YEAR}`, msMax: TRENDS_P99_MS_MAX };
  }),
  { path: "/customers/traveller?at=30d", msMax: TRAVEL_P99_MS_MAX },
  // 50,000 events.
  { path: "/customers/customer-000000?at=30d", orientation: true },
];

/** Pages of the console of the same environment. Each has at most PAGE_KB_MAX. */
const PAGES = [
  "today",
  "today?since=30d",
  "customers",
  "customers?lifecycle=active&sort=health",
  "customers?segment=paying&search=0012",
  "customer?id=customer-000123",
  "customer?id=traveller",
  // 50,000 events.
  "customer?id=customer-000000",
  "lifecycle",
  "lifecycle?every=week&from=" + YEAR.slice("from=".length),
  "transitions",
  "journeys",
  "journey?id=onboarding",
  "journey-runs?id=onboarding",
  "segments",
  "segment?id=paying",
  "health",
  "rules",
  "signals",
  "deliveries",
  "model",
  "version?id=v1",
  "events",
  "violations",
  "emissions",
  "operations",
  "recomputes",
  "audit-log",
  "settings",
  "members",
  "keys",
  "tokens",
];
const PAGE_P99_MS_MAX = 150;
const PAGE_KB_MAX = 100;

/** The p99 of each list and detail over HTTP, and of each page of the console, compared with its limit; `only`: paths that contain one of these texts, or all if empty. */
export async function benchReads(
  database: BenchDatabase,
  size: PopulationSize,
  requests: number,
  only: readonly string[],
): Promise<Row[]> {
  await populate(database.sql, database.environmentId, size);
  await addTrends(database, size);
  await addTraveller(database);
  await database.settle(0);
  const app = await startApp(database, "service");
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  try {
    const rows: Row[] = [];
    const session = await startSession(database);
    const ofPage = { Cookie: `svc_session=${session}` };
    const ofApi = { Authorization: `Bearer ${database.token}`, "X-Svc-Organization": database.organizationId };
    const all = [
      ...READS.map((read) => ({ ...read, address: `/projects/bench${read.path}`, headers: ofApi })),
      ...PAGES.map((page) => {
        const path = `/console/${page}`;
        return {
          path,
          msMax: PAGE_P99_MS_MAX,
          orientation: false,
          address: `/console/bench/bench/test/${page}`,
          headers: ofPage,
        };
      }),
    ];
    for (const { path, msMax = P99_MS_MAX, orientation = false, address, headers } of all) {
      if (only.length > 0 && !only.some((text) => path.includes(text))) continue;
      const latencies: number[] = [];
      let bytes = 0;
      for (let n = orientation ? -1 : -WARM_UP; n < (orientation ? ORIENTATION_REQUESTS : requests); n++) {
        const startedAt = performance.now();
        bytes = await get(agent, app.ready + address, headers);
        if (n >= 0) latencies.push(performance.now() - startedAt);
      }
      const latency = latencyOf(latencies)!;
      const kB = bytes / 1000;
      // Shows progress, because all of them take minutes.
      console.error(`${path}: p99 ${latency.p99.toFixed(1)} ms, ${kB.toFixed(0)} kB`);
      if (headers === ofPage && kB > PAGE_KB_MAX) throw new Error(`${path} has ${kB} kB`);
      rows.push({
        work: `GET …${path}`,
        against: `p99 of ${msMax} ms`,
        ours: latency.p99,
        theirs: msMax,
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

/** Adds scores over a year, five for each customer, and counts all trends as the worker's job does. */
async function addTrends({ sql, environmentId }: BenchDatabase, { customers }: PopulationSize): Promise<void> {
  await sql`
    insert into svc.health_scores (environment_id, customer_id, overall, components, band, scored_at, cause_type, config_version, generation)
    select
      c.environment_id, c.customer_id, c.score, '{"usage": 50}', case when c.score < 40 then 'at_risk' else 'healthy' end,
      now() - (360 - c.n * 70 - abs(hashtext(c.customer_id)) % 70) * interval '1 day', 'timer', 1, c.generation
    from (
      select
        k.environment_id, k.customer_id, k.generation, n,
        (row_number() over (order by k.customer_id, n) * 3137 % 10000) / 100.0 as score
      from svc.customers as k, generate_series(0, 4) as n
      where k.environment_id = ${environmentId}
    ) as c
    order by c.n`;
  // The first call creates the row, the second one counts the history, further ones the accepted operations.
  for (let counted = 1; counted > 0;) counted = await call(sql, "count_trends", environmentId, 50_000);
  const [{ days }] = await sql<[{ days: number }]>`
    select count(distinct day)::integer as days from svc.trend_counts where measure = 'health'`;
  if (days < 300) throw new Error(`the trends of ${customers} customers have only ${days} days`);
}

/** Adds a customer with 10,000 events, evaluated through now; and removes the state of the one with the most events, which is not of the engine. */
async function addTraveller({ sql, environmentId }: BenchDatabase): Promise<void> {
  await sql`update svc.customers set state = null where environment_id = ${environmentId} and customer_id = 'customer-000000'`;
  await sql`
    insert into svc.customers (environment_id, customer_id, created_at, last_event_at, evaluated_through, config_version)
    values (${environmentId}, 'traveller', now() - interval '400 days', now(), now(), 1)`;
  await sql`
    insert into svc.events (environment_id, event_seq, customer_id, event, properties, occurred_at, accepted_at)
    select ${environmentId}, (10000 + n / 1000) * 1024 + n % 1000, 'traveller', case when n % 10 < 3 then 'login' else 'feature_used' end,
      jsonb_build_object('feature', 'reports', 'seconds', n % 600), now() - (10000 - n) * interval '52 minutes',
      now() - (10000 - n) * interval '52 minutes'
    from generate_series(0, 9999) as n`;
}

/** The session cookie of a browser in which the owner is signed in. */
async function startSession({ sql }: BenchDatabase): Promise<string> {
  const { text, hash } = newCredential("session");
  await sql`
    insert into iam.sessions (session_hash, user_id, expires_at)
    select ${hash}, user_id, now() + interval '1 day' from iam.users`;
  return text;
}

/** Reads an answer and returns its size in bytes; rejects for any status but 200. */
function get(agent: Agent, url: string, headers: Readonly<Record<string, string>>): Promise<number> {
  return new Promise((resolve, reject) => {
    request(url, { agent, headers }, (response) => {
      let bytes = 0;
      let begin = "";
      response.on("error", reject);
      response.on("data", (chunk: Buffer) => {
        if (bytes === 0) begin = chunk.toString();
        bytes += chunk.length;
      });
      response.on("end", () =>
        response.statusCode === 200
          ? resolve(bytes)
          : reject(new Error(`${url} answered ${response.statusCode}: ${begin}`)),
      );
    })
      .on("error", reject)
      .end();
  });
}
