/** A plain-text mail to one address. */
export interface Mail {
  to: string;
  subject: string;
  text: string;
}

export interface MailerOptions {
  /** SVC_SMTP_URL: `smtp://` (with TLS if the server offers it) or `smtps://`, with user and password if the server requires them. */
  url: string;
  /** SVC_MAIL_FROM: an address, or a name and an address in angle brackets. */
  from: string;
  /** After how many milliseconds a mail is given up; 10 s by default. */
  msMax?: number;
  /** Called with the reason, without the mail's content, if a mail was not accepted. */
  onFailure: (requestId: string, reason: string) => void;
}

export type Mailer = ReturnType<typeof openMailer>;

const MS_MAX = 10_000;
const REASON_LENGTH_MAX = 500;

/** Sends mails through a server, with one connection per mail, because there are few. It connects only when the first mail is sent. */
export function openMailer({ url, from, msMax = MS_MAX, onFailure }: MailerOptions) {
  // Loaded with the first mail, because most processes send none.
  let transport: ReturnType<typeof load> | undefined;
  const load = async () => {
    const { createTransport } = await import("nodemailer");
    return createTransport({ url, disableFileAccess: true, disableUrlAccess: true, socketCloseTimeout: 0 });
  };
  return {
    /** Resolves to whether the mail server accepted the mail in time; never rejects. After false, the mail may still arrive. */
    async send({ to, subject, text }: Mail, requestId: string): Promise<boolean> {
      try {
        transport ??= load();
        await (
          await transport
        ).sendMail({
          from,
          // An object is always a single address, whatever its text looks like.
          to: { name: "", address: to },
          subject,
          text,
          signal: AbortSignal.timeout(msMax),
        });
        return true;
      } catch (error) {
        onFailure(requestId, reasonOf(error, msMax));
        return false;
      }
    },
  };
}

/** A server that refuses a mail may quote its text; links are removed, because they give access to accounts. */
function reasonOf(error: unknown, msMax: number): string {
  const { code, message } = error as Error & { code?: string };
  if (code === "EABORT") return `The mail server did not finish within ${msMax / 1000} s.`;
  return message.replace(/\bhttps?:\/\/\S+/gi, "[link]").slice(0, REASON_LENGTH_MAX);
}
