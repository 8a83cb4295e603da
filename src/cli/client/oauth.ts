import * as oauth from "oauth4webapi";

import { ANSWER_MS_MAX, withDiagnosis, unexpectedAnswer, unreachable } from "./failures.js";
import { isObject, isWord, jsonOf } from "../../words/text.js";
import { send } from "./transport.js";

const CLIENT: oauth.Client = { client_id: "svc-cli" };

/** A refusal in OAuth's words (RFC 6749, section 5.2; RFC 8628, section 3.5). */
export class OAuthRefusal extends Error {
  override readonly name = "OAuthRefusal";

  constructor(
    readonly error: string,
    readonly description: string | undefined,
    /** In seconds; undefined if the service did not say. */
    readonly retryAfter: number | undefined,
  ) {
    super(error);
  }
}

/** The service's answer to a client that passes its sign-in on to a browser. */
export interface BrowserLink {
  expiresAt: string;
  uri: string;
}

/** A code for the user to compare, and one with which this program fetches a token. */
export type DeviceCodes = oauth.DeviceAuthorizationResponse;

/**
 * The service's OAuth endpoints, below the address that the user set. The service's metadata is not used, because it names the public
 * address, and tokens must only go to the address that the user set. Throws a `UserError` or `OAuthRefusal`, which never contains a token.
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

  /** Begins a sign-in; the signal aborts the request. */
  begin(signal: AbortSignal): Promise<DeviceCodes> {
    return this.#exchange(
      (options) => oauth.deviceAuthorizationRequest(this.#server, CLIENT, oauth.None(), {}, options),
      (response) => oauth.processDeviceAuthorizationResponse(this.#server, CLIENT, response),
      [signal],
    );
  }

  /** Fetches the token once the sign-in was approved; the code is good for one token. */
  redeem(deviceCode: string): Promise<oauth.TokenEndpointResponse> {
    return this.#exchange(
      (options) => oauth.deviceCodeGrantRequest(this.#server, CLIENT, oauth.None(), deviceCode, options),
      (response) => oauth.processDeviceCodeResponse(this.#server, CLIENT, response),
    );
  }

  /** Revokes a token. One that the service does not know counts as revoked. */
  revoke(token: string): Promise<void> {
    return this.#exchange(
      (options) => oauth.revocationRequest(this.#server, CLIENT, oauth.None(), token, options),
      (response) => oauth.processRevocationResponse(response),
    );
  }

  /** A link that signs a browser in as the token's user, once. */
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
        // The user chose the address, and every other request goes there as well.
        // oxlint-disable-next-line typescript/no-deprecated -- marked so that it stands out
        [oauth.allowInsecureRequests]: true,
        [oauth.customFetch]: fetched,
      });
    } catch (error) {
      throw unreachable(this.#base, error);
    }
    const seconds = Number(response.headers.get("retry-after") ?? NaN);
    const retryAfter = Number.isFinite(seconds) ? seconds : undefined;
    // The library reads only refusals with a client error status.
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
      // Not attached as cause: the library's error contains the whole answer, and so the token.
      const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
      const found = unexpectedAnswer(this.#base, response.status, isJson ? "JSON of another shape" : "no JSON");
      throw await withDiagnosis(this.#base, response, found);
    }
  }
}

/** Sends a request the way every other command does, and returns its answer as the `Response` that the library reads. */
async function fetched(
  url: string,
  { method, headers, body, signal }: oauth.CustomFetchOptions<"POST", URLSearchParams>,
): Promise<Response> {
  const answer = await send(new URL(url), { method, headers, body: body.toString(), signal: signal! });
  const names = ["content-type", "location", "retry-after"].filter((name) => answer.headers.get(name) !== null);
  const replyHeaders = names.map((name): [string, string] => [name, answer.headers.get(name)!]);
  const text = await answer.text();
  return new Response(text === "" ? null : text, { status: answer.status, headers: replyHeaders });
}

/** The service's description of its own failure; undefined if something else, such as a proxy, answered. */
async function faultIn(response: Response): Promise<string | undefined> {
  const document = jsonOf(await response.text().catch(() => ""));
  const description = isObject(document) ? document["error_description"] : undefined;
  return typeof description === "string" ? description : undefined;
}
