import { afterAll, beforeAll, expect, test } from "vitest";

import { type Shop, startShop } from "./support/shop.js";

let shop: Shop;
/** The id of the key that the project was created with. */
let keyId: string;

beforeAll(async () => {
  shop = await startShop();
  keyId = await idOf("default");
});
afterAll(() => shop.stop());

/** The id of the newest key of that name in test. */
async function idOf(name: string): Promise<string> {
  const [row] = await shop.db.sql<[{ id: string }]>`
    select k.api_key_id as id from svc.api_keys as k join svc.environments as e on e.environment_id = k.environment_id
    where e.name = 'test' and k.name = ${name} order by k.created_at desc limit 1`;
  return row.id;
}

const plain = { terminal: true, env: { NO_COLOR: "1" } };

test("svc keys list, also at 80 columns", async () => {
  expect(await shop.run(["keys", "list"])).toMatchInlineSnapshot(`
    Id                        Name     Key             Status  Last used     Created                     By
    key_<id>  default  svc_test_<secret>…  active  12 hours ago  <time>  owner@acme.example
  `);
  expect((await shop.run(["keys", "list"], plain)).stdout).toMatchInlineSnapshot(`
    "Id                        Name     Key             Status  Last used
    key_<id>  default  svc_test_<secret>…  active  12 hours ago
    Too narrow for: Created, By.
    "
  `);
});

test("svc keys create prints the key once", async () => {
  expect(await shop.run(["keys", "create", "--name", "backend", "--yes"])).toMatchInlineSnapshot(`
    Created the key backend in test. Keep it in a safe place: it is not shown again.

    Key  svc_test_<secret>
    Id   key_<id>
  `);
  const { stdout } = await shop.run(["keys", "create", "--name", "ci", "--env", "live", "--yes", "--json"]);
  expect(JSON.parse(stdout)).toMatchObject({ key: { id: "key_<id>", name: "ci" }, secret: "svc_live_<secret>" });
});

test("svc keys rotate names the key by what somebody knows of it, and prints the new one once", async () => {
  expect(await shop.run(["keys", "rotate", keyId], { ...plain, input: "y\n" })).toMatchInlineSnapshot(`
    ! Replace the key default (svc_test_<secret>…, last used 12 hours ago) in test of project shop at <service>? The old one works for 24h more. (y/N) y
    Replaced the key default in test. Keep the new one in a safe place: it is not shown again.

    New key  svc_test_<secret>
    Id       key_<id>
    Old key  key_<id>, ends <time> (in 11 hours)
  `);
});

test("svc keys rotate with a grace that is too long, and zero", async () => {
  expect(await shop.run(["keys", "rotate", keyId, "--grace", "31d", "--yes"])).toMatchInlineSnapshot(`
    exit 1
    ! error [VALIDATION_ERROR]: \`grace\` is too long. Write 30d or less; 0m ends the old key at once. Field: grace.
  `);
  expect((await shop.run(["keys", "create", "--name", "short", "--yes"])).code).toBe(0);
  const id = await idOf("short");
  const { stdout } = await shop.run(["keys", "rotate", id, "--grace", "0m", "--yes", "--json"]);
  expect(JSON.parse(stdout)).toMatchObject({ key: { name: "short" }, secret: "svc_test_<secret>", replaced: {} });
});

test("svc keys revoke ends a key, also one that ended already", async () => {
  const id = await idOf("backend");
  expect(await shop.run(["keys", "revoke", id, "--yes"])).toMatchInlineSnapshot(`
    Revoked the key backend (svc_test_<secret>…) in test.
  `);
  expect((await shop.run(["keys", "revoke", id, "--yes", "--json"])).stdout).toContain('"status":"revoked"');
  expect((await shop.run(["keys", "rotate", id, "--yes"])).stderr).toContain("error [KEY_REVOKED]");
});
