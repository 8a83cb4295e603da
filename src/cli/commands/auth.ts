import { printable } from "../../words/text.js";
import { defineCommand } from "../core/command.js";
import { failure } from "../core/errors.js";

export default {
  login: defineCommand({
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
      const { signIn } = await import("../client/sign-in.js");
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
  }),

  logout: defineCommand({
    options: {
      force: { type: "flag", describe: "Remove the session here even if the service cannot end it at the moment" },
    },
    examples: [["svc auth logout", "End the session, here and on the service"]],
    async handler({ api, io, out, settings }, { force }) {
      const { apiUrl: base, sessions } = settings;
      const session = sessions.of(base);
      if (settings.hasTokenVariable) out.note("SVC_ACCESS_TOKEN is set, which this does not touch: unset it yourself.");
      if (session === undefined) {
        const document = { api: { url: base }, session: false, revoked: false };
        out.result({ document }, () => `There is no session at ${base}.`);
        return;
      }
      const [{ OAuthClient }, { isTemporaryFailure, oauthFailure }] = await Promise.all([
        import("../client/oauth.js"),
        import("../client/sign-in.js"),
      ]);
      const until = out.at(session.expiresAt);
      const hasEnded = Date.parse(session.expiresAt) <= io.now();
      const revoked = new OAuthClient(base, api.requestId).revoke(session.accessToken);
      const problem = await revoked.then(
        () => undefined,
        (error: unknown) => {
          // Once the token is removed here, it can no longer be revoked from here.
          if (!isTemporaryFailure(error) || force || hasEnded) return oauthFailure(error);
          const message = `the session could not be ended at ${base} (${oauthFailure(error)}), and is kept: its token stays valid until ${until}`;
          const fix = "try again in a moment, or remove it here anyway: `svc auth logout --force`";
          throw failure("SIGN_OUT_FAILED", message, fix, error);
        },
      );
      await sessions.remove(base);
      out.result({ document: { api: { url: base }, session: true, revoked: problem === undefined } }, () => {
        if (problem === undefined) return `Signed out of ${base}.`;
        if (hasEnded) return `Removed the session at ${base}, which ended on ${until}.`;
        return `Removed the session at ${base}. It could not be revoked there (${problem}): its token stays valid until ${until}.`;
      });
    },
  }),
};
