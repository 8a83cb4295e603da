import { text } from "node:stream/consumers";
import type { TSchema } from "typebox";
import { afterAll, describe, expect, it } from "vitest";
import { rotatingSample } from "../../support/property-runs.js";

import { openRequest } from "../open-request.js";
import { cursorOf, listOf } from "./support/cursors.js";
import { declarationsOf, REQUESTS, startWorld } from "./support/world.js";

// Whatever is sent to an administrative route is refused with the envelope, which names the field at fault, and never fails. For
// members that all routes have, each route is tested with a few of the values, and the next route with others.

const ROUTES = Object.keys(REQUESTS);
/** Every route with its number, which selects its values. */
const turns = ROUTES.map((route, turn) => [route, turn] as const);

const world = await startWorld();
afterAll(() => world.stop());
const declarations = new Map(declarationsOf(world).map((one) => [`${one.method} ${one.path}`, one]));
const queryOf = (route: string): Record<string, TSchema> => declarations.get(route)!.query?.properties ?? {};

/** Valid requests that have not succeeded yet, so that they can be reused. */
const unused = new Map<string, { address: string; query: string; body: unknown }>();

/** A valid request of a route, in parts. */
async function validRequest(route: string) {
  const kept = unused.get(route);
  if (kept !== undefined) return kept;
  const { path, body } = await REQUESTS[route]!(world, "test");
  const [address = "", query = ""] = path.split("?");
  const request = { address, query, body };
  unused.set(route, request);
  return request;
}

/** The members of a valid body. */
const bodyOf = async (route: string) => (await validRequest(route)).body as Record<string, unknown>;

interface RawReply {
  status: number;
  body: { error?: { code: string; message: string; requestId: string; field?: string }; nextCursor?: string | null };
}

/** Sends target and body unchanged: `fetch` would resolve `..` and refuse much of the rest. */
async function sendRaw(method: string, path: string, body: string | undefined): Promise<RawReply> {
  const headers = {
    Authorization: `Bearer ${world.owner.token}`,
    "X-Svc-Organization": world.owner.organizationId,
    "X-Request-ID": "req",
    ...(body !== undefined && { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) }),
  };
  const pieces = body === undefined ? [] : [body];
  const response = await openRequest(world.service.url, { method, path, headers }, ...pieces);
  const status = response.statusCode!;
  if (response.headers["content-type"]?.startsWith("text/event-stream") !== true)
    return { status, body: JSON.parse(await text(response)) as RawReply["body"] };
  response.destroy();
  return { status, body: {} };
}

interface Changes {
  address?: string;
  query?: string;
  /** Text that is sent unchanged. */
  body?: string;
}

/** Sends the valid request of a route with changes. */
async function send(route: string, changes: Changes): Promise<RawReply> {
  const { address, query, body } = await validRequest(route);
  const [method = ""] = route.split(" ");
  const target = `${changes.address ?? address}?${changes.query ?? query}`;
  const reply = await sendRaw(method, target, changes.body ?? JSON.stringify(body));
  if (reply.status < 300) unused.delete(route);
  return reply;
}

/** A request and the expected answer: a refusal with this code, VALIDATION_ERROR by default, that names the field. */
interface Case extends Changes {
  what?: string;
  field?: string;
  code?: RegExp;
  /** Whether it can also succeed; a refusal for the request's shape names the field or one below. */
  maySucceed?: true;
}

/** What is wrong with a reply; null if it is as expected. */
function fault({ status, body }: RawReply, { code = /^VALIDATION_ERROR$/, field, maySucceed }: Case): string | null {
  if (maySucceed && status < 300) return null;
  const shown = `${status} ${JSON.stringify(body).slice(0, 300)}`;
  const { error } = body;
  if (status < 400 || status > 499 || error === undefined) return shown;
  // The message quotes what was sent, shortened if long.
  const isClear = error.message.length > 10 && [...error.message].length < 400 && error.requestId === "req";
  if (!isClear || !code.test(error.code)) return shown;
  if (field === undefined || (maySucceed && status !== 400)) return null;
  return error.field === field || (maySucceed && error.field?.startsWith(field))
    ? null
    : `field ${error.field} in ${shown}`;
}

