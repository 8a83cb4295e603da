import { createServer } from "node:https";
import { describe, expect, test } from "vitest";

import { EMPTY_SNAPSHOT } from "../../src/model/snapshot/types.js";
import { project } from "../dsl-compiler/project.js";
import { brokenServer } from "./support/broken-server.js";
import { type Canned, cannedServer, json, served } from "./support/canned-server.js";
import { CERTIFICATE, KEY } from "./support/certificate.js";
import { type RunOptions, svc } from "./support/run-svc.js";

interface Change {
  /** The action that needs a confirmation, as the error names it. */
  action: string;
  /** The question on a terminal. */
  question: string;
  /** The command that shows whether the change was carried out. */
  seen: string;
}

const PLACE = "test of project shop at <service>";
const KEY_NAME = "backend (svc_test_1a2b…, never used)";
const DERIVED = "lifecycle, journeys, segments, health and rule log are derived anew, and differences are emitted";
const LOST =
  "Events are kept for 90 days: what earlier ones led to will be gone, which --dry-run shows without doing it.";
const ORGANIZATION = "organization acme at <service>";
const KEYS = "svc keys list --env test --project shop";
const WEBHOOK = "svc webhooks list --env test --project shop";
const DELIVERIES = "svc webhooks deliveries whk_1 --env test --project shop";

/** Every command that asks yes or no before it changes something at the service. */
const CHANGES: Record<string, Change> = {
  "members update bob@example.com --role viewer": {
    action: "Changing a member's role",
    question: `Make bob@example.com, developer of ${ORGANIZATION}, viewer?`,
    seen: "svc members list",
  },
  "members remove usr_1": {
    action: "Removing a member",
    question: `Remove bob@example.com, developer, from ${ORGANIZATION}? The member's tokens for it stop working at once.`,
    seen: "svc members list",
  },
  "members reset-password bob@example.com": {
    action: "Creating a link that sets a password",
    question: `Create a link for bob@example.com, of ${ORGANIZATION}, to set a new password? Any previous link stops working.`,
    seen: "svc audit --action password_reset.created",
  },
  "invitations create bob@example.com --role viewer": {
    action: "Inviting a member",
    question: `Invite bob@example.com as viewer to ${ORGANIZATION}? This ends any open invitation of the address.`,
    seen: "svc invitations list",
  },
  "invitations revoke inv_1": {
    action: "Revoking an invitation",
    question: `Revoke the invitation inv_1 to ${ORGANIZATION}? Its link stops working at once.`,
    seen: "svc invitations list",
  },
  "tokens create --label ci --role viewer": {
    action: "Creating a token",
    question: `Create the token ci, which acts as you in ${ORGANIZATION}, as viewer at most?`,
    seen: "svc tokens list",
  },
  "tokens revoke tok_1": {
    action: "Revoking a token",
    question: `Revoke the token tok_1 of ${ORGANIZATION}? It stops working at once.`,
    seen: "svc tokens list",
  },
  "projects create --name A --slug a": {
    action: "Creating a project",
    question: `Create the project a in ${ORGANIZATION}?`,
    seen: "svc projects list",
  },
  "keys create --name x": {
    action: "Creating a key",
    question: `Create the key x in ${PLACE}?`,
    seen: KEYS,
  },
  "keys rotate key_1": {
    action: "Rotating a key",
    question: `Replace the key ${KEY_NAME} in ${PLACE}? The old one works for another 24h.`,
    seen: KEYS,
  },
  "keys revoke key_1": {
    action: "Revoking a key",
    question: `Revoke the key ${KEY_NAME} in ${PLACE}? Requests with it are refused from then on.`,
    seen: KEYS,
  },
  "webhooks create --url https://a.example": {
    action: "Creating a webhook",
    question: `Send * in ${PLACE} to https://a.example from now on?`,
    seen: WEBHOOK,
  },
  "webhooks update whk_1 --enable": {
    action: "Changing a webhook",
    question: `Webhook whk_1 in ${PLACE}\n  Enabled: pending deliveries are sent\nChange it?`,
    seen: WEBHOOK,
  },
  "webhooks rotate-secret whk_1 --grace 0m": {
    action: "Rotating a webhook's secret",
    question: `Give the webhook to https://b.example in ${PLACE} a new secret? The old one stops signing.`,
    seen: WEBHOOK,
  },
  "webhooks delete whk_1": {
    action: "Deleting a webhook",
    question: `Delete the webhook to https://b.example in ${PLACE}, with 7 pending deliveries and the log of its deliveries?`,
    seen: WEBHOOK,
  },
  "webhooks resend whk_1 emi_1": {
    action: "Sending again",
    question: `Send again to https://b.example, in ${PLACE}: emi_1?`,
    seen: DELIVERIES,
  },
  "webhooks resend whk_1 --since 7d --until 1h --status failed --status missing": {
    action: "Sending again",
    question: `Send again to https://b.example, in ${PLACE}: everything emitted since 7d ago and before 1h ago that is failed or missing?`,
    seen: DELIVERIES,
  },
  "customers release --all": {
    action: "Releasing customers",
    question: `Release all customers that were set aside in ${PLACE}, to be evaluated again?`,
    seen: "svc customers list --set-aside --env test --project shop",
  },
  "customers release --customer a,b": {
    action: "Releasing customers",
    question: `Release a,b in ${PLACE}, to be evaluated again?`,
    seen: "svc customers inspect a,b --env test --project shop",
  },
  deploy: {
    action: "Deploying to test",
    question: `Deploy 1 event, 1 segment to ${PLACE}, instead of v2?`,
    seen: "svc config versions --project shop",
  },
  "config rollback --version v1": {
    action: "Rolling test back",
    question: `Roll ${PLACE} back to v1, instead of v2? This recomputes nothing.`,
    seen: "svc config activations --env test --project shop",
  },
  "recompute --customer globex": {
    action: "Recomputing a customer",
    question: `Recompute the customer globex in ${PLACE}? Its ${DERIVED}. ${LOST}`,
    seen: "svc recompute list --env test --project shop",
  },
};

