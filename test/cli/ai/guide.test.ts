import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";

import { commands } from "../../../src/cli/core/registry.js";
import { startProvider, type Provider } from "../../support/language-model.js";
import { startShop, type Shop } from "../support/shop.js";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const guide = readFileSync(path.join(ROOT, "docs/ai.md"), "utf8");
const BLOCK = /<!-- test\/cli\/ai\/guide\.test\.ts runs this block -->\n\n```bash\n(.*?)```\n\n```\n(.*?)```/gs;
const blocks = [...guide.matchAll(BLOCK)].map(([, command, output]) => [command!, output!] as const);

let provider: Provider;
let shop: Shop;
let bin: string;
beforeAll(async () => {
  provider = await startProvider();
  shop = await startShop({ SVC_AI_BASE_URL: provider.baseUrl, SVC_AI_MODEL: "small" });
  bin = await mkdtemp(path.join(tmpdir(), "svc-bin-"));
  await symlink(path.join(ROOT, "bin/svc.js"), path.join(bin, "svc"));
});
afterAll(async () => {
  await shop.stop();
  await provider.close();
  await rm(bin, { recursive: true, force: true });
});

test("every block of commands is run here", () => {
  expect(blocks).toHaveLength([...guide.matchAll(/^```bash$/gm)].length);
});

test.each(blocks)("%s", async (command, output) => {
  const bash = spawn("bash", ["-euo", "pipefail", "-c", command], {
    cwd: shop.directory,
    env: {
      PATH: `${bin}:${process.env["PATH"]}`,
      SVC_API_URL: shop.url,
      SVC_ACCESS_TOKEN: shop.owner.token,
      SVC_ORGANIZATION: shop.owner.organizationId,
    },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [printed, [code]] = await Promise.all([text(bash.stdout), once(bash, "close")]);
  expect(code).toBe(0);
  expect(printed.replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d\d:\d\d/g, "<time>")).toBe(output);
});

test("the table has every command of svc ai", () => {
  const shown = [...guide.matchAll(/^\| `svc (ai [a-z-]+)(?: <customerId>)?` /gm)].map(([, words]) => words);
  expect(shown).toEqual(commands.map((command) => command.path).filter((words) => words.startsWith("ai ")));
});
