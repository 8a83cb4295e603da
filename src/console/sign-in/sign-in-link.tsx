import { call } from "../../db/api/call.js";
import { hashCredential, type NewCredential, newCredential } from "../../http/request/credentials.js";
import { HiddenFields } from "../forms.js";
import { PageError, renderPage, seeOther } from "../page.js";
import { pageRoute, requireBegun, type PageVisit } from "../page-route.js";
import { SentForms } from "../sent-forms.js";
import { setSessionCookie } from "../session.js";
import { forgetLinkSecret, openLinkSecret } from "./links.js";

const PATH = "/sign-in";

/**
 * GET and POST /sign-in: signs a browser in by a link from the command line, once. The page asks first, because an attacker could otherwise sign
 * others in as the attacker's user.
 */
export const signInLinkPages = [
  pageRoute({ method: "GET", path: PATH, answer: askToContinue }),
  pageRoute({
    method: "POST",
    path: PATH,
    fields: ["token"],
    answer: useLink,
    outdated: async (visit) => {
      requireBegun(visit, await signedIn.again(visit));
      seeOther(visit.ctx, "/console");
    },
  }),
];

async function askToContinue(visit: PageVisit<never>): Promise<void> {
  const { deps, ctx, session, tokenField } = visit;
  const token = openLinkSecret(visit, PATH);
  if (token === null) return;
  const link = await call(deps.sql, "sign_in_link", hashCredential(token));
  if (link === null) throw invalidLink();
  renderPage(ctx, {
    title: "Sign in with this link",
    body: (
      <>
        <p>
          The link signs this browser in as <strong>{link.email}</strong>
          {session === null || session.email === link.email ? null : <>, instead of {session.email}</>}.
        </p>
        <form method="post" action="sign-in">
          {tokenField()}
          <HiddenFields of={{ token }} />
          <button autofocus>Continue</button>
        </form>
      </>
    ),
  });
}

const signedIn = new SentForms<NewCredential | null>();

async function useLink(visit: PageVisit<"token">): Promise<void> {
  const { deps, ctx, session, form } = visit;
  const newSession = await signedIn.once(visit, async () => {
    const made = newCredential("session");
    const linkHash = hashCredential(form.token ?? "");
    return (await call(deps.sql, "use_sign_in_link", linkHash, made.hash, session?.hash ?? null)) ? made : null;
  });
  forgetLinkSecret(visit, PATH);
  if (newSession === null) throw invalidLink();
  deps.log.info({ requestId: ctx.state["requestId"] as string }, "a user signed in by a link");
  setSessionCookie(deps, ctx, newSession);
  seeOther(ctx, "/console");
}

function invalidLink(): PageError {
  return new PageError(410, {
    title: "The link is no longer valid",
    message: "A sign-in link works once, for five minutes, and only until the next one is made.",
    fix: "Make a new one with `svc console`, or open the console and sign in with your password.",
  });
}
