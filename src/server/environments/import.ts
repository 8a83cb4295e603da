import { open } from "node:fs/promises";
import type { ClientBase } from "pg";
import { callOn } from "../../db/api/call.js";
import type { ExportedTable, ImportBegun } from "../../db/api/moving.js";
import { codeOf } from "../../db/sqlstate.js";
import { copyIn } from "../../db/copy.js";
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
    return await inClientTransaction(url, "isolation level read committed", async (client) => {
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
    });
  } finally {
    await file.close();
  }
}

/** The columns are those of the catalog: the database has compared them with the file's. */
async function copyTable(
  client: ClientBase,
  table: ExportedTable,
  begun: ImportBegun,
  reader: RowReader,
): Promise<number> {
  const into = table.belongs === "project" ? "pg_temp.imported_versions" : `svc."${table.name}"`;
  const [owner, id] = {
    environment: ["environment_id", begun.environmentId] as const,
    project: ["project_id", begun.projectId] as const,
    key: [null, 0] as const,
  }[table.belongs];
  const columns = [...(owner === null ? [] : [owner]), ...table.columns.map((column) => `"${column}"`)];
  try {
    const rows = reader.rows(owner === null ? "" : `${id}\t`);
    return await copyIn(client, `copy ${into} (${columns.join(", ")}) from stdin`, rows);
  } catch (error) {
    if ((error as { constraint?: string }).constraint !== "api_keys_pkey") throw error;
    throw new OperatorError(
      "an API key of the file is there already, in another environment of this database: a key leads to one environment; " +
        "revoke it where it came from, export again, and make a new one here",
      { cause: error },
    );
  }
}

/** What cannot be opened here would never be signed. */
async function checkSecrets(client: ClientBase, { environmentId }: ImportBegun, secret: string): Promise<void> {
  const key = sealingKey(secret);
  const { rows } = await client.query<{ id: string; sealed: Buffer; previous: Buffer | null }>(
    `select webhook_id as id, sealed_secret as sealed, previous_sealed_secret as previous
    from svc.webhooks where environment_id = $1 and deleted_at is null`,
    [environmentId],
  );
  for (const { id, sealed, previous } of rows) {
    try {
      openSecret(sealed, key);
      if (previous !== null) openSecret(previous, key);
    } catch (error) {
      if (!(error instanceof SealedSecretError)) throw error;
      throw new OperatorError(
        `the signing secret of the webhook ${id} cannot be read here; set SVC_SECRET to that of the service that it was exported from`,
        { cause: error },
      );
    }
  }
}
