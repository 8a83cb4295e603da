import { chmod, readFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";

import { EMPTY_SNAPSHOT } from "../../src/model/snapshot/types.js";
import { project } from "../dsl-compiler/project.js";
import { INSTALL_MS_MAX } from "../support/debian.js";
import { openTerminal, terminalsMissing, type Terminal } from "../support/terminal.js";
import { PROGRAM, variables } from "./support/program.js";
import { cannedServer, json, type Canned, type Seen } from "./support/canned-server.js";

const MODEL = `
  import { defineModel, event, segment } from "svc-success";
  const paid = event("paid");
  export default defineModel({ events: { paid }, segments: [segment("payers", { when: paid.happened() })] });`;
const KEY = { id: "key_1", name: "backend", hint: "svc_test_1a2b" };

/** The answers of a service with v1 active in live. */
function answer({ method, url }: Seen): Canned {
  if (url.includes("/activations")) return json({ data: [{ version: "v1" }], nextCursor: null });
  if (url.includes("/config-versions/v1"))
    return json({ version: "v1", hash: "0123", active: ["live"], snapshot: EMPTY_SNAPSHOT });
  if (method === "GET") return json({ data: [], nextCursor: null });
  if (url.includes("/keys")) return json({ key: KEY, secret: "svc_test_1a2b3c" }, 201);
  return json({ ...ACTIVATED, version: "v2", environment: "live", created: true }, 201);
}
const ACTIVATED = { hash: "0123456789abcdef", activated: true, hasCustomers: true, warnings: [] };

let missing: string | null;
let directory: string;
let url: string;
let requests: Seen[];
/** The answers of the service; a test can replace them. */
let respond: (request: Seen) => Canned;
let terminal: Terminal | undefined;

beforeAll(async () => {
  missing = await terminalsMissing();
}, INSTALL_MS_MAX);

/** Each test has a directory with a project and a command `svc`, a service, and a shell in the directory. */
beforeEach(async (context) => {
  context.skip(missing !== null, missing ?? "");
  respond = answer;
  directory = await project({
    "svc.config.ts": MODEL,
    ".kite/config.json": '{"project":"shop"}',
    "bin/svc": `#!/bin/sh\nexec '${process.execPath}' '${PROGRAM}' "$@"\n`,
  });
  await chmod(path.join(directory, "bin/svc"), 0o755);
  ({ url, seen: requests } = await cannedServer((request) => respond(request)));
  const env = { ...variables(url), HOME: directory, PATH: `${directory}/bin:${process.env["PATH"]}` };
  terminal = await openTerminal({ cwd: directory, env, columns: 100 });
});
afterEach(async () => {
  await terminal?.close();
  terminal = undefined;
});

/** Starts a command line; the shell prints its exit code at the end. */
async function enter(line: string): Promise<void> {
  await terminal!.type(`${line}; echo "exit $?"`);
  await terminal!.press("Enter");
}

/** Starts `svc keys create`, up to the question. */
async function createKey(): Promise<void> {
  await enter("svc keys create --name backend");
  await terminal!.shows("(y/N)");
}

/** Answers a question. */
async function reply(text: string): Promise<void> {
  await terminal!.type(text);
  await terminal!.press("Enter");
}

/** The output of the command with its exit code, without the line that started it. */
async function ended(): Promise<string> {
  const screen = await terminal!.shows(/^exit \d+$/m);
  return screen
    .replaceAll(url, "<service>")
    .replace(/^\$ .*\n/, "")
    .replace(/\n\$$/, "");
}

/** The URLs of requests that change something. */
const changes = (): string[] => requests.filter(({ method }) => method !== "GET").map((seen) => seen.url);

test("Ctrl+C at the question changes nothing and leaves the terminal usable", async () => {
  await createKey();
  await terminal!.press("C-c");
  // The shell ends the line in which Ctrl+C was pressed.
  await terminal!.shows("Cancelled, nothing was changed.");
  await terminal!.press("Enter");
  await terminal!.clear();
  await enter("stty -a | grep -ow echo");
  expect(await ended()).toBe("echo\nexit 0");
  expect(changes()).toEqual([]);
});

test("a deploy to live shows its current step, and asks for the word", async () => {
  await enter("svc deploy --env live");
  await terminal!.shows("Checking the model …");
  await terminal!.shows("Type live to continue:");
  await reply("live");
  expect(await ended()).toMatchInlineSnapshot(`
    "From v1 (active in live) to the local model, 2 differences: 2 added.

    events
      + event paid: without properties

    segments
      + segment payers: count of "paid" at least 1

    Deploy 1 event, 1 segment to live of project shop at <service>, instead of v1?
    Type live to continue: live
    Deployed v2 to live of shop, instead of v1: 1 event, 1 segment (0123456789ab).
    Customers keep their present state until something happens to them, or they are recomputed:
      svc recompute --all --env live --dry-run   shows what that would change
      svc recompute --all --env live             does it
    exit 0"
  `);
  expect(changes()).toEqual(["/projects/shop/config-versions?env=live"]);
});

test("without a terminal to ask on, a command refuses at once instead of hanging", async () => {
  for (const line of [
    "svc config promote --version v2 --yes < /dev/null",
    "svc keys create --name backend < /dev/null",
    "svc keys create --name backend 2> errors; cat errors",
  ]) {
    await enter(line);
    expect(await ended()).toMatch(/^error \[CONFIRMATION_REQUIRED\]: /);
    await terminal!.clear();
  }
  expect(changes()).toEqual([]);
});

test("Ctrl+C while the model is checked ends the command at once, and says that nothing was changed", async () => {
  await enter("svc deploy");
  await terminal!.shows("Checking the model …");
  await terminal!.press("C-c");
  expect(await ended()).toMatch(/error \[CANCELLED\]: Cancelled, nothing was changed\.\nexit 1$/);
  expect(changes()).toEqual([]);
});

test.each([
  ["svc init", "Name"],
  ["svc keys create --name backend", "(y/N)"],
])("%s, ended at its question by another process, leaves the terminal usable", async (command, question) => {
  respond = (request) =>
    request.url === "/whoami"
      ? json({ user: { email: "a@b" }, organization: { id: "org_1", slug: "acme", role: "owner" } })
      : answer(request);
  for (const name of ["TERM", "HUP"]) {
    // The shell prints its process id, which becomes that of the command.
    const place = command === "svc init" ? ` --directory new-${name}` : "";
    await enter(`sh -c 'echo $$ > pid; exec ${command}${place}'`);
    await terminal!.shows(question);
    process.kill(Number(await readFile(path.join(directory, "pid"), "utf8")), `SIG${name}`);
    await terminal!.shows(/^exit \d+$/m);
    await terminal!.clear();
    await enter("stty -a | grep -ow -e '-*echo' -e '-*icanon'");
    expect((await ended()).split("\n").sort()).toEqual(["echo", "exit 0", "icanon"]);
    await terminal!.clear();
  }
});
