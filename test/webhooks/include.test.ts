import { expect, test } from "vitest";
import { call } from "../../src/db/api/call.js";
import { claim, createEnvironment, createWebhook, emit, emitWithin, useWebhooks } from "./support/fixtures.js";

const sql = await useWebhooks();

const URL = "https://example.com/hooks";
const CUSTOMER = "globex & söhne/1";

/** Creates an environment with a customer and a version with display settings. */
async function populated(traits: object): Promise<number> {
  const environment = await createEnvironment(sql);
  const display = { name: "company_name", owner: "owner_email", renewal: "renews_on" };
  await sql`
    insert into svc.config_versions (project_id, version, hash, snapshot, author)
    select project_id, 1, 'h', ${sql.json({ strictSchema: false, display })}::json, 'a@b'
    from svc.environments where environment_id = ${environment}`;
  await sql`
    insert into svc.customers (environment_id, customer_id, created_at, traits)
    values (${environment}, ${CUSTOMER}, now(), ${JSON.stringify(traits)}::text::jsonb)`;
  await call(sql, "store_public_url", "https://svc.example");
  return environment;
}

/** The body of an emission about the customer for a webhook with this `include`. */
async function bodyOf(environment: number, include: string[], metadata = "{}"): Promise<string> {
  const { webhookId } = await createWebhook(sql, environment, URL, ["*"], { include });
  await emit(sql, environment, [{ customerId: CUSTOMER, configVersion: 1, metadata }]);
  return (await claim(sql, "w", 100)).find((claimed) => claimed.webhookId === webhookId)!.body;
}

const customerIn = (body: string) =>
  JSON.stringify((JSON.parse(body) as { data: { customer: unknown } }).data.customer);

test("a body has the requested members that exist, in a fixed order", async () => {
  const traits = { company_name: " Globex ", renews_on: "2026-12-01", owner_email: " ", plan: "pro", seats: 12 };
  const environment = await populated(traits);
  const body = await bodyOf(
    environment,
    "traits.seats traits.none url renewal owner name traits.plan facts".split(" "),
  );
  const [{ slug }] = await sql<[{ slug: string }]>`
    select o.slug from iam.organizations as o join svc.projects using (organization_id) join svc.environments using (project_id)
    where environment_id = ${environment}`;
  const customer = {
    name: "Globex",
    renewal: "2026-12-01",
    url: `https://svc.example/console/${slug}/app/test/customer?id=globex%20%26%20s%C3%B6hne%2F1`,
    traits: { seats: 12, plan: "pro" },
  };
  expect(customerIn(body)).toBe(JSON.stringify(customer));
  await sql`delete from svc.public_url`;
  expect(customerIn(await bodyOf(environment, ["url"])), "the service's address is unknown").toBe("{}");
});

test("apart from the requested members, a body is byte-identical", async () => {
  const environment = await populated({ seats: 1 });
  const { webhookId } = await createWebhook(sql, environment, URL);
  const asked = await bodyOf(environment, ["traits.seats"], '{"n": 12345678901234567890.10}');
  const [plain] = (await claim(sql, "w", 100)).filter((claimed) => claimed.webhookId === webhookId);
  expect(asked.startsWith(`${plain!.body.slice(0, -2)}, "customer" : `)).toBe(true);
  expect(customerIn(asked)).toBe('{"traits":{"seats":1}}');
});

test.each([
  ["numbers keep their digits", { n: "@" }, ["traits.n"], `{"traits":{"n":12345678901234567890.10}}`],
  [
    "a value of more than 2 KiB is left out",
    { n: "x".repeat(2_047), m: "x".repeat(2_046) },
    ["traits.n", "traits.m"],
    null,
  ],
  ["a name is cut", { company_name: "n".repeat(300) }, ["name"], `{"name":"${"n".repeat(256)}"}`],
  [
    "a name of which nothing is seen is none",
    { company_name: "\n\u00ad\u180e\u2003\u200b\u3000\u3164\u202e\ufeff" },
    ["name"],
    "{}",
  ],
  ["where nothing is there, it is empty", {}, ["name", "owner", "renewal", "facts"], "{}"],
  ["chosen traits that are not there leave an empty object", {}, ["traits.n"], `{"traits":{}}`],
])("%s", async (_, traits, include, expected) => {
  const text = JSON.stringify(traits).replace('"@"', "12345678901234567890.10");
  const [row] = await sql<[{ told: string }]>`
    select customer::text as told
    from svc.webhook_customer(
      ${include}, ${text}::text::jsonb, '{"name": "company_name", "owner": "owner_email"}', 'https://svc.example', null
    )`;
  if (expected === null) expect(Object.keys((JSON.parse(row.told) as { traits: object }).traits)).toEqual(["m"]);
  else expect(row.told.replaceAll(/\s/g, "")).toBe(expected);
});

test("webhooks that request nothing cost no more than before", async () => {
  const environment = await populated({});
  await createWebhook(sql, environment, URL);
  const asked = await sql.begin(async (tx) => {
    await tx`set local track_functions = 'all'`;
    await emitWithin(tx, environment, Array<object>(100).fill({}));
    return tx`select from pg_stat_xact_user_functions where funcname in ('write_delivery_bodies', 'webhook_customer')`;
  });
  expect(asked).toHaveLength(0);
});
