/** `npm run faults:tracking`: 10,000 calls of Segment's and RudderStack's SDKs while the service is killed. Exits with 0, or 1 if something differs. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { connect } from "../../src/db/connect.js";
import { startEmbedded } from "../../src/db/embedded/embedded.js";
import { migrate } from "../../src/db/migrate/migrate.js";
import { openProject, sendCalls, type Stored } from "./run.js";

const CALLS = 10_000;
/** The service is killed each time after this many calls. */
const EACH = 1_000;
const MINUTES_MAX = 10;

const root = path.resolve(import.meta.dirname, "../..");
const directory = await mkdtemp(path.join(tmpdir(), "svc-tracking-"));
await chmod(directory, 0o711);
const cluster = await startEmbedded(directory);
const overdue = setTimeout(() => {
  process.stderr.write(`not done within ${MINUTES_MAX} minutes\n`);
  process.exit(1);
}, MINUTES_MAX * 60_000);

let service: ChildProcess | undefined;
let port = "0";
/** Starts the service, at the same address as before; resolves once it listens. */
async function start(): Promise<string> {
  const env = {
    PATH: process.env["PATH"],
    DATABASE_URL: cluster.url,
    SVC_PORT: port,
    SVC_SECRET: "a secret of the faults, long enough",
    LOG_LEVEL: "fatal",
  };
  const child = spawn(process.execPath, [path.join(root, "bin/svc-server.js"), "start"], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  service = child;
  for await (const line of createInterface({ input: child.stdout })) {
    const [, url] = /listening on (\S+)/.exec(line) ?? [];
    if (url === undefined) continue;
    child.stdout.resume();
    port = new URL(url).port;
    return url;
  }
  throw new Error("the service ended before it listened");
}

let storedBefore = 0;
/** Kills the service once it has stored something since the last kill, so that it is always killed at work. */
async function kill(stored: () => Promise<Stored>): Promise<void> {
  const sum = async () => {
    const { events, updates, quarantined } = await stored();
    return events + updates + quarantined;
  };
  while ((await sum()) <= storedBefore) await delay(20);
  const ended = once(service!, "exit");
  service!.kill("SIGKILL");
  await ended;
  storedBefore = await sum();
  await start();
}

function compare(what: string, found: Stored, expected: Stored): void {
  const isSame = JSON.stringify(found) === JSON.stringify(expected);
  process.stdout.write(`${isSame ? "ok    " : "DIFFERS"} ${what}: ${JSON.stringify(found)}\n`);
  if (isSame) return;
  process.stdout.write(`        expected ${JSON.stringify(expected)}\n`);
  process.exitCode = 1;
}

try {
  await migrate(cluster.url);
  const sql = connect(cluster.url, { max: 2, applicationName: "svc faults tracking" });
  const project = await openProject(sql);
  const url = await start();
  const begun = performance.now();
  const sent = await sendCalls({ url, key: project.key }, CALLS, {
    each: EACH,
    kill: () => kill(project.stored),
  });
  const seconds = Math.round((performance.now() - begun) / 1000);
  process.stdout.write(`${CALLS} calls in ${seconds} s, ${CALLS / EACH} kills\n`);
  compare("stored", await project.stored(), sent);
  await project.release();
  const events = sent.events + sent.quarantined;
  compare("released", await project.stored(), { ...sent, events, numbers: events, quarantined: 0 });
  const broken = await sql`select invariant from svc_inspect.invariants()`;
  process.stdout.write(`${broken.length} invariants are broken\n`);
  if (broken.length > 0) process.exitCode = 1;
  await sql.end();
} finally {
  clearTimeout(overdue);
  service?.kill("SIGKILL");
  await cluster.stop();
  await rm(directory, { recursive: true, force: true });
}
