import { chmod, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, test } from "vitest";

import { project } from "../dsl-compiler/project.js";
import { authorizationServer, refused, TOKEN } from "./support/authorization-server.js";
import type { Canned } from "./support/canned-server.js";
import { type RunOptions, svc } from "./support/run-svc.js";

const SESSION = {
  accessToken: "svc_token_before",
  expiresAt: "2026-04-01T00:00:00.000Z",
  organization: { id: "org_1", slug: "acme" },
  email: "ada@acme.example",
};
const ELSEWHERE = "https://svc.example.com";

/** A folder for sessions, with a file of this text. */
async function home(text: string, mode = 0o600): Promise<string> {
  const directory = path.join(await project({}), "svc");
  await mkdir(directory, { mode: 0o700 });
  await writeFile(path.join(directory, "session.json"), text, { mode });
  return directory;
}

const sessions = (more: object) => JSON.stringify({ sessions: more });

async function run(configDirectory: string | null, argv: readonly string[], options: RunOptions = {}) {
  const { code, stdout, stderr } = await svc(argv, { ...options, configDirectory });
  const shown = (text: string) =>
    text
      .replaceAll(configDirectory ?? "<none>", "<config>")
      .replaceAll(options.env?.["SVC_API_URL"] ?? "<none>", "<service>");
  return { code, stdout: shown(stdout), stderr: shown(stderr) };
}

