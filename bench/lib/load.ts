import { Socket } from "node:net";
import { gzipSync } from "node:zlib";

/** The address to send requests to, and the number of keep-alive connections. */
export interface Target {
  address: string;
  connections: number;
}

const SILENCE_MS_MAX = 60_000;

/** The bytes of an HTTP request. */
export function requestBytes(path: string, key: string, text: string, gzip = false): Buffer {
  const body = gzip ? gzipSync(text) : Buffer.from(text);
  const head = [
    `POST ${path} HTTP/1.1`,
    "Host: 127.0.0.1",
    `Authorization: Bearer ${key}`,
    "Content-Type: application/json",
    ...(gzip ? ["Content-Encoding: gzip"] : []),
    `Content-Length: ${body.length}`,
    "\r\n",
  ].join("\r\n");
  return Buffer.concat([Buffer.from(head), body]);
}

/** Sends requests, one at a time on each connection, until all are answered; adds the duration of each to `latencies`. */
export async function post(targets: Target[], requests: Buffer[], latencies: number[]): Promise<void> {
  const connections = await open(targets);
  let next = 0;
  await withConnections(connections, (connection) => async () => {
    for (let request = requests[next++]; request !== undefined; request = requests[next++]) {
      const startedAt = performance.now();
      await connection.post(request);
      latencies.push(performance.now() - startedAt);
    }
  });
}

/**
 * Sends requests at a steady rate, independently of the answers. `make` is called when one is sent, with the instant at which it was due:
 * if all connections were busy, it has waited since.
 */
export async function postSteadily(
  targets: Target[],
  rate: number,
  count: number,
  make: (index: number, dueAt: number) => Buffer,
  answered: (index: number) => void,
): Promise<void> {
  const connections = await open(targets);
  const startedAt = performance.now();
  let next = 0;
  await withConnections(connections, (connection) => async () => {
    while (next < count) {
      const index = next++;
      const dueAt = startedAt + (index * 1_000) / rate;
      const early = dueAt - performance.now();
      if (early > 0) await new Promise((resolve) => setTimeout(resolve, early));
      await connection.post(make(index, dueAt));
      answered(index);
    }
  });
}

/** Sends what `next` returns, one request at a time on each connection, until it returns null. */
export async function postWhile(targets: Target[], next: () => Promise<Buffer | null>): Promise<void> {
  const connections = await open(targets);
  await withConnections(connections, (connection) => async () => {
    for (let request = await next(); request !== null; request = await next()) await connection.post(request);
  });
}

function open(targets: Target[]): Promise<Connection[]> {
  return Promise.all(
    targets.flatMap(({ address, connections }) => Array.from({ length: connections }, () => Connection.open(address))),
  );
}

async function withConnections(
  connections: Connection[],
  work: (connection: Connection) => () => Promise<void>,
): Promise<void> {
  try {
    await Promise.all(connections.map((connection) => work(connection)()));
  } finally {
    for (const connection of connections) connection.close();
  }
}

/** A raw keep-alive connection, because a full HTTP client would cost more than the server under test. */
class Connection {
  readonly #socket: Socket;
  /** The beginning of an answer whose head is incomplete. */
  #head = "";
  /** Bytes of the answer's body that were not received yet. */
  #missing = 0;
  #answered: (() => void) | null = null;
  #failed: ((error: Error) => void) | null = null;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.setTimeout(SILENCE_MS_MAX, () => socket.destroy(new Error("the application does not answer")));
    socket.on("error", (error) => this.#failed?.(error));
    socket.on("close", () => this.#failed?.(new Error("the application closed the connection")));
  }

  static open(address: string): Promise<Connection> {
    const { hostname, port } = new URL(address);
    return new Promise((resolve, reject) => {
      // One buffer for all answers, because only their size and status are read.
      const onread = {
        buffer: Buffer.allocUnsafe(64 * 1024),
        callback: (length: number, chunk: Uint8Array) => {
          connection.#read(chunk as Buffer, length);
          return true;
        },
      };
      // The types have `onread` only for net.connect, which takes the same options.
      const socket = new Socket({ onread } as object);
      const connection = new Connection(socket);
      connection.#failed = reject;
      socket.connect({ host: hostname, port: Number(port) }, () => {
        connection.#failed = null;
        resolve(connection);
      });
    });
  }

  /** Resolves when the request is answered with 202; rejects for any other answer. */
  post(request: Buffer): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#answered = resolve;
      this.#failed = reject;
      this.#socket.write(request);
    });
  }

  close(): void {
    this.#failed = null;
    this.#socket.destroy();
  }

  #read(chunk: Buffer, length: number): void {
    if (this.#missing > 0) this.#missing -= length;
    else {
      this.#head += chunk.toString("latin1", 0, length);
      const end = this.#head.indexOf("\r\n\r\n");
      if (end < 0) return;
      const bodyLength = /\r\ncontent-length: (\d+)/i.exec(this.#head)?.[1];
      if (bodyLength === undefined || !this.#head.startsWith("HTTP/1.1 202")) {
        this.#failed?.(new Error(`unexpected answer: ${this.#head.slice(0, 1_000)}`));
        return;
      }
      this.#missing = Number(bodyLength) - (this.#head.length - end - 4);
      this.#head = "";
    }
    if (this.#missing > 0) return;
    this.#failed = null;
    this.#answered?.();
  }
}
