import { expect, it, onTestFinished } from "vitest";
import { readConfig } from "../../src/server/config.js";
import { openHttp } from "../../src/server/http-role.js";
import { capturedLog } from "../support/captured-log.js";
import { useService } from "../support/service.js";
import { startMailServer } from "../support/smtp.js";

const SECRET = "a secret of the tests, long enough";

const service = await useService();
const owner = await service.owner("acme");

/** Sends an invitation through a service composed as in its process. */
async function invite(env: Record<string, string>) {
  const { log, lines } = capturedLog();
  const http = await openHttp(readConfig({ SVC_PORT: "0", ...env }).config, log);
  onTestFinished(() => http.stop());
  http.serve({ databaseUrl: service.db.url, useRoles: true, secret: SECRET });
  const by = { Authorization: `Bearer ${owner.token}`, "X-Svc-Organization": owner.organizationId };
  const headers = { ...by, "X-Request-ID": "req", "Content-Type": "application/json" };
  const body = JSON.stringify({ email: "ada@example.com", role: "viewer" });
  const response = await fetch(`${http.address}/organization/invitations`, { method: "POST", headers, body });
  expect(response.status).toBe(201);
  const { link, mailed } = (await response.json()) as { link: string; mailed: boolean };
  return { link, mailed, lines, address: http.address };
}

it("without a mail server, the link leads to the listening address", async () => {
  const { link, mailed, address } = await invite({});
  expect(mailed).toBe(false);
  expect(link).toMatch(new RegExp(`^${address}/invitation\\?token=svc_link_[0-9a-f]{48}$`));
});

it("with one, the link is mailed and leads to the public address", async () => {
  const server = await startMailServer();
  const { link, mailed, lines } = await invite({
    SVC_SMTP_URL: server.url,
    SVC_MAIL_FROM: "svc@example.com",
    SVC_PUBLIC_URL: "https://svc.example.com",
  });
  await server.stop();
  expect([mailed, lines]).toEqual([true, []]);
  expect(link).toMatch(/^https:\/\/svc\.example\.com\/invitation\?token=/);
  const secret = /svc_link_[0-9a-f]{48}/;
  expect(server.mails.map(({ text }) => text)).toEqual([expect.stringContaining(link.replace(secret, ""))]);
  // The inviting owner does not see the mailed link.
  expect(server.mails[0]!.text).not.toContain(secret.exec(link)![0]);
});

it("with one that refuses, the log warns without the link", async () => {
  const server = await startMailServer({}, ({ text }) => text.replaceAll("\n", " "));
  const { link, mailed, lines } = await invite({ SVC_SMTP_URL: server.url, SVC_MAIL_FROM: "svc@example.com" });
  await server.stop();
  expect(mailed).toBe(false);
  expect(lines).toMatchObject([
    {
      msg: "the mail with a link was not sent; if the API made the link, its answer contains it",
      requestId: "req",
      reason: expect.stringContaining("Message failed: 554") as unknown,
    },
  ]);
  const secret = new URL(link).searchParams.get("token")!;
  expect(JSON.stringify(lines)).not.toContain(secret.slice(0, 20));
});
