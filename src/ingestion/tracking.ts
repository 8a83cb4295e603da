import type { TrackingModel } from "../model/tracking.js";
import { findBadLiteral, OUT_OF_RANGE } from "./literals.js";
import type { IdentifyRequest, TrackRequest } from "./shape.js";
import { isDeeperThan, operationProblem } from "./shape.js";
import { parseTimestamp, timestampProblem } from "./timestamp.js";

/** Why a call cannot be mapped to an operation. */
export interface TrackingProblem {
  code: string;
  message: string;
  /** Where in the call. */
  path: string;
}

/** A call as an element of a batch for the database: its operation, or an incomplete one with the problem. */
export interface CallElement {
  type: "track" | "identify";
  customerId: string;
  idempotencyKey?: string;
  problem?: TrackingProblem;
}

/** The result of mapping a call. `problem` goes to the quarantine, `refused` cannot be stored there, `ignored` is not about a customer. */
export type Mapped =
  | { kind: "operation"; operation: CallOperation }
  | { kind: "problem"; problem: TrackingProblem; isIdentify: boolean; customerId?: string }
  | { kind: "refused"; problem: TrackingProblem }
  | { kind: "ignored" };

type Call = Readonly<Record<string, unknown>>;

type CallOperation = (TrackRequest & { type: "track" }) | (IdentifyRequest & { idempotencyKey?: string });

/** Calls nested deeper might overflow JSON.stringify. */
const LEVELS_MAX = 1_000;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const textOf = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : Number.isSafeInteger(value) ? String(value) : undefined;

/** Longer names, which could be no event's or property's, are not rewritten: half a mebibyte of them takes a quarter of a second. */
const REWRITTEN_MAX = 1_024;
const SNAKE_CASE = /^[a-z0-9]+(?:_[a-z0-9]+)*$/;

/** `Project Created`, `projectCreated` and `project-created` are `project_created`. */
export function snakeCase(name: string): string {
  if (name.length > REWRITTEN_MAX || SNAKE_CASE.test(name)) return name;
  return name
    .replaceAll(/([\p{Ll}\p{N}])(\p{Lu})/gu, "$1_$2")
    .replaceAll(/[^\p{L}\p{N}]+/gu, "_")
    .replaceAll(/^_+|_+$/g, "")
    .toLowerCase();
}

/**
 * Maps a call of Segment's tracking API to an operation, or reports why that is impossible.
 *
 * @param receivedAt when the call was received, in ms since the epoch; the sender's clock is corrected by it
 */
export function mapCall(model: TrackingModel, call: unknown, receivedAt: number): Mapped {
  const mapped = mapKind(model, call, receivedAt);
  return mapped.kind === "problem" ? { ...mapped, ...customerOfProblem(model, call as Call) } : mapped;
}

/** The customer of a call with a problem, if it has a valid one: the quarantined call is erased with the customer. */
function customerOfProblem(model: TrackingModel, call: Call): { customerId?: string } {
  const customerId = customerOf(model, call);
  if (customerId === undefined) return {};
  return operationProblem({ type: "identify", customerId, traits: {} }, "", true) === null ? { customerId } : {};
}

