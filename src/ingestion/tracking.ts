import type { TrackingModel } from "../model/tracking.js";
import { findBadLiteral, OUT_OF_RANGE } from "./literals.js";
import type { IdentifyRequest, TrackRequest } from "./shape.js";
import { isDeeperThan, operationProblem } from "./shape.js";
import { parseTimestamp, timestampProblem } from "./timestamp.js";

/** Why no operation can be made of a call. */
export interface TrackingProblem {
  code: string;
  message: string;
  /** Where in the call. */
  path: string;
}

/** What the database takes of a call: the operation that it is, or one with the problem why it is none. */
export interface CallElement {
  type: "track" | "identify";
  customerId: string;
  idempotencyKey?: string;
  problem?: TrackingProblem;
}

/** What becomes of a call. `ignored` says nothing of a customer, by the rules of the mapping; `refused` cannot be kept either. */
export type Mapped =
  | { kind: "operation"; operation: CallOperation }
  | { kind: "problem"; problem: TrackingProblem; isIdentify: boolean; customerId?: string }
  | { kind: "refused"; problem: TrackingProblem }
  | { kind: "ignored" };

type Call = Readonly<Record<string, unknown>>;

type CallOperation = (TrackRequest & { type: "track" }) | (IdentifyRequest & { idempotencyKey?: string });

/** Deeper ones cannot be written as JSON with certainty. */
const LEVELS_MAX = 1_000;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const textOf = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : Number.isSafeInteger(value) ? String(value) : undefined;

/** `Project Created`, `projectCreated` and `project-created` are `project_created`. */
export const snakeCase = (name: string): string =>
  name
    .replaceAll(/([\p{Ll}\p{N}])(\p{Lu})/gu, "$1_$2")
    .replaceAll(/[^\p{L}\p{N}]+/gu, "_")
    .replaceAll(/^_+|_+$/g, "")
    .toLowerCase();

/**
 * Makes an operation of a call of Segment's tracking API, or says why there is none.
 *
 * @param receivedAt when it came, in milliseconds: the sender's clock is corrected by it
 */
export function mapCall(model: TrackingModel, call: unknown, receivedAt: number): Mapped {
  const mapped = mapKind(model, call, receivedAt);
  return mapped.kind === "problem" ? { ...mapped, ...whose(model, call as Call) } : mapped;
}

/** Whose call it is, where it says so: with the customer it is erased. */
function whose(model: TrackingModel, call: Call): { customerId?: string } {
  const customerId = customerOf(model, call) ?? "";
  return operationProblem({ type: "identify", customerId, traits: {} }, "", true) === null ? { customerId } : {};
}

function mapKind(model: TrackingModel, call: unknown, receivedAt: number): Mapped {
  if (!isObject(call)) return refused("INVALID_CALL", "A call must be a JSON object.", "");
  if (isDeeperThan(call, LEVELS_MAX))
    return refused("INVALID_CALL", `The call nests deeper than ${LEVELS_MAX} levels.`, "");
  // What the database cannot keep it cannot keep in quarantine either.
  const reason = unstorable(call);
  if (reason !== null) return refused(UNSTORABLE.code, `${UNSTORABLE.message} ${reason}`, "");
  const { type } = call;
  switch (type) {
    case "track":
    case "page":
    case "screen":
      return mapEvent(model, type, call, receivedAt);
    case "identify":
      // Where the group is the customer, what is known of one of its users says nothing of it.
      return model.customer[0] === "userId" ? mapTraits(model, call, "userId") : { kind: "ignored" };
    case "group":
      return model.customer[0] === "groupId" ? mapTraits(model, call, "groupId") : { kind: "ignored" };
    case "alias":
      return refused(
        "ALIAS_NOT_SUPPORTED",
        "Customers cannot be merged: send the final id from the beginning.",
        "type",
      );
    default:
      return problem("UNKNOWN_CALL", "`type` must be track, identify, group, page, screen or alias.", "type", false);
  }
}

/** What is wrong with a call that the database cannot keep. */
export const UNSTORABLE: TrackingProblem = {
  code: "INVALID_CALL",
  message: "The call holds a value that cannot be stored.",
  path: "",
};

