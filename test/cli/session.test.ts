import { chmod, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, test } from "vitest";

import { project } from "../dsl-compiler/project.js";
import { authorizationServer, refused, TOKEN } from "./support/authorization-server.js";
import type { Canned } from "./support/canned-server.js";
import { type RunOptions, steady, svc } from "./support/run-svc.js";

const SESSION = {
  accessToken: "svc_token_before",
  expiresAt: "2026-04-01T00:00:00.000Z",
  organization: { id: "org_1", slug: "acme" },
  email: "ada@acme.example",
};
const ELSEWHERE = "https://svc.example.com";

/** A directory for sessions, with a file of this text. */
async function home(text: string, mode = 0o600): Promise<string> {
  const directory = path.join(await project({}), "svc");
  await mkdir(directory, { mode: 0o700 });
  await writeFile(path.join(directory, "session.json"), text, { mode });
  return directory;
}

const sessions = (more: object) => JSON.stringify({ sessions: more });

async function run(configDirectory: string | null, argv: readonly string[], options: RunOptions = {}) {
  return steady(await svc(argv, { ...options, configDirectory }), [
    [configDirectory ?? "<none>", "<config>"],
    [options.env?.["SVC_API_URL"] ?? "<none>", "<service>"],
  ]);
}

const invalid = (message: string) => ({ code: 1, stdout: "", stderr: `error [SESSION_FILE_INVALID]: ${message}\n` });

describe("an unusable session file is reported in one line", () => {
  test.each([
    ["no JSON", "{"],
    ["no sessions", "{}"],
    ["invalid sessions", '{"sessions":[]}'],
  ])("that holds %s", async (_what, text) => {
    expect(await run(await home(text), ["whoami"])).toEqual(
      invalid("<config>/session.json is not as svc wrote it. Sign in again: `svc auth login` rewrites it."),
    );
  });

  test.each([
    ["without a token", { accessToken: undefined }],
    ["whose token has two lines", { accessToken: "a\nb" }],
    ["whose end is no instant", { expiresAt: "soon" }],
  ])("that holds a session for the service %s", async (_what, wrong) => {
    const { url } = await authorizationServer();
    const directory = await home(sessions({ [url]: { ...SESSION, ...wrong } }));
    const message =
      "The session for <service> in <config>/session.json is not as svc wrote it. Sign in again: `svc auth login` rewrites it.";
    for (const argv of [["whoami"], ["auth", "logout"]])
      expect(await run(directory, argv, { env: { SVC_API_URL: url } })).toEqual(invalid(message));
  });

  test("that others can read, or that cannot be read", async () => {
    const readable = await home(sessions({}), 0o640);
    expect(await run(readable, ["whoami"])).toEqual(
      invalid(
        "<config>/session.json can be read by others, and contains a token. Run `chmod 600 <config>/session.json`; if others use this machine, get a new token: `svc auth login`.",
      ),
    );
    expect((await run(await home(sessions({}), 0o604), ["auth", "logout"])).code).toBe(1);
    const directory = path.join(await project({ "svc/session.json/file": "" }), "svc");
    for (const verb of ["whoami", "auth login"])
      expect(await run(directory, verb.split(" "))).toEqual(
        invalid(
          "<config>/session.json cannot be read (EISDIR). Make it a file that you may read, or remove it and sign in again: `svc auth login`.",
        ),
      );
  });

  test("unless a variable takes precedence", async () => {
    const { url } = await authorizationServer();
    const env = { SVC_API_URL: url, SVC_ACCESS_TOKEN: "svc_token_x", SVC_ORGANIZATION: "org_1" };
    expect((await run(await home("{"), ["whoami"], { env })).code).toBe(0);
  });
});

describe("signing in repairs the file", () => {
  test.each([
    ["is corrupt", "{", 0o600],
    ["others can read", sessions({ [ELSEWHERE]: SESSION }), 0o664],
  ])("if it %s", async (_what, text, mode) => {
    const { url } = await authorizationServer();
    const directory = await home(text);
    await chmod(path.join(directory, "session.json"), mode);
    await chmod(directory, 0o755);
    expect((await run(directory, ["auth", "login"], { env: { SVC_API_URL: url } })).code).toBe(0);
    expect((await stat(directory)).mode & 0o777).toBe(0o700);
    expect((await stat(path.join(directory, "session.json"))).mode & 0o777).toBe(0o600);
    expect((await run(directory, ["whoami"], { env: { SVC_API_URL: url } })).code).toBe(0);
  });
});

