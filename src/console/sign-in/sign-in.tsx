import type { VNode } from "preact";
import { call } from "../../db/api/call.js";
import { clientNetwork } from "../../http/request/client-address.js";
import { type NewCredential, newCredential } from "../../http/request/credentials.js";
import { plural } from "../../words/text.js";
import { HiddenFields } from "../forms.js";
import { outdatedForm, pageRoute, queryText, requireBegun, type PageVisit } from "../page-route.js";
import { logFailure, PageError, pageErrorOf, renderPage, seeOther } from "../page.js";
import { SentForms } from "../sent-forms.js";
import { setSessionCookie, clearSessionCookie } from "../session.js";
import { EMAIL, FormField } from "./fields.js";

const CONSOLE = "/console";

/** The pages that require signing in, each with the parameters that it accepts. */
const PAGES = [
  /^\/device(\?user_code=[A-Za-z0-9]{4}-?[A-Za-z0-9]{4})?$/,
  /^\/invitation(\?token=svc_link_[0-9a-f]{48})?$/,
  /^\/change-password$/,
  // A query as browsers leave it: others than the console write links to customers, too.
  /^\/console(\/[\w.~%-]+)*\/?(\?([\w.~%=&+*@:,;!$()?|^`[\]{}-]|\/(?!\/))*)?$/,
];

/** The page to show after signing in; null unless it is one of PAGES, so that a link to the sign-in page cannot redirect to another site. */
function nextAfterSignIn(value = ""): string | null {
  return PAGES.some((page) => page.test(value)) && isUnchangedByBrowsers(value) ? value : null;
}

/** Whether browsers leave the path unchanged; they resolve `..` and `%2e%2e`. */
function isUnchangedByBrowsers(path: string): boolean {
  const origin = "http://localhost";
  return new URL(path, origin).href === origin + path;
}

/** The address of the sign-in page, which then leads to `next`. */
export function signInTo(next: string): string {
  return `/login?next=${encodeURIComponent(next)}`;
}

const FIELDS = ["email", "password", "next"] as const;

/** GET and POST /login, POST /logout. */
export const signInPages = [
  pageRoute({ method: "GET", path: "/login", answer: showSignIn }),
  pageRoute({ method: "POST", path: "/login", fields: FIELDS, answer: signIn, outdated: leadOn }),
  pageRoute({ method: "POST", path: "/logout", fields: ["next"], answer: leave, outdated: leaveAgain }),
];

/** The form that signs out and then leads to the sign-in page, and from there to `next`. */
export function SignOut({ tokenField, next }: { tokenField: () => VNode; next: string }) {
  return (
    <form method="post" action="logout">
      {tokenField()}
      <HiddenFields of={{ next }} />
      <button class="second">Sign out</button>
    </form>
  );
}

function showSignIn(visit: PageVisit<never>): void {
  const { ctx, session } = visit;
  const next = nextAfterSignIn(queryText(ctx, "next"));
  if (session === null) renderForm(visit, next);
  else seeOther(ctx, next ?? CONSOLE);
}

async function signIn(visit: PageVisit<(typeof FIELDS)[number]>): Promise<void> {
  const { deps, ctx, session, form } = visit;
  const next = nextAfterSignIn(form.next);
  const { typed, email } = readAddress(form.email);
  let started: Started | null;
  try {
    started = email === null ? null : await startSession(visit, email);
  } catch (error) {
    renderForm(visit, next, { email: typed, problem: toWait(visit, error) });
    return;
  }
  const fields = { requestId: ctx.state["requestId"] as string, network: clientNetwork(ctx) };
  if (started === null) {
    deps.log.info(fields, "a sign-in failed");
    renderForm(visit, next, { email: typed });
    return;
  }
  const { userId, newSession } = started;
  deps.log.info({ ...fields, userId, replacedUserId: session?.userId }, "a user signed in");
  await begun.once(visit, () => Promise.resolve(newSession));
  setSessionCookie(deps, ctx, newSession);
  seeOther(ctx, next ?? CONSOLE);
}

/** The sessions that forms have just begun. Attempts with a wrong password are not among them: each counts. */
const begun = new SentForms<NewCredential>();

/** Answers a second click, which comes with the session that the first one began. */
async function leadOn(visit: PageVisit<(typeof FIELDS)[number]>): Promise<void> {
  requireBegun(visit, await begun.again(visit));
  seeOther(visit.ctx, nextAfterSignIn(visit.form.next) ?? CONSOLE);
}

/** The typed address; `email` is null if no user can have it (RFC 5321). Nothing more is revealed before a password was verified. */
export function readAddress(text = ""): { typed: string; email: string | null } {
  const typed = text.trim();
  const isAddress = typed.length <= 254 && /^[^\s\p{Cc}]+@[^\s\p{Cc}]+$/u.test(typed);
  return { typed, email: isAddress ? typed : null };
}

interface Started {
  userId: string;
  newSession: NewCredential;
}

/** Starts a session; null if the password is wrong. */
async function startSession(visit: PageVisit<(typeof FIELDS)[number]>, email: string): Promise<Started | null> {
  const { deps, ctx, session, form } = visit;
  const verified = await verifiedPassword(visit, email, form.password ?? "");
  if (verified === null) return null;
  const newSession = newCredential("session");
  const hashes = { sessionHash: newSession.hash, previousHash: session?.hash ?? null };
  const signIn = { ...verified, email, address: clientNetwork(ctx), ...hashes };
  return (await call(deps.sql, "finish_sign_in", signIn)) ? { userId: verified.userId, newSession } : null;
}

/**
 * The user with this password, and the hash that it was verified against; null if it is wrong. Takes the same time whether or not the user exists.
 *
 * @throws {PageError} 429 after too many attempts
 */
export async function verifiedPassword(
  { deps: { sql, passwords }, ctx }: Pick<PageVisit<never>, "deps" | "ctx">,
  email: string,
  password: string,
): Promise<{ userId: string; passwordHash: string } | null> {
  // First, so that an attempt that cannot be made does not count.
  passwords.requireRoom();
  const { waitSeconds, userId, passwordHash } = await call(sql, "begin_sign_in", email, clientNetwork(ctx));
  if (waitSeconds !== null) throw tooMany(waitSeconds);
  const isRight = await passwords.verify(passwordHash, password);
  return isRight && userId !== null && passwordHash !== null ? { userId, passwordHash } : null;
}

async function leave({ deps, ctx, session, form }: PageVisit<"next">): Promise<void> {
  if (session !== null) await call(deps.sql, "sign_out", session.hash);
  clearSessionCookie(deps, ctx);
  const next = nextAfterSignIn(form.next);
  // Whoever was invited may have no account yet; that page says how to go on.
  if (next === "/invitation") seeOther(ctx, next);
  else seeOther(ctx, next === null ? "/login" : signInTo(next));
}

/** Answers a second click, or one in another tab, after which nobody is signed in. Whoever has signed in since stays so. */
async function leaveAgain(visit: PageVisit<"next">): Promise<void> {
  if (visit.session !== null) throw outdatedForm();
  await leave(visit);
}

/** @param message what was done too often; unless given, attempts to sign in */
export function tooMany(
  seconds: number,
  message = "There were too many attempts to sign in from your network, with this e-mail address or in all.",
): PageError {
  const words = {
    title: "Too many attempts",
    message,
    fix: `Wait ${plural(seconds, "second")}, then try again. If you forgot your password, ask an owner of your organization, or the operator of this service, for a link to set a new one.`,
  };
  return new PageError(429, words, { "Retry-After": String(seconds) });
}

/** The words of a refusal after which a form can be sent again; sets its status and headers. Throws every other error. */
export function toWait({ ctx }: Pick<PageVisit<never>, "ctx">, error: unknown): Waiting {
  const { status, words, headers } = pageErrorOf(error);
  if (status !== 429 && status !== 503) throw error;
  logFailure(ctx, error);
  ctx.set(headers);
  return { status, text: `${words.message} ${words.fix}` };
}

/** Why a form cannot be answered yet, and until when. */
interface Waiting {
  status: number;
  text: string;
}

/** What to do if the password was forgotten. */
export function Forgotten({ deps }: Pick<PageVisit<never>, "deps">) {
  return deps.mailer === null ? (
    <>
      If you forgot your password, ask an owner of your organization, or the operator of this service, for a link to set
      a new one.
    </>
  ) : (
    <>
      If you forgot your password, <a href="forgotten-password">have a link mailed to you</a>.
    </>
  );
}

const PROBLEM = "sign-in-problem";

/** @param failed the address of a failed attempt, and what prevented it unless address or password are wrong */
function renderForm(
  { deps, ctx, tokenField }: PageVisit<never>,
  next: string | null,
  failed?: { email: string; problem?: Waiting },
): void {
  const isWrong = failed !== undefined && failed.problem === undefined;
  const describedBy = isWrong ? PROBLEM : undefined;
  const password = { name: "password", label: "Password", type: "password", autocomplete: "current-password" } as const;
  renderPage(ctx, {
    title: failed === undefined ? "Sign in" : "Sign in: that did not work",
    status: failed === undefined ? 200 : (failed.problem?.status ?? 422),
    heading: "Sign in",
    body: (
      <>
        {failed === undefined ? null : (
          <p class="error" role="alert" id={PROBLEM}>
            {failed.problem?.text ?? "The e-mail address or the password is wrong. Check both, then try again."}
          </p>
        )}
        <form method="post" action="login">
          {tokenField()}
          <HiddenFields of={{ next: next ?? undefined }} />
          <FormField {...EMAIL} value={failed?.email} describedBy={describedBy} autofocus={failed === undefined} />
          <FormField {...password} describedBy={describedBy} autofocus={failed !== undefined} />
          <button>Sign in</button>
        </form>
        <p class="hint">
          Accounts are created by invitation. <Forgotten deps={deps} />
        </p>
      </>
    ),
  });
}
