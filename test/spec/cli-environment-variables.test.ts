import { describe, expect, it } from "vitest";
import { cannedServer, json } from "../cli/support/canned-server.js";
import { svc } from "../cli/support/run-svc.js";
import { project } from "../dsl-compiler/project.js";
import { useSpec } from "./support/fixture.js";

// Section "Authentication", the table "CLI environment variables".

const fixture = useSpec();

const whoami = (env: Record<string, string>) => svc(["whoami"], { env: { SVC_API_URL: fixture.service.url, ...env } });
const session = () => ({ SVC_ACCESS_TOKEN: fixture.owner.token, SVC_ORGANIZATION: fixture.owner.organizationId });

/** Sends one event; returns the environment where it was stored, or the error. */
async function send(env: Record<string, string>, ...options: string[]): Promise<string> {
  const argv = ["events", "send", "e", "--customer", "c", "--json", ...options];
  const cwd = await project({});
  const { code, stdout } = await svc(argv, { cwd, env: { SVC_API_URL: fixture.service.url, ...env } });
  const body = JSON.parse(stdout) as { error?: { code: string; message: string } };
  if (code !== 0) return `${body.error!.code}: ${body.error!.message}`;
  const reply = { status: 202, headers: new Headers(), body };
  return (await fixture.storedEvent(reply)).environment;
}

describe("| `SVC_ACCESS_TOKEN` | headless CLI access token |; 5. Headless use takes credentials from variables.", () => {
  it("is who acts", async () => {
    expect(await whoami(session())).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^User +owner@acme\.example\n[^]*^Signed in +by SVC_ACCESS_TOKEN$/m) as string,
    });
  });

  it("without it and without a session, nobody is signed in", async () => {
    expect(await whoami({ SVC_ORGANIZATION: fixture.owner.organizationId })).toEqual({
      code: 1,
      stdout: "",
      stderr: `error [NOT_SIGNED_IN]: You are not signed in to ${fixture.service.url}. Sign in: \`svc auth login\`; where that is not possible, as in CI, set SVC_ACCESS_TOKEN and SVC_ORGANIZATION.\n`,
    });
  });
});

describe("| `SVC_ORGANIZATION` | organization ID used with the access token |", () => {
  it("is sent with it", async () => {
    const { url, seen } = await cannedServer(json({ user: {}, organization: {} }));
    const env = { SVC_API_URL: url, SVC_ACCESS_TOKEN: "svc_token_x", SVC_ORGANIZATION: "org_1" };
    await svc(["whoami", "--json"], { env });
    expect(seen.filter((request) => request.url === "/whoami")).toMatchObject([
      { headers: { authorization: "Bearer svc_token_x", "x-svc-organization": "org_1" } },
    ]);
  });

  it("without it, the token is not used", async () => {
    expect(await whoami({ SVC_ACCESS_TOKEN: fixture.owner.token })).toMatchObject({
      code: 1,
      stderr:
        "error [ORGANIZATION_REQUIRED]: SVC_ACCESS_TOKEN is set, but SVC_ORGANIZATION is not. Set SVC_ORGANIZATION to the organization's id.\n",
    });
  });
});

it("| `SVC_API_URL` | custom API base URL; default is the hosted service |: where requests go, whatever the project's file says", async () => {
  const { url, seen } = await cannedServer(json({ data: [], nextCursor: null }));
  const cwd = await project({ ".kite/config.json": '{"project":"shop","apiUrl":"http://127.0.0.1:1"}' });
  const env = { SVC_API_URL: `${url}/base/`, SVC_ACCESS_TOKEN: "t", SVC_ORGANIZATION: "o" };
  expect((await svc(["config", "versions"], { cwd, env })).code).toBe(0);
  expect(seen.map((request) => request.url)).toEqual(["/base/projects/shop/config-versions?env=test&limit=50"]);
});

it("| `SVC_API_KEY_TEST` | test ingestion key for `events send` |: before the fallback", async () => {
  expect(await send({ SVC_API_KEY_TEST: fixture.keys.test, SVC_API_KEY: "svc_test_other" })).toBe("test");
});

it("| `SVC_API_KEY_LIVE` | live ingestion key for `events send` |: before the fallback, and not for test", async () => {
  const env = { SVC_API_KEY_LIVE: fixture.keys.live, SVC_API_KEY: "svc_live_other" };
  expect(await send(env, "--env", "live")).toBe("live");
  const missing = "API_KEY_REQUIRED: there is no ingestion key for test";
  expect(await send({ SVC_API_KEY_LIVE: fixture.keys.live })).toBe(missing);
});

it("| `SVC_API_KEY` | fallback ingestion key for the selected environment |: one of the other environment is not sent", async () => {
  for (const environment of ["test", "live"] as const) {
    expect(await send({ SVC_API_KEY: fixture.keys[environment] }, "--env", environment)).toBe(environment);
  }
  const other = "INVALID_SETTING: SVC_API_KEY is a key for live, but the environment is test";
  expect(await send({ SVC_API_KEY: fixture.keys.live })).toBe(other);
});

it("| `SVC_NO_AI=1` | disables AI commands |, and names what tells the facts, which need no language model", async () => {
  const { url, seen } = await cannedServer(json({}));
  const cwd = await project({
    "svc.config.ts":
      'import { defineModel, event } from "svc-success"; export default defineModel({ events: [event("e")] });',
  });
  const explain = (env: Record<string, string>) =>
    svc(["ai", "explain-config", "--project", "app"], { cwd, env: { SVC_API_URL: url, ...session(), ...env } });
  expect(await explain({ SVC_NO_AI: "1" })).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /^error \[AI_DISABLED\]: .* svc ai explain-config --project app --facts\.$/m,
    ) as string,
  });
  expect(seen).toEqual([]);
  await explain({ SVC_NO_AI: "" });
  expect(seen[0]).toMatchObject({ method: "POST", url: "/projects/app/ai/answers?env=test" });
});
