/** Bodies that are short to send, but slow to parse. */
import { gzipSync } from "node:zlib";
import { flood } from "../flood.js";
import type { Attack, Ground } from "./attack.js";
import { inProject } from "./project.js";

const LANES = 2;

interface Body {
  name: string;
  what: string;
  /** Its destination: ingestion, or deployment of a model. */
  to: "events" | "model";
  /** Sent in turn. */
  texts: () => string[];
}

const repeated = (count: number, of: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => of(index)).join(",");
const members = (count: number): string => repeated(count, (index) => `"${index.toString(36)}":0`);

/** A model with a member of this text. */
const model = (member: string, text: string): string =>
  `{"snapshot":{"formatVersion":1,"strictSchema":false,"events":{},"traits":{},"lifecycle":null,"journeys":[],"segments":[],"health":null,"rules":[],"signals":[],"${member}":${text}}}`;

const nested = (depth: number): string =>
  `[{"id":"deep","when":${'{"kind":"not","condition":'.repeat(depth)}{"kind":"inactiveFor","duration":"1d"}${"}".repeat(depth)}}]`;
const broad = (conditions: number): string =>
  `[{"id":"broad","when":{"kind":"any","conditions":[${repeated(conditions, () => '{"kind":"inactiveFor","duration":"1d"}')}]}}]`;

const HOSTILE: readonly Body[] = [
  {
    name: "body-members",
    what: "an object of 3,000,000 members, compressed",
    to: "events",
    texts: () => [`{${members(3_000_000)}}`],
  },
  {
    name: "body-event-members",
    what: "a batch of one event with properties of 3,000,000 members, compressed",
    to: "events",
    texts: () => [`{"events":[{"customerId":"c","event":"seen","properties":{${members(3_000_000)}}}]}`],
  },
  {
    name: "body-numbers",
    what: "88 MB of numbers, compressed",
    to: "events",
    texts: () => [`{"events":[${"1,".repeat(44_000_000)}1]}`],
  },
  {
    name: "body-objects",
    what: "11 MB of {}, compressed",
    to: "events",
    texts: () => [`{"events":[${"{},".repeat(3_700_000)}{}]}`],
  },
  {
    name: "body-values",
    what: "a batch whose one event has an array of 90,000 values",
    to: "events",
    texts: () => [
      `{"events":[{"customerId":"c","event":"seen","properties":{"value":[${repeated(90_000, String)}]}}]}`,
    ],
  },
  {
    name: "snapshots",
    what: "models with 600,000 events, 90,000 values in an enum, 7 MB of unknown members, conditions deep and broad",
    to: "model",
    texts: () => [
      model("events", `{${repeated(600_000, (index) => `"${index.toString(36)}":{}`)}}`),
      model(
        "events",
        `{"e":{"properties":{"p":{"type":"string","enum":[${repeated(90_000, (index) => `"${index.toString(36)}"`)}]}}}}`,
      ),
      model("unknown", `0,${members(800_000)}`),
      model("segments", nested(9_000)),
      model("segments", broad(180_000)),
    ],
  },
];

function attack({ name, what, to, texts }: Body): Attack {
  return {
    name,
    what,
    prepare: async (ground) => {
      const bodies = texts().map((text) => gzipSync(text, { level: 1 }));
      return (signal) =>
        flood({ lanes: LANES, signal }, (index) => send(ground, to, bodies[index % bodies.length]!, signal));
    },
  };
}

function send(ground: Ground, to: Body["to"], body: Buffer, signal: AbortSignal): Promise<unknown> {
  const { sender, key } = ground;
  if (to === "events") return sender.ingest(key, { path: "/v1/events/batch", body, gzip: true }, signal);
  return sender.manage({ method: "POST", path: inProject(ground, "config-versions"), body, gzip: true }, signal);
}

export const BODIES: readonly Attack[] = HOSTILE.map(attack);
