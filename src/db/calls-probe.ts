import type { Sql } from "postgres";

/** A migration that the process knows. */
interface Migration {
  filename: string;
  hash: string;
}

/** A check that failed, as the database names it; the message is one public sentence. */
export interface FailedDatabaseCheck {
  name: "database" | "migrations" | "worker";
  message: string;
}

/** SQLSTATEs of functions, tables and schemas that are not there. */
const LACKING = new Set(["42883", "42P01", "3F000"]);

/** What keeps a process that knows these migrations from its work; none where it is ready. Fails where the database is away. */
export async function failedChecks(sql: Sql, migrations: readonly Migration[]): Promise<FailedDatabaseCheck[]> {
  const filenames = migrations.map(({ filename }) => filename);
  const hashes = migrations.map(({ hash }) => hash);
  try {
    const [row] = await sql<[{ checks: FailedDatabaseCheck[] }]>`
      select svc_api.failed_checks(${filenames}, ${hashes}) as checks`;
    return row.checks;
  } catch (error) {
    if (!LACKING.has((error as { code?: string }).code ?? "")) throw error;
    return [{ name: "migrations", message: "The database lacks what this program's migrations make." }];
  }
}
