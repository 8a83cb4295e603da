import { bootstrap } from "../db/calls-admin.js";
import { connect } from "../db/connect.js";
import { newAccessToken } from "../http/credentials.js";
import { ConfigError, type ServerConfig } from "./config.js";
import { openDatabase } from "./database.js";
import type { Logger } from "./log.js";

export interface BootstrapOptions {
  organization: string;
  email: string;
  json: boolean;
}

/**
 * `svc-server bootstrap`: user, organization with owner, and a new access token. It may run while the service does; run again, it adds
 * a token and changes nothing else.
 */
export async function bootstrapCommand(config: ServerConfig, logger: Logger, options: BootstrapOptions): Promise<void> {
  checkOptions(options);
  const database = await openDatabase(config, logger);
  try {
    const sql = connect(database.url, { max: 1, applicationName: "svc bootstrap" });
    const token = newAccessToken();
    const document = await bootstrap(sql, options.organization, options.email, token.hash).finally(() => sql.end());
    const { organizationId } = JSON.parse(document) as { organizationId: string };
    const credentials = { organizationId, accessToken: token.text };
    process.stdout.write(options.json ? `${JSON.stringify(credentials)}\n` : inWords(credentials));
  } finally {
    await database.release();
  }
}

function checkOptions({ organization, email }: BootstrapOptions): void {
  const problems = [
    ...(/^[a-z0-9][a-z0-9-]{0,62}$/.test(organization)
      ? []
      : [`--organization must be 1 to 63 lower-case letters, digits and hyphens, not \`${organization}\``]),
    ...(/^[^\s@]+@[^\s@]+$/.test(email) ? [] : [`--email must be an address, not \`${email}\``]),
  ];
  if (problems.length > 0) throw new ConfigError(problems);
}

/** For people to read and for a shell to evaluate. */
function inWords({ organizationId, accessToken }: { organizationId: string; accessToken: string }): string {
  return [
    "# The token is shown only now. These variables let svc use it:",
    `export SVC_ORGANIZATION=${organizationId}`,
    `export SVC_ACCESS_TOKEN=${accessToken}`,
    "",
  ].join("\n");
}