/** Every command that asks for a word. */
const BY_WORD: Record<string, Change & { word: string; yes: boolean }> = {
  "customers erase globex": {
    word: "globex",
    yes: true,
    action: "Erasing a customer",
    question: [
      `Erase the customer globex in ${PLACE}?`,
      "Everything stored about it is deleted: events, traits, state, logs, and pending deliveries. This cannot be undone.",
      "To keep a copy, stop here: svc customers export globex --env test --output <file> --project shop",
    ].join("\n"),
    seen: "svc customers inspect globex --env test --project shop",
  },
  "deploy --env live": {
    word: "live",
    yes: false,
    action: "Deploying to live",
    question: "Deploy 1 event, 1 segment to live of project shop at <service>, instead of v2?",
    seen: "svc config versions --env live --project shop",
  },
  "config promote --version v1": {
    word: "live",
    yes: false,
    action: "Promoting to live",
    question: "Promote v1 to live of project shop at <service>, instead of v2?",
    seen: "svc config activations --env live --project shop",
  },
  "recompute --all": {
    word: "test",
    yes: true,
    action: "Recomputing all customers of test",
    question: `This recomputes all customers in ${PLACE}: their ${DERIVED}. ${LOST}`,
    seen: "svc recompute list --env test --project shop",
  },
  "recompute retry rec_1": {
    word: "test",
    yes: true,
    action: "Recomputing all customers of test",
    question: `This recomputes all customers in ${PLACE} under v1, as of 2026-03-14 10:00:00 +01:00, as rec_1 was queued; 2 of 3 customers are done: their ${DERIVED}.`,
    seen: "svc recompute status rec_1 --env test --project shop",
  },
};

/** The answer to everything that these commands read first. */
const READ = {
  id: "rec_1",
  status: "dead_letter",
  dry_run: false,
  environment: "test",
  customerId: null,
  error: null,
  pins: { configVersion: "v1", evaluatedAt: "2026-03-14T09:00:00Z" },
  progress: { customersTotal: 3, customersDone: 2 },
  result: {},
  from: "v2",
  to: "v1",
  changes: [],
  user: { email: "a@b" },
  organization: { id: "org_1", slug: "acme", role: "owner" },
  data: [
    {
      ...{ version: "v2", id: "key_1", name: "backend", hint: "svc_test_1a2b", lastUsedAt: null },
      ...{ userId: "usr_1", email: "bob@example.com", role: "developer" },
    },
  ],
  ...{
    version: "v3",
    hash: "0123456789abcdef",
    active: ["test"],
    snapshot: EMPTY_SNAPSHOT,
    created: true,
    warnings: [],
  },
  ...{ nextCursor: null, url: "https://b.example", eventTypes: ["*"], pending: 7 },
  limits: { retentionDays: 90 },
  ...{ maxEventAge: null, maxConcurrency: 10, maxPerSecond: null },
};
const MODEL = `
  import { defineModel, event, segment } from "svc-success";
  const paid = event("paid");
  export default defineModel({ events: { paid }, segments: [segment("payers", { when: paid.happened() })] });`;

const inShop = (line: string) =>
  /^(invitations|members|projects|tokens) /.test(line) ? line.split(" ") : [...line.split(" "), "--project", "shop"];

const run = async (line: string, options: RunOptions) =>
  svc(inShop(line), { cwd: await project({ "svc.config.ts": MODEL }), env: { NO_COLOR: "1" }, ...options });

/** Runs the command at a service that would carry it out. `isChanged`: whether it requested a change. */
async function tried(line: string, options: RunOptions = {}) {
  const { url, seen } = await cannedServer(json(READ));
  return { ...(await run(line, { at: url, ...options })), isChanged: seen.some(({ method }) => method !== "GET") };
}

