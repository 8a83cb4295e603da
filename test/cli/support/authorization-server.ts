import { type Canned, cannedServer, json, type Seen } from "./canned-server.js";

export const TOKEN = "svc_token_of_the_test";

/** An OAuth error response. */
export function refused(error: string, headers: Record<string, string> = {}, status = 400): Canned {
  return { ...json({ error, error_description: `It was refused: ${error}.` }, status), headers };
}

export const GRANTED = json({ access_token: TOKEN, token_type: "Bearer", expires_in: 7_776_000 });

export interface Script {
  /** The answer to the request for codes; by default valid codes with a short polling interval. */
  begin?: Canned;
  /** Members that override those of the default codes. */
  codes?: object;
  /** The answers to token requests, in turn; the last one repeats. */
  token?: readonly (Canned | (() => Canned))[];
  revoke?: Canned;
  organizations?: readonly object[];
  /** Overrides the answer to any request. */
  other?: (request: Seen) => Canned | undefined;
}

/** A service with scripted sign-in answers, for those that a correct one never gives or gives too slowly. */
export async function authorizationServer(script: Script = {}): Promise<{ url: string; seen: Seen[] }> {
  const { token = [GRANTED], organizations = [{ id: "org_1", slug: "acme", role: "owner" }] } = script;
  let polls = 0;
  const server: { url: string; seen: Seen[] } = await cannedServer((request) => {
    const other = script.other?.(request);
    if (other !== undefined) return other;
    switch (new URL(request.url, server.url).pathname) {
      case "/oauth/device_authorization":
        return script.begin ?? json({ ...codesOf(server.url), ...script.codes });
      case "/oauth/token": {
        const answer = token[Math.min(polls++, token.length - 1)]!;
        return typeof answer === "function" ? answer() : answer;
      }
      case "/oauth/revoke":
        return script.revoke ?? { status: 200, body: "" };
      case "/organizations":
        return json({ data: organizations, nextCursor: null });
      case "/whoami":
        return json({ user: { email: "ada@acme.example" }, organization: inWhich(request, organizations) });
      default:
        return json({ error: { code: "NOT_FOUND", message: "There is no such path." } }, 404);
    }
  });
  return server;
}

function inWhich({ headers }: Seen, organizations: readonly object[]): object | undefined {
  return organizations.find((one) => "id" in one && one.id === headers["x-svc-organization"]) ?? organizations[0];
}

function codesOf(url: string): object {
  return {
    device_code: "svc_device_of_the_test",
    user_code: "BCDF-GHJK",
    verification_uri: `${url}/device`,
    verification_uri_complete: `${url}/device?user_code=BCDF-GHJK`,
    expires_in: 600,
    interval: 0.01,
  };
}
