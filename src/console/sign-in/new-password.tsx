import { call } from "../../db/api/call.js";
import { clientNetwork } from "../../http/request/client-address.js";
import { type NewCredential, newCredential, passwordLink } from "../../http/request/credentials.js";
import { passwordMail } from "../../mail/messages.js";
import { pageRoute, refuseOutdated, type PageVisit } from "../page-route.js";
import { PageError, renderPage, seeOther } from "../page.js";
import { SentForms } from "../sent-forms.js";
import type { PageSession } from "../session.js";
import { EMAIL, FormField } from "./fields.js";
import { redirectToLinkPage } from "./links.js";
import { Forgotten, readAddress, signInTo, tooMany, toWait, verifiedPassword } from "./sign-in.js";

const CURRENT_PASSWORD = {
  name: "password",
  label: "Current password",
  type: "password",
  autocomplete: "current-password",
  autofocus: true,
} as const;

const CHANGE = "/change-password";
const FORGOTTEN = "/forgotten-password";

/**
 * Pages by which a user gets a link that sets a password. GET and POST /change-password: after entering the current one. GET and POST
 * /forgotten-password: by mail, if the service sends mail.
 */
export const newPasswordPages = [
  pageRoute({ method: "GET", path: CHANGE, answer: (visit) => askForPassword(visit) }),
  pageRoute({ method: "POST", path: CHANGE, fields: ["password"], answer: changePassword, outdated: refuseOutdated }),
  pageRoute({ method: "GET", path: FORGOTTEN, answer: askForAddress }),
  pageRoute({ method: "POST", path: FORGOTTEN, fields: ["email"], answer: mailLink }),
];

const begun = new SentForms<Awaited<ReturnType<typeof beginChange>>>();

async function changePassword(visit: PageVisit<"password">): Promise<void> {
  const { ctx, session } = visit;
  const secret = session === null ? "signed out" : await begun.once(visit, () => beginChange(visit, session));
  if (secret === "signed out") seeOther(ctx, signInTo(CHANGE));
  else if (secret === "wrong") askForPassword(visit, "This is not your password. Check it, then try again.");
  else redirectToLinkPage(visit, "/password", secret.text);
}

/** Makes a link that sets another password, if the current one is right. */
async function beginChange(
  visit: PageVisit<"password">,
  session: PageSession,
): Promise<NewCredential | "wrong" | "signed out"> {
  const { deps, form } = visit;
  const verified = await verifiedPassword(visit, session.email, form.password ?? "");
  if (verified === null) return "wrong";
  const secret = newCredential("link");
  const isMade = await call(deps.sql, "begin_password_change", session.hash, verified.passwordHash, secret.hash);
  return isMade ? secret : "signed out";
}

function askForPassword({ deps, ctx, session, tokenField }: PageVisit<never>, problem?: string): void {
  if (session === null) {
    seeOther(ctx, signInTo(CHANGE));
    return;
  }
  renderPage(ctx, {
    title: "Change your password",
    status: problem === undefined ? 200 : 422,
    body: (
      <>
        <form method="post" action={CHANGE.slice(1)}>
          {tokenField()}
          <FormField {...EMAIL} value={session.email} shown />
          <FormField {...CURRENT_PASSWORD} problem={problem} />
          <button>Continue</button>
        </form>
        <p class="hint">
          <Forgotten deps={deps} />
        </p>
      </>
    ),
  });
}

/** How long to wait, if the link was not requested; null if it was. */
const requested = new SentForms<number | null>();

async function mailLink(visit: PageVisit<"email">): Promise<void> {
  const { deps, ctx, form } = visit;
  const mailer = requireMailer(visit);
  const address = readAddress(form.email);
  if (address.email === null) {
    askForAddress(visit, address.typed, "This is not an e-mail address.");
    return;
  }
  const { email } = address;
  const waitSeconds = await requested.once(visit, async () => {
    const secret = newCredential("link");
    const asked = await call(deps.sql, "request_password_link", email, clientNetwork(ctx), secret.hash);
    // Not awaited: the time would reveal whether there is such a user. Failures are logged.
    if (asked.mail !== null) {
      const mail = { ...asked.mail, link: passwordLink(deps.publicUrl(), secret) };
      void mailer.send(passwordMail(mail, "anybody"), ctx.state["requestId"] as string);
    }
    return asked.waitSeconds;
  });
  if (waitSeconds !== null) {
    const { text } = toWait(visit, tooMany(waitSeconds, "Too many links were requested from your network."));
    askForAddress(visit, address.typed, text, 429);
    return;
  }
  renderPage(ctx, {
    title: "Check your mail",
    body: (
      <>
        <p role="status">
          If there is an account for <strong>{email}</strong>, a link to set a new password is on its way. It works
          once, for 24 hours.
        </p>
        <p class="hint">
          If no mail arrives within a few minutes, ask an owner of your organization, or the operator of this service,
          for a link.
        </p>
      </>
    ),
  });
}

function askForAddress(visit: PageVisit<never>, typed?: string, problem?: string, status = 422): void {
  requireMailer(visit);
  renderPage(visit.ctx, {
    title: "Set a new password",
    status: problem === undefined ? 200 : status,
    body: (
      <>
        <p>Enter your e-mail address to get a link with which you can set a new password.</p>
        <form method="post" action={FORGOTTEN.slice(1)}>
          {visit.tokenField()}
          <FormField {...EMAIL} value={typed} problem={problem} autofocus />
          <button>Mail me a link</button>
        </form>
      </>
    ),
  });
}

function requireMailer({ deps }: PageVisit<never>) {
  if (deps.mailer !== null) return deps.mailer;
  throw new PageError(404, {
    title: "No mail",
    message: "This service does not send mail.",
    fix: "Ask an owner of your organization, or the operator of this service, for a link to set a new password.",
  });
}
