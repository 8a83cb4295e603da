import { beforeAll, describe, expect, it } from "vitest";
import { ended, start } from "../../cli/support/program.js";
import { svc, type RunOptions } from "../../cli/support/run-svc.js";
import { project } from "../../dsl-compiler/project.js";
import { EVENT_ID } from "../../http/ingest/fixture.js";
import { useSpec } from "../support/fixture.js";

// Section "Command-line client `svc`": the existing commands. `svc dev` is in the section "Local engine".

const fixture = useSpec();

const MODEL = `
  import { defineModel, event, lifecycle, number, segment, string, traits } from "svc-success";
  const paid = event("paid", { amount: number(), note: string().optional() });
  export default defineModel({
    strictSchema: true,
    events: { paid },
    traits: traits({ plan: string() }),
    lifecycle: lifecycle({ initial: "new", states: { new: { to: { customer: paid.happened() } }, customer: {} } }),
    segments: [segment("payers", { when: paid.happened() })],
  });`;
/** Declares an event that nothing reads, which causes a warning. */
const SUSPICIOUS = `
  import { defineModel, event } from "svc-success";
  export default defineModel({ events: [event("paid")] });`;
const BROKEN = `
  import { defineModel, event } from "svc-success";
  export default defineModel({ events: [event("paid"), event("paid")] });`;

const config = (more: object = {}) => JSON.stringify({ project: "app", ...more });
const folder = (model = MODEL) => project({ "svc.config.ts": model, ".kite/config.json": config() });

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

/** Runs a command with `--json`, and parses the printed document. */
async function runJson(argv: string[], options: RunOptions = {}) {
  const { code, stdout, stderr } = await run([...argv, "--json"], options);
  expect(stderr).toBe("");
  return { code, document: JSON.parse(stdout) };
}

/** The document of a command, which must succeed. */
async function documentOf(argv: string[], options: RunOptions = {}) {
  const { code, document } = await runJson(argv, options);
  expect(code, JSON.stringify(document)).toBe(0);
  return document;
}

/** The exit code of a command and the code of its error. */
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
  const { default: manifest } = await import("../../../package.json", { with: { type: "json" } });
  expect(manifest.engines.node).toMatch(/^>=20\b/);
});

it("Shared options: `--directory <path>` (project directory, default current directory)", async () => {
  const directory = await folder();
  expect(await run(["validate", "--directory", directory])).toMatchObject({
    code: 0,
    stdout:
      "The model is valid: 1 event, 1 trait, 2 lifecycle states, 1 segment.\nState of one customer: at most 6 KiB.\n",
  });
  expect((await run(["validate"], { cwd: directory })).code).toBe(0);
  expect((await run(["validate"])).code).toBe(1);
});

describe("Shared options: `--env <test|live>` (default is `defaultEnvironment` in `.kite/config.json`)", () => {
  const send = ["events", "send", "paid", "--customer", "environments"];

  it.each([
    ["--env live", ["--env", "live"], {}, "live"],
    ["the default of the file", [], { defaultEnvironment: "live" }, "live"],
    ["--env before the default of the file", ["--env", "test"], { defaultEnvironment: "live" }, "test"],
    ["neither", [], {}, "test"],
  ])("%s", async (_name, options, file, environment) => {
    const cwd = await project({ ".kite/config.json": config(file) });
    expect(await storedBy(await documentOf([...send, ...options], { cwd }))).toMatchObject({ environment });
  });

  it("refuses any other", async () => {
    expect(await refusal([...send, "--env", "staging"])).toEqual({ code: 2, error: "USAGE" });
  });
});

describe("Shared options: `--json` (machine-readable output; command errors also as JSON)", () => {
  it("a result is a single document", async () => {
    const organization = { id: fixture.owner.organizationId, slug: "acme", role: "owner" };
    expect(await documentOf(["whoami"])).toEqual({
      user: { email: "owner@acme.example" },
      organization,
      api: { url: fixture.service.url },
      credentials: { from: "SVC_ACCESS_TOKEN" },
      organizations: [organization],
    });
  });

  it("an error of the service is one too, and so is one of the command line", async () => {
    expect(await runJson(["customers", "inspect", "nobody"])).toEqual({
      code: 1,
      document: {
        error: {
          code: "CUSTOMER_NOT_FOUND",
          message: 'There is no customer "nobody" in this environment.',
          reason: "A customer exists once its first operation has been evaluated.",
          fix: "check the id and --env; `svc customers list` lists the customers",
          docs: "https://docs.example.com/api#CUSTOMER_NOT_FOUND",
          requestId: "cli_<random>",
        },
      },
    });
    const error = { code: "USAGE", message: "missing <customerId>", fix: "see `svc customers inspect --help`" };
    const document = { error: { ...error, requestId: "cli_<random>" } };
    expect(await runJson(["customers", "inspect"])).toEqual({ code: 2, document });
  });
});

