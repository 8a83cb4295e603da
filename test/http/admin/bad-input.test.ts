import type { TSchema } from "typebox";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Declaration } from "../../../src/http/openapi/administrative.js";
import { sendRaw, type RawReply } from "./support/raw-request.js";
import { declarationsOf, REQUESTS, startWorld, type World } from "./support/world.js";
import { cursorOf, listOf } from "./support/cursors.js";

// Whatever is sent to a route of the administrative API: a refusal in the envelope that names the field at fault, and never a failure.

const ROUTES = Object.keys(REQUESTS);

let world: World;
const declarations = new Map<string, Declaration>();
beforeAll(async () => {
  world = await startWorld();
  for (const declaration of declarationsOf(world))
    declarations.set(`${declaration.method} ${declaration.path}`, declaration);
});
afterAll(() => world.stop());

interface Good {
  address: string;
  query: string;
  body: unknown;
}

/** Requests that were not answered yet by doing something, so that the next one need not be made ready again. */
const unused = new Map<string, Good>();

/** A good request of a route, taken apart. */
async function good(route: string): Promise<Good> {
  const kept = unused.get(route);
  if (kept !== undefined) return kept;
  const { path, body } = await REQUESTS[route]!(world, "test");
  const [address = "", query = ""] = path.split("?");
  const made = { address, query, body };
  unused.set(route, made);
  return made;
}

interface Changes {
  address?: string;
  query?: string;
  /** Text that is sent as it is. */
  body?: string;
}

/** The good request of a route with changes. */
async function send(route: string, changes: Changes): Promise<RawReply> {
  const { address, query, body } = await good(route);
  const [method = ""] = route.split(" ");
  const target = `${changes.address ?? address}?${changes.query ?? query}`;
  const text = changes.body ?? (body === undefined ? undefined : JSON.stringify(body));
  const reply = await sendRaw(world.service.url, method, target, { by: world.owner, body: text });
  if (reply.status < 300) unused.delete(route);
  return reply;
}

/** What is wrong with a reply that must be a refusal; null for a clear one. `field`: the one that has to be named. */
function fault(
  { status, body }: RawReply,
  { code, field }: { code?: RegExp; field?: string | undefined },
): string | null {
  const shown = `${status} ${JSON.stringify(body).slice(0, 300)}`;
  const { error } = body;
  if (status < 400 || status > 499 || error === undefined) return shown;
  const clear = error.message.length > 10 && error.requestId === "req";
  if (!clear || !(code ?? /^VALIDATION_ERROR$/).test(error.code)) return shown;
  return field !== undefined && error.field !== field ? `field ${error.field} in ${shown}` : null;
}

/** Sends all and fails with every request that was not refused as it should be. */
async function expectRefused(
  route: string,
  cases: readonly { what: string; changes: Changes; field?: string | undefined; code?: RegExp }[],
): Promise<void> {
  const faults: string[] = [];
  for (const { what, changes, ...expected } of cases) {
    const found = fault(await send(route, changes), expected);
    if (found !== null) faults.push(`${what}: ${found}`);
  }
  expect(faults).toEqual([]);
}

const NO_TEXT = ["%00", "a%00b", "%ED%A0%80", "%ED%BF%BF", "%FF", "%C3", "%", "%4", "%zz"];

const named = ROUTES.map((route) => [route] as const);

