import { beforeAll, describe, expect, it } from "vitest";
import { svc, type RunOptions } from "../../cli/support/run-svc.js";
import { runSvc } from "../../local/support/process.js";
import { project } from "../../dsl-compiler/project.js";
import { eventIdOf, useSpec } from "../support/fixture.js";

// Section "Command-line client `svc`": the commands that there are. `svc dev` is in the section "Local engine".

const fixture = useSpec();

const MODEL = `
  import { defineModel, event, lifecycle, number, segment, string, traits } from "svc";
  const paid = event("paid", { amount: number(), note: string().optional() });
  export default defineModel({
    strictSchema: true,
    events: { paid },
    traits: traits({ plan: string() }),
    lifecycle: lifecycle({ initial: "new", states: { new: { to: { customer: paid.happened() } }, customer: {} } }),
    segments: [segment("payers", { when: paid.happened() })],
  });`;
/** Declares an event that nothing reads: worth a warning. */
const SUSPICIOUS = `
  import { defineModel, event } from "svc";
  export default defineModel({ events: [event("paid")] });`;
const BROKEN = `
  import { defineModel, event } from "svc";
  export default defineModel({ events: [event("paid"), event("paid")] });`;

const config = (more: object = {}) => JSON.stringify({ project: "app", ...more });
const folder = (model = MODEL, more: object = {}) =>
  project({ "svc.config.ts": model, ".kite/config.json": config(more) });

/** Runs a command as the owner, with the project's keys. */
async function run(argv: string[], options: RunOptions = {}) {
  const env = {
    SVC_API_URL: fixture.service.url,
    SVC_ACCESS_TOKEN: fixture.owner.token,
    SVC_ORGANIZATION: fixture.owner.organizationId,
    SVC_API_KEY_TEST: fixture.keys.test,
    SVC_API_KEY_LIVE: fixture.keys.live,
    ...options.env,
  };
  return svc(argv, { cwd: await project({ ".kite/config.json": config() }), ...options, env });
}

/** Runs a command with `--json`, and reads the document that it printed. */
async function runJson(argv: string[], options: RunOptions = {}) {
  const { code, stdout, stderr } = await run([...argv, "--json"], options);
  expect(stderr).toBe("");
  return { code, document: JSON.parse(stdout) };
}

/** The code of a command's end, and that of the error that it told of. */
async function refusal(argv: string[], options: RunOptions = {}) {
  const { code, document } = await runJson(argv, options);
  return { code, error: document.error.code as string };
}

const storedBy = (document: unknown) => fixture.storedEvent({ status: 202, headers: new Headers(), body: document });
const activeVersions = async () => {
  const { body } = await fixture.admin("GET", "/projects/app/config-versions");
  return (body as { data: { version: string; active: string[] }[] }).data;
};

it("Requires Node.js 20 or newer.", async () => {
  const { default: manifest } = (await import("../../../package.json", { with: { type: "json" } })) as {
    default: { engines: { node: string } };
  };
  expect(manifest.engines.node).toMatch(/^>=20\b/);
});

describe("Shared options: `--directory <path>` (project directory, default current directory)", () => {
  it("names the folder whose model and settings are meant", async () => {
    const directory = await folder();
    const { code, stdout } = await run(["validate", "--directory", directory]);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout:
        "The model is valid: 1 event, 1 trait, 2 lifecycle states, 1 segment.\n" +
        "State of one customer: at most 6 KiB.\n",
    });
  });

  it("defaults to the current directory", async () => {
    expect((await run(["validate"], { cwd: await folder() })).code).toBe(0);
    expect((await run(["validate"])).code).toBe(1);
  });
});

describe("Shared options: `--env <test|live>` (default is `defaultEnvironment` in `.kite/config.json`)", () => {
  const send = ["events", "send", "paid", "--customer", "environments"];

  it.each([
    ["--env test", ["--env", "test"], {}, "test"],
    ["--env live", ["--env", "live"], {}, "live"],
    ["the default of the file", [], { defaultEnvironment: "live" }, "live"],
    ["--env before the default of the file", ["--env", "test"], { defaultEnvironment: "live" }, "test"],
    ["neither", [], {}, "test"],
  ])("%s", async (_name, options, file, environment) => {
    const cwd = await project({ ".kite/config.json": config(file) });
    const { code, document } = await runJson([...send, ...options], { cwd });
    expect(code).toBe(0);
    expect(await storedBy(document)).toMatchObject({ environment });
  });

  it("knows no other", async () => {
    expect(await refusal([...send, "--env", "staging"])).toEqual({ code: 2, error: "USAGE" });
  });
});

