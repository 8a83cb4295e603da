import { setTimeout as delay } from "node:timers/promises";
import { Readable } from "node:stream";
import type { Context } from "koa";
import type { StreamPage } from "../db/api/ingestion.js";
import { ClientGoneError } from "./request/body.js";
import { ApiError } from "./errors.js";
import { envelopeOf } from "./middleware/handle-errors.js";
import { isStopping } from "./server.js";

/** A page of the events of a stream. */
export interface EventPage extends StreamPage {
  /** The id with which a client resumes the stream after this page. */
  positionId: string;
}

export interface EventStreamOptions {
  organizationId: string;
  /** Reads the events after a position; null means the present. Fails if the client is no longer authorized. */
  next: (position: string | null) => Promise<EventPage>;
  /** The position that the client resumes from; null if it names none. */
  position: string | null;
  /** How long to wait before the next read if there are no more events; a second by default. */
  pollMs?: number;
  /** How long the stream may be silent before a heartbeat is sent; 15 seconds by default. */
  heartbeatMs?: number;
}

const STREAMS_MAX = 64;
/** The limit of one organization, so that others can have streams too. */
const STREAMS_EACH_MAX = 16;
const POLL_MS = 1_000;
/** Pause after a page in which no event matched the filters. */
const EMPTY_PAGE_MS = 50;
const HEARTBEAT_MS = 15_000;
const RETRY_MS = 1_000;
/** A client that receives nothing for this time has vanished. Longer than the time between two heartbeats. */
const SILENT_MS_MAX = 60_000;

/** The organization of each open stream of this process. Their number is limited, because each polls the database. */
const open: string[] = [];

/**
 * The body of a `text/event-stream` (server-sent events), which continues until its client disconnects, the server stops, or `next` fails; in the
 * last case a final event `error` has the envelope. The first page is read before the answer begins, so that an unauthorized request is refused
 * like any other. Nothing is read ahead for a slow client. Throws SERVICE_UNAVAILABLE beyond 64 streams, or 16 of one organization, and
 * ClientGoneError if the client has already disconnected.
 */
export async function openEventStream(ctx: Context, options: EventStreamOptions): Promise<Readable> {
  const { organizationId } = options;
  const { socket } = ctx;
  // A client that disconnected during authorization causes none of the events below, and would keep its slot.
  if (socket.readableEnded || socket.destroyed)
    throw new ClientGoneError("the client closed the connection before its stream began");
  takeSlot(organizationId);
  const gone = clientGoneSignal(ctx);
  gone.addEventListener("abort", () => open.splice(open.indexOf(organizationId), 1));
  const first = await options.next(options.position);
  socket.setTimeout(SILENT_MS_MAX);
  return streamOf(ctx, frames(ctx, first, options, gone), gone);
}

/**
 * Aborts once the client of a stream has disconnected or has its whole answer, after which the connection may serve further requests. A client
 * that closes its half of the connection has left; for other answers it still waits for the end.
 */
export function clientGoneSignal({ res, socket }: Context): AbortSignal {
  const gone = new AbortController();
  const end = () => res.destroy();
  const leave = () => {
    socket.off("end", end).off("close", leave);
    gone.abort(new ClientGoneError("the client closed the connection before the end of the response"));
  };
  socket.once("end", end);
  // While an answer waits behind another one on its connection, `res` does not emit "close".
  socket.once("close", leave);
  res.once("close", leave);
  if (socket.destroyed) leave();
  return gone.signal;
}

/** The body of an answer whose texts are sent as they are generated, until the client is `gone`. */
export function streamOf(ctx: Context, texts: AsyncGenerator<string>, gone: AbortSignal): Readable {
  // A proxy that buffers the answer would delay its texts.
  ctx.set("X-Accel-Buffering", "no");
  const stream = Readable.from(texts, { objectMode: false });
  // Nobody reads on, or destroys it, if the connection closes while the answer waits behind another one.
  gone.addEventListener("abort", () => stream.destroy());
  return stream;
}

/** An event without an id, by which a stream could be resumed. */
export function eventText(name: string, data: object): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

function takeSlot(organizationId: string): void {
  const own = open.filter((each) => each === organizationId).length;
  const all = open.length;
  if (own >= STREAMS_EACH_MAX || all >= STREAMS_MAX) {
    throw new ApiError(503, "SERVICE_UNAVAILABLE", {
      reason: `This process has ${all} open streams, ${own} of them of this organization; the limits are ${STREAMS_MAX} and ${STREAMS_EACH_MAX}.`,
      headers: { "Retry-After": "10" },
    });
  }
  open.push(organizationId);
}

async function* frames(
  ctx: Context,
  first: EventPage,
  { next, pollMs = POLL_MS, heartbeatMs = HEARTBEAT_MS }: EventStreamOptions,
  gone: AbortSignal,
): AsyncGenerator<string> {
  yield `retry: ${RETRY_MS}\n\n`;
  try {
    // Until the first event, a client that loses the connection would have no position to resume from.
    if (first.events.length === 0) yield positionOf(first);
    let sentAt = performance.now();
    for (let page = first; !isStopping(ctx.req); page = await next(page.position)) {
      for (const [id, data] of page.events) yield `id: ${id}\nevent: event\ndata: ${data}\n\n`;
      if (page.events.length > 0) sentAt = performance.now();
      if (page.more) {
        // A search that scans much and finds nothing pauses, to leave the database to others.
        if (page.events.length === 0) await delay(EMPTY_PAGE_MS, undefined, { signal: gone });
        continue;
      }
      if (performance.now() - sentAt >= heartbeatMs) {
        // The position also saves a resumed stream from scanning again the events that did not match its filters.
        yield positionOf(page);
        sentAt = performance.now();
      }
      await delay(pollMs, undefined, { signal: gone });
    }
  } catch (error) {
    if (!gone.aborted) yield eventText("error", envelopeOf(ctx, error));
  }
}

/** Sets a client's last id. The client receives an empty message of the default type, unlike those of events. */
function positionOf({ positionId }: EventPage): string {
  return `id: ${positionId}\ndata:\n\n`;
}
