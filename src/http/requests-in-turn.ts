import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** Requests of one connection that are handled at once: the next answer can be prepared while one is being sent. */
const HANDLED_MAX = 2;
/** Further requests of a connection that wait to be handled. */
const WAITING_MAX = 30;

/** The requests of a connection that are not answered yet. */
interface Line {
  handled: number;
  waiting: (() => void)[];
  /** There was no room for a request, and the connection will be closed. */
  isClosed: boolean;
}

/** Node.js' parser of a connection, as far as it is used here; undocumented. */
interface Parser {
  /** Called once the headers of a request are read. After UPGRADED nothing more is read of the bytes that have arrived. */
  onIncoming: (request: IncomingMessage & { upgrade: boolean | null }) => number;
}
const UPGRADED = 2;

/**
 * Ignores all later requests of a connection. Node.js would hand over each of those that have already arrived, up to 64 KiB of them, at once: 40 µs
 * each, so that a few dozen connections would block the event loop for seconds.
 */
function ignoreFurther(socket: Socket): void {
  const { parser } = socket as unknown as { parser: Parser | null };
  // Without a parser there is nothing more to be read.
  if (parser === null) return;
  parser.onIncoming = (request) => {
    request.upgrade = false; // else the socket would be handed over
    stopReading(socket);
    return UPGRADED;
  };
}

/** For good: Node.js would read on whenever the body of an earlier request is read or discarded. Earlier requests are complete by then. */
function stopReading(socket: Socket): void {
  if (socket.listeners("resume").includes(pause)) return;
  socket.on("resume", pause).pause();
}

function pause(this: Socket): void {
  this.pause();
}

/**
 * Limits the requests of a connection that are handled at once. A client may send requests without waiting for answers; Node.js hands over all that
 * it finds in 64 KiB, almost two thousand, and holds their answers until the client reads, so a few such connections would fill the memory. If too
 * many wait, the connection is closed after the answer to the last of them, and later requests are ignored: clients have to expect that (RFC 9112,
 * section 9.3.2).
 */
export function inTurn(handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>) {
  const lines = new WeakMap<Socket, Line>();
  const begin = (line: Line, request: IncomingMessage, response: ServerResponse): void => {
    line.handled += 1;
    response.once("close", () => {
      line.handled -= 1;
      if (!request.socket.destroyed) line.waiting.shift()?.();
    });
    void handle(request, response);
  };
  return (request: IncomingMessage, response: ServerResponse): void => {
    const line = lines.get(request.socket) ?? { handled: 0, waiting: [], isClosed: false };
    lines.set(request.socket, line);
    // Not reached as long as Node.js' parser works as described above.
    if (line.isClosed) return stopReading(request.socket);
    if (line.handled < HANDLED_MAX) return begin(line, request, response);
    line.waiting.push(() => begin(line, request, response));
    if (line.waiting.length < WAITING_MAX) return;
    line.isClosed = true;
    response.shouldKeepAlive = false;
    ignoreFurther(request.socket);
  };
}
