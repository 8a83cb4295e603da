import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { runBash } from "../support/bash.js";
import { useService } from "../support/service.js";

const guide = readFileSync(new URL("../../docs/operations/plans.md", import.meta.url), "utf8");
const PROGRAM = fileURLToPath(new URL("../../bin/svc-server.js", import.meta.url));

const service = await useService();
await service.owner("acme");

const blocks = [...guide.matchAll(/^```(bash|sql)\n(.*?)^```\n(?:\n```\n(.*?)^```\n)?/gms)].map(
  ([, language, command, answer]) => ({ language: language!, command: command!, answer }),
);

/** Runs a block unchanged on the service's database. */
const run = (command: string) =>
  runBash(`svc-server() { '${process.execPath}' '${PROGRAM}' "$@"; }\n${command}`, {
    PATH: process.env["PATH"],
    DATABASE_URL: service.db.url,
    LOG_LEVEL: "error",
  });

it("docs/operations/plans.md has commands that print the output shown below them, and SQL that runs", async () => {
  expect(blocks.map(({ language }) => language)).toEqual(["bash", "bash", "bash", "bash", "sql", "sql"]);
  for (const { language, command, answer } of blocks) {
    if (language === "bash") expect(await run(command), command).toBe(answer);
    else await service.db.sql.unsafe(command);
  }
  const [plan] = await service.db.sql`
    select plan_id, rate_per_second from iam.plans where plan_id = 'starter'
    union all select plan_id, 0 from iam.organizations`;
  expect(plan).toEqual({ plan_id: "starter", rate_per_second: 200 });
});
