/** A plain-text mail to one address. */
export interface Mail {
  to: string;
  subject: string;
  text: string;
}

export interface MailerOptions {
  /** SVC_SMTP_URL: `smtp://` (TLS where the server offers it) or `smtps://`, with user and password where it wants them. */
  url: string;
  /** SVC_MAIL_FROM: an address, or a name and an address in angle brackets. */
  from: string;
  /** After how many milliseconds a mail is given up; 10 s unless given. */
  msMax?: number;
  /** Told, in words without the mail's content, why a mail was not taken. */
  onFailure: (requestId: string, reason: string) => void;
}

export type Mailer = ReturnType<typeof openMailer>;

const MS_MAX = 10_000;
const REASON_LENGTH_MAX = 500;

/** Sends mails through a server, a connection for each: they are few. Nothing is dialled before the first one. */
export function openMailer({ url, from, msMax = MS_MAX, onFailure }: MailerOptions) {
  // Loaded with the first mail: most processes send none.
  let transport: ReturnType<typeof load> | undefined;
  const load = async () => {
    const { createTransport } = await import("nodemailer");
    return createTransport({ url, disableFileAccess: true, disableUrlAccess: true, socketCloseTimeout: 0 });
  };
  return {
    /** Resolves to whether the mail server has taken the mail, within the time; never rejects. A mail that was not may arrive all the same. */
    async send({ to, subject, text }: Mail, requestId: string): Promise<boolean> {
      try {
        transport ??= load();
        await (
          await transport
        ).sendMail({
          from,
          // As an object it is one address, whatever its text looks like.
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

/** A server that refuses a mail may repeat what stands in it; links are left out, because they open accounts. */
function reasonOf(error: unknown, msMax: number): string {
  const { code, message } = error as Error & { code?: string };
  if (code === "EABORT") return `The mail server was not done after ${msMax / 1000} s.`;
  return message.replace(/\bhttps?:\/\/\S+/gi, "[link]").slice(0, REASON_LENGTH_MAX);
}
