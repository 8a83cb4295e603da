/** A TCP relay that can hold what passes through it, lose its connections, and spoil answers. */
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
  /** Answers that came late, and that came in part. */
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

  /** @param target asked for each connection; null refuses it, as where nothing listens */
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

  /** Ends every connection at both ends. */
  cut(): void {
    for (const { client, server } of this.#pairs) {
      client.destroy();
      server.destroy();
    }
  }

  /** Nothing passes for so long, in either direction, and nobody is told. */
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

  /** Every connection ends, and no other is taken for so long, as where nothing listens. */
  async refuse(ms: number, signal: AbortSignal): Promise<void> {
    this.#refuses = true;
    this.cut();
    try {
      await delay(ms, undefined, { signal });
    } finally {
      this.#refuses = false;
    }
  }

  /** So many answers to come are held back for a while. */
  delay(answers: number): void {
    this.#toDelay += answers;
  }

  /** So many answers to come break off, and their connection with them. */
  truncate(answers: number): void {
    this.#toTruncate += answers;
  }

  async #join(client: Socket): Promise<void> {
    client.on("error", () => undefined); // followed by its close
    // Where it is not known any more, nothing listens.
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