describe("a query", () => {
  it.each(named)("with a member that nobody knows is refused by %s", async (route) => {
    const { query } = await good(route);
    const names = ["unknown", "__proto__", "constructor", "toString", "ENV", "env[]", "limit.x", "%F0%9D%92%B3"];
    await expectRefused(
      route,
      names.map((name) => ({ what: name, changes: { query: `${query}&${name}=1` }, field: decodeURIComponent(name) })),
    );
    await expectRefused(
      route,
      NO_TEXT.map((name) => ({ what: name, changes: { query: `${query}&${name}=1` } })),
    );
  });

  it.each(named)("with a member twice is refused by %s", async (route) => {
    const members = Object.keys(declarations.get(route)!.query?.properties ?? {});
    await expectRefused(
      route,
      members.map((name) => ({ what: name, changes: { query: `${name}=1&${name}=1` }, field: name })),
    );
  });

  /** Values, percent-encoded, that a member's schema does not allow. */
  function wrongValues(schema: TSchema): string[] {
    const {
      type,
      enum: choices,
      const: only,
      minimum,
      maximum,
      minLength,
      maxLength,
    } = schema as {
      type?: string;
      enum?: string[];
      const?: string;
      minimum?: number;
      maximum?: number;
      minLength?: number;
      maxLength?: number;
    };
    if (type === "integer") {
      const beyond = [minimum === undefined ? [] : [minimum - 1], maximum === undefined ? [] : [maximum + 1]].flat();
      return [
        "",
        "x",
        "1.5",
        "1e1",
        "0x10",
        "+1",
        "1+",
        "99999999999999999999",
        "%D9%A3",
        "null",
        ...beyond.map(String),
      ];
    }
    if (choices !== undefined || only !== undefined)
      return ["", "nonsense", "TEST", "test+", "%74est,live", "null", "0"];
    return [minLength === undefined ? [] : [""], maxLength === undefined ? [] : ["a".repeat(maxLength + 1)]].flat();
  }

  it.each(named)("with a wrong value is refused by %s", async (route) => {
    const members = Object.entries(declarations.get(route)!.query?.properties ?? {});
    await expectRefused(
      route,
      members.flatMap(([name, schema]) =>
        [...wrongValues(schema), ...NO_TEXT].map((value) => ({
          what: `${name}=${value.slice(0, 40)}`,
          changes: { query: `${name}=${value}` },
          field: name,
        })),
      ),
    );
  });

  it.each(named)("with an odd value is never a failure of %s", async (route) => {
    const odd = [
      "'",
      "%22",
      "%5C",
      "%25",
      "%0A",
      "%E2%80%AE",
      "..",
      "%2F",
      "a".repeat(300),
      "v0",
      "v99999999999",
      "-1d",
      "9".repeat(30),
      "1e999d",
    ];
    const members = Object.keys(declarations.get(route)!.query?.properties ?? {});
    const faults: string[] = [];
    for (const name of members) {
      for (const value of odd) {
        const reply = await send(route, { query: `${name}=${value}` });
        const found =
          reply.status < 300
            ? null
            : fault(reply, { code: /^[A-Z_]+$/, field: reply.status === 400 ? name : undefined });
        if (found !== null) faults.push(`${name}=${value}: ${found}`);
      }
    }
    expect(faults).toEqual([]);
  });
});

describe("a cursor", () => {
  const lists = ROUTES.filter((route) => route.startsWith("GET "));
  const unsealed = (...parts: unknown[]) => Buffer.from(JSON.stringify(parts)).toString("base64url");

  /** What the cursors of a list begin with; null where the list has too little for one. */
  async function cursors(): Promise<Map<string, string>> {
    const found = new Map<string, string>();
    for (const route of lists) {
      if (!Object.hasOwn(declarations.get(route)!.query?.properties ?? {}, "cursor")) continue;
      const { query } = await good(route);
      const { nextCursor } = (await send(route, { query: `${query}&limit=1` })).body as { nextCursor?: string | null };
      if (typeof nextCursor === "string") found.set(route, nextCursor);
    }
    return found;
  }

  it("that is forged or another list's is refused by every list", async () => {
    const real = await cursors();
    expect(real.size).toBeGreaterThan(2);
    const faults: string[] = [];
    for (const route of lists) {
      if (!Object.hasOwn(declarations.get(route)!.query?.properties ?? {}, "cursor")) continue;
      const { query } = await good(route);
      const mine = real.get(route);
      const name = mine === undefined ? undefined : await listOf(world.service.db.sql, mine);
      const foreign = [...real].filter(([other]) => other !== route).map(([, cursor]) => cursor);
      const forged = [
        ["nonsense", "AAAA", "====", "W10", "-_-_", "e30", "bnVsbA"],
        foreign,
        [unsealed(), unsealed("unknown", "x"), unsealed(null, "x"), unsealed(name), unsealed(name, "1")],
        await cursorOf(world.service.db.sql, "unknown", "x"),
      ].flat();
      for (const cursor of forged) {
        const found = fault(await send(route, { query: `${query}&cursor=${cursor}` }), { field: "cursor" });
        if (found !== null) faults.push(`${route} cursor=${cursor}: ${found}`);
      }
      // Positions that the list may take for one of its own, or not.
      const positions = [
        "",
        "x",
        "0",
        "-1",
        "1.5",
        "NaN",
        "9".repeat(30),
        "[]",
        "{}",
        "[1]",
        '["a","b","c"]',
        "[1,2,3,4]",
        "a".repeat(5000),
      ];
      for (const position of name === undefined ? [] : positions) {
        const reply = await send(route, {
          query: `${query}&cursor=${await cursorOf(world.service.db.sql, name!, position)}`,
        });
        const found = reply.status === 200 ? null : fault(reply, { field: "cursor" });
        if (found !== null) faults.push(`${route} cursor of ${JSON.stringify(position).slice(0, 40)}: ${found}`);
      }
    }
    expect(faults).toEqual([]);
  });
});

