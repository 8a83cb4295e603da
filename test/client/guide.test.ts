import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { typesOf } from "../../src/cli/commands/types.js";
import { EMPTY_SNAPSHOT, type Snapshot } from "../../src/model/snapshot/types.js";
import { isThere } from "../cli/support/program.js";
import { tsconfig, typeMistakes } from "../cli/support/types.js";
import { project } from "../dsl-compiler/project.js";
import { useIngest } from "../http/ingest/fixture.js";
import { useDirectory } from "../support/directory.js";
import { linkPackages } from "../support/linked-packages.js";

// The programs of docs/client.md, run in order as written; its types are compiled.

const ROOT = path.resolve(import.meta.dirname, "../..");
const guide = readFileSync(path.join(ROOT, "docs/client.md"), "utf8");
const blocks = [
  ...guide.matchAll(/<!-- test\/client\/guide\.test\.ts [a-z]+ this block -->\n\n```(js|ts|python)\n(.*?)```/gs),
].map(([, language, code]) => ({ language, code: code! }));
const programs = blocks.filter(({ language }) => language === "js").map(({ code }) => code);

const MODEL: Partial<Snapshot> = {
  strictSchema: true,
  events: {
    order_placed: { properties: { amount: { type: "number" }, currency: { type: "string", enum: ["EUR", "USD"] } } },
    page_seen: { properties: { path: { type: "string" } } },
  },
  traits: { plan: { type: "string", enum: ["free", "pro"] }, seats: { type: "number" } },
};

const directory = await useDirectory();
await linkPackages(directory);
const fixture = await useIngest();
await fixture.deploy(MODEL);

const environment = () => ({ ...process.env, SVC_API_URL: fixture.service.url, SVC_API_KEY: fixture.keys.test });
const node = (code: string) =>
  promisify(execFile)(process.execPath, ["--input-type=module", "--eval", code], {
    cwd: directory,
    env: environment(),
  });
/** The properties of a customer's events, in the order in which they were accepted. */
async function propertiesOf(customerId: string): Promise<unknown[]> {
  const rows = await fixture.service.db.sql<{ properties: unknown }[]>`
    select properties from svc_inspect.events where customer_id = ${customerId} order by event_id`;
  return rows.map(({ properties }) => properties);
}

it("has no untested block", () => {
  expect(blocks).toHaveLength(guide.match(/^```\w+$/gm)!.length);
  expect(programs).toHaveLength(5);
});

it("starts with a program that sends", async () => {
  expect(await node(programs[0]!)).toEqual({ stdout: "", stderr: "" });
  expect(await propertiesOf("globex")).toEqual([{ amount: 120.5, currency: "EUR" }]);
});

it("reports refused operations", async () => {
  const { stdout, stderr } = await node(programs[1]!);
  expect(stderr).toMatch(/^UNKNOWN_EVENT event: .* globex\n$/);
  expect(stdout).toMatch(/refused: 1/);
});

it("waits for room", async () => {
  expect(await node(programs[2]!)).toEqual({ stdout: "{ left: [] } 1000\n", stderr: "" });
  expect((await propertiesOf("initech")).map((properties) => (properties as { amount: number }).amount)).toEqual(
    Array.from({ length: 1_000 }, (_, n) => n),
  );
});

it("has sent everything when it is stopped", async () => {
  const child = spawn(process.execPath, ["--input-type=module", "--eval", programs[3]!], {
    cwd: directory,
    env: environment(),
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(child, "exit");
  const said = text(child.stderr);
  const [port] = (await once(createInterface(child.stdout), "line")) as [string];
  const answer = await fetch(`http://127.0.0.1:${port}/pricing`, { headers: { connection: "close" } });
  expect(await answer.text()).toBe("seen\n");
  child.kill("SIGTERM");
  expect(await ended).toEqual([0, null]);
  expect(await said).toBe("");
  expect(await propertiesOf("hooli")).toEqual([{ path: "/pricing" }]);
});

it("sends history, reports mistakes in it, and can be run again", async () => {
  for (let n = 0; n < 2; n++)
    expect(await node(programs[4]!)).toEqual({ stdout: "88540 INVALID_PROPERTY_TYPE properties.amount\n", stderr: "" });
  expect(await propertiesOf("umbrella")).toEqual([{ amount: 75, currency: "EUR" }]);
});

it("is checked against the types of the model", async () => {
  const [{ code } = { code: "" }] = blocks.filter(({ language }) => language === "ts");
  const cwd = await project({
    "svc-types.ts": typesOf({ ...EMPTY_SNAPSHOT, ...MODEL }),
    "caller.ts": code,
    "tsconfig.json": tsconfig(),
  });
  expect(await typeMistakes(cwd)).toBe("");
});

it("does the same in Python", async ({ skip }) => {
  if (!isThere("python3")) skip("there is no python3");
  const [{ code } = { code: "" }] = blocks.filter(({ language }) => language === "python");
  const env = {
    ...environment(),
    PYTHONPATH: path.join(ROOT, "python"),
    PYTHONDONTWRITEBYTECODE: "1",
  };
  expect(await promisify(execFile)("python3", ["-c", code], { env })).toEqual({
    stdout: "UNKNOWN_EVENT event\nBATCH_REFUSED [(0, 'MISSING_REQUIRED_PROPERTY')]\n[]\n",
    stderr: "",
  });
  expect((await propertiesOf("globex")).at(-1)).toEqual({ amount: 99, currency: "EUR" });
});