describe("a file that is no good is told in one line", () => {
  test.each([
    ["no JSON", "{"],
    ["no sessions", "{}"],
    ["sessions that are none", '{"sessions":[]}'],
  ])("that holds %s", async (_what, text) => {
    const { code, stdout, stderr } = await run(await home(text), ["whoami"]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toBe(
      "error [SESSION_FILE_INVALID]: <config>/session.json is not as svc wrote it. Sign in again: `svc auth login` writes it anew.\n",
    );
  });

  test.each([
    ["without a token", { accessToken: undefined }],
    ["whose token has two lines", { accessToken: "a\nb" }],
    ["whose end is no instant", { expiresAt: "soon" }],
  ])("that holds a session for the service %s", async (_what, wrong) => {
    const { url } = await authorizationServer();
    const directory = await home(sessions({ [url]: { ...SESSION, ...wrong } }));
    for (const argv of [["whoami"], ["auth", "logout"]]) {
      const { code, stdout, stderr } = await run(directory, argv, { env: { SVC_API_URL: url } });
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      expect(stderr).toBe(
        "error [SESSION_FILE_INVALID]: The session for <service> in <config>/session.json is not as svc wrote it. Sign in again: `svc auth login` writes it anew.\n",
      );
    }
  });

  test("that others can read", async () => {
    const directory = await home(sessions({}), 0o644);
    expect(await run(directory, ["whoami"])).toMatchInlineSnapshot(`
      exit 1
      ! error [SESSION_FILE_INVALID]: <config>/session.json can be read by others, and holds a token. Run \`chmod 600 <config>/session.json\`; if others use this machine, make a new token by \`svc auth login\`.
    `);
    expect((await run(directory, ["auth", "logout"])).code).toBe(1);
  });

  test("that cannot be read", async () => {
    const directory = path.join(await project({ "svc/session.json/file": "" }), "svc");
    expect(await run(directory, ["whoami"])).toMatchInlineSnapshot(`
      exit 1
      ! error [SESSION_FILE_INVALID]: <config>/session.json cannot be read (EISDIR). Make it a file that you may read, or remove it and sign in again: \`svc auth login\`.
    `);
    expect((await run(directory, ["auth", "login"])).stderr).toContain("cannot be read (EISDIR)");
  });

  test("unless a variable goes before it", async () => {
    const { url } = await authorizationServer();
    const env = { SVC_API_URL: url, SVC_ACCESS_TOKEN: "svc_token_x", SVC_ORGANIZATION: "org_1" };
    expect((await run(await home("{"), ["whoami"], { env })).code).toBe(0);
  });
});

describe("signing in mends it", () => {
  test.each([
    ["is corrupt", "{", 0o600],
    ["others can read", sessions({ [ELSEWHERE]: SESSION }), 0o664],
  ])("where it %s", async (_what, text, mode) => {
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

describe("it is known before anybody is asked to approve that nothing can be kept", () => {
  test("where there is no home", async () => {
    expect(await run(null, ["auth", "login"])).toMatchInlineSnapshot(`
      exit 1
      ! error [SESSION_NOT_SAVED]: There is no home directory to keep a session in. Set HOME to an absolute path, or set SVC_ACCESS_TOKEN and SVC_ORGANIZATION instead of signing in.
    `);
    expect((await run(null, ["whoami"])).stderr).toContain("error [NOT_SIGNED_IN]");
  });

  test("where the home is no directory", async () => {
    const directory = path.join(await project({ file: "" }), "file", "svc");
    const { url, seen } = await authorizationServer();
    expect(await run(directory, ["auth", "login"], { env: { SVC_API_URL: url } })).toMatchInlineSnapshot(`
      exit 1
      ! error [SESSION_NOT_SAVED]: A session cannot be kept in <config> (ENOTDIR). Make it a directory that you may write to, set XDG_CONFIG_HOME to another, or set SVC_ACCESS_TOKEN and SVC_ORGANIZATION.
    `);
    expect(seen).toEqual([]);
    expect((await run(directory, ["whoami"])).stderr).toContain("error [NOT_SIGNED_IN]");
  });
});

test.runIf(process.platform === "linux")("a folder that nobody can make is told, not tried for ever", async () => {
  expect(await run("/proc/nothing/svc", ["auth", "login"])).toMatchInlineSnapshot(`
    exit 1
    ! error [SESSION_NOT_SAVED]: A session cannot be kept in <config> (ENOENT). Make it a directory that you may write to, set XDG_CONFIG_HOME to another, or set SVC_ACCESS_TOKEN and SVC_ORGANIZATION.
  `);
});

describe("each service has its own session", () => {
  test("and one that is no good is in the way of no other, nor lost with it", async () => {
    const { url } = await authorizationServer();
    const odd = { token: "of another version" };
    const directory = await home(sessions({ [ELSEWHERE]: odd, [url]: SESSION }));
    const kept = async () => JSON.parse(await readFile(path.join(directory, "session.json"), "utf8")) as unknown;
    const env = { SVC_API_URL: url };
    expect((await run(directory, ["whoami"], { env })).code).toBe(0);
    expect((await run(directory, ["auth", "login"], { env })).code).toBe(0);
    expect(await kept()).toMatchObject({ sessions: { [ELSEWHERE]: odd, [url]: { accessToken: TOKEN } } });
    expect((await run(directory, ["auth", "logout"], { env })).code).toBe(0);
    expect(await kept()).toEqual({ sessions: { [ELSEWHERE]: odd } });
  });

  test("which goes to no other", async () => {
    const { url, seen } = await authorizationServer();
    const directory = await home(sessions({ [ELSEWHERE]: SESSION }));
    const { stderr } = await run(directory, ["whoami"], { env: { SVC_API_URL: url } });
    expect(stderr).toMatchInlineSnapshot(`
      "error [NOT_SIGNED_IN]: You are not signed in to <service>, only to https://svc.example.com. Sign in: \`svc auth login\`; where nobody can, as in CI, set SVC_ACCESS_TOKEN and SVC_ORGANIZATION.
      "
    `);
    expect(seen).toEqual([]);
  });
});

describe("in whose name a command acts", () => {
  const headers = async (env: Record<string, string>, config: object = {}) => {
    const { url, seen } = await authorizationServer();
    const directory = await home(sessions({ [url]: SESSION }));
    const cwd = await project({ ".kite/config.json": JSON.stringify(config) });
    await run(directory, ["whoami"], { cwd, env: { SVC_API_URL: url, ...env } });
    const { authorization, "x-svc-organization": organization } = seen.find((one) => one.url === "/whoami")!.headers;
    return [authorization, organization];
  };

  test.each([
    ["the session's", {}, {}, "svc_token_before", "org_1"],
    ["the file's organization", {}, { organization: "org_file" }, "svc_token_before", "org_file"],
    [
      "the variable's organization",
      { SVC_ORGANIZATION: "org_v" },
      { organization: "org_file" },
      "svc_token_before",
      "org_v",
    ],
    ["the variable's token", { SVC_ACCESS_TOKEN: "t" }, { organization: "org_file" }, "t", "org_file"],
  ])("%s", async (_what, env, config, token, organization) => {
    expect(await headers(env, config)).toEqual([`Bearer ${token}`, organization]);
  });

  test("a wrong organization of the file is told as such", async () => {
    const error = { code: "ORGANIZATION_NOT_FOUND", message: "There is no such organization." };
    const { url } = await authorizationServer({
      other: ({ url }) => (url.startsWith("/projects") ? { status: 404, body: JSON.stringify({ error }) } : undefined),
    });
    const directory = await home(sessions({ [url]: SESSION }));
    const cwd = await project({ ".kite/config.json": '{"organization":"org_2"}' });
    const env = { SVC_API_URL: url };
    expect((await run(directory, ["projects", "list"], { cwd, env })).stderr).toMatchInlineSnapshot(`
      "error [ORGANIZATION_NOT_FOUND]: There is no such organization. Correct "organization" of .kite/config.json: \`svc whoami\` names yours.
      "
    `);
    const left = await run(directory, ["projects", "list"], { cwd: await project({}), env });
    expect(left.stderr).toMatchInlineSnapshot(`
      "error [ORGANIZATION_NOT_FOUND]: There is no such organization. You may have left it: sign in again, \`svc auth login\`.
      "
    `);
  });
});

describe("signing out where the service cannot end the session", () => {
  const failing = async (revoke: Canned, session: object = SESSION) => {
    const { url } = await authorizationServer({ revoke });
    return { directory: await home(sessions({ [url]: session })), env: { SVC_API_URL: url } };
  };

  test("for the moment keeps it for another try", async () => {
    const { directory, env } = await failing(refused("server_error", {}, 500));
    expect(await run(directory, ["auth", "logout"], { env })).toMatchInlineSnapshot(`
      exit 1
      ! error [SIGN_OUT_FAILED]: The session could not be ended at <service> (It was refused: server_error), and is kept: its token stays good until 2026-04-01 02:00:00 +02:00. Try again in a moment, or remove it here all the same: \`svc auth logout --force\`.
    `);
    expect((await run(directory, ["whoami"], { env })).code).toBe(0);
  });

  test("removes it all the same with --force", async () => {
    const { directory, env } = await failing({ status: 502, type: "text/html", body: "" });
    expect(await run(directory, ["auth", "logout", "--force"], { env })).toMatchInlineSnapshot(`
      Removed the session at <service>. It could not be revoked there (<service> answered 502): its token stays good until 2026-04-01 02:00:00 +02:00.
    `);
    expect((await run(directory, ["whoami"], { env })).stderr).toContain("error [NOT_SIGNED_IN]");
  });

  test("removes it where another try would give the same", async () => {
    const { directory, env } = await failing(refused("unsupported_token_type"));
    expect(await run(directory, ["auth", "logout"], { env })).toMatchInlineSnapshot(`
      Removed the session at <service>. It could not be revoked there (It was refused: unsupported_token_type): its token stays good until 2026-04-01 02:00:00 +02:00.
    `);
  });

  test("removes one that has ended by itself", async () => {
    const ended = { ...SESSION, expiresAt: "2026-03-01T00:00:00.000Z" };
    const { directory, env } = await failing(refused("server_error", {}, 500), ended);
    expect(await run(directory, ["auth", "logout"], { env })).toMatchInlineSnapshot(`
      Removed the session at <service>, which ended on 2026-03-01 01:00:00 +01:00.
    `);
  });
});
