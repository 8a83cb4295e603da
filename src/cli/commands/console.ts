import { hasBrowser, openBrowser } from "../client/browser.js";
import { defineCommand } from "../core/command.js";
import { failure } from "../core/errors.js";
import { printable } from "../../words/text.js";

const NOT_SIGNED_IN =
  "This does not sign the browser in. Sign in there, or here first: `svc auth login`. If you have no password yet, ask the service's " +
  "operator for a link: `svc-server users sign-in --email <address>`.";

export default defineCommand({
  options: {
    noBrowser: { type: "flag", describe: "Open no browser: only print the address" },
  },
  examples: [
    ["svc console", "Open the console, signed in as you are here"],
    ["svc console --no-browser", "Print the address instead; it signs in the first person who opens it"],
  ],
  async handler({ api, io, out, settings }, { noBrowser }) {
    const { apiUrl: base, sessions } = settings;
    const session = sessions.of(base);
    const open = async (address: string) => !noBrowser && hasBrowser(io) && (await openBrowser(address));
    if (session === undefined) {
      // SVC_ACCESS_TOKEN, if set, cannot sign a browser in.
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
        : `${printable(link)}\n\nUntil ${out.at(expiresAt)}, the first person who opens it is signed in as ${printable(session.email)}.`,
    );
  },
});
