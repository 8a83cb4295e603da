import { readdirSync, readFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Deliverer } from "../../src/tasks/deliver/deliver.js";
import { createAgent } from "../../src/webhooks/agent.js";
import { newSecret, sealingKey, sealSecret, secretOpener } from "../../src/webhooks/secret.js";
import { sendMessage } from "../../src/webhooks/send.js";
import { useDatabase } from "../support/database.js";
import {
  attemptsOf,
  clearWebhooks,
  createEnvironment,
  createWebhook,
  emit,
  nothingDue,
  rotateSecret,
  SERVICE_SECRET,
} from "./support/fixtures.js";
import { missing, receiversOf, runReceiver, webhooksGuide, type RunningReceiver } from "./support/guide-receiver.js";
import { startReceiver, type Receiver } from "./support/receiver.js";
import { runLog } from "../support/run-log.js";

const guideReceivers = receiversOf("test/webhooks/guide.test.ts");
let environment: number;
const closing: (() => Promise<unknown>)[] = [];

const db = await useDatabase();
const { sql } = db;
beforeEach(async () => {
  environment = await createEnvironment(sql);
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  await clearWebhooks(sql);
});

/** Makes the attempts that are due. */
async function deliver(): Promise<void> {
  const pump = new Deliverer({ sql, secret: SERVICE_SECRET, allowPrivate: true, logger: runLog() });
  await nothingDue(sql);
  await pump.stop();
}

const statuses = async (webhookId: string) => (await attemptsOf(sql, webhookId)).map((row) => row.status_code);

it("the guide has three receivers", () => {
  expect(guideReceivers.map(({ title, file }) => [title, file])).toEqual([
    ["In Node.js", "receiver.mjs"],
    ["In Node.js, with a library", "receiver.mjs"],
    ["In Python", "receiver.py"],
  ]);
});

