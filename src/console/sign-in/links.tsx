import type { VNode } from "preact";
import { call } from "../../db/api/call.js";
import type { InvitationOfLink, PasswordLink } from "../../db/api/sign-in.js";
import { hashCredential, newCredential } from "../../http/request/credentials.js";
import { HiddenFields } from "../forms.js";
import { pageRoute, queryText, requireBegun, type PageVisit } from "../page-route.js";
import { PageError, renderPage, seeOther } from "../page.js";
import { LinkLine } from "../parts.js";
import { SentForms } from "../sent-forms.js";
import { FactList } from "../tables.js";
import { getCookie, setSessionCookie, setCookie } from "../session.js";
import { NEW_PASSWORD_FIELDS, NewPasswordFields, passwordProblem, type PasswordProblem } from "./fields.js";
import { signInTo, SignOut } from "./sign-in.js";

const LINK_SECRET = /^svc_link_[0-9a-f]{48}$/;

/** Long enough to sign in and come back. */
const LINK_SECONDS = 60 * 60;

/** The pages that links lead to, with the cookies that keep the links' secrets. */
const COOKIES = {
  "/invitation": "svc_invitation",
  "/password": "svc_password_link",
  "/sign-in": "svc_sign_in_link",
} as const;

type LinkedPage = keyof typeof COOKIES;

/**
 * The secret of the link by which a browser came to a page. If the address contains it, moves it to a cookie, redirects to the page without it,
 * and returns null: histories, screens and proxies keep addresses.
 */
export function openLinkSecret({ deps, ctx }: PageVisit<never>, page: LinkedPage): string | null {
  const secret = queryText(ctx, "token");
  if (secret === undefined) return getCookie(deps, ctx, COOKIES[page]) ?? "";
  if (!LINK_SECRET.test(secret)) return secret; // no link has it
  redirectToLinkPage({ deps, ctx }, page, secret);
  return null;
}

/** Redirects a browser to the page of a link and sets the cookie with its secret. */
export function redirectToLinkPage(
  { deps, ctx }: Pick<PageVisit<never>, "deps" | "ctx">,
  page: LinkedPage,
  secret: string,
): void {
  setCookie(deps, ctx, COOKIES[page], secret, LINK_SECONDS);
  seeOther(ctx, page);
}

/** Removes the cookie with the secret of a used link. */
export function forgetLinkSecret({ deps, ctx }: PageVisit<never>, page: LinkedPage): void {
  setCookie(deps, ctx, COOKIES[page], null);
}

const FIELDS = ["token", ...NEW_PASSWORD_FIELDS] as const;

const INVITATION = "/invitation";
const PASSWORD = "/password";

/**
 * GET and POST /invitation: accepts an invitation, after creating a user if the address has none. GET and POST /password: sets a password by
 * a link that works once.
 */
export const linkedPages = [
  pageRoute({ method: "GET", path: INVITATION, answer: showInvitation }),
  pageRoute({
    method: "POST",
    path: INVITATION,
    fields: FIELDS,
    answer: (visit) =>
      accept(
        visit,
        accepted.once(visit, () => tryToJoin(visit)),
      ),
    outdated: async (visit) => {
      const outcome = accepted.again(visit);
      requireBegun(visit, (await outcome).newSession);
      await accept(visit, outcome);
    },
  }),
  pageRoute({ method: "GET", path: PASSWORD, answer: showPassword }),
  pageRoute({
    method: "POST",
    path: PASSWORD,
    fields: FIELDS,
    answer: (visit) =>
      setPassword(
        visit,
        set.once(visit, () => tryToSet(visit)),
      ),
    outdated: (visit) => setPassword(visit, set.again(visit)),
  }),
];

async function showInvitation(visit: PageVisit<never>): Promise<void> {
  const token = openLinkSecret(visit, INVITATION);
  if (token === null) return;
  const invitation = await openInvitation(visit, token);
  renderStep(visit, invitation, nextStep(visit, invitation, token));
}

const accepted = new SentForms<Awaited<ReturnType<typeof tryToJoin>>>();

