import { afterAll, beforeAll, expect, test } from "vitest";

import { running } from "./support/running.js";
import { type Shop, startShop } from "./support/shop.js";

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