/** Below the limits of concurrent webhook tests and language model questions of an organization. */
const AT_ONCE = 3;

/** Sends all requests, and fails with each one that was not answered as expected. */
async function expectClear(route: string, cases: readonly Case[]): Promise<void> {
  const faults: string[] = [];
  const waiting = [...cases];
  await validRequest(route);
  const sendInTurn = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const found = fault(await send(route, next), next);
      const { what = next.query ?? next.address ?? next.body } = next;
      if (found !== null) faults.push(`${what?.slice(0, 80)}: ${found}`);
    }
  };
  // A request that succeeds uses up its target.
  const senders = cases.some(({ maySucceed }) => maySucceed) ? 1 : AT_ONCE;
  await Promise.all(Array.from({ length: senders }, sendInTurn));
  expect(faults).toEqual([]);
}

/** A request that can succeed or be refused in any way. */
const ANY_REFUSAL = { code: /^[A-Z_]+$/, maySucceed: true } as const;
const NO_TEXT = ["%00", "a%00b", "%ED%A0%80", "%ED%BF%BF", "%FF", "%C3", "%", "%4", "%zz"];

describe("a query", () => {
  const UNKNOWN = ["unknown", "__proto__", "constructor", "toString", "ENV", "env[]", "limit.x", "%F0%9D%92%B3"];
  const NO_INTEGERS = ",x,1.5,1e1,0x10,+1,1+,99999999999999999999,%D9%A3,null".split(",");
  const NO_CHOICES = ["", "nonsense", "TEST", "test+", "%74est,live", "null", "0"];
  /** Values, percent-encoded, that a member's schema does not allow. */
  function wrongValues(schema: TSchema, turn: number): string[] {
    type Limits = Partial<Record<"minimum" | "maximum" | "minLength" | "maxLength", number>>;
    const { type, enum: choices, const: only } = schema as { type?: string; enum?: string[]; const?: string };
    const { minimum = NaN, maximum = NaN, minLength, maxLength } = schema as Limits;
    const beyond = [minimum - 1, maximum + 1].filter((limit) => !Number.isNaN(limit)).map(String);
    if (type === "integer") return [...rotatingSample(NO_INTEGERS, 1, turn), ...beyond];
    if (choices !== undefined || only !== undefined) return rotatingSample(NO_CHOICES, 1, turn);
    return [minLength === undefined ? [] : [""], maxLength === undefined ? [] : ["a".repeat(maxLength + 1)]].flat();
  }

  it.each(turns)("with an unknown member, one twice or a wrong value is refused by %s", async (route, turn) => {
    const { query } = await validRequest(route);
    const known = Object.entries(queryOf(route));
    await expectClear(route, [
      ...rotatingSample(UNKNOWN, 1, turn).map((name) => ({
        query: `${query}&${name}=1`,
        field: decodeURIComponent(name),
      })),
      ...rotatingSample(NO_TEXT, 1, turn).map((name) => ({ query: `${query}&${name}=1` })),
      ...rotatingSample(known, 1, turn).flatMap(([field]) => [
        { query: `${field}=1&${field}=1`, field },
        ...rotatingSample(NO_TEXT, 1, turn + 1).map((value) => ({ query: `${field}=${value}`, field })),
      ]),
      ...known.flatMap(([field, schema], place) => {
        return wrongValues(schema, turn + place).map((value) => ({ query: `${field}=${value}`, field }));
      }),
    ]);
  });

  const ODD = "' %22 %5C %25 %0A %E2%80%AE .. %2F v0 v99999999999 -1d 1e999d".split(" ");
  it.each(turns)("with an odd value never makes %s fail", async (route, turn) => {
    const values = [...ODD, "a".repeat(300), "9".repeat(30)];
    const cases = Object.keys(queryOf(route)).flatMap((field, place) =>
      rotatingSample(values, 1, turn + place).map((value): Case => ({
        ...ANY_REFUSAL,
        query: `${field}=${value}`,
        field,
      })),
    );
    await expectClear(route, cases);
  });
});