describe("Shared options: `--json` (machine-readable output; command errors also as JSON)", () => {
  it("a result is one document", async () => {
    const { code, document } = await runJson(["whoami"]);
    expect({ code, document }).toEqual({
      code: 0,
      document: {
        user: { email: "owner@acme.example" },
        organization: { id: fixture.owner.organizationId, slug: "acme", role: "owner" },
        api: { url: fixture.service.url },
        credentials: { from: "SVC_ACCESS_TOKEN" },
        organizations: [{ id: fixture.owner.organizationId, slug: "acme", role: "owner" }],
      },
    });
  });

  it("so is an error of the service", async () => {
    const { code, document } = await runJson(["customers", "inspect", "nobody"]);
    expect(code).toBe(1);
    expect(document).toEqual({
      error: {
        code: "CUSTOMER_NOT_FOUND",
        message: 'There is no customer "nobody" in this environment.',
        requestId: "cli_<random>",
        reason: "A customer exists from the evaluation of its first operation on.",
        fix: "check the id and --env; `svc customers list` shows whom there is",
        docs: "https://docs.example.com/api#CUSTOMER_NOT_FOUND",
      },
    });
  });

  it("so is an error of the command line", async () => {
    const { code, document } = await runJson(["customers", "inspect"]);
    expect({ code, document }).toEqual({
      code: 2,
      document: {
        error: {
          code: "USAGE",
          message: "missing <customerId>",
          requestId: "cli_<random>",
          fix: "see `svc customers inspect --help`",
        },
      },
    });
  });
});

it("Shared options: `--debug` (stack traces; goes before the command)", async () => {
  const quiet = await run(["validate"]);
  const loud = await run(["--debug", "validate"]);
  expect([quiet.code, loud.code]).toEqual([1, 1]);
  expect(quiet.stderr).not.toMatch(/^ {4}at /m);
  expect(loud.stderr).toMatch(/^ {4}at /m);
});

describe("Confirmation: commands that change shared state ask for confirmation; `--yes` bypasses standard confirmation, but live deployment still requires typing `live`.", () => {
  it("without a terminal to ask on, nothing is deployed", async () => {
    const { code, stderr } = await run(["deploy"], { cwd: await folder() });
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr:
        "error [CONFIRMATION_REQUIRED]: Deploying to test needs a confirmation, and there is no terminal to ask on. Add --yes.\n",
    });
    expect(await activeVersions()).toEqual([]);
  });

  it.each([
    ["n\n", 1],
    ["y\n", 0],
  ])("on a terminal, %j: exit code %i", async (input, code) => {
    const result = await run(["deploy"], { cwd: await folder(), terminal: true, input });
    expect(result.code).toBe(code);
    expect(await activeVersions()).toHaveLength(code === 0 ? 1 : 0);
  });

  it.each([
    ["--yes alone", 1, ["--yes"], ""],
    ["--yes and another word", 1, ["--yes"], "yes\n"],
    ["the word live", 0, [], "live\n"],
  ])("live, with %s: exit code %i", async (_name, code, options, input) => {
    const result = await run(["deploy", "--env", "live", ...options], { cwd: await folder(), input });
    expect(result.code).toBe(code);
    expect((await activeVersions()).filter(({ active }) => active.includes("live"))).toHaveLength(code === 0 ? 1 : 0);
  });
});

describe("| `svc whoami` (alias `svc auth status`) | shows user, organization, API |", () => {
  it.each(["whoami", "auth status"])("svc %s", async (words) => {
    const { code, stdout, stderr } = await run(words.split(" "));
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: [
        "User          owner@acme.example",
        `Organization  acme (${fixture.owner.organizationId}), as owner`,
        `API           ${fixture.service.url}`,
        "Signed in     by SVC_ACCESS_TOKEN",
        "",
      ].join("\n"),
      stderr: "",
    });
  });
});

