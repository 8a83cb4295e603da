import { mkdir, readFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { call } from "../../src/db/api/call.js";
import { newCredential } from "../../src/http/request/credentials.js";
import { untilQuiet } from "../cli/support/shop.js";
import { createDatabase, type TestDatabase } from "../support/database.js";
import { freePort } from "../support/free-port.js";
import { playGuide, type Stage } from "../support/guide-play.js";
import { GuideTerminal } from "../support/guide-terminals.js";
import { useDirectory } from "../support/directory.js";
import { startServiceProcess, type ServiceProcess } from "../support/service-process.js";

// The guides for authors of models, run in order against one service, with svc installed as in the starter's workflow. npm installs this
// directory; test/packaging tests the package.

const ROOT = path.resolve(import.meta.dirname, "../..");
const DOCS = path.join(ROOT, "docs");

const directory = await useDirectory();
let db: TestDatabase;
let service: ServiceProcess;
/** The line of the workflow that installed svc. */
let installed: string;
let stage: Stage;
beforeAll(async () => {
  const prefix = path.join(directory, "npm");
  await mkdir(prefix);
  db = await createDatabase();
  service = await startServiceProcess(db.url, { SVC_SETTLE_SECONDS: "0" });
  const token = newCredential("token");
  const { organizationId } = JSON.parse(await call(db.sql, "bootstrap", "acme", "ada@example.com", token.hash)) as {
    organizationId: string;
  };
  stage = {
    directory,
    env: {
      PATH: `${path.join(prefix, "bin")}:${path.dirname(process.execPath)}:${process.env["PATH"]}`,
      HOME: directory,
      TZ: "UTC",
      TMPDIR: process.env["TMPDIR"],
      npm_config_prefix: prefix,
      npm_config_cache: process.env["npm_config_cache"] ?? path.join(process.env["HOME"] ?? directory, ".npm"),
      // For svc-server, as the operator has it.
      DATABASE_URL: db.url,
      SVC_API_URL: service.url,
      SVC_ACCESS_TOKEN: token.text,
      SVC_ORGANIZATION: organizationId,
    },
    ports: { 4400: new URL(service.url).port, 4401: String(await freePort()) },
    untilQuiet: () => untilQuiet(db),
  };
  const { version } = JSON.parse(await readFile(path.join(ROOT, "package.json"), "utf8")) as { version: string };
  const workflow = await readFile(path.join(ROOT, "starter/common/_github/workflows/svc.yml"), "utf8");
  installed = linesOf(workflow).install.replace("{{VERSION}}", version);
  await typed(installed, directory, { ...stage.env, SVC_PACKAGE: ROOT });
});
afterAll(async () => {
  await service.stop();
  await db.drop();
});

/** The commands of a workflow: the line that each of its three jobs starts with, and the others except for those of GitHub's program. */
function linesOf(workflow: string) {
  const lines = [...workflow.matchAll(/^ +(?:- )?run: (.*)$/gm)].map(([, line]) => line!);
  const [install = ""] = lines.filter((line) => line.startsWith("npm install "));
  expect(lines.filter((line) => line === install)).toHaveLength(3);
  return { install, others: lines.filter((line) => line !== install && !line.startsWith("gh pr comment ")) };
}

/** The guide with the actual output of its blocks wherever it differs. */
async function played(name: string) {
  const file = path.join(DOCS, name);
  return { file, written: await playGuide(await readFile(file, "utf8"), stage) };
}

/** Runs a script in a new shell, and returns its output. */
async function typed(script: string, where: string, env: NodeJS.ProcessEnv): Promise<string> {
  const terminal = new GuideTerminal(where, env);
  try {
    return await terminal.run(script);
  } finally {
    await terminal.interrupt();
  }
}

const inShop = (script: string, env: NodeJS.ProcessEnv) => typed(script, path.join(directory, "shop"), env);

// Update by `npx vitest run test/e2e/guides.test.ts -u`.
test("docs/local-development.md shows what its commands print", { timeout: 170_000 }, async () => {
  const { file, written } = await played("local-development.md");
  await expect(written).toMatchFileSnapshot(file);
});

test("docs/ci.md shows what its commands print", { timeout: 120_000 }, async () => {
  await inShop(CUSTOMERS, stage.env);
  await untilQuiet(db);
  const { file, written } = await played("ci.md");
  await expect(written).toMatchFileSnapshot(file);
});

test("the starter's workflow runs where docs/ci.md says", { timeout: 120_000 }, async () => {
  const { install, others } = linesOf(await readFile(path.join(directory, "shop/.github/workflows/svc.yml"), "utf8"));
  // The project's workflow installs svc in the same way and version.
  expect(install).toBe(installed);
  const guide = await readFile(path.join(DOCS, "ci.md"), "utf8");
  const named = others.map((line) => line.replace(/ > .*/, ""));
  expect(named.filter((line) => !guide.includes(`\`${line}\``))).toEqual([]);
  await inShop(
    `sed -i.before 's/"too_many_seats"/"outgrowing"/; s/atLeast(5)/atLeast(20)/' model/segments.ts`,
    stage.env,
  );
  // The program has its own token; .kite/config.json names the organization.
  const { SVC_ORGANIZATION: _, ...env } = stage.env;
  const token = "svc-server tokens create --organization acme --label CI --role developer --json";
  const { accessToken } = JSON.parse(await inShop(token, stage.env)) as { accessToken: string };
  const runner = {
    ...env,
    SVC_ACCESS_TOKEN: accessToken,
    RUNNER_TEMP: directory,
    GITHUB_ACTIONS: "true",
    GITHUB_REPOSITORY: "acme/shop",
    GITHUB_SHA: "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c",
    GITHUB_REF: "refs/heads/main",
    GITHUB_WORKFLOW: "svc",
    GITHUB_RUN_ID: "42",
  };
  const printed: string[] = [];
  for (const line of others) printed.push(await inShop(line, runner));
  expect(printed[0]).toContain("The model is valid");
  expect(await readFile(path.join(directory, "preview.md"), "utf8")).toContain(
    "### What this model would change in test",
  );
  expect(printed.at(-1)).toMatch(/^Deployed v\d+ to test of shop, instead of v\d+/m);
  const [{ provenance }] = await db.sql<[{ provenance: unknown }]>`
    select provenance from svc_inspect.config_versions order by created_at desc limit 1`;
  expect(provenance).toEqual({
    repository: "acme/shop",
    commit: runner.GITHUB_SHA,
    ref: "refs/heads/main",
    workflow: "svc",
    run: "42",
  });
});

/** Some customers in test, so that a preview shows changes. */
const CUSTOMERS = `
export SVC_API_KEY=$(svc keys create --name seed --yes --json | node -p 'JSON.parse(require("fs").readFileSync(0)).secret')
curl -s "$SVC_API_URL/v1/events/batch" -H "Authorization: Bearer $SVC_API_KEY" -H "Content-Type: application/json" -d '{"events": [
  {"type": "identify", "customerId": "globex", "traits": {"plan": "starter", "seats": 12}},
  {"type": "identify", "customerId": "initech", "traits": {"plan": "starter", "seats": 6}},
  {"type": "identify", "customerId": "umbrella", "traits": {"plan": "pro", "seats": 40}}
]}'`;
