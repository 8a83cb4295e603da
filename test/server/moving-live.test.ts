import { createServer } from "node:http";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { exportEnvironment } from "../../src/server/environments/export.js";
import { useDatabase } from "../support/database.js";
import { useDirectory } from "../support/directory.js";
import { violations } from "../support/invariants.js";
import { listen } from "../support/listen.js";
import { startServiceProcess } from "../support/service-process.js";
import { createTenant } from "../support/tenant.js";
import { declared } from "../tasks/support/environment.js";
import { MODEL } from "../tasks/support/population.js";
import { createOrganization, importedId, importFrom } from "./support/moving.js";

// An environment moves between two services during ingestion and deliveries.

const from = await useDatabase();
const to = await useDatabase();
const directory = await useDirectory();

const SECRET = "a secret of the tests, long enough";
const ENV = { SVC_SECRET: SECRET, SVC_WEBHOOK_ALLOW_PRIVATE: "1" };

it("loses and duplicates nothing that senders send and receivers get", async () => {
  const received: string[] = [];
  const receiver = createServer((request, response) => {
    received.push(String(request.headers["svc-event-id"]));
    request.resume().on("end", () => response.writeHead(204).end());
  });
  const receiverUrl = await listen(receiver);
  onTestFinished(() => {
    receiver.close();
  });
  const [old, fresh] = [await startServiceProcess(from.url, ENV), await startServiceProcess(to.url, ENV)];
  onTestFinished(async () => {
    await Promise.all([old.stop(), fresh.stop()]);
  });
  const tenant = await createTenant(from.sql, old.url);
  const body = { snapshot: declared(MODEL), force: true };
  expect((await tenant.admin("POST", "/projects/app/config-versions?env=test", { body })).status).toBe(201);
  const webhook = { url: receiverUrl, eventTypes: ["*"] };
  expect((await tenant.admin("POST", "/projects/app/webhooks?env=test", { body: webhook })).status).toBe(201);

  let target = old.url;
  let isOver = false;
  let acknowledged = 0;
  let refused = 0;
  const send = async (sender: number): Promise<void> => {
    for (let n = 0; !isOver; n++) {
      const event = n % 3 === 0 ? "paid" : "login";
      const operation = { customerId: `c${sender}_${n % 50}`, event, idempotencyKey: `${sender}/${n}` };
      for (;;) {
        const { status } = await tenant.send("/v1/events", operation, { to: target });
        if (status === 202) break;
        expect(status).toBe(503);
        refused++;
        // A sender would wait for ten seconds.
        await delay(20);
      }
      acknowledged++;
    }
  };
  const senders = [1, 2, 3, 4].map(send);
  const until = (count: number) => expect.poll(() => acknowledged, { timeout: 60_000 }).toBeGreaterThan(count);
  await until(150);
  await expect.poll(() => received.length, { timeout: 60_000 }).toBeGreaterThan(20);
  const place = { organization: "acme", project: "app", environment: "test" } as const;
  const file = path.join(directory, "live.export");
  await exportEnvironment(from.url, place, file, () => undefined);
  await createOrganization(to.sql);
  const before = refused;
  await expect.poll(() => refused).toBeGreaterThan(before);
  await importFrom(to, file, "app", SECRET);
  target = fresh.url;
  await until(acknowledged + 150);
  isOver = true;
  await Promise.all(senders);

  const id = await importedId(to.sql, "app");
  const left = async () => {
    const [row] = await to.sql<[object]>`
      select (select count(*)::int from svc.inbox where environment_id = ${id}) as waiting,
        (select count(*)::int from svc.deliveries where environment_id = ${id} and status <> 'delivered') as pending`;
    return { ...row };
  };
  await expect.poll(left, { timeout: 60_000 }).toEqual({ waiting: 0, pending: 0 });
  const [{ events }] = await to.sql<[{ events: number }]>`
    select count(*)::int as events from svc.events where environment_id = ${id}`;
  expect(events).toBe(acknowledged);
  const told = await to.sql<{ id: string }[]>`
    select svc.emission_id(emission_seq) as id from svc.deliveries where environment_id = ${id} order by emission_seq`;
  expect([...received].sort()).toEqual(told.map((row) => row.id));
  expect(await violations(from.sql)).toEqual([]);
  expect(await violations(to.sql)).toEqual([]);
}, 180_000);
