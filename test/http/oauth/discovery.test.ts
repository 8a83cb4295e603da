import { text } from "node:stream/consumers";
import * as oauth from "oauth4webapi";
import { expect, it, onTestFinished } from "vitest";
import { startService } from "../../support/service.js";
import { openRequest } from "../open-request.js";
import { CLIENT, discover, INSECURE, useOAuthService } from "./fixture.js";

const service = useOAuthService();

const metadataOf = (issuer: string) => ({
  issuer,
  device_authorization_endpoint: `${issuer}/oauth/device_authorization`,
  token_endpoint: `${issuer}/oauth/token`,
  token_endpoint_auth_methods_supported: ["none"],
  revocation_endpoint: `${issuer}/oauth/revoke`,
  revocation_endpoint_auth_methods_supported: ["none"],
  grant_types_supported: ["urn:ietf:params:oauth:grant-type:device_code"],
  response_types_supported: [],
});

it("gives an OAuth client all that it needs, under the host name that the client used, because clients compare it", async () => {
  for (const issuer of [service.url, service.url.replace("127.0.0.1", "localhost")]) {
    const server = await discover(issuer);
    expect(server).toEqual(metadataOf(issuer));
    const response = await oauth.deviceAuthorizationRequest(server, CLIENT, oauth.None(), {}, INSECURE);
    const asked = await oauth.processDeviceAuthorizationResponse(server, CLIENT, response);
    expect(asked.verification_uri).toBe(`${issuer}/device`);
  }
});

it.each(["a b", "[", "x:y"])("uses its listening address where the Host header is invalid: %j", async (host) => {
  const address = `${service.url}/.well-known/oauth-authorization-server`;
  const response = await openRequest(address, { headers: { Host: host } });
  expect([response.statusCode, JSON.parse(await text(response))]).toEqual([200, metadataOf(service.url)]);
});

it("uses a configured public address, whatever host name the client used", async () => {
  const configured = await startService({}, { publicUrl: "https://svc.example/products/svc" });
  onTestFinished(() => configured.stop());
  const ask = (below: string) => configured.request("GET", `/.well-known/oauth-authorization-server${below}`);
  // RFC 8414, section 3.1: a proxy can pass on the path that clients request.
  for (const below of ["", "/products/svc"])
    expect((await ask(below)).body).toEqual(metadataOf("https://svc.example/products/svc"));
  expect((await ask("/products")).status).toBe(404);
});