describe("a cursor", () => {
  const unsealed = (...parts: unknown[]) => Buffer.from(JSON.stringify(parts)).toString("base64url");
  /** Positions that a list accepts or refuses. */
  const POSITIONS = [
    ["", "x", "0", "-1", "1.5", "NaN", "9".repeat(30), "[]", "{}", "[1]", '["a","b","c"]', "[1,2,3,4]"],
    "a".repeat(5000),
  ].flat();

  it("that is forged or from another list is refused by every list", async () => {
    const { sql } = world.service.db;
    const lists = ROUTES.filter((route) => Object.hasOwn(queryOf(route), "cursor"));
    /** The cursors of lists with more than one item. */
    const genuine = new Map<string, string>();
    for (const route of lists) {
      const { query } = await validRequest(route);
      const { nextCursor } = (await send(route, { query: `${query}&limit=1` })).body;
      if (typeof nextCursor === "string") genuine.set(route, nextCursor);
    }
    expect(genuine.size).toBeGreaterThan(2);
    for (const [turn, route] of lists.entries()) {
      const { query } = await validRequest(route);
      const ownCursor = genuine.get(route);
      const name = ownCursor === undefined ? undefined : await listOf(sql, ownCursor);
      const others = [...genuine].filter(([other]) => other !== route).map(([, cursor]) => cursor);
      const forged = [
        rotatingSample(["nonsense", "AAAA", "====", "W10", "-_-_", "e30", "bnVsbA"], 1, turn),
        rotatingSample(others, 1, turn),
        rotatingSample([unsealed(), unsealed("unknown", "x"), unsealed(null, "x"), unsealed(name)], 1, turn),
        unsealed(name, "1"),
        await cursorOf(sql, "unknown", "x"),
      ].flat();
      const withCursor = (cursor: string, more: Case = {}): Case => {
        return { ...more, what: `${route} ${cursor}`, query: `${query}&cursor=${cursor}`, field: "cursor" };
      };
      await expectClear(
        route,
        forged.map((cursor) => withCursor(cursor)),
      );
      if (name === undefined) continue;
      const positions = rotatingSample(POSITIONS, 2, turn);
      const cursors = await Promise.all(positions.map((position) => cursorOf(sql, name, position)));
      await expectClear(
        route,
        cursors.map((cursor) => withCursor(cursor, { maySucceed: true })),
      );
    }
  });
});

describe("a path", () => {
  const withIds = ROUTES.flatMap((route) =>
    [...route.matchAll(/:(\w+)/g)].map(([, parameter]) => [parameter!, route]),
  ).map(([parameter, route], turn) => [parameter!, route!, turn] as const);
  const ODD = [
    ".. . %2e%2e %2F ..%2f..%2f %5C ' %22 %3Cscript%3E * %25 %20 %0d%0a %1b%5b2J %7f %F0%9D%92%B3 %E2%80%AE".split(" "),
    "%C3%A4%CC%88 null undefined __proto__ constructor -1 0 1e9 v0 v1.5 v99999999999".split(" "),
    ["a".repeat(300), "a".repeat(5_000), "%F0%9D%92%B3".repeat(300)],
  ].flat();
  const NOWHERE = /^([A-Z]+_)*NOT_FOUND$|^VALIDATION_ERROR$/;

  it.each(withIds)(
    "with an odd :%s is not found at %s, and with invalid text is refused",
    async (parameter, route, turn) => {
      const { address } = await validRequest(route);
      const place = route.split(" ")[1]!.split("/").indexOf(`:${parameter}`);
      /** The address with another part in place of the parameter. */
      const at = (part: string) => ({ address: address.split("/").with(place, part).join("/"), what: part });
      await expectClear(route, [
        ...rotatingSample(NO_TEXT, 1, turn).map((part) => ({ ...at(part), field: parameter })),
        ...rotatingSample(ODD, 2, turn).map((part) => ({ ...at(part), code: NOWHERE })),
      ]);
    },
  );
});

