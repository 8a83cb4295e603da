import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { latencyOf, median } from "./lib/measure.js";
import type { Row } from "./lib/report.js";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const REPEATS = 5;

/** Command lines, and the limit of each from the start of its process to its end, in ms, without the service's time. */
const LINES: readonly [line: string, milliseconds: number][] = [
  ["--help", 200],
  ["customers inspect --help", 200],
  ["whoami", 400],
  ["customers list", 400],
  ["events list", 400],
];

/** Answered at once, so that only the time of the command line is measured. */
const ANSWERS: Readonly<Record<string, unknown>> = {
  "/whoami": {
    user: { email: "ada@example.com" },
    organization: { id: "org_0", slug: "acme", role: "owner" },
  },
  "/organizations": { data: [{ id: "org_0", slug: "acme", role: "owner" }], nextCursor: null },
  "/projects/shop/customers": { data: Array.from({ length: 50 }, (_, n) => customer(n)), nextCursor: null },
  "/projects/shop/events": { data: Array.from({ length: 20 }, (_, n) => event(n)), nextCursor: null },
};

function customer(n: number) {
  const at = "2026-03-02T10:00:00.000Z";
  return {
    customerId: `customer_${n}`,
    lifecycle: "activated",
    lifecycleEnteredAt: at,
    segments: ["power_users"],
    health: { overall: 70, components: {}, band: "healthy" },
    journeys: [],
    lastEventAt: at,
    createdAt: at,
    setAside: null,
  };
}

function event(n: number) {
  const at = "2026-03-02T10:00:00.000Z";
  const id = `evt_${n.toString(16).padStart(16, "0")}`;
  return {
    id,
    customerId: "c",
    event: "login",
    properties: { seats: n },
    occurredAt: at,
    acceptedAt: at,
    status: "processed",
  };
}

/** How long commands of `svc` take, compared with their limits. An empty Node.js process is a row for orientation. */
export async function benchCommandLine(rounds: number): Promise<Row[]> {
  const server = createServer((request, response) => {
    const document = ANSWERS[new URL(request.url!, "http://localhost").pathname];
    response.writeHead(document === undefined ? 404 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(document ?? {}));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const env = {
    PATH: process.env["PATH"],
    SVC_API_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    SVC_ACCESS_TOKEN: "token",
    SVC_ORGANIZATION: "org_0",
  };
  const bare = { work: "node -e 0", limit: null, argv: ["-e", "0"] };
  const commands = LINES.map(([line, limit]) => ({
    work: `svc ${line}`,
    limit,
    argv: [
      "bin/svc.js",
      ...line.split(" "),
      ...(line.includes("--help") || line === "whoami" ? [] : ["--project", "shop"]),
    ],
  }));
  const all = [bare, ...commands].map((one) => ({ ...one, times: [] as number[] }));
  try {
    for (let round = 0; round <= rounds * REPEATS; round++) {
      for (const { argv, times } of round % 2 === 0 ? all : all.toReversed()) {
        const milliseconds = await timed(argv, env);
        if (round > 0) times.push(milliseconds);
      }
    }
  } finally {
    server.close();
  }
  return all.map(({ work, limit, times }) => ({
    work,
    against: limit === null ? "itself, for orientation" : `${limit} ms`,
    ours: median(times),
    theirs: limit ?? median(times),
    unit: "ms",
    less: true,
    floor: limit === null ? null : 1,
    aim: limit === null ? null : 0.75,
    latency: { ours: latencyOf(times) },
    rounds: { milliseconds: times },
  }));
}

/** From the start of a process to its end, in ms. */
async function timed(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, argv, { cwd: ROOT, env, stdio: ["ignore", "ignore", "inherit"] });
  const [code] = (await once(child, "exit")) as [number | null];
  if (code !== 0) throw new Error(`${argv.join(" ")} ended with ${code}`);
  return performance.now() - startedAt;
}
