import { beforeAll, expect, test } from "vitest";

import { snapshot } from "../support/service.js";
import { useOwner } from "./support/owner.js";

const service = useOwner();
const quarantine = (...words: string[]) =>
  service.svc(["events", "quarantine", ...words, "--project", "shop", "--env", "test"]);

const deploy = (events: object) =>
  service.ask("POST", "/projects/shop/config-versions?env=test", {
    snapshot: snapshot({ strictSchema: true, onViolation: "quarantine", events: events as never }),
    force: true,
  });

let key: string;
beforeAll(async () => {
  const { body } = await service.addProject("shop");
  key = (body as { keys: { test: string } }).keys.test;
  expect((await deploy({ login: { properties: {} } })).status).toBe(201);
  const sent = await service.request("POST", "/v1/events/batch", {
    headers: { Authorization: `Bearer ${key}` },
    body: {
      events: [
        ...Array.from({ length: 620 }, (_, n) => ({ customerId: `c${n}`, event: "order" })),
        { customerId: "globex", event: "ping", properties: { big: 1 } },
      ],
    },
  });
  expect(sent.status).toBe(202);
});

test("quarantined operations are listed and shown as they were sent", async () => {
  const { code, stdout } = await quarantine("--event", "ping");
  expect(code).toBe(0);
  expect(stdout).toMatch(/globex .*ping .*qop_[0-9a-f]{16}/);
  expect((await quarantine("list", "--event", "none")).stdout).toBe("No such operation is in quarantine.\n");
  const shown = await quarantine("show", /qop_[0-9a-f]{16}/.exec(stdout)![0]);
  expect(shown.stdout).toMatch(/Operation .*"big": ?1[\s\S]*UNKNOWN_EVENT .*event: The event "ping" is not declared/);
  const missing = await quarantine("show", "qop_0000000000000001");
  expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining("[OPERATION_NOT_FOUND]") as string });
});

test("an event that is sent by hand says that it is in quarantine, and why", async () => {
  const { code, stdout } = await service.svc(["events", "send", "unknown", "--customer", "globex"], {
    env: { SVC_API_KEY: key },
  });
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /^Accepted as evt_[0-9a-f]{16} in test\.\nIt is in quarantine, .*: UNKNOWN_EVENT: The event "unknown" is not declared/,
  );
  expect((await quarantine("discard", "--all", "--event", "unknown", "--yes")).code).toBe(0);
});

test("an operation without an event name is called traits only if it is an identify", async () => {
  const sent = await service.request("POST", "/v1/batch", {
    headers: { Authorization: `Basic ${Buffer.from(`${key}:`).toString("base64")}` },
    body: {
      batch: [
        { type: "track", userId: "nameless" },
        { type: "purchase", userId: "unknown" },
        { type: "identify", userId: "traits", traits: [] },
      ],
    },
  });
  expect(sent.status).toBe(200);
  const { stdout } = await quarantine("list", "--limit", "3");
  expect(stdout).toMatch(/nameless +\(no name\) /);
  expect(stdout).toMatch(/unknown +\(no name\) /);
  expect(stdout).toMatch(/traits +\(traits\) /);
  expect((await quarantine("discard", "--all", "--code", "MISSING_EVENT", "--yes")).code).toBe(0);
  expect((await quarantine("discard", "--all", "--code", "UNKNOWN_CALL", "--yes")).code).toBe(0);
  expect((await quarantine("discard", "--all", "--code", "INVALID_STRUCTURE", "--yes")).code).toBe(0);
});

test.each(["release", "discard"])("%s requires naming the operations", async (verb) => {
  for (const given of [[], ["qop_0000000000000001", "--all"]]) {
    const { code, stderr } = await quarantine(verb, ...given, "--yes");
    expect([code, stderr]).toEqual([2, expect.stringContaining(`svc events quarantine ${verb} --help`)]);
  }
});

test.each(["release", "discard"])("%s of an operation that is not in quarantine is an error", async (verb) => {
  const { code, stdout, stderr } = await quarantine(verb, "qop_0000000000000001", "--yes");
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toContain("There is no operation qop_0000000000000001 in quarantine in test.");
  expect(await quarantine(verb, "--all", "--event", "none", "--yes")).toMatchObject({ code: 0 });
});

test("all operations that became valid are released in steps, and the rest is discarded", async () => {
  expect((await deploy({ login: { properties: {} }, order: { properties: {} } })).status).toBe(201);
  expect((await quarantine("release", "--all", "--yes")).stdout).toBe(
    "Released 620 operations; they wait for evaluation. 1 operation still violates the active version's schema and stays in quarantine.\n",
  );
  expect(JSON.parse((await quarantine("discard", "--all", "--yes", "--json")).stdout)).toEqual({ discarded: 1 });
  expect((await quarantine("discard", "--all", "--yes")).stdout).toBe("Nothing was discarded.\n");
});
