import { readFileSync } from "node:fs";
import type { Sql } from "postgres";
import { beforeAll, beforeEach, expect, it } from "vitest";
import { call } from "../../../src/db/api/call.js";
import { useSpec } from "../../spec/support/fixture.js";
import { snapshot } from "../../support/service.js";
import { claim, makeDue } from "../../webhooks/support/fixtures.js";

interface Told {
  id: string;
  type: string;
  data: { customerId: string; customer?: Record<string, unknown> };
}

const fixture = useSpec();
let sql: Sql;
beforeAll(async () => {
  sql = fixture.service.db.sql;
  await call(sql, "store_public_url", "https://svc.example");
  await fixture.deploy(
    snapshot({
      strictSchema: false,
      traits: {
        name: { type: "string" },
        owner: { type: "string" },
        plan: { type: "string" },
        seats: { type: "number" },
      },
      segments: [],
      display: { name: "name", owner: "owner" },
      rules: [
        {
          id: "grow",
          on: { kind: "event", of: { event: "login" } },
          when: { kind: "trait", trait: "seats", operator: "gte", value: 10 },
          then: { kind: "emit", type: "upsell.ready", message: "{name} has {seats} seats" },
        },
      ],
    }),
  );
});
beforeEach(() => sql`delete from svc.webhooks`);

/** The part of a body that the guide shows. */
const documented: unknown = JSON.parse(
  /compares this with a real delivery -->\s+```json\n(.+?)```/s.exec(readFileSync("docs/webhooks.md", "utf8"))![1]!,
);

const hooks = "/projects/app/webhooks";
async function webhook(settings: object): Promise<string> {
  const body = { url: "https://example.com/hook", eventTypes: ["upsell.ready"], ...settings };
  const reply = await fixture.admin("POST", hooks, { body });
  expect(reply.status, JSON.stringify(reply.body)).toBe(201);
  return (reply.body as { id: string }).id;
}

/** Creates and evaluates a customer with traits and a login. */
async function evaluated(customerId: string, traits: object): Promise<void> {
  await fixture.batch([
    { type: "identify", customerId, traits },
    { customerId, event: "login" },
  ]);
  await fixture.evaluate();
}

/** The bodies that would be posted to a webhook now. */
const bodies = async (id: string) => {
  const claimed = await claim(sql, "w", 100);
  return claimed.filter(({ webhookId }) => webhookId === id).map(({ body }) => body);
};
const parsed = (body: string | undefined) => JSON.parse(body!) as Told;
const identify = async (customerId: string, traits: object) => {
  await fixture.batch([{ type: "identify", customerId, traits }]);
  await fixture.evaluate();
};

it("a delivery includes the rule's facts and the customer's name, owner and traits", async () => {
  const id = await webhook({
    include: ["name", "owner", "url", "facts", "traits.plan", "traits.seats"],
    eventTypes: ["*"],
  });
  await evaluated("globex", { name: "Globex", owner: "ann@acme.example", plan: "pro", seats: 12 });
  const all = (await bodies(id)).map(parsed);
  const { customerId, customer } = all.find(({ type }) => type === "upsell.ready")!.data;
  expect({ customerId, customer }).toEqual(documented);
  const active = all.find(({ type }) => type === "customer.active")!;
  expect(active.data.customer, "no rule made it").toEqual({ ...customer, facts: undefined });
});

it("a rule's message is posted to a chat, and sent to a backend as metadata", async () => {
  const [slack, backend] = [await webhook({ format: "slack" }), await webhook({})];
  await evaluated("acme", { name: "Acme & Sons", seats: 11 });
  await identify("acme", { name: "Other", seats: 5 });
  const page = "https://svc.example/console/acme/app/test/customer?id=acme";
  const [text] = await bodies(slack);
  expect(JSON.parse(text!)).toEqual({ text: `Acme &amp; Sons has 11 seats\n<${page}|Open in the console>` });
  const [body] = await bodies(backend);
  expect(parsed(body).data).toMatchObject({ metadata: { rule: "grow", message: "Acme & Sons has 11 seats" } });
  const { id } = parsed(body);
  const delivery = await fixture.admin("GET", `${hooks}/${slack}/deliveries/${id}`);
  expect(delivery.body).toMatchObject({ id, body: JSON.parse(text!) as object });
});