it("Shared options: `--debug` (stack traces; goes before the command)", async () => {
  for (const [argv, traced] of [
    [["validate"], false],
    [["--debug", "validate"], true],
  ] as const) {
    const { code, stderr } = await run([...argv]);
    expect({ code, traced: /^ {4}at /m.test(stderr) }).toEqual({ code: 1, traced });
  }
});

describe("Confirmation: commands that change shared state ask for confirmation; `--yes` bypasses standard confirmation, but live deployment still requires typing `live`.", () => {
  it("without a terminal to ask on, nothing is deployed", async () => {
    expect(await refusal(["deploy"], { cwd: await folder() })).toEqual({ code: 1, error: "CONFIRMATION_REQUIRED" });
    expect(await activeVersions()).toEqual([]);
  });

  it.each<[what: string, environment: string, deployed: number, options: string[], answer: Partial<RunOptions>]>([
    ["n on a terminal", "test", 0, [], { terminal: true, input: "n\n" }],
    ["y on a terminal", "test", 1, [], { terminal: true, input: "y\n" }],
    ["--yes alone", "live", 0, ["--yes"], { input: "" }],
    ["--yes and another word", "live", 0, ["--yes"], { input: "yes\n" }],
    ["the word live", "live", 1, [], { input: "live\n" }],
  ])("with %s, %s gets %i versions", async (_what, environment, deployed, options, answer) => {
    const { code } = await run(["deploy", "--env", environment, ...options], { cwd: await folder(), ...answer });
    expect(code).toBe(1 - deployed);
    expect((await activeVersions()).filter(({ active }) => active.includes(environment))).toHaveLength(deployed);
  });
});

