import * as oauth from "oauth4webapi";
import { afterAll, beforeAll } from "vitest";
import { hashCredential, newCredential } from "../../../src/http/request/credentials.js";
import { startService, type Actor, type Service, type ServiceOptions } from "../../support/service.js";
import type { AppDeps } from "../../../src/http/app.js";
import { Browser } from "./browser.js";

/** The unmodified client, except that plain HTTP is allowed, as the tests run locally. */
// oxlint-disable-next-line typescript/no-deprecated -- deprecated only to stand out: it is meant for local tests
export const INSECURE = { [oauth.allowInsecureRequests]: true } as const;
export const CLIENT: oauth.Client = { client_id: "svc-cli" };
export const FORM = "application/x-www-form-urlencoded";

export type OAuthService = Awaited<ReturnType<typeof startOAuthService>>;

/** Starts a service, and an unmodified OAuth client that has discovered it. */
export async function startOAuthService(overrides: Partial<AppDeps> = {}, options: ServiceOptions = {}) {
  const service = await startService(overrides, options);
  const server = await discover(service.url);
  const none = oauth.None();
  /** The device polls once. */
  const poll = async (deviceCode: string) =>
    oauth.processDeviceCodeResponse(
      server,
      CLIENT,
      await oauth.deviceCodeGrantRequest(server, CLIENT, none, deviceCode, INSECURE),
    );
  return {
    ...service,
    server,
    /** A device asks to be signed in. */
    ask: async () =>
      oauth.processDeviceAuthorizationResponse(
        server,
        CLIENT,
        await oauth.deviceAuthorizationRequest(server, CLIENT, none, new URLSearchParams(), INSECURE),
      ),
    poll,
    /** Polls like `poll`, and returns the error that is answered instead of a token. */
    refused: (deviceCode: string) => refusalOf(poll(deviceCode)),
    revoke: async (token: string) =>
      oauth.processRevocationResponse(await oauth.revocationRequest(server, CLIENT, none, token, INSECURE)),
    /** A browser in which the owner of an organization is signed in. */
    browser: async (of: Actor) => new Browser(service.url, await signedIn(service, of)),
    /** A browser in which no user is signed in. */
    visitor: () => new Browser(service.url),
    /** Sends a form to an OAuth endpoint; text is sent unchanged. */
    form: (path: string, fields: Record<string, string> | string, headers: Record<string, string> = {}) =>
      service.request("POST", path, {
        headers: { "Content-Type": FORM, ...headers },
        body: typeof fields === "string" ? fields : new URLSearchParams(fields).toString(),
      }),
  };
}

/** Starts `startOAuthService` for the tests of a file or of a describe block. */
export function useOAuthService(...options: Parameters<typeof startOAuthService>): OAuthService {
  const service = {} as OAuthService;
  beforeAll(async () => void Object.assign(service, await startOAuthService(...options)));
  afterAll(() => service.stop());
  return service;
}

export async function discover(issuer: string): Promise<oauth.AuthorizationServer> {
  const url = new URL(issuer);
  const response = await oauth.discoveryRequest(url, { algorithm: "oauth2", ...INSECURE });
  return oauth.processDiscoveryResponse(url, response);
}

/** The OAuth error that the client throws. */
export async function refusalOf(answer: Promise<unknown>) {
  const error = await answer.then(
    () => new Error("it was not refused"),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof oauth.ResponseBodyError)) throw error;
  return { status: error.status, error: error.error, description: error.error_description };
}

/** Creates a session of the actor's user. */
async function signedIn({ db }: Service, { token }: Actor): Promise<string> {
  const session = newCredential("session");
  await db.sql`
    insert into iam.sessions (session_hash, user_id, expires_at)
    select ${session.hash}, user_id, now() + interval '1 hour' from iam.access_tokens where token_hash = ${hashCredential(token)}`;
  return session.text;
}
