import { setTimeout as delay } from "node:timers/promises";
import { createParser } from "eventsource-parser";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { call } from "../../../src/db/api/call.js";
import { connect } from "../../../src/db/connect.js";
import { hashCredential } from "../../../src/http/request/credentials.js";
import { DOCS_URL, envelope } from "../../support/service.js";
import { INSTANT, invalid, refused } from "./support/api.js";
import { useIngest } from "../ingest/fixture.js";

const fixture = await useIngest();
const { owner } = fixture;
const other = connect(fixture.service.db.url, { max: 2, applicationName: "svc test caller" });
afterAll(() => other.end());

const open: EventReader[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((reader) => reader.close()));
});

/** Reads server-sent events as they arrive. */
function readerOf(response: Response, abort: AbortController) {
  const reader = {
    response,
    messages: [] as { id?: string | undefined; event?: string | undefined; data: unknown }[],
    /** Ids without data: the stream's positions. */
    positions: [] as string[],
    retry: undefined as number | undefined,
    ended: false,
    /** The names of the events, in order of arrival. */
    names: (): unknown[] => reader.messages.map(({ data }) => (data as { event: string }).event),
    close: () => {
      abort.abort();
      return done;
    },
  };
  const parser = createParser({
    onRetry: (retry) => (reader.retry = retry),
    onEvent: ({ id, event, data }) => {
      if (data === "") reader.positions.push(id!);
      else reader.messages.push({ id, event, data: JSON.parse(data) as unknown });
    },
  });
  const read = async () => {
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) parser.feed(chunk);
    reader.ended = true;
  };
  const done = read().catch((error: unknown) => {
    if (!abort.signal.aborted) throw error;
  });
  done.catch(() => undefined); // reported by close()
  return reader;
}
type EventReader = ReturnType<typeof readerOf>;

/** Requests a stream, which is read if granted; returns the status. */
async function ask(query = "", headers: Record<string, string> = {}, by = owner): Promise<number> {
  const abort = new AbortController();
  const credentials = { Authorization: `Bearer ${by.token}`, "X-Svc-Organization": by.organizationId };
  const response = await fetch(`${fixture.service.url}/projects/app/events/stream${query}`, {
    headers: { ...credentials, "X-Request-ID": "req", ...headers },
    signal: abort.signal,
  });
  if (response.status === 200) open.push(readerOf(response, abort));
  else await response.text();
  return response.status;
}

async function openStream(...asked: Parameters<typeof ask>): Promise<EventReader> {
  await expect.poll(() => ask(...asked), { timeout: 10_000 }).toBe(200);
  return open.at(-1)!;
}

const seen = (reader: EventReader) => expect.poll(() => reader.names(), { timeout: 10_000 });
const send = async (...events: string[]): Promise<string[]> => {
  const reply = await fixture.batch(events.map((event) => ({ customerId: `of-${event}`, event })));
  expect(reply.status).toBe(202);
  return (reply.body as { eventIds: string[] }).eventIds;
};

/**
 * Ingests on a separate connection, like another process, and commits on request; with a separate key, because calls with the same key
 * wait for each other at its usage row.
 */
async function ingestSlowly(event: string): Promise<() => Promise<void>> {
  const key = await fixture.newKey();
  const body = JSON.stringify({ events: [{ customerId: "late", event }] });
  return new Promise((started, failed) => {
    const ended = other.begin(async (tx) => {
      await tx`select svc_api.ingest(${key}, gen_random_uuid(), ${body}, false)`;
      await new Promise<void>((commit) =>
        started(async () => {
          commit();
          await ended;
        }),
      );
    });
    ended.catch(failed);
  });
}

