import { setTimeout as delay } from "node:timers/promises";
import { Readable } from "node:stream";
import type { Context } from "koa";
import type { StreamPage } from "../db/api/ingestion.js";
import { ClientGoneError } from "./request/body.js";
import { ApiError } from "./errors.js";
import { envelopeOf } from "./middleware/handle-errors.js";
import { isStopping } from "./server.js";

/** Some of the events of a stream. */
export interface EventPage extends StreamPage {
  /** What a client names to go on there. */
  positionId: string;
}

export interface EventStreamOptions {
  /** Whose stream it is. */
  organizationId: string;
  /** The events after a position, null for the present. Fails where the client may no longer have them. */
  next: (position: string | null) => Promise<EventPage>;
  /** Where the client was, if it says so. */
  position: string | null;
  /** How long to wait where there is no more; a second unless given. */
  pollMs?: number;
  /** After which silence to say that the stream is alive; 15 seconds unless given. */
  heartbeatMs?: number;
}

const STREAMS_MAX = 64;
/** Of one organization, so that it leaves some to the others. */
const STREAMS_EACH_MAX = 16;
const POLL_MS = 1_000;
const PASSING_MS = 50;
const HEARTBEAT_MS = 15_000;
const RETRY_MS = 1_000;
/** A client that takes nothing for so long has vanished. Longer than the time between two heartbeats. */
const SILENT_MS_MAX = 60_000;

/** Of this process, whatever serves them, by organization: each polls the database. */
const open = new Map<string, number>();

/**
 * The body of a `text/event-stream` (server-sent events) that goes on until its client leaves, the server stops, or `next` fails; then a
 * last event `error` carries the envelope. The first page is read before anything is answered, so that a request that may not have it is
 * refused as any other. Nothing is read ahead of a client that is slow. Throws SERVICE_UNAVAILABLE past 64 streams, 16 of
 * them one organization's, and ClientGoneError where nobody is there any more.
 */
export async function openEventStream(ctx: Context, options: EventStreamOptions): Promise<Readable> {
  const { organizationId } = options;
  const { res, socket } = ctx;
  // Whoever left while the request was authorized is not heard to leave below, and would keep the slot.
  if (socket.readableEnded || socket.destroyed)
    throw new ClientGoneError("the client closed the connection before its stream began");
  takeSlot(organizationId);
  // A client that ends its half of the connection waits for an answer elsewhere; this one has no end that it could wait for.
  const end = () => res.destroy();
  socket.once("end", end);
  const gone = untilGone(ctx);
  gone.addEventListener("abort", () => {
    giveBackSlot(organizationId);
    socket.off("end", end);
  });
  const first = await options.next(options.position);
  socket.setTimeout(SILENT_MS_MAX);
  return streamOf(ctx, frames(ctx, first, options, gone));
}

/** Aborts once the client of a request has left, or has its whole answer; the connection may serve many more. */
export function untilGone({ res, socket }: Context): AbortSignal {
  const gone = new AbortController();
  const leave = () => {
    socket.off("close", leave);
    gone.abort(new ClientGoneError("the client closed the connection before the end of the response"));
  };
  if (socket.destroyed) leave();
  // Of an answer that waits behind another on its connection, `res` does not tell.
  socket.once("close", leave);
  res.once("close", leave);
  return gone.signal;
}

/** The body of an answer whose texts are sent as they are made. */
export function streamOf(ctx: Context, texts: AsyncGenerator<string>): Readable {
  // Proxies that gather an answer would hold back what it is about.
  ctx.set("X-Accel-Buffering", "no");
  return Readable.from(texts, { objectMode: false });
}

/** An event of a stream that is not resumed by an id. */
export function eventText(name: string, data: object): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

function takeSlot(organizationId: string): void {
  const own = open.get(organizationId) ?? 0;
  const all = [...open.values()].reduce((sum, streams) => sum + streams, 0);
  if (own >= STREAMS_EACH_MAX || all >= STREAMS_MAX) {
    throw new ApiError(503, "SERVICE_UNAVAILABLE", {
      reason: `This process holds ${all} streams open, ${own} of them this organization's; it may hold ${STREAMS_MAX}, ${STREAMS_EACH_MAX} for each.`,
      headers: { "Retry-After": "10" },
    });
  }
  open.set(organizationId, own + 1);
}

function giveBackSlot(organizationId: string): void {
  const rest = (open.get(organizationId) ?? 1) - 1;
  if (rest > 0) open.set(organizationId, rest);
  else open.delete(organizationId);
}

async function* frames(
  ctx: Context,
  first: EventPage,
  { next, pollMs = POLL_MS, heartbeatMs = HEARTBEAT_MS }: EventStreamOptions,
  gone: AbortSignal,
): AsyncGenerator<string> {
  yield `retry: ${RETRY_MS}\n\n`;
  try {
    // Before the first event came, a client that lost the connection would not know where it was.
    if (first.events.length === 0) yield positionOf(first);
    let heardAt = performance.now();
    for (let page = first; !isStopping(ctx.req); page = await next(page.position)) {
      for (const [id, data] of page.events) yield `id: ${id}\nevent: event\ndata: ${data}\n\n`;
      if (page.events.length > 0) heardAt = performance.now();
      if (page.more) {
        // What passes over much and finds nothing leaves the database to others in between.
        if (page.events.length === 0) await delay(PASSING_MS, undefined, { signal: gone });
        continue;
      }
      if (performance.now() - heardAt >= heartbeatMs) {
        // Where little passes the filters, it also spares what was passed over already.
        yield positionOf(page);
        heardAt = performance.now();
      }
      await delay(pollMs, undefined, { signal: gone });
    }
  } catch (error) {
    if (!gone.aborted) yield eventText("error", envelopeOf(ctx, error));
  }
}

/** Sets a client's last id. A client gets it as a message of the default type without text, which is none of the events. */
function positionOf({ positionId }: EventPage): string {
  return `id: ${positionId}\ndata:\n\n`;
}
