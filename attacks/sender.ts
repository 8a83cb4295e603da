/** Requests of the attacker: each is counted with what became of it, and none fails. */
import { Agent } from "undici";
import type { Credentials } from "./stage.js";
import type { Tally } from "./tally.js";

export interface Outgoing {
  method?: "GET" | "POST" | "PATCH" | "DELETE";
  /** Sent as it is: nobody tidies up what stands there. */
  path: string;
  /** Sent as JSON, or as it is where it is bytes. */
  body?: unknown;
  gzip?: boolean;
  /** Whether a good answer has no end: its text is not read then. */
  endless?: boolean;
}

/** Null for the status where no answer came. */
export interface Answer {
  status: number | null;
  text: string;
}

/** Whoever attacks comes from elsewhere; all of 127.0.0.0/8 is this machine. */
export const ATTACKERS_ADDRESS = "127.0.0.2";
const CONNECTIONS = 256;
/** An answer that does not come by then is counted as none. */
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
    /** Whom it asks as; changed by nobody. */
    readonly credentials: Credentials,
    private readonly tally: Tally,
  ) {}

  /** As a member of the organization, of the administrative API. */
  manage(outgoing: Outgoing, signal: AbortSignal): Promise<Answer> {
    const { accessToken, organizationId } = this.credentials;
    return this.#send(
      outgoing,
      { authorization: `Bearer ${accessToken}`, "x-svc-organization": organizationId },
      signal,
    );
  }

  /** With an API key, of ingestion. */
  ingest(key: string, outgoing: Outgoing, signal: AbortSignal): Promise<Answer> {
    return this.#send({ method: "POST", ...outgoing }, { authorization: `Bearer ${key}` }, signal);
  }

  /** As anybody, with headers of its own. */
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
