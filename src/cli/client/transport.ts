// Uses node:http, not `fetch`: in Node.js 20, `fetch` never settles if a server closes a connection at once, so a command would end
// silently, and it takes longer to load than most commands take to run.
import { type IncomingMessage, request as plain } from "node:http";
import { request as secure } from "node:https";
import { text as textOf } from "node:stream/consumers";

/** Status and headers of an answer, as a `Response` has them. */
export interface Head {
  status: number;
  headers: { get(name: string): string | null };
}

/** An answer whose body is still to be read, with either `chunks` or `text`, or dropped with `close`. */
export interface Incoming extends Head {
  chunks: AsyncIterable<Uint8Array>;
  text(): Promise<string>;
  close(): void;
}

export interface OutgoingRequest {
  method: string;
  headers: Readonly<Record<string, string>>;
  /** The literal path and query: a URL would resolve "%2E%2E" as a parent folder. The URL's own unless given. */
  path?: string;
  body?: string;
  /** Aborts the request and the reading of its answer, with its reason. */
  signal: AbortSignal;
}

/** Sends a request. Redirects are not followed: they would send the credentials to an address that the user did not set. */
export function send(url: URL, request: OutgoingRequest): Promise<Incoming> {
  const { method, headers, path = url.pathname + url.search, body, signal } = request;
  const begin = url.protocol === "https:" ? secure : plain;
  return new Promise((resolve, reject) => {
    const outgoing = begin(url, { method, headers, path, signal });
    outgoing.once("response", (message) => resolve(incoming(message, signal)));
    // Without a listener, Node.js closes the connection after such an answer, and emits nothing that would end the wait for it.
    outgoing.once("upgrade", (_, socket) => {
      socket.destroy();
      reject(new Error("the server switches to another protocol (101)"));
    });
    // Kept for as long as the connection lives: errors after the answer began surface when its body is read.
    outgoing.on("error", (error) => reject(reasonOf(error, signal)));
    outgoing.end(body);
  });
}

function incoming(message: IncomingMessage, signal: AbortSignal): Incoming {
  const chunks = bytesOf(message, signal);
  return {
    status: message.statusCode ?? 0,
    headers: {
      get: (name) => {
        const value = message.headers[name.toLowerCase()];
        return value === undefined ? null : String(value);
      },
    },
    chunks,
    text: () => textOf(chunks),
    close: () => message.destroy(),
  };
}

async function* bytesOf(message: IncomingMessage, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of message) yield chunk as Buffer;
  } catch (error) {
    throw reasonOf(error, signal);
  }
}

/** Why the request ended: the reason of an abort is more precise than the resulting error. */
function reasonOf(error: unknown, signal: AbortSignal): Error {
  const reason: unknown = signal.aborted ? signal.reason : error;
  return reason instanceof Error ? reason : new Error(String(reason));
}
