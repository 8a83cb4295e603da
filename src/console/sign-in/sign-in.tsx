import type { VNode } from "preact";
import { call } from "../../db/api/call.js";
import { clientNetwork } from "../../http/request/client-address.js";
import { newCredential } from "../../http/request/credentials.js";
import { HiddenFields } from "../forms.js";
import { pageRoute, queryText, type PageVisit } from "../page-route.js";
import { PageError, renderPage, seeOther } from "../page.js";
import { giveSession, takeSession } from "../session.js";
import { EMAIL, FormField } from "./fields.js";

const CONSOLE = "/console";

/** The pages that ask to sign in first, with the parameters that each may have. */
const PAGES = [
  /^\/device(\?user_code=[A-Za-z0-9]{4}-?[A-Za-z0-9]{4})?$/,
  /^\/invitation(\?token=svc_link_[0-9a-f]{48})?$/,
  /^\/change-password$/,
  /^\/console(\/[\w.~%-]+)*\/?(\?[\w.~%=&+*-]*)?$/,
];

/** Where to go after signing in: one of a few pages of ours. Null for all else, so that no link to the sign-in page can lead anybody away. */
function nextAfterSignIn(value = ""): string | null {
  return PAGES.some((page) => page.test(value)) && isAsBrowsersReadIt(value) ? value : null;
}

/** Whether a path stays what it is in a browser, which takes `..` and `%2e%2e` for a way up. */
function isAsBrowsersReadIt(path: string): boolean {
  const origin = "http://localhost";
  return new URL(path, origin).href === origin + path;
}

/** The address of the sign-in page that leads to another page afterwards. */
export function signInTo(next: string): string {
  return `/login?next=${encodeURIComponent(next)}`;
}

const FIELDS = ["email", "password", "next"] as const;

/** GET and POST /login, POST /logout. */
export const signInPages = [
  pageRoute({ method: "GET", path: "/login", answer: showSignIn }),
  pageRoute({ method: "POST", path: "/login", fields: FIELDS, answer: signIn }),
  pageRoute({ method: "POST", path: "/logout", fields: ["next"], answer: leave }),
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
  const newOne = newCredential("session");
  const userId = email === null ? null : await startSession(visit, email, newOne.hash);
  const fields = { requestId: ctx.state["requestId"] as string, network: clientNetwork(ctx) };
  if (userId === null) {
    deps.log.info(fields, "a sign-in failed");
    renderForm(visit, next, typed);
    return;
  }
  deps.log.info({ ...fields, userId, replacedUserId: session?.userId }, "a user signed in");
  giveSession(deps, ctx, newOne);
  seeOther(ctx, next ?? CONSOLE);
}

/** What was typed as an address; `email` is null where no user could have it (RFC 5321): more is not told before a password was verified. */
export function readAddress(text = ""): { typed: string; email: string | null } {
  const typed = text.trim();
  const isAddress = typed.length <= 254 && /^[^\s\p{Cc}]+@[^\s\p{Cc}]+$/u.test(typed);
  return { typed, email: isAddress ? typed : null };
}

/** Whose password it is, with the session started; null for nobody's. */
async function startSession(
  visit: PageVisit<(typeof FIELDS)[number]>,
  email: string,
  sessionHash: Buffer,
): Promise<string | null> {
  const { deps, ctx, session, form } = visit;
  const verified = await verifiedPassword(visit, email, form.password ?? "");
  if (verified === null) return null;
  const signIn = { ...verified, email, address: clientNetwork(ctx), sessionHash, previousHash: session?.hash ?? null };
  return (await call(deps.sql, "finish_sign_in", signIn)) ? verified.userId : null;
}

/**
 * Whose password it is, and the hash that it was verified by; null for nobody's. It takes the same time whether there is such a user or not.
 *
 * @throws {PageError} 429 where too many were tried
 */
export async function verifiedPassword(
  { deps: { sql, passwords }, ctx }: Pick<PageVisit<never>, "deps" | "ctx">,
  email: string,
  password: string,
): Promise<{ userId: string; passwordHash: string } | null> {
  // Before an attempt is charged that would not be made.
  passwords.requireRoom();
  const { waitSeconds, userId, passwordHash } = await call(sql, "begin_sign_in", email, clientNetwork(ctx));
  if (waitSeconds !== null) throw tooMany(waitSeconds);
  const isRight = await passwords.verify(passwordHash, password);
  return isRight && userId !== null && passwordHash !== null ? { userId, passwordHash } : null;
}

async function leave({ deps, ctx, session, form }: PageVisit<"next">): Promise<void> {
  if (session !== null) await call(deps.sql, "sign_out", session.hash);
  takeSession(deps, ctx);
  const next = nextAfterSignIn(form.next);
  seeOther(ctx, next === null ? "/login" : signInTo(next));
}

/** @param message what was done too often; unless given, a password tried */
export function tooMany(
  seconds: number,
  message = "Somebody tried to sign in with this e-mail address from your network too often.",
): PageError {
  const words = {
    title: "Too many attempts",
    message,
    fix: `Wait ${seconds} seconds, then go back and try again. If you forgot your password, ask an owner of your organization, or the operator of this service, for a link to set a new one.`,
  };
  return new PageError(429, words, { "Retry-After": String(seconds) });
}

/** What to do without one's password. */
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

/** @param email of a form that failed */
function renderForm({ deps, ctx, tokenField }: PageVisit<never>, next: string | null, email?: string): void {
  const failed = email !== undefined;
  const describedBy = failed ? PROBLEM : undefined;
  const password = { name: "password", label: "Password", type: "password", autocomplete: "current-password" } as const;
  renderPage(ctx, {
    title: failed ? "Sign in: that did not work" : "Sign in",
    status: failed ? 422 : 200,
    heading: "Sign in",
    body: (
      <>
        {failed ? (
          <p class="error" role="alert" id={PROBLEM}>
            The e-mail address or the password is wrong. Check both, then try again.
          </p>
        ) : null}
        <form method="post" action="login">
          {tokenField()}
          <HiddenFields of={{ next: next ?? undefined }} />
          <FormField {...EMAIL} value={email} describedBy={describedBy} autofocus={!failed} />
          <FormField {...password} describedBy={describedBy} autofocus={failed} />
          <button>Sign in</button>
        </form>
        <p class="hint">
          Accounts are made by invitation. <Forgotten deps={deps} />
        </p>
      </>
    ),
  });
}
