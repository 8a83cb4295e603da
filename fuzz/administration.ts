/** Requests of every operation in the OpenAPI document except ingestion. */
import fc, { type Arbitrary } from "fast-check";
import type { Documented, Operation } from "./documented.js";
import type { Ground } from "./ground.js";
import { changed, mutated } from "./mutations.js";
import { membersOf, valueOf } from "./schema-values.js";
import { hostileValue } from "./values.js";
import { World } from "./world.js";

/** Fewer than the limit of concurrent requests that some operations have. */
const LANES = 3;
/** Requests of one operation before the next one's turn. */
const IN_TURN = 10;

/** A request whose path names existing resources, except for these parts. */
interface Case {
  parts: Readonly<Record<string, string>>;
  /** Percent-encoded. */
  query: string;
  headers: Record<string, string>;
  body: Buffer | undefined;
}

/** Sends requests of each operation in turn. */
export async function fuzzAdministration(ground: Ground, { requests }: { requests: number }): Promise<void> {
  const { running, sql, documented, part } = ground;
  const operations = documented.operations
    .filter(({ path }) => !path.startsWith("/v1/"))
    .map((operation) => ({ operation, cases: casesOf(documented, operation) }));
  let number = 1;
  let world = await World.create(running, sql, "administration");

  const send = async (operation: Operation, { parts, query, headers, body }: Case): Promise<void> => {
    const { method, isSecured } = operation;
    const names = namesIn(operation.path);
    const filled: Record<string, string> = {};
    for (const name of names) filled[name] = parts[name] ?? encodeURIComponent(await world.id(name));
    const path = operation.path.replace(PARAMETER, (_, name: string) => filled[name]!) + query;
    const attempt = { method, path, headers: { ...(isSecured && world.headers), ...headers }, ...(body && { body }) };
    const { status } = await ground.try(operation, attempt);
    const usesUp = method === "DELETE" || /\/(?:revoke|rotate)$/.test(operation.path);
    if (usesUp && status !== null && status < 300 && names.length > 0) world.forget(names.at(-1)!);
  };

  for (let turn = 0; part.requests < requests; turn++) {
    const { operation, cases } = operations[turn % operations.length]!;
    const made = fc.sample(cases, { seed: part.seed + turn, numRuns: IN_TURN });
    await ground.inLanes(LANES, made, (one) => send(operation, one));
    ground.onProgress(part.requests);
    const whoami = await fetch(`${running.service.url}/whoami`, { headers: world.headers });
    // A request may have revoked the credentials or their permissions.
    if (!whoami.ok) world = await World.create(running, sql, `administration-${(number += 1)}`);
  }
}

const PARAMETER = /\{(\w+)\}/g;
const namesIn = (path: string): string[] => [...path.matchAll(PARAMETER)].map(([, name]) => name!);

const ODD =
  "%00 a%00b %ED%A0%80 %FF %C3 % %4 %zz %2e%2e %2F ..%2f..%2f %5C ' %22 %3Cscript%3E * %25 %20 %0d%0a %1b%5b2J %7f %E2%80%AE null undefined __proto__ constructor -1 0 1e9 v0 v99999999999 %C3%A4%CC%88";
/** Unexpected percent-encoded strings. */
const oddText = fc.oneof(
  fc.constantFrom(...ODD.split(" ")),
  fc.constantFrom("a".repeat(300), "9".repeat(30), "a".repeat(5_000), "%F0%9D%92%B3".repeat(300)),
  fc.string({ unit: "binary", minLength: 1 }).map(encodeURIComponent),
);
const HEADERS: Readonly<Record<string, readonly string[]>> = {
  authorization: ["", "Bearer", "Bearer x", "Bearer svc_test_x", "Basic eDp5", `Bearer ${"x".repeat(5_000)}`],
  "x-svc-organization": ["", "org_0", "x".repeat(300), "org_\u00e9", "__proto__"],
  "x-request-id": ["", " ", "a b", "\u00e9", "x".repeat(300), "{}"],
  "content-type": ["text/plain", "", "application/json; charset=latin1", "application/xml"],
  "content-encoding": ["gzip", "br", "identity"],
  "last-event-id": ["x"],
  accept: ["text/html"],
  "x-filler": ["x".repeat(17_000)],
};

/** Correct requests, and requests with one broken part. */
function casesOf(documented: Documented, { path, parameters, body }: Operation): Arbitrary<Case> {
  const queried = parameters.filter((one) => one.in === "query");
  const read = parameters.filter((one) => one.in === "header" && one.name !== "X-Request-ID");
  const textsOf = (all: typeof queried) => {
    const texts = all.map(({ name, schema }) => [name, valueOf(documented, schema, name).map(encoded)] as const);
    return membersOf(Object.fromEntries(texts), []);
  };
  const document = body === null ? fc.constant(undefined) : valueOf(documented, body.schema);
  const right = fc
    .record({ query: textsOf(queried), headers: textsOf(read), document })
    .map(({ query, headers, document: value }) => ({
      parts: {},
      query: queryOf(Object.entries(query)),
      headers: { ...headers, ...(body && { "content-type": body.type }) },
      document: value,
      body: body === null ? undefined : Buffer.from(body.type.includes("json") ? JSON.stringify(value) : formOf(value)),
    }));
  const names = namesIn(path);
  const pathBroken = () =>
    fc
      .tuple(right, fc.constantFrom(...names), oddText)
      .map(([made, name, text]) => ({ ...made, parts: { [name]: text } }));
  const queryBroken = fc
    .tuple(right, fc.constantFrom(...queried.map(({ name }) => name), "unknown", "env[]"), oddText, fc.boolean())
    .map(([made, name, text, twice]) => ({ ...made, query: queryOf([...(twice ? [[name, "1"]] : []), [name, text]]) }));
  const headersBroken = fc
    .constantFrom(...Object.entries(HEADERS))
    .chain(([name, texts]) =>
      fc
        .tuple(right, fc.constantFrom(...texts))
        .map(([made, text]) => ({ ...made, headers: { ...made.headers, [name]: text } })),
    );
  const bodyBroken = right.chain((made) =>
    changed(made.document, () => hostileValue, 1).map((text) => ({ ...made, body: Buffer.from(text) })),
  );
  const bytesBroken = right.chain((made) =>
    mutated(fc.constant(made.body!)).map((bytes) => ({ ...made, body: bytes })),
  );
  return fc.oneof(
    { weight: 3, arbitrary: right },
    queryBroken,
    headersBroken,
    ...(names.length > 0 ? [pathBroken()] : []),
    ...(body === null ? [] : [bodyBroken, bytesBroken]),
  );
}

const queryOf = (members: readonly (readonly string[])[]): string =>
  members.length === 0 ? "" : `?${members.map((member) => member.join("=")).join("&")}`;
const formOf = (value: unknown): string => new URLSearchParams(value as Record<string, string>).toString();
/** Percent-encodes a value, without lone surrogates. */
const encoded = (value: unknown): string => encodeURIComponent(Buffer.from(String(value)).toString());
