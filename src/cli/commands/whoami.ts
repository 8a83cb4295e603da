import type { Organization, Whoami } from "../../http/admin/answers.js";
import type { Api } from "../client/api.js";
import { defineCommand } from "../core/command.js";
import { UserError } from "../core/errors.js";
import { fields } from "../output/table.js";
import { organizationsText, organizationsOf } from "../client/pages.js";
import { printable } from "../../words/text.js";

export default defineCommand({
  examples: [["svc whoami", "Who commands act as, and which service they use"]],
  async handler({ api, out, settings }) {
    const { session, organizationFrom } = settings.credentials();
    const [{ user, organization }, organizations] = await whoami(api, organizationFrom);
    const where = settings.apiUrl;
    const others = organizations.filter(({ id }) => id !== organization.id);
    const credentials = session ? { from: "session", expiresAt: session.expiresAt } : { from: "SVC_ACCESS_TOKEN" };
    const ends = session && `until ${out.at(session.expiresAt)} (${out.ago(session.expiresAt)})`;
    out.result({ document: { user, organization, api: { url: where }, credentials, organizations } }, () =>
      fields(out, {
        User: printable(user.email),
        Organization: printable(`${organization.slug} (${organization.id}), as ${organization.role}`),
        API: where,
        "Signed in": ends ?? "by SVC_ACCESS_TOKEN",
        "Also in": others.length === 0 ? undefined : organizationsText(others),
      }),
    );
  },
});

/** What to do about an organization that the user does not belong to. */
const CORRECTIONS = {
  variable: "correct SVC_ORGANIZATION",
  file: 'correct "organization" of .kite/config.json',
  session: "sign in again: `svc auth login`",
} as const;

async function whoami(api: Api, organizationFrom: keyof typeof CORRECTIONS): Promise<[Whoami, Organization[]]> {
  // Concurrently: neither needs the other.
  const [who, organizations] = await Promise.allSettled([
    api.get<Whoami>("/whoami", ["user", "organization"]),
    organizationsOf(api),
  ]);
  if (who.status === "rejected") throw withNames(who.reason, organizations, CORRECTIONS[organizationFrom]);
  if (organizations.status === "rejected") throw organizations.reason;
  return [who.value.data, organizations.value];
}

function withNames(error: unknown, mine: PromiseSettledResult<Organization[]>, correction: string): unknown {
  if (!(error instanceof UserError) || error.code !== "ORGANIZATION_NOT_FOUND" || mine.status === "rejected")
    return error;
  const fix = mine.value.length === 0 ? "you are in none" : `${correction}; yours: ${organizationsText(mine.value)}`;
  return new UserError(error.code, error.message, fix, error.details, error);
}
