import { call } from "../../db/api/call.js";
import type { DeviceDecided, DeviceFound, DevicePending } from "../../db/api/sign-in.js";
import { readUserCode, showUserCode } from "../../http/oauth/device-authorization.js";
import { clientName } from "../../http/oauth/oauth-route.js";
import { plural } from "../../words/text.js";
import { pageRoute, queryText, refuseOutdated, type PageVisit } from "../page-route.js";
import { PageError, renderPage, seeOther } from "../page.js";
import type { PageSession } from "../session.js";
import { signInTo, SignOut } from "./sign-in.js";

const PATH = "/device";

/** A visit of a user who is signed in. */
type SignedIn = Pick<PageVisit<never>, "ctx" | "tokenField"> & { session: PageSession };

/**
 * GET /device: asks for the code that a device shows. A code in the address is only filled in: a link never approves anything.
 *
 * POST /device: with a code, shows the request of that device; with a decision, too, approves or denies it. Both at one address, because links
 * and redirects are relative to it.
 */
export const devicePages = [
  pageRoute({
    method: "GET",
    path: PATH,
    answer: ({ session, ...visit }) => {
      const code = readUserCode(queryText(visit.ctx, "user_code") ?? "");
      if (session === null) return signInFirst(visit, code);
      askForCode({ ...visit, session }, code === null ? "" : showUserCode(code));
    },
  }),
  pageRoute({
    method: "POST",
    path: PATH,
    fields: ["user_code", "decision"],
    answer: async ({ session, ...visit }) => {
      const { deps, form } = visit;
      const { user_code: typed = "", decision } = form;
      const code = readUserCode(typed);
      if (session === null) return signInFirst(visit, code);
      const signedIn = { ...visit, session };
      if (code === null) {
        const problem = "This is not a valid code. A code has eight letters and no vowels, for example BCDF-GHJK.";
        return askForCode(signedIn, typed, problem, 422);
      }
      const found =
        decision === undefined
          ? await call(deps.sql, "find_device_authorization", session.hash, code)
          : await call(deps.sql, "decide_device_authorization", session.hash, code, isApproval(decision));
      show(signedIn, code, found);
    },
    // The code is kept while its sender signs in again.
    outdated: ({ session, ...visit }) => {
      if (session !== null || visit.form.decision !== undefined) refuseOutdated({ session });
      signInFirst(visit, readUserCode(visit.form.user_code ?? ""));
    },
  }),
];

function isApproval(decision: string): boolean {
  if (decision === "approve" || decision === "deny") return decision === "approve";
  throw new PageError(400, {
    title: "Neither approved nor denied",
    message: "The form says neither to approve nor to deny, so nothing was done.",
    fix: "Open the page again and use one of its two buttons.",
  });
}

/** Redirects to the sign-in page, which leads back here with the code. */
function signInFirst({ ctx }: Pick<PageVisit<never>, "ctx">, code: string | null): void {
  seeOther(ctx, signInTo(code === null ? PATH : `${PATH}?user_code=${showUserCode(code)}`));
}

/** Shows the database's answer for a code. */
function show(signedIn: SignedIn, code: string, found: DeviceFound | DeviceDecided): void {
  const { ctx, session } = signedIn;
  switch (found.status) {
    case "signed_out":
      return signInFirst(signedIn, code);
    case "throttled":
      ctx.set("Retry-After", String(found.retryAfter));
      return askForCode(
        signedIn,
        showUserCode(code),
        `Too many wrong codes were sent from your account. Wait ${plural(found.retryAfter, "second")}, then try again.`,
        429,
      );
    case "unknown":
      return askForCode(
        signedIn,
        showUserCode(code),
        "No device is waiting with this code. Compare it with the one that your device shows; a code expires after ten minutes.",
        404,
      );
    case "pending":
      return askForDecision(signedIn, code, found);
    case "approved":
      return renderPage(ctx, {
        title: "Device approved",
        body: (
          <>
            <p role="status">
              The device will be signed in as {session.email} within a few seconds. You can close this page.
            </p>
            <p>To end this, sign out on the device.</p>
          </>
        ),
      });
    case "denied":
      return renderPage(ctx, {
        title: "Device denied",
        body: (
          <>
            <p role="status">The device was not signed in. You can close this page.</p>
            <p>If it was your device after all, start the sign-in on it again.</p>
          </>
        ),
      });
  }
}

/** @param typed the value of the field @param problem what is wrong with it */
function askForCode({ ctx, session, tokenField }: SignedIn, typed: string, problem?: string, status = 200): void {
  const isWrong = problem !== undefined;
  renderPage(ctx, {
    status,
    title: isWrong ? "Error: Sign in a device" : "Sign in a device",
    heading: "Sign in a device",
    body: (
      <>
        <p>Enter the code that your terminal or other device shows, to see what wants to sign in.</p>
        {isWrong ? (
          <p class="error" id="problem" role="alert">
            {problem}
          </p>
        ) : null}
        <form method="post" action="device">
          {tokenField()}
          <label for="user_code">Code</label>
          <input
            class="code"
            id="user_code"
            name="user_code"
            value={typed}
            required
            maxlength={40}
            autofocus
            autocomplete="off"
            autocapitalize="characters"
            autocorrect="off"
            spellcheck={false}
            aria-describedby={isWrong ? "problem hint" : "hint"}
            aria-invalid={isWrong ? "true" : undefined}
          />
          <p class="hint" id="hint">
            Eight letters, for example BCDF-GHJK.
          </p>
          <button>Continue</button>
        </form>
        <p class="hint">You are signed in as {session.email}. To decide as another user, sign out first.</p>
        <SignOut tokenField={tokenField} next={PATH} />
      </>
    ),
  });
}

function askForDecision({ ctx, session, tokenField }: SignedIn, code: string, pending: DevicePending): void {
  const { clientId, address, createdAt } = pending;
  renderPage(ctx, {
    title: "Approve this device?",
    body: (
      <>
        <p>
          A device asks to act as <strong>{session.email}</strong>.
        </p>
        <dl>
          <dt>Code</dt>
          <dd class="code">{showUserCode(code)}</dd>
          <dt>Program</dt>
          <dd>{clientName(clientId)}</dd>
          <dt>Address</dt>
          <dd>{address}</dd>
          <dt>Requested</dt>
          <dd>
            <time datetime={createdAt}>{inWords(new Date(createdAt))}</time>
          </dd>
        </dl>
        <p>
          If you approve, it can do everything that you can do, in all of your organizations, for 90 days or until you
          sign out on it.
        </p>
        <p>
          <strong>Approve only if you started this yourself</strong> and your device shows exactly this code. If
          somebody sent you the code or the link, deny.
        </p>
        <form method="post" action="device">
          {tokenField()}
          <input type="hidden" name="user_code" value={showUserCode(code)} />
          <button name="decision" value="approve">
            Approve
          </button>
          <button class="second" name="decision" value="deny">
            Deny
          </button>
        </form>
      </>
    ),
  });
}

const DATE = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeStyle: "medium", timeZone: "UTC" });
const MINUTE_MS = 60_000;

/** For example `2 minutes ago (21 November 2026 at 13:30:05 UTC)`: the age says more than a time in a zone that is not the reader's. */
function inWords(instant: Date): string {
  const minutes = Math.floor((Date.now() - instant.getTime()) / MINUTE_MS);
  const age = minutes < 1 ? "Less than a minute" : plural(minutes, "minute");
  return `${age} ago (${DATE.format(instant)} UTC)`;
}
