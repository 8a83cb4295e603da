import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Reply } from "../../support/service.js";
import { eventIds, expectHelpfulRefusal } from "./answers.js";
import { isStorable, readExactly } from "./exact-json.js";
import { eventText, startIngest, type IngestFixture } from "./fixture.js";

// Collections of other people's hard cases: JSONTestSuite (github.com/nst/JSONTestSuite) in JSONTestSuite/, and the Big List of
// Naughty Strings (github.com/minimaxir/big-list-of-naughty-strings) in blns/. They are not part of this project.

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const FOLDER = process.env["SVC_FUZZ_DIR"] ?? path.join(ROOT, "..", "shared", "data", "fuzz");
const missing = !existsSync(path.join(FOLDER, "JSONTestSuite"));

const PATHS = ["/v1/events", "/v1/events/batch"];
const AT_ONCE = 8;

let fixture: IngestFixture;

/** Runs `work` for all items, a few at a time, and answers what it answered in their order. */
async function each<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const queue = items.entries();
  const takeTurns = async () => {
    for (const [index, item] of queue) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, takeTurns));
  return results;
}

/** Sends an operation as JSON text or bytes to either endpoint. */
function send(to: string, operation: string | Buffer): Promise<Reply> {
  const [before, after] = to === "/v1/events" ? ["", ""] : ['{"events":[', "]}"];
  return fixture.post(to, Buffer.concat([Buffer.from(before), Buffer.from(operation), Buffer.from(after)]));
}

interface StoredEvent {
  customerId: string;
  event: string;
  /** As text, because a number may be beyond a double. */
  properties: string;
  idempotencyKey: string | null;
}

async function readBack(ids: readonly string[]): Promise<Map<string, StoredEvent>> {
  const rows = await fixture.service.db.sql<(StoredEvent & { id: string })[]>`
    select i.id, v.customer_id as "customerId", v.event, v.properties::text as properties, k.idempotency_key as "idempotencyKey"
    from unnest(${ids as string[]}::text[]) as i (id)
    join svc.events as v on svc.event_id(v.event_seq) = i.id
    left join svc.idempotency_keys as k on k.environment_id = v.environment_id and k.event_seq = v.event_seq`;
  return new Map(rows.map(({ id, ...stored }) => [id, { ...stored }]));
}

/** The text of a file that JSON.parse reads, else null. */
function asJson(bytes: Buffer): string | null {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    JSON.parse(text);
    return text;
  } catch {
    return null;
  }
}

