import * as oauth from "oauth4webapi";

import { ANSWER_MS_MAX, explained, unexpected, unreachable } from "./failures.js";
import { isObject, isWord, jsonOf } from "../../words/text.js";
import { send } from "./transport.js";

const CLIENT: oauth.Client = { client_id: "svc-cli" };

/** A refusal in OAuth's words (RFC 6749, section 5.2; RFC 8628, section 3.5). */
export class OAuthRefusal extends Error {
  override readonly name = "OAuthRefusal";

  constructor(
    readonly error: string,
    readonly description: string | undefined,
    /** Seconds; undefined where the service said nothing of it. */
    readonly retryAfter: number | undefined,
  ) {
    super(error);
  }
}

/** What the service answers to a client that hands its sign-in on to a browser. */
export interface BrowserLink {
  email: string;
  expiresAt: string;
  uri: string;
}

/** Codes for a person to compare, and for this program to fetch a token by. */
export type DeviceCodes = oauth.DeviceAuthorizationResponse;

/**
 * The service's sign-in for programs, below the address that the user set: what the service publishes about it is not asked for, because that
 * names the public address, and tokens go nowhere but where the user said. What is thrown never holds a token: a `UserError` or `OAuthRefusal`.
 */
export class OAuthClient {
  readonly #base: string;
  readonly #server: oauth.AuthorizationServer;
  readonly #requestId: string;

  constructor(base: string, requestId: string) {
    this.#base = base;
    this.#requestId = requestId;
    this.#server = {
      issuer: base,
      device_authorization_endpoint: `${base}/oauth/device_authorization`,
      token_endpoint: `${base}/oauth/token`,
      revocation_endpoint: `${base}/oauth/revoke`,
    };
  }

  /** Asks to be signed in; the signal ends it. */
  begin(signal: AbortSignal): Promise<DeviceCodes> {
    return this.#exchange(
      (options) => oauth.deviceAuthorizationRequest(this.#server, CLIENT, oauth.None(), {}, options),
      (response) => oauth.processDeviceAuthorizationResponse(this.#server, CLIENT, response),
      [signal],
    );
  }

  /** Fetches the token, once somebody approved; the code is good for one. */
  redeem(deviceCode: string): Promise<oauth.TokenEndpointResponse> {
    return this.#exchange(
      (options) => oauth.deviceCodeGrantRequest(this.#server, CLIENT, oauth.None(), deviceCode, options),
      (response) => oauth.processDeviceCodeResponse(this.#server, CLIENT, response),
    );
  }

  /** Ends a token. One that the service does not know counts as ended. */
  revoke(token: string): Promise<void> {
    return this.#exchange(
      (options) => oauth.revocationRequest(this.#server, CLIENT, oauth.None(), token, options),
      (response) => oauth.processRevocationResponse(response),
    );
  }

  /** A link by which a browser is signed in as the token's user, once. */
  browserLink(token: string): Promise<BrowserLink> {
    const body = new URLSearchParams({ client_id: CLIENT.client_id, token });
    return this.#exchange(
      ({ headers, signal }) =>
        fetched(`${this.#base}/oauth/browser_link`, {
          method: "POST",
          headers: { ...(headers as Record<string, string>), "content-type": "application/x-www-form-urlencoded" },
          body,
          redirect: "manual",
          signal: signal as AbortSignal,
        }),
      async (response) => {
        const document: unknown = await response.json();
        const text = (name: string) => (isObject(document) ? document[name] : undefined);
        if (response.ok && isWord(text("uri")) && isWord(text("expiresAt"))) return document as BrowserLink;
        throw new OAuthRefusal(String(text("error")), text("error_description") as string | undefined, undefined);
      },
    );
  }

  async #exchange<T>(
    request: (options: oauth.HttpRequestOptions<"POST", URLSearchParams>) => Promise<Response>,
    read: (response: Response) => Promise<T>,
    signals: readonly AbortSignal[] = [],
  ): Promise<T> {
    let response: Response;
    try {
      response = await request({
        headers: { "x-request-id": this.#requestId },
        signal: AbortSignal.any([AbortSignal.timeout(ANSWER_MS_MAX), ...signals]),
        // The user named the address, and every other request goes there as well.
        // oxlint-disable-next-line typescript/no-deprecated -- marked so that it stands out
        [oauth.allowInsecureRequests]: true,
        [oauth.customFetch]: fetched,
      });
    } catch (error) {
      throw unreachable(this.#base, error);
    }
    const seconds = Number(response.headers.get("retry-after") ?? NaN);
    const retryAfter = Number.isFinite(seconds) ? seconds : undefined;
    // The library reads no refusals but those of the client's fault.
    if (response.status >= 500) {
      const description = (await faultIn(response)) ?? `${this.#base} answered ${response.status}`;
      throw new OAuthRefusal("temporarily_unavailable", description, retryAfter);
    }
    try {
      return await read(response);
    } catch (error) {
      if (error instanceof oauth.ResponseBodyError) {
        throw new OAuthRefusal(error.error, error.error_description, retryAfter);
      }
      // Not as its cause: what this library throws holds the whole answer, and so the token.
      const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
      const found = unexpected(this.#base, response.status, isJson ? "JSON of another shape" : "no JSON");
      throw await explained(this.#base, response, found);
    }
  }
}

/** A request as every other command sends it, and its answer as the library reads it. */
async function fetched(
  url: string,
  { method, headers, body, signal }: oauth.CustomFetchOptions<"POST", URLSearchParams>,
): Promise<Response> {
  const answer = await send(new URL(url), { method, headers, body: body.toString(), signal: signal! });
  const names = ["content-type", "location", "retry-after"].filter((name) => answer.headers.get(name) !== null);
  const told = names.map((name): [string, string] => [name, answer.headers.get(name)!]);
  const text = await answer.text();
  return new Response(text === "" ? null : text, { status: answer.status, headers: told });
}

/** What the service says of its own failure; a proxy in its place says nothing that concerns us. */
async function faultIn(response: Response): Promise<string | undefined> {
  const document = jsonOf(await response.text().catch(() => ""));
  const description = isObject(document) ? document["error_description"] : undefined;
  return typeof description === "string" ? description : undefined;
}