describe("without a confirmation, nothing is changed", () => {
  test.each(Object.entries(CHANGES))("svc %s", async (line, { action, question }) => {
    const fix = "needs a confirmation, and there is no terminal to ask on. Add --yes.";
    expect(await tried(line)).toMatchObject({
      code: 1,
      stdout: "",
      isChanged: false,
      stderr: expect.stringMatching(new RegExp(`^error \\[CONFIRMATION_REQUIRED\\]: ${action} ${fix}\n$`)) as string,
    });
    // A longer text than yes, Enter, Ctrl+C, Ctrl+D and a closed terminal are handled alike for all commands, so one is enough.
    for (const input of line === "keys create --name x" ? ["yes please\n", "\n", "\u0003", "\u0004", ""] : ["n\n"]) {
      const { code, stderr, isChanged } = await tried(line, { terminal: true, input });
      expect({ code, isChanged }).toEqual({ code: 1, isChanged: false });
      expect(stderr).toContain(`${question} (y/N) `);
      expect(stderr).toMatch(/error \[CANCELLED\]: Cancelled, nothing was changed\.\n$/);
    }
    expect(await tried(line, { terminal: true, input: "y\n" })).toMatchObject({ isChanged: true });
    expect(await tried(`${line} --yes`)).toMatchObject({ isChanged: true });
  });

  test.each(Object.entries(BY_WORD))("svc %s", async (line, { action, question, word, yes }) => {
    const fix = `echo ${word} | svc …${yes ? ", or add --yes." : ""}`;
    const needs = `${action} needs the word "${word}" on standard input${yes ? "" : ", also with --yes"}. Pipe it: ${fix}`;
    // Every command compares alike, and a deploy takes seconds.
    for (const input of line.startsWith("deploy") ? ["yes\n"] : ["", "yes\n", word.toUpperCase(), `${word}s\n`]) {
      const { code, stdout, stderr, isChanged } = await tried(yes ? line : `${line} --yes`, { input });
      expect({ code, stdout, isChanged }).toEqual({ code: 1, stdout: "", isChanged: false });
      expect(stderr.endsWith(`error [CONFIRMATION_REQUIRED]: ${needs}\n`)).toBe(true);
    }
    const cancelled = await tried(line, { terminal: true, input: "y\n" });
    expect(cancelled).toMatchObject({ code: 1, isChanged: false });
    expect(cancelled.stderr).toContain(`${question}\nType ${word} to continue: `);
    for (const [more, terminal] of [
      ["", false],
      ["", true],
      [" --yes", false],
    ] as const)
      expect(await tried(line + more, { input: `${word}\n`, terminal })).toMatchObject({ isChanged: true });
    expect(await tried(`${line} --yes`)).toMatchObject({ isChanged: yes });
  });
});

test.each(["members update usr_1 --role viewer", "members remove usr_1"])(
  "svc %s: warns that this is you",
  async (line) => {
    const { url } = await cannedServer(json({ ...READ, user: { email: "bob@example.com" } }));
    expect((await run(line, { at: url, terminal: true, input: "n\n" })).stderr).toContain(
      " This is you: only another owner can give you back what you take from yourself. (y/N)",
    );
  },
);

describe("if the connection breaks before the answer, it says that the outcome is unknown and how to check it", () => {
  test.each(Object.entries({ ...CHANGES, ...BY_WORD }))("svc %s", async (line, { seen }) => {
    const { url } = await brokenServer({ read: () => json(READ) });
    const { code, stderr } = await run(`${line} --yes`, { at: url, input: "live\n" });
    expect(code).toBe(1);
    expect(stderr).toContain(
      "error [OUTCOME_UNKNOWN]: <service> cannot be reached (connection closed); " +
        `it is not known whether this was carried out. See for yourself: \`${seen}\`.\n`,
    );
  });
});

const errorOf = async (at: string) => (await run("keys create --name x --yes", { at })).stderr;

const page = (status: number): Canned => ({ status, type: "text/html", body: "<html></html>" });

test.each([page(502), page(504), page(201), json({ other: true }, 201)])(
  "if something other than the service answers, the outcome is unknown too: %j",
  async (canned) => {
    expect(await errorOf((await cannedServer(canned)).url)).toMatch(
      /^error \[OUTCOME_UNKNOWN\]: <service> answered \d{3} with .*See for yourself: `svc keys list --env test --project shop`\.\n$/,
    );
  },
);

test.each([404, 302, 503])("but these statuses are refusals: %i", async (status) => {
  expect(await errorOf((await cannedServer(page(status))).url)).toContain("error [UNEXPECTED_ANSWER]");
});

test("if nothing was sent, it says what to fix", async () => {
  const untrusted = createServer({ key: KEY, cert: CERTIFICATE }, (_request, response) => response.end());
  for (const [at, fix] of [
    ["http://127.0.0.1:1", "refused"],
    [(await served(untrusted)).replace("http:", "https:"), "NODE_EXTRA_CA_CERTS"],
    [(await cannedServer(json({}))).url.replace("http:", "https:"), "http://"],
  ] as const)
    expect(await errorOf(at)).toMatch(new RegExp(`^error \\[SERVICE_UNREACHABLE\\].*${fix}`));
});
