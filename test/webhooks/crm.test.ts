import { afterEach, describe, expect, it } from "vitest";
import { call } from "../../src/db/api/call.js";
import { Deliverer } from "../../src/tasks/deliver/deliver.js";
import { sealingKey, sealSecret } from "../../src/webhooks/secret.js";
import { sign } from "../../src/webhooks/send.js";
import { runLog } from "../support/run-log.js";
import {
  attemptsOf,
  createEnvironment,
  createWebhook,
  emit,
  nothingDue,
  SERVICE_SECRET,
  useWebhooks,
} from "./support/fixtures.js";
import { receiversOf, runReceiver } from "./support/guide-receiver.js";
import { startReceiver, status, statuses } from "./support/receiver.js";

const sql = await useWebhooks();
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** The receivers' settings and expected requests: the path, which ends with the customer's id, and the body for two emissions. */
const CRMS = {
  "To HubSpot": {
    env: (url: string) => ({ HUBSPOT_URL: url, HUBSPOT_TOKEN: "t0ken" }),
    path: "/crm/v3/objects/companies/globex%20%26%20co?idProperty=svc_customer_id",
    taken: 200,
    bodies: (page: string) => [
      { properties: { svc_page: page, svc_plan: "pro", svc_lifecycle: "activated" } },
      { properties: { svc_page: page, svc_plan: "pro", svc_health: "at_risk" } },
    ],
  },
  "To Salesforce": {
    env: (url: string) => ({ SALESFORCE_URL: url, SALESFORCE_TOKEN: "t0ken" }),
    path: "/services/data/v61.0/sobjects/Account/Svc_Customer_Id__c/globex%20%26%20co",
    taken: 204,
    bodies: (page: string) => [
      { Name: "Globex", Svc_Page__c: page, Svc_Plan__c: "pro", Svc_Lifecycle__c: "activated" },
      { Name: "Globex", Svc_Page__c: page, Svc_Plan__c: "pro", Svc_Health__c: "at_risk" },
    ],
  },
};

const EMISSIONS = [
  { type: "customer.activated", metadata: { previous_lifecycle: "trial", new_lifecycle: "activated" } },
  {
    type: "health.changed",
    source: "health",
    metadata: { previous_band: "healthy", new_band: "at_risk", overall: 41 },
  },
].map((one) => ({ ...one, metadata: JSON.stringify(one.metadata), customerId: "globex & co", configVersion: 1 }));

it("the guide has a receiver for each of the two CRMs", () => {
  expect(receivers.map(({ title }) => title)).toEqual(Object.keys(CRMS));
});

const receivers = receiversOf("test/webhooks/crm.test.ts");

describe.each(receivers)("the guide's receiver $title", (source) => {
  const crm = CRMS[source.title as keyof typeof CRMS];

  /** Starts the receiver, a webhook that leads to it, and a stand-in for the CRM with this answer. */
  async function connected(...answer: Parameters<typeof startReceiver>) {
    const environment = await createEnvironment(sql);
    await sql`
      insert into svc.config_versions (project_id, version, hash, snapshot, author)
      select project_id, 1, 'h', ${sql.json({ strictSchema: false, display: { name: "n" } })}::json, 'a@b'
      from svc.environments where environment_id = ${environment}`;
    await sql`
      insert into svc.customers (environment_id, customer_id, created_at, traits)
      values (${environment}, 'globex & co', now(), ${sql.json({ n: "Globex", plan: "pro" })}::jsonb)`;
    await call(sql, "store_public_url", "https://svc.example");
    const standIn = await startReceiver(...answer);
    const { webhookId, secret } = await createWebhook(sql, environment, "https://example.com/", ["*"], {
      include: ["name", "url", "traits.plan"],
      maxConcurrency: 1,
    });
    const running = await runReceiver(source, secret, crm.env(new URL(standIn.url).origin));
    closing.push(
      () => standIn.close(),
      () => running.stop(),
    );
    const sealed = sealSecret(secret, sealingKey(SERVICE_SECRET));
    await sql`update svc.webhooks set url = ${running.url}, sealed_secret = ${sealed} where webhook_id = ${webhookId}`;
    return { environment, webhookId, url: running.url, secret, requests: standIn.requests };
  }

  /** Makes the attempts that are due; returns the receiver's statuses. */
  async function deliver(webhookId: string): Promise<(number | null)[]> {
    const deliverer = new Deliverer({ sql, secret: SERVICE_SECRET, allowPrivate: true, logger: runLog() });
    await nothingDue(sql);
    await deliverer.stop();
    return (await attemptsOf(sql, webhookId)).map((row) => row.status_code);
  }

  it("sets the fields of the customer's company by the CRM's API, and has deliveries retried that the CRM refuses", async () => {
    const { environment, webhookId, url, requests } = await connected(statuses(429, crm.taken));
    await emit(sql, environment, EMISSIONS.slice(0, 1));
    expect(await deliver(webhookId)).toEqual([503]);
    await sql`update svc.deliveries set next_attempt_at = now()`;
    await emit(sql, environment, EMISSIONS.slice(1));
    expect(await deliver(webhookId)).toEqual([503, 204, 204]);
    expect(requests.map(({ method, path }) => [method, path])).toEqual(Array(3).fill(["PATCH", crm.path]));
    for (const { headers } of requests) {
      expect(headers).toMatchObject({ authorization: "Bearer t0ken", "content-type": "application/json" });
    }
    const [{ slug }] = await sql<[{ slug: string }]>`
      select o.slug from iam.organizations as o join svc.projects using (organization_id) join svc.environments using (project_id)
      where environment_id = ${environment}`;
    const page = `https://svc.example/console/${slug}/app/test/customer?id=globex%20%26%20co`;
    const order = (body: object) => Number(JSON.stringify(body).includes("at_risk"));
    const [refused, ...bodies] = requests.map(({ body }) => JSON.parse(body) as object);
    expect(bodies.sort((one, other) => order(one) - order(other))).toEqual(crm.bodies(page));
    expect(refused).toEqual(bodies[0]);

    const forged = await fetch(url, { method: "POST", body: requests[0]!.body });
    expect([forged.status, requests.length], "nothing is forwarded without a signature").toEqual([401, 3]);
  });

  it("forwards no test of the webhook, which would make a company", async () => {
    const { url, secret, requests } = await connected(status(crm.taken));
    const data = { customerId: "customer_test", source: "test", metadata: {} };
    const body = JSON.stringify({ type: "customer.activated", data });
    const message = { id: "test_1", timestamp: Math.floor(Date.now() / 1_000), body };
    const headers = {
      "webhook-id": message.id,
      "webhook-timestamp": String(message.timestamp),
      "webhook-signature": sign(message, [secret]),
    };
    const tested = await fetch(url, { method: "POST", headers, body });
    expect([tested.status, requests.length]).toEqual([204, 0]);
  });

  it.runIf(source.title === "To HubSpot")("skips a company that HubSpot does not have", async () => {
    const { environment, webhookId, requests } = await connected(status(404));
    await emit(sql, environment, EMISSIONS.slice(0, 1));
    expect(await deliver(webhookId)).toEqual([204]);
    expect(requests).toHaveLength(1);
  });
});
