// Node.js' own HTTP client, not `fetch`: that one of Node.js 20 never settles where a server closes a connection at once, so a command would
// end without a word, and it takes longer to load than most commands to run.
import { type IncomingMessage, request as plain } from "node:http";
import { request as secure } from "node:https";
import { text as textOf } from "node:stream/consumers";

/** Status and headers of an answer, as a `Response` has them. */
export interface Head {
  status: number;
  headers: { get(name: string): string | null };
}

/** An answer whose body is still to be read, by one of `chunks` and `text`, or to be dropped by `close`. */
export interface Incoming extends Head {
  chunks: AsyncIterable<Uint8Array>;
  text(): Promise<string>;
  close(): void;
}

export interface OutgoingRequest {
  method: string;
  headers: Readonly<Record<string, string>>;
  /** What is asked for, as it is written: a URL takes "%2E%2E" for a folder and drops it. The URL's own unless given. */
  path?: string;
  body?: string;
  /** Ends the request and the reading of its answer, with its reason. */
  signal: AbortSignal;
}

/** Sends a request. Redirects are not followed: they would take the credentials to an address that nobody set. */
export function send(url: URL, request: OutgoingRequest): Promise<Incoming> {
  const { method, headers, path = url.pathname + url.search, body, signal } = request;
  const begin = url.protocol === "https:" ? secure : plain;
  return new Promise((resolve, reject) => {
    const outgoing = begin(url, { method, headers, path, signal });
    outgoing.once("response", (message) => resolve(incoming(message, signal)));
    // Stays for as long as the connection: what goes wrong after the answer began is the answer's failure.
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

/** Why it ended: whoever aborted says it better than the error that came of it. */
function reasonOf(error: unknown, signal: AbortSignal): Error {
  const reason: unknown = signal.aborted ? signal.reason : error;
  return reason instanceof Error ? reason : new Error(String(reason));
}
