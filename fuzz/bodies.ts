/** Random bodies for ingestion. */
import { gzipSync } from "node:zlib";
import fc, { type Arbitrary } from "fast-check";
import { mutated } from "./mutations.js";
import { hostileInstant, hostileValue, soundInstant, soundName, soundObject } from "./values.js";

export interface Body {
  path: "/v1/events" | "/v1/events/batch";
  headers: Record<string, string>;
  /** The bytes sent. */
  bytes: Buffer;
  /** The body before compression. */
  text: Buffer;
  /** Whether it must be accepted. */
  isSound: boolean;
}

/** Inserted before a member of the same name, which overrides it. */
const HIDDEN: Readonly<Record<string, string>> = { event: '"event":1', customerId: '"customer\\u0049d":null' };

/** An object with these members in any order; optional ones may be missing, and one may have another value before. */
function objectOf(members: Record<string, Arbitrary<string>>, optional: readonly string[] = []): Arbitrary<string> {
  const requiredKeys = Object.keys(members).filter((name) => !optional.includes(name));
  return fc
    .tuple(fc.record(members, { requiredKeys }), fc.nat(), fc.constantFrom("", "", "", ...Object.keys(HIDDEN)))
    .map(([texts, turn, hidden]) => {
      const all = Object.entries(texts).map(([name, text]) => `"${name}":${text}`);
      const turned = [...all.slice(turn % all.length), ...all.slice(0, turn % all.length)];
      return `{${[...(Object.hasOwn(texts, hidden) ? [HIDDEN[hidden]!] : []), ...turned].join(",")}}`;
    });
}

const OPTIONAL = ["properties", "timestamp", "idempotencyKey", "type"];
const soundKey = fc.uuid().map((id) => `"${id}"`);
const soundTrack = objectOf(
  {
    customerId: soundName,
    event: soundName,
    properties: soundObject,
    timestamp: soundInstant,
    idempotencyKey: soundKey,
    type: fc.constant('"track"'),
  },
  OPTIONAL,
);
const soundIdentify = objectOf({ type: fc.constant('"identify"'), customerId: soundName, traits: soundObject });

const orHostile = (sound: Arbitrary<string>, hostile = hostileValue) =>
  fc.oneof({ weight: 6, arbitrary: sound }, { weight: 1, arbitrary: hostile });
/** Few keys, so that they are reused, for the same and for other payloads. */
const usedKey = fc.constantFrom('"k1"', '"k2"', '"k\\u0033"', '"k3"');
const hostileOperation = objectOf(
  {
    customerId: orHostile(soundName),
    event: orHostile(soundName),
    properties: orHostile(
      fc.oneof(
        soundObject,
        hostileValue.map((text) => `{"value":${text}}`),
      ),
    ),
    timestamp: orHostile(soundInstant, hostileInstant),
    idempotencyKey: orHostile(fc.oneof(soundKey, usedKey)),
    type: fc.constantFrom('"track"', '"track"', '"identify"', "null", '"Track"'),
    traits: soundObject,
    unknown: hostileValue,
  },
  [...OPTIONAL, "traits", "unknown"],
);
/** Events with the same few keys, so that repetitions with another notation of numbers occur. */
const repeatable = fc
  .tuple(usedKey, fc.constantFrom("1.50", "15e-1", "1.5", "1.51"))
  .map(([key, number]) => `{"customerId":"c1","event":"seen","properties":{"n":${number}},"idempotencyKey":${key}}`);

function textsOf(track: Arbitrary<string>, operation: Arbitrary<string>): Arbitrary<Pick<Body, "path" | "text">> {
  const batch = fc.array(operation, { minLength: 1, maxLength: 8 }).map((all) => `{"events":[${all.join(",")}]}`);
  const single = track.map((text) => ({ path: "/v1/events" as const, text: Buffer.from(text) }));
  return fc.oneof(
    single,
    batch.map((text) => ({ path: "/v1/events/batch" as const, text: Buffer.from(text) })),
  );
}

