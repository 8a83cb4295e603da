import { readdir, readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startOAuthService, type OAuthService } from "../http/oauth/fixture.js";
import { createUser, PASSWORD, signedIn } from "../http/pages/people.js";
import { createDatabase, type TestDatabase } from "../support/database.js";
import { PLANTED } from "../support/leaks.js";
import { startServiceProcess, type ServiceProcess } from "../support/service-process.js";
import type { Actor } from "../support/service.js";

describe("a copy of the database", () => {
  let service: OAuthService;
  let owner: Actor;
  /** Everything that grants access, by description. */
  const secrets = new Map<string, string>();

  beforeAll(async () => {
    service = await startOAuthService();
    owner = await service.owner("acme");
    secrets.set("an operator's token", owner.token);
    const make = async (path: string, body: object) => {
      const reply = await service.request("POST", path, { by: owner, body });
      expect([path, reply.status]).toEqual([path, 201]);
      return reply.body as Record<"secret" | "accessToken" | "link", string> & { keys: Record<string, string> };
    };
    const { keys } = await make("/projects", { name: "App", slug: "app" });
    for (const [environment, key] of Object.entries(keys)) secrets.set(`an API key of ${environment}`, key);
    const { secret: apiKey } = await make("/projects/app/keys?env=test", { name: "second" });
    secrets.set("a second API key", apiKey);
    const { accessToken } = await make("/organization/tokens", { label: "CI" });
    secrets.set("a headless token", accessToken);
    const { link } = await make("/organization/invitations", { email: "grace@example.com", role: "viewer" });
    secrets.set("an invitation's link", new URL(link).searchParams.get("token")!);
    const webhook = { url: "https://receiver.example/hook", eventTypes: ["*"] };
    const { secret } = await make("/projects/app/webhooks?env=test", webhook);
    secrets.set("a webhook's secret", secret.replace("whsec_", ""));
    await createUser(service.db.sql, "ada@example.com");
    secrets.set("a password", PASSWORD);
    const browser = await signedIn(service, "ada@example.com");
    for (const [name, value] of browser.cookies) secrets.set(`the cookie ${name}`, value);
    const { device_code, user_code } = await service.ask();
    secrets.set("a device's code", device_code).set("a user's code", user_code);
  });
  afterAll(() => service.stop());

  it("grants no access: no table contains a credential that the service accepts", async () => {
    const { sql } = service.db;
    const tables = await sql<{ name: string }[]>`
      select format('%I.%I', c.relnamespace::regnamespace, c.relname) as name
      from pg_class as c
      where c.relkind in ('r', 'p') and c.relnamespace::regnamespace::text !~ '^(pg_|information_schema)'`;
    const held: string[] = [];
    let rows = 0;
    for (const { name } of tables) {
      for (const { text } of await sql.unsafe<{ text: string }[]>(`select t::text as text from ${name} as t`)) {
        rows += 1;
        // Bytes are printed in hex.
        for (const [what, secret] of secrets) {
          if (text.includes(secret) || text.includes(Buffer.from(secret).toString("hex")))
            held.push(`${what}: ${name}`);
        }
      }
    }
    expect(secrets.size).toBeGreaterThan(9);
    expect(rows).toBeGreaterThan(20);
    expect(held).toEqual([]);
  });
});

/** Command lines of a process and its descendants, which the kernel shows to every user of the machine. */
async function commandLines(root: number): Promise<string[]> {
  const parents = new Map<number, number>();
  for (const name of (await readdir("/proc")).filter((entry) => /^\d+$/.test(entry))) {
    const stat = await readFile(`/proc/${name}/stat`, "utf8").catch(() => null); // the process has ended meanwhile
    if (stat !== null) parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]));
  }
  const isOf = (pid: number): boolean => pid === root || (parents.has(pid) && isOf(parents.get(pid)!));
  const family = [...parents.keys()].filter(isOf);
  return Promise.all(family.map((pid) => readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")));
}

describe.skipIf(process.platform !== "linux")("the list of processes", () => {
  let db: TestDatabase;
  let service: ServiceProcess;
  beforeAll(async () => {
    db = await createDatabase();
    service = await startServiceProcess(db.url, {
      SVC_SECRET: `a secret of the tests: ${PLANTED}`,
      SVC_METRICS_TOKEN: `${PLANTED}-of-metrics`,
    });
  });
  afterAll(async () => {
    await service.stop();
    await db.drop();
  });

  it("shows neither secrets of the service nor the password of its database", async () => {
    const lines = await commandLines(service.pid);
    expect(lines.join("\n")).toContain("svc-server.js");
    const { password } = new URL(db.url);
    expect(password).not.toBe("");
    // As a word: the password can be part of the program's name.
    const asWord = new RegExp(`(?<![\\w-])${password}(?![\\w-])`);
    for (const line of lines) {
      expect(line).not.toContain(PLANTED);
      expect(line).not.toMatch(asWord);
    }
  });
});
