/** A webhook receiver on a local port that verifies signatures: Standard Webhooks 1.0, https://www.standardwebhooks.com. */
import { createHmac, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/** Allowed difference between the sender's clock and ours. Older messages may be replays. */
const TOLERANCE_SECONDS = 5 * 60;

/** A request's headers, by lower-case name. */
type Headers = Readonly<Record<string, string | undefined>>;

/**
 * Null for a genuine message, otherwise what is wrong with it. The signature is HMAC-SHA256, keyed with the base64-decoded part after
 * `whsec_`, over `id.timestamp.body` (the raw bytes); the header may contain several, one of which must match. @param now in milliseconds
 */
export function signatureProblem(headers: Headers, body: Buffer, secret: string, now: number): string | null {
  const { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signatures } = headers;
  if (!id || !timestamp || !signatures) return "a webhook header is missing";
  if (!/^\d{1,12}$/.test(timestamp)) return "webhook-timestamp is not a number of seconds";
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
  /** The lifecycle state or the segment in the emission's metadata, if any. */
  subject: string | null;
}

const PAUSE_MS = 1_000;

/** Counts the received emissions, each once however often it was delivered. */
export class ReceiptTally {
  readonly #seen = new Set<string>();
  readonly #byType = new Map<string, number>();
  readonly #byCustomer = new Map<string, Map<string, number>>();
  /** Repeated deliveries of an emission: delivery is at least once. */
  repeated = 0;
  /** Deliveries that did not verify, by reason. */
  readonly invalid = new Map<string, number>();
  /** Time during which deliveries arrived, in milliseconds. Pauses of more than a second do not count: there was nothing to deliver. */
  busyMs = 0;
  #lastAt: number | null = null;

  /** @param at when the delivery arrived, on any monotonic clock in milliseconds */
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

  /** For each customer, how often each kind of emission arrived. In no particular order. */
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

  /** Sets the secret, which is known only once the webhook was created for this receiver's address; nothing is delivered before that. */
  expectSignaturesBy(secret: string): void {
    this.#secret = secret;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Verifies a message before parsing it, and answers 204 to every genuine one, repeated or not. */
  async #receive(request: IncomingMessage): Promise<number> {
    const body = await readBody(request);
    if (body === null) return 413;
    // Node.js joins or drops repeated headers of these names.
    const headers = request.headers as Headers;
    const problem =
      this.#secret === null ? "arrived before the secret" : signatureProblem(headers, body, this.#secret, Date.now());
    const event = problem === null ? readEvent(body) : null;
    if (event !== null && event.id === headers["svc-event-id"] && event.id === headers["webhook-id"]) {
      this.tally.add(event, performance.now());
      return 204;
    }
    this.tally.refuse(
      problem ??
        (event === null ? "the body is not a webhook event" : "svc-event-id, webhook-id and the body's id differ"),
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
