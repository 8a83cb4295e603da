import { setTimeout } from "node:timers/promises";

import type { Context } from "../core/command.js";
import { cancelled, failure, type LocalCode, UserError } from "../core/errors.js";
import { prompt, canAsk } from "../output/confirmation.js";
import { interruption } from "../output/interruption.js";
import { plural, printable, span } from "../../words/text.js";
import type { Organization, Whoami } from "../../http/admin/answers.js";
import { hasBrowser, openBrowser } from "./browser.js";
import { type DeviceCodes, OAuthClient, OAuthRefusal } from "./oauth.js";
import { organizationsText, organizationsOf } from "./pages.js";
import type { Session } from "./session.js";

/** The polling interval if the service does not give one: RFC 8628, section 3.2. */
const INTERVAL_SECONDS = 5;
/** How much longer each `slow_down` makes the interval: RFC 8628, section 3.5. */
const SLOW_DOWN_SECONDS = 5;
const PAUSE_SECONDS_MAX = 60;

const AGAIN = "sign in again: `svc auth login`";

export interface SignedIn extends Session {
  organization: Organization;
}

/** Signs in with a browser and saves the session; Ctrl+C changes nothing. `organization` is a slug or id, asked for if missing and needed. */
export async function signIn(
  context: Context,
  { organization, browser }: { organization: string | undefined; browser: boolean },
): Promise<SignedIn> {
  const { api, io, out, settings } = context;
  const { apiUrl: base, sessions } = settings;
  await sessions.prepare();
  const before = sessions.replaceable(base);
  if (before !== undefined) {
    const who = `${printable(before.email)}, organization ${printable(before.organization.slug)}`;
    out.note(`You are signed in to ${base} as ${who}. Signing in again replaces that session.`);
  }
  if (isUnencrypted(base)) out.note(`${base} is not encrypted: anyone on the network path can read the session.`);

  const oauth = new OAuthClient(base, api.requestId);
  const { signal, release } = interruption();
  try {
    const codes = await oauth.begin(signal).catch(refuse);
    out.note(instructions(out.errorStyle.bold, base, codes));
    if (browser && hasBrowser(io) && (await openBrowser(addressOf(codes)))) out.note("Your browser is being opened.");
    const { accessToken, seconds } = await approval(context, oauth, codes, signal);
    try {
      signal.throwIfAborted();
      const expiresAt = new Date(io.now() + seconds * 1000).toISOString();
      const signedIn = await sessionOf(context, { accessToken, expiresAt }, organization, signal);
      signal.throwIfAborted();
      const { id, slug } = signedIn.organization;
      await sessions.save(base, { accessToken, expiresAt, organization: { id, slug }, email: signedIn.email });
      if (before !== undefined) await end(context, oauth, before, "The previous session");
      return signedIn;
    } catch (error) {
      await end(context, oauth, { accessToken }, "The new token");
      throw error;
    }
  } catch (error) {
    // Any failure after the interruption is due to it.
    throw signal.aborted ? cancelled() : error;
  } finally {
    release();
  }
}

/** Revokes a token that is no longer needed; a failure is only noted. */
async function end({ out }: Context, oauth: OAuthClient, { accessToken }: { accessToken: string }, what: string) {
  try {
    await oauth.revoke(accessToken);
  } catch (error) {
    out.note(`${what} could not be revoked (${oauthFailure(error)}): it stays valid until it expires.`);
  }
}

/** Why OAuth failed, as a sentence without its period. */
export function oauthFailure(error: unknown): string {
  const reason = error instanceof OAuthRefusal ? (error.description ?? error.error) : (error as Error).message;
  return printable(reason).replace(/\.$/, "");
}

/** Whether a session would go unencrypted over a network. */
function isUnencrypted(base: string): boolean {
  const { protocol, hostname } = new URL(base);
  return protocol === "http:" && !/^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}

function addressOf({ verification_uri, verification_uri_complete }: DeviceCodes): string {
  return verification_uri_complete ?? verification_uri;
}

function instructions(bold: (text: string) => string, base: string, codes: DeviceCodes): string {
  const { user_code, verification_uri, verification_uri_complete, expires_in } = codes;
  const typed = `On another device, open ${printable(verification_uri)} and type the code.`;
  return [
    `To sign in to ${base}, open this address and approve the code ${bold(printable(user_code))}:`,
    "",
    `  ${bold(printable(addressOf(codes)))}`,
    "",
    ...(verification_uri_complete === undefined ? [] : [typed]),
    `The code is valid for ${span(expires_in * 1000) ?? "a moment"}. Ctrl+C stops waiting.`,
  ].join("\n");
}