function mapKind(model: TrackingModel, call: unknown, receivedAt: number): Mapped {
  if (!isObject(call)) return refused("INVALID_CALL", "A call must be a JSON object.", "");
  if (isDeeperThan(call, LEVELS_MAX))
    return refused("INVALID_CALL", `The call is nested deeper than ${LEVELS_MAX} levels.`, "");
  // Values that the database cannot store cannot be quarantined either.
  const reason = unstorable(call);
  if (reason !== null) return refused(UNSTORABLE.code, `${UNSTORABLE.message} ${reason}`, "");
  const { type } = call;
  switch (type) {
    case "track":
    case "page":
    case "screen":
      return mapEvent(model, type, call, receivedAt);
    case "identify":
      // If the group is the customer, traits of one of its users are not traits of the customer.
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

/** The problem of a call that the database cannot store. */
export const UNSTORABLE: TrackingProblem = {
  code: "INVALID_CALL",
  message: "The call has a value that cannot be stored.",
  path: "",
};

/** The members of a call that are used, in addition to its traits and `context.groupId`. */
const USED = [
  ...["type", "userId", "groupId", "event", "name", "properties", "messageId"],
  ...["timestamp", "originalTimestamp", "sentAt"],
];

/** Why the used members cannot be stored; null if they can. */
function unstorable(call: Call): string | null {
  const context = isObject(call["context"]) ? { groupId: call["context"]["groupId"] } : null;
  const used = [...USED.map((name) => call[name]), context, traitsOf(call)];
  return findBadLiteral(JSON.stringify(used))?.reason ?? (hasInfinity(used) ? OUT_OF_RANGE : null);
}

/** JSON.parse turns a number outside the range of a double into Infinity, which JSON.stringify writes as null; that would remove a trait. */
function hasInfinity(value: unknown): boolean {
  if (typeof value === "number") return !Number.isFinite(value);
  return typeof value === "object" && value !== null && Object.values(value).some(hasInfinity);
}

/** The JSON of an element for the database, including the call. In unused members, U+FFFD replaces text that cannot be stored. */
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

/** With the u flag, \p{Surrogate} matches only a surrogate that is not part of a pair. */
const storableText = (text: string): string => text.replaceAll(/[\0\p{Surrogate}]/gu, "\uFFFD");

/** The element of a mapped call for the database; null if the call is ignored or refused. */
export function elementOf(mapped: Mapped, call: unknown): CallElement | null {
  if (mapped.kind === "operation") return mapped.operation;
  if (mapped.kind !== "problem") return null;
  const { problem, isIdentify, customerId = "" } = mapped;
  const sent = textOf((call as Call)["event"]) ?? "";
  // A text that is not a valid name is shortened; the call itself is stored unchanged. The cut may split a surrogate pair.
  const event = storableText(sent.slice(0, 256));
  const empty = isIdentify ? { type: "identify" as const } : { type: "track" as const, event };
  return { ...empty, customerId, problem, ...keyOf(call as Call) };
}

function mapEvent(model: TrackingModel, type: "track" | "page" | "screen", call: Call, receivedAt: number): Mapped {
  const isTrack = type === "track";
  const [member, sent] = isTrack ? ["event", textOf(call["event"])] : ["name", textOf(call["name"])];
  const declared = sent === undefined ? undefined : declaredEvent(model, sent);
  // A page or screen that the model does not declare as an event is ignored.
  if (!isTrack && declared === undefined) return { kind: "ignored" };
  if (sent === undefined) return problem("MISSING_EVENT", "The call has no event name.", member, false);
  const event = declared ?? (snakeCase(sent) || sent);
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

/** The traits of a call. RudderStack's SDKs for Python and Ruby send those of an identify in its context, where other calls have those of the user. */
function traitsOf({ type, traits, context }: Call): unknown {
  if ((traits ?? null) !== null || type !== "identify" || !isObject(context)) return traits ?? {};
  return isObject(context["traits"]) ? context["traits"] : {};
}

function mapTraits(model: TrackingModel, call: Call, id: "userId" | "groupId"): Mapped {
  const customerId = textOf(call[id]);
  // Other ids that the model names are not used here, so the message must not suggest them.
  if (customerId === undefined) return withoutCustomer([id], true);
  const traits = traitsOf(call);
  if (!isObject(traits)) return problem("INVALID_STRUCTURE", "`traits` must be an object.", "traits", true);
  return checked({ type: "identify", customerId, traits: renamed(traits, model.traits), ...keyOf(call) });
}

/** Checks an operation like those of the ingestion API; the key of an identify, which only tracking calls have, is left out of the check. */
function checked(operation: CallOperation): Mapped {
  const isIdentify = operation.type === "identify";
  const { idempotencyKey: _, ...identify } = operation;
  const shape = operationProblem(isIdentify ? identify : operation, "", true);
  if (shape === null) return { kind: "operation", operation };
  const path = shape.field ?? "";
  return problem("INVALID_CALL", [shape.message, shape.reason].filter(Boolean).join(" "), path, isIdentify);
}

function declaredEvent({ events, declared }: TrackingModel, sent: string): string | undefined {
  if (Object.hasOwn(events, sent)) return events[sent];
  return [sent, snakeCase(sent)].find((name) => Object.hasOwn(declared, name));
}

/** The customer's id. A track call has the group in its context; a group call has it as a member. */
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

/** Renames members to declared names that are the same in snake case, unless they are declared themselves; other members keep their names. */
function renamed(sent: Record<string, unknown>, declared: readonly string[] = []): Record<string, unknown> {
  if (declared.length === 0) return sent;
  const { exact, bySnakeCase } = namesOf(declared);
  const members = Object.entries(sent).map(([name, value]) => {
    const match = exact.has(name) ? undefined : bySnakeCase.get(snakeCase(name));
    const isRenamed = match !== undefined && !Object.hasOwn(sent, match);
    return [isRenamed ? match : name, value] as const;
  });
  return Object.fromEntries(members);
}

/** Declared names, and the same by their snake case. */
interface Names {
  exact: ReadonlySet<string>;
  bySnakeCase: ReadonlyMap<string, string>;
}

const knownNames = new WeakMap<readonly string[], Names>();

/** The look-up of declared names; made once per model. */
function namesOf(declared: readonly string[]): Names {
  const known = knownNames.get(declared);
  if (known !== undefined) return known;
  const names = {
    exact: new Set(declared),
    bySnakeCase: new Map(declared.map((name) => [snakeCase(name), name])),
  };
  knownNames.set(declared, names);
  return names;
}

/** `messageId` as idempotency key, if it is valid as one: SDKs create an id for each call and repeat it when they send the call again. */
function keyOf(call: Call): { idempotencyKey?: string } {
  const key = textOf(call["messageId"]);
  return key === undefined || key.length > 256 ? {} : { idempotencyKey: key };
}

/**
 * When the event happened; undefined if the call does not say. If it has `sentAt` too, an error of the sender's clock is corrected:
 * receivedAt − (sentAt − timestamp).
 */
function timestampOf(call: Call, receivedAt: number): string | undefined | TrackingProblem {
  const sent = call["timestamp"] ?? call["originalTimestamp"] ?? undefined;
  if (sent === undefined) return undefined;
  const reason = typeof sent === "string" ? timestampProblem(sent) : "It is not a string.";
  if (reason !== null)
    return { code: "INVALID_TIMESTAMP", message: `The timestamp is not valid. ${reason}`, path: "timestamp" };
  const { sentAt } = call;
  if (typeof sentAt !== "string" || timestampProblem(sentAt) !== null) return sent as string;
  const age = parseTimestamp(sentAt).milliseconds - parseTimestamp(sent as string).milliseconds;
  // An event that happens after it is sent says nothing about the clock.
  if (age < 0) return sent as string;
  const at = receivedAt - age;
  const corrected = Math.abs(at) <= 8.64e15 ? new Date(at).toISOString() : "";
  // Without correction if the result is outside the accepted years.
  return timestampProblem(corrected) === null ? corrected : (sent as string);
}

function problem(code: string, message: string, path: string, isIdentify: boolean): Mapped {
  return { kind: "problem", problem: { code, message, path }, isIdentify };
}

function refused(code: string, message: string, path: string): Mapped {
  return { kind: "refused", problem: { code, message, path } };
}
