import { open } from "node:fs/promises";
import type { ClientBase } from "pg";
import { callOn } from "../../db/api/call.js";
import { isKnownKey, storeRows, type ExportedTable, type ImportBegun } from "../../db/api/environments.js";
import { codeOf, isDataFault } from "../../db/sqlstate.js";
import { inClientTransaction } from "../operator.js";
import { unreadableSecrets } from "../sealed-secrets.js";
import { OperatorError } from "../start-failure.js";
import { checkFile, RowReader, type FileHeader } from "./file.js";

export interface Imported {
  header: FileHeader;
  rows: Record<string, number>;
  /** The environment was imported from this file before, so nothing was done. */
  wasThere: boolean;
}

/**
 * Creates an environment from an export file, in one transaction, after checking that the file is complete. Does nothing if it was imported
 * from this file before.
 *
 * @param secret the key with which the signing secrets of webhooks must have been encrypted
 * @throws {OperatorError} if the file, the database or its contents do not allow it
 */
export async function importEnvironment(
  url: string,
  input: string,
  { organization, project }: { organization: string; project: string },
  secret: string,
): Promise<Imported> {
  const file = await open(input, "r").catch((error: unknown) => {
    throw new OperatorError(`${input} cannot be read (${codeOf(error)}); name a file written by an export`, {
      cause: error,
    });
  });
  try {
    if (!(await file.stat()).isFile()) throw new OperatorError(`${input} is not a file; name one written by an export`);
    const checked = await checkFile(file, input);
    const { header, trailer } = checked;
    const imported = await inClientTransaction(url, "isolation level read committed", async (client) => {
      const begun = await callOn(client, "operator_begin_import", header, organization, project);
      if (begun.isThere) return { header, rows: trailer.rows, wasThere: true };
      const reader = new RowReader(file, checked);
      for (const table of header.tables) {
        const rows = await copyTable(client, table, begun, reader);
        if (rows !== trailer.rows[table.name]) {
          throw new OperatorError(
            `${input} has ${rows} rows of ${table.name}, but its last line says ${trailer.rows[table.name]}`,
          );
        }
        if (table.name === "config_versions") await callOn(client, "operator_import_versions", begun.projectId);
        if (table.name === "webhooks") await checkSecrets(client, begun, secret);
      }
      await callOn(client, "operator_finish_import", begun.environmentId, header);
      return { header, rows: trailer.rows, wasThere: false };
    }).catch((error: unknown) => {
      throw isDataFault(error) ? notStorable(input, error) : error;
    });
    if (!imported.wasThere) await analyze(url, header);
    return imported;
  } finally {
    await file.close();
  }
}

/** Autovacuum would analyze the tables only minutes later; until then, queries would be planned with old statistics. */
function analyze(url: string, { tables }: FileHeader): Promise<void> {
  return inClientTransaction(url, "", async (client) => {
    await client.query(`analyze ${tables.map(({ name }) => `svc."${name}"`).join(", ")}`);
  });
}

/** The error for a complete file with data that the server refuses, which no export writes. */
function notStorable(input: string, error: unknown): OperatorError {
  const { message, where } = error as { message: string; where?: string };
  // Cut off before the value, which follows.
  const place = /^COPY \w+, line \d+/.exec(where ?? "")?.[0].replace("COPY", "table");
  const problem = `${input} contains data that cannot be stored${place === undefined ? "" : ` (${place})`}: ${message}`;
  return new OperatorError(`${problem}; nothing was imported: export again`, { cause: error });
}

async function copyTable(
  client: ClientBase,
  table: ExportedTable,
  begun: ImportBegun,
  reader: RowReader,
): Promise<number> {
  try {
    return await storeRows(client, table, begun, (prefix) => reader.rows(prefix));
  } catch (error) {
    if (!isKnownKey(error)) throw error;
    throw new OperatorError(
      "an API key of the file already exists in another environment of this database: a copy of the same, which is frozen if a move left it; " +
        "then svc-server environments delete makes room. Otherwise import the file into another database",
      { cause: error },
    );
  }
}

/** Refuses signing secrets that cannot be decrypted here: their webhooks could never be signed. Replaced secrets, which sign only if they can be decrypted, are not checked. */
async function checkSecrets(client: ClientBase, { environmentId }: ImportBegun, secret: string): Promise<void> {
  const [first] = unreadableSecrets(await callOn(client, "operator_sealed_secrets", environmentId), secret);
  if (first === undefined) return;
  throw new OperatorError(
    `the signing secret of the webhook ${first.webhookId} cannot be read here; set SVC_SECRET to that of the service that it was exported from`,
  );
}
