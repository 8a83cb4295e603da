import type { ClientBase } from "pg";
import type { SqlFile } from "./files.js";

/** A database that cannot be migrated as it is; the message says what to do and needs no stack. */
export class MigrateError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "MigrateError";
  }
}

/** Executes a file's statements; a failure names file and line. */
export async function execute(client: ClientBase, file: SqlFile): Promise<void> {
  try {
    await client.query(file.text);
  } catch (error) {
    throw new MigrateError(`${file.name}:${lineOf(file.text, error)}: ${describe(error)}`, { cause: error });
  }
}

/**
 * Executes files in one round trip, of which a start would else have hundreds. In a transaction. A failure names file and line: the server
 * does not always say where in the text it was, so then they are executed one by one.
 */
export async function executeAll(client: ClientBase, files: readonly SqlFile[]): Promise<void> {
  await client.query("savepoint files");
  try {
    await client.query(files.map(({ text }) => `${text}\n;`).join("\n"));
  } catch {
    await client.query("rollback to savepoint files");
    for (const file of files) await execute(client, file);
  }
}

/** The transaction is rolled back where `work` throws. */
export async function inTransaction<T>(client: ClientBase, work: () => Promise<T>): Promise<T> {
  await client.query("begin");
  try {
    const result = await work();
    await client.query("commit");
    return result;
  } catch (error) {
    await client.query("rollback");
    throw error;
  }
}

/** The server's error in one line: message, SQLSTATE, detail. */
export function describe(error: unknown): string {
  const { message, code, detail } = error as { message: string; code?: string; detail?: string };
  return [message, code === undefined ? "" : ` (${code})`, detail === undefined ? "" : `: ${detail}`].join("");
}

function lineOf(text: string, error: unknown): number {
  const position = Number((error as { position?: string }).position ?? 1); // in characters, from 1
  return (
    Array.from(text)
      .slice(0, position - 1)
      .filter((character) => character === "\n").length + 1
  );
}
