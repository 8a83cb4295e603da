import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { envelope, startService, type Actor, type Service } from "../../../support/service.js";
import { auditOf } from "./support.js";

let service: Service;
const actors: Record<string, Actor> = {};
beforeAll(async () => {
  service = await startService();
  const owner = await service.owner("acme");
  actors["owner"] = owner;
  for (const role of ["administrator", "developer", "viewer"]) actors[role] = await service.member(owner, role);
});
afterAll(() => service.stop());

const ROLES = ["viewer", "developer", "administrator", "owner"];

/** Each with the least role that may do it, and how it is answered to who may: nothing of these ids is there. */
const OPERATIONS: [method: string, path: string, role: string, status: number, body?: object][] = [
  ["GET", "/organizations", "viewer", 200],
  ["GET", "/organization/members", "viewer", 200],
  ["PATCH", "/organization/members/usr_1", "owner", 404, { role: "viewer" }],
  ["DELETE", "/organization/members/usr_1", "owner", 404],
  ["POST", "/organization/members/usr_1/password-reset", "owner", 404, {}],
  ["GET", "/organization/invitations", "owner", 200],
  ["POST", "/organization/invitations", "owner", 201, { email: "ada@example.com", role: "viewer" }],
  ["DELETE", "/organization/invitations/inv_1", "owner", 404],
  ["GET", "/organization/tokens", "owner", 200],
  ["POST", "/organization/tokens", "owner", 201, { label: "CI" }],
  ["DELETE", "/organization/tokens/tok_1", "owner", 404],
  ["GET", "/organization/audit-log", "administrator", 200],
];

describe.each(ROLES)("a %s", (role) => {
  it.each(OPERATIONS)("asks %s %s, which is for %s", async (method, path, required, status, body) => {
    const before = await auditOf(service, actors["owner"]!.organizationId);
    const reply = await service.request(method, path, { by: actors[role]!, ...(body && { body }) });
    if (ROLES.indexOf(role) >= ROLES.indexOf(required)) {
      expect(reply.status).toBe(status);
      return;
    }
    expect([reply.status, reply.body]).toEqual([
      403,
      envelope("FORBIDDEN", `Your role "${role}" may not do this.`, {
        reason: `It needs the role "${required}" or a higher one.`,
        fix: "Ask an owner of the organization for that role, or use the token of somebody who has it.",
      }),
    ]);
    expect(await auditOf(service, actors["owner"]!.organizationId)).toEqual(before);
  });
});

describe("whoever is nobody", () => {
  it.each(OPERATIONS)("is refused by %s %s before its body is read", async (method, path, _role, _status, body) => {
    const by = { ...actors["owner"]!, token: "svc_token_unknown" };
    const reply = await service.request(method, path, { by, ...(body && { body: "{" }) });
    expect([reply.status, reply.body]).toEqual([
      401,
      envelope("INVALID_SESSION", "The access token is missing, unknown, expired or revoked."),
    ]);
  });
});
