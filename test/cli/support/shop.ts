import { mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { vi } from "vitest";

import { call } from "../../../src/db/api/call.js";
import { newCredential } from "../../../src/http/request/credentials.js";
import { createDatabase, type TestDatabase } from "../../support/database.js";
import { temporaryDirectory } from "../../support/server.js";
import { startServiceProcess } from "../../support/service-process.js";
import { startReceiver, type Receiver } from "../../webhooks/support/receiver.js";
import { svc, type Result, type RunOptions } from "./run-svc.js";

/**
 * A realistic setup: a running service with its worker, a project `shop` whose model has each kind of part, three customers with a
 * history, and a webhook that has received what was emitted. Instants are far enough in the past, and in the middle of a unit, that
 * relative times do not change while tests run.
 */
export interface Shop {
  url: string;
  db: TestDatabase;
  /** The environment variables of the owner's command line. */
  env: Record<string, string>;
  /** The ingestion keys of the project. */
  keys: { test: string; live: string };
  /** The directory of the model, with `.kite/config.json`. */
  directory: string;
  receiver: Receiver;
  webhookId: string;
  /** Runs a command line in the directory as the owner. Replaces what differs from run to run. */
  run(argv: readonly string[], options?: RunOptions): Promise<Result>;
  /** As `run`, without replacements. */
  raw(argv: readonly string[], options?: RunOptions): Promise<Result>;
  /** Runs a command with `--json` and returns its document; throws if it fails. */
  make<T>(...argv: string[]): Promise<T>;
  stop(): Promise<void>;
}

const MODEL = `
  import { addTo, all, date, defineModel, event, health, inactiveFor, inState, journey, lifecycle, number, oneOf, raise, rule, scale, segment, signal, step, string, traits } from "svc-success";

  const signedUp = event("signed_up", { source: oneOf("self_serve", "sales") });
  const login = event("login", { method: oneOf("password", "sso").optional() });
  const projectCreated = event("project_created", { seats: number(), note: string().optional() });
  const memberInvited = event("member_invited");
  const invoicePaid = event("invoice_paid", { amount: number() });
  const ticketOpened = event("ticket_opened", { severity: oneOf("low", "high") });
  const customer = traits({ plan: oneOf("free", "pro"), renewsOn: date() });

  const stages = lifecycle({
    initial: "new",
    states: {
      new: { to: { trial: signedUp.happened() } },
      trial: { to: { activated: projectCreated.count().atLeast(3).within("30d") } },
      activated: { to: { at_risk: inactiveFor("21d") } },
      at_risk: { to: { activated: login.count().atLeast(2).within("7d"), churned: inState().atLeast("60d") } },
      churned: { terminal: true },
    },
  });
  const onboarding = journey("onboarding", {
    start: signedUp.happened(),
    steps: [step("create_project", projectCreated.happened()), step("invite_team", memberInvited.count().atLeast(2))],
    expiresAfter: "90d",
  });
  const powerUsers = segment("power_users", {
    when: all(customer.plan.is("pro"), projectCreated.where((p) => p.seats.atLeast(5)).count().atLeast(2).within("60d")),
  });
  const bigSpenders = segment("big_spenders", { when: invoicePaid.sum("amount").within("90d").atLeast(1_000) });
  const expansion = segment("expansion");
  const score = health({
    components: {
      adoption: { weight: 0.6, score: scale(projectCreated.count().within("60d"), { from: 0, to: 4 }) },
      commercial: { weight: 0.4, score: customer.plan.map({ free: 30, pro: 100 }) },
    },
    bands: { healthy: 70, at_risk: 40, critical: 0 },
  });
  const escalation = signal("escalation", { severity: "critical", message: "A severe ticket was opened", for: "300d" });
  const upsell = rule("upsell", { on: invoicePaid, when: powerUsers.has(), then: addTo(expansion) });
  const severe = rule("severe", { on: ticketOpened.where((p) => p.severity.is("high")), then: raise(escalation) });

  export default defineModel({
    strictSchema: true,
    events: [signedUp, login, projectCreated, memberInvited, invoicePaid, ticketOpened],
    traits: customer,
    lifecycle: stages,
    journeys: [onboarding],
    segments: [powerUsers, bigSpenders, expansion],
    health: score,
    rules: [upsell, severe],
    signals: [escalation],
  });`;

/** Events by how many days ago they happened, plus half a day, so that relative times are the same all day. */
const EVENTS: readonly [customerId: string, daysAgo: number, event: string, properties?: object][] = [
  ["globex", 12, "signed_up", { source: "sales" }],
  ["globex", 11, "project_created", { seats: 5 }],
  ["globex", 10, "project_created", { seats: 8, note: "second" }],
  ["globex", 9, "member_invited"],
  ["globex", 8, "project_created", { seats: 2 }],
  ["globex", 7, "invoice_paid", { amount: 1200 }],
  ["globex", 6, "member_invited"],
  ["globex", 2, "login", { method: "sso" }],
  ["initech", 20, "signed_up", { source: "self_serve" }],
  ["initech", 19, "project_created", { seats: 1 }],
  ["initech", 15, "ticket_opened", { severity: "high" }],
  ["initech", 14, "invoice_paid", { amount: 49 }],
  ["hooli", 3, "signed_up", { source: "self_serve" }],
];

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** A running service with the organization acme, the variables of its owner's command line, and a directory. @param variables additional variables of the service */
export async function startAcme(owner: string, variables: Readonly<Record<string, string>> = {}) {
  const db = await createDatabase();
  const needed = { SVC_SETTLE_SECONDS: "0", SVC_WEBHOOK_ALLOW_PRIVATE: "1" };
  const service = await startServiceProcess(db.url, { ...needed, ...variables });
  const token = newCredential("token");
  const document = await call(db.sql, "bootstrap", "acme", owner, token.hash);
  const { organizationId } = JSON.parse(document) as { organizationId: string };
  const directory = await temporaryDirectory();
  return {
    db,
    url: service.url,
    directory,
    env: { SVC_API_URL: service.url, SVC_ACCESS_TOKEN: token.text, SVC_ORGANIZATION: organizationId },
    stop: async () => {
      await service.stop();
      await db.drop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** @param variables of the service */
export async function startShop(variables: Readonly<Record<string, string>> = {}): Promise<Shop> {
  const { db, url, directory, env, stop } = await startAcme("owner@acme.example", variables);
  const receiver = await startReceiver();
  await mkdir(path.join(directory, ".kite"));
  await writeFile(path.join(directory, "svc.config.ts"), MODEL);
  await writeFile(path.join(directory, ".kite", "config.json"), '{ "project": "shop", "defaultEnvironment": "test" }');

  // So long after everything that tests create that relative times are the same however long they take.
  const now = Date.now() + 12.5 * HOUR_MS;
  const raw = (argv: readonly string[], options: RunOptions = {}) =>
    svc(argv, { cwd: directory, now, ...options, env: { ...env, ...options.env } });
  const make = async <T>(...argv: string[]): Promise<T> => {
    const { code, stdout, stderr } = await raw([...argv, "--json"]);
    if (code !== 0) throw new Error(`svc ${argv.join(" ")}: ${stderr}${stdout}`);
    return JSON.parse(stdout) as T;
  };
  const { keys } = await make<{ keys: Shop["keys"] }>(
    ...["projects", "create", "--name", "Shop", "--slug", "shop", "--yes"],
  );
  await make("deploy", "--yes");
  const { id: webhookId } = await make<{ id: string }>("webhooks", "create", "--url", receiver.url, "--yes");
  await ingest(url, keys.test, history());
  await untilQuiet(db);

  return {
    url,
    db,
    env,
    keys,
    directory,
    receiver,
    webhookId,
    raw,
    make,
    run: async (argv, options) => {
      const { code, stdout, stderr } = await raw(argv, options);
      const shown = (text: string) =>
        replaced(
          text
            .replaceAll(url, "<service>")
            .replaceAll(receiver.url, "<receiver>")
            .replaceAll(`${new URL(receiver.url).origin}/…`, "<receiver>"),
        );
      // The cursor position of a question depends on the length of the address.
      // oxlint-disable-next-line no-control-regex
      return { code, stdout: shown(stdout), stderr: shown(stderr).replaceAll(/\u001b\[\d*[GJ]/g, "") };
    },
    stop: async () => {
      await stop();
      await receiver.close();
    },
  };
}

/** The operations of the three customers. */
const history = () => [
  { type: "identify", customerId: "globex", traits: { plan: "pro" } },
  { type: "identify", customerId: "initech", traits: { plan: "free" } },
  ...EVENTS.map(([customerId, daysAgo, event, properties = {}], index) => ({
    customerId,
    event,
    properties,
    timestamp: new Date(Date.now() - (daysAgo + 0.5) * DAY_MS).toISOString(),
    idempotencyKey: `event-${index}`,
  })),
];

/** Sends operations as one batch. */
export async function ingest(url: string, key: string, events: readonly object[]): Promise<void> {
  const response = await fetch(`${url}/v1/events/batch`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ events }),
  });
  if (response.status !== 202) throw new Error(await response.text());
}

/** Waits until everything is evaluated, due timers have fired, and no delivery is pending. */
export async function untilQuiet({ sql }: Pick<TestDatabase, "sql">): Promise<void> {
  await vi.waitFor(
    async () => {
      const [left] = await sql<{ left: number }[]>`
        select (select count(*) from svc.inbox)
             + (select count(*) from svc.customers where next_due_at <= now())
             + (select count(*) from svc.deliveries where status = 'pending') as left`;
      if (Number(left?.left) !== 0) throw new Error("the service still works");
    },
    { timeout: 60_000, interval: 50 },
  );
}

/** Replaces ids, secrets, cursors, hashes and instants with placeholders. */
function replaced(text: string): string {
  return text
    .replaceAll(/\b((?:org|tok|usr|key|evt|req|whk|rec|emi|prv|inv)_)[0-9a-f]{16,}/g, (_, prefix) => `${prefix}<id>`)
    .replaceAll(/\b(svc_(?:test|live|token)_)[0-9a-f]+/g, "$1<secret>")
    .replaceAll(/("nextCursor" ?: ?")[\w-]+/g, "$1<cursor>")
    .replaceAll(/whsec_[A-Za-z0-9+/=]+/g, "whsec_<secret>")
    .replaceAll(/\b[0-9a-f]{64}\b/g, "<hash>")
    .replaceAll(/\b\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<instant>")
    .replaceAll(/\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d\d:\d\d/g, "<time>");
}
