import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, mkdir, readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, test, vi } from "vitest";

import { project } from "../dsl-compiler/project.js";
import { authorizationServer, GRANTED, refused, type Script, TOKEN } from "./support/authorization-server.js";
import { NEVER } from "./support/canned-server.js";
import { ended, PROGRAM, start, variables } from "./support/program.js";

const PENDING = refused("authorization_pending");

/** The files kept in a home directory after a run. */
const storedIn = async (home: string) => {
  const folder = path.join(home, ".config", "svc");
  return existsSync(folder) ? readdir(folder) : [];
};

describe.each(["SIGINT", "SIGTERM"] as const)("%s", (signal) => {
  test("ends the wait without any change", async () => {
    const { url, seen } = await authorizationServer({ token: [PENDING] });
    const home = await project({});
    const child = start(["auth", "login"], { env: { SVC_API_URL: url, HOME: home } });
    await vi.waitUntil(() => seen.some((request) => request.url === "/oauth/token"), { timeout: 30_000 });
    child.kill(signal);
    const { code, stdout, stderr } = await ended(child);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/\nerror \[CANCELLED\]: Cancelled, nothing was changed\.\n$/);
    expect(await storedIn(home)).toEqual([]);
  });

  test("ends the wait for a service that does not answer", async () => {
    const { url, seen } = await authorizationServer({ begin: NEVER });
    const child = start(["auth", "login"], { env: { SVC_API_URL: url, HOME: await project({}) } });
    await vi.waitUntil(() => seen.length > 0, { timeout: 30_000 });
    child.kill(signal);
    expect((await ended(child)).stderr).toBe("error [CANCELLED]: Cancelled, nothing was changed.\n");
  });

  test("revokes a token that is being issued at that moment", async () => {
    const home = await project({});
    // oxlint-disable-next-line prefer-const -- the server's script names it
    let child: ReturnType<typeof start>;
    const granted: NonNullable<Script["token"]>[number] = () => {
      child.kill(signal);
      return GRANTED;
    };
    const { url, seen } = await authorizationServer({ token: [granted] });
    child = start(["auth", "login"], { env: { SVC_API_URL: url, HOME: home } });
    const { code, stderr } = await ended(child);
    expect(code).toBe(1);
    expect(stderr).toMatch(/\nerror \[CANCELLED\]/);
    expect(seen.at(-1)).toMatchObject({
      url: "/oauth/revoke",
      body: expect.stringContaining(`token=${TOKEN}`) as string,
    });
    expect(await storedIn(home)).toEqual([]);
  });
});

describe("the session is stored in the user's home directory", () => {
  test("or in XDG_CONFIG_HOME", async () => {
    const { url } = await authorizationServer();
    const home = await project({});
    const elsewhere = path.join(home, "settings");
    expect((await ended(start(["auth", "login"], { env: { SVC_API_URL: url, HOME: home } }))).code).toBe(0);
    expect(await storedIn(home)).toEqual(["session.json"]);
    const env = { SVC_API_URL: url, HOME: home, XDG_CONFIG_HOME: elsewhere };
    expect((await ended(start(["auth", "login"], { env }))).code).toBe(0);
    expect(await readdir(path.join(elsewhere, "svc"))).toEqual(["session.json"]);
  });

  test("never relative to the working directory, even if HOME is relative", async () => {
    const { stderr } = await ended(start(["auth", "login"], { env: { HOME: "here" } }));
    expect(stderr).toContain("error [SESSION_NOT_SAVED]: There is no home directory to keep a session in.");
  });

  test.runIf(process.getuid?.() === 0)("which can be read-only or missing", async () => {
    const home = await project({});
    await chmod(home, 0o755);
    const readOnly = await ended(start(["auth", "login"], { env: { HOME: home }, uid: 65_534 }));
    expect(readOnly.stderr).toContain(`A session cannot be kept in ${home}/.config/svc (EACCES). Make it a directory`);
    const homeless = await ended(start(["whoami"], { env: {}, uid: 54_321 }));
    expect(homeless.stderr).toContain("error [NOT_SIGNED_IN]");
  });
});

/** Runs programs on a terminal; part of util-linux. */
const SCRIPT = "/usr/bin/script";

test.skipIf(!existsSync(SCRIPT))("a browser is opened from a terminal on a machine with a display", async () => {
  const { url } = await authorizationServer({ token: [PENDING, PENDING, GRANTED], codes: { interval: 0.2 } });
  const home = await project({ browser: '#!/bin/sh\necho "$1" > "$HOME/opened"\n' });
  await chmod(path.join(home, "browser"), 0o755);
  await mkdir(path.join(home, "none"));
  const env = {
    ...variables(),
    TERM: "xterm",
    SVC_API_URL: url,
    HOME: home,
    DISPLAY: ":99",
    BROWSER: path.join(home, "browser"),
    // Without a desktop, the variable BROWSER decides.
    XDG_DATA_DIRS: path.join(home, "none"),
  };
  const run = async (more: string) => {
    const line = `${process.execPath} ${PROGRAM} auth login ${more}`;
    const child = spawn(SCRIPT, ["-qec", line, "/dev/null"], { env, stdio: ["ignore", "pipe", "inherit"] });
    const [shown, [code]] = await Promise.all([text(child.stdout), once(child, "close")]);
    expect({ code: code as number, shown }).toMatchObject({ code: 0 });
    return shown;
  };
  expect(await run("--no-browser")).not.toContain("Your browser is being opened.");
  expect(await run("")).toContain("Your browser is being opened.");
  const opened = await vi.waitFor(() => readFile(path.join(home, "opened"), "utf8"), { timeout: 30_000 });
  expect(opened).toBe(`${url}/device?user_code=BCDF-GHJK\n`);
});

describe("output that cannot be written", () => {
  test.skipIf(!existsSync("/dev/full"))("because the disk is full is an error", async () => {
    const child = spawn("/bin/sh", ["-c", `"${process.execPath}" "${PROGRAM}" --help > /dev/full`], {
      env: variables(),
    });
    const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, "close")]);
    expect(code).toBe(1);
    expect(stderr).toBe(
      "error [OUTPUT_FAILED]: The output could not be written (ENOSPC). Make room, or write it elsewhere.\n",
    );
  });

  test("to standard error does not end the command", async () => {
    const { url } = await authorizationServer();
    const child = start(["auth", "login", "--json"], { env: { SVC_API_URL: url, HOME: await project({}) } });
    child.stderr.destroy();
    const [stdout, [code]] = await Promise.all([text(child.stdout), once(child, "close")]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ user: { email: "ada@acme.example" } });
  });
});
