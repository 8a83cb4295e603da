import { stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";

import { startShop, untilQuiet, type Shop } from "./support/shop.js";

let shop: Shop;
beforeAll(async () => {
  shop = await startShop();
});
afterAll(() => shop.stop());

test("lists fit eighty columns with whole ids, whatever has to go for them", async () => {
  await shop.run(["recompute", "--all", "--dry-run"]);
  for (const argv of [
    ["recompute", "list"],
    ["webhooks", "deliveries", shop.webhookId],
    ["customers", "list"],
  ]) {
    const { code, stdout } = await shop.raw(argv, { terminal: true, columns: 80 });
    expect(code).toBe(0);
    const lines = stdout
      .trimEnd()
      .split("\n")
      .map((line) => stripVTControlCharacters(line));
    expect(Math.max(...lines.map((line) => line.length)), lines.join("\n")).toBeLessThanOrEqual(80);
    expect(
      lines.filter((line) => /^\w+…/.test(line)),
      argv.join(" "),
    ).toEqual([]);
  }
});

test("a recompute of a customer who is not there says so", async () => {
  const { code, stdout } = await shop.run(["recompute", "--customer", "nobody", "--yes"]);
  expect(code).toBe(0);
  expect(stdout).toContain("Done       nothing: there was no such customer when it was queued\n");
});

test("svc customers inspect shows a trait with all the digits that it has", async () => {
  const response = await fetch(`${shop.url}/v1/events/batch`, {
    method: "POST",
    headers: { authorization: `Bearer ${shop.keys.live}`, "content-type": "application/json" },
    body: '{"events":[{"type":"identify","customerId":"large","traits":{"contract":12345678901234567891}}]}',
  });
  expect(response.status).toBe(202);
  await untilQuiet(shop.db);
  const { stdout } = await shop.run(["customers", "inspect", "large", "--env", "live"]);
  expect(stdout).toContain("  contract  12345678901234567891\n");
});
