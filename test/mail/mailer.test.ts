import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { openMailer } from "../../src/mail/mailer.js";
import { startMailServer, type TestMailServer } from "../support/smtp.js";

/** A mail server that runs until the test ends. */
async function mailServer(...options: Parameters<typeof startMailServer>): Promise<TestMailServer> {
  const server = await startMailServer(...options);
  onTestFinished(() => server.stop());
  return server;
}

/** A mailer, and the failures that it reports. */
function mailerOf(url: string, msMax?: number) {
  const failures: string[] = [];
  const mailer = openMailer({
    url,
    from: "Acme service <svc@example.com>",
    ...(msMax === undefined ? {} : { msMax }),
    onFailure: (requestId, reason) => failures.push(`${requestId}: ${reason}`),
  });
  return { mailer, failures };
}

const LINK = "https://svc.example.com/invitation?token=svc_link_0123456789abcdef";
const MAIL = { to: "ada@example.com", subject: "Invitation to acme", text: `Open this link:\n\n${LINK}\n` };

it("sends plain text from the sender to the one address", async () => {
  const server = await mailServer();
  const { mailer, failures } = mailerOf(server.url);
  expect(await mailer.send(MAIL, "req")).toBe(true);
  expect(server.mails).toMatchObject([
    {
      from: "svc@example.com",
      to: ["ada@example.com"],
      headers: {
        from: "Acme service <svc@example.com>",
        to: "ada@example.com",
        subject: "Invitation to acme",
        "content-type": expect.stringMatching(/^text\/plain; charset=utf-8/) as unknown,
      },
      text: MAIL.text,
    },
  ]);
  expect(failures).toEqual([]);
});

it("uses user and password from the address", async () => {
  const server = await mailServer({
    authOptional: false,
    onAuth: ({ username, password }, _session, done) =>
      username === "mail" && password === "p@ss" ? done(null, { user: username }) : done(new Error("Wrong password")),
  });
  const named = server.url.replace("//", "//mail:p%40ss@");
  expect(await mailerOf(named).mailer.send(MAIL, "req")).toBe(true);
  const wrong = mailerOf(server.url.replace("//", "//mail:hunter2@"));
  expect(await wrong.mailer.send(MAIL, "req")).toBe(false);
  expect(wrong.failures).toEqual([expect.stringMatching(/^req: Invalid login: 535 Wrong password/)]);
  expect(wrong.failures.join()).not.toContain("hunter2");
});

it("sends to no second address, injected neither by the first one nor by the subject", async () => {
  const server = await mailServer();
  const { mailer } = mailerOf(server.url);
  const eve = "eve@example.com";
  for (const to of [`ada@example.com, ${eve}`, `Eve <${eve}>`, `ada@example.com\r\nBcc: ${eve}`])
    await mailer.send({ ...MAIL, to }, "req");
  expect(await mailer.send({ ...MAIL, subject: `a\r\nBcc: ${eve}` }, "req")).toBe(true);
  expect(server.mails.flatMap(({ to }) => to)).not.toContain(eve);
  expect(server.mails.map(({ headers }) => headers["bcc"])).not.toContain(eve);
  expect(server.mails.at(-1)).toMatchObject({ to: ["ada@example.com"] });
  expect(server.mails.at(-1)!.headers["bcc"]).toBeUndefined();
});

it("reports a refused mail, without the link that the server repeats", async () => {
  const server = await mailServer({}, ({ text }) => `No: ${text.replaceAll("\n", " ")}`);
  const { mailer, failures } = mailerOf(server.url);
  expect(await mailer.send(MAIL, "req")).toBe(false);
  expect(failures).toEqual([expect.stringMatching(/^req: Message failed: 554 No: Open this link: +\[link\]/)]);
});

it("sends nothing to a server with an untrusted certificate", async () => {
  const server = await mailServer({ secure: true });
  const { mailer, failures } = mailerOf(server.url.replace("smtp:", "smtps:"));
  expect(await mailer.send(MAIL, "req")).toBe(false);
  expect(failures).toEqual([expect.stringMatching(/certificate|self.signed/i)]);
  expect(server.mails).toEqual([]);
});

it("reports an unreachable server, and tries again the next time", async () => {
  const server = await startMailServer();
  await server.stop();
  const { mailer, failures } = mailerOf(server.url);
  expect([await mailer.send(MAIL, "first"), await mailer.send(MAIL, "second")]).toEqual([false, false]);
  expect(failures).toEqual([
    expect.stringMatching(/^first: .*ECONNREFUSED/),
    expect.stringMatching(/^second: .*ECONNREFUSED/),
  ]);
});

it("gives up on a silent server after the timeout", async () => {
  const silent = createServer();
  silent.listen(0, "127.0.0.1");
  await once(silent, "listening");
  const sockets: Promise<unknown>[] = [];
  silent.on("connection", (socket) => sockets.push(once(socket.resume(), "close")));
  const { mailer, failures } = mailerOf(`smtp://127.0.0.1:${(silent.address() as AddressInfo).port}`, 50);
  expect(await mailer.send(MAIL, "req")).toBe(false);
  expect(failures).toEqual(["req: The mail server did not finish within 0.05 s."]);
  // The connection is closed with it.
  await Promise.all(sockets);
  silent.close();
});
