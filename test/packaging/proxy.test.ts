import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chown, readFile, writeFile } from "node:fs/promises";
import { request } from "node:https";
import type { IncomingMessage } from "node:http";
import path from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { serverAccount } from "../../src/db/embedded/account.js";
import { createDatabase, type TestDatabase } from "../support/database.js";
import { INSTALL_MS_MAX, installed } from "../support/debian.js";
import { freePort } from "../support/free-port.js";
import { useDirectory } from "../support/directory.js";
import { startServiceProcess, type ServiceProcess } from "../support/service-process.js";
import { blocksOf } from "./support/guide.js";

// The service behind Debian's nginx as configured in docs/deploy.md, with a test certificate.

const PROGRAM = "/usr/sbin/nginx";
const HOST = "svc.example.com";

let skipped: string | null;
const directory = await useDirectory();
let db: TestDatabase;
let service: ServiceProcess;
let nginx: ChildProcess;
let port: number;
let certificate: string;

beforeAll(async () => {
  skipped = await installed(PROGRAM, ["nginx-light", "openssl"]);
  if (skipped !== null) return;
  db = await createDatabase();
  service = await startServiceProcess(db.url, { SVC_PUBLIC_URL: `https://${HOST}`, SVC_TRUSTED_PROXIES: "1" });
  port = await freePort();
  const [cert, key] = [path.join(directory, "cert.pem"), path.join(directory, "key.pem")];
  const subject = ["-subj", `/CN=${HOST}`, "-addext", `subjectAltName=DNS:${HOST}`];
  const made = ["-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-keyout", key, "-out", cert];
  await promisify(execFile)("openssl", ["req", ...made, ...subject]);
  certificate = await readFile(cert, "utf8");
  const [block] = blocksOf("test/packaging/proxy.test.ts");
  const server = block!.code
    .replace("listen 443 ssl", `listen 127.0.0.1:${port} ssl`)
    .replace("/etc/ssl/svc.example.com.pem", cert)
    .replace("/etc/ssl/private/svc.example.com.key", key)
    .replace("http://127.0.0.1:4400", service.url);
  const own = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${directory}/${name};`,
  );
  const file = path.join(directory, "nginx.conf");
  await writeFile(
    file,
    `daemon off; pid ${directory}/pid; error_log stderr; events {}\nhttp {\naccess_log off;\n${own.join("\n")}\n${server}}\n`,
  );
  const account = await serverAccount();
  if (account !== null) for (const owned of [directory, key]) await chown(owned, account.uid, account.gid);
  nginx = spawn(PROGRAM, ["-e", "stderr", "-c", file], {
    stdio: ["ignore", "ignore", "inherit"],
    ...(account === null ? {} : { uid: account.uid, gid: account.gid }),
  });
  await vi.waitFor(async () => expect((await ask("GET", "/readyz")).status).toBe(200), { timeout: 30_000 });
}, INSTALL_MS_MAX);

beforeEach((context) => {
  if (skipped !== null) context.skip(skipped);
});

afterAll(async () => {
  if (skipped !== null) return;
  const ended = once(nginx, "exit");
  nginx.kill("SIGTERM");
  await Promise.all([ended, service.stop()]);
  await db.drop();
});

async function ask(method: string, address: string, headers: Record<string, string> = {}, body = "") {
  const sent = request({
    host: "127.0.0.1",
    port,
    path: address,
    method,
    headers: { Host: HOST, ...headers },
    servername: HOST,
    ca: certificate,
    agent: false,
  });
  sent.end(body);
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  return { status: answer.statusCode, headers: answer.headers, body: await text(answer) };
}

test("pages behind the proxy set cookies for https, and redirect to the public address", async () => {
  const { status, headers } = await ask("GET", "/login");
  expect(status).toBe(200);
  expect(headers["set-cookie"]?.length).toBeGreaterThan(0);
  for (const cookie of headers["set-cookie"]!) expect(cookie).toMatch(/; secure/i);
  const refused = await ask("POST", "/v1/events", { "Content-Type": "application/json" }, "{}");
  expect(refused.status).toBe(401);
  expect(JSON.parse(refused.body)).toMatchObject({ error: { docs: expect.stringMatching(`^https://${HOST}/docs/`) } });
});

test("a batch larger than a proxy's default limit reaches the service", async () => {
  const headers = { Authorization: "Bearer svc_test_x", "Content-Type": "application/json" };
  const { status, body } = await ask("POST", "/v1/events/batch", headers, " ".repeat(20_000_000));
  expect(status).toBe(401);
  expect(JSON.parse(body)).toMatchObject({ error: { code: expect.any(String) } });
});
