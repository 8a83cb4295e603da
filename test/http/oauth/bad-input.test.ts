import { describe, expect, it } from "vitest";
import { withoutDatabase } from "../../spec/support/outage.js";
import { capturedLog } from "../../support/captured-log.js";
import { FORM, useOAuthService } from "./fixture.js";

const { log, lines } = capturedLog();
const service = useOAuthService({ log });

const GRANT = "urn:ietf:params:oauth:grant-type:device_code";
/** A well-formed request for each endpoint. */
const ENDPOINTS: [path: string, fields: Record<string, string>][] = [
  ["/oauth/device_authorization", { client_id: "svc-cli" }],
  ["/oauth/token", { client_id: "svc-cli", grant_type: GRANT, device_code: "svc_device_unknown" }],
  ["/oauth/revoke", { client_id: "svc-cli", token: "svc_token_unknown" }],
];

const refused = (status: number, error: string, description: string) => ({
  status,
  body: { error, error_description: description },
});
const invalidRequest = (description: string, status = 400) => refused(status, "invalid_request", description);
const ONCE = "Send each field of the form once, in UTF-8.";
const WRONG_TYPE = invalidRequest(
  `The body must be a form with the header Content-Type: ${FORM}. Send the header Content-Type: ${FORM}, and the body in UTF-8.`,
);

describe.each(ENDPOINTS)("POST %s", (path, fields) => {
  it("ignores unknown parameters, repeated ones included, and is never cached, whether it succeeds or not", async () => {
    const plain = await service.form(path, fields);
    const more = await service.form(path, `${new URLSearchParams(fields).toString()}&scope=a&scope=b&x`);
    expect(more.status).toBe(plain.status);
    for (const { headers } of [plain, await service.form(path, {})])
      expect([headers.get("Cache-Control"), headers.get("Pragma")]).toEqual(["no-store", "no-cache"]);
  });

  it.each(Object.keys(fields))("refuses a parameter that is repeated, missing or empty: %s", async (name) => {
    const twice = await service.form(path, `${new URLSearchParams(fields).toString()}&${name}=again`);
    const why = `It has a field twice. Field: ${name}.`;
    expect(twice).toMatchObject(invalidRequest(`The form is not valid. ${why} ${ONCE}`));
    const { [name]: _, ...rest } = fields;
    for (const sent of [rest, { ...rest, [name]: "" }])
      expect(await service.form(path, sent)).toMatchObject(invalidRequest(`The parameter ${name} is missing.`));
  });

  it("refuses an unknown client", async () => {
    const description = "There is no client with this client_id. The command line is svc-cli.";
    for (const client_id of ["svc", "SVC-CLI", "constructor", "é"])
      expect(await service.form(path, { ...fields, client_id })).toMatchObject(
        refused(400, "invalid_client", description),
      );
  });

  it("refuses the header Authorization", async () => {
    const description =
      "The header Authorization is not accepted here: clients of this service have no secret. Send client_id in the form.";
    for (const Authorization of [`Basic ${Buffer.from("svc-cli:").toString("base64")}`, "Bearer x"]) {
      const reply = await service.form(path, fields, { Authorization });
      expect(reply).toMatchObject(refused(401, "invalid_client", description));
      expect(reply.headers.get("WWW-Authenticate")).toBe('Basic realm="svc"');
    }
  });

  it("refuses a body that is huge, of another type or not percent-encoded UTF-8", async () => {
    const huge = await service.form(path, `client_id=${"x".repeat(1024 * 1024)}`);
    expect(huge).toMatchObject(invalidRequest("The body is too large. At most 8192 bytes are read.", 413));
    for (const type of ["application/json", "multipart/form-data; boundary=x", `${FORM}; charset=latin1`])
      expect(await service.form(path, fields, { "Content-Type": type })).toMatchObject(WRONG_TYPE);
    const refusal = invalidRequest(`The form is not valid. Its fields are not percent-encoded UTF-8. ${ONCE}`);
    for (const body of ["client_id=%ff", "client_id=%", "%C3=1&client_id=svc-cli"])
      expect(await service.form(path, body)).toMatchObject(refusal);
  });

  it("reads its parameters from the body only", async () => {
    const reply = await service.form(`${path}?${new URLSearchParams(fields).toString()}`, "");
    expect(reply).toMatchObject(invalidRequest("The parameter client_id is missing."));
  });
});

it("names the supported grant when another is requested, before it checks other parameters", async () => {
  const reply = await service.form("/oauth/token", { client_id: "svc-cli", grant_type: "password", username: "u" });
  const description = `The only grant_type of this service is ${GRANT}.`;
  expect(reply).toMatchObject(refused(400, "unsupported_grant_type", description));
});

it("writes descriptions in the characters that OAuth allows", async () => {
  const replies = await Promise.all(ENDPOINTS.map(([path]) => service.form(path, "a=%", { "Content-Type": FORM })));
  for (const { body } of replies) {
    expect((body as { error_description: string }).error_description).toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
  }
});

describe("every endpoint refuses without disclosing internals, without", () => {
  async function expectRefused(expected: object, msg: string): Promise<void> {
    lines.length = 0;
    for (const [path, fields] of ENDPOINTS) {
      const reply = await service.form(path, fields, { "X-Request-ID": path });
      expect(reply).toMatchObject(expected);
      expect(reply.headers.get("Retry-After")).toBe("1");
      const logged = expect.objectContaining({ method: "POST", route: path, msg }) as object;
      expect(lines.filter(({ requestId }) => requestId === path)).toEqual([logged]);
    }
  }

  it("the database", () => {
    const message = "The service is not available for the moment. Send the same request again.";
    const msg = "the request failed: something that it needs is unavailable or overloaded";
    return withoutDatabase(service.db, () => expectRefused(refused(503, "temporarily_unavailable", message), msg));
  });

  it("its part of the database", async () => {
    await service.db.sql`drop schema svc_api cascade`;
    const message = "The service failed on this request. Send it again, and report the request ID if it keeps failing.";
    await expectRefused(refused(500, "server_error", message), "the request failed");
  });
});