/** What is looked at of a call, besides `context.groupId`. */
const READ = [
  ...["type", "userId", "groupId", "event", "name", "properties", "traits", "messageId"],
  ...["timestamp", "originalTimestamp", "sentAt"],
];

/** Why what is looked at cannot be stored; null where it can. */
function unstorable(call: Call): string | null {
  const context = isObject(call["context"]) ? { groupId: call["context"]["groupId"] } : null;
  const read = [...READ.map((name) => call[name]), context];
  return findBadLiteral(JSON.stringify(read))?.reason ?? (hasInfinity(read) ? OUT_OF_RANGE : null);
}

/** What JSON.parse makes of a number beyond the doubles, and JSON.stringify writes as null, which would remove a trait. */
function hasInfinity(value: unknown): boolean {
  if (typeof value === "number") return !Number.isFinite(value);
  return typeof value === "object" && value !== null && Object.values(value).some(hasInfinity);
}

/** The JSON of what goes to the database of a call. What is not looked at holds U+FFFD in place of text that cannot be stored. */
export function elementText(element: CallElement, call: unknown): string {
  const text = JSON.stringify({ ...element, call });
  return findBadLiteral(text) === null ? text : JSON.stringify({ ...element, call: storable(call) });
}

function storable(value: unknown): unknown {
  if (typeof value === "string") return storableText(value);
  if (Array.isArray(value)) return value.map(storable);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [storableText(name), storable(member)]));
}

/** With the u flag, a surrogate is only one that is no part of a pair. */
const storableText = (text: string): string => text.replaceAll(/[\0\p{Surrogate}]/gu, "\uFFFD");

/** What of a mapped call goes to the database; null for one that is ignored or refused. */
export function elementOf(mapped: Mapped, call: unknown): CallElement | null {
  if (mapped.kind === "operation") return mapped.operation;
  if (mapped.kind !== "problem") return null;
  const { problem, isIdentify, customerId = "" } = mapped;
  const named = textOf((call as Call)["event"]) ?? "";
  // What is no name of an event is not kept as one; the call itself is. The cut may go through a pair.
  const event = storableText(named.slice(0, 256));
  const empty = isIdentify ? { type: "identify" as const } : { type: "track" as const, event };
  return { ...empty, customerId, problem, ...keyOf(call as Call) };
}

function mapEvent(model: TrackingModel, type: "track" | "page" | "screen", call: Call, receivedAt: number): Mapped {
  const isTrack = type === "track";
  const [member, sent] = isTrack ? ["event", textOf(call["event"])] : ["name", textOf(call["name"])];
  const known = sent === undefined ? undefined : declaredEvent(model, sent);
  // A page that is no event of the model is none.
  if (!isTrack && known === undefined) return { kind: "ignored" };
  if (sent === undefined) return problem("MISSING_EVENT", "The call names no event.", member, false);
  const event = known ?? (snakeCase(sent) || sent);
  const customerId = customerOf(model, call);
  if (customerId === undefined) return withoutCustomer(model.customer, false);
  const properties = call["properties"] ?? {};
  if (!isObject(properties))
    return problem("INVALID_STRUCTURE", "`properties` must be an object.", "properties", false);
  const timestamp = timestampOf(call, receivedAt);
  if (typeof timestamp === "object") return { kind: "problem", problem: timestamp, isIdentify: false };
  return checked({
    type: "track",
    customerId,
    event,
    properties: renamed(properties, Object.hasOwn(model.declared, event) ? model.declared[event] : []),
    ...(timestamp === undefined ? {} : { timestamp }),
    ...keyOf(call),
  });
}

function mapTraits(model: TrackingModel, call: Call, id: "userId" | "groupId"): Mapped {
  const customerId = textOf(call[id]);
  // Other ids that the model names are not looked at here, so to send one would not help.
  if (customerId === undefined) return withoutCustomer([id], true);
  const traits = call["traits"] ?? {};
  if (!isObject(traits)) return problem("INVALID_STRUCTURE", "`traits` must be an object.", "traits", true);
  return checked({ type: "identify", customerId, traits: renamed(traits, model.traits), ...keyOf(call) });
}

