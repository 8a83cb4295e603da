import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { cp, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect } from "../../src/db/connect.js";
import { TRACKING_PATHS } from "../../src/http/request/tracking-calls.js";
import { rolledBack } from "../support/database.js";
import { INSTALL_MS_MAX, installed } from "../support/debian.js";
import { temporaryDirectory } from "../support/server.js";
import { environmentId } from "../support/service.js";
import { createWebhook, emitWithin } from "../webhooks/support/fixtures.js";
import { METRICS_TOKEN, startObserved } from "./support/observed.js";
import { freePort } from "../support/free-port.js";

const OPERATIONS = path.resolve(import.meta.dirname, "../../docs/operations");
const read = (file: string) => readFileSync(path.join(OPERATIONS, file), "utf8");
const all = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map((match) => match[1]!);

interface Rule {
  name: string;
  query: string;
  health: string;
  lastError?: string;
}

const observed = await startObserved({ events: { login: { properties: {} } } });
await observed.send([{ customerId: "c", event: "login" }]);
afterAll(() => observed.stop());

/** The metrics of a process, with the suffixed names of histograms. */
async function shownMetrics(): Promise<Set<string>> {
  const types = [...(await observed.text()).matchAll(/^# TYPE (\S+) (\S+)$/gm)];
  return new Set(
    types.flatMap(([, name, type]) =>
      type === "histogram" ? ["bucket", "sum", "count"].map((end) => `${name!}_${end}`) : [name!],
    ),
  );
}

/** Alerts that other load on the machine can cause. */
const OF_SPEED = new Set(["SvcEventLoopBlocked", "SvcEvaluationSlow", "SvcIngestionSlow", "SvcTicksSlow"]);

const metricsIn = (expression: string) =>
  all(expression.replace(/\{[^}]*\}/g, "{}"), /\b((?:svc|nodejs|process)_\w+)/g);

interface Panel {
  type: string;
  title: string;
  description?: string;
  gridPos: { x: number; w: number };
  targets?: { expr: string }[];
}

const dashboard = JSON.parse(read("dashboard.json")) as { panels: Panel[] };
const panels = dashboard.panels.filter(({ type }) => type !== "row");
const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));