describe.each(guideReceivers)("the guide's receiver $title", (source) => {
  const reason = missing(source);
  beforeEach((context) => {
    if (reason !== null) context.skip(reason);
  });

  /** Starts the receiver with this secret, until the end of the test. */
  async function receiver(secret: string): Promise<RunningReceiver> {
    const running = await runReceiver(source, secret);
    closing.push(() => running.stop());
    return running;
  }

  /** Creates a webhook of `environment` that leads to the receiver, or to a relay in front of it. */
  async function webhook(secret: string, url: string): Promise<string> {
    const { webhookId } = await createWebhook(sql, environment, url);
    await sql`update svc.webhooks set sealed_secret = ${seal(secret)} where webhook_id = ${webhookId}`;
    return webhookId;
  }

  /** Starts the receiver and a webhook with the same secret, which by default leads to it. */
  async function subscribed(urlOf: (running: RunningReceiver) => Promise<string> = async ({ url }) => url) {
    const secret = newSecret();
    const running = await receiver(secret);
    return { secret, running, id: await webhook(secret, await urlOf(running)) };
  }

  const seal = (secret: string) => sealSecret(secret, sealingKey(SERVICE_SECRET));

  it("accepts and handles a delivery, and acknowledges a repetition without handling it", async () => {
    const { running, id } = await subscribed();
    await emit(sql, environment, [{ customerId: "Zoë & Söhne 🎉", metadata: '{"name": "é\\u2028<"}' }]);
    await deliver();
    // As if its acceptance had not been recorded.
    await sql`update svc.deliveries set status = 'pending', finished_at = null, next_attempt_at = now()`;
    await deliver();
    await emit(sql, environment, [{ customerId: "another" }]);
    await deliver();
    expect(await statuses(id)).toEqual([204, 204, 204]);
    expect(await running.stop()).toEqual(["customer.activated Zoë & Söhne 🎉", "customer.activated another"]);
  });

  it("refuses a delivery that was changed in transit, is signed with another secret or not, or is dated five minutes off", async () => {
    const change = (body: string) => body.replace("customer_1", "customer_2");
    const { secret, running, id } = await subscribed(async ({ url }) => (await relay(url, change)).url);
    const other = await webhook(newSecret(), running.url);
    await emit(sql, environment, 1);
    await deliver();
    expect([await statuses(id), await statuses(other)]).toEqual([[401], [401]]);

    const now = String(Math.floor(Date.now() / 1000));
    for (const headers of [
      {},
      { "webhook-id": "emi_1", "webhook-timestamp": now },
      { "webhook-id": "emi_1", "webhook-timestamp": now, "webhook-signature": "v1," },
      { "webhook-id": "emi_1", "webhook-timestamp": now, "webhook-signature": " é v1 v1,AAAA v2,AAAA" },
      { "webhook-id": "emi_1", "webhook-timestamp": "9".repeat(5000), "webhook-signature": "v1,AAAA" },
      { "webhook-id": "emi_1", "webhook-timestamp": "soon", "webhook-signature": "v1,AAAA" },
    ]) {
      const answer = await fetch(running.url, { method: "POST", headers, body: "{}" });
      expect(answer.status, JSON.stringify(headers).slice(0, 200)).toBe(401);
    }

    const agent = createAgent({ allowPrivate: true });
    closing.push(() => agent.destroy());
    const body = JSON.stringify({ id: "emi_1", type: "customer.activated", data: { customerId: "dated" } });
    const sentAt = async (secondsAgo: number) => {
      const message = { url: running.url, id: "emi_1", body, sealedSecret: seal(secret), previousSealedSecret: null };
      const sender = { agent, openSecret: secretOpener(sealingKey(SERVICE_SECRET)) };
      const sent = new Date(Date.now() - secondsAgo * 1000);
      return (await sendMessage(message, sent, { ...sender, timeoutMs: 15_000 })).outcome.statusCode;
    };
    expect([await sentAt(360), await sentAt(-360)]).toEqual([401, 401]);
    expect([await sentAt(240), await sentAt(-240)]).toEqual([204, 204]);
    expect(await running.stop()).toEqual(["customer.activated dated"]);
  });

  it("accepts the old and the new secret during a rotation, and afterwards only the new one", async () => {
    const old = newSecret();
    const before = await receiver(old);
    const id = await webhook(old, before.url);
    const secret = await rotateSecret(sql, id);
    const after = await receiver(secret);
    const sendTo = async ({ url }: RunningReceiver) => {
      await sql`update svc.webhooks set url = ${url} where webhook_id = ${id}`;
      await emit(sql, environment, 1);
      await deliver();
    };
    await sendTo(before);
    await sendTo(after);
    await sql`update svc.webhooks set previous_secret_expires_at = now()`;
    await sendTo(before);
    await sendTo(after);
    expect(await statuses(id)).toEqual([204, 204, 401, 204]);
  });

  it("does not start with an empty secret, with which anyone could sign", async () => {
    await expect(runReceiver(source, "")).rejects.toThrow("does not listen");
  });
});

/** A relay that forwards changed bodies with their headers, and returns the receiver's answers. */
async function relay(url: string, change: (body: string) => string): Promise<Receiver> {
  const started = await startReceiver((response, { body, headers }) => {
    const { host: _, connection: __, "content-length": ___, ...passed } = headers;
    void fetch(url, { method: "POST", headers: passed as Record<string, string>, body: change(body) }).then(
      ({ status }) => response.writeHead(status).end(),
    );
  });
  closing.push(() => started.close());
  return started;
}