it("a body stays as first written, whatever changes at the customer and the webhook", async () => {
  const id = await webhook({ include: ["name", "traits.plan"] });
  const plain = await webhook({});
  await evaluated("initech", { name: "Initech", plan: "pro", seats: 10 });
  const [[body], [bare]] = [await bodies(id), await bodies(plain)];
  expect(parsed(body).data.customer).toEqual({ name: "Initech", traits: { plan: "pro" } });
  expect(parsed(bare).data).not.toHaveProperty("customer");

  await identify("initech", { name: "Initrode", plan: null });
  await fixture.admin("PATCH", `${hooks}/${id}`, { body: { include: [] } });
  await fixture.admin("PATCH", `${hooks}/${plain}`, { body: { include: ["name"] } });
  const delivery = `${hooks}/${id}/deliveries/${parsed(body).id}`;
  for (const hook of [id, plain]) {
    const resent = await fixture.admin("POST", `${hooks}/${hook}/deliveries/${parsed(body).id}/resend`);
    expect(resent.status).toBe(202);
    await fixture.admin("POST", `${hooks}/${hook}/resend`, { body: { since: "1h", statuses: ["pending", "missing"] } });
  }
  await makeDue(sql);
  expect([await bodies(id), await bodies(plain)]).toEqual([[body], [bare]]);
  expect((await fixture.admin("GET", delivery)).body).toMatchObject({ body: parsed(body) });
});

it("a delivery that is added later includes the customer's data of then", async () => {
  await evaluated("hooli", { name: "Hooli", seats: 10 });
  const [one] = await sql<[{ id: string }]>`
    select svc.emission_id(emission_seq) as id from svc.emissions where customer_id = 'hooli' and event_type = 'upsell.ready'`;
  const [id, other] = [await webhook({ include: ["name"] }), await webhook({ include: ["name"] })];
  // As if they had existed, disabled, at the time of the emission.
  await sql`update svc.webhooks set created_at = now() - interval '1 hour'`;
  await identify("hooli", { name: "Hooli XYZ" });
  await fixture.admin("POST", `${hooks}/${id}/deliveries/${one.id}/resend`);
  await fixture.admin("POST", `${hooks}/${other}/resend`, { body: { since: "50m", statuses: ["missing"] } });
  for (const hook of [id, other]) {
    const received = (await bodies(hook)).map(parsed).filter(({ data }) => data.customerId === "hooli");
    expect(received.map(({ data }) => data.customer)).toEqual([{ name: "Hooli XYZ" }]);
  }
});

it("is in the customer's export, and is erased with the customer", async () => {
  const id = await webhook({ include: ["name"] });
  await evaluated("umbrella", { name: "Umbrella", seats: 10 });
  await evaluated("soylent", { name: "Soylent", seats: 10 });
  const exported = await fixture.admin("GET", "/projects/app/customers/umbrella/export");
  expect(exported.body).toMatchObject({ deliveries: [{ body: { data: { customer: { name: "Umbrella" } } } }] });
  expect((await fixture.admin("DELETE", "/projects/app/customers/umbrella")).status).toBe(200);
  const kept = await sql`select body from svc.delivery_bodies where webhook_id = ${id}`;
  expect(kept.map(({ body }) => parsed(body as string).data.customer)).toEqual([{ name: "Soylent" }]);
});

it("is deleted with its webhook", async () => {
  const id = await webhook({ include: ["name"] });
  await evaluated("cyberdyne", { name: "Cyberdyne", seats: 10 });
  await fixture.admin("DELETE", `${hooks}/${id}`);
  await sql`update svc.webhooks set deleted_at = now() - interval '2 hours' where webhook_id = ${id}`;
  let removed = 0;
  for (let rows = 1; rows > 0; removed += rows) rows = await call(sql, "sweep_webhooks", 30, 1);
  expect(removed, "the body, the delivery and the webhook").toBe(3);
  expect(await sql`select from svc.delivery_bodies where webhook_id = ${id}`).toEqual([]);
});
