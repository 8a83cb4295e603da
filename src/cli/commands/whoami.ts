import { defineCommand } from "../command.js";
import { fields } from "../fields.js";
import { printable } from "../text.js";

export interface Whoami {
  user: { email: string };
  organization: { id: string; slug: string; role: string };
}

export default defineCommand({
  path: "whoami",
  alias: "auth status",
  describe: "Show the user, the organization and the API",
  examples: [["svc whoami", "In whose name, and where to, commands go"]],
  async handler({ api, out, settings }) {
    const { data } = await api.get<Whoami>("/whoami", ["user", "organization"]);
    const { user, organization } = data;
    const where = settings.apiUrl;
    out.result({ document: { ...data, api: { url: where } } }, () =>
      fields(out, [
        ["User", printable(user.email)],
        ["Organization", printable(`${organization.slug} (${organization.id}), as ${organization.role}`)],
        ["API", where],
      ]),
    );
  },
});
