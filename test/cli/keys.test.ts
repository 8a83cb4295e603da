import { afterAll, beforeAll, expect, test } from "vitest";

import { startShop } from "./support/shop.js";
import type { Shop } from "./support/shop.js";

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

test("svc keys list, at 80 columns and as JSON", async () => {
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
  expect(await shop.run(["keys", "list", "--json"])).toMatchInlineSnapshot(`
    {"data" : [{"id" : "key_<id>", "name" : "default", "hint" : "svc_test_<secret>", "status" : "active", "createdAt" : "<instant>", "createdBy" : "owner@acme.example", "lastUsedAt" : "<instant>", "revokedAt" : null}], "nextCursor" : null}
  `);
});

test("svc keys create prints the key once", async () => {
  expect(await shop.run(["keys", "create", "--name", "backend", "--yes"])).toMatchInlineSnapshot(`
    Created the key backend in test. Keep it in a safe place: it is not shown again.

    Key  svc_test_<secret>
    Id   key_<id>
  `);
  expect(await shop.run(["keys", "create", "--name", "ci", "--env", "live", "--yes", "--json"])).toMatchInlineSnapshot(`
    {"key":{"id":"key_<id>","name":"ci","hint":"svc_live_<secret>","status":"active","createdAt":"<instant>","createdBy":"owner@acme.example","lastUsedAt":null,"revokedAt":null},"secret":"svc_live_<secret>"}
  `);
});

test("svc keys create asks on a terminal, and refuses at once without one", async () => {
  const asked = await shop.run(["keys", "create", "--name", "x"], { ...plain, input: "n\n" });
  expect(asked).toMatchInlineSnapshot(`
    exit 1
    ! Create the key x in test of project shop at <service>? (y/N) n
    ! error [CANCELLED]: Cancelled, nothing was changed.
  `);
  expect(await shop.run(["keys", "create", "--name", "x"])).toMatchInlineSnapshot(`
    exit 1
    ! error [CONFIRMATION_REQUIRED]: Creating a key needs a confirmation, and there is no terminal to ask on. Add --yes.
  `);
  expect(await shop.run(["keys", "create"])).toMatchInlineSnapshot(`
    exit 2
    ! error [USAGE]: Missing --name. See \`svc keys create --help\`.
  `);
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

test("svc keys rotate with a grace that is none, too long, and zero", async () => {
  expect(await shop.run(["keys", "rotate", keyId, "--grace", "soon", "--yes"])).toMatchInlineSnapshot(`
    exit 2
    ! error [USAGE]: --grace is "soon". Give a whole number and a unit, such as 30m, 24h, 7d or 4w.
  `);
  expect(await shop.run(["keys", "rotate", keyId, "--grace", "31d", "--yes"])).toMatchInlineSnapshot(`
    exit 1
    ! error [VALIDATION_ERROR]: \`grace\` is too long. Write 30d or less; 0m ends the old key at once. Field: grace.
  `);
  expect((await shop.run(["keys", "create", "--name", "short", "--yes"])).code).toBe(0);
  const id = await idOf("short");
  const { stdout } = await shop.run(["keys", "rotate", id, "--grace", "0m", "--yes", "--json"]);
  expect(stdout).toMatchInlineSnapshot(`
    "{"key":{"id":"key_<id>","name":"short","hint":"svc_test_<secret>","status":"active","createdAt":"<instant>","createdBy":"owner@acme.example","lastUsedAt":null,"revokedAt":null},"secret":"svc_test_<secret>","replaced":{"id":"key_<id>","revokedAt":"<instant>"}}
    "
  `);
});

test("svc keys revoke ends a key; one that ended already, and one that is not there", async () => {
  const id = await idOf("backend");
  const { code, stdout, stderr } = await shop.run(["keys", "revoke", id], { ...plain, input: "y\n" });
  expect(stderr).toMatchInlineSnapshot(`
    "Revoke the key backend (svc_test_<secret>…, never used) in test of project shop at <service>? What is sent with it is refused from then on. (y/N) y
    "
  `);
  expect({ code, stdout }).toMatchInlineSnapshot(`
    Revoked the key backend (svc_test_<secret>…) in test.
  `);
  expect((await shop.run(["keys", "revoke", id, "--yes", "--json"])).stdout).toContain('"status":"revoked"');
  expect(await shop.run(["keys", "rotate", id, "--yes"])).toMatchInlineSnapshot(`
    exit 1
    ! error [KEY_REVOKED]: The key "key_<id>" was revoked at <instant>. Rotate the key that took its place (\`svc keys list\`), or create a new one.
  `);
  expect(await shop.run(["keys", "revoke", "key_none", "--yes"])).toMatchInlineSnapshot(`
    exit 1
    ! error [KEY_NOT_FOUND]: There is no key "key_none" in this environment. Check the id and --env; \`svc keys list\` shows what there is.
  `);
});
