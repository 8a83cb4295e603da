import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";

import { TEXTS } from "../../src/http/error-texts.js";
import { cannedServer, json } from "./support/canned-server.js";
import { svc } from "./support/run-svc.js";

const SINCE = "Write how long ago, such as 7d, or a date such as 2026-03-01 or 2026-03-01T09:00:00Z.";
const DURATION = "Give a whole number and a unit, such as 30m, 24h, 7d or 4w";
const VERSIONS = "`svc config versions --project shop` lists the versions.";

/** Mistaken command lines and their error messages; a plus stands for a space. */
const MISTAKEN: Record<string, string> = {
  "completion tcsh": '<shell> is "tcsh". Give one of: bash, zsh, fish.',
  completion: "Missing <shell>. See `svc completion --help`.",
  "config diff 3": `<from> is "3"; did you mean v3? Give a version such as v3, or latest; ${VERSIONS}`,
  "config diff v1 v2 v3": 'The argument "v3" is one too many. See `svc config diff --help`.',
  "config promote --version 1": `--version is "1"; did you mean v1? Give a version such as v3; ${VERSIONS}`,
  "config promote": "Missing --version. See `svc config promote --help`.",
  "config promote --version v1 --env test":
    "--env is test, but versions are promoted from test to live. Leave it out; to make it active in test again, use " +
    "`svc config rollback --version v1 --env test --project shop`.",
  "customers release": "Give either --customer <id> or --all. See `svc customers release --help`.",
  "customers release --all --customer c": "Give either --customer <id> or --all. See `svc customers release --help`.",
  "deploy --sample 5": "--sample is for previews only. Add --preview, or leave it out.",
  "deploy --markdown": "--markdown is for previews only. Add --preview, or leave it out.",
  "deploy --preview --sample 0": '--sample is "0". Give a whole number from 1 to 1000000000.',
  "events list --since yesterday": `--since is "yesterday". ${SINCE}`,
  "events list --status processing":
    '--status is "processing"; did you mean processed? Give one of: processed, pending.',
  "events list --limit 0": '--limit is "0". Give a whole number from 1 to 10000.',
  "init --slug No+Slug":
    '--slug is "No Slug". Give 1 to 63 lower-case letters, digits and hyphens, not a hyphen first.',
  "init --name a\nb": '--name is "a\\nb". Give 1 to 256 characters, without line breaks and control characters.',
  "init --stack ruby": '--stack is "ruby". Give one of: node, python.',
  "init --existing": "--existing needs --slug. Give the project's slug.",
  "keys create": "Missing --name. See `svc keys create --help`.",
  "keys rotate key_1 --grace soon": `--grace is "soon". ${DURATION}.`,
  recompute: "Nothing to recompute is given. Give one of --customer <id>, --all and --from <dry run>.",
  "recompute --customer c --all":
    "--customer and --all exclude each other. Give one of --customer <id>, --all and --from <dry run>.",
  "recompute --all --from rec_1":
    "--all and --from exclude each other. Give one of --customer <id>, --all and --from <dry run>.",
  "recompute --all more": 'The argument "more" is one too many. See `svc recompute --help`.',
  "recompute stauts rec_1":
    'The argument "stauts" is one too many; did you mean "svc recompute status"? See `svc recompute --help`.',
  "recompute status rec_1 --all": "There is no option --all. See `svc recompute status --help`.",
  "rules logs --result failed": '--result is "failed"; did you mean fail? Give one of: pass, fail, skip, error.',
  "rules logs --since 3+days": `--since is "3 days". ${SINCE}`,
  "webhooks create --url u --max-event-age long": `--max-event-age is "long". ${DURATION}, or none.`,
  "webhooks create --url u --max-per-second 0": '--max-per-second is "0". Give a whole number from 1 to 1000, or none.',
  "webhooks create --url u --max-concurrency 101": '--max-concurrency is "101". Give a whole number from 1 to 100.',
  "webhooks deliveries whk_1 --status faild":
    '--status is "faild"; did you mean failed? Give one of: pending, delivered, failed.',
  "webhooks resend whk_1": "Give either a delivery's id or --since. See `svc webhooks resend --help`.",
  "webhooks resend whk_1 emi_1 --until 2h": "--until, --status and --cursor go with --since only. Leave them out.",
  "webhooks resend whk_1 --since yesterday": `--since is "yesterday". ${SINCE}`,
  "webhooks resend whk_1 --since 2h --status lost":
    '--status is "lost". Give one of: failed, missing, pending, delivered.',
  "webhooks rotate-secret whk_1 --grace 12": `--grace is "12". ${DURATION}.`,
  "webhooks update whk_1": "No change is given. See `svc webhooks update --help`.",
  "webhooks update whk_1 --enable --disable": "--disable and --enable exclude each other. Give one of them.",
};