describe("GET /projects/:project/events/stream", () => {
  it("sends events accepted from now on, in order of acceptance, as listed, filtered by customer and by name", async () => {
    await send("before");
    const reader = await openStream();
    const { headers } = reader.response;
    expect(headers.get("Content-Type")).toMatch(/^text\/event-stream/);
    expect(headers.get("Cache-Control")).toBe("no-store");
    const filtered: EventReader[] = [];
    for (const filter of ["customer=of-a", "type=b", "type=a&customer=of-a"])
      filtered.push(await openStream(`?${filter}`));
    const [first, second] = await send("a", "b", "c");
    await send("b", "a");
    await seen(reader).toEqual(["a", "b", "c", "b", "a"]);
    for (const [n, name] of ["a", "b", "a"].entries()) await seen(filtered[n]!).toEqual([name, name]);
    expect(reader.retry).toBe(1000);
    const names = { eventId: first, id: first, customerId: "of-a", event: "a" };
    const data = { ...names, properties: {}, occurredAt: INSTANT, acceptedAt: INSTANT, status: "pending" };
    expect(reader.messages[0]).toEqual({ id: first, event: "event", data });
    expect(reader.messages[1]!.id).toBe(second);
  });

  it("continues after the client's last event, and treats one in the future as the present", async () => {
    const sent = await send("r1", "r2", "r3");
    const reader = await openStream("", { "Last-Event-ID": sent[0]! });
    const ahead = await openStream("", { "Last-Event-ID": "evt_7fffffffffffffff" });
    await seen(reader).toEqual(["r2", "r3"]);
    await send("r4");
    await seen(reader).toEqual(["r2", "r3", "r4"]);
    await seen(ahead).toEqual(["r4"]);
  });

  it("sends its starting position, so that nothing is missed if the connection ends before the first event", async () => {
    await send("long ago");
    const reader = await openStream("?type=never");
    await expect.poll(() => reader.positions, { timeout: 10_000 }).toHaveLength(1);
    await reader.close();
    await send("p1", "p2");
    const again = await openStream("", { "Last-Event-ID": reader.positions[0]! });
    await seen(again).toEqual(["p1", "p2"]);
  });

  it("sends a long history in pages", async () => {
    const [start] = await send("start");
    const events = Array.from({ length: 900 }, (_, n) => `h${n}`);
    await send(...events);
    const reader = await openStream("", { "Last-Event-ID": start! });
    await seen(reader).toEqual(events);
  });

  it("neither misses nor repeats events of a call that commits after later ones", async () => {
    const reader = await openStream();
    await send("first");
    await seen(reader).toEqual(["first"]);
    const commit = await ingestSlowly("slow");
    // Accepted later, seen earlier.
    await send("fast");
    const since = await openStream();
    const position = BigInt(`0x${reader.messages[0]!.id!.slice("evt_".length)}`).toString();
    const by = { tokenHash: hashCredential(owner.token), organizationId: owner.organizationId, requestId: "req" };
    const place = { project: "app", environment: "test" } as const;
    const page = await call(fixture.service.db.sql, "stream_events", by, place, {}, position, 200);
    expect(page).toMatchObject({ events: [] });
    await commit();
    await seen(reader).toEqual(["first", "slow", "fast"]);
    // It was opened while both were in progress or done: it sends the rest of them in order, once.
    await send("last");
    await seen(since).toContain("last");
    expect([["slow", "fast", "last"], ["fast", "last"], ["last"]]).toContainEqual(since.names());
    await seen(reader).toEqual(["first", "slow", "fast", "last"]);
  });

  it("does not wait for a call that is rolled back", async () => {
    const reader = await openStream();
    const key = await fixture.newKey();
    const failed = other.begin(async (tx) => {
      const body = JSON.stringify({ events: [{ customerId: "c", event: "never" }] });
      await tx`select svc_api.ingest(${key}, gen_random_uuid(), ${body}, false)`;
      await send("after");
      throw new Error("taken back");
    });
    await expect(failed).rejects.toThrow("taken back");
    await seen(reader).toEqual(["after"]);
  });

  it("sends each event of many concurrent calls exactly once, in order of ids", async () => {
    const reader = await openStream();
    const calls = Array.from({ length: 8 }, async (_, caller) => {
      const ids: string[] = [];
      for (let n = 0; n < 5; n++) {
        if (caller % 4 === 0) {
          const commit = await ingestSlowly(`x-${caller}-${n}`);
          await delay(Math.random() * 20);
          await commit();
        } else ids.push(...(await send(...Array.from({ length: 1 + (n % 5) }, (_, m) => `y-${caller}-${n}-${m}`))));
      }
      return ids;
    });
    await Promise.all(calls);
    const rows = await fixture.service.db.sql<{ event: string }[]>`
      select event from svc.events where event ~ '^[xy]-' order by event_seq`;
    await seen(reader).toEqual(rows.map(({ event }) => event));
    const ids = reader.messages.map(({ id }) => id!);
    expect(ids).toEqual(ids.toSorted());
  });

  it("ends with an error if the token is revoked or the membership ends meanwhile", async () => {
    const actors = [await fixture.service.member(owner, "viewer"), await fixture.service.member(owner, "developer")];
    const [ofToken, ofMember] = actors.map(({ token }) => hashCredential(token));
    const readers: EventReader[] = [];
    for (const actor of actors) readers.push(await openStream("", {}, actor));
    await send("seen");
    for (const reader of readers) await seen(reader).toEqual(["seen"]);
    const { sql } = fixture.service.db;
    await sql`update iam.access_tokens set revoked_at = now() where token_hash = ${ofToken!}`;
    await sql`
      delete from iam.memberships where user_id = (select user_id from iam.access_tokens where token_hash = ${ofMember!})`;
    for (const reader of readers) await expect.poll(() => reader.ended, { timeout: 10_000 }).toBe(true);
    const [revoked, removed] = readers.map(({ messages }) => messages.at(-1));
    const invalid = envelope("INVALID_SESSION", "The access token is missing, unknown, expired or revoked.");
    expect(revoked).toEqual({ event: "error", data: invalid });
    const error = { code: "ORGANIZATION_NOT_FOUND", docs: expect.stringContaining(DOCS_URL) as string };
    expect(removed).toMatchObject({ event: "error", data: { error } });
  });

  it("refuses an invalid last id before anything is sent", async () => {
    for (const id of ["7", "evt_", "evt_ffffffffffffffff", "evt_00000000000004", "EVT_0000000000000400"]) {
      const headers = { "Last-Event-ID": id };
      const reply = await fixture.service.request("GET", "/projects/app/events/stream", { by: owner, headers });
      expect(reply).toMatchObject(invalid("Last-Event-ID", "The header Last-Event-ID is not the id of an event."));
    }
  });

  it("answers SERVICE_UNAVAILABLE beyond 16 streams of an organization, and accepts another once one is closed", async () => {
    // Earlier tests closed their streams, which the server can notice a moment later.
    while (open.length < 16) await expect.poll(() => ask(), { timeout: 10_000 }).toBe(200);
    const reply = await fixture.service.request("GET", "/projects/app/events/stream", { by: owner });
    const reason = "This process has 16 open streams, 16 of them of this organization; the limits are 64 and 16.";
    expect(reply).toMatchObject(refused(503, "SERVICE_UNAVAILABLE", { reason }));
    expect(reply.headers.get("Retry-After")).toBe("10");
    await open[0]!.close();
    await expect.poll(() => ask(), { timeout: 10_000 }).toBe(200);
  });
});