describe("docs/webhooks.md", () => {
  it("shows a delivery as it arrives", async () => {
    const target = await startReceiver();
    closing.push(() => target.close());
    await createWebhook(sql, environment, target.url);
    await sql`update svc.environments set name = 'live' where environment_id = ${environment}`;
    const metadata = '{"previous_lifecycle": "trial", "new_lifecycle": "activated"}';
    const causeId = "evt_0000000000000400";
    await emit(sql, environment, [{ customerId: "globex", metadata, causeId, configVersion: 3 }]);
    await deliver();
    const [{ method, path, headers, body }] = target.requests as [(typeof target.requests)[0]];

    const shown = /^```http\n(.*?)^```\n\n```json\n(.*?)^```$/ms.exec(webhooksGuide)!;
    const [start, ...lines] = shown[1]!.trimEnd().split("\n");
    expect(start).toBe(`${method} ${path} HTTP/1.1`);
    const transport = ["host", "connection", "content-length"];
    const sent = Object.entries(headers).filter(([name]) => !transport.includes(name));
    expect(sent.map(([name, value]) => `${name}: ${shape(String(value))}`)).toEqual(lines.map(shape));
    expect(shape(JSON.stringify(JSON.parse(body)))).toBe(shape(JSON.stringify(JSON.parse(shown[2]!))));
  });

  it("has the schedule of attempts", async () => {
    const rows = await sql<{ attempt: number; wait: number; since: number }[]>`
      select n as attempt, w.seconds as wait, sum(w.seconds) over (order by n)::float8 as since
      from generate_series(1, 100) as n
      cross join lateral (select extract(epoch from svc.delivery_delay(n))::float8 as seconds) as w
      where w.seconds is not null
      order by n`;
    const shown = [...webhooksGuide.matchAll(/^\| (\d+) +\| ([^|]*?) +\| ([^|]*?) +\|$/gm)].map(
      ([, attempt, wait, since]) => ({ attempt: Number(attempt), wait: seconds(wait!), since: seconds(since!) }),
    );
    // Seconds are given for the first minute only.
    expect(shown).toEqual(
      rows.map((row) => ({ ...row, since: row.since > 60 ? row.since - (row.since % 60) : row.since })),
    );
  });

  it("has SQL that does the work once, and applies only newer data", async () => {
    const [handle, take] = [...webhooksGuide.matchAll(/^```sql\n(.*?)^```$/gms)].map(([, code]) => code!);
    const [create, ...transaction] = handle!.split("\n\n");
    await sql.unsafe(create!);
    const connection = await sql.reserve();
    const handled = async () => {
      await connection.unsafe(transaction.join("\n"));
      return (await connection`select id from handled_webhooks`).length;
    };
    expect([await handled(), await handled()]).toEqual([1, 1]);
    connection.release();
    await sql`drop table handled_webhooks`;

    await sql`create table accounts (id text primary key, lifecycle text, lifecycle_sequence bigint)`;
    const after = async (sequence: number) => {
      await sql`truncate accounts`;
      await sql`insert into accounts values ('globex', 'trial', ${sequence})`;
      await sql.unsafe(take!);
      return (await sql<{ lifecycle: string }[]>`select lifecycle from accounts`)[0]!.lifecycle;
    };
    expect([await after(655_359), await after(655_360), await after(655_361)]).toEqual(["activated", "trial", "trial"]);
    await sql`drop table accounts`;
  });

  it("has every type that the engine emits", () => {
    const folder = new URL("../../src/engine/", import.meta.url);
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
    const sources = files.map((file) => readFileSync(new URL(file, folder), "utf8"));
    const types = sources.flatMap((text) => [
      ...text.matchAll(/"((?:customer|journey|segment|health|signal)\.[a-z_]+)"/g),
    ]);
    const emitted = new Set([...types.map(([, type]) => type!), "customer.<state>", "webhook.test"]);
    // Rules can wait for it, but it is never delivered.
    for (const trigger of ["health.entered", "health.exited"]) emitted.delete(trigger);
    const table = webhooksGuide.slice(
      webhooksGuide.indexOf("## Event types"),
      webhooksGuide.indexOf("## Who it is about"),
    );
    const documented = [...table.matchAll(/^\| `([a-z_.<>]+)` +\|/gm)].map(([, type]) => type!);
    expect(documented.sort()).toEqual([...emitted].sort());
  });
});

/** A text with the parts that differ from run to run masked. */
function shape(text: string): string {
  return text
    .replace(/emi_[0-9a-f]{16}/g, "emi_…")
    .replace(/v1,[A-Za-z0-9+/]{43}=/g, "v1,…")
    .replace(/svc-webhooks\/[\d.]+/, "svc-webhooks/…")
    .replace(/"sequence":\d+/, '"sequence":…')
    .replace(/\b\d{10}\b/g, "…");
}

/** The seconds of a duration like "2 h 35 min". */
function seconds(text: string): number {
  const units: Record<string, number> = { s: 1, min: 60, h: 3600 };
  return [...text.matchAll(/(\d+) (s|min|h)/g)].reduce(
    (sum, [, count, unit]) => sum + Number(count) * units[unit!]!,
    0,
  );
}
