import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, expect, it } from "vitest";
import { emissionId } from "../../src/engine/ids.js";
import { startDeliverer } from "../../src/tasks/deliver/deliver.js";
import { createDatabase } from "../support/database.js";
import {
  attemptsOf,
  createEnvironment,
  createWebhook,
  deliveriesOf,
  emit,
  expireLeases,
  makeDue,
  SERVICE_SECRET,
} from "./support/fixtures.js";
import { startReceiver } from "./support/receiver.js";
import { runLog } from "../support/run-log.js";

const EMISSIONS = 300;
const KILLS = 3;
const PROGRAM = fileURLToPath(new URL("support/deliverer-process.ts", import.meta.url));

const db = await createDatabase();
const { sql } = db;
afterAll(() => db.drop());

const backendsOfWorkers = () => sql`
  select from pg_stat_activity where datname = current_database() and application_name = 'svc test worker'`;

/** Delivers in a process of its own until `due` resolves, which then dies without a word. */
async function deliverUntil(due: Promise<void>): Promise<void> {
  const worker = spawn(process.execPath, ["--import", "tsx", PROGRAM, db.url], { stdio: "inherit" });
  const exited = once(worker, "exit");
  await Promise.race([due, exited]);
  worker.kill("SIGKILL");
  await exited;
  // What the server was still doing for it is over, too.
  while ((await backendsOfWorkers()).length > 0) await delay(10);
}

it("workers that are killed again and again lose no emission, and the log has no attempt that was not made", async () => {
  // Every seventh request fails, so that there are repetitions on record, too.
  const receiver = await startReceiver((response, _, n) => response.writeHead(n % 7 === 6 ? 500 : 204).end());
  const environment = await createEnvironment(sql);
  const { webhookId } = await createWebhook(sql, environment, receiver.url);
  const emissions = Array.from({ length: EMISSIONS }, (_, n) => ({ customerId: `customer_${n}` }));
  const seqs = await emit(sql, environment, emissions);

  for (let kill = 1; kill <= KILLS; kill += 1) {
    await deliverUntil(receiver.received((EMISSIONS / (KILLS + 1)) * kill));
    // As later, when the worker is taken for dead.
    await expireLeases(sql);
  }
  const pump = startDeliverer({ sql, secret: SERVICE_SECRET, allowPrivate: true, logger: runLog() });
  while ((await deliveriesOf(sql, webhookId)).some((row) => row.status === "pending")) {
    await makeDue(sql);
    await pump.idle();
  }
  await pump.stop();
  await receiver.close();

  const requests = new Map<string, number>();
  for (const { headers } of receiver.requests) {
    const id = String(headers["svc-event-id"]);
    requests.set(id, (requests.get(id) ?? 0) + 1);
  }
  const idOf = (seq: string) => emissionId(Number(seq));
  expect([...requests.keys()].sort()).toEqual(seqs.map(idOf));

  const deliveries = await deliveriesOf(sql, webhookId);
  expect(deliveries.map((row) => row.status)).toEqual(seqs.map(() => "delivered"));
  for (const { emission_seq, attempts } of deliveries) {
    expect(requests.get(idOf(emission_seq)), idOf(emission_seq)).toBeGreaterThanOrEqual(attempts);
  }
  const log = await attemptsOf(sql, webhookId);
  expect(log).toHaveLength(deliveries.reduce((sum, { attempts }) => sum + attempts, 0));
  expect(log.filter((row) => row.status_code === 204)).toHaveLength(EMISSIONS);
});
