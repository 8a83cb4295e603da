import { defineCommand } from "../../core/command.js";
import { printable } from "../../../words/text.js";

export default defineCommand({
  options: {
    organization: {
      type: "text",
      describe: "The organization to work in, by slug or id; asked for if there are several",
    },
    noBrowser: { type: "flag", describe: "Open no browser: only print the address" },
  },
  examples: [
    ["svc auth login", "Sign in with a browser"],
    ["svc auth login --no-browser --organization acme", "Print the address, and work in the organization acme"],
  ],
  async handler(context, { organization, noBrowser }) {
    const { signIn } = await import("../../client/sign-in.js");
    const { out, settings } = context;
    const { email, organization: joined, expiresAt } = await signIn(context, { organization, browser: !noBrowser });
    if (settings.hasTokenVariable) {
      out.note("SVC_ACCESS_TOKEN is set and takes precedence over this session: unset it to work with the session.");
    }
    const api = { url: settings.apiUrl };
    out.result({ document: { user: { email }, organization: joined, api, expiresAt } }, () => {
      const until = `${out.at(expiresAt)} (${out.ago(expiresAt)})`;
      const where = `organization ${printable(joined.slug)} (${printable(joined.id)})`;
      return `Signed in to ${api.url} as ${printable(email)}, ${where}, until ${until}.`;
    });
  },
});
