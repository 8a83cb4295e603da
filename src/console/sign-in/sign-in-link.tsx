import { call } from "../../db/api/call.js";
import { hashCredential, newCredential } from "../../http/request/credentials.js";
import { HiddenFields } from "../forms.js";
import { PageError, renderPage, seeOther } from "../page.js";
import { pageRoute, type PageVisit } from "../page-route.js";
import { giveSession } from "../session.js";
import { forgetLinkSecret, openLinkSecret } from "./links.js";

const PATH = "/sign-in";

/**
 * GET and POST /sign-in: how a link that a command line made signs a browser in, once. The page asks first: whoever makes others open a link to a
 * user of their own would else have them work in that user's name.
 */
export const signInLinkPages = [
  pageRoute({ method: "GET", path: PATH, answer: askToContinue }),
  pageRoute({ method: "POST", path: PATH, fields: ["token"], answer: useLink }),
];

async function askToContinue(visit: PageVisit<never>): Promise<void> {
  const { deps, ctx, session, tokenField } = visit;
  const token = openLinkSecret(visit, PATH);
  if (token === null) return;
  const link = await call(deps.sql, "sign_in_link", hashCredential(token));
  if (link === null) throw notGood();
  renderPage(ctx, {
    title: "Sign in by this link",
    body: (
      <>
        <p>
          The link signs this browser in as <strong>{link.email}</strong>
          {session === null || session.email === link.email ? null : <>, in place of {session.email}</>}.
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

async function useLink(visit: PageVisit<"token">): Promise<void> {
  const { deps, ctx, session, form } = visit;
  const newOne = newCredential("session");
  const linkHash = hashCredential(form.token ?? "");
  const used = await call(deps.sql, "use_sign_in_link", linkHash, newOne.hash, session?.hash ?? null);
  forgetLinkSecret(visit, PATH);
  if (!used) throw notGood();
  deps.log.info({ requestId: ctx.state["requestId"] as string }, "a user signed in by a link");
  giveSession(deps, ctx, newOne);
  seeOther(ctx, "/console");
}

function notGood(): PageError {
  return new PageError(410, {
    title: "The link is not good any more",
    message: "A link that signs in works once, for five minutes, and until the next one is made.",
    fix: "Make another one with `svc console`, or open the console and sign in with your password.",
  });
}
