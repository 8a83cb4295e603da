import { listAuditLog } from "./audit-log.js";
import { createInvitation, listInvitations, revokeInvitation } from "./invitations.js";
import { listMembers, removeMember, updateMember } from "./members.js";
import { listOrganizations } from "./organizations.js";
import { createPasswordReset } from "./password-resets.js";
import { createToken, listTokens, revokeToken } from "./tokens.js";

/** The organization itself: people, invitations, headless tokens, audit log. */
export const organizationRoutes = [
  listOrganizations,
  listMembers,
  updateMember,
  removeMember,
  createPasswordReset,
  listInvitations,
  createInvitation,
  revokeInvitation,
  listTokens,
  createToken,
  revokeToken,
  listAuditLog,
];
