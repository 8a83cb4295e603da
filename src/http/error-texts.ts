/** Default texts of codes: what happened, and what to do about it. */
export const TEXTS: Readonly<Record<string, { message: string; fix: string }>> = {
  INVALID_API_KEY: {
    message: "The API key is missing, malformed, unknown or revoked.",
    fix: "Send the header `Authorization: Bearer <API key>` with a key of this project that is not revoked.",
  },
  INVALID_SESSION: {
    message: "The access token is missing, unknown, expired or revoked.",
    fix: "Sign in again, or check SVC_ACCESS_TOKEN.",
  },
  INVALID_METRICS_TOKEN: {
    message: "The token for metrics is missing or wrong.",
    fix: "Send the header `Authorization: Bearer <token>` with the value of SVC_METRICS_TOKEN.",
  },
  ORGANIZATION_REQUIRED: {
    message: "The header X-Svc-Organization is required.",
    fix: "Send the organization's ID in it.",
  },
  ORGANIZATION_NOT_FOUND: {
    message: "There is no such organization, or it is not one of yours.",
    fix: "Check the header X-Svc-Organization. The token's user must be a member; a headless token must belong to this organization.",
  },
  PLAN_REQUIRED: {
    message: "The organization's plan does not include this service.",
    fix: "Ask the operator of this service for a plan that includes it; the data stays where it is.",
  },
  FORBIDDEN: {
    message: "Your role does not permit this.",
    fix: "Ask an owner or administrator of the organization to do it, or for a role that permits it.",
  },
  NOT_FOUND: {
    message: "There is no such path.",
    fix: "Check the path: GET /openapi.json lists all. Events are sent to POST /v1/events and POST /v1/events/batch.",
  },
  METHOD_NOT_ALLOWED: {
    message: "This path does not support this method.",
    fix: "Use a method that the header Allow lists.",
  },
  REQUEST_TIMEOUT: {
    message: "The request was not complete in time.",
    fix: "Send the headers within 20 seconds and the whole request within 60, at no less than 16 KiB per second. Sending it again is safe with an idempotency key.",
  },
  PAYLOAD_TOO_LARGE: { message: "The body is too large.", fix: "Send less, or split it into several requests." },
  UNSUPPORTED_MEDIA_TYPE: {
    message: "The body must be JSON with the header Content-Type: application/json.",
    fix: "Send the header Content-Type: application/json, and the body in UTF-8.",
  },
  HEADERS_TOO_LARGE: {
    message: "The request's headers are too large.",
    fix: "Send fewer or shorter headers; at most 16 KiB are read.",
  },
  MALFORMED_JSON: { message: "The body is not valid JSON.", fix: "Send one JSON document in UTF-8 as the body." },
  VALIDATION_ERROR: {
    message: "The request is not valid.",
    fix: "Correct what the error reports, then send the request again.",
  },
  SLUG_TAKEN: { message: "This organization already has a project with this slug.", fix: "Choose another slug." },
  LAST_OWNER: { message: "The organization would have no owner left.", fix: "Make another member owner first." },
  ALREADY_MEMBER: {
    message: "This address already belongs to a member of the organization.",
    fix: "Change the member's role instead: PATCH /organization/members/<userId>.",
  },
  RATE_LIMIT_EXCEEDED: {
    message: "The API key's rate limit is exceeded.",
    fix: "Send the request again after the number of seconds in Retry-After.",
  },
  QUOTA_EXCEEDED: {
    message: "The organization has as many as its plan allows.",
    fix: "Remove unused ones or wait for running ones to finish, or ask the operator of this service for a larger plan.",
  },
  MONTHLY_QUOTA_EXCEEDED: {
    message: "The plan's events of this calendar month are used up.",
    fix: "Wait until the next month (UTC), or ask the operator of this service for a larger plan.",
  },
  AI_NOT_CONFIGURED: {
    message: "No language model is set up at this service.",
    fix: "Ask its operator to set SVC_AI_BASE_URL and SVC_AI_MODEL; the facts are available without a model.",
  },
  AI_RATE_LIMITED: {
    message: "The language model accepts no more requests for now.",
    fix: "Ask again after the number of seconds in Retry-After.",
  },
  AI_UNAVAILABLE: {
    message: "The language model did not answer.",
    fix: "Ask again later; if it keeps failing, the operator of this service finds the cause in its log.",
  },
  AI_TIMEOUT: { message: "The language model took too long.", fix: "Ask again, or name a faster model." },
  SERVICE_UNAVAILABLE: {
    message: "The service is not available for the moment. Send the same request again.",
    fix: "Send the same request again after the number of seconds in Retry-After.",
  },
  INTERNAL_ERROR: {
    message: "The service failed on this request. Send it again, and report the request ID if it keeps failing.",
    fix: "Send the request again; report the request ID if it keeps failing.",
  },
};
