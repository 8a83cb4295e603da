import { afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { call } from "../../src/db/api/call.js";
import { newCredential } from "../../src/http/request/credentials.js";
import { Browser } from "../support/browser.js";
import { useDatabase } from "../support/database.js";
import { INSTALL_MS_MAX } from "../support/debian.js";
import { freePort } from "../support/free-port.js";
import { openTerminal, terminalsMissing, type Terminal } from "../support/terminal.js";

const db = await useDatabase();
const port = await freePort();
const url = `http://127.0.0.1:${port}`;
let missing: string | null;
let terminal: Terminal;
beforeAll(async () => {
  missing = await terminalsMissing();
}, INSTALL_MS_MAX);
beforeEach(async ({ skip }) => {
  skip(missing !== null, missing ?? "");
  const env = { DATABASE_URL: db.url, SVC_PORT: String(port), SVC_SECRET: "s".repeat(32), PATH: process.env["PATH"]! };
  terminal = await openTerminal({ cwd: process.cwd(), env, columns: 300 });
});
afterEach(async () => {
  if (missing !== null) return;
  await terminal.press("C-c");
  await terminal.shows(/stopping/);
  await terminal.close();
});

/** Starts the service like `npm start`, and returns what the terminal shows. */
async function started(shown: RegExp): Promise<string> {
  await terminal.type("node bin/svc-server.js start");
  await terminal.press("Enter");
  return terminal.shows(shown);
}

const bootstrap = (email: string) => call(db.sql, "bootstrap", "acme", email, newCredential("token").hash);

// Each test adds a user.

it("without users, the service says on a terminal how to create the first one", async () => {
  expect(await started(/nobody can sign in yet/)).toContain("svc-server bootstrap --organization acme --email");
});

it("with one user, it prints a link that signs the user in", async () => {
  await bootstrap("ada@example.com");
  const screen = await started(/signed in as ada@example\.com .*: \S+/);
  const link = new URL(/(http\S+token=\S+)/.exec(screen)![1]!);
  expect(link.origin).toBe(url);
  const browser = new Browser(url);
  expect((await browser.submit(await browser.get(link.pathname + link.search))).location).toBe("/console");
});

it("with several users, it creates no link", async () => {
  await bootstrap("eve@example.com");
  const screen = await started(/the console is at/);
  expect(screen).toContain(`${url}/console; svc-server users sign-in --email`);
  expect(screen).not.toContain("token=");
});
