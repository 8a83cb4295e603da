import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import path from "node:path";
import { describe, expect, test, vi } from "vitest";

import { ended, start } from "../cli/support/program.js";
import { svc } from "../cli/support/run-svc.js";
import { temporaryDirectory } from "../support/server.js";
import { EVENTS, project, spawnDev, startDev, STAGES } from "./support/process.js";

async function post(url: string, body: unknown): Promise<unknown> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return response.json();
}

const signedUp = { customerId: "a", event: "signed_up" };
const projectCreated = { customerId: "a", event: "project_created", properties: { seats: 1 } };

describe("svc dev", () => {
  test("answers an event with the customer's state, and reloads changed sources", async () => {
    const { directory, write } = await project();
    const dev = startDev(directory);
    const { url, clock } = await dev.next("ready");
    expect(clock.kind).toBe("real");
    expect(await post(`${url}/events`, signedUp)).toMatchObject({ accepted: true, state: { lifecycle: "trial" } });
    expect(await dev.next("request")).toMatchObject({
      status: 202,
      operations: [{ customerId: "a", event: "signed_up" }],
      changes: [
        {
          customerId: "a",
          changes: [{ text: "created as new" }, { text: "new → trial" }, { text: "journey onboarding started" }],
        },
      ],
    });

    // New sources too.
    for (const value of [1, 22]) {
      await write("model/segments/new.ts", `export const later = ${value};\n`);
      expect(await dev.next("reloaded")).toMatchObject({ changed: false });
    }

    // With broken sources it keeps the last valid model.
    await write("model/stages.ts", STAGES.replace("lifecycle({", "lifecycle({{"));
    const broken = await dev.next("broken");
    expect(broken).toMatchObject({ serving: true, problems: [{ severity: "error", file: "model/stages.ts" }] });
    expect(await post(`${url}/events`, projectCreated)).toMatchObject({
      accepted: true,
      state: { lifecycle: "trial" },
    });
    await write("model/stages.ts", STAGES);
    expect(await dev.next("reloaded")).toMatchObject({ changed: false, customers: 1 });

    // A new model replays everything.
    await write("model/stages.ts", STAGES.replace("atLeast(2)", "atLeast(1)"));
    expect(await dev.next("reloaded")).toMatchObject({
      changed: true,
      customers: 1,
      lifecycle: [
        { state: "trial", before: 1, after: 0 },
        { state: "activated", before: 0, after: 1 },
      ],
    });
    const response = await fetch(`${url}/customers/a`);
    expect(await response.json()).toMatchObject({ lifecycle: "activated" });
    expect(await dev.stop("SIGINT")).toBe(0);
  });

  test("reloads when a file that the sources import from outside of the folder changes", async () => {
    const shared = path.join(await temporaryDirectory(), "limits.ts");
    await writeFile(shared, "export const needed = 2;\n");
    const { directory } = await project({
      "model/stages.ts": `import { needed } from ${JSON.stringify(shared)};\n${STAGES.replace("atLeast(2)", "atLeast(needed)")}`,
    });
    const dev = startDev(directory);
    const { url } = await dev.next("ready");
    await post(`${url}/events`, signedUp);
    expect(await post(`${url}/events`, projectCreated)).toMatchObject({ state: { lifecycle: "trial" } });
    for (const text of ["export const needed = ;\n", "export const needed = 1;\n"]) {
      await writeFile(shared, text);
      await dev.next(text.includes("1") ? "reloaded" : "broken");
    }
    expect(await (await fetch(`${url}/customers/a`)).json()).toMatchObject({ lifecycle: "activated" });
    expect(await dev.stop()).toBe(0);
  });

  test("reloads when a file that was missing outside of the folder is there, also at the start", async () => {
    const shared = await temporaryDirectory();
    const importing = (name: string) =>
      `import { needed } from ${JSON.stringify(name)};\n${STAGES.replace("atLeast(2)", "atLeast(needed)")}`;
    const { directory, write } = await project({ "model/stages.ts": "" });
    const from = (name: string) => path.relative(path.join(directory, "model"), path.join(shared, name));
    await write("model/stages.ts", importing(from("new/limits.js")));
    const dev = startDev(directory);
    await dev.next("broken");
    await mkdir(path.join(shared, "new"));
    await writeFile(path.join(shared, "new", "limits.ts"), "export const needed = 2;\n");
    await dev.next("ready");
    await write("model/stages.ts", importing(from("more")));
    await dev.next("broken");
    await writeFile(path.join(shared, "more.ts"), "export const needed = 1;\n");
    await dev.next("reloaded");
    expect(await dev.stop()).toBe(0);
  });

  test("waits for sources that do not compile at the start, and reports type errors", async () => {
    const { directory, write } = await project({
      "model/stages.ts": "export const stages = ;",
      "model/events.ts": `${EVENTS}\nexport const wrong: number = "text";\n`,
    });
    const dev = startDev(directory);
    expect(await dev.next("broken")).toMatchObject({ serving: false });
    await write("model/stages.ts", STAGES);
    const { url } = await dev.next("ready");
    expect(await post(`${url}/events`, signedUp)).toMatchObject({ accepted: true });
    expect(await dev.next("types")).toMatchObject({
      problems: [{ severity: "error", file: "model/events.ts", line: 6 }],
    });
    expect(await dev.stop()).toBe(0);
  });
});

