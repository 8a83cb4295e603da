import { createHash } from "node:crypto";
import { open, rename, rm, stat, type FileHandle } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { to } from "pg-copy-streams";
import type { Sql } from "postgres";
import type { EnvironmentRef } from "../../db/api/access.js";
import { call, callOn } from "../../db/api/call.js";
import type { Frozen } from "../../db/api/environments.js";
import { flushDirectory } from "../../db/embedded/files.js";
import { codeOf } from "../../db/sqlstate.js";
import { version } from "../../http/version.js";
import { inClientTransaction, runAsOperator } from "../operator.js";
import { OperatorError } from "../start-failure.js";
import { countLines, END_OF_ROWS, FORMAT, FORMAT_VERSION, type FileHeader, type FileTrailer } from "./file.js";

/** An environment, identified by names. */
export interface NamedEnvironment extends EnvironmentRef {
  organization: string;
}

export interface Exported {
  header: FileHeader;
  trailer: FileTrailer;
}

const POLL_MS = 200;
/** Waiting time after which a note says what the export waits for. */
const NOTE_AFTER_MS = 5_000;

/**
 * Freezes an environment and writes all its data to a file, which appears only once it is complete. The environment stays frozen even if the
 * export fails: another export may have written a file meanwhile.
 *
 * @param output the file; if it exists, an OperatorError is thrown
 * @param onNote called with a sentence once the environment is frozen, and when the export has to wait
 */
export async function exportEnvironment(
  url: string,
  { organization, ...ref }: NamedEnvironment,
  output: string,
  onNote: (sentence: string) => void,
): Promise<Exported> {
  const target = path.resolve(output);
  const partial = `${target}.${process.pid}.partial`;
  await refuseExisting(target, output);
  const file = await openNew(partial, output);
  try {
    const frozen = await runAsOperator(url, (sql) => call(sql, "operator_freeze_environment", organization, ref));
    onNote("the environment is frozen from now on; if this fails, export again, or unfreeze it");
    await runAsOperator(url, (sql) => awaitChanges(sql, frozen, onNote));
    const exported = await writeAll(url, frozen.environmentId, file, output);
    await file.sync();
    await file.close();
    await refuseExisting(target, output);
    await runAsOperator(url, (sql) => requireFrozenSince(sql, frozen));
    await rename(partial, target);
    await flushDirectory(path.dirname(target));
    return exported;
  } finally {
    await file.close().catch(() => undefined);
    await rm(partial, { force: true });
  }
}

async function refuseExisting(target: string, output: string): Promise<void> {
  const existing = await stat(target).catch(() => null);
  if (existing !== null) throw new OperatorError(`${output} already exists; name another file with --output`);
}

/** Readable only by its owner, because the file contains customer data. */
async function openNew(partial: string, output: string): Promise<FileHandle> {
  try {
    return await open(partial, "wx", 0o600);
  } catch (error) {
    throw unwritable(output, error);
  }
}

function unwritable(output: string, error: unknown): OperatorError {
  return new OperatorError(`${output} cannot be written (${codeOf(error)}); name another file with --output`, {
    cause: error,
  });
}

/** Waits for transactions that may not have seen the freeze, and for the outcomes of deliveries under way. */
async function awaitChanges(sql: Sql, { environmentId }: Frozen, onNote: (sentence: string) => void): Promise<void> {
  const first = await call(sql, "operator_changes_under_way", environmentId);
  const awaited = new Set(first.transactions.map(({ id }) => id));
  const began = performance.now();
  let isNoted = false;
  for (let { transactions, deliveringUntil } = first; ;) {
    const running = transactions.filter(({ id }) => awaited.has(id));
    if (running.length === 0 && deliveringUntil === 0) return;
    if (!isNoted && performance.now() - began > NOTE_AFTER_MS) {
      isNoted = true;
      const pids = running.map(({ pid }) => pid).join(", ");
      onNote(
        running.length > 0
          ? `waiting for transactions that began before the environment was frozen, of the server's processes ${pids}`
          : "waiting for the outcomes of deliveries that are under way",
      );
    }
    await sleep(POLL_MS);
    ({ transactions, deliveringUntil } = await call(sql, "operator_changes_under_way", environmentId));
  }
}

/**
 * Refuses a file of an environment that was in use again after it was frozen, because the file lacks what it has stored since. If it was
 * deleted instead, the file has all that there was, and may be the only copy.
 */
async function requireFrozenSince(sql: Sql, { environmentId, frozenAt }: Frozen): Promise<void> {
  const now = await call(sql, "operator_changes_under_way", environmentId);
  if (now.frozenAt === frozenAt || now.unfrozenAt === null || now.unfrozenAt < frozenAt) return;
  throw new OperatorError(
    "The environment was unfrozen while the file was written, so what it stored since is not in the file. Export it again if it is to be moved.",
  );
}

function writeAll(url: string, environmentId: number, file: FileHandle, output: string): Promise<Exported> {
  return inClientTransaction(url, "isolation level repeatable read read only", async (client) => {
    const begun = await callOn(client, "operator_begin_export", environmentId);
    const header: FileHeader = { format: FORMAT, formatVersion: FORMAT_VERSION, program: version, ...begun.header };
    const hash = createHash("sha256");
    const write = async (chunk: Buffer): Promise<void> => {
      hash.update(chunk);
      await file.appendFile(chunk).catch((error: unknown) => {
        throw unwritable(output, error);
      });
    };
    await write(Buffer.from(`${JSON.stringify(header)}\n`));
    const rows: Record<string, number> = {};
    const copies = [];
    for (const [index, { name }] of header.tables.entries()) {
      const copy = client.query(to(begun.statements[index]!));
      copies.push({ name, copy });
      let count = 0;
      for await (const chunk of copy as AsyncIterable<Buffer>) {
        count += countLines(chunk);
        await write(chunk);
      }
      rows[name] = count;
      await write(Buffer.from(END_OF_ROWS));
    }
    // After another query has returned, `rowCount` of every copy is set.
    await client.query("select");
    for (const { name, copy } of copies) {
      if (copy.rowCount !== rows[name]) {
        throw new Error(`the server sent ${copy.rowCount} rows of ${name}, and ${rows[name]} arrived`);
      }
    }
    const trailer: FileTrailer = { rows, sha256: hash.digest("hex") };
    await file.appendFile(`${JSON.stringify(trailer)}\n`);
    return { header, trailer };
  });
}