test.each(Object.entries(MISTAKEN))("refuses without a request to the service: svc %s", async (line, message) => {
  const argv = line.split(" ").map((word) => word.replaceAll("+", " "));
  const inProject = /^(init|completion)/.test(line) ? [] : ["--project", "shop"];
  const { url, seen } = await cannedServer(json({}));
  const result = await svc([...argv, ...inProject], { at: url });
  expect({ ...result, asked: seen }).toEqual({ code: 2, stdout: "", stderr: `error [USAGE]: ${message}\n`, asked: [] });
});

/** Fixes for refusals of the service, in terms of the command line. */
const FIXES: Record<string, string> = {
  CUSTOMER_NOT_FOUND: "Check the id and --env; `svc customers list --project shop` lists the customers.",
  SEGMENT_NOT_FOUND: "Check the id and --env; `svc overview --project shop` shows the segments.",
  JOURNEY_NOT_FOUND: "Check the id and --env; the model lists the journeys.",
  WEBHOOK_NOT_FOUND: "Check the id and --env; `svc webhooks list --project shop` lists the webhooks.",
  WEBHOOK_DISABLED: "Enable it first: `svc webhooks update <webhookId> --enable --project shop`.",
  DELIVERY_NOT_FOUND:
    "Check the ids and --env; `svc webhooks deliveries <webhookId> --project shop` lists the deliveries.",
  KEY_NOT_FOUND: "Check the id and --env; `svc keys list --project shop` lists the keys.",
  KEY_REVOKED: "Rotate the key that took its place (`svc keys list --project shop`), or create a new one.",
  RECOMPUTE_NOT_FOUND: "Check the id and --env; `svc recompute list --project shop` lists the recomputes.",
  RECOMPUTE_NOT_A_DRY_RUN: "Give the id of a dry run, or select what to recompute with --customer or --all.",
  BACKTEST_NOT_FOUND:
    "Check the id, which was printed when the backtest began, and --env; or begin a new one, without --job.",
  ALREADY_MEMBER: "Change the member's role instead: `svc members update <member> --role <role>`.",
  INVITATION_NOT_FOUND: "Check the id; `svc invitations list` lists those that are open.",
  VERSION_NOT_FOUND: "Check its name; `svc config versions --project shop` lists the versions.",
  SLUG_TAKEN: "Choose another --slug.",
  INVALID_API_KEY: "Check SVC_API_KEY_TEST, SVC_API_KEY_LIVE or SVC_API_KEY: the key is unknown or revoked.",
  RATE_LIMIT_EXCEEDED: "Try again in a moment.",
  PROJECT_NOT_FOUND:
    'Correct --project or "project" of .kite/config.json: `svc projects list` shows those of this organization; ' +
    'for those of another one, set SVC_ORGANIZATION or "organization" of .kite/config.json.',
  ANYTHING_ELSE: "What the service advises.",
};

test.each(Object.entries(FIXES))("%s comes with advice on what to do", async (code, fix) => {
  const texts = { message: "It is refused.", reason: "So it is.", fix: "what the service advises" };
  const { url } = await cannedServer(json({ error: { code, ...texts, requestId: "r", field: "slug" } }, 404));
  expect(await svc(["overview", "--project", "shop"], { at: url })).toEqual({
    code: 1,
    stdout: "",
    stderr: `error [${code}]: It is refused. So it is. ${fix} Field: slug.\n`,
  });
});

test("advice of the service in terms of HTTP is replaced by advice in terms of the command line", async () => {
  const folder = path.join(import.meta.dirname, "../../sql/functions");
  const SPEAKS_HTTP = /\b(GET|POST|PATCH|DELETE) \//;
  const raised = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".sql"))
    .map((name) => readFileSync(path.join(folder, name), "utf8"))
    .filter((source) => source.split("\n").some((line) => !line.startsWith("--") && SPEAKS_HTTP.test(line)))
    .flatMap((source) =>
      [...source.matchAll(/\b(?:message = |raise_not_found\(\s*)'([A-Z_]+)'/g)].map(([, code]) => code!),
    );
  const codes = Object.entries(TEXTS).flatMap(([code, { fix }]) => (SPEAKS_HTTP.test(fix) ? [code] : []));
  expect(raised.length).toBeGreaterThan(5);
  for (const code of [...raised, ...codes]) {
    const refused = { error: { code, message: "It is refused.", fix: "Send GET /it.", requestId: "r" } };
    const { url } = await cannedServer(json(refused, 404));
    const { stderr } = await svc(["overview", "--project", "shop"], { at: url });
    expect(stderr, code).not.toContain("GET /it");
  }
});

test("an instant in a message of the service is shown in the reader's time zone, but a quoted input as it was typed", async () => {
  const message = 'The key "key_1" was rotated already and works until 2026-03-15T09:00:00.000Z.';
  const reason = '"2026-03-15T09:00:00.000Z" is none.';
  const refused = { error: { code: "KEY_REVOKED", message, reason, requestId: "r" } };
  const { url } = await cannedServer(json(refused, 409));
  expect((await svc(["overview", "--project", "shop"], { at: url })).stderr).toContain(
    'works until 2026-03-15 10:00:00 +01:00. "2026-03-15T09:00:00.000Z" is none.',
  );
});
