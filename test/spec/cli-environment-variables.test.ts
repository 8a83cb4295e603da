import { describe, expect, it } from "vitest";
import { cannedServer, json } from "../cli/support/canned-server.js";
import { svc } from "../cli/support/run-svc.js";
import { project } from "../dsl-compiler/project.js";
import { useSpec } from "./support/fixture.js";

// Section "Authentication", the table "CLI environment variables".

const fixture = useSpec();

const whoami = (env: Record<string, string>) => svc(["whoami"], { env: { SVC_API_URL: fixture.service.url, ...env } });
const session = () => ({ SVC_ACCESS_TOKEN: fixture.owner.token, SVC_ORGANIZATION: fixture.owner.organizationId });

/** Sends one event; answers the environment where it was stored, or what was said. */
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
    const { code, stdout, stderr } = await whoami({ SVC_ORGANIZATION: fixture.owner.organizationId });
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toBe(
      `error [NOT_SIGNED_IN]: You are not signed in to ${fixture.service.url}. Sign in: \`svc auth login\`; ` +
        "where nobody can, as in CI, set SVC_ACCESS_TOKEN and SVC_ORGANIZATION.\n",
    );
  });
});

describe("| `SVC_ORGANIZATION` | organization ID used with the access token |", () => {
  it("is sent with it", async () => {
    const { url, seen } = await cannedServer(json({ user: {}, organization: {} }));
    await svc(["whoami", "--json"], {
      env: { SVC_API_URL: url, SVC_ACCESS_TOKEN: "svc_token_x", SVC_ORGANIZATION: "org_1" },
    });
    expect(seen.filter((request) => request.url === "/whoami")).toMatchObject([
      { headers: { authorization: "Bearer svc_token_x", "x-svc-organization": "org_1" } },
    ]);
  });

  it("without it, the token is not used", async () => {
    const { code, stderr } = await whoami({ SVC_ACCESS_TOKEN: fixture.owner.token });
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr:
        "error [ORGANIZATION_REQUIRED]: SVC_ACCESS_TOKEN is set, but SVC_ORGANIZATION is not. " +
        "Set SVC_ORGANIZATION to the organization's id.\n",
    });
  });
});

describe("| `SVC_API_URL` | custom API base URL; default is the hosted service |", () => {
  it("is where requests go, whatever the project's file says", async () => {
    const { url, seen } = await cannedServer(json({ data: [], nextCursor: null }));
    const cwd = await project({ ".kite/config.json": '{"project":"shop","apiUrl":"http://127.0.0.1:1"}' });
    const env = { SVC_API_URL: `${url}/base/`, SVC_ACCESS_TOKEN: "t", SVC_ORGANIZATION: "o" };
    expect((await svc(["config", "versions"], { cwd, env })).code).toBe(0);
    expect(seen.map((request) => request.url)).toEqual(["/base/projects/shop/config-versions?env=test&limit=50"]);
  });
});

describe("| `SVC_API_KEY_TEST` | test ingestion key for `events send` |", () => {
  it("is used for test, before the fallback", async () => {
    expect(await send({ SVC_API_KEY_TEST: fixture.keys.test, SVC_API_KEY: "svc_test_other" })).toBe("test");
  });
});

describe("| `SVC_API_KEY_LIVE` | live ingestion key for `events send` |", () => {
  it("is used for live, before the fallback", async () => {
    const env = { SVC_API_KEY_LIVE: fixture.keys.live, SVC_API_KEY: "svc_live_other" };
    expect(await send(env, "--env", "live")).toBe("live");
  });

  it("is not used for test", async () => {
    expect(await send({ SVC_API_KEY_LIVE: fixture.keys.live })).toBe(
      "API_KEY_REQUIRED: there is no ingestion key for test",
    );
  });
});

describe("| `SVC_API_KEY` | fallback ingestion key for the selected environment |", () => {
  it.each(["test", "live"] as const)("for %s", async (environment) => {
    expect(await send({ SVC_API_KEY: fixture.keys[environment] }, "--env", environment)).toBe(environment);
  });

  it("one of the other environment is not sent", async () => {
    expect(await send({ SVC_API_KEY: fixture.keys.live })).toBe(
      "INVALID_SETTING: SVC_API_KEY is a key to live, but the environment is test",
    );
  });
});

describe("| `SVC_NO_AI=1` | disables AI commands |", () => {
  const explain = (env: Record<string, string>, url: string, cwd: string) =>
    svc(["ai", "explain-config", "--project", "app"], { cwd, env: { SVC_API_URL: url, ...session(), ...env } });

  it("refuses them, and names what tells the facts, which need no language model", async () => {
    const { url, seen } = await cannedServer(json({}));
    const cwd = await project({
      "svc.config.ts":
        'import { defineModel, event } from "svc"; export default defineModel({ events: [event("e")] });',
    });
    const { code, stderr } = await explain({ SVC_NO_AI: "1" }, url, cwd);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^error \[AI_DISABLED\]: .* svc ai explain-config --project app --facts\.$/m);
    expect(seen).toEqual([]);
    await explain({ SVC_NO_AI: "" }, url, cwd);
    expect(seen[0]).toMatchObject({ method: "POST", url: "/projects/app/ai/answers?env=test" });
  });
});