describe.skipIf(missing)(
  "collections of hard cases, which SVC_FUZZ_DIR has to name (skipped where there are none)",
  () => {
    beforeAll(async () => {
      fixture = await startIngest();
    });
    afterAll(async () => {
      expect((await fixture.single({ customerId: "c", event: "after" })).status).toBe(202);
      expect((await fixture.service.request("GET", "/livez")).status).toBe(200);
      await fixture.service.stop();
    });

    describe("JSONTestSuite", () => {
      const files = ["test_parsing", "test_transform"].flatMap((folder) => {
        const directory = path.join(FOLDER, "JSONTestSuite", folder);
        if (!existsSync(directory)) return [];
        const names = readdirSync(directory).filter((name) => name.endsWith(".json"));
        return names.map((name) => ({ name, bytes: readFileSync(path.join(directory, name)) }));
      });

      it.each(PATHS)("as the whole body of POST %s, each is refused for what it is", async (to) => {
        const before = await fixture.stored();
        const refusals = await each(files, async ({ name, bytes }) => {
          const reply = await fixture.post(to, bytes);
          return { name, status: reply.status, code: expectHelpfulRefusal(reply) };
        });
        const isMalformed = ({ code }: { code: string }) => code === "MALFORMED_JSON";
        expect(refusals.filter(({ status }) => status !== 400)).toEqual([]);
        expect(refusals.filter((refusal) => refusal.name.startsWith("y_") && isMalformed(refusal))).toEqual([]);
        expect(refusals.filter((refusal) => refusal.name.startsWith("n_") && !isMalformed(refusal))).toEqual([]);
        expect(await fixture.stored()).toEqual(before);
      });

      it.each(PATHS)("as a property of POST %s, each is kept exactly or refused", async (to) => {
        const sent = await each(files, async ({ name, bytes }) => {
          const reply = await send(
            to,
            Buffer.concat([Buffer.from('{"customerId":"c","event":"e","properties":{"x":'), bytes, Buffer.from("}}")]),
          );
          if (reply.status === 202) return { name, bytes, id: eventIds(reply)[0] ?? "" };
          return { name, bytes, code: expectHelpfulRefusal(reply) };
        });
        const stored = await readBack(sent.flatMap(({ id = [] }) => id));
        const surprises = sent.filter(({ name, bytes, id, code }) => {
          const json = asJson(bytes);
          if (id !== undefined) {
            const kept = stored.get(id);
            return !kept || !isDeepStrictEqual(readExactly(kept.properties), { "'x": readExactly(json ?? "") });
          }
          if (name.startsWith("n_")) return code !== "MALFORMED_JSON";
          // What is right must be taken unless it cannot be kept.
          return name.startsWith("y_") && (json === null || isStorable(json));
        });
        expect(surprises.map(({ name, code }) => ({ name, code }))).toEqual([]);
        expect(stored.size).toBeGreaterThan(sent.filter(({ name }) => name.startsWith("y_")).length / 2);
      });
    });

    describe("the Big List of Naughty Strings", () => {
      const list = path.join(FOLDER, "blns", "blns.json");
      const strings = existsSync(list) ? (JSON.parse(readFileSync(list, "utf8")) as string[]) : [];
      const isName = (text: string) => text !== "" && [...text].length <= 256;

      type Found = (stored: StoredEvent) => unknown;
      /** Where a string may stand in an operation, whether it may be this string, and how it is found again. */
      const PLACES: { place: string; operation: (text: string) => string; mayBe: typeof isName; found: Found }[] = [
        ...(["customerId", "event", "idempotencyKey"] as const).map((place) => ({
          place,
          // Of a member that is there twice the last counts.
          operation: (text: string) => `{"customerId":"c","event":"e","${place}":${text}}`,
          mayBe: isName,
          found: (stored: StoredEvent) => stored[place],
        })),
        {
          place: "the name of a property",
          operation: (text) => eventText(`{${text}:1}`),
          mayBe: () => true,
          found: ({ properties }) => Object.keys(JSON.parse(properties) as object)[0],
        },
        {
          place: "the value of a property",
          operation: (text) => eventText(`{"x":${text}}`),
          mayBe: () => true,
          found: ({ properties }) => (JSON.parse(properties) as { x: unknown }).x,
        },
      ];

      /** What was not kept exactly, of texts that were sent in places; `id` is that of the stored event. */
      async function unfaithful(sent: { text: string; place: string; found: Found; id: string }[]): Promise<object[]> {
        const stored = await readBack(sent.map(({ id }) => id));
        return sent
          .filter(({ text, found, id }) => {
            const kept = stored.get(id);
            return !kept || found(kept) !== text;
          })
          .map(({ text, place }) => ({ text, place }));
      }

      it.each(PLACES)("POST /v1/events keeps each exactly as $place, or refuses it", async (place) => {
        const sent = await each(strings, async (text) => {
          const reply = await send("/v1/events", place.operation(JSON.stringify(text)));
          expect({ text, status: reply.status }).toEqual({ text, status: place.mayBe(text) ? 202 : 400 });
          if (reply.status === 202) return [{ text, ...place, id: eventIds(reply)[0]! }];
          expect(expectHelpfulRefusal(reply)).toBe("VALIDATION_ERROR");
          return [];
        });
        expect(await unfaithful(sent.flat())).toEqual([]);
      });

      it("POST /v1/events/batch keeps each exactly in every place where it may stand", async () => {
        const sent = await each(strings, async (text) => {
          const places = PLACES.filter(({ mayBe }) => mayBe(text));
          const operations = places.map(({ operation }) => operation(JSON.stringify(text)));
          const reply = await send("/v1/events/batch", operations.join(","));
          expect({ text, status: reply.status }).toEqual({ text, status: 202 });
          return eventIds(reply).map((id, index) => ({ text, ...places[index]!, id }));
        });
        expect(await unfaithful(sent.flat())).toEqual([]);
      });

      it("an identify keeps each exactly as customerId, and as the name and the value of a trait", async () => {
        const sent = strings.map((text) => {
          const customer = isName(text) ? text : "c";
          const quoted = JSON.stringify(text);
          return { customer, traits: `{${quoted}:${quoted}}`, text };
        });
        await each(sent, async ({ customer, traits }) => {
          const identify = `{"type":"identify","customerId":${JSON.stringify(customer)},"traits":${traits}}`;
          expect((await send("/v1/events/batch", identify)).status).toBe(202);
        });
        const rows = await fixture.service.db.sql<{ customer: string; traits: string }[]>`
        select customer_id as customer, traits::text as traits from svc.trait_updates`;
        const kept = new Set(rows.map(({ customer, traits }) => JSON.stringify([customer, readExactly(traits)])));
        expect(
          sent.filter(({ customer, traits }) => !kept.has(JSON.stringify([customer, readExactly(traits)]))),
        ).toEqual([]);
      });
    });
  },
);
