/** A real receiver of webhooks on a local port, which verifies them: Standard Webhooks 1.0, https://www.standardwebhooks.com. */
import { createHmac, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/** How far the sender's clock may be from ours. Older messages may be replays. */
const TOLERANCE_SECONDS = 5 * 60;

/** Of a request, by their names in lower case. */
type Headers = Readonly<Record<string, string | undefined>>;

/**
 * Null for a genuine message, otherwise what is wrong with it at an instant in milliseconds. The signature is HMAC-SHA256, keyed with the
 * bytes behind `whsec_`, over `id.timestamp.body` (the bytes as they came); the header may hold several, one of which must match.
 */
export function signatureProblem(headers: Headers, body: Buffer, secret: string, now: number): string | null {
  const { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signatures } = headers;
  if (!id || !timestamp || !signatures) return "a webhook header is missing";
  if (!/^\d{1,12}$/.test(timestamp)) return "webhook-timestamp is no number of seconds";
  if (Math.abs(now / 1_000 - Number(timestamp)) > TOLERANCE_SECONDS)
    return "webhook-timestamp is more than five minutes off";
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const expected = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest();
  const genuine = signatures.split(" ").some((entry) => {
    if (!entry.startsWith("v1,")) return false;
    const given = Buffer.from(entry.slice("v1,".length), "base64");
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
  return genuine ? null : "no signature matches";
}

interface ReceivedEvent {
  id: string;
  type: string;
  customerId: string;
  /** What the emission is about, where the metadata says so: the lifecycle state or the segment. */
  subject: string | null;
}

const PAUSE_MS = 1_000;

/** What a receiver has seen: every emission once, however often it was delivered. */
export class ReceiptTally {
  readonly #seen = new Set<string>();
  readonly #byType = new Map<string, number>();
  readonly #byCustomer = new Map<string, Map<string, number>>();
  /** Deliveries of an emission that was delivered before: at least once is what is promised. */
  repeated = 0;
  /** Deliveries that did not verify, by reason. */
  readonly invalid = new Map<string, number>();
  /** The time in which deliveries came, in milliseconds: a pause of more than a second is a time in which there was nothing to deliver. */
  busyMs = 0;
  #lastAt: number | null = null;

  /** @param at when the delivery came, on any steady clock in milliseconds */
  add(event: ReceivedEvent, at: number): void {
    if (this.#seen.has(event.id)) {
      this.repeated++;
      return;
    }
    this.#seen.add(event.id);
    const pause = at - (this.#lastAt ?? at);
    if (pause <= PAUSE_MS) this.busyMs += pause;
    this.#lastAt = at;
    this.#byType.set(event.type, (this.#byType.get(event.type) ?? 0) + 1);
    const entries = this.#byCustomer.get(event.customerId) ?? new Map<string, number>();
    const entry = event.subject === null ? event.type : `${event.type} ${event.subject}`;
    entries.set(entry, (entries.get(entry) ?? 0) + 1);
    this.#byCustomer.set(event.customerId, entries);
  }

  refuse(reason: string): void {
    this.invalid.set(reason, (this.invalid.get(reason) ?? 0) + 1);
  }

  get ids(): ReadonlySet<string> {
    return this.#seen;
  }

  get events(): number {
    return this.#seen.size;
  }

  counts(): { type: string; events: number }[] {
    return [...this.#byType]
      .map(([type, events]) => ({ type, events }))
      .sort((one, other) => (one.type < other.type ? -1 : 1));
  }

  /** For each customer, how often each kind of emission came. In no order. */
  customers(): ReadonlyMap<string, ReadonlyMap<string, number>> {
    return this.#byCustomer;
  }
}

const BODY_BYTES_MAX = 1024 * 1024;

export class Receiver {
  readonly tally = new ReceiptTally();
  #secret: string | null = null;
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      this.#receive(request).then(
        (status) => response.writeHead(status).end(),
        () => response.destroy(),
      );
    });
  }

  static async start(): Promise<Receiver> {
    const receiver = new Receiver();
    await once(receiver.#server.listen(0, "127.0.0.1"), "listening");
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/webhooks`;
  }

  /** The secret is known only after the webhook was created for this receiver's address; nothing is delivered before that. */
  expectSignaturesBy(secret: string): void {
    this.#secret = secret;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Verifies before it looks inside, and answers 204 for whatever is genuine, repeated or not. */
  async #receive(request: IncomingMessage): Promise<number> {
    const body = await readBody(request);
    if (body === null) return 413;
    // What is repeated of these, Node.js joins or leaves out.
    const headers = request.headers as Headers;
    const problem =
      this.#secret === null ? "came before the secret" : signatureProblem(headers, body, this.#secret, Date.now());
    const event = problem === null ? readEvent(body) : null;
    if (event !== null && event.id === headers["svc-event-id"] && event.id === headers["webhook-id"]) {
      this.tally.add(event, performance.now());
      return 204;
    }
    this.tally.refuse(
      problem ??
        (event === null ? "the body is no webhook event" : "svc-event-id, webhook-id and the body's id differ"),
    );
    return 401;
  }
}

async function readBody(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= BODY_BYTES_MAX) chunks.push(chunk);
  }
  return size > BODY_BYTES_MAX ? null : Buffer.concat(chunks);
}

interface WebhookBody {
  id?: unknown;
  type?: unknown;
  data?: { customerId?: unknown; metadata?: Record<string, unknown> | null } | null;
}

function readEvent(body: Buffer): ReceivedEvent | null {
  let parsed: WebhookBody | null;
  try {
    parsed = JSON.parse(body.toString("utf8")) as WebhookBody | null;
  } catch {
    return null;
  }
  const { id, type, data } = parsed ?? {};
  const customerId = data?.customerId;
  if (typeof id !== "string" || typeof type !== "string" || typeof customerId !== "string") return null;
  const subject = data?.metadata?.["segment"] ?? data?.metadata?.["new_lifecycle"];
  return { id, type, customerId, subject: typeof subject === "string" ? subject : null };
}
