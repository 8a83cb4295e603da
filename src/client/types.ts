/** What a model declares, by the types that `svc types` writes: `Schema` there is one of these. */
export interface Schema {
  /** The properties of each event, by its name. */
  events: object;
  traits: object;
}

/** Any event with any properties, and any traits: what a client takes that was given no schema. */
export interface AnySchema {
  events: Record<string, object>;
  traits: object;
}

export type EventName<S extends Schema> = keyof S["events"] & string;

/** What may be left out is what this will do for. */
// oxlint-disable-next-line typescript/no-empty-object-type -- it is what is asked for
type Empty = {};

/** Something happened. The names are those of the API. */
export type Track<S extends Schema = AnySchema, Name extends EventName<S> = EventName<S>> = {
  [N in Name]: {
    type?: "track" | undefined;
    /** The customer's id in your system: 1 to 256 characters. */
    customerId: string;
    event: N;
    /** When it happened: ISO 8601 with a timezone, or a date. Now, unless an idempotency key is given without one. */
    timestamp?: string | Date | undefined;
    /** What identifies the event in your system, 1 to 256 characters; a random one unless given. */
    idempotencyKey?: string | undefined;
  } & (Empty extends S["events"][N] ? { properties?: S["events"][N] | undefined } : { properties: S["events"][N] });
}[Name];

/** Something is known. Traits are merged into those that are there; null removes one. */
export interface Identify<S extends Schema = AnySchema> {
  type?: "identify" | undefined;
  /** The customer's id in your system: 1 to 256 characters. */
  customerId: string;
  traits: S["traits"];
}

/** What a batch is made of. An identify operation must say that it is one; a track operation need not. */
export type Operation<S extends Schema = AnySchema> = Track<S> | (Identify<S> & { type: "identify" });

/** An operation as it is sent, with what the client added to it. Sent again as it is, it is not counted twice. */
export type SentOperation<S extends Schema = AnySchema> =
  | (Track<S> & { type: "track"; properties?: Record<string, unknown>; timestamp?: string; idempotencyKey: string })
  | (Identify<S> & { type: "identify"; traits: Record<string, unknown> });

/** What became of a batch that was taken whole. */
export interface BatchResult {
  accepted: number;
  /** Of the track operations, in their order. */
  eventIds: string[];
}
