import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { open, readdir } from "node:fs/promises";
import path from "node:path";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";

import { project } from "../dsl-compiler/project.js";
import { type Canned, cannedServer, json, type Seen } from "./support/canned-server.js";
import { PROGRAM, variables } from "./support/program.js";

const KEY = { id: "key_2", name: "backend", hint: "svc_test_1a2b" };
const WEBHOOK = {
  ...{ id: "whk_1", url: "https://example.com/", eventTypes: ["*"], previousSecretExpiresAt: null },
  ...{ maxEventAge: null, maxConcurrency: 8, maxPerSecond: null },
};

function answer({ method, url }: Seen): Canned {
  if (method === "GET")
    return json({ user: { email: "a@b" }, organization: { id: "org_1", slug: "acme", role: "owner" } });
  if (url === "/projects") {
    return json({ project: { slug: "acme", name: "acme" }, keys: { test: "s3cret", live: "s3cret" } }, 201);
  }
  const link = { link: "s3cret", accessToken: "s3cret", mailed: false, expiresAt: "2026-03-14T10:00:00Z" };
  if (url.includes("/tokens")) return json({ id: "tok_1", ...link }, 201);
  if (url.includes("/invitations")) return json({ id: "inv_1", email: "bob@example.com", ...link }, 201);
  if (url.includes("/webhooks")) return json({ ...WEBHOOK, webhook: WEBHOOK, secret: "s3cret" }, 201);
  return json({ key: KEY, secret: "s3cret", replaced: { id: "key_1", revokedAt: "2026-03-14T10:00:00Z" } }, 201);
}

const GIVE = "Give it another: `svc webhooks rotate-secret whk_1 --env test --project shop`.";
const MADE = "the project acme was created with a key for test and one for live";
const CREATE =
  "Create others, `svc keys create --name <name> --env test --project acme`, " +
  "and revoke those of `svc keys list --env test --project acme`; do the same in live.";
const LOST: readonly (readonly [line: string, what: string, fix: string])[] = [
  [
    "keys create --name backend",
    "the key key_2 was created",
    "Revoke it, `svc keys revoke key_2 --env test --project shop`, and create another.",
  ],
  [
    "keys rotate key_1",
    "the new key is key_2",
    "Rotate that one too: `svc keys rotate key_2 --env test --project shop`.",
  ],
  ["webhooks create --url https://example.com/", "the webhook whk_1 was created with a secret", GIVE],
  ["webhooks rotate-secret whk_1", "the webhook whk_1 has a new secret", GIVE],
  ["projects create --name acme --slug acme", MADE, CREATE],
  [
    "tokens create --label ci",
    "the token tok_1 was created",
    "Revoke it, `svc tokens revoke tok_1`, and create another.",
  ],
  [
    "invitations create bob@example.com --role viewer",
    "the invitation inv_1 was created",
    "Invite again, which ends that one: `svc invitations create bob@example.com --role viewer`.",
  ],
  ["init --slug acme --directory acme", MADE, CREATE],
];

/** Runs a command in an empty directory with this standard output. */
async function run(line: string, stdout: "pipe" | number) {
  const cwd = await project({});
  const { url } = await cannedServer(answer);
  const inShop = /^(init|invitations|projects|tokens)/.test(line) ? [] : ["--project", "shop"];
  const all = [PROGRAM, ...line.split(" "), "--yes", ...inShop];
  const child = spawn(process.execPath, all, { cwd, env: variables(url), stdio: ["ignore", stdout, "pipe"] });
  child.stdout?.destroy();
  const [stderr, [code]] = await Promise.all([text(child.stderr!), once(child, "close")]);
  return { code: code as number, stderr, cwd };
}

test.skipIf(!existsSync("/dev/full")).each(LOST)(
  "a secret that could not be written is reported, with what to do: %s",
  async (line, what, fix) => {
    const full = await open("/dev/full", "w");
    onTestFinished(() => full.close());
    const { code, stderr, cwd } = await run(line, full.fd);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `error [OUTPUT_FAILED]: The output could not be written (ENOSPC): ${what}, and nothing shows it again. ${fix}\n`,
    });
    if (line.startsWith("init")) expect(await readdir(path.join(cwd, "acme"))).toContain("svc.config.ts");
  },
);

test("a secret is reported as lost if the reader closed the pipe, too", async () => {
  const [line, what, fix] = LOST[0]!;
  expect(await run(line, "pipe")).toMatchObject({
    code: 1,
    stderr: `error [OUTPUT_FAILED]: The output could not be written (EPIPE): ${what}, and nothing shows it again. ${fix}\n`,
  });
});
