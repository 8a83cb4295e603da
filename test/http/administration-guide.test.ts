import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { readPermissions } from "../../src/http/openapi/administrative-endpoint.js";
import { runBash } from "../support/bash.js";
import { useDirectory } from "../support/directory.js";
import { environmentId, useService } from "../support/service.js";

const guide = readFileSync(new URL("../../docs/administration.md", import.meta.url), "utf8");

const service = await useService();
const owner = await service.owner("acme");
const directory = await useDirectory();

const NAME = "test/http/administration-guide.test.ts";
const blocks = [
  ...guide.matchAll(
    new RegExp(`<!-- ${NAME} runs[^\\n]*\\n\\n\`\`\`bash\\n(.*?)\`\`\`\\n(?:\\n\`\`\`json\\n(.*?)\`\`\`)?`, "gs"),
  ),
].map(([, command, answer]) => ({ command: command!, answer }));

/** Runs a block unchanged, after the function that the first block declares. */
function run(script: string): Promise<string> {
  const secrets = { SVC_ACCESS_TOKEN: owner.token, SVC_ORGANIZATION: owner.organizationId };
  const declaration = blocks[0]!.command.replace(/^export .*\n/gm, "");
  return runBash(`${declaration}\n${script}`, { ...process.env, SVC_API_URL: service.url, ...secrets }, directory);
}

/** An answer with the parts that differ from run to run masked. */
function comparable(json: string): unknown {
  const steady = json
    .replace(/\b((?:org|tok|usr|key|evt|req|whk|rec)_)[0-9a-f]+/g, "$1…")
    .replace(/\b(svc_(?:test|live|token)_)(?:[0-9a-f]+|…)/g, "$1…")
    .replace(/"whsec_[^"]*"/g, '"whsec_…"')
    .replace(/\b[0-9a-f]{64}\b/g, "…")
    .replace(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, '"<instant>"');
  return JSON.parse(steady) as unknown;
}

describe("docs/administration.md", () => {
  it("has commands that give the answers shown below them, in the order of the page", async () => {
    expect(blocks.length).toBe(guide.match(/^```bash$/gm)?.length);
    for (const { command, answer } of blocks) {
      if (command.includes("/export")) await makeCustomer();
      const output = await run(command.includes("api()") ? "true" : command);
      if (answer !== undefined) expect(comparable(output), command).toEqual(comparable(answer));
    }
    expect(JSON.parse(readFileSync(`${directory}/globex.json`, "utf8"))).toMatchObject({ customerId: "globex" });
  });

  it("documents the same roles as iam.operations()", () => {
    const shown = [...guide.matchAll(/^\| `(\w+ \/[^`]*)` +\| (.*?) +\| (.*?) +\|$/gm)].map(
      ([, request, role, does]) => ({ request, role, does }),
    );
    const operations = new Map(readPermissions().map((row) => [row.operation, row]));
    const routes = service.routes.flatMap(({ declaration }) => declaration ?? []);
    expect(shown).toEqual(
      routes.map(({ operation, method, path, summary }) => {
        const { roleTest, roleLive, entitlement } = operations.get(operation)!;
        const roles = roleTest === roleLive ? roleTest : `${roleTest}, ${roleLive}`;
        return { request: `${method} ${path}`, role: entitlement === null ? roles : `${roles} \\*`, does: summary };
      }),
    );
  });
});

async function makeCustomer(): Promise<void> {
  await service.db.sql`insert into svc.customers (environment_id, customer_id, created_at)
    values (${await environmentId(service.db.sql, "shop", "test")}, 'globex', now())`;
}
