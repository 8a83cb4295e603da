/** A TCP relay that can hold traffic, cut its connections, and delay or truncate answers. */
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

export interface Target {
  host: string;
  port: number;
}

const LATE_MS = 3_000;

interface Pair {
  client: Socket;
  server: Socket;
}

export class Relay {
  /** Number of answers that were delayed, and that were truncated. */
  late = 0;
  truncated = 0;
  readonly #pairs = new Set<Pair>();
  #toDelay = 0;
  #toTruncate = 0;
  #held = false;
  #refuses = false;

  private constructor(
    private readonly server: Server,
    private readonly target: () => Promise<Target | null>,
  ) {}

  /** @param target called for each connection; null refuses it, as if nothing listened */
  static async start(target: () => Promise<Target | null>): Promise<Relay> {
    const server = createServer({ pauseOnConnect: true });
    const relay = new Relay(server, target);
    server.on("connection", (client) => void relay.#join(client));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return relay;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    this.cut();
    this.server.close();
    await once(this.server, "close");
  }

  /** Closes every connection at both ends. */
  cut(): void {
    for (const { client, server } of this.#pairs) {
      client.destroy();
      server.destroy();
    }
  }

  /** Lets nothing pass in either direction for a time, without closing connections. */
  async hold(ms: number, signal: AbortSignal): Promise<void> {
    this.#held = true;
    for (const { client, server } of this.#pairs) {
      client.pause();
      server.pause();
    }
    try {
      await delay(ms, undefined, { signal });
    } finally {
      this.#held = false;
      for (const { client, server } of this.#pairs) {
        client.resume();
        server.resume();
      }
    }
  }

  /** Closes every connection and refuses others for a time, as if nothing listened. */
  async refuse(ms: number, signal: AbortSignal): Promise<void> {
    this.#refuses = true;
    this.cut();
    try {
      await delay(ms, undefined, { signal });
    } finally {
      this.#refuses = false;
    }
  }

  /** Delays the next `answers` answers. */
  delay(answers: number): void {
    this.#toDelay += answers;
  }

  /** Truncates the next `answers` answers, and closes their connections. */
  truncate(answers: number): void {
    this.#toTruncate += answers;
  }

  async #join(client: Socket): Promise<void> {
    client.on("error", () => undefined); // followed by its close
    // If the target cannot be determined, nothing listens.
    const target = this.#refuses ? null : await this.target().catch(() => null);
    if (target === null || client.destroyed) {
      client.destroy();
      return;
    }
    const server = connect(target);
    server.on("error", () => undefined);
    const pair = { client, server };
    this.#pairs.add(pair);
    // Whatever ends one side ends the other.
    for (const socket of [client, server])
      socket.on("close", () => {
        this.#pairs.delete(pair);
        client.destroy();
        server.destroy();
      });
    client.on("data", (bytes: Buffer) => server.write(bytes));
    server.on("data", (bytes: Buffer) => this.#answer(pair, bytes));
    if (this.#held) return;
    client.resume();
  }

  #answer({ client }: Pair, bytes: Buffer): void {
    if (this.#toTruncate > 0) {
      this.#toTruncate--;
      this.truncated++;
      client.end(bytes.subarray(0, bytes.length / 2));
    } else if (this.#toDelay > 0) {
      this.#toDelay--;
      this.late++;
      setTimeout(() => client.write(bytes), LATE_MS);
    } else client.write(bytes);
  }
}
