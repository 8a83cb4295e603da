import { Readable, type Writable } from "node:stream";
import type { ClientBase, Submittable } from "pg";

/** What of the client's connection `copy` needs; its types leave it out. */
interface CopyConnection {
  stream: Writable & { pause(): void; resume(): void };
  query(text: string): void;
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
  sendCopyFail(message: string): void;
}

/**
 * The rows of a `copy … to stdout`, as the server sends them; it waits where nobody takes them. Who stops before the end loses the connection.
 * Fails as the statement does.
 */
export function copyOut(client: ClientBase, statement: string): Readable {
  return client.query(new CopyOut(statement) as Readable & Submittable);
}

/**
 * Carries out a `copy … from stdin` with what `chunks` yields, of which no more is taken than the server has room for. Answers how many rows
 * were stored. Fails as the statement or `chunks` does; then the transaction has failed.
 */
export function copyIn(client: ClientBase, statement: string, chunks: AsyncIterable<Buffer>): Promise<number> {
  return client.query(new CopyIn(statement, chunks) as CopyIn & Submittable).done;
}

/** The client calls these by name, whatever the kind of query. */
class CopyOut extends Readable {
  #connection: CopyConnection | null = null;

  constructor(private readonly statement: string) {
    super();
  }

  submit(connection: unknown): void {
    this.#connection = connection as CopyConnection;
    this.#connection.query(this.statement);
  }

  handleCopyData({ chunk }: { chunk: Buffer }): void {
    if (!this.push(chunk)) this.#connection?.stream.pause();
  }

  handleCommandComplete(): void {
    // What counts is that the server is ready.
  }

  handleReadyForQuery(): void {
    this.#connection = null;
    this.push(null);
  }

  handleError(error: Error): void {
    this.#connection = null;
    this.destroy(error);
  }

  override _read(): void {
    this.#connection?.stream.resume();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#connection?.stream.destroy();
    done(error);
  }
}

class CopyIn {
  readonly done: Promise<number>;
  #settle!: { resolve: (rows: number) => void; reject: (error: unknown) => void };
  #rows = 0;
  /** Of `chunks`; the server only repeats that it failed. */
  #cause: unknown = null;
  #hasEnded = false;

  constructor(
    private readonly statement: string,
    private readonly chunks: AsyncIterable<Buffer>,
  ) {
    this.done = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
  }

  submit(connection: unknown): void {
    (connection as CopyConnection).query(this.statement);
  }

  handleCopyInResponse(connection: CopyConnection): void {
    void this.#send(connection);
  }

  async #send(connection: CopyConnection): Promise<void> {
    try {
      for await (const chunk of this.chunks) {
        if (this.#hasEnded) return;
        connection.sendCopyFromChunk(chunk);
        if (connection.stream.writableNeedDrain) await drained(connection.stream);
      }
      if (!this.#hasEnded) connection.endCopyFrom();
    } catch (error) {
      this.#cause = error;
      if (!this.#hasEnded) connection.sendCopyFail("what was to be copied could not be read");
    }
  }

  handleCommandComplete({ text }: { text: string }): void {
    this.#rows = Number(text.replace(/^COPY /, ""));
  }

  handleReadyForQuery(): void {
    this.#hasEnded = true;
    this.#settle.resolve(this.#rows);
  }

  handleError(error: Error): void {
    this.#hasEnded = true;
    this.#settle.reject(this.#cause ?? error);
  }
}

/** Resolves once there is room again, or nobody will take any more. */
function drained(stream: Writable): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      stream.off("drain", done).off("close", done);
      resolve();
    };
    stream.on("drain", done).on("close", done);
  });
}