async function accept(visit: PageVisit<never>, outcome: ReturnType<typeof tryToJoin>): Promise<void> {
  const { deps, ctx } = visit;
  const { token, invitation, problem, isNew, newSession, joined } = await outcome;
  if (problem !== null) {
    renderStep(visit, invitation, choosePassword(visit, invitation, token, problem), 422);
    return;
  }
  // The page of the invitation shows why not.
  if (!joined) {
    seeOther(ctx, INVITATION);
    return;
  }
  if (isNew) setSessionCookie(deps, ctx, newSession);
  forgetLinkSecret(visit, INVITATION);
  const { organization, role, email } = invitation;
  renderPage(ctx, {
    title: `You have joined ${organization}`,
    body: (
      <>
        <p>
          You are signed in as <strong>{email}</strong>, {role} of <strong>{organization}</strong>.
        </p>
        <LinkLine href={`console/${organization}`} text={`Go to the console of ${organization}`} />
        <p>
          When you sign in a program, it shows a code. Enter it on <a href="device">the page for devices</a>.
        </p>
      </>
    ),
  });
}

/** Accepts the invitation, unless the new password has a problem. */
async function tryToJoin(visit: PageVisit<(typeof FIELDS)[number]>) {
  const { deps, ctx, session, form } = visit;
  const token = form.token ?? "";
  const invitation = await openInvitation(visit, token);
  const isNew = session === null && !invitation.isUser;
  const problem = isNew ? passwordProblem(form, invitation.email) : null;
  const newSession = newCredential("session");
  const joined =
    problem === null &&
    (await call(deps.sql, "accept_invitation", {
      linkHash: hashCredential(token),
      requestId: ctx.state["requestId"] as string,
      previousHash: session?.hash ?? null,
      sessionHash: newSession.hash,
      passwordHash: isNew ? await deps.passwords.hash(form.password ?? "") : null,
    }));
  return { token, invitation, problem, isNew, newSession, joined };
}

/** The invitation of a link, if it can still be accepted; else throws a PageError that says why not. */
async function openInvitation({ deps, session }: PageVisit<never>, token: string): Promise<InvitationOfLink> {
  const invitation = await call(deps.sql, "invitation_of_link", hashCredential(token));
  if (invitation === null) {
    throw new PageError(404, {
      title: "No such invitation",
      message: "This link belongs to no invitation.",
      fix: "Check that the link is complete, or ask the person who sent it to invite you again.",
    });
  }
  const { status, organization, isMember } = invitation;
  const isYours = session?.email === invitation.email;
  if (status === "accepted" || (status === "open" && isMember)) {
    throw new PageError(410, {
      title: isMember && isYours ? `You are a member of ${organization}` : "The invitation was already accepted",
      message: `The invitation to ${organization} is no longer needed: ${isYours ? "you have" : "the person invited has"} already joined.`,
      fix: isYours
        ? "There is nothing to do."
        : "If it was you, sign in. If it was not, tell an owner of the organization.",
    });
  }
  if (status !== "open") {
    throw new PageError(410, {
      title: status === "expired" ? "The invitation has expired" : "The invitation was withdrawn",
      message: `The invitation to ${organization} can no longer be accepted.`,
      fix: "Ask an owner of the organization to invite you again.",
    });
  }
  return invitation;
}

function renderStep(visit: PageVisit<never>, invitation: InvitationOfLink, step: VNode, status = 200): void {
  const { organization, role, email, invitedBy } = invitation;
  renderPage(visit.ctx, {
    status,
    title: `Join ${organization}`,
    body: (
      <>
        <FactList of={{ Invited: email, By: invitedBy, As: role }} />
        {step}
      </>
    ),
  });
}

/** The next step for the person who opened the link. */
function nextStep(visit: PageVisit<never>, invitation: InvitationOfLink, token: string): VNode {
  const { session } = visit;
  if (session?.email === invitation.email) return join(visit, token);
  if (session !== null) return asSomebodyElse(visit, session.email);
  if (!invitation.isUser) return choosePassword(visit, invitation, token, null);
  return (
    <>
      <p>
        There is an account with this e-mail address. <a href={signInTo(INVITATION).slice(1)}>Sign in with it</a> to
        return here.
      </p>
      <p class="hint">
        If it has no password yet, or you forgot it, ask an owner of your organization or the operator of this service
        for a link to set one.
      </p>
    </>
  );
}

