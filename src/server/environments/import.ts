import { open } from "node:fs/promises";
import type { ClientBase } from "pg";
import { callOn } from "../../db/api/call.js";
import { isKnownKey, storeRows, type ExportedTable, type ImportBegun } from "../../db/api/moving.js";
import { codeOf, isDataFault } from "../../db/sqlstate.js";
import { openSecret, SealedSecretError, sealingKey } from "../../webhooks/secret.js";
import { OperatorError } from "../start-failure.js";
import { checkFile, RowReader, type FileHeader } from "./file.js";
import { inClientTransaction } from "./transaction.js";

export interface Imported {
  header: FileHeader;
  rows: Record<string, number>;
  /** It had been imported from this file before, and nothing was done. */
  wasThere: boolean;
}

/**
 * Makes an environment of what is in the file of an export: in one transaction, once the file was read to its end and is whole. Where it was
 * imported from it before, nothing is done.
 *
 * @param secret what the signing secrets of webhooks must have been encrypted with
 * @throws {OperatorError} where the file, the database or what is in it does not allow it
 */
export async function importEnvironment(
  url: string,
  input: string,
  { organization, project }: { organization: string; project: string },
  secret: string,
): Promise<Imported> {
  const file = await open(input, "r").catch((error: unknown) => {
    throw new OperatorError(`${input} cannot be read (${codeOf(error)}); name a file that an export has written`, {
      cause: error,
    });
  });
  try {
    if (!(await file.stat()).isFile())
      throw new OperatorError(`${input} is no file; name one that an export has written`);
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
            `${input} has ${rows} rows of ${table.name}, and says that they are ${trailer.rows[table.name]}`,
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

/** The server's own analysis comes minutes later, and until then reads go by statistics of before. */
function analyze(url: string, { tables }: FileHeader): Promise<void> {
  return inClientTransaction(url, "", async (client) => {
    await client.query(`analyze ${tables.map(({ name }) => `svc."${name}"`).join(", ")}`);
  });
}

/** What the server refuses of a file that is whole: it was not an export that wrote it so. */
function notStorable(input: string, error: unknown): OperatorError {
  const { message, where } = error as { message: string; where?: string };
  // Without the value that stands behind it.
  const place = /^COPY \w+, line \d+/.exec(where ?? "")?.[0].replace("COPY", "table");
  const said = `${input} holds what cannot be stored${place === undefined ? "" : ` (${place})`}: ${message}`;
  return new OperatorError(`${said}; nothing was imported: export again`, { cause: error });
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
      "an API key of the file is there already, in another environment of this database, which may be a copy of the same: " +
        "a key leads to one environment; import the file into another database",
      { cause: error },
    );
  }
}

/** What cannot be opened here would never be signed. A secret that was replaced signs beside the present one only where it can be opened. */
async function checkSecrets(client: ClientBase, { environmentId }: ImportBegun, secret: string): Promise<void> {
  const key = sealingKey(secret);
  for (const { webhookId, secret: sealed } of await callOn(client, "operator_sealed_secrets", environmentId)) {
    try {
      openSecret(Buffer.from(sealed, "base64"), key);
    } catch (error) {
      if (!(error instanceof SealedSecretError)) throw error;
      throw new OperatorError(
        `the signing secret of the webhook ${webhookId} cannot be read here; set SVC_SECRET to that of the service that it was exported from`,
        { cause: error },
      );
    }
  }
}