describe("the dashboard", () => {
  it("queries existing metrics, and each metric of the service", async () => {
    const shown = await shownMetrics();
    const queried = expressions.flatMap(metricsIn);
    expect(queried.filter((name) => !shown.has(name))).toEqual([]);
    expect(expressions.every((expression) => metricsIn(expression).length === 1)).toBe(true);
    const named = new Set(queried.map((name) => name.replace(/_(bucket|sum|count)$/, "")));
    expect(all(await observed.text(), /^# TYPE (svc_\S+)/gm).filter((name) => !named.has(name))).toEqual([]);
  });

  it("describes each panel, within the width of the page", () => {
    for (const { title, description, gridPos } of panels) {
      expect([title, description]).toEqual([expect.stringMatching(/./), expect.stringMatching(/\.$/)]);
      expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
    }
  });
});

it("times of ingestion include the calls of SDKs", () => {
  const texts = [read("alerts.yml"), ...expressions].join("\n");
  const selected = all(texts, /request_duration_seconds_bucket\{[^}]*route=~"([^"]+)"/g);
  expect(selected).toHaveLength(3);
  const paths = ["/v1/events", "/v1/events/batch", ...TRACKING_PATHS.map(([route]) => route)];
  // Prometheus anchors its regular expressions.
  for (const routes of selected)
    expect(paths.filter((route) => !new RegExp(`^(?:${routes})$`).test(route))).toEqual([]);
});

describe("monitoring.md", () => {
  const page = read("monitoring.md");

  it("has a section for each alert, to which the alert refers, and a row for each metric", async () => {
    const alerts = all(read("alerts.yml"), /alert: (\w+)/g);
    expect(all(page, /^### (Svc\w+)$/gm)).toEqual(alerts);
    expect(all(read("alerts.yml"), /runbook: monitoring\.md#(\w+)/g)).toEqual(alerts.map((name) => name.toLowerCase()));
    const own = all(await observed.text(), /^# TYPE (svc_\S+)/gm);
    expect(all(page, /^\| `(svc_\w+)`/gm).sort()).toEqual(own.sort());
  });

  const marked = (language: string) =>
    all(page, new RegExp(`<!-- test/metrics/rules[^\n]*\n\n\`\`\`${language}\n(.*?)\`\`\``, "gs"));

  it("has commands that answer as documented", async () => {
    const env = { ...process.env, SVC_API_URL: observed.http.address, SVC_METRICS_TOKEN: METRICS_TOKEN };
    // Asynchronously, as the service runs in this process.
    const run = (command: string) => promisify(execFile)("bash", ["-euc", command], { env });
    const answers = (await Promise.all(marked("bash").map(run))).map(({ stdout }) => stdout);
    expect(answers).toEqual([
      '{"status":"ok"}',
      expect.stringContaining("# TYPE svc_database_up gauge\nsvc_database_up 1\n"),
    ]);
  });

  it("has SQL that a reader can run", async () => {
    const { sql, name, url } = observed.fixture.service.db;
    const statements = marked("sql");
    expect(statements.length).toBe(all(page, /^(```sql)$/gm).length);
    const user = `${name}_reader`;
    await sql.unsafe(`create role ${user} login password 'reader' in role svc_reader`);
    const as = Object.assign(new URL(url), { username: user, password: "reader" });
    const reader = connect(as.href, { max: 1, applicationName: "svc test reader" });
    try {
      for (const statement of statements) await reader.unsafe(statement);
    } finally {
      await reader.end();
      await sql.unsafe(`drop role ${user}`);
    }
  });

  it("has SQL that lists what is pending, except in a frozen environment", async () => {
    const lists = marked("sql").filter((statement) =>
      /svc_inspect\.(environments|customers|deliveries|webhooks)\b/.test(statement),
    );
    expect(lists).toHaveLength(4);
    const { sql } = observed.fixture.service.db;
    const id = await environmentId(sql, "app", "live");
    const listed = await rolledBack(sql, async (tx) => {
      await tx`
        insert into svc.ingest_batches (environment_id, batch_seq, batch_id, accepted_at, tracked, identified, late)
        values (${id}, 1, gen_random_uuid(), now(), 1, 0, false)`;
      await tx`insert into svc.inbox (environment_id, customer_id, seq) values (${id}, 'c', 1024)`;
      await tx`
        insert into svc.customers (environment_id, customer_id, created_at, set_aside_at, set_aside_error)
        values (${id}, 'c', now(), now(), 'why')`;
      const { webhookId } = await createWebhook(tx as unknown as typeof sql, id, "https://example.com");
      await emitWithin(tx, id, [{}]);
      await tx`update svc.deliveries set next_attempt_at = now() - interval '1 hour' where environment_id = ${id}`;
      await tx`
        update svc.webhooks set disabled_at = now(), disabled_reason = 'The endpoint answered 410 Gone.'
        where webhook_id = ${webhookId}`;
      const rowsOf = async (frozenAt: string | null) => {
        await tx`update svc.environments set frozen_at = ${frozenAt}::text::timestamptz where environment_id = ${id}`;
        const counts: number[] = [];
        for (const statement of lists) {
          const rows = await tx.unsafe<{ environment: string }[]>(statement);
          counts.push(rows.filter(({ environment }) => environment === "live").length);
        }
        return counts;
      };
      return [await rowsOf(null), await rowsOf("now")];
    });
    expect(listed).toEqual([
      [1, 1, 1, 1],
      [0, 0, 0, 0],
    ]);
  });

  it("documents the type and labels of each metric as exposed", async () => {
    const samples = await observed.scrape();
    const types = new Map(
      [...(await observed.text()).matchAll(/^# TYPE (svc_\S+) (\S+)$/gm)].map(([, name, type]) => [name!, type!]),
    );
    for (const [, name, type, labels] of page.matchAll(/^\| `(svc_\w+)` +\| (\w+) +\| ([^|]*?) *\|/gm)) {
      expect([name, type]).toEqual([name, types.get(name!)]);
      const shown = samples.find((sample) => sample.name.startsWith(name!));
      if (shown === undefined) continue; // not counted yet
      const named = Object.keys(shown.labels).filter((label) => label !== "le");
      expect([name, all(labels!, /`(\w+)`/g)]).toEqual([name, named]);
    }
  });
});

describe("Prometheus", () => {
  let skipped: string | null;
  let directory: string;
  let prometheus: ChildProcess;
  let address: string;
  beforeAll(async () => {
    skipped = await installed("/usr/bin/prometheus", ["prometheus"]);
    if (skipped !== null) return;
    directory = await temporaryDirectory();
    await cp(path.join(OPERATIONS, "alerts.yml"), path.join(directory, "alerts.yml"));
    await writeFile(path.join(directory, "prometheus.yml"), configuration());
    const port = await freePort();
    address = `http://127.0.0.1:${port}`;
    prometheus = spawn(
      "/usr/bin/prometheus",
      [`--config.file=prometheus.yml`, `--storage.tsdb.path=data`, `--web.listen-address=127.0.0.1:${port}`],
      { cwd: directory, stdio: "ignore" },
    );
  }, INSTALL_MS_MAX);
  afterAll(async () => {
    if (skipped !== null) return;
    prometheus.kill("SIGKILL");
    await once(prometheus, "exit");
    await rm(directory, { recursive: true, force: true });
  });

  /** The configuration of monitoring.md, with the tested service and a short interval. */
  function configuration(): string {
    const [, documented] = /```yaml\n(scrape_configs:.*?)```/s.exec(read("monitoring.md"))!;
    return `global: { scrape_interval: 1s, evaluation_interval: 1s }\n${documented!
      .replace("svc-1.internal:4400", new URL(observed.http.address).host)
      .replace(/, svc-2\.internal:4400/, "")
      .replace("/etc/prometheus/svc-token", path.join(directory, "token"))}`;
  }

  const ask = async <T>(request: string): Promise<T> => {
    const response = await fetch(`${address}/api/v1/${request}`);
    const { status, data, error } = (await response.json()) as { status: string; data: T; error?: string };
    expect([request, status, error]).toEqual([request, "success", undefined]);
    return data;
  };
  const query = async (expression: string) =>
    (
      await ask<{ result: { metric: Record<string, string>; value: [number, string] }[] }>(
        `query?query=${encodeURIComponent(expression)}`,
      )
    ).result;

  it("accepts the rules, which pass their tests", async (context) => {
    if (skipped !== null) context.skip(skipped);
    const promtool = async (...args: string[]) =>
      (await promisify(execFile)("/usr/bin/promtool", args, { cwd: OPERATIONS })).stdout;
    expect(await promtool("check", "rules", "alerts.yml")).toContain("SUCCESS: ");
    expect(await promtool("test", "rules", "alerts.test.yml")).toContain("SUCCESS");
  });

  it("tests each alert once silent and once firing", () => {
    const tests = read("alerts.test.yml");
    const alerts = all(read("alerts.yml"), /alert: (\w+)/g);
    const silent = all(tests, /alertname: (\w+),\s+exp_alerts: \[\]/g);
    const heard = all(tests, /alertname: (\w+)\n\s+exp_alerts:\n/g);
    expect(silent.filter((name) => !alerts.includes(name))).toEqual([]);
    expect(alerts.filter((name) => !silent.includes(name) || !heard.includes(name))).toEqual([]);
  });

  it("scrapes the service with the token, and not without it", async (context) => {
    if (skipped !== null) context.skip(skipped);
    await writeFile(path.join(directory, "token"), "another token");
    const up = async () => (await query('up{job="svc"}')).map(({ value }) => value[1]);
    await expect.poll(up, { timeout: 30_000 }).toEqual(["0"]);
    await writeFile(path.join(directory, "token"), METRICS_TOKEN);
    await expect.poll(up, { timeout: 30_000 }).toEqual(["1"]);
    const { activeTargets } = await ask<{ activeTargets: { health: string; lastError: string }[] }>("targets");
    expect(activeTargets).toMatchObject([{ health: "up", lastError: "" }]);
    expect(await query("svc_workers")).toMatchObject([{ metric: { job: "svc" }, value: [expect.any(Number), "1"] }]);
  });

  it("evaluates every alert, none of which fires for a healthy service, and every expression of the dashboard", async (context) => {
    if (skipped !== null) context.skip(skipped);
    const rules = async () =>
      (await ask<{ groups: { rules: Rule[] }[] }>("rules")).groups.flatMap(({ rules: of }) => of);
    const healths = async () => new Set((await rules()).map(({ health }) => health));
    await expect.poll(healths, { timeout: 30_000 }).toEqual(new Set(["ok"]));
    const found = await rules();
    expect(found.map(({ name }) => name)).toEqual(all(read("alerts.yml"), /alert: (\w+)/g));
    const shown = await shownMetrics();
    for (const { name, query: expression } of found) {
      const heard = await query(expression);
      if (!OF_SPEED.has(name)) expect([name, heard]).toEqual([name, []]);
      const unknown = metricsIn(expression).filter((metric) => !shown.has(metric) && metric !== "up");
      expect([name, unknown]).toEqual([name, []]);
    }
    for (const expression of expressions)
      await query(expression.replaceAll("$job", "svc").replaceAll("$__rate_interval", "1m"));
    expect(await query('max(svc_database_up{job="svc"})')).toHaveLength(1);
  });
});
