import { afterAll, expect, it } from "vitest";
import { openMailer } from "../../../../src/mail/mailer.js";
import { startMailServer } from "../../../support/smtp.js";
import { refused, useApi } from "../support/api.js";
import { userIdOf } from "./support.js";

const failures: string[] = [];
const onFailure = (requestId: string, reason: string) => failures.push(`${requestId}: ${reason}`);
const mail = await startMailServer();
const api = useApi("none", {}, { mailer: openMailer({ url: mail.url, from: "svc@example.com", onFailure }) });
afterAll(() => mail.stop());

/** The link in a mail: like the answered one, with another secret. */
function theOther(link: string, { text }: { text: string }): string {
  const [mailed] = /https?:\S+/.exec(text)!;
  expect(mailed).not.toBe(link);
  expect(mailed.replace(/svc_link_[0-9a-f]{48}/, "")).toBe(link.replace(/svc_link_[0-9a-f]{48}/, ""));
  return mailed;
}

const make = async (path: string, body: object) => {
  const reply = await api.organization("POST", path, body);
  expect(reply.status).toBe(201);
  return reply.body as { link: string; expiresAt: string; mailed: boolean };
};
const invite = (email: string) => make("/invitations", { email, role: "developer" });
const instant = ({ expiresAt }: { expiresAt: string }) => `${expiresAt.slice(0, 16).replace("T", " ")} UTC`;

it("an invitation is mailed to the address, and a link that sets a password to its user, too", async () => {
  const made = await invite("Grace@Example.com");
  const email = "owner@acme.example";
  const reset = await make(`/members/${await userIdOf(api.service, email)}/password-reset`, {});
  expect([made.mailed, reset.mailed]).toEqual([true, true]);
  const [invitation, password] = mail.mails.splice(0);
  expect(invitation).toMatchObject({
    to: ["grace@example.com"],
    headers: { subject: "Invitation to acme" },
    text: `owner@acme.example invites you to the organization "acme", as developer.

Open this link to accept. It works once:

${theOther(made.link, invitation!)}

It stops working at ${instant(made)}. If you did not expect it, you can ignore this mail.
`,
  });
  expect(password).toMatchObject({
    to: [email],
    headers: { subject: "Set your password" },
    text: `An owner of your organization created a link by which you can set a new password. It works once:

${theOther(reset.link, password!)}

It stops working at ${instant(reset)}. If you did not ask for it, ask the owner who did: anyone who has the link can sign in as you.
`,
  });
});

it("ten links are mailed to one address; further ones are only in the answer", async () => {
  const answers = [];
  for (let n = 0; n < 12; n++) answers.push(await invite("often@example.com"));
  const mailed = answers.map((answer) => answer.mailed);
  expect(mailed).toEqual([...Array<boolean>(10).fill(true), false, false]);
  expect(answers.at(-1)).toMatchObject({ mailFailed: false, link: expect.stringContaining("svc_link_") as string });
  expect(mail.mails.splice(0)).toHaveLength(10);
  expect(await invite("rarely@example.com")).toMatchObject({ mailed: true });
  expect(mail.mails.splice(0)).toHaveLength(1);
});

it("an organization that has mailed two hundred links mails no more for a while", async () => {
  await api.sql`update iam.throttles set full_at = now() + interval '200 minutes'`;
  expect(await invite("other@example.com")).toMatchObject({ mailed: false, mailFailed: false });
  await api.sql`update iam.throttles set full_at = now() + interval '198 minutes'`;
  expect(await invite("another@example.com")).toMatchObject({ mailed: true });
  expect(mail.mails.splice(0)).toHaveLength(1);
});

it("a refusal sends no mail, and if a mail fails, the answer still has the link", async () => {
  const body = { email: "owner@acme.example", role: "viewer" };
  expect(await api.organization("POST", "/invitations", body)).toMatchObject(refused(409, "ALREADY_MEMBER"));
  expect(mail.mails).toEqual([]);
  await mail.stop();
  const link = expect.stringContaining("/invitation?token=svc_link_") as string;
  expect(await invite("later@example.com")).toMatchObject({ mailed: false, mailFailed: true, link });
  expect(failures).toEqual([expect.stringMatching(/^req: .*ECONNREFUSED/)]);
  expect(await api.sql`select from iam.invitations where email = 'later@example.com'`).toHaveLength(1);
});