/** Refuses what a backend's own operation would be refused for; a key of an identify, which only these calls have, is none of it. */
function checked(operation: CallOperation): Mapped {
  const isIdentify = operation.type === "identify";
  const { idempotencyKey: _, ...identify } = operation;
  const found = operationProblem(isIdentify ? identify : operation, "", true);
  if (found === null) return { kind: "operation", operation };
  const path = found.field ?? "";
  return problem("INVALID_CALL", [found.message, found.reason].filter(Boolean).join(" "), path, isIdentify);
}

function declaredEvent({ events, declared }: TrackingModel, sent: string): string | undefined {
  if (Object.hasOwn(events, sent)) return events[sent];
  return [sent, snakeCase(sent)].find((name) => Object.hasOwn(declared, name));
}

/** A track is of a group in its context; a call about a group names it itself. */
function customerOf({ customer }: TrackingModel, call: Call): string | undefined {
  const context = isObject(call["context"]) ? call["context"] : {};
  const ids = { userId: call["userId"], groupId: context["groupId"] ?? call["groupId"] };
  return customer.map((id) => textOf(ids[id])).find((id) => id !== undefined);
}

function withoutCustomer(customer: TrackingModel["customer"], isIdentify: boolean): Mapped {
  const path = customer[0] === "groupId" && !isIdentify ? "context.groupId" : customer[0]!;
  return problem(
    "MISSING_CUSTOMER",
    `The call has no ${customer.join(", nor a ")}, which is the customer.`,
    path,
    isIdentify,
  );
}

/** Members by their declared names: as they are called, else the same in snake case; others as they are called. */
function renamed(sent: Record<string, unknown>, declared: readonly string[] = []): Record<string, unknown> {
  const bySnakeCase = snakeCased(declared);
  const members = Object.entries(sent).map(([name, value]) => {
    const other = bySnakeCase.get(snakeCase(name));
    const isOther = other !== undefined && !declared.includes(name) && !Object.hasOwn(sent, other);
    return [isOther ? other : name, value] as const;
  });
  return Object.fromEntries(members);
}

const snakeCasedNames = new WeakMap<readonly string[], ReadonlyMap<string, string>>();

/** Declared names by what they are in snake case: made once for a model, which takes many calls. */
function snakeCased(declared: readonly string[]): ReadonlyMap<string, string> {
  const known = snakeCasedNames.get(declared);
  if (known !== undefined) return known;
  const names = new Map(declared.map((name) => [snakeCase(name), name]));
  snakeCasedNames.set(declared, names);
  return names;
}

/** Where it can be one: SDKs make a key for each call and keep it when they send the call again. */
function keyOf(call: Call): { idempotencyKey?: string } {
  const key = textOf(call["messageId"]);
  return key === undefined || key.length > 256 ? {} : { idempotencyKey: key };
}

/**
 * When it happened. What the sender's clock said is corrected by how wrong that was when it sent: receivedAt − (sentAt − originalTimestamp),
 * where it says both; undefined where it says nothing.
 */
function timestampOf(call: Call, receivedAt: number): string | undefined | TrackingProblem {
  const said = call["timestamp"] ?? call["originalTimestamp"] ?? undefined;
  if (said === undefined) return undefined;
  const reason = typeof said === "string" ? timestampProblem(said) : "It is no text.";
  if (reason !== null)
    return { code: "INVALID_TIMESTAMP", message: `The timestamp is not valid. ${reason}`, path: "timestamp" };
  const { sentAt } = call;
  if (typeof sentAt !== "string" || timestampProblem(sentAt) !== null) return said as string;
  const age = parseTimestamp(sentAt).milliseconds - parseTimestamp(said as string).milliseconds;
  // Nothing is sent before it happens: such an instant says nothing of the clock.
  if (age < 0) return said as string;
  const at = receivedAt - age;
  const corrected = Math.abs(at) <= 8.64e15 ? new Date(at).toISOString() : "";
  // Beyond the years that there are the clock said nothing of use.
  return timestampProblem(corrected) === null ? corrected : (said as string);
}

function problem(code: string, message: string, path: string, isIdentify: boolean): Mapped {
  return { kind: "problem", problem: { code, message, path }, isIdentify };
}

function refused(code: string, message: string, path: string): Mapped {
  return { kind: "refused", problem: { code, message, path } };
}