test.each(["SIGTERM", "SIGKILL"] as const)(
  "%s leaves no process behind, not even one that loads a model",
  async (signal) => {
    const hangs = [
      'import { writeFileSync } from "node:fs";',
      'writeFileSync("pid", String(process.pid));',
      "await new Promise(() => setInterval(() => console.log(1), 10));",
    ];
    const { directory } = await project({ "model/events.ts": [...hangs, EVENTS].join("\n") });
    const dev = startDev(directory);
    const read = (): number => Number(readFileSync(path.join(directory, "pid"), "utf8"));
    const pid = await vi.waitFor(() => read() || Promise.reject(new Error("not written yet")), { timeout: 20_000 });
    await dev.stop(signal);
    await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow("ESRCH"), { timeout: 20_000 });
  },
);

describe("svc dev ends with", () => {
  test("1 if the sources do not compile and it does not watch", async () => {
    const { directory } = await project({ "model/stages.ts": "export const stages = ;" });
    const { code, stdout, stderr } = await ended(start(["dev", "--port", "0", "--no-watch"], { cwd: directory }));
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain("model/stages.ts:1:23");
    expect(stderr).toContain("[CONFIG_INVALID]");
  });

  test("1 if the port is taken", async () => {
    const { directory } = await project();
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    const { code, stderr } = await svc(["dev", "--port", String(port)], { cwd: directory });
    other.close();
    expect(code).toBe(1);
    expect(stderr).toBe(
      `error [PORT_TAKEN]: The port ${port} is taken. Stop the program that listens there, or choose another port with --port.\n`,
    );
  });

  test("2 if --clock is no instant", async () => {
    const { code, stderr } = await svc(["dev", "--clock", "2026-01-01"]);
    expect(code).toBe(2);
    expect(stderr).toContain('--clock is "2026-01-01": The timestamp has no timezone');
  });
});

test("prints one readable line for each request; with --clock, --env and SVC_SETTLE_SECONDS, timers fire exactly when they are due", async () => {
  const { directory } = await project();
  const args = ["--clock", "2026-01-01T00:00:00Z", "--env", "live"];
  const { lines } = spawnDev(directory, args, { TZ: "UTC", SVC_SETTLE_SECONDS: "60" });
  const read = async (count: number): Promise<string[]> => {
    const shown: string[] = [];
    while (shown.length < count) shown.push((await lines.next()).value as string);
    return shown;
  };
  const head = (await read(5)).join("\n");
  const [, url = ""] = /ready (\S+) .*\nState of one customer: at most .*\n.*\nLook: .*\nTry: .*$/.exec(head)!;
  expect(await post(`${url}/events`, signedUp)).toMatchObject({ state: { environment: "live" } });
  await post(`${url}/events`, { ...signedUp, properties: { x: 1 } });
  await post(`${url}/events/batch`, { events: [projectCreated, { ...projectCreated, customerId: "b" }] });
  await post(`${url}/clock`, { advance: "4w" });
  expect(await read(6)).toEqual([
    "202  signed_up  a  created as new, new → trial, journey onboarding started",
    '422  signed_up  a  UNKNOWN_PROPERTY The event "signed_up" has no property "x".',
    "202  batch of 2 operations",
    "  a  journey onboarding: create done, journey onboarding completed",
    "  b  created as new",
    "200  POST /clock",
  ]);

  const movedTo = (to: string) => post(`${url}/clock`, { to });
  const expired = (at: string) => ({ emissions: [{ customerId: "late", type: "journey.expired", at }] });
  const late = { ...signedUp, customerId: "late" };
  await post(`${url}/events`, late);
  expect(await movedTo("2026-02-27T23:59:59.999Z")).toMatchObject({ emissions: [] });
  expect(await movedTo("2026-03-10T00:00:00Z")).toMatchObject(expired("2026-02-28T00:00:00.000Z"));
  await post(`${url}/events`, { ...late, customerId: "later", timestamp: "2026-01-02T00:00:00Z" });
  expect(await movedTo("2026-03-10T00:00:59.999Z")).toMatchObject({ emissions: [] });
  expect(await movedTo("2026-03-10T00:01:00Z")).toMatchObject({
    emissions: [{ customerId: "later", at: "2026-02-01T00:00:00.000Z" }],
  });
});
