import Type from "typebox";
import { pageQuery, sinceFilter } from "../parameters.js";
import { adminRoute } from "../route.js";
import { instant, listOf, orNull } from "../schemas-common.js";

const filter = Type.Optional(Type.String({ minLength: 1, maxLength: 256 }));

const text = orNull(Type.String());
const entry = Type.Object(
  {
    at: instant,
    action: Type.String(),
    actor: Type.String({
      description: "E-mail address of who did it; operator, or svc for what the service does by itself",
    }),
    actorUserId: text,
    tokenId: text,
    requestId: text,
    project: text,
    environment: text,
    target: text,
    details: Type.Object({}, { additionalProperties: true, description: "What more there is to say, by action" }),
  },
  { additionalProperties: false, title: "AuditEntry", description: "A change" },
);

/** What was changed in the organization. */
export const auditLogRoutes = [
  // `action=member.removed`, `actor=ada@example.com`, `since=7d` or a date.
  adminRoute({
    operation: "list_audit_log",
    method: "GET",
    path: "/organization/audit-log",
    summary: "What was changed in the organization, newest first",
    query: Type.Object(
      { ...pageQuery.properties, action: filter, actor: filter, since: filter },
      { additionalProperties: false },
    ),
    answers: { 200: listOf(entry) },
    passes: ({ query }) => [query.action, query.actor, sinceFilter(query.since), query],
  }),
];
