import { call } from "../../db/api/call.js";
import type { InvitationOfLink } from "../../db/api/sign-in.js";
import { hashCredential, newSession } from "../request/credentials.js";
import type { Route } from "../route.js";
import { hidden, NEW_PASSWORD_FIELDS, newPasswordFields, passwordProblem, type PasswordProblem } from "./fields.js";
import { html, type Html, PageError, renderPage, seeOther } from "./page.js";
import { signInTo, signOutForm } from "./sign-in.js";
import { forgetLinkSecret, openLinkSecret, pageRoute, type Visit } from "./page-route.js";
import type { Passwords } from "./passwords.js";
import { giveSession, type PageDeps } from "./session.js";

const PAGE = "/invitation";
const FIELDS = ["token", ...NEW_PASSWORD_FIELDS] as const;

/** GET and POST /invitation: how somebody who was invited becomes a member, and a user first where the address is nobody's yet. */
export function invitationPages(passwords: Passwords): ((deps: PageDeps) => Route)[] {
  return [
    pageRoute({ method: "GET", path: PAGE, answer: show }),
    pageRoute({ method: "POST", path: PAGE, fields: FIELDS, answer: (visit) => accept(visit, passwords) }),
  ];
}

async function show(visit: Visit<never>): Promise<void> {
  const token = openLinkSecret(visit, PAGE);
  if (token === null) return;
  const invitation = await openInvitation(visit, token);
  renderStep(visit, invitation, nextStep(visit, invitation, token));
}

async function accept(visit: Visit<(typeof FIELDS)[number]>, passwords: Passwords): Promise<void> {
  const { deps, ctx, session, form } = visit;
  const token = form.token ?? "";
  const invitation = await openInvitation(visit, token);
  const isNew = session === null && !invitation.isUser;
  const problem = isNew ? passwordProblem(form, invitation.email) : null;
  if (problem !== null) {
    renderStep(visit, invitation, choosePassword(visit, invitation, token, problem), 422);
    return;
  }
  const newOne = newSession();
  const joined = await call(deps.sql, "accept_invitation", {
    linkHash: hashCredential(token),
    requestId: ctx.state["requestId"] as string,
    previousHash: session?.hash ?? null,
    sessionHash: newOne.hash,
    passwordHash: isNew ? await passwords.hash(form.password ?? "") : null,
  });
  // The page of the link says why not.
  if (!joined) {
    seeOther(ctx, PAGE);
    return;
  }
  if (isNew) giveSession(deps, ctx, newOne);
  forgetLinkSecret(visit, PAGE);
  const { organization, role, email } = invitation;
  renderPage(ctx, {
    title: `You have joined ${organization}`,
    body: html`<h1>You have joined ${organization}</h1>
      <p>You are signed in as <strong>${email}</strong>, ${role} of <strong>${organization}</strong>.</p>
      <p>A program that you sign in shows a code. Enter it on <a href="device">the page for devices</a>.</p>`,
  });
}

/** The invitation of a link, if it can be accepted still. Throws a PageError that says why not. */
async function openInvitation({ deps, session }: Visit<never>, token: string): Promise<InvitationOfLink> {
  const invitation = await call(deps.sql, "invitation_of_link", hashCredential(token));
  if (invitation === null) {
    throw new PageError(404, {
      title: "No such invitation",
      message: "There is no invitation with this link.",
      fix: "Check that the link is complete, or ask whoever sent it to invite you again.",
    });
  }
  const { status, organization, isMember } = invitation;
  const isYours = session?.email === invitation.email;
  if (status === "accepted" || (status === "open" && isMember)) {
    throw new PageError(410, {
      title: isMember && isYours ? `You are a member of ${organization}` : "The invitation was accepted already",
      message: `The invitation to ${organization} is not needed any more: ${isYours ? "you are" : "whoever was invited is"} a member, or was.`,
      fix: isYours
        ? "There is nothing to do."
        : "If it was you, sign in. If it was not, tell an owner of the organization.",
    });
  }
  if (status !== "open") {
    throw new PageError(410, {
      title: status === "expired" ? "The invitation has expired" : "The invitation was withdrawn",
      message: `The invitation to ${organization} can no longer be accepted.`,
      fix: `Ask ${invitation.invitedBy}, or another owner of the organization, to invite you again.`,
    });
  }
  return invitation;
}

function renderStep(visit: Visit<never>, invitation: InvitationOfLink, step: Html, status = 200): void {
  const { organization, role, email, invitedBy } = invitation;
  renderPage(visit.ctx, {
    status,
    title: `Join ${organization}`,
    body: html`<h1>Join ${organization}</h1>
      <dl>
        <dt>Invited</dt>
        <dd>${email}</dd>
        <dt>By</dt>
        <dd>${invitedBy}</dd>
        <dt>As</dt>
        <dd>${role}</dd>
      </dl>
      ${step}`,
  });
}

/** What whoever opened the link has to do. */
function nextStep(visit: Visit<never>, invitation: InvitationOfLink, token: string): Html {
  const { session } = visit;
  if (session?.email === invitation.email) return join(visit, token);
  if (session !== null) return asSomebodyElse(visit);
  if (!invitation.isUser) return choosePassword(visit, invitation, token, null);
  return html`<p>
      There is an account with this e-mail address.
      <a href="${signInTo(PAGE).slice(1)}">Sign in with it</a>, and you come back here.
    </p>
    <p class="hint">
      If it has no password yet, or you forgot it, ask an owner of your organization or the operator of this service for
      a link to set one.
    </p>`;
}

function choosePassword(
  { tokenField }: Visit<never>,
  { email }: InvitationOfLink,
  token: string,
  problem: PasswordProblem | null,
): Html {
  return html`<p>Choose a password for your new account.</p>
    <form method="post" action="invitation">
      ${tokenField()} ${hidden("token", token)} ${newPasswordFields(email, problem)}
      <button>Create the account and join</button>
    </form>`;
}

function join({ tokenField }: Visit<never>, token: string): Html {
  return html`<form method="post" action="invitation">
    ${tokenField()} ${hidden("token", token)}
    <button>Join</button>
  </form>`;
}

function asSomebodyElse({ session, tokenField }: Visit<never>): Html {
  return html`<p>
      You are signed in as <strong>${session?.email}</strong>, and the invitation is for somebody else. Sign out to go
      on as who was invited.
    </p>
    ${signOutForm(tokenField, PAGE)}`;
}