describe("signing in fails before it asks for approval if it cannot keep a session", () => {
  const unsaved = (message: string) => ({ code: 1, stdout: "", stderr: `error [SESSION_NOT_SAVED]: ${message}\n` });

  test("without a home directory", async () => {
    expect(await run(null, ["auth", "login"])).toEqual(
      unsaved(
        "There is no home directory to keep a session in. Set HOME to an absolute path, or set SVC_ACCESS_TOKEN and SVC_ORGANIZATION instead of signing in.",
      ),
    );
    expect((await run(null, ["whoami"])).stderr).toContain("error [NOT_SIGNED_IN]");
  });

  // The second directory can never be created: the CLI must not retry forever.
  test.each([
    ["below a file", async () => path.join(await project({ file: "" }), "file", "svc")],
    ...(process.platform === "linux" ? [["in /proc", () => Promise.resolve("/proc/nothing/svc")] as const] : []),
  ] as const)("with an impossible home directory: %s", async (_, folder) => {
    const directory = await folder();
    const { url, seen } = await authorizationServer();
    const { stderr, ...outcome } = await run(directory, ["auth", "login"], { env: { SVC_API_URL: url } });
    // Versions of Node.js have different codes for it.
    expect({ ...outcome, stderr: stderr.replace(/\((ENOTDIR|EEXIST|ENOENT)\)/, "(<code>)") }).toEqual(
      unsaved(
        "A session cannot be kept in <config> (<code>). Make it a directory that you may write to, set XDG_CONFIG_HOME to another, or set SVC_ACCESS_TOKEN and SVC_ORGANIZATION.",
      ),
    );
    expect(seen).toEqual([]);
    expect((await run(directory, ["whoami"])).stderr).toContain("error [NOT_SIGNED_IN]");
  });
});

describe("each service has its own session", () => {
  test("and an invalid one neither blocks the others nor is lost", async () => {
    const { url } = await authorizationServer();
    const odd = { token: "of another version" };
    const directory = await home(sessions({ [ELSEWHERE]: odd, [url]: SESSION }));
    const stored = async () => JSON.parse(await readFile(path.join(directory, "session.json"), "utf8")) as unknown;
    const env = { SVC_API_URL: url };
    expect((await run(directory, ["whoami"], { env })).code).toBe(0);
    expect((await run(directory, ["auth", "login"], { env })).code).toBe(0);
    expect(await stored()).toMatchObject({ sessions: { [ELSEWHERE]: odd, [url]: { accessToken: TOKEN } } });
    expect((await run(directory, ["auth", "logout"], { env })).code).toBe(0);
    expect(await stored()).toEqual({ sessions: { [ELSEWHERE]: odd } });
  });

  test("which is not sent to others", async () => {
    const { url, seen } = await authorizationServer();
    const directory = await home(sessions({ [ELSEWHERE]: SESSION }));
    expect((await run(directory, ["whoami"], { env: { SVC_API_URL: url } })).stderr).toContain(
      "You are not signed in to <service>, only to https://svc.example.com. Sign in: `svc auth login`; where that is not possible,",
    );
    expect(seen).toEqual([]);
  });
});

