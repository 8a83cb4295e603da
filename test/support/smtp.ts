import type { AddressInfo } from "node:net";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";

export interface ReceivedMail {
  from: string;
  to: string[];
  /** By header name in lower case. */
  headers: Record<string, string>;
  text: string;
}

/** A mail server on loopback. */
export interface TestMailServer {
  /** smtp://127.0.0.1:PORT */
  url: string;
  mails: ReceivedMail[];
  stop(): Promise<void>;
}

/** Starts a mail server. If `refuse` is given, each mail is rejected with its text after it was received. */
export async function startMailServer(
  options: SMTPServerOptions = {},
  refuse?: (mail: ReceivedMail) => string,
): Promise<TestMailServer> {
  const mails: ReceivedMail[] = [];
  const server = new SMTPServer({
    disabledCommands: ["STARTTLS"],
    authOptional: true,
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        const { mailFrom, rcptTo } = session.envelope;
        const mail = {
          from: mailFrom === false ? "" : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          ...parse(Buffer.concat(chunks).toString("utf8")),
        };
        if (refuse !== undefined) return done(Object.assign(new Error(refuse(mail)), { responseCode: 554 }));
        mails.push(mail);
        done();
      });
    },
    ...options,
  });
  // A client that disconnects, for example because of the certificate, is not a failure of the server.
  server.on("error", () => undefined);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.server.address() as AddressInfo;
  return {
    url: `smtp://127.0.0.1:${port}`,
    mails,
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

function parse(message: string): Pick<ReceivedMail, "headers" | "text"> {
  const [head = "", body = ""] = split(message, "\r\n\r\n");
  const headers = Object.fromEntries(
    head
      .replace(/\r\n[ \t]+/g, " ")
      .split("\r\n")
      .map((line) => split(line, ": "))
      .map(([name = "", value = ""]) => [name.toLowerCase(), value]),
  );
  const quoted = headers["content-transfer-encoding"] === "quoted-printable";
  const decoded = quoted
    ? Buffer.from(
        body
          .replace(/=\r\n/g, "")
          .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16))),
        "latin1",
      ).toString("utf8")
    : body;
  return { headers, text: decoded.replaceAll("\r\n", "\n") };
}

function split(text: string, separator: string): string[] {
  const at = text.indexOf(separator);
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + separator.length)];
}
