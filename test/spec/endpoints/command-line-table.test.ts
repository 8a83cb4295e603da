import { describe, expect, it } from "vitest";
import { parseCommandLine } from "../../../src/cli/core/adapter.js";
import { svc } from "../../cli/support/run-svc.js";

// Section "Command-line client `svc`", the table of commands: each with every argument and option that it names, and its
// defaults. The other files test what the commands do.

async function valuesOf(line: string): Promise<Readonly<Record<string, unknown>>> {
  const parsed = await parseCommandLine(line.split(" "), { width: 100, version: "0" });
  if (parsed.kind !== "run") throw new Error(`svc ${line} is not a command line`);
  return parsed.values;
}

describe("| Command | Options and behavior |", () => {
  it.each<[line: string, values: Record<string, unknown>]>([
    ["auth login", {}],
    ["whoami", {}],
    ["auth status", {}],
    ["auth logout", {}],
    [
      "init --name Shop --slug shop --stack python --env live --directory d -y",
      { name: "Shop", slug: "shop", stack: "python", env: "live", directory: "d", yes: true },
    ],
    ["init --stack node --yes", { stack: "node", yes: true }],
    ["validate --strict --json", { strict: true, json: true }],
    ["dev --port 5000 --no-watch", { port: 5000, noWatch: true }],
    ["dev", { port: 4401, noWatch: false }],
    [
      "events send paid --customer c --props {} --idempotency-key k --env live --json",
      { event: "paid", customer: "c", props: "{}", idempotencyKey: "k", env: "live", json: true },
    ],
    [
      "events list --customer c --type paid --status pending --since 7d --limit 5 --cursor x",
      { customer: "c", type: "paid", status: "pending", since: "7d", limit: 5, cursor: "x" },
    ],
    ["events list --status processed --since 2026-03-02", { status: "processed", since: "2026-03-02", limit: 20 }],
    ["events tail --customer c --type paid --env live", { customer: "c", type: "paid", env: "live" }],
    [
      "customers list --lifecycle trial --segment s --inactive 7d --limit 5 --cursor x",
      { lifecycle: "trial", segment: "s", inactive: "7d", limit: 5, cursor: "x" },
    ],
    ["customers list", { limit: 50 }],
    ["customers inspect c", { customerId: "c" }],
    ["journeys inspect c j", { customerId: "c", journeyId: "j" }],
    ["segments inspect s --limit 5 --cursor x", { segmentId: "s", limit: 5, cursor: "x" }],
    ["segments inspect s", { limit: 50 }],
    ["health explain c", { customerId: "c" }],
    [
      "rules logs --customer c --rule r --result error --since 7d --limit 5 --detail",
      { customer: "c", rule: "r", result: "error", since: "7d", limit: 5, detail: true },
    ],
    ["rules logs", { limit: 50, detail: false }],
    ["deploy --env live -y --force --json", { env: "live", yes: true, force: true, json: true }],
    ["config versions", {}],
    ["config diff", { from: undefined, to: undefined }],
    ["config diff v1 v2", { from: "v1", to: "v2" }],
    ["config promote --version v1", { version: "v1" }],
    ["config rollback --version v1", { version: "v1" }],
    ["config pull --version v1", { version: "v1" }],
    ["config pull", { version: undefined }],
    ["diagnose", {}],
    [
      "recompute --customer c --dry-run -y --no-wait --env live",
      { customer: "c", all: false, dryRun: true, yes: true, noWait: true, env: "live" },
    ],
    ["recompute --all --yes", { all: true, yes: true }],
    ["ai model-success --model m", { model: "m" }],
    ["ai suggest-events --model m", { model: "m" }],
    ["ai explain-config --model m", { model: "m" }],
    ["ai debug-customer c --model m", { customerId: "c", model: "m" }],
    ["ai why-not-activated c --model m", { customerId: "c", model: "m" }],
    ["ai generate-instrumentation-plan --output p --model m", { output: "p", model: "m" }],
    ["ai explain-config", { model: undefined, output: undefined }],
    ["--debug whoami", { debug: true }],
    ["--no-ai whoami", { noAi: true }],
  ])("svc %s", async (line, values) => {
    expect(await valuesOf(line)).toMatchObject(values);
  });

  it.each(["pass", "fail", "skip", "error"])("svc rules logs --result %s", async (result) => {
    expect(await valuesOf(`rules logs --result ${result}`)).toMatchObject({ result });
  });
});

it.each(
  [
    "auth login, auth logout, whoami, auth status, init, validate, dev, events send, events list, events tail, customers list",
    "customers inspect, journeys inspect, segments inspect, health explain, rules logs, deploy, config versions, config diff",
    "config promote, config rollback, config pull, diagnose, recompute",
  ].flatMap((line) => line.split(", ")),
)("Help: `svc %s --help`.", async (command) => {
  const { code, stdout, stderr } = await svc([...command.split(" "), "--help"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toContain(`svc ${command}`);
});
