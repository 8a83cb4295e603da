/** A TCP proxy in front of the service that loses some of the answers. */
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import type { Random } from "../../src/demo/simulate/random.js";

/** What happens to a request: it passes, or its connection is cut once it was forwarded completely, or once its answer begins. */
type Fate = "pass" | "cut when handed over" | "cut when answered";

/** One request in this many loses its answer. */
const CUT_ONE_OF = 4;
const HEADERS_END = "\r\n\r\n";
const ACCEPTED = "HTTP/1.1 202";

export class LossyProxy {
  /** Connections that were cut as soon as the request was forwarded. */
  cutUnanswered = 0;
  /** Connections that were cut when the answer 202 arrived: these requests were accepted, but the client does not know. */
  cutAccepted = 0;
  readonly #sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    private readonly target: URL,
    private readonly random: Random,
  ) {}

  /** @param target the service's address, which stays the same when the service is restarted */
  static async start(target: string, random: Random): Promise<LossyProxy> {
    const server = createServer();
    const proxy = new LossyProxy(server, new URL(target), random);
    server.on("connection", (client) => proxy.#join(client));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.server.close();
    await once(this.server, "close");
  }

  /** Requests of a connection come one after another, each when the previous one is answered. */
  #join(client: Socket): void {
    const service = connect({ host: this.target.hostname, port: Number(this.target.port) });
    const cut = () => {
      client.destroy();
      service.destroy();
    };
    let request = new RequestBytes();
    let fate = this.#nextFate();
    for (const socket of [client, service]) {
      this.#sockets.add(socket);
      // Whatever ends one side ends the other; an error is followed by its close.
      socket.on("error", () => undefined);
      socket.on("close", () => {
        this.#sockets.delete(socket);
        cut();
      });
    }
    client.on("data", (bytes: Buffer) => {
      const isComplete = request.add(bytes);
      service.write(bytes, () => {
        if (!isComplete || fate !== "cut when handed over") return;
        this.cutUnanswered++;
        cut();
      });
    });
    service.on("data", (bytes: Buffer) => {
      if (fate === "cut when answered" && request.isComplete) {
        if (bytes.toString("latin1", 0, ACCEPTED.length) === ACCEPTED) this.cutAccepted++;
        cut();
        return;
      }
      client.write(bytes);
      if (!request.isComplete) return;
      request = new RequestBytes();
      fate = this.#nextFate();
    });
  }

  #nextFate(): Fate {
    if (!this.random.chance(1 / CUT_ONE_OF)) return "pass";
    return this.random.chance(0.5) ? "cut when handed over" : "cut when answered";
  }
}

/** Counts the bytes of one request with a Content-Length, to know when it is complete. */
class RequestBytes {
  isComplete = false;
  #headers = "";
  /** Bytes of the body not received yet; null while the headers are incomplete. */
  #missing: number | null = null;

  /** Returns whether the request is complete now. */
  add(bytes: Buffer): boolean {
    let body = bytes.length;
    if (this.#missing === null) {
      const before = this.#headers.length;
      this.#headers += bytes.toString("latin1");
      const end = this.#headers.indexOf(HEADERS_END);
      if (end === -1) return false;
      body = before + bytes.length - (end + HEADERS_END.length);
      this.#missing = Number(/\r\ncontent-length: *(\d+)/i.exec(this.#headers.slice(0, end))?.[1] ?? 0);
    }
    this.#missing -= body;
    this.isComplete = this.#missing <= 0;
    return this.isComplete;
  }
}
