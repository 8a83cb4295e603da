import { call } from "../db/api/call.js";
import { newAccessToken } from "../http/request/credentials.js";
import { ConfigError, type ServerConfig } from "./config.js";
import { asOperator, credentialsInWords } from "./operator.js";
import type { Logger } from "./log.js";

export interface BootstrapOptions {
  organization: string;
  email: string;
  /** Ends the password of a user who is there already, and all that is signed in as it. */
  resetUser: boolean;
  json: boolean;
}

/**
 * `svc-server bootstrap`: user, organization with owner, and a new access token. It may run while the service does; run again, it adds
 * a token and changes nothing else. A user of that address whose password somebody else may have set is refused.
 */
export async function bootstrapCommand(config: ServerConfig, logger: Logger, options: BootstrapOptions): Promise<void> {
  checkOptions(options);
  const token = newAccessToken();
  const document = await asOperator(config, logger, async (sql) => {
    // First: where it ends in between, nobody opens that user, and it can be run again.
    if (options.resetUser) await call(sql, "operator_reset_user", options.email);
    return call(sql, "bootstrap", options.organization, options.email, token.hash);
  });
  const { organizationId, joined } = JSON.parse(document) as { organizationId: string; joined: string | null };
  if (joined !== null) {
    process.stderr.write(`svc-server: ${options.email} was a user already; its organizations until now: ${joined}\n`);
  }
  const credentials = { organizationId, accessToken: token.text };
  process.stdout.write(options.json ? `${JSON.stringify(credentials)}\n` : credentialsInWords(credentials));
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
