/**
 * Plays an example's data to `svc dev --clock`, as it happened:
 *
 *     npx tsx examples/tools/play.ts examples/saas/data.jsonl http://127.0.0.1:4401 2026-05-01T00:00:00Z
 */
import { readFile } from "node:fs/promises";
import { requestsOf } from "./walk.js";

const [file, url = "", end] = process.argv.slice(2);
if (file === undefined || end === undefined) {
  console.error("usage: npx tsx examples/tools/play.ts <data.jsonl> <url of svc dev> <instant to end at>");
  process.exit(2);
}

async function post(path: string, body: object): Promise<void> {
  const response = await fetch(url + path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`POST ${path} failed: ${response.status} ${await response.text()}`);
  await response.arrayBuffer();
}

const requests = requestsOf(await readFile(file, "utf8"));
for (const { at, operations } of requests) {
  await post("/clock", { to: new Date(at).toISOString() });
  await post("/events/batch", { events: operations });
}
await post("/clock", { to: end });
console.info(`${requests.length} requests are accepted, and it is ${end}: look at ${url}/customers`);
