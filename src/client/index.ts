/** The client of the ingestion API for Node.js: `import { createClient } from "svc-success-client"`. It needs nothing else. */
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
 * A client of the service at `options.url`, for the project and environment of `options.apiKey`. One is enough for a process. With the types that `svc types`
 * writes, `createClient<Schema>(…)`, a misspelt event or property is an error of the compiler.
 *
 * @throws {TypeError} for options that cannot be
 */
export function createClient<S extends Schema = AnySchema>(options: ClientOptions<S>): Client<S>;
/** With options that know no schema. */
// oxlint-disable-next-line typescript/unified-signatures -- of a union the compiler would not infer what onError is told
export function createClient<S extends Schema = AnySchema>(options: ClientOptions): Client<S>;
export function createClient<S extends Schema>(options: ClientOptions): Client<S> {
  return new Client<S>(options);
}
