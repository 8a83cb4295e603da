/** `npm run faults:tracking`: 10,000 calls of Segment's and RudderStack's SDKs while the service is killed. Exits with 0, or 1 if something differs. */
import { setTimeout as delay } from "node:timers/promises";
import { connect } from "../../src/db/connect.js";
import { runProgram } from "../../src/demo/failure.js";
import { onService, type RunningService } from "../stage/one-service.js";
import { openProject, sendCalls, type Stored } from "./run.js";

const CALLS = 10_000;
/** The service is killed each time after this many calls. */
const EACH = 1_000;
const MINUTES_MAX = 10;
const POLL_MS = 20;

// The SDKs cannot be stopped.
const overdue = setTimeout(() => {
  process.stderr.write(`not done within ${MINUTES_MAX} minutes\n`);
  process.exit(1);
}, MINUTES_MAX * 60_000);
await runProgram("faults:tracking", (stop) => onService({ program: "faults", stop }, run));
clearTimeout(overdue);

async function run({ service, databaseUrl, ends, signal }: RunningService): Promise<void> {
  const sql = connect(databaseUrl, { max: 2, applicationName: "svc faults tracking" });
  const project = await openProject(sql);
  let storedBefore = 0;
  /** Kills the service once it has stored something since the last kill, so that it is always killed at work. */
  const kill = async (): Promise<void> => {
    const sum = async () => {
      const { events, updates, quarantined } = await project.stored();
      return events + updates + quarantined;
    };
    while ((await sum()) <= storedBefore) await delay(POLL_MS, undefined, { signal });
    const before = ends.length;
    process.kill(service.pid!, "SIGKILL");
    storedBefore = await sum();
    while (ends.length === before) await delay(POLL_MS, undefined, { signal });
    // A service that ends too often is given up; here it is killed on purpose.
    service.restarts = 0;
  };
  const begun = performance.now();
  const sent = await sendCalls({ url: service.url, key: project.key }, CALLS, { each: EACH, kill });
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
}

function compare(what: string, found: Stored, expected: Stored): void {
  const isSame = JSON.stringify(found) === JSON.stringify(expected);
  process.stdout.write(`${isSame ? "ok    " : "DIFFERS"} ${what}: ${JSON.stringify(found)}\n`);
  if (isSame) return;
  process.stdout.write(`        expected ${JSON.stringify(expected)}\n`);
  process.exitCode = 1;
}