describe("a path", () => {
  const withIds = ROUTES.flatMap((route) =>
    [...route.matchAll(/:(\w+)/g)].map(([, parameter]) => [parameter!, route] as const),
  );
  const ODD = [
    "..",
    ".",
    "%2e%2e",
    "%2F",
    "..%2f..%2f",
    "%5C",
    "'",
    "%22",
    "%3Cscript%3E",
    "*",
    "%25",
    "%20",
    "%0d%0a",
    "%1b%5b2J",
    "%7f",
    "%F0%9D%92%B3",
    "%E2%80%AE",
    "%C3%A4%CC%88",
    "null",
    "undefined",
    "__proto__",
    "constructor",
    "-1",
    "0",
    "1e9",
    "v0",
    "v1.5",
    "v99999999999",
    "a".repeat(300),
    "a".repeat(5_000),
    "%F0%9D%92%B3".repeat(300),
  ];

  /** The address of a route with another part in the place of a parameter. */
  async function address(route: string, parameter: string, part: string): Promise<string> {
    const parts = (await good(route)).address.split("/");
    parts[route.split(" ")[1]!.split("/").indexOf(`:${parameter}`)] = part;
    return parts.join("/");
  }

  it.each(withIds)("with a :%s that is no text is refused by %s", async (parameter, route) => {
    const cases = NO_TEXT.map(async (part) => ({
      what: part,
      changes: { address: await address(route, parameter, part) },
      field: parameter,
    }));
    await expectRefused(route, await Promise.all(cases));
  });

  it.each(withIds)("with an odd :%s leads nowhere at %s", async (parameter, route) => {
    const cases = ODD.map(async (part) => ({
      what: part.slice(0, 40),
      changes: { address: await address(route, parameter, part) },
      code: /^([A-Z]+_)*NOT_FOUND$|^VALIDATION_ERROR$/,
    }));
    await expectRefused(route, await Promise.all(cases));
  });
});