describe("| `svc validate [--strict] [--json]` | compiles TypeScript sources, checks schemas and cross-file references; `--strict` treats warnings as errors; does not deploy |", () => {
  it("a valid model", async () => {
    const { code, document } = await runJson(["validate"], { cwd: await folder() });
    expect({ code, document }).toEqual({
      code: 0,
      document: {
        valid: true,
        hash: expect.stringMatching(/^[0-9a-f]{64}$/) as unknown,
        stateBytes: expect.any(Number) as unknown,
        diagnostics: [],
      },
    });
  });

  it("an error, with its place", async () => {
    const { code, document } = await runJson(["validate"], { cwd: await folder(BROKEN) });
    expect(code).toBe(1);
    expect(document).toMatchObject({
      error: { code: "CONFIG_INVALID", diagnostics: [{ code: "DUPLICATE_EVENT", file: "svc.config.ts", line: 3 }] },
    });
  });

  it("a reference across files to what is not there", async () => {
    const cwd = await project({
      "svc.config.ts":
        'import { defineModel } from "svc"; import { payers } from "./model/payers.js"; export default defineModel({ segments: [payers] });',
      "model/payers.ts": 'import { segment } from "svc"; export const buyers = segment("buyers");',
    });
    const { code, document } = await runJson(["validate"], { cwd });
    expect(code).toBe(1);
    expect(document.error.diagnostics[0]).toMatchObject({ file: "svc.config.ts", severity: "error" });
  });

  it("a warning is none with --strict", async () => {
    const cwd = await folder(SUSPICIOUS);
    expect(await runJson(["validate"], { cwd })).toMatchObject({
      code: 0,
      document: { valid: true, diagnostics: [{ severity: "warning" }] },
    });
    expect(await runJson(["validate", "--strict"], { cwd })).toMatchObject({
      code: 1,
      document: { error: { code: "CONFIG_WARNINGS", diagnostics: [{ severity: "warning" }] } },
    });
  });

  it("does not deploy", async () => {
    const before = await activeVersions();
    const cwd = await folder(MODEL.replace('"payers"', '"buyers"'));
    expect((await run(["validate"], { cwd })).code).toBe(0);
    expect(await activeVersions()).toEqual(before);
  });
});

describe("| `svc events send <event> --customer <customerId>` | options `--props <json object>`, `--idempotency-key <key>`, `--env`, `--json`; uses an ingestion key from variables |", () => {
  const send = (...more: string[]) => runJson(["events", "send", "paid", "--customer", "cus_1", ...more]);

  it("--props, the event's properties", async () => {
    const { code, document } = await send("--props", '{"amount": 12.5}');
    expect({ code, document }).toEqual({
      code: 0,
      document: { eventId: eventIdOf({ body: document } as never), accepted: true, queued: true, duplicate: false },
    });
    expect(await storedBy(document)).toMatchObject({
      environment: "test",
      customerId: "cus_1",
      event: "paid",
      properties: { amount: 12.5 },
    });
  });

  it("--props that is no object is not sent", async () => {
    for (const props of ["[]", "5", "{"]) {
      const argv = ["events", "send", "paid", "--customer", "c", "--props", props];
      expect(await refusal(argv)).toEqual({ code: 2, error: "USAGE" });
    }
  });

  it("--idempotency-key makes a repetition harmless", async () => {
    const first = await send("--props", '{"amount":1}', "--idempotency-key", "k");
    const second = await send("--props", '{"amount":1}', "--idempotency-key", "k");
    expect(second.document).toEqual({ ...first.document, duplicate: true });
  });

  it("<event> and --customer are required", async () => {
    expect((await runJson(["events", "send", "--customer", "c"])).document.error.message).toBe("missing <event>");
    expect((await runJson(["events", "send", "paid"])).document.error.message).toBe("missing --customer");
  });
});

