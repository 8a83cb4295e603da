import { type LocalCode, UserError } from "../core/errors.js";
import { printable } from "../output/text.js";
import { type Head, send } from "./transport.js";
import { version } from "../core/version.js";

/** How long the service has to say of which version it is: the failure is known already, and somebody waits for it. */
const VERSION_MS_MAX = 2_000;

/**
 * Adds to an error that an answer was not as expected what there is to learn about it: that it is a web page, or leads elsewhere, or that
 * the service is of another version. Other errors stay as they are.
 */
export async function explained(base: string, response: Head, error: UserError): Promise<UserError> {
  if (error.code !== ("UNEXPECTED_ANSWER" satisfies LocalCode)) return error;
  const message = error.message.replace(/ with no JSON,/, ` with ${insteadOfJson(response)},`);
  const fix = (await fixOf(base, response)) ?? error.fix;
  return new UserError(error.code, message, fix, error.details, error.cause);
}

function insteadOfJson({ status, headers }: Head): string {
  if (status >= 300 && status <= 399) return "a redirect";
  return headers.get("content-type")?.startsWith("text/html") === true ? "a web page" : "no JSON";
}

async function fixOf(base: string, { status, headers }: Head): Promise<string | undefined> {
  const location = headers.get("location");
  if (status >= 300 && status <= 399 && location !== null && URL.canParse(location, base)) {
    const { origin, pathname } = new URL(location, base);
    return `it leads to ${printable(origin + pathname)}: set SVC_API_URL to the service's own address`;
  }
  // While the service restarts, what stands before it answers in its place.
  if (status >= 502) return "try again in a moment, and check that SVC_API_URL is the address of the service";
  const theirs = await versionOf(base);
  if (theirs === undefined) return undefined;
  const ours = version();
  return theirs === ours
    ? `the service and svc are both of version ${ours}: check what stands between them, such as a proxy`
    : `the service is of version ${printable(theirs)}, svc of ${ours}: use the svc that came with the service`;
}

/** Of the service; undefined where nothing says so in time. */
async function versionOf(base: string): Promise<string | undefined> {
  try {
    const signal = AbortSignal.timeout(VERSION_MS_MAX);
    const response = await send(new URL(`${base}/openapi.json`), { method: "GET", headers: {}, signal });
    const { info } = JSON.parse(await response.text()) as { info?: { title?: unknown; version?: unknown } };
    return info?.title === "svc" && typeof info.version === "string" ? info.version : undefined;
  } catch {
    // It is only asked in order to say more about another failure.
    return undefined;
  }
}
