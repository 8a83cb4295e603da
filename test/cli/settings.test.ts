import { chmod } from "node:fs/promises";
import path from "node:path";
import { describe, expect, test } from "vitest";

import { project } from "../dsl-compiler/project.js";
import { cannedServer, json } from "./support/canned-server.js";
import { svc } from "./support/run-svc.js";

const SESSION = { SVC_ACCESS_TOKEN: "svc_token_x", SVC_ORGANIZATION: "org_1" };
const PAGE = json({ data: [], nextCursor: null });

/** The error of a run, with the random directory name replaced. */
async function failure(directory: string, argv = ["config", "versions"], env: Record<string, string> = SESSION) {
  const { code, stdout, stderr } = await svc(argv, { cwd: directory, env });
  expect(stdout).toBe("");
  return `${code} ${stderr.replaceAll(directory, "<directory>")}`;
}

test("if a setting is missing or wrong, a command says what to set", async () => {
  const cwd = await project({});
  const errors: string[] = [];
  for (const [line, env] of [
    ["config versions", SESSION],
    ["config versions --directory absent", SESSION],
    ["config versions --project shop\u001b[2J", SESSION],
    ["customers inspect \udc00 --project shop", SESSION],
    ["whoami", { ...SESSION, SVC_API_URL: "ftp://x" }],
    ["whoami", { ...SESSION, SVC_ACCESS_TOKEN: "a\nb" }],
    ["events send e --customer c --env live", SESSION],
    ["events send e --customer c", { SVC_API_KEY: "svc_live_x" }],
    ["events send e --customer c", { SVC_API_KEY_TEST: "svc_live_x" }],
  ] as const)
    errors.push(await failure(cwd, line.split(" "), env));
  expect(errors.join("")).toMatchInlineSnapshot(`
    "1 error [PROJECT_REQUIRED]: No project was given, neither by --project nor by "project" of .kite/config.json. Run the command in a project's directory, or add --project <slug>.
    1 error [INVALID_SETTING]: There is no directory <directory>/absent. Correct --directory.
    2 error [USAGE]: --project is not a valid project slug: "shop\\u001b[2J". Give 1 to 63 lower-case letters, digits and hyphens, not a hyphen first.
    1 error [INVALID_SETTING]: "\\udc00" is not an identifier: it contains half a character. Check it, and give the whole of it.
    1 error [INVALID_SETTING]: SVC_API_URL is not the address of a service: "ftp://x". Write one such as http://127.0.0.1:4400.
    1 error [INVALID_SETTING]: SVC_ACCESS_TOKEN contains a space, a line break or a character that no token has. Copy it again, as one word.
    1 error [API_KEY_REQUIRED]: There is no ingestion key for live. Set SVC_API_KEY_LIVE or SVC_API_KEY to a key of that environment.
    1 error [INVALID_SETTING]: SVC_API_KEY is a key for live, but the environment is test. Set SVC_API_KEY_TEST, or add --env live.
    1 error [INVALID_SETTING]: SVC_API_KEY_TEST is a key for live, but the environment is test. Set SVC_API_KEY_TEST to a key for test; one for live belongs in SVC_API_KEY_LIVE, and is used with --env live.
    "
  `);
});

describe("a bad setting is one clear line", () => {
  test.each([
    ["no JSON", "{"],
    ["no object", "[]"],
    ["a project that is no text", '{"project":5}'],
    ["a project that is no slug", '{"project":"shop\\u001b[2Jx"}'],
    ["an unknown environment", '{"project":"p","defaultEnvironment":"prod"}'],
    ["an address that is none", '{"project":"p","apiUrl":"localhost:4400"}'],
    ["an organization that is no id", '{"project":"p","organization":"two words"}'],
  ])("a configuration file with %s", async (_what, text) => {
    expect(await failure(await project({ ".kite/config.json": text }))).toMatchSnapshot();
  });

  test("a configuration file that cannot be read", async () => {
    expect(await failure(await project({ ".kite/config.json/file": "" }))).toMatchInlineSnapshot(`
      "1 error [CONFIG_FILE_INVALID]: <directory>/.kite/config.json cannot be read (EISDIR). Make it a file that you may read.
      "
    `);
  });

  test.runIf(process.getuid?.() !== 0)("a configuration file that may not be read", async () => {
    const directory = await project({ ".kite/config.json": "{}" });
    await chmod(path.join(directory, ".kite/config.json"), 0);
    expect(await failure(directory)).toContain("cannot be read (EACCES)");
  });
});

describe("the command line takes precedence over variables, and those over the file", () => {
  test("the file names project, environment and address; options and SVC_API_URL take precedence", async () => {
    const { url, seen } = await cannedServer(PAGE);
    const config = (apiUrl: string) => JSON.stringify({ project: "shop", defaultEnvironment: "live", apiUrl });
    // With the mark that some editors put before a text.
    const cwd = await project({ ".kite/config.json": `\uFEFF${config(`${url}/`)}\r\n` });
    expect((await svc(["config", "versions"], { cwd, env: SESSION })).code).toBe(0);
    expect(seen[0]).toMatchObject({
      method: "GET",
      url: "/projects/shop/config-versions?env=live&limit=50",
      headers: { authorization: "Bearer svc_token_x", "x-svc-organization": "org_1" },
    });
    const elsewhere = await project({ ".kite/config.json": config("http://127.0.0.1:9") });
    const argv = ["config", "versions", "--project", "other", "--env", "test", "--limit", "5"];
    expect((await svc(argv, { cwd: elsewhere, env: { ...SESSION, SVC_API_URL: url } })).code).toBe(0);
    expect(seen[1]?.url).toBe("/projects/other/config-versions?env=test&limit=5");
  });
});