describe("customers and segments", () => {
  const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
  const ids = (document: { data: { customerId: string }[] }) => document.data.map(({ customerId }) => customerId);

  beforeAll(async () => {
    const pay = (customerId: string, timestamp: string) => ({
      customerId,
      event: "paid",
      properties: { amount: 1 },
      timestamp,
    });
    const seen = { type: "identify", customerId: "d-new", traits: { plan: "free" } };
    const reply = await fixture.batch(
      [pay("a-old", daysAgo(30)), pay("b-recent", daysAgo(1)), pay("c-recent", daysAgo(1)), seen],
      { Authorization: `Bearer ${fixture.keys.live}` },
    );
    expect(reply.status).toBe(202);
    await fixture.evaluate("live");
  });

  const list = async (...more: string[]) => (await runJson(["customers", "list", "--env", "live", ...more])).document;
  const ours = (document: { data: { customerId: string }[] }) => ids(document).filter((id) => /^[abcd]-/.test(id));

  describe("| `svc customers list` | filters `--lifecycle <state>`, `--segment <segmentId>`, `--inactive <duration>`; `--limit` default 50; `--cursor` |", () => {
    it("--lifecycle", async () => {
      expect(ours(await list("--lifecycle", "new"))).toEqual(["d-new"]);
      expect(ours(await list("--lifecycle", "customer"))).toEqual(["a-old", "b-recent", "c-recent"]);
    });

    it("--segment", async () => {
      expect(ours(await list("--segment", "payers"))).toEqual(["a-old", "b-recent", "c-recent"]);
    });

    it("--inactive", async () => {
      expect(ours(await list("--inactive", "7d", "--segment", "payers"))).toEqual(["a-old"]);
    });

    it("--limit and --cursor", async () => {
      const first = await list("--limit", "1", "--segment", "payers");
      const second = await list("--limit", "1", "--segment", "payers", "--cursor", first.nextCursor as string);
      expect([...ids(first), ...ids(second)]).toEqual(ids(await list("--limit", "2", "--segment", "payers")));
    });
  });

  describe("| `svc customers inspect <customerId>` | complete computed state |", () => {
    it("is the document of the administrative API", async () => {
      const { document } = await runJson(["customers", "inspect", "a-old", "--env", "live"]);
      const { body } = await fixture.admin("GET", "/projects/app/customers/a-old?env=live");
      expect(document).toEqual(body);
      expect(document).toMatchObject({ customerId: "a-old", lifecycle: "customer", segments: ["payers"] });
    });

    it("for people, it says the same in words", async () => {
      const { code, stdout } = await run(["customers", "inspect", "a-old", "--env", "live"]);
      expect(code).toBe(0);
      for (const text of ["a-old in live", "Lifecycle", "customer since", "Segments", "payers"]) {
        expect(stdout).toContain(text);
      }
    });
  });

  describe("| `svc segments inspect <segmentId>` | members and aggregate statistics; `--limit` default 50; `--cursor` |", () => {
    const inspect = async (...more: string[]) =>
      (await runJson(["segments", "inspect", "payers", "--env", "live", ...more])).document;

    it("members, and how many there are", async () => {
      const document = await inspect();
      expect(ours(document)).toEqual(["a-old", "b-recent", "c-recent"]);
      expect(document).toMatchObject({ segment: "payers", members: document.data.length });
    });

    it("--limit and --cursor", async () => {
      const first = await inspect("--limit", "2");
      expect(first.data).toHaveLength(2);
      const rest = await inspect("--cursor", first.nextCursor as string);
      expect([...ids(first), ...ids(rest)]).toEqual(ids(await inspect()));
    });
  });
});