it("| `svc whoami` (alias `svc auth status`) | shows user, organization, API |", async () => {
  const shown = await run(["whoami"]);
  expect(shown).toEqual({
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
  expect(await run(["auth", "status"])).toEqual(shown);
});

describe("| `svc validate [--strict] [--json]` | compiles TypeScript sources, checks schemas and cross-file references; `--strict` treats warnings as errors; does not deploy |", () => {
  it("a valid model is not deployed", async () => {
    const before = await activeVersions();
    const cwd = await folder(MODEL.replace('"payers"', '"buyers"'));
    expect(await documentOf(["validate"], { cwd })).toEqual({
      valid: true,
      hash: expect.stringMatching(/^[0-9a-f]{64}$/) as unknown,
      stateBytes: expect.any(Number) as unknown,
      warnings: [],
    });
    expect(await activeVersions()).toEqual(before);
  });

  const ACROSS = {
    "svc.config.ts":
      'import { defineModel } from "svc-success"; import { payers } from "./model/payers.js"; export default defineModel({ segments: [payers] });',
    "model/payers.ts": 'import { segment } from "svc-success"; export const buyers = segment("buyers");',
  };
  it.each([
    ["an error, with its place", { "svc.config.ts": BROKEN }, { code: "DUPLICATE_EVENT", line: 3 }],
    ["a reference across files to what is not there", ACROSS, { severity: "error" }],
  ])("%s", async (_name, files, diagnostic) => {
    const problems = [{ file: "svc.config.ts", ...diagnostic }];
    expect(await runJson(["validate"], { cwd: await project(files) })).toMatchObject({
      code: 1,
      document: { error: { code: "CONFIG_INVALID", problems } },
    });
  });

  it("a warning is none with --strict", async () => {
    const cwd = await folder(SUSPICIOUS);
    const warnings = [{ severity: "warning" }];
    expect(await documentOf(["validate"], { cwd })).toMatchObject({ valid: true, warnings });
    const error = { code: "CONFIG_WARNINGS", warnings };
    expect(await runJson(["validate", "--strict"], { cwd })).toMatchObject({ code: 1, document: { error } });
  });
});

describe("| `svc events send <event> --customer <customerId>` | options `--props <json object>`, `--idempotency-key <key>`, `--env`, `--json`; uses an ingestion key from variables |", () => {
  const argv = ["events", "send", "paid", "--customer", "cus_1"];

  it("--props, the event's properties, and --idempotency-key, which makes a repetition have no effect", async () => {
    const keyed = [...argv, "--props", '{"amount": 12.5}', "--idempotency-key", "k"];
    const document = await documentOf(keyed);
    expect(document).toEqual({ eventId: EVENT_ID, accepted: true, queued: true, duplicate: false });
    const stored = { environment: "test", customerId: "cus_1", event: "paid", properties: { amount: 12.5 } };
    expect(await storedBy(document)).toMatchObject(stored);
    expect(await documentOf(keyed)).toEqual({ ...document, duplicate: true });
  });

  it.each([
    ["--props [] is no object", [...argv, "--props", "[]"], /--props/],
    ["--props { is no JSON", [...argv, "--props", "{"], /--props/],
    ["<event> is required", ["events", "send", "--customer", "c"], /^missing <event>$/],
    ["--customer is required", ["events", "send", "paid"], /^missing --customer$/],
  ])("%s", async (_what, given, message) => {
    const error = { code: "USAGE", message: expect.stringMatching(message) as unknown };
    expect(await runJson(given)).toMatchObject({ code: 2, document: { error } });
  });
});

describe("customers and segments", () => {
  const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
  const PAYERS = ["a-old", "b-recent", "c-recent"];

  beforeAll(async () => {
    const pay = (customerId: string, days: number) => {
      return { customerId, event: "paid", properties: { amount: 1 }, timestamp: daysAgo(days) };
    };
    const seen = { type: "identify", customerId: "d-new", traits: { plan: "free" } };
    const operations = [pay("a-old", 30), pay("b-recent", 1), pay("c-recent", 1), seen];
    const reply = await fixture.batch(operations, { Authorization: `Bearer ${fixture.keys.live}` });
    expect(reply.status).toBe(202);
    await fixture.evaluate("live");
  });

  /** The ids of these customers in the output of a command, and the complete document. */
  const list = async (...argv: string[]) => {
    const document = await documentOf([...argv, "--env", "live"]);
    const ids = (document.data as { customerId: string }[]).map(({ customerId }) => customerId);
    return { document, ids, ours: ids.filter((id) => /^[abcd]-/.test(id)) };
  };

  /** `--limit` and `--cursor` of a list of the payers lead through all of it. */
  const leadsThrough = async (argv: string[]) => {
    const first = await list(...argv, "--limit", "2");
    expect(first.ids).toHaveLength(2);
    const rest = await list(...argv, "--cursor", first.document.nextCursor as string);
    expect([...first.ids, ...rest.ids]).toEqual((await list(...argv)).ids);
  };

  describe("| `svc customers list` | filters `--lifecycle <state>`, `--segment <segmentId>`, `--inactive <duration>`; `--limit` default 50; `--cursor` |", () => {
    it.each([
      ["--lifecycle new", ["d-new"]],
      ["--segment payers", PAYERS],
      ["--inactive 7d --segment payers", ["a-old"]],
    ])("%s", async (filters, customers) => {
      expect((await list("customers", "list", ...filters.split(" "))).ours).toEqual(customers);
    });

    it("--limit and --cursor", () => leadsThrough(["customers", "list", "--segment", "payers"]));
  });

  it("| `svc customers inspect <customerId>` | complete computed state |: the document of the administrative API; for people, the same in words", async () => {
    const argv = ["customers", "inspect", "a-old", "--env", "live"];
    const document = await documentOf(argv);
    expect(document).toEqual((await fixture.admin("GET", "/projects/app/customers/a-old?env=live")).body);
    expect(document).toMatchObject({ customerId: "a-old", lifecycle: "customer", segments: ["payers"] });
    const { code, stdout } = await run(argv);
    expect(code).toBe(0);
    for (const text of ["a-old in live", "Lifecycle", "customer since", "Segments", "payers"])
      expect(stdout).toContain(text);
  });

  it("| `svc segments inspect <segmentId>` | members and aggregate statistics; `--limit` default 50; `--cursor` |", async () => {
    const { document, ids, ours } = await list("segments", "inspect", "payers");
    expect(ours).toEqual(PAYERS);
    expect(document).toMatchObject({ segment: "payers", members: ids.length });
    await leadsThrough(["segments", "inspect", "payers"]);
  });
});

describe("| `svc deploy` | validates and deploys local configuration as a new immutable version; `--env`, `-y/--yes`, `--force` (deploy despite warnings; errors still block), `--json`; attaches available CI provenance (repository, commit, ref, workflow, run) |", () => {
  it("a new immutable version, with the CI provenance that is available", async () => {
    const before = await activeVersions();
    const env = {
      GITHUB_ACTIONS: "true",
      GITHUB_REPOSITORY: "acme/app",
      GITHUB_SHA: "c0ffee",
      GITHUB_REF: "refs/heads/main",
      GITHUB_WORKFLOW: "Deploy",
      GITHUB_RUN_ID: "42",
    };
    const cwd = await folder(MODEL.replace('"payers"', '"buyers"'));
    expect(await documentOf(["deploy", "-y"], { cwd, env })).toEqual({
      version: `v${before.length + 1}`,
      hash: expect.stringMatching(/^[0-9a-f]{64}$/) as unknown,
      environment: "test",
      activated: true,
      hasCustomers: false,
      created: true,
      warnings: [],
    });
    const [deployed, ...others] = await activeVersions();
    expect(others.map(({ version }) => version)).toEqual(before.map(({ version }) => version));
    expect(deployed).toMatchObject({
      provenance: { repository: "acme/app", commit: "c0ffee", ref: "refs/heads/main", workflow: "Deploy", run: "42" },
    });
  });

  it("errors block, also with --force; warnings block without it", async () => {
    const before = await activeVersions();
    const broken = { cwd: await folder(BROKEN) };
    expect(await refusal(["deploy", "--yes", "--force"], broken)).toEqual({ code: 1, error: "CONFIG_INVALID" });
    const cwd = await folder(SUSPICIOUS);
    expect(await refusal(["deploy", "--yes"], { cwd })).toEqual({ code: 1, error: "CONFIG_WARNINGS" });
    expect(await activeVersions()).toEqual(before);
    expect((await run(["deploy", "--yes", "--force"], { cwd })).code).toBe(0);
  });
});

it("| `svc config versions` | lists deployed versions and the active one |: newest first; for people, in a table", async () => {
  const document = await documentOf(["config", "versions"]);
  expect(document).toEqual((await fixture.admin("GET", "/projects/app/config-versions")).body);
  const active = document.data.filter((each: { active: string[] }) => each.active.includes("test"));
  expect(active).toEqual([document.data[0]]);
  const { stdout } = await run(["config", "versions"]);
  expect(stdout.split("\n")[0]).toMatch(/^Version +Active in +Created +Author +Hash( +Deployed from)?$/);
  expect(stdout).toMatch(/^v\d+ +test +\d{4}-/m);
});

describe("| `svc diagnose` | checks configuration and data for common problems |", () => {
  it("an environment without a model", async () => {
    const created = await fixture.admin("POST", "/projects", { body: { name: "Bare", slug: "bare" } });
    expect(created.status).toBe(201);
    const document = await documentOf(["diagnose", "--project", "bare", "--env", "live"]);
    expect(document.environment).toBe("live");
    expect(document.problems).toContainEqual({
      code: "CONFIGURATION_MISSING",
      severity: "problem",
      message:
        "No configuration is deployed in live: any event and any trait is accepted, and nothing is derived from them.",
      fix: "Deploy a model: svc deploy --env live",
      count: 1,
      details: {},
    });
  });

  it("operations that violate a schema that is not strict, and undeclared events", async () => {
    const cwd = await folder(MODEL.replace("strictSchema: true", "strictSchema: false"));
    expect((await run(["deploy", "--yes"], { cwd })).code).toBe(0);
    const operations = [
      { customerId: "loose", event: "refunded" },
      { type: "identify", customerId: "loose", traits: { colour: "red" } },
    ];
    expect((await fixture.batch(operations)).status).toBe(202);
    await fixture.evaluate();
    const { problems } = await documentOf(["diagnose"]);
    const detailsOf = (code: string) => problems.find((problem: { code: string }) => problem.code === code).details;
    expect(detailsOf("EVENTS_UNDECLARED")).toMatchObject({ events: [{ event: "refunded" }] });
    expect(detailsOf("SCHEMA_VIOLATIONS")).toMatchObject({
      operations: 1,
      violations: [{ path: "traits.colour", lastCustomerId: "loose" }],
    });
  });
});

it("the installed program lists the commands: `svc --help`", async () => {
  const { code, stdout } = await ended(start(["--help"], { cwd: await folder() }));
  expect(code).toBe(0);
  for (const word of ["whoami", "validate", "dev", "deploy", "events", "customers", "segments", "config"]) {
    expect(stdout).toContain(`svc ${word}`);
  }
});
