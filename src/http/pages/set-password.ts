import { call } from "../../db/api/call.js";
import type { PasswordLink } from "../../db/api/sign-in.js";
import { hashCredential } from "../request/credentials.js";
import type { Route } from "../route.js";
import type { PageDeps } from "./session.js";
import { hidden, NEW_PASSWORD_FIELDS, newPasswordFields, passwordProblem, type PasswordProblem } from "./fields.js";
import { html, PageError, renderPage, seeOther } from "./page.js";
import { forgetLinkSecret, openLinkSecret, pageRoute, type Visit } from "./page-route.js";
import type { Passwords } from "./passwords.js";

const PAGE = "/password";
const FIELDS = ["token", ...NEW_PASSWORD_FIELDS] as const;

/** GET and POST /password: how a user sets a password by a link that is good once. */
export function setPasswordPages(passwords: Passwords): ((deps: PageDeps) => Route)[] {
  return [
    pageRoute({ method: "GET", path: PAGE, answer: show }),
    pageRoute({ method: "POST", path: PAGE, fields: FIELDS, answer: (visit) => set(visit, passwords) }),
  ];
}

async function show(visit: Visit<never>): Promise<void> {
  const token = openLinkSecret(visit, PAGE);
  if (token !== null) renderForm(visit, token, (await openLink(visit, token)).email, null);
}

async function set(visit: Visit<(typeof FIELDS)[number]>, passwords: Passwords): Promise<void> {
  const { deps, ctx, form } = visit;
  const token = form.token ?? "";
  const { email } = await openLink(visit, token);
  const problem = passwordProblem(form, email);
  if (problem !== null) {
    renderForm(visit, token, email, problem);
    return;
  }
  const wasSet = await call(deps.sql, "set_password", hashCredential(token), await passwords.hash(form.password ?? ""));
  // The page of the link says why.
  if (!wasSet) {
    seeOther(ctx, PAGE);
    return;
  }
  forgetLinkSecret(visit, PAGE);
  renderPage(ctx, {
    title: "The password is set",
    body: html`<h1>The password is set</h1>
      <p>
        Every browser and command line that was signed in as <strong>${email}</strong> has been signed out.
        <a href="login">Sign in with the new password</a>.
      </p>`,
  });
}

/** The user of a link, if it can be used still. Throws a PageError that says why not. */
async function openLink({ deps }: Visit<never>, token: string): Promise<PasswordLink> {
  const link = await call(deps.sql, "password_link", hashCredential(token));
  const fix = "Ask an owner of your organization, or the operator of this service, for a new link.";
  if (link === null) {
    throw new PageError(404, { title: "No such link", message: "This link sets nobody's password.", fix });
  }
  if (link.status === "open") return link;
  throw new PageError(410, {
    title: link.status === "used" ? "The link was used already" : "The link has expired",
    message: "This link can no longer be used to set a password.",
    fix,
  });
}

function renderForm(visit: Visit<never>, token: string, email: string, problem: PasswordProblem | null): void {
  const { ctx, tokenField } = visit;
  renderPage(ctx, {
    title: "Set a password",
    status: problem === null ? 200 : 422,
    body: html`<h1>Set a password</h1>
      <p>This signs you out in every browser and on every command line.</p>
      <form method="post" action="password">
        ${tokenField()} ${hidden("token", token)} ${newPasswordFields(email, problem)}
        <button>Set the password</button>
      </form>`,
  });
}