describe("| `svc deploy` | validates and deploys local configuration as a new immutable version; `--env`, `-y/--yes`, `--force` (deploy despite warnings; errors still block), `--json`; attaches available CI provenance (repository, commit, ref, workflow, run) |", () => {
  const variant = (id: string) => folder(MODEL.replace('"payers"', `"${id}"`));

  it("a new immutable version", async () => {
    const before = await activeVersions();
    const { code, document } = await runJson(["deploy", "-y"], { cwd: await variant("buyers") });
    expect({ code, document }).toEqual({
      code: 0,
      document: {
        version: `v${before.length + 1}`,
        hash: expect.stringMatching(/^[0-9a-f]{64}$/) as unknown,
        environment: "test",
        activated: true,
        hasCustomers: false,
        created: true,
        warnings: [],
      },
    });
    const after = await activeVersions();
    expect(after.slice(1).map(({ version }) => version)).toEqual(before.map(({ version }) => version));
  });

  it("validates: errors block, also with --force", async () => {
    const before = await activeVersions();
    const options = { cwd: await folder(BROKEN) };
    expect(await refusal(["deploy", "--yes", "--force"], options)).toEqual({ code: 1, error: "CONFIG_INVALID" });
    expect(await activeVersions()).toEqual(before);
  });

  it("warnings block, but with --force", async () => {
    const cwd = await folder(SUSPICIOUS);
    expect(await refusal(["deploy", "--yes"], { cwd })).toEqual({ code: 1, error: "CONFIG_WARNINGS" });
    expect((await run(["deploy", "--yes", "--force"], { cwd })).code).toBe(0);
  });

  it("attaches available CI provenance", async () => {
    const env = {
      GITHUB_ACTIONS: "true",
      GITHUB_REPOSITORY: "acme/app",
      GITHUB_SHA: "c0ffee",
      GITHUB_REF: "refs/heads/main",
      GITHUB_WORKFLOW: "Deploy",
      GITHUB_RUN_ID: "42",
    };
    expect((await run(["deploy", "--yes"], { cwd: await variant("built_by_ci"), env })).code).toBe(0);
    expect((await activeVersions())[0]).toMatchObject({
      provenance: { repository: "acme/app", commit: "c0ffee", ref: "refs/heads/main", workflow: "Deploy", run: "42" },
    });
  });
});

describe("| `svc config versions` | lists deployed versions and the active one |", () => {
  it("newest first", async () => {
    const { code, document } = await runJson(["config", "versions"]);
    const { body } = await fixture.admin("GET", "/projects/app/config-versions");
    expect({ code, document: document as unknown }).toEqual({ code: 0, document: body });
    const active = document.data.filter((each: { active: string[] }) => each.active.includes("test"));
    expect(active).toMatchObject([{ version: document.data[0].version as string }]);
  });

  it("for people, in a table", async () => {
    const { stdout } = await run(["config", "versions"]);
    expect(stdout.split("\n")[0]).toMatch(/^Version +Active in +Created +Author +Hash( +Deployed from)?$/);
    expect(stdout).toMatch(/^v\d+ +test +\d{4}-/m);
  });
});

describe("| `svc diagnose` | checks configuration and data for common problems |", () => {
  it("an environment without a model", async () => {
    const created = await fixture.admin("POST", "/projects", { body: { name: "Bare", slug: "bare" } });
    expect(created.status).toBe(201);
    const { code, document } = await runJson(["diagnose", "--project", "bare", "--env", "live"]);
    expect(code).toBe(0);
    expect(document.environment).toBe("live");
    expect(document.problems).toContainEqual({
      code: "CONFIGURATION_MISSING",
      severity: "problem",
      message:
        "No configuration is deployed in live: any event and any trait is taken, and nothing is derived of them.",
      fix: "Deploy a model: svc deploy --env live",
      count: 1,
      details: {},
    });
  });

  it("operations that violate a schema that is not strict, and events that are not in it", async () => {
    const cwd = await folder(MODEL.replace("strictSchema: true", "strictSchema: false"));
    expect((await run(["deploy", "--yes"], { cwd })).code).toBe(0);
    const operations = [
      { customerId: "loose", event: "refunded" },
      { type: "identify", customerId: "loose", traits: { colour: "red" } },
    ];
    expect((await fixture.batch(operations)).status).toBe(202);
    await fixture.evaluate();
    const { code, document } = await runJson(["diagnose"]);
    expect(code).toBe(0);
    expect(document.problems).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          code: "EVENTS_UNDECLARED",
          details: { events: [expect.objectContaining({ event: "refunded" }) as object] },
        }),
        expect.objectContaining({
          code: "SCHEMA_VIOLATIONS",
          details: {
            operations: 1,
            violations: [expect.objectContaining({ path: "traits.colour", lastCustomerId: "loose" }) as object],
          },
        }),
      ]),
    );
  });
});

it("the program that is installed is this one: `svc --help` lists the commands", async () => {
  const { code, stdout } = await runSvc(["--help"], await folder());
  expect(code).toBe(0);
  for (const word of ["whoami", "validate", "dev", "deploy", "events", "customers", "segments", "config"]) {
    expect(stdout).toContain(`svc ${word}`);
  }
});
