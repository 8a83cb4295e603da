import { hasBrowser, openBrowser } from "../client/browser.js";
import { defineCommand } from "../core/command.js";
import { failure } from "../core/errors.js";
import { printable } from "../../words/text.js";

const NOT_SIGNED_IN =
  "That signs no browser in. Sign in there, or first here: `svc auth login`. Whoever has no password yet gets a link from the service's " +
  "operator: `svc-server users sign-in --email <address>`.";

export default defineCommand({
  options: {
    noBrowser: { type: "flag", describe: "Open no browser: only print the address" },
  },
  examples: [
    ["svc console", "Open the console, signed in as on this command line"],
    ["svc console --no-browser", "Print the address instead; it signs in whoever opens it, once"],
  ],
  async handler({ api, io, out, settings }, { noBrowser }) {
    const { apiUrl: base, sessions } = settings;
    const session = sessions.of(base);
    const open = async (address: string) => !noBrowser && hasBrowser(io) && (await openBrowser(address));
    if (session === undefined) {
      // A token for programs signs nobody in.
      const link = `${base}/console`;
      const opened = await open(link);
      out.result({ document: { link, expiresAt: null } }, () => (opened ? `Opening ${link}` : link));
      out.note(out.typedIn(NOT_SIGNED_IN));
      return;
    }
    const [{ OAuthClient }, { oauthFailure }] = await Promise.all([
      import("../client/oauth.js"),
      import("../client/sign-in.js"),
    ]);
    const { uri: link, expiresAt } = await new OAuthClient(base, api.requestId)
      .browserLink(session.accessToken)
      .catch((error: unknown) => {
        const message = `the console could not be opened: ${oauthFailure(error)}`;
        throw failure("SIGN_IN_FAILED", message, "sign in again: `svc auth login`", error);
      });
    const opened = await open(link);
    out.result({ document: { link, expiresAt } }, () =>
      opened
        ? `Opening the console as ${printable(session.email)}.`
        : `${printable(link)}\n\nWhoever opens it is signed in as ${printable(session.email)}, once, until ${out.at(expiresAt)}.`,
    );
  },
});