/** Waits for approval. A token request in flight is completed despite Ctrl+C: otherwise a token might be created that nobody revokes. */
async function approval(
  { out }: Context,
  oauth: OAuthClient,
  codes: DeviceCodes,
  signal: AbortSignal,
): Promise<{ accessToken: string; seconds: number }> {
  const deadline = performance.now() + codes.expires_in * 1000;
  let interval = codes.interval ?? INTERVAL_SECONDS;
  let pause = interval;
  let isFailing = false;
  for (;;) {
    await setTimeout(pause * 1000, undefined, { signal }).catch(() => {
      throw cancelled();
    });
    if (performance.now() > deadline) throw expired();
    try {
      const { access_token: accessToken, expires_in: seconds } = await oauth.redeem(codes.device_code);
      return { accessToken, seconds: seconds ?? 0 };
    } catch (error) {
      const isRefusal = error instanceof OAuthRefusal;
      if (isRefusal && error.error === "slow_down") interval += SLOW_DOWN_SECONDS;
      if (isRefusal && ["authorization_pending", "slow_down"].includes(error.error)) {
        isFailing = false;
        pause = interval;
      } else if (isTemporaryFailure(error)) {
        if (!isFailing) out.note(`${oauthFailure(error)}. Trying again until the code expires.`);
        isFailing = true;
        const advised = (isRefusal ? error.retryAfter : undefined) ?? 0;
        pause = Math.min(Math.max(pause * 2, advised), PAUSE_SECONDS_MAX);
      } else refuse(error);
    }
  }
}

/** Whether a failed OAuth request may work later. */
export function isTemporaryFailure(error: unknown): boolean {
  if (error instanceof OAuthRefusal) return error.error === "temporarily_unavailable";
  return error instanceof UserError && error.code === ("SERVICE_UNREACHABLE" satisfies LocalCode);
}

function refuse(error: unknown): never {
  if (!(error instanceof OAuthRefusal)) throw error;
  switch (error.error) {
    case "access_denied":
      throw failure("SIGN_IN_DENIED", "the sign-in was denied in the browser", AGAIN);
    case "expired_token":
      throw expired();
    case "temporarily_unavailable": {
      const wait = error.retryAfter === undefined ? "in a moment" : `in ${plural(error.retryAfter, "second")}`;
      throw failure("SIGN_IN_FAILED", oauthFailure(error), `try again ${wait}`);
    }
    default:
      throw failure("SIGN_IN_FAILED", `the service refused: ${oauthFailure(error)}`, AGAIN);
  }
}

function expired(): UserError {
  return failure("SIGN_IN_EXPIRED", "nobody approved the sign-in in time, and its code has expired", AGAIN);
}

/** The session of a token: its user, and the organization to work in. */
async function sessionOf(
  context: Context,
  { accessToken, expiresAt }: { accessToken: string; expiresAt: string },
  wanted: string | undefined,
  signal: AbortSignal,
): Promise<SignedIn> {
  const { api } = context;
  const by = { accessToken, organizationFrom: "session" } as const;
  const session = { accessToken, expiresAt, email: "", organization: { id: "", slug: "" } };
  const mine = await organizationsOf(api.as({ ...by, session }), signal);
  const { id, slug } = wanted === undefined ? await choose(context, mine, signal) : named(wanted, mine);
  const { data } = await api
    .as({ ...by, session, organization: id })
    .get<Whoami>("/whoami", ["user", "organization"], {}, signal);
  return { ...session, email: data.user.email, organization: { id, slug, role: data.organization.role } };
}

function named(wanted: string, mine: readonly Organization[]): Organization {
  const found = mine.find(({ id, slug }) => id === wanted || slug === wanted);
  if (found !== undefined) return found;
  const message = `you are in no organization ${JSON.stringify(wanted)}`;
  throw required(
    message,
    mine.length === 0 ? ASK_OWNER : `sign in with --organization and one of: ${organizationsText(mine)}`,
  );
}

const ASK_OWNER = "ask an owner of an organization to invite you, then sign in again";

async function choose({ io, out }: Context, mine: readonly Organization[], signal: AbortSignal): Promise<Organization> {
  const [first] = mine;
  if (first === undefined) throw required("you are in no organization", ASK_OWNER);
  if (mine.length === 1) return first;
  const several = `you are in ${mine.length} organizations`;
  if (!canAsk(io)) throw required(several, `sign in with --organization and one of: ${organizationsText(mine)}`);
  const numbered = mine.map((one, index) => `  ${index + 1}  ${organizationsText([one])}`);
  out.note(["You are in several organizations:", ...numbered].join("\n"));
  for (;;) {
    const answer = (await prompt(io, `Which one to work in? (1–${mine.length}) `, signal)).trim();
    const chosen = mine[Number(answer) - 1] ?? mine.find(({ id, slug }) => id === answer || slug === answer);
    if (chosen !== undefined) return chosen;
    out.note(`Type a number from 1 to ${mine.length}.`);
  }
}

function required(message: string, fix: string): UserError {
  return failure("ORGANIZATION_REQUIRED", message, fix);
}
