import { afterAll, beforeAll, expect, test } from "vitest";

import { running } from "./support/running.js";
import { startShop } from "./support/shop.js";
import type { Shop } from "./support/shop.js";

let shop: Shop;
beforeAll(async () => {
  shop = await startShop();
});
afterAll(() => shop.stop());

const list = (...argv: string[]) => shop.run(["events", "list", ...argv]);

test("events are listed with their properties, the newest first", async () => {
  expect(await list("--customer", "globex")).toMatchInlineSnapshot(`
    Occurred                    Customer  Event            Status     Properties                      Id
    <time>  globex    login            processed  {"method": "sso"}               evt_<id>
    <time>  globex    member_invited   processed                                  evt_<id>
    <time>  globex    invoice_paid     processed  {"amount": 1200}                evt_<id>
    <time>  globex    project_created  processed  {"seats": 2}                    evt_<id>
    <time>  globex    member_invited   processed                                  evt_<id>
    <time>  globex    project_created  processed  {"note": "second", "seats": 8}  evt_<id>
    <time>  globex    project_created  processed  {"seats": 5}                    evt_<id>
    <time>  globex    signed_up        processed  {"source": "sales"}             evt_<id>
  `);
});

test("on a terminal of 80 columns what there is no room for is left out, and what goes on is told", async () => {
  const { code, stdout, stderr } = await shop.run(["events", "list", "--limit", "2", "--no-color"], { terminal: true });
  expect({ code, stdout, stderr: stderr.replace(/--cursor \S+/, "--cursor <cursor>") }).toMatchInlineSnapshot(`
    ! There are more: add --cursor <cursor>
    Occurred                    Customer  Event      Status     Properties
    <time>  globex    login      processed  {"method": "sso"}
    <time>  hooli     signed_up  processed  {"source": "self_se…
    Too narrow for: Id.
  `);
});

test("a list goes on where it ended", async () => {
  const part = async (...argv: string[]) => {
    const { stdout } = await shop.raw(["events", "list", "--json", ...argv]);
    return JSON.parse(stdout) as { data: unknown[]; nextCursor: string };
  };
  const first = await part("--limit", "5");
  const rest = await part("--cursor", first.nextCursor);
  expect([first.data.length, rest.data.length, rest.nextCursor]).toEqual([5, 8, null]);
});

test("filters: name, status and since when", async () => {
  const counted = async (...argv: string[]) => {
    const { stdout } = await shop.raw(["events", "list", "--json", ...argv]);
    return (JSON.parse(stdout) as { data: unknown[] }).data.length;
  };
  expect(await counted("--type", "project_created")).toBe(4);
  expect(await counted("--since", "5d")).toBe(2);
  expect(await counted("--status", "processed", "--customer", "initech")).toBe(4);
  expect(await list("--status", "pending")).toMatchInlineSnapshot(`
    There is no such event.
  `);
});

test("what is wrong with an option is told before anything is asked", async () => {
  const asked = (...argv: string[]) => list(...argv, "--project", "nothing");
  expect(await asked("--since", "yesterday")).toMatchInlineSnapshot(`
    exit 2
    ! error [USAGE]: --since is "yesterday". Write how long ago, such as 7d, or a date such as 2026-03-01 or <instant>.
  `);
  expect(await asked("--status", "processing")).toMatchInlineSnapshot(`
    exit 2
    ! error [USAGE]: --status is "processing"; did you mean processed? Give one of: processed, pending.
  `);
  expect(await asked("--limit", "0")).toMatchInlineSnapshot(`
    exit 2
    ! error [USAGE]: --limit is "0". Give a whole number from 1 to 10000.
  `);
});

test("with --json events are as the service gives them", async () => {
  const { stdout } = await list("--json", "--customer", "hooli");
  expect(stdout).toMatchInlineSnapshot(`
    "{"data" : [{"id" : "evt_<id>", "customerId" : "hooli", "event" : "signed_up", "properties" : {"source": "self_serve"}, "occurredAt" : "<instant>", "acceptedAt" : "<instant>", "status" : "processed"}], "nextCursor" : null}
    "
  `);
});

test("events are shown as they are accepted, until Ctrl+C", async () => {
  const tail = running((options) => shop.run(["events", "tail", "--type", "login"], options));
  await tail.says("Waiting for events in test of shop. Ctrl+C stops.");
  const send = (...argv: string[]) =>
    shop.run(["events", "send", ...argv], { env: { SVC_API_KEY_TEST: shop.keys.test } });
  await send("member_invited", "--customer", "hooli");
  await send("login", "--customer", "hooli", "--props", '{"method":"sso"}');
  await tail.prints("login");
  tail.interrupt();
  const { code, stdout, stderr } = await tail.result;
  expect({ code, stderr }).toEqual({ code: 0, stderr: "Waiting for events in test of shop. Ctrl+C stops.\n" });
  expect(stdout).toMatch(/^<time> {2}hooli {2}login {2}\{"method": "sso"\}\n$/);
});

test("what the service refuses is told like any other refusal", async () => {
  expect(await shop.run(["events", "tail", "--project", "nothing"])).toMatchInlineSnapshot(`
    exit 1
    ! error [PROJECT_NOT_FOUND]: There is no project "nothing" in this organization. Correct --project or "project" of .kite/config.json: \`svc projects list\` shows those of this organization; for those of another one, set SVC_ORGANIZATION or "organization" of .kite/config.json.
  `);
});
