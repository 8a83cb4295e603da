/** The client of the ingestion API for Node.js, without dependencies: `import { createClient } from "svc-success-client"`. */
import { Client } from "./client.js";
import type { ClientOptions } from "./options.js";
import type { AnySchema, Schema } from "./types.js";

export { Client };
export type { Stats } from "./client.js";
export { BatchRefusedError, ClientError, InvalidOperationError } from "./errors.js";
export type { Details, Diagnostic } from "./errors.js";
export type { Attempt, ClientOptions } from "./options.js";
export type { AnySchema, BatchResult, EventName, Identify, Operation, Schema, SentOperation, Track } from "./types.js";

/**
 * Creates a client of the service at `options.url`, for the project and environment of `options.apiKey`. One client is enough for a process. With the types
 * that `svc types` writes, `createClient<Schema>(…)`, a misspelt event or property is a compile error.
 *
 * @throws {TypeError} for an unknown or invalid option
 */
export function createClient<S extends Schema = AnySchema>(options: ClientOptions<S>): Client<S>;
/** With options that are not typed by a schema. */
// oxlint-disable-next-line typescript/unified-signatures -- from a union, the compiler would not infer the parameter of onError
export function createClient<S extends Schema = AnySchema>(options: ClientOptions): Client<S>;
export function createClient<S extends Schema>(options: ClientOptions): Client<S> {
  return new Client<S>(options);
}