describe("a body", () => {
  const taking = ROUTES.filter((route) => !/^(GET|DELETE) /.test(route)).map((route, turn) => [route, turn] as const);
  const JSON_CODES = /^(MALFORMED_JSON|VALIDATION_ERROR|PAYLOAD_TOO_LARGE|CONFIG_INVALID)$/;
  const OTHERS = ["[]", "[{}]", "null", "true", "0", "-1.5e3", '"text"', '""'];
  const BROKEN = [" ", '{"a":1} {"a":1}', "\u0000", ..."{ } {] undefined NaN {'a':1} {\"a\":1,} \ufeff".split(" ")];

  /** An object with these members and one more, as text. */
  const textOf = (members: object, name: string, value: string) =>
    `{${[JSON.stringify(members).slice(1, -1), `${JSON.stringify(name)}:${value}`].filter(Boolean).join(",")}}`;

  const UNKNOWN = ["unknown_member", "__proto__", "constructor", "toString", "hasOwnProperty"];
  const nested = (levels: number) => `{"a":`.repeat(levels) + "1" + "}".repeat(levels);
  it.each(taking)(
    "of another type, with an unknown member, too deep or too large is refused by %s",
    async (route, turn) => {
      const members = await bodyOf(route);
      const huge = `{"a":"${"x".repeat(declarations.get(route)!.body!.bytesMax)}"}`;
      await expectClear(route, [
        ...rotatingSample(OTHERS, 1, turn).map((body) => ({ body })),
        ...rotatingSample(BROKEN, 1, turn).map((body) => ({
          body,
          what: JSON.stringify(body),
          code: /^MALFORMED_JSON$/,
        })),
        ...rotatingSample(UNKNOWN, 1, turn).map((name) => ({ body: textOf(members, name, '{"a":1}'), field: name })),
        { body: textOf(members, "", '{"a":1}') },
        ...["unknown_member", ...Object.keys(members)].flatMap((name, place) =>
          rotatingSample([100, 5_000, 20_000, 200_000], 1, turn + place).map((levels) => {
            const what = `${name} of ${levels} levels`;
            return { what, body: textOf(members, name, nested(levels)), code: JSON_CODES };
          }),
        ),
        { what: "huge", body: huge, code: /^PAYLOAD_TOO_LARGE$/ },
      ]);
    },
  );

  const VALUES = [
    ["null", "true", "-1", "1e400", "{}", "[]", "[[]]", '{"__proto__":{"a":1}}', '""'],
    ['"\\u0000"', '"a\\u0000b"', '"\\ud800"', '"\\udc00x"'],
  ].flat();
  const TEXTS = [
    ["\u202e", "\u001b[2J", "a\nb", "'; drop table x; --", "../..", " "],
    ["x".repeat(300), "𝒳".repeat(300), "x".repeat(5_000)],
  ].flat();

  it.each(taking)(
    "with a wrong value or a long text never makes %s fail, which names the member",
    async (route, turn) => {
      const members = await bodyOf(route);
      const cases = Object.entries(members).flatMap(([field, known], place): Case[] => {
        const { [field]: _, ...others } = members;
        const values = rotatingSample(VALUES, 3, turn + place).map((value) => textOf(others, field, value));
        const long = typeof known === "string" ? rotatingSample(TEXTS, 2, turn + place) : [];
        const texts = long.map((text) => JSON.stringify({ ...members, [field]: text }));
        const common = { field, maySucceed: true } as const;
        return [
          ...values.map((body) => ({ ...common, what: body, body, code: JSON_CODES })),
          ...texts.map((body) => ({ ...common, what: body, body, code: ANY_REFUSAL.code })),
        ];
      });
      await expectClear(route, cases);
    },
  );
});