describe("a command sends the token and organization of", () => {
  test("the session, the configuration file or the variables, each of which takes precedence over those before", async () => {
    const { url, seen } = await authorizationServer();
    const directory = await home(sessions({ [url]: SESSION }));
    const headers = async (env: Record<string, string>, config: object) => {
      seen.length = 0;
      const cwd = await project({ ".kite/config.json": JSON.stringify(config) });
      await run(directory, ["whoami"], { cwd, env: { SVC_API_URL: url, ...env } });
      const { authorization, "x-svc-organization": organization } = seen.find((one) => one.url === "/whoami")!.headers;
      return [authorization, organization];
    };
    const file = { organization: "org_file" };
    expect(await headers({}, {})).toEqual(["Bearer svc_token_before", "org_1"]);
    expect(await headers({}, file)).toEqual(["Bearer svc_token_before", "org_file"]);
    expect(await headers({ SVC_ORGANIZATION: "org_v" }, file)).toEqual(["Bearer svc_token_before", "org_v"]);
    expect(await headers({ SVC_ACCESS_TOKEN: "t" }, file)).toEqual(["Bearer t", "org_file"]);
  });

  test("no session that has ended", async () => {
    const { url } = await authorizationServer();
    const directory = await home(sessions({ [url]: SESSION }));
    const now = Date.parse("2026-07-01");
    expect((await run(directory, ["whoami"], { env: { SVC_API_URL: url }, now })).stderr).toBe(
      "error [NOT_SIGNED_IN]: Your session at <service> ended on 2026-04-01 02:00:00 +02:00. Sign in again: `svc auth login`.\n",
    );
  });

  test("the configuration file, and says so if the organization is wrong", async () => {
    const error = { code: "ORGANIZATION_NOT_FOUND", message: "There is no such organization." };
    const { url } = await authorizationServer({
      other: ({ url }) => (url.startsWith("/projects") ? { status: 404, body: JSON.stringify({ error }) } : undefined),
    });
    const directory = await home(sessions({ [url]: SESSION }));
    const errorIn = async (files: Record<string, string>) =>
      (await run(directory, ["projects", "list"], { cwd: await project(files), env: { SVC_API_URL: url } })).stderr;
    const refused = "error [ORGANIZATION_NOT_FOUND]: There is no such organization. ";
    expect(await errorIn({ ".kite/config.json": '{"organization":"org_2"}' })).toBe(
      `${refused}Correct "organization" of .kite/config.json: \`svc whoami\` names yours.\n`,
    );
    expect(await errorIn({})).toBe(`${refused}You may have left it: sign in again, \`svc auth login\`.\n`);
  });
});

test("signing out leaves SVC_ACCESS_TOKEN alone, and says so", async () => {
  const { url } = await authorizationServer();
  const directory = await home(sessions({ [url]: SESSION }));
  const env = { SVC_API_URL: url, SVC_ACCESS_TOKEN: "t", SVC_ORGANIZATION: "org_1" };
  const stderr = "SVC_ACCESS_TOKEN is set, which this does not touch: unset it yourself.\n";
  for (const stdout of ["Signed out of <service>.\n", "There is no session at <service>.\n"])
    expect(await run(directory, ["auth", "logout"], { env })).toEqual({ code: 0, stdout, stderr });
});

describe("signing out when the service does not end the session", () => {
  const failing = async (revoke: Canned, session = SESSION) => {
    const { url } = await authorizationServer({ revoke });
    return { directory: await home(sessions({ [url]: session })), env: { SVC_API_URL: url } };
  };

  test("keeps it after a temporary failure", async () => {
    const { directory, env } = await failing(refused("server_error", {}, 500));
    expect(await run(directory, ["auth", "logout"], { env })).toMatchInlineSnapshot(`
      exit 1
      ! error [SIGN_OUT_FAILED]: The session could not be ended at <service> (It was refused: server_error), and is kept: its token stays valid until 2026-04-01 02:00:00 +02:00. Try again in a moment, or remove it here anyway: \`svc auth logout --force\`.
    `);
    expect((await run(directory, ["whoami"], { env })).code).toBe(0);
  });

  const KEPT = "its token stays valid until 2026-04-01 02:00:00 +02:00";
  const REFUSED = "It could not be revoked there (It was refused: unsupported_token_type)";
  const ENDED = { expiresAt: "2026-03-01T00:00:00.000Z" };
  const BROKEN = { status: 502, type: "text/html", body: "" };
  test.each<[string, Canned, string[], object, string]>([
    [
      "anyway with --force",
      BROKEN,
      ["--force"],
      {},
      `. It could not be revoked there (<service> answered 502): ${KEPT}`,
    ],
    ["if another try would fail again", refused("unsupported_token_type"), [], {}, `. ${REFUSED}: ${KEPT}`],
    ["if it has expired", refused("server_error", {}, 500), [], ENDED, ", which ended on 2026-03-01 01:00:00 +01:00"],
  ])("removes it %s", async (_when, revoke, options, more, message) => {
    const { directory, env } = await failing(revoke, { ...SESSION, ...more });
    expect(await run(directory, ["auth", "logout", ...options], { env })).toEqual({
      ...{ code: 0, stderr: "" },
      stdout: `Removed the session at <service>${message}.\n`,
    });
    expect((await run(directory, ["whoami"], { env })).stderr).toContain("error [NOT_SIGNED_IN]");
  });
});