function choosePassword(
  { tokenField }: PageVisit<never>,
  { email }: InvitationOfLink,
  token: string,
  problem: PasswordProblem | null,
): VNode {
  return (
    <>
      <p>Choose a password for your new account.</p>
      <form method="post" action="invitation">
        {tokenField()}
        <HiddenFields of={{ token }} />
        <NewPasswordFields email={email} problem={problem} />
        <button>Create the account and join</button>
      </form>
    </>
  );
}

function join({ tokenField }: PageVisit<never>, token: string): VNode {
  return (
    <form method="post" action="invitation">
      {tokenField()}
      <HiddenFields of={{ token }} />
      <button>Join</button>
    </form>
  );
}

function asSomebodyElse({ tokenField }: PageVisit<never>, email: string): VNode {
  return (
    <>
      <p>
        You are signed in as <strong>{email}</strong>, but the invitation is for somebody else. Sign out to continue as
        the person invited.
      </p>
      <SignOut tokenField={tokenField} next={INVITATION} />
    </>
  );
}

async function showPassword(visit: PageVisit<never>): Promise<void> {
  const token = openLinkSecret(visit, PASSWORD);
  if (token !== null) renderForm(visit, token, (await openLink(visit, token)).email, null);
}

const set = new SentForms<Awaited<ReturnType<typeof tryToSet>>>();

async function setPassword(visit: PageVisit<never>, outcome: ReturnType<typeof tryToSet>): Promise<void> {
  const { ctx } = visit;
  const { token, email, problem, wasSet } = await outcome;
  if (problem !== null) {
    renderForm(visit, token, email, problem);
    return;
  }
  // The page of the link shows why not.
  if (!wasSet) {
    seeOther(ctx, PASSWORD);
    return;
  }
  forgetLinkSecret(visit, PASSWORD);
  renderPage(ctx, {
    title: "The password is set",
    body: (
      <p>
        Every browser and command line that was signed in as <strong>{email}</strong> has been signed out.{" "}
        <a href="login">Sign in with the new password</a>.
      </p>
    ),
  });
}

/** Sets the password, unless it has a problem. */
async function tryToSet(visit: PageVisit<(typeof FIELDS)[number]>) {
  const { deps, form } = visit;
  const token = form.token ?? "";
  const { email } = await openLink(visit, token);
  const problem = passwordProblem(form, email);
  const wasSet =
    problem === null &&
    (await call(deps.sql, "set_password", hashCredential(token), await deps.passwords.hash(form.password ?? "")));
  return { token, email, problem, wasSet };
}

/** The user of a link, if it can still be used; else throws a PageError that says why not. */
async function openLink({ deps }: PageVisit<never>, token: string): Promise<PasswordLink> {
  const link = await call(deps.sql, "password_link", hashCredential(token));
  const fix = "Ask an owner of your organization, or the operator of this service, for a new link.";
  if (link === null) {
    throw new PageError(404, { title: "No such link", message: "This link does not set a password.", fix });
  }
  if (link.status === "open") return link;
  throw new PageError(410, {
    title: link.status === "used" ? "The link was already used" : "The link has expired",
    message: "This link can no longer be used to set a password.",
    fix,
  });
}

function renderForm(visit: PageVisit<never>, token: string, email: string, problem: PasswordProblem | null): void {
  const { ctx, tokenField } = visit;
  renderPage(ctx, {
    title: "Set a password",
    status: problem === null ? 200 : 422,
    body: (
      <>
        <p>Setting a password signs you out in every browser and on every command line.</p>
        <form method="post" action="password">
          {tokenField()}
          <HiddenFields of={{ token }} />
          <NewPasswordFields email={email} problem={problem} />
          <button>Set the password</button>
        </form>
      </>
    ),
  });
}