describe("a body", () => {
  const taking = ROUTES.filter((route) => !/^(GET|DELETE) /.test(route)).map((route) => [route] as const);
  const JSON_CODES = /^(MALFORMED_JSON|VALIDATION_ERROR|PAYLOAD_TOO_LARGE|CONFIG_INVALID)$/;

  it.each(taking)("of another kind is refused by %s", async (route) => {
    const others = ["[]", "[{}]", "null", "true", "0", "-1.5e3", '"text"', '""'];
    await expectRefused(
      route,
      others.map((body) => ({ what: body, changes: { body } })),
    );
    const broken = [
      " ",
      "{",
      "}",
      "{]",
      "undefined",
      "NaN",
      "{'a':1}",
      '{"a":1,}',
      "\ufeff",
      '{"a":1} {"a":1}',
      "\u0000",
    ];
    await expectRefused(
      route,
      broken.map((body) => ({ what: JSON.stringify(body), changes: { body }, code: /^MALFORMED_JSON$/ })),
    );
  });

  it.each(taking)("with a member that nobody knows is refused by %s", async (route) => {
    const members = JSON.stringify((await good(route)).body).slice(1, -1);
    const names = ["unknown_member", "__proto__", "constructor", "toString", "hasOwnProperty", ""];
    await expectRefused(
      route,
      names.map((name) => ({
        what: name,
        changes: { body: `{${[members, `${JSON.stringify(name)}:{"a":1}`].filter(Boolean).join(",")}}` },
        field: name === "" ? undefined : name,
      })),
    );
  });

  it.each(taking)("that nests deeply or is huge is refused by %s", async (route) => {
    const members = JSON.stringify((await good(route)).body).slice(1, -1);
    const nested = (levels: number) => `{"a":`.repeat(levels) + "1" + "}".repeat(levels);
    const { bytesMax } = declarations.get(route)!.body!;
    const names = ["unknown_member", ...Object.keys((await good(route)).body as object)];
    await expectRefused(route, [
      ...names.flatMap((name) =>
        [100, 5_000, 20_000, 200_000].map((levels) => ({
          what: `${name} of ${levels} levels`,
          changes: { body: `{${[members, `${JSON.stringify(name)}:${nested(levels)}`].filter(Boolean).join(",")}}` },
          code: JSON_CODES,
        })),
      ),
      { what: "huge", changes: { body: `{"a":"${"x".repeat(bytesMax)}"}` }, code: /^PAYLOAD_TOO_LARGE$/ },
    ]);
  });

  it.each(taking)("with a wrong value is refused by %s, which names it", async (route) => {
    const body = (await good(route)).body as Record<string, unknown>;
    const values = [
      "null",
      "true",
      "-1",
      "1e400",
      "{}",
      "[]",
      "[[]]",
      '{"__proto__":{"a":1}}',
      '"\\u0000"',
      '"a\\u0000b"',
      '"\\ud800"',
      '"\\udc00x"',
      '""',
    ];
    const faults: string[] = [];
    for (const name of Object.keys(body)) {
      for (const value of values) {
        const others = Object.entries(body).filter(([other]) => other !== name);
        const text = `{${[...others.map(([other, known]) => `${JSON.stringify(other)}:${JSON.stringify(known)}`), `${JSON.stringify(name)}:${value}`].join(",")}}`;
        const reply = await send(route, { body: text });
        const isAtFault = reply.status === 400;
        const field = reply.body.error?.field;
        const found = reply.status < 300 ? null : fault(reply, { code: JSON_CODES });
        if (found !== null) faults.push(`${name}: ${value}: ${found}`);
        else if (isAtFault && field?.startsWith(name) !== true) faults.push(`${name}: ${value}: field ${field}`);
      }
    }
    expect(faults).toEqual([]);
  });

  it.each(taking)("with long texts is never a failure of %s", async (route) => {
    const body = (await good(route)).body as Record<string, unknown>;
    const faults: string[] = [];
    for (const [name, known] of Object.entries(body)) {
      if (typeof known !== "string") continue;
      for (const value of [
        "x".repeat(300),
        "𝒳".repeat(300),
        "x".repeat(5_000),
        "\u202e",
        "\u001b[2J",
        "a\nb",
        "'; drop table x; --",
        "../..",
        " ",
      ]) {
        const reply = await send(route, { body: JSON.stringify({ ...body, [name]: value }) });
        const found =
          reply.status < 300
            ? null
            : fault(reply, { code: /^[A-Z_]+$/, field: reply.status === 400 ? name : undefined });
        if (found !== null) faults.push(`${name}: ${JSON.stringify(value).slice(0, 40)}: ${found}`);
      }
    }
    expect(faults).toEqual([]);
  });

  it.each(taking)("with a member twice counts by its last value at %s", async (route) => {
    const members = JSON.stringify((await good(route)).body).slice(1, -1);
    const names = Object.keys((await good(route)).body as object);
    const answers: number[] = [];
    for (const name of names)
      answers.push((await send(route, { body: `{${JSON.stringify(name)}:[[1]],${members}}` })).status);
    expect(answers.filter((status) => status >= 500)).toEqual([]);
    expect(answers.filter((status) => status === 400)).toEqual([]);
  });
});
