/** The events and traits that a model declares. The `Schema` that `svc types` writes has this form. */
export interface Schema {
  /** The properties of each event, by its name. */
  events: object;
  traits: object;
}

/** Any event with any properties, and any traits: the schema of a client that was given none. */
export interface AnySchema {
  events: Record<string, object>;
  traits: object;
}

export type EventName<S extends Schema> = keyof S["events"] & string;

/** Properties that this is assignable to can be omitted: none of them is required. */
// oxlint-disable-next-line typescript/no-empty-object-type -- the empty object is meant
type Empty = {};

/** An event of a customer. The members have the names of the API. */
export type Track<S extends Schema = AnySchema, Name extends EventName<S> = EventName<S>> = {
  [N in Name]: {
    type?: "track" | undefined;
    /** The customer's id in your system: 1 to 256 characters. */
    customerId: string;
    event: N;
    /** When it happened: a `Date`, or ISO 8601 with a timezone. The default is now, or with an idempotency key of yours the time of arrival at the service. */
    timestamp?: string | Date | undefined;
    /** Identifies the event in your system: 1 to 256 characters. The default is a random UUID. */
    idempotencyKey?: string | undefined;
  } & (Empty extends S["events"][N] ? { properties?: S["events"][N] | undefined } : { properties: S["events"][N] });
}[Name];

/** Traits of a customer. They are merged into the existing ones; null removes one. */
export interface Identify<S extends Schema = AnySchema> {
  type?: "identify" | undefined;
  /** The customer's id in your system: 1 to 256 characters. */
  customerId: string;
  traits: S["traits"];
}

/** An operation of a batch. An identify operation must have its `type`; a track operation need not. */
export type Operation<S extends Schema = AnySchema> = Track<S> | (Identify<S> & { type: "identify" });

/** An operation as it is sent, with the key and timestamp that the client added. If you send it again unchanged, it is not counted twice. */
export type SentOperation<S extends Schema = AnySchema> =
  | (Track<S> & { type: "track"; properties?: Record<string, unknown>; timestamp?: string; idempotencyKey: string })
  | (Identify<S> & { type: "identify"; traits: Record<string, unknown> });

/** The result of a batch whose operations were all accepted. */
export interface BatchResult {
  accepted: number;
  /** The ids of the track operations' events, in their order. */
  eventIds: string[];
}
