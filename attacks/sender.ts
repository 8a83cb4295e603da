/** Sends the attacker's requests: each is counted with its result, and none rejects. */
import { Agent } from "undici";
import type { Credentials } from "../faults/stage/one-service.js";
import type { Tally } from "./tally.js";

export interface Outgoing {
  method?: "GET" | "POST" | "PATCH" | "DELETE";
  /** Sent unchanged, without normalization. */
  path: string;
  /** Sent as JSON; bytes are sent unchanged. */
  body?: unknown;
  gzip?: boolean;
  /** Whether a successful answer has no end; then its text is not read. */
  endless?: boolean;
}

/** The status is null if there was no answer. */
export interface Answer {
  status: number | null;
  text: string;
}

/** Attackers have another address; all of 127.0.0.0/8 is this machine. */
export const ATTACKERS_ADDRESS = "127.0.0.2";
const CONNECTIONS = 256;
/** An answer that takes longer counts as none. */
const ANSWER_MS_MAX = 90_000;

export class Sender {
  readonly #agent = new Agent({
    connections: CONNECTIONS,
    localAddress: ATTACKERS_ADDRESS,
    pipelining: 1,
    headersTimeout: ANSWER_MS_MAX,
    bodyTimeout: ANSWER_MS_MAX,
  });

  constructor(
    private readonly url: string,
    /** The credentials of its requests. */
    readonly credentials: Credentials,
    private readonly tally: Tally,
  ) {}

  /** Sends a request to the administrative API as a member of the organization. */
  manage(outgoing: Outgoing, signal: AbortSignal): Promise<Answer> {
    const { accessToken, organizationId } = this.credentials;
    return this.#send(
      outgoing,
      { authorization: `Bearer ${accessToken}`, "x-svc-organization": organizationId },
      signal,
    );
  }

  /** Sends a request to ingestion with an API key. */
  ingest(key: string, outgoing: Outgoing, signal: AbortSignal): Promise<Answer> {
    return this.#send({ method: "POST", ...outgoing }, { authorization: `Bearer ${key}` }, signal);
  }

  /** Sends a request with the given headers only. */
  anonymous(
    outgoing: Outgoing,
    headers: Record<string, string>,
    signal: AbortSignal,
  ): Promise<Answer & { headers: Record<string, string | string[] | undefined> }> {
    return this.#send(outgoing, headers, signal);
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }

  async #send(
    { method = "GET", path, body, gzip = false, endless = false }: Outgoing,
    headers: Record<string, string>,
    signal: AbortSignal,
  ): Promise<Answer & { headers: Record<string, string | string[] | undefined> }> {
    const bytes = body === undefined ? null : Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));
    this.tally.sent(bytes?.length ?? 0);
    try {
      const answer = await this.#agent.request({
        origin: this.url,
        path,
        method,
        headers: {
          ...(bytes === null ? {} : { "content-type": "application/json" }),
          ...(gzip ? { "content-encoding": "gzip" } : {}),
          ...headers,
        },
        body: bytes,
        signal,
      });
      const { statusCode: status } = answer;
      const text = endless && status < 400 ? "" : await answer.body.text();
      if (endless) answer.body.on("error", () => undefined).destroy();
      this.tally.answered(status < 400 ? String(status) : `${status} ${/"code":"(\w+)"/.exec(text)?.[1] ?? ""}`.trim());
      return { status, text, headers: answer.headers };
    } catch (error) {
      if (!signal.aborted) this.tally.answered((error as { code?: string }).code ?? (error as Error).name);
      return { status: null, text: "", headers: {} };
    }
  }
}