type Sent = Pick<Body, "headers" | "bytes">;
const JSON_TYPES = [
  "application/json",
  "APPLICATION/JSON",
  "application/json; charset=utf-8",
  'application/json;charset="UTF-8"',
  "application/vnd.x+json",
];
const OTHER_TYPES = [
  "text/plain",
  "application/x-www-form-urlencoded",
  "application/json; charset=latin1",
  "multipart/form-data; boundary=x",
  "application/",
  ";",
  "*/*",
  "application/json, text/plain",
];
const ENCODINGS = ["deflate", "br", "gzip, gzip", "zstd", "identity", "GZIP", "x-gzip", "", "chunked", "none"];
const CREDENTIALS = [
  "",
  "Bearer",
  "Bearer svc_test_x",
  "Bearer svc_live_0000000000000000",
  "Basic eDp5",
  `Bearer svc_test_${"x".repeat(300)}`,
];

/** Ways to send a text that must be accepted. */
const soundly = (text: Buffer): Arbitrary<Sent> =>
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.constantFrom(...JSON_TYPES).map((type) => ({ headers: { "content-type": type }, bytes: text })),
    },
    {
      weight: 1,
      arbitrary: fc.double({ min: 0, max: 1, noNaN: true }).map((share) => {
        // Concatenated gzip streams are one gzip.
        const at = Math.floor(share * text.length);
        const bytes = Buffer.concat([gzipSync(text.subarray(0, at)), gzipSync(text.subarray(at))]);
        return { headers: { "content-encoding": "gzip" }, bytes };
      }),
    },
  );

const hostilely = (text: Buffer): Arbitrary<Sent> => {
  const packed = () => gzipSync(text);
  const gzip = { "content-encoding": "gzip" };
  return fc.oneof(
    fc.constantFrom(...OTHER_TYPES).map((type) => ({ headers: { "content-type": type }, bytes: text })),
    fc.constantFrom(...ENCODINGS).map((encoding) => ({ headers: { "content-encoding": encoding }, bytes: text })),
    fc.constantFrom(...CREDENTIALS).map((authorization) => ({ headers: { authorization }, bytes: text })),
    fc.constant(1).map(() => ({ headers: gzip, bytes: packed().subarray(0, -9) })),
    fc.constant(1).map(() => ({ headers: gzip, bytes: Buffer.concat([packed(), text]) })),
    fc.constant(1).map(() => ({ headers: gzip, bytes: text })),
  );
};

const soundText = textsOf(soundTrack, fc.oneof(soundTrack, soundIdentify));
const hostileText = textsOf(hostileOperation, fc.oneof(soundTrack, soundIdentify, hostileOperation, repeatable));

/** Bodies that must be accepted, bodies that may be refused, and bodies sent in a wrong way. */
export const body: Arbitrary<Body> = fc.oneof(
  { weight: 5, arbitrary: sentAs(soundText, soundly, true) },
  { weight: 4, arbitrary: sentAs(hostileText, soundly, false) },
  { weight: 1, arbitrary: sentAs(soundText, hostilely, false) },
);

function sentAs(
  texts: Arbitrary<Pick<Body, "path" | "text">>,
  how: (text: Buffer) => Arbitrary<Sent>,
  isSound: boolean,
): Arbitrary<Body> {
  return texts.chain((made) => how(made.text).map((sent) => ({ ...made, ...sent, isSound })));
}

/** One of the bodies with a few bytes changed. */
export function mutantOf(bodies: readonly Body[]): Arbitrary<Body> {
  return fc
    .constantFrom(...bodies)
    .chain(({ path, text }) =>
      mutated(fc.constant(text)).map((bytes) => ({ path, headers: {}, bytes, text: bytes, isSound: false })),
    );
}

/** Bodies for a text of the corpus: as a body, as an operation of a batch, as a value, and as a string everywhere. */
export function bodiesOf(given: Buffer): Body[] {
  const string = JSON.stringify(given.toString());
  const around = (head: string, tail: string) => Buffer.concat([Buffer.from(head), given, Buffer.from(tail)]);
  const texts: readonly (readonly [Body["path"], Buffer])[] = [
    ["/v1/events", given],
    ["/v1/events/batch", given],
    ["/v1/events/batch", around('{"events":[', "]}")],
    ["/v1/events", around('{"customerId":"given","event":"seen","properties":{"value":', "}}")],
    ["/v1/events", around('{"customerId":"given","event":"seen","properties":', "}")],
    [
      "/v1/events/batch",
      Buffer.from(
        `{"events":[{"type":"identify","customerId":${string},"traits":{${string}:${string}}},{"customerId":${string},"event":${string},"properties":{${string}:[${string}]}}]}`,
      ),
    ],
  ];
  return texts.map(([path, text]) => ({ path, text, bytes: text, headers: {}, isSound: false }));
}
