import { afterAll, beforeAll, expect, it } from "vitest";
import { openMailer } from "../../../../src/mail/mailer.js";
import { startService, type Actor, type Service } from "../../../support/service.js";
import { startMailServer, type TestMailServer } from "../../../support/smtp.js";
import { userIdOf } from "./support.js";

let mail: TestMailServer;
let service: Service;
let owner: Actor;
const failures: string[] = [];
beforeAll(async () => {
  mail = await startMailServer();
  const mailer = openMailer({
    url: mail.url,
    from: "svc@example.com",
    onFailure: (requestId, reason) => failures.push(`${requestId}: ${reason}`),
  });
  service = await startService({}, { mailer });
  owner = await service.owner("acme");
});
afterAll(async () => {
  await service.stop();
  await mail.stop();
});

interface Made {
  link: string;
  expiresAt: string;
  mailed: boolean;
}

/** The link of the last mail: as the one that was answered, with another secret. */
function theOther(link: string): string {
  const [mailed] = /https?:\S+/.exec(mail.mails.at(-1)!.text)!;
  expect(mailed).not.toBe(link);
  expect(mailed.replace(/svc_link_[0-9a-f]{48}/, "")).toBe(link.replace(/svc_link_[0-9a-f]{48}/, ""));
  return mailed;
}

const invite = async (email: string) => {
  const body = { email, role: "developer" };
  const reply = await service.request("POST", "/organization/invitations", { by: owner, body });
  expect(reply.status).toBe(201);
  return reply.body as Made;
};

it("an invitation is mailed to the address, too", async () => {
  const { link, expiresAt, mailed } = await invite("Grace@Example.com");
  expect(mailed).toBe(true);
  const mailedLink = theOther(link);
  expect(mail.mails.splice(0)).toMatchObject([
    {
      to: ["grace@example.com"],
      headers: { subject: "Invitation to acme" },
      text: `owner@acme.example invites you to the organization "acme", as developer.

Open this link to accept. It works once:

${mailedLink}

It stops working at ${expiresAt.slice(0, 16).replace("T", " ")} UTC. If you did not expect it, there is nothing to do.
`,
    },
  ]);
});

it("a link that sets a password is mailed to its user, too", async () => {
  await service.owner("other");
  const email = "owner@other.example";
  await service.db.sql`update iam.memberships set organization_id = ${owner.organizationId}
    where user_id = ${await userIdOf(service, email)}`;
  const path = `/organization/members/${await userIdOf(service, email)}/password-reset`;
  const { link, expiresAt, mailed } = (await service.request("POST", path, { by: owner, body: {} })).body as Made;
  expect(mailed).toBe(true);
  const mailedLink = theOther(link);
  expect(mail.mails.splice(0)).toMatchObject([
    {
      to: [email],
      headers: { subject: "Set your password" },
      text: `An owner of your organization made a link by which you set a new password. It works once:

${mailedLink}

It stops working at ${expiresAt.slice(0, 16).replace("T", " ")} UTC. If you did not ask for it, ask the owner who did: whoever has the link can sign in as you.
`,
    },
  ]);
});

it("what is refused is not mailed", async () => {
  const body = { email: "owner@acme.example", role: "viewer" };
  expect((await service.request("POST", "/organization/invitations", { by: owner, body })).status).toBe(409);
  expect(mail.mails).toEqual([]);
});

it("a mail that is not taken loses nothing: the answer has the link", async () => {
  await mail.stop();
  const { link, mailed } = await invite("later@example.com");
  expect([mailed, link]).toEqual([false, expect.stringContaining("/invitation?token=svc_link_")]);
  expect(failures).toEqual([expect.stringMatching(/^req: .*ECONNREFUSED/)]);
  const [row] = await service.db
    .sql`select count(*)::int as kept from iam.invitations where email = 'later@example.com'`;
  expect(row).toEqual({ kept: 1 });
});
